/* SPDX-License-Identifier: MIT */
/*
 * prog_aio.c - a victim that makes every AIO call, tries each a second time when it failed, and
 * says what came of it.
 *
 *   prog_aio name|number|queue FILE     through libaio, syscall(), or libaio's io_queue calls
 *
 * Prints "CALL RESULT" for each try: a count, or the name of an errno.
 */
#include <errno.h>
#include <fcntl.h>
#include <libaio.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "points.h"

#define BLOCKS 4
#define BLOCK_BYTES 4096
#define KERNEL_SIGSET_BYTES 8

static bool by_number, by_queue;
static io_context_t ctx;
static struct iocb iocbs[BLOCKS], *batch[BLOCKS];
static struct io_event events[BLOCKS];
static char data[BLOCKS * BLOCK_BYTES] __attribute__((aligned(4096)));
static unsigned submitted;

/* syscall() answers through errno, libaio does not. */
static long plain(long result)
{
	return by_number && result == -1 ? -errno : result;
}

static long call_setup(void)
{
	if (by_queue)
		return io_queue_init(BLOCKS, &ctx);
	return by_number ? syscall(SYS_io_setup, BLOCKS, &ctx) : io_setup(BLOCKS, &ctx);
}

static long call_submit(void)
{
	long nr = BLOCKS - submitted, taken;

	taken = by_number ? syscall(SYS_io_submit, ctx, nr, batch + submitted)
			  : io_submit(ctx, nr, batch + submitted);
	if (taken > 0)
		submitted += (unsigned)taken;
	return taken;
}

static long call_getevents(void)
{
	if (by_number)
		return syscall(SYS_io_getevents, ctx, submitted, BLOCKS, events, NULL);
	return io_getevents(ctx, submitted, BLOCKS, events, NULL);
}

static long call_pgetevents(void)
{
	struct {
		const sigset_t *mask;
		size_t bytes;
	} sigset = {NULL, KERNEL_SIGSET_BYTES};

	if (by_number)
		return syscall(SYS_io_pgetevents, ctx, submitted, BLOCKS, events, NULL, &sigset);
	return io_pgetevents(ctx, submitted, BLOCKS, events, NULL, NULL);
}

static long call_cancel(void)
{
	return by_number ? syscall(SYS_io_cancel, ctx, &iocbs[0], events)
			 : io_cancel(ctx, &iocbs[0], events);
}

static long call_destroy(void)
{
	if (by_queue)
		return io_queue_release(ctx);
	return by_number ? syscall(SYS_io_destroy, ctx) : io_destroy(ctx);
}

/* Twice at most. */
static long try(const char *name, long (*call)(void))
{
	long result = -1;

	for (unsigned i = 0; i < 2 && result < 0; i++) {
		result = plain(call());
		if (result < 0)
			printf("%s %s\n", name, errno_name((int)-result));
		else
			printf("%s %ld\n", name, result);
	}
	return result;
}

/* A batch there and its events back. */
static void round_trip(const char *name, long (*wait)(void))
{
	submitted = 0;
	while (submitted < BLOCKS && try("submit", call_submit) >= 0)
		;
	if (submitted > 0)
		try(name, wait);
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[2], O_RDWR | O_CREAT, 0600) : -1;

	if (fd < 0) {
		fprintf(stderr, "usage: prog_aio name|number|queue FILE\n");
		return 2;
	}
	by_number = strcmp(argv[1], "number") == 0;
	by_queue = strcmp(argv[1], "queue") == 0;
	for (unsigned i = 0; i < BLOCKS; i++) {
		io_prep_pwrite(&iocbs[i], fd, data + i * BLOCK_BYTES, BLOCK_BYTES, i * BLOCK_BYTES);
		batch[i] = &iocbs[i];
	}
	if (try("setup", call_setup) < 0)
		return 0;
	round_trip("getevents", call_getevents);
	round_trip("pgetevents", call_pgetevents);
	try("cancel", call_cancel);
	try("destroy", call_destroy);
	return 0;
}
