/* SPDX-License-Identifier: MIT */
/*
 * durable_files.c - the files that the journal speaks of, by device and inode. Each is held open by
 * the process that first had an effect on it; the others reach it through that process.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "durable_internal.h"
#include "runtime.h"

#define HELD_FD_MIN 700 /* above what programs use, where the limit allows it */

static int reopen(int pid, int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	return (int)raw_call(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

/* Programs count on low numbers being theirs. */
static int move_up(int fd)
{
	long high;

	if (fd < 0)
		return fd;
	high = raw_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, HELD_FD_MIN);
	if (high < 0)
		return fd;
	raw_call(SYS_close, fd);
	return (int)high;
}

static uint32_t find(const struct stat *status, uint32_t *ret_free)
{
	*ret_free = DURABLE_NO_FILE;
	for (uint32_t i = 0; i < DURABLE_FILES_MAX; i++) {
		const struct durable_file *file = &durable_journal->files[i];

		if (!file->pid && *ret_free == DURABLE_NO_FILE)
			*ret_free = i;
		if (file->pid && file->device == status->st_dev && file->inode == status->st_ino)
			return i;
	}
	return DURABLE_NO_FILE;
}

uint32_t durable_file_hold(uint32_t place, int fd, const struct stat *status)
{
	int pid = (int)raw_call(SYS_getpid), held = move_up(reopen(pid, fd));

	if (held < 0) {
		durable_give_up("a file cannot be held open");
		return DURABLE_NO_FILE;
	}
	durable_journal->files[place] = (struct durable_file){.device = status->st_dev,
							      .inode = status->st_ino,
							      .mode = status->st_mode,
							      .pid = pid,
							      .fd = held};
	return place;
}

uint32_t durable_file_known(const struct stat *status)
{
	uint32_t place;

	return find(status, &place);
}

uint32_t durable_file_at(int fd)
{
	struct stat status;
	uint32_t place, found;

	if (durable_journal->broken[0] || raw_call(SYS_fstat, fd, &status) < 0 ||
	    !S_ISREG(status.st_mode))
		return DURABLE_NO_FILE;
	found = find(&status, &place);
	if (found != DURABLE_NO_FILE)
		return found;
	if (place == DURABLE_NO_FILE)
		durable_files_forget();
	find(&status, &place);
	if (place != DURABLE_NO_FILE)
		return durable_file_hold(place, fd, &status);
	durable_give_up("too many files are not durable");
	return DURABLE_NO_FILE;
}

/* The holder may have closed what it does not know, or be gone: better none than another. */
int durable_file_open(uint32_t index)
{
	const struct durable_file *file = &durable_journal->files[index];
	int fd = reopen(file->pid, file->fd);
	struct stat status;

	if (fd < 0)
		return fd;
	if (raw_call(SYS_fstat, fd, &status) == 0 && status.st_dev == file->device &&
	    status.st_ino == file->inode)
		return fd;
	raw_call(SYS_close, fd);
	return -ESTALE;
}

void durable_files_release(void)
{
	int pid = (int)raw_call(SYS_getpid);

	for (uint32_t i = 0; i < DURABLE_FILES_MAX; i++) {
		struct durable_file *file = &durable_journal->files[i];

		if (file->pid == pid)
			raw_call(SYS_close, file->fd);
		if (file->pid)
			file->pid = DURABLE_NOBODY;
	}
}

static bool has_effects(uint32_t file)
{
	for (struct durable_record *record = durable_first(); record; record = durable_next(record))
		if (record->file == file)
			return true;
	return false;
}

/* What another process holds is closed when it ends. */
void durable_files_forget(void)
{
	int pid = (int)raw_call(SYS_getpid);

	for (uint32_t i = 0; i < DURABLE_FILES_MAX; i++) {
		struct durable_file *file = &durable_journal->files[i];

		if (!file->pid || has_effects(i))
			continue;
		if (file->pid == pid)
			raw_call(SYS_close, file->fd);
		file->pid = 0;
	}
}
