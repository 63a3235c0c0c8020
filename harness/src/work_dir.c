/* SPDX-License-Identifier: MIT */
/*
 * work_dir.c - makes, tries out, empties, keeps and removes work directories.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "places.h"
#include "work_dir.h"

#define MEMORY_DIRECTORY "/dev/shm"
#define PROBE_NAME ".swaptorture-probe"
#define PROBE_BYTES ((size_t)65536)
#define PROBE_ALIGNMENT 4096
#define DEAD_AGE_SECONDS 60
#define COPY_BYTES_MAX ((off_t)256 << 20)

static int refuse(struct diag *diag, const char *path, const char *what, int error)
{
	diag_set(diag, NULL, 0, 0, "%s: %s: %s", path, what, strerror(-error));
	return error;
}

static int write_probe(int fd)
{
	void *memory;
	ssize_t put;
	int error = posix_memalign(&memory, PROBE_ALIGNMENT, PROBE_BYTES);

	if (error)
		return -error;
	memset(memory, 0, PROBE_BYTES);
	put = pwrite(fd, memory, PROBE_BYTES, 0);
	error = put == (ssize_t)PROBE_BYTES ? 0 : put < 0 ? -errno : -ENOSPC;
	free(memory);
	return error;
}

/* One aligned direct write: read-only, full and without O_DIRECT all show here and now. */
static int try_out(const char *path, bool direct, struct diag *diag)
{
	char name[WORK_DIR_BYTES + 32];
	int error, fd;

	snprintf(name, sizeof(name), "%s/" PROBE_NAME, path);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | (direct ? O_DIRECT : 0), 0600);
	if (fd < 0) {
		error = -errno;
		unlink(name);
		return refuse(diag, path,
			      error == -EINVAL ? "no O_DIRECT on this file system" : "not writable",
			      error);
	}
	error = write_probe(fd);
	close(fd);
	unlink(name);
	return error < 0 ? refuse(diag, path, "cannot be written to", error) : 0;
}

static int make_below(const char *below, char path[WORK_DIR_BYTES], struct diag *diag)
{
	struct stat status;
	char *real = realpath(below, NULL);
	int error = real ? 0 : -errno;

	if (real && stat(real, &status) == 0 && !S_ISDIR(status.st_mode))
		error = -ENOTDIR;
	if (error == 0 &&
	    snprintf(path, WORK_DIR_BYTES, "%s/swaptorture-XXXXXX", real) >= WORK_DIR_BYTES - 128)
		error = -ENAMETOOLONG;
	free(real);
	if (error == 0 && !mkdtemp(path))
		error = -errno;
	return error < 0 ? refuse(diag, below, "work directory", error) : 0;
}

static int lock_directory(const char *path, int how)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, how | LOCK_NB) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* A run that was killed left its memory behind: nobody holds its lock any more. One
 * that is new may only not have been locked yet. */
static void remove_dead(void)
{
	DIR *list = opendir(MEMORY_DIRECTORY);
	struct dirent *entry;
	char path[WORK_DIR_BYTES];
	struct stat status;
	int fd;

	while (list && (entry = readdir(list))) {
		if (strncmp(entry->d_name, "swaptorture-", 12) != 0)
			continue;
		snprintf(path, sizeof(path), MEMORY_DIRECTORY "/%s", entry->d_name);
		fd = lock_directory(path, LOCK_EX);
		if (fd < 0)
			continue;
		if (fstat(fd, &status) == 0 && time(NULL) - status.st_mtime > DEAD_AGE_SECONDS)
			work_dir_remove(path);
		close(fd);
	}
	if (list)
		closedir(list);
}

static void open_memory(struct work_root *root)
{
	root->memory_lock = -1;
	remove_dead();
	if (make_below(MEMORY_DIRECTORY, root->memory, NULL) < 0)
		root->memory[0] = '\0';
	else
		root->memory_lock = lock_directory(root->memory, LOCK_SH);
}

