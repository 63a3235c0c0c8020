/* SPDX-License-Identifier: MIT */
/*
 * sync_copy.c - copy a file with direct I/O, one large piece after the other.
 *
 *	cc sync_copy.c $(pkg-config --cflags --libs swapio) -o sync_copy
 *	./sync_copy FROM TO
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "swapio/swapio.h"

#define PIECE_BYTES ((size_t)16 << 20)

/* Each call runs as many blocks at once as the handle's queue is deep. */
static int copy(struct swapio *handle, const char *from, const char *to, uint64_t length_bytes,
		struct swapio_error *error)
{
	void *buf;
	int ret = swapio_buffer_alloc(handle, PIECE_BYTES, SWAPIO_BUFFER_PINNED, &buf);

	if (ret < 0) {
		snprintf(error->text, sizeof(error->text), "buffer: %s", strerror(-ret));
		return ret;
	}
	for (uint64_t at = 0; at < length_bytes && ret == 0; at += PIECE_BYTES) {
		uint64_t piece = length_bytes - at < PIECE_BYTES ? length_bytes - at : PIECE_BYTES;

		ret = swapio_read(handle, from, at, buf, piece, error);
		if (ret == 0)
			ret = swapio_write(handle, to, at, buf, piece, error);
	}
	swapio_buffer_free(handle, buf);
	return ret;
}

int main(int argc, char **argv)
{
	struct swapio_options options;
	struct swapio_error error = {0};
	struct swapio *handle;
	struct stat st;
	int ret;

	if (argc != 3) {
		fprintf(stderr, "usage: sync_copy FROM TO\n");
		return 2;
	}
	if (stat(argv[1], &st) < 0) {
		fprintf(stderr, "sync_copy: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	swapio_options_init(&options);
	options.workers = 0; /* the calls below drive the queue themselves */
	ret = swapio_open(&options, &error, &handle);
	if (ret == 0) {
		ret = copy(handle, argv[1], argv[2], (uint64_t)st.st_size, &error);
		swapio_close(handle, SWAPIO_FOREVER);
	}
	if (ret < 0)
		fprintf(stderr, "sync_copy: %s\n", error.text);
	return ret < 0;
}
