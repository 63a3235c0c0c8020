/* SPDX-License-Identifier: MIT */
/*
 * pattern.h - self-describing data: every 512 bytes of a tensor carry its id, generation and
 * offset.
 *
 * The bytes of a tensor at byte offset o are a pure function of (seed, tensor, generation, o), so
 * that any part of a file or of memory says where it comes from.
 *
 * Threads: pure functions.
 */
#ifndef PATTERN_H
#define PATTERN_H

#include <stddef.h>
#include <stdint.h>

#define PATTERN_CELL_BYTES 512u
#define PATTERN_POISON 0xdb /* what destinations hold before a read */

struct pattern {
	uint64_t seed;
	uint32_t tensor;     /* index in the workload */
	uint32_t generation; /* from 1 */
};

/* Fill @bytes of memory that stand at byte @offset of the tensor. */
void pattern_fill(const struct pattern *pattern, uint64_t offset, void *memory, size_t bytes);
void pattern_poison(void *memory, size_t bytes);

struct pattern_finding {
	uint64_t begin, end; /* byte range in the tensor, end exclusive: first run of bad cells */
	uint64_t bad_bytes;  /* of the whole range checked */
	/* "hold generation 1: lost write", "were never written (poison)", "hold zeros",
	 * "hold tensor exp_avg at 4096: misdirected", "one bit of byte 77 flipped" */
	char story[160];
};
/* Compare. 0 equal, 1 different with @ret_finding filled. @names: tensor names, NULL allowed. */
int pattern_check(const struct pattern *pattern, uint64_t offset, const void *memory, size_t bytes,
		  const char *const *names, unsigned names_count,
		  struct pattern_finding *ret_finding);

#endif /* PATTERN_H */
