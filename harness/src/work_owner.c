/* SPDX-License-Identifier: MIT */
/*
 * work_owner.c - the mark of a work directory is a file that its owner holds a lock on: the lock
 * ends with the owner, however that ends, and is seen from other containers, too, where a number of
 * a process means nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "work_dir.h"
#include "work_owner.h"
#include "work_remove.h"

#define MARK_NAME ".swaptorture-owner"
#define MARK_UNLOCKED MARK_NAME ".new"

/* What a run makes for itself in its directory. All else are cases that it kept. */
static const char *const own_names[] = {"job", "sim", "valgrind.", "sanitizer.", ".swaptorture-"};

/* Nobody may see the mark before it is locked. */
static int mark_at(int directory)
{
	int fd = openat(directory, MARK_UNLOCKED, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int error;

	if (fd < 0)
		return -errno;
	flock(fd, LOCK_EX | LOCK_NB); /* where locks are not known nothing is ever removed */
	dprintf(fd, "%d\n", (int)getpid());
	if (renameat(directory, MARK_UNLOCKED, directory, MARK_NAME) == 0)
		return fd;
	error = -errno;
	close(fd);
	unlinkat(directory, MARK_UNLOCKED, 0);
	return error;
}

static int open_directory(int parent, const char *path)
{
	int fd = openat(parent, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int work_owner_mark(const char *directory)
{
	int fd = open_directory(AT_FDCWD, directory), mark;

	if (fd < 0)
		return fd;
	mark = mark_at(fd);
	close(fd);
	return mark;
}

void work_owner_leave(const char *directory, int mark)
{
	int fd = open_directory(AT_FDCWD, directory);

	if (fd >= 0) {
		unlinkat(fd, MARK_NAME, 0);
		close(fd);
	}
	if (mark >= 0)
		close(mark);
}

static bool is_mine(int fd, mode_t type)
{
	struct stat status;

	return fstat(fd, &status) == 0 && (status.st_mode & S_IFMT) == type &&
	       status.st_uid == geteuid();
}

/* The mark of a directory of ours whose owner is dead, locked by us now; -1. */
static int take_mark(int directory)
{
	int mark = openat(directory, MARK_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (mark < 0)
		return -1;
	if (is_mine(directory, S_IFDIR) && is_mine(mark, S_IFREG) &&
	    flock(mark, LOCK_EX | LOCK_NB) == 0)
		return mark;
	close(mark);
	return -1;
}

static bool is_own_name(const char *name)
{
	for (size_t i = 0; i < sizeof(own_names) / sizeof(*own_names); i++)
		if (strncmp(name, own_names[i], strlen(own_names[i])) == 0)
			return strcmp(name, MARK_NAME) != 0;
	return false;
}

static void remove_own(int directory)
{
	DIR *list = fdopendir(dup(directory));
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		if (is_own_name(entry->d_name))
			work_remove_entry(directory, entry->d_name);
	if (list)
		closedir(list);
	unlinkat(directory, MARK_NAME, 0);
}

static void remove_if_dead(int parent, const char *name)
{
	int directory = open_directory(parent, name);
	int mark = directory < 0 ? -1 : take_mark(directory);

	if (mark >= 0) {
		remove_own(directory);
		unlinkat(parent, name, AT_REMOVEDIR); /* unless cases are kept in it */
		close(mark);
	}
	if (directory >= 0)
		close(directory);
}

void work_owner_remove_dead(const char *parent)
{
	DIR *list = opendir(parent);
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		if (strncmp(entry->d_name, WORK_DIR_PREFIX, strlen(WORK_DIR_PREFIX)) == 0)
			remove_if_dead(dirfd(list), entry->d_name);
	if (list)
		closedir(list);
}
