/* SPDX-License-Identifier: MIT */
/*
 * prog_overask.c - a victim that has two reads in flight and waits for three events.
 *
 *   prog_overask FILE timed|forever|exact|poll|shared|reaper
 *
 * timed and forever are wrong. exact waits for two. poll does not wait. With shared another thread
 * has submitted one of the reads, with reaper another thread waits: a third read may come yet.
 */
#include <fcntl.h>
#include <libaio.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READS 2
#define BLOCK_BYTES 4096

static io_context_t ctx;
static struct iocb iocbs[READS];

static void *submit_one(void *iocb)
{
	struct iocb *list[] = {iocb};

	if (io_submit(ctx, 1, list) != 1)
		abort();
	return NULL;
}

/* Both come, whatever was asked for. */
static void *collect(void *argument)
{
	const char *how = argument;
	struct timespec moment = {.tv_nsec = strcmp(how, "poll") ? 10000000 : 0};
	struct io_event events[READS + 1];
	int min = strcmp(how, "exact") ? READS + 1 : READS, got = 0, count;

	do {
		count = io_getevents(ctx, min, READS + 1, events,
				     strcmp(how, "forever") ? &moment : NULL);
		if (count < 0)
			abort();
		got += count;
	} while (strcmp(how, "poll") == 0 && got < READS);
	if (got != READS)
		abort();
	return NULL;
}

static void in_thread(void *(*what)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, what, argument) || pthread_join(thread, NULL))
		abort();
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	static char memory[READS * BLOCK_BYTES];

	if (fd < 0 || io_setup(8, &ctx) < 0)
		return 2;
	for (int i = 0; i < READS; i++)
		io_prep_pread(&iocbs[i], fd, memory + i * BLOCK_BYTES, BLOCK_BYTES, 0);
	submit_one(&iocbs[0]);
	if (strcmp(argv[2], "shared") == 0)
		in_thread(submit_one, &iocbs[1]);
	else
		submit_one(&iocbs[1]);
	if (strcmp(argv[2], "reaper") == 0)
		in_thread(collect, argv[2]);
	else
		collect(argv[2]);
	io_destroy(ctx);
	puts("done");
	return 0;
}
