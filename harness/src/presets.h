/* SPDX-License-Identifier: MIT */
/*
 * presets.h - the states that optimizers really keep, as tensors of a scenario: which there are,
 * and what numel, dtype and shape each has for a given parameter.
 *
 * Threads: read-only tables.
 */
#ifndef PRESETS_H
#define PRESETS_H

#include <stdio.h>

#include "workload.h"

/* What a scenario says beside the name of the preset. */
struct preset_asked {
	char name[32];
	uint64_t numel; /* of the parameter; 0: not given, see shape */
	unsigned dims;	/* of the parameter */
	uint64_t shape[WORKLOAD_DIMS_MAX];
	unsigned block;	     /* elements under one maximum, of 8-bit states */
	unsigned parameters; /* that each have these states */
	enum memory_kind memory;
	uint32_t pointer_offset_bytes;
};

extern const char *const preset_names[]; /* ended by NULL */

/*
 * Fill @tensors. Number of tensors; -ERANGE more than @room; -EINVAL with @text: what is asked for
 * does not make such states.
 */
int preset_expand(const struct preset_asked *asked, struct tensor *tensors, unsigned room,
		  char *text, size_t text_bytes);

/* One line for each: name, tensors, and what it stands for. */
void presets_print(FILE *stream);

#endif /* PRESETS_H */
