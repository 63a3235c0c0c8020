/* SPDX-License-Identifier: MIT */
/*
 * durable_undo.c - take the dropped effects back, the last first. Contents are undone in the files
 * themselves, then names: neither sees the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/mman.h>

#include "durable_internal.h"

#define COPY_BYTES 65536u

static int write_all(int fd, const char *from, uint64_t offset_bytes, uint64_t bytes)
{
	uint64_t done = 0;

	while (done < bytes) {
		long count =
			raw_call(SYS_pwrite64, fd, from + done, bytes - done, offset_bytes + done);

		if (count <= 0)
			return count < 0 ? (int)count : -EIO;
		done += (uint64_t)count;
	}
	return 0;
}

/* Never past the end: that would make the file longer. */
static int undo_sector(int fd, const struct durable_record *record, uint64_t size_bytes)
{
	uint64_t bytes = record->old_bytes;

	if (record->offset_bytes >= size_bytes)
		return 0;
	if (bytes > size_bytes - record->offset_bytes)
		bytes = size_bytes - record->offset_bytes;
	return write_all(fd, record->payload, record->offset_bytes, bytes);
}

static int undo_cut(int fd, const struct durable_record *record)
{
	long result = raw_call(SYS_ftruncate, fd, record->offset_bytes);

	if (result == 0)
		result = raw_call(SYS_ftruncate, fd, record->size_bytes);
	if (result < 0)
		return (int)result;
	return write_all(fd, record->payload, record->offset_bytes, record->old_bytes);
}

static int undo_data_in(int fd, const struct durable_record *record)
{
	struct stat status;
	long result = raw_call(SYS_fstat, fd, &status);

	if (result < 0)
		return (int)result;
	if (record->kind == DURABLE_SECTOR)
		return undo_sector(fd, record, (uint64_t)status.st_size);
	if (record->kind == DURABLE_CUT)
		return undo_cut(fd, record);
	if ((uint64_t)status.st_size <= record->size_bytes)
		return 0;
	return (int)raw_call(SYS_ftruncate, fd, record->size_bytes);
}

static int undo_data(const struct durable_record *record)
{
	int fd = durable_file_open(record->file), result;

	if (fd < 0)
		return fd;
	result = undo_data_in(fd, record);
	raw_call(SYS_close, fd);
	return result;
}

static int copy(int from, int to)
{
	static char buffer[COPY_BYTES];
	uint64_t at = 0;
	long count;
	int result = 0;

	while ((count = raw_call(SYS_pread64, from, buffer, sizeof(buffer), at)) > 0 && !result) {
		result = write_all(to, buffer, at, (uint64_t)count);
		at += (uint64_t)count;
	}
	return count < 0 ? (int)count : result;
}

/* A file without a name cannot get one again: its copy does. */
static int put_back(uint32_t file, const char *path)
{
	int from, result;
	long to;

	if (file == DURABLE_NO_FILE)
		return 0;
	from = durable_file_open(file);
	if (from < 0)
		return from;
	to = raw_call(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	result = to < 0 ? (int)to : copy(from, (int)to);
	if (result == 0)
		result = (int)raw_call(SYS_fchmod, to, durable_journal->files[file].mode & 07777);
	if (to >= 0)
		raw_call(SYS_close, to);
	raw_call(SYS_close, from);
	return result;
}

/* What came after on these names was undone before: they stand as the call left them. */
static int undo_name(struct durable_record *record)
{
	const struct durable_names *names = durable_names_of(record);
	const char *first = names->text + names->at[0], *second = names->text + names->at[1];
	long result;

	switch (record->kind) {
	case DURABLE_CREATE:
		return (int)raw_call(SYS_unlinkat, AT_FDCWD, first, 0);
	case DURABLE_UNLINK:
		return put_back(record->file, first);
	case DURABLE_MKDIR:
		return durable_tree_remove(first);
	case DURABLE_EXCHANGE:
		return (int)raw_call(SYS_renameat2, AT_FDCWD, first, AT_FDCWD, second,
				     RENAME_EXCHANGE);
	}
	result = raw_call(SYS_renameat2, AT_FDCWD, second, AT_FDCWD, first, 0);
	return result < 0 ? (int)result : put_back(record->file, second);
}

/* The journal runs forwards: its dropped records, @names or data, by address. */
static unsigned collect(bool names, struct durable_record **ret_records)
{
	unsigned count = 0;

	for (struct durable_record *record = durable_first(); record; record = durable_next(record))
		if (record->dropped && durable_is_name(record) == names) {
			if (ret_records)
				ret_records[count] = record;
			count++;
		}
	return count;
}

static int undo_backwards(struct durable_record **records, unsigned count)
{
	int result = 0;

	while (count-- && result == 0)
		result = durable_is_name(records[count]) ? undo_name(records[count])
							 : undo_data(records[count]);
	return result;
}

static int undo_all(bool names)
{
	unsigned count = collect(names, NULL);
	long list;

	if (!count)
		return 0;
	list = raw_call(SYS_mmap, NULL, count * sizeof(struct durable_record *),
			PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (list < 0 && list > -4096)
		return (int)list;
	collect(names, (struct durable_record **)list);
	return undo_backwards((struct durable_record **)list, count);
}

int durable_undo_all(void)
{
	int result = undo_all(false);

	return result < 0 ? result : undo_all(true);
}
