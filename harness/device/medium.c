/* SPDX-License-Identifier: MIT */
/*
 * medium.c - reading and writing the bytes; what was there before a write is kept on the way.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "medium_internal.h"

static int read_all(int fd, uint64_t offset, void *data, size_t bytes)
{
	uint8_t *at = data;

	while (bytes) {
		ssize_t count = pread(fd, at, bytes, (off_t)offset);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return -EIO;
		at += count;
		offset += (uint64_t)count;
		bytes -= (size_t)count;
	}
	return 0;
}

static int write_all(int fd, uint64_t offset, const void *data, size_t bytes)
{
	const uint8_t *at = data;

	while (bytes) {
		ssize_t count = pwrite(fd, at, bytes, (off_t)offset);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return -EIO;
		at += count;
		offset += (uint64_t)count;
		bytes -= (size_t)count;
	}
	return 0;
}

static int open_previous(struct medium *medium)
{
	const struct medium_options *options = &medium->options;
	int fd = memfd_create("swaptorture-previous", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)options->size_bytes) < 0) {
		int error = -errno;

		if (fd >= 0)
			close(fd);
		return error;
	}
	medium->previous_fd = fd;
	medium->written = calloc(options->size_bytes / options->sector_bytes, 1);
	return medium->written ? 0 : -ENOMEM;
}

int medium_create(struct medium **ret_medium, const struct medium_options *options)
{
	struct medium *medium = calloc(1, sizeof(*medium));
	int result = 0;

	if (!medium)
		return -ENOMEM;
	medium->options = *options;
	medium->previous_fd = -1;
	if (options->keeps_previous)
		result = open_previous(medium);
	if (result < 0)
		medium_destroy(medium);
	else
		*ret_medium = medium;
	return result;
}

void medium_destroy(struct medium *medium)
{
	if (!medium)
		return;
	undo_clear(medium);
	free(medium->undos);
	free(medium->written);
	if (medium->previous_fd >= 0)
		close(medium->previous_fd);
	free(medium);
}

int medium_read(struct medium *medium, uint64_t offset, void *data, size_t bytes)
{
	return read_all(medium->options.fd, offset, data, bytes);
}

int medium_read_previous(struct medium *medium, uint64_t offset, void *data, size_t bytes)
{
	unsigned sector_bytes = medium->options.sector_bytes;
	int result = -ENODATA;

	if (medium_read(medium, offset, data, bytes) < 0)
		return -EIO;
	for (size_t at = 0; at < bytes; at += sector_bytes) {
		if (!medium->written[(offset + at) / sector_bytes])
			continue;
		result = read_all(medium->previous_fd, offset + at, (uint8_t *)data + at,
				  sector_bytes);
		if (result < 0)
			return -EIO;
	}
	return result;
}

static int keep_previous(struct medium *medium, uint64_t sector, uint64_t sectors,
			 const uint8_t *before)
{
	unsigned sector_bytes = medium->options.sector_bytes;

	if (medium->previous_fd < 0)
		return 0;
	memset(medium->written + sector, 1, sectors);
	return write_all(medium->previous_fd, sector * sector_bytes, before,
			 sectors * sector_bytes);
}

static int keep_before(struct medium *medium, uint64_t offset, size_t bytes)
{
	unsigned sector_bytes = medium->options.sector_bytes;
	uint64_t sector = offset / sector_bytes;
	uint64_t sectors = (offset + bytes + sector_bytes - 1) / sector_bytes - sector;
	uint8_t *before;
	int result;

	if (!medium->options.keeps_undo && medium->previous_fd < 0)
		return 0;
	before = malloc(sectors * sector_bytes);
	if (!before)
		return -ENOMEM;
	result = medium_read(medium, sector * sector_bytes, before, sectors * sector_bytes);
	if (result == 0)
		result = keep_previous(medium, sector, sectors, before);
	if (result == 0 && medium->options.keeps_undo)
		result = undo_keep(medium, sector, sectors, before);
	free(before);
	return result;
}

int medium_write(struct medium *medium, uint64_t offset, const void *data, size_t bytes,
		 uint64_t *ret_write)
{
	int result;

	assert(offset + bytes <= medium->options.size_bytes);
	*ret_write = 0;
	if (!bytes)
		return 0;
	medium->writes++;
	result = keep_before(medium, offset, bytes);
	if (result == 0)
		result = write_all(medium->options.fd, offset, data, bytes);
	if (result == 0)
		*ret_write = medium->writes;
	return result;
}

void medium_answered(struct medium *medium, uint64_t write, bool fua)
{
	if (!write)
		return;
	medium->answered++;
	undo_answered(medium, write, fua || !medium->options.write_cache);
}

uint64_t medium_flush_begin(const struct medium *medium)
{
	return medium->answered;
}

void medium_flush_end(struct medium *medium, uint64_t begun)
{
	undo_flushed(medium, begun);
}
