/* SPDX-License-Identifier: MIT */
/*
 * aftermath.c - once the faults are over, the same handle has to write and read again.
 */
#include <stdio.h>
#include <string.h>

#include "raw.h"
#include "worker.h"

static void failed(const char *what, int error, const struct swapio_error *sentence)
{
	tell_wrong("aftermath: a clean %s on the same handle fails: %s", what,
		   sentence->text[0] ? sentence->text : strerror(-error));
}

static void check(const struct pattern *pattern, const char *memory)
{
	struct pattern_finding finding;

	if (pattern_check(pattern, 0, memory, WIRE_PROBE_BYTES, NULL, 0, &finding))
		tell_wrong(
			"aftermath: a clean read gives other bytes than were written: %llu-%llu %s",
			(unsigned long long)finding.begin, (unsigned long long)finding.end - 1,
			finding.story);
}

void aftermath_probe(void)
{
	struct pattern pattern = {worker.wire.seed, WIRE_PROBE_TENSOR, 1};
	struct swapio_error sentence = {0};
	void *memory;
	int error = swapio_buffer_alloc(worker.handle, WIRE_PROBE_BYTES, 0, &memory);

	if (error < 0) {
		failed("buffer", error, &sentence);
		return;
	}
	memory_touch(memory, WIRE_PROBE_BYTES);
	pattern_fill(&pattern, 0, memory, WIRE_PROBE_BYTES);
	error = swapio_write(worker.handle, WIRE_PROBE_FILE, 0, memory, WIRE_PROBE_BYTES,
			     &sentence);
	if (error < 0) {
		failed("write", error, &sentence);
	} else {
		pattern_poison(memory, WIRE_PROBE_BYTES);
		error = swapio_read(worker.handle, WIRE_PROBE_FILE, 0, memory, WIRE_PROBE_BYTES,
				    &sentence);
		if (error < 0)
			failed("read", error, &sentence);
		else
			check(&pattern, memory);
	}
	error = swapio_buffer_free(worker.handle, memory);
	if (error < 0)
		failed("buffer_free", error, &sentence);
}
