/* SPDX-License-Identifier: MIT */
/*
 * pinned_pool.c - write many small results to one file out of a small pool of pinned slots.
 *
 * The pool bounds the memory: when all slots are being written, the program waits for one.
 *	cc pinned_pool.c $(pkg-config --cflags --libs swapio) -o pinned_pool
 *	./pinned_pool FILE
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "swapio/swapio.h"

#define RESULTS 1000u
#define RESULT_BYTES 3000u /* no multiple of anything: neighbours share sectors */
#define SLOTS 8u

struct writer {
	struct swapio *handle;
	struct swapio_pool *pool;
	const char *path;
	struct swapio_error error;
};

/* Fetch what ended, or wait for @min writes to end, and give their slots back. */
static int collect(struct writer *writer, unsigned min)
{
	struct swapio_result results[SLOTS];
	int count = swapio_wait_some(writer->handle, min, SLOTS, SWAPIO_FOREVER, results);
	int ret = count < 0 ? count : 0;

	for (int i = 0; i < count; i++) {
		swapio_pool_release(writer->pool, (void *)(uintptr_t)results[i].tag);
		if (!results[i].error)
			continue;
		ret = results[i].error;
		swapio_result_text(&results[i], writer->error.text, sizeof(writer->error.text));
	}
	return ret;
}

static int take_slot(struct writer *writer, void **ret_slot)
{
	int ret;

	while ((ret = swapio_pool_acquire(writer->pool, 0, ret_slot)) == -ETIMEDOUT) {
		ret = collect(writer, 1);
		if (ret < 0)
			return ret;
	}
	return ret;
}

static int write_result(struct writer *writer, unsigned number)
{
	struct swapio_io io = {
		.size_bytes = sizeof(io),
		.op = SWAPIO_WRITE,
		.path = writer->path,
		.offset_bytes = (uint64_t)number * RESULT_BYTES,
		.length_bytes = RESULT_BYTES,
	};
	swapio_id id;
	int ret = take_slot(writer, &io.buf);

	if (ret < 0)
		return ret;
	memset(io.buf, (int)number, RESULT_BYTES); /* stands for a computation */
	io.tag = (uintptr_t)io.buf;
	ret = swapio_submit(writer->handle, &io, &writer->error, &id);
	if (ret < 0)
		swapio_pool_release(writer->pool, io.buf);
	return ret;
}

/* Also after a failure all slots are waited for: they are the library's until then. */
static int write_all(struct writer *writer)
{
	int ret = 0, last;

	for (unsigned number = 0; number < RESULTS && ret == 0; number++)
		ret = write_result(writer, number);
	while (swapio_pending(writer->handle)) {
		last = collect(writer, 1);
		if (last < 0)
			ret = last;
	}
	return ret;
}

static int run(struct writer *writer)
{
	int ret = swapio_open(NULL, &writer->error, &writer->handle);

	if (ret < 0)
		return ret;
	ret = swapio_pool_create(writer->handle, RESULT_BYTES, SLOTS, &writer->pool);
	if (ret < 0)
		snprintf(writer->error.text, sizeof(writer->error.text), "%s", strerror(-ret));
	if (ret == 0)
		ret = write_all(writer);
	swapio_pool_destroy(writer->pool);
	swapio_close(writer->handle, SWAPIO_FOREVER);
	return ret;
}

int main(int argc, char **argv)
{
	struct writer writer = {.path = argv[1]};

	if (argc != 2) {
		fprintf(stderr, "usage: pinned_pool FILE\n");
		return 2;
	}
	if (run(&writer) == 0)
		return 0;
	fprintf(stderr, "pinned_pool: %s\n", writer.error.text);
	return 1;
}
