/* SPDX-License-Identifier: MIT */
/*
 * async_read.c - sum up the bytes of a file while the next pieces of it are still being read.
 *
 *	cc async_read.c $(pkg-config --cflags --libs swapio) -o async_read
 *	./async_read FILE
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "swapio/swapio.h"

#define PIECE_BYTES ((uint64_t)4 << 20)
#define PIECES 4u /* being read or summed at a time */

struct reader {
	struct swapio *handle;
	int fd;
	unsigned char *memory; /* of PIECES pieces */
	uint64_t next, end;    /* in the file */
	struct swapio_error error;
};

/* Start to read the next piece into part @slot of the memory, if there is one. */
static int start(struct reader *reader, uint64_t slot)
{
	uint64_t left = reader->end - reader->next;
	struct swapio_io io = {
		.size_bytes = sizeof(io),
		.op = SWAPIO_READ,
		.fd = reader->fd,
		.offset_bytes = reader->next,
		.length_bytes = left < PIECE_BYTES ? left : PIECE_BYTES,
		.buf = reader->memory + slot * PIECE_BYTES,
		.tag = slot,
	};
	swapio_id id;

	if (!left)
		return 0;
	reader->next += io.length_bytes;
	return swapio_submit(reader->handle, &io, &reader->error, &id);
}

static uint64_t sum_of(const unsigned char *bytes, uint64_t count)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < count; i++)
		sum += bytes[i];
	return sum;
}

/* Pieces come in any order; each one's memory is used again for the next. */
static int sum_file(struct reader *reader, uint64_t *ret_sum)
{
	struct swapio_result result;
	int ret = 0;

	for (unsigned slot = 0; slot < PIECES && ret == 0; slot++)
		ret = start(reader, slot);
	while (ret == 0 && swapio_wait_some(reader->handle, 1, 1, SWAPIO_FOREVER, &result) == 1) {
		*ret_sum += sum_of(reader->memory + result.tag * PIECE_BYTES, result.bytes);
		ret = result.error ? result.error : start(reader, result.tag);
		if (result.error)
			swapio_result_text(&result, reader->error.text, sizeof(reader->error.text));
	}
	return ret;
}

static int run(const char *path, struct reader *reader)
{
	uint64_t sum = 0;
	void *memory;
	int ret = swapio_buffer_alloc(reader->handle, PIECES * PIECE_BYTES, SWAPIO_BUFFER_PINNED,
				      &memory);

	if (ret < 0) {
		snprintf(reader->error.text, sizeof(reader->error.text), "%s", strerror(-ret));
		return ret;
	}
	reader->memory = memory;
	ret = sum_file(reader, &sum);
	if (ret == 0)
		printf("%llu %s\n", (unsigned long long)sum, path);
	return ret;
}

int main(int argc, char **argv)
{
	struct reader reader = {.fd = -1};
	struct stat st;
	int ret;

	if (argc == 2)
		reader.fd = open(argv[1], O_RDONLY | O_DIRECT);
	if (reader.fd < 0 || fstat(reader.fd, &st) < 0) {
		fprintf(stderr, "async_read: %s\n", argc == 2 ? strerror(errno) : "usage: FILE");
		return 2;
	}
	reader.end = (uint64_t)st.st_size;
	ret = swapio_open(NULL, &reader.error, &reader.handle);
	if (ret == 0) {
		ret = run(argv[1], &reader);
		swapio_close(reader.handle, SWAPIO_FOREVER); /* frees the memory, too */
	}
	if (ret < 0)
		fprintf(stderr, "async_read: %s: %s\n", argv[1], reader.error.text);
	close(reader.fd);
	return ret < 0;
}