int work_root_open(struct work_root *root, const char *below, bool direct, struct diag *diag)
{
	int error;

	*root = (struct work_root){.memory_lock = -1};
	error = make_below(below ? below : places_temporary(), root->disk, diag);
	if (error < 0)
		return error;
	error = try_out(root->disk, direct, diag);
	if (error < 0) {
		rmdir(root->disk);
		return error;
	}
	open_memory(root);
	return 0;
}

void work_root_close(struct work_root *root)
{
	if (root->memory[0])
		work_dir_remove(root->memory);
	if (root->memory_lock >= 0)
		close(root->memory_lock);
	if (root->kept)
		rmdir(root->disk); /* only if somebody emptied it */
	else
		work_dir_remove(root->disk);
}

int work_dir_make(const struct work_root *root, bool in_memory, unsigned number, char *path)
{
	const char *parent = in_memory && root->memory[0] ? root->memory : root->disk;

	snprintf(path, WORK_DIR_BYTES, "%.400s/%s%u", parent, in_memory ? "sim" : "job", number);
	if (mkdir(path, 0700) == 0)
		return 0;
	return errno == EEXIST ? work_dir_clean(path) : -errno;
}

static int remove_entry(int directory, const char *name);

static int remove_inside(int fd)
{
	DIR *list = fdopendir(fd);
	struct dirent *entry;
	int error = 0;

	if (!list) {
		error = -errno;
		close(fd);
		return error;
	}
	while ((entry = readdir(list)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    remove_entry(dirfd(list), entry->d_name) < 0)
			error = -errno;
	closedir(list);
	return error;
}

static int remove_entry(int directory, const char *name)
{
	int fd;

	if (unlinkat(directory, name, 0) == 0)
		return 0;
	if (errno != EISDIR)
		return -1;
	fd = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		remove_inside(fd);
	return unlinkat(directory, name, AT_REMOVEDIR);
}

int work_dir_clean(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : remove_inside(fd);
}

void work_dir_remove(const char *path)
{
	work_dir_clean(path);
	rmdir(path);
}

/* Holes stay holes: what a sim case wrote may be sparse and look large. */
static int copy_file(int from, int to)
{
	char chunk[65536];
	off_t done = 0;
	ssize_t got;

	while (done < COPY_BYTES_MAX && (got = read(from, chunk, sizeof(chunk))) > 0) {
		if (write(to, chunk, (size_t)got) != got)
			return -EIO;
		done += got;
	}
	return 0;
}

static int copy_entry(const char *from, const char *to, const char *name)
{
	char source[WORK_DIR_BYTES + 300], target[WORK_DIR_BYTES + 300];
	int in, out, error;

	snprintf(source, sizeof(source), "%s/%s", from, name);
	snprintf(target, sizeof(target), "%s/%s", to, name);
	in = open(source, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (in < 0)
		return -errno;
	out = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	error = out < 0 ? -errno : copy_file(in, out);
	close(in);
	if (out >= 0)
		close(out);
	return error;
}

static int copy_all(const char *from, const char *to)
{
	DIR *list = opendir(from);
	struct dirent *entry;
	int error = 0;

	if (!list)
		return -errno;
	while ((entry = readdir(list)))
		if (entry->d_type == DT_REG && error == 0)
			error = copy_entry(from, to, entry->d_name);
	closedir(list);
	return error;
}

int work_dir_keep(struct work_root *root, const char *path, const char *name, char *ret_path)
{
	int error = 0;

	snprintf(ret_path, WORK_DIR_BYTES, "%.380s/%.120s", root->disk, name);
	root->kept = true;
	if (rename(path, ret_path) == 0)
		return mkdir(path, 0700) < 0 ? -errno : 0;
	if (errno != EXDEV)
		return -errno;
	if (mkdir(ret_path, 0700) < 0)
		return -errno;
	error = copy_all(path, ret_path);
	work_dir_clean(path);
	return error;
}
