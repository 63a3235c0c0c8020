/* SPDX-License-Identifier: MIT */
/*
 * align.c - discovers alignments: statx, then the block device's sector, then the page size.
 */
#include "align.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Linux 6.1 put these into a struct statx of always 256 bytes; older headers lack the names. */
#define WANT_DIOALIGN 0x2000u
#define DIO_MEM_ALIGN_AT 152
#define DIO_OFFSET_ALIGN_AT 156

static bool is_power_of_two(uint32_t value)
{
	return value && !(value & (value - 1));
}

#if defined(STATX_BASIC_STATS) && defined(AT_EMPTY_PATH)
_Static_assert(sizeof(struct statx) == 256, "struct statx is kernel ABI");

static uint32_t statx_word(const struct statx *stx, size_t at)
{
	uint32_t word;

	memcpy(&word, (const char *)stx + at, sizeof(word));
	return word;
}

/* False when the kernel does not know. Zeros say that the file has no direct I/O. */
static bool statx_alignment(const struct statx *stx, struct file_facts *facts)
{
	uint32_t mem = statx_word(stx, DIO_MEM_ALIGN_AT);
	uint32_t offset = statx_word(stx, DIO_OFFSET_ALIGN_AT);

	if (!(stx->stx_mask & WANT_DIOALIGN))
		return false;
	facts->direct_refused = !offset;
	if (!is_power_of_two(mem) || !is_power_of_two(offset))
		return false;
	facts->align = (struct alignment){.mem = mem, .offset = offset};
	return true;
}

static int facts_by_statx(int fd, struct file_facts *facts, bool *ret_aligned)
{
	struct statx stx;

	memset(&stx, 0, sizeof(stx));
	if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | WANT_DIOALIGN, &stx) < 0)
		return -errno;
	facts->mode = stx.stx_mode;
	facts->size_bytes = stx.stx_size;
	facts->key.block_device = S_ISBLK(stx.stx_mode);
	facts->key.device = makedev(stx.stx_dev_major, stx.stx_dev_minor);
	facts->key.number = stx.stx_ino;
	if (facts->key.block_device)
		facts->key.number = makedev(stx.stx_rdev_major, stx.stx_rdev_minor);
	*ret_aligned = statx_alignment(&stx, facts);
	return 0;
}
#else
static int facts_by_statx(int fd, struct file_facts *facts, bool *ret_aligned)
{
	(void)fd, (void)facts, (void)ret_aligned;
	return -ENOSYS;
}
#endif

static int facts_by_fstat(int fd, struct file_facts *facts)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	facts->mode = st.st_mode;
	facts->size_bytes = (uint64_t)st.st_size;
	facts->key.block_device = S_ISBLK(st.st_mode);
	facts->key.device = st.st_dev;
	facts->key.number = facts->key.block_device ? st.st_rdev : st.st_ino;
	return 0;
}

static struct alignment fallback_alignment(int fd, const struct file_facts *facts)
{
	uint32_t page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
	int sector_bytes = 0;

	if (facts->key.block_device && ioctl(fd, BLKSSZGET, &sector_bytes) == 0 &&
	    is_power_of_two((uint32_t)sector_bytes))
		return (struct alignment){(uint32_t)sector_bytes, (uint32_t)sector_bytes};
	return (struct alignment){page_bytes, page_bytes};
}

int swapioi_file_facts(int fd, struct file_facts *ret_facts)
{
	struct file_facts facts = {.mode = 0};
	bool aligned = false;
	int ret = facts_by_statx(fd, &facts, &aligned);

	/* A seccomp filter that does not know statx answers EPERM. */
	if (ret == -ENOSYS || ret == -EPERM)
		ret = facts_by_fstat(fd, &facts);
	if (ret < 0)
		return ret;
	if (!aligned)
		facts.align = fallback_alignment(fd, &facts);
	if (facts.key.block_device) {
		facts.key.device = 0; /* one lock for all nodes of a device */
		ret = swapioi_file_size(fd, true, &facts.size_bytes);
		if (ret < 0)
			return ret;
	}
	*ret_facts = facts;
	return 0;
}

int swapioi_file_size(int fd, bool block_device, uint64_t *ret_bytes)
{
	struct stat st;

	if (block_device)
		return ioctl(fd, BLKGETSIZE64, ret_bytes) < 0 ? -errno : 0;
	if (fstat(fd, &st) < 0)
		return -errno;
	*ret_bytes = (uint64_t)st.st_size;
	return 0;
}
