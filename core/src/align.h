/* SPDX-License-Identifier: MIT */
/*
 * align.h - what direct I/O on a file demands of pointers, offsets and lengths.
 */
#ifndef SWAPIOI_ALIGN_H
#define SWAPIOI_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "range.h"

/* Powers of two, in bytes; both 1 for buffered I/O. */
struct alignment {
	uint32_t mem, offset;
};

/* What one look at a descriptor tells. */
struct file_facts {
	struct inode_key key;
	unsigned mode;
	uint64_t size_bytes;
	struct alignment align; /* for direct I/O */
	bool direct_refused;	/* the kernel says that this file has no direct I/O */
};

/* 0 or -errno of fstat(2), statx(2) or the size ioctl. */
int swapioi_file_facts(int fd, struct file_facts *ret_facts);

/* The file's size now. 0 or -errno. */
int swapioi_file_size(int fd, bool block_device, uint64_t *ret_bytes);

static inline uint64_t round_down(uint64_t value, uint64_t unit)
{
	return value & ~(unit - 1);
}

static inline uint64_t round_up(uint64_t value, uint64_t unit)
{
	return round_down(value + unit - 1, unit);
}

static inline bool is_multiple(uint64_t value, uint64_t unit)
{
	return (value & (unit - 1)) == 0;
}

#endif /* SWAPIOI_ALIGN_H */
