/* SPDX-License-Identifier: MIT */
/*
 * durable_data.c - effects on what is in files and on how long they are, sector by sector, and the
 * calls that make them durable.
 */
#include <fcntl.h>
#include <linux/falloc.h>
#include <string.h>

#include "durable_internal.h"
#include "runtime.h"

#define RWF_DSYNC_BIT 0x2
#define RWF_SYNC_BIT 0x4
#define RWF_APPEND_BIT 0x10

/* What the range holds, zeros past the end of the file. False: it cannot be read. */
static bool read_old(uint32_t file, char *to, uint64_t offset_bytes, uint64_t bytes)
{
	const struct durable_file *held = &durable_journal->files[file];
	bool own = held->pid == (int)raw_call(SYS_getpid);
	int fd = own ? held->fd : durable_file_open(file);
	uint64_t done = 0;
	long count = 1;

	while (fd >= 0 && done < bytes && count > 0) {
		count = raw_call(SYS_pread64, fd, to + done, bytes - done, offset_bytes + done);
		done += count > 0 ? (uint64_t)count : 0;
	}
	if (fd >= 0 && !own)
		raw_call(SYS_close, fd);
	if (fd < 0 || count < 0)
		return false;
	memset(to + done, 0, bytes - done);
	return true;
}

static struct durable_record *keep_old(enum durable_kind kind, uint32_t file, uint64_t offset_bytes,
				       uint64_t bytes)
{
	struct durable_record *record = durable_append(kind, file, bytes);

	if (!record)
		return NULL;
	record->offset_bytes = offset_bytes;
	record->old_bytes = bytes;
	if (!bytes || read_old(file, record->payload, offset_bytes, bytes))
		return record;
	durable_give_up("old contents cannot be read");
	return NULL;
}

static void keep_grow(uint32_t file, uint64_t size_bytes)
{
	struct durable_record *record = durable_append(DURABLE_GROW, file, 0);

	if (record)
		record->size_bytes = size_bytes;
}

static void keep_sectors(uint32_t file, uint64_t offset_bytes, uint64_t length_bytes)
{
	uint64_t sector = runtime_config()->sector_bytes, end = offset_bytes + length_bytes;

	for (uint64_t at = offset_bytes - offset_bytes % sector; at < end; at += sector)
		if (!keep_old(DURABLE_SECTOR, file, at, sector))
			return;
}

static void keep_range(int fd, uint64_t offset_bytes, uint64_t length_bytes, bool grows)
{
	uint32_t file = durable_file_at(fd);
	struct stat status;

	if (file == DURABLE_NO_FILE || !length_bytes || raw_call(SYS_fstat, fd, &status) < 0)
		return;
	if (grows && offset_bytes + length_bytes > (uint64_t)status.st_size)
		keep_grow(file, (uint64_t)status.st_size);
	keep_sectors(file, offset_bytes, length_bytes);
}

void durable_keep_cut(int fd, uint64_t from_bytes, uint64_t size_bytes)
{
	uint32_t file = durable_file_at(fd);
	struct durable_record *record;

	if (file == DURABLE_NO_FILE)
		return;
	record = keep_old(DURABLE_CUT, file, from_bytes, size_bytes - from_bytes);
	if (record)
		record->size_bytes = size_bytes;
}

/* Another number for the same open file: the program may close its own meanwhile. */
static void step_take_fd(struct durable_step *step, int fd)
{
	step->fd = (int)raw_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 700);
	if (step->fd < 0)
		step->fd = (int)raw_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 0);
}

void durable_write_begin(struct durable_step *step, int fd, uint64_t offset_bytes,
			 uint64_t length_bytes, int flags)
{
	struct stat status;
	long fd_flags;

	if (!durable_step_enter(step, DURABLE_ACT_WRITE))
		return;
	fd_flags = raw_call(SYS_fcntl, fd, F_GETFL);
	if (fd_flags < 0 || raw_call(SYS_fstat, fd, &status) < 0)
		return;
	if ((fd_flags & O_APPEND) || (flags & RWF_APPEND_BIT))
		offset_bytes = (uint64_t)status.st_size;
	step->synchronous = (fd_flags & O_DSYNC) || (flags & (RWF_DSYNC_BIT | RWF_SYNC_BIT));
	step->offset_bytes = offset_bytes;
	step->length_bytes = length_bytes;
	if (step->synchronous)
		step_take_fd(step, fd);
	keep_range(fd, offset_bytes, length_bytes, true);
}

