/* SPDX-License-Identifier: MIT */
/*
 * compare.c - what a read gave, where nobody knows what the file holds (a write failed, the power
 * was cut): it has to be what the file holds, read past the library.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "raw.h"
#include "worker.h"

#define CHUNK_BYTES 65536u

static size_t first_difference(const char *a, const char *b, size_t bytes)
{
	size_t at = 0;

	while (at < bytes && a[at] == b[at])
		at++;
	return at;
}

static void tell_difference(unsigned index, uint64_t begin, uint64_t end, const char *why)
{
	struct pattern_finding finding = {.begin = begin, .end = end, .bad_bytes = end - begin};

	snprintf(finding.story, sizeof(finding.story), "%s", why);
	tell_data(index, &finding);
}

/* How much of the chunk is as in the file; 0: something is not, and was told. */
static size_t compare_chunk(unsigned index, int fd, uint64_t done, size_t bytes)
{
	static char chunk[CHUNK_BYTES];
	const struct tensor *asked = &worker.workload.tensors[index];
	long got = raw_pread(fd, chunk, bytes, asked->file_offset_bytes + done);
	size_t same;

	if (got <= 0) {
		tell_difference(index, done, done + bytes, "were read, and the file has none");
		return 0;
	}
	same = first_difference(chunk, worker.tensors[index].memory + done, (size_t)got);
	if (same == (size_t)got)
		return same;
	tell_difference(index, done + same, done + (size_t)got, "are not what the file holds");
	return 0;
}

void compare_with_file(unsigned index, const struct transfer *transfer)
{
	int fd = raw_open(worker.workload.tensors[index].file, O_RDONLY, 0);
	uint64_t done = 0;

	if (fd < 0) {
		tell_difference(index, 0, transfer->length_bytes,
				"were read, and there is no file");
		return;
	}
	while (done < transfer->length_bytes) {
		uint64_t left = transfer->length_bytes - done;
		size_t part = left < CHUNK_BYTES ? left : CHUNK_BYTES;
		size_t same = compare_chunk(index, fd, done, part);

		if (!same)
			break;
		done += same;
	}
	raw_close(fd);
}