static void keep_resize(int fd, uint64_t size_bytes)
{
	struct stat status;
	uint64_t old;

	if (raw_call(SYS_fstat, fd, &status) < 0 || !S_ISREG(status.st_mode))
		return;
	old = (uint64_t)status.st_size;
	if (size_bytes < old) {
		durable_keep_cut(fd, size_bytes, old);
	} else if (size_bytes > old) {
		uint32_t file = durable_file_at(fd);

		if (file != DURABLE_NO_FILE)
			keep_grow(file, old);
	}
}

void durable_resize_begin(struct durable_step *step, int fd, uint64_t size_bytes)
{
	if (durable_step_enter(step, DURABLE_ACT_RESIZE))
		keep_resize(fd, size_bytes);
}

void durable_resize_path_begin(struct durable_step *step, const char *path, uint64_t size_bytes)
{
	if (!durable_step_enter(step, DURABLE_ACT_RESIZE))
		return;
	step->fd = (int)raw_call(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC);
	if (step->fd >= 0)
		keep_resize(step->fd, size_bytes);
}

void durable_allocate_begin(struct durable_step *step, int fd, int mode, uint64_t offset_bytes,
			    uint64_t length_bytes)
{
	const int moves = FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE;
	const int zeroes = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE;
	struct stat status;

	if (!durable_step_enter(step, DURABLE_ACT_RESIZE) || raw_call(SYS_fstat, fd, &status) < 0)
		return;
	if ((mode & moves) && offset_bytes < (uint64_t)status.st_size)
		durable_keep_cut(fd, offset_bytes, (uint64_t)status.st_size);
	else if (mode & zeroes)
		keep_range(fd, offset_bytes, length_bytes, !(mode & FALLOC_FL_KEEP_SIZE));
	else if (!(mode & FALLOC_FL_KEEP_SIZE) &&
		 offset_bytes + length_bytes > (uint64_t)status.st_size)
		keep_resize(fd, offset_bytes + length_bytes);
}

void durable_sync_begin(struct durable_step *step, int fd)
{
	if (durable_step_enter(step, DURABLE_ACT_SYNC))
		step_take_fd(step, fd);
}

static bool overlaps(const struct durable_record *record, uint64_t offset_bytes,
		     uint64_t length_bytes)
{
	return record->kind != DURABLE_SECTOR ||
	       (record->offset_bytes < offset_bytes + length_bytes &&
		offset_bytes < record->offset_bytes + record->old_bytes);
}

/* Data of the range is durable now, and how long the file is. */
static void range_synced(uint32_t file, uint64_t offset_bytes, uint64_t length_bytes)
{
	for (struct durable_record *record = durable_first(); record; record = durable_next(record))
		if (!durable_is_name(record) && record->file == file &&
		    overlaps(record, offset_bytes, length_bytes))
			record->live = false;
}

void durable_data_end(const struct durable_step *step, bool succeeded)
{
	bool all = step->act == DURABLE_ACT_SYNC;
	struct stat status;
	uint32_t file;

	if (!succeeded || durable_journal->broken[0] || (!all && !step->synchronous))
		return;
	if (raw_call(SYS_fstat, step->fd, &status) < 0) {
		durable_give_up("a file that was synced cannot be told");
		return;
	}
	if (S_ISDIR(status.st_mode)) {
		durable_directory_synced(&status);
		return;
	}
	file = durable_file_known(&status);
	if (file != DURABLE_NO_FILE)
		range_synced(file, all ? 0 : step->offset_bytes,
			     all ? UINT64_MAX : step->length_bytes);
}
