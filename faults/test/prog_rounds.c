/* SPDX-License-Identifier: MIT */
/*
 * prog_rounds.c - a victim that writes a file in blocks and reads it back, in rounds: submit all
 * that is left, in order; collect; again. So what is submitted does not depend on the order of
 * completions, and a schedule must have the same outcome on every back end.
 *
 *   prog_rounds FILE BLOCKS BLOCK_BYTES direct|buffered
 *
 * Prints a line for each block and phase: bytes done, error, bytes that differ from what was
 * written.
 */
#include <errno.h>
#include <fcntl.h>
#include <libaio.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS_MAX 64
#define ROUNDS_MAX 4
#define SECTOR_BYTES 512
#define TIMEOUT_NS 20000000
#define EMPTY_MAX 5 /* waits in a row that end with nothing: what is left will not come */

struct block {
	struct iocb iocb;
	char *memory;
	size_t done;
	long error;
	int waiting;
};

static struct block blocks[BLOCKS_MAX];
static unsigned count;
static size_t bytes;
static io_context_t ctx;
static int fd;
static unsigned waits, interrupted, strays;

static char pattern(unsigned block, size_t at, char generation)
{
	return (char)(generation + (char)(block * 31 + at / 7));
}

static void fill(char generation)
{
	for (unsigned i = 0; i < count; i++)
		for (size_t at = 0; at < bytes; at++)
			blocks[i].memory[at] = pattern(i, at, generation);
}

static size_t differing(const struct block *block, char generation)
{
	unsigned index = (unsigned)(block - blocks);
	size_t wrong = 0;

	for (size_t at = 0; at < bytes; at++)
		wrong += block->memory[at] != pattern(index, at, generation);
	return wrong;
}

/* Direct I/O goes on from the last whole sector. */
static void prepare(struct block *block, int writes)
{
	size_t from = block->done / SECTOR_BYTES * SECTOR_BYTES;
	long long offset = (long long)((size_t)(block - blocks) * bytes + from);

	if (writes)
		io_prep_pwrite(&block->iocb, fd, block->memory + from, bytes - from, offset);
	else
		io_prep_pread(&block->iocb, fd, block->memory + from, bytes - from, offset);
	block->done = from;
}

static int submit_all(struct iocb **list, int nr)
{
	int at = 0, tries = 0;

	while (at < nr && tries++ < 100) {
		int taken = io_submit(ctx, nr - at, list + at);

		if (taken < 0 && taken != -EAGAIN)
			return taken;
		at += taken > 0 ? taken : 0;
	}
	return at;
}

static int submit_round(int writes)
{
	struct iocb *list[BLOCKS_MAX];
	int nr = 0, taken;

	for (unsigned i = 0; i < count; i++) {
		blocks[i].waiting = 0;
		if (blocks[i].done == bytes || blocks[i].error)
			continue;
		prepare(&blocks[i], writes);
		list[nr++] = &blocks[i].iocb;
	}
	taken = submit_all(list, nr);
	for (int i = 0; i < taken; i++)
		((struct block *)list[i])->waiting = 1;
	if (taken < 0)
		printf("io_submit: %d\n", taken);
	return taken;
}

static int settle(const struct io_event *event)
{
	struct block *block = (struct block *)event->obj;

	if (block < blocks || block >= blocks + count || !block->waiting) {
		strays++;
		return 0;
	}
	block->waiting = 0;
	if ((long)event->res < 0)
		block->error = (long)event->res;
	else if (block->done + event->res > bytes)
		block->error = -EPROTO;
	else
		block->done += event->res;
	return 1;
}

static void collect(int left)
{
	struct io_event events[BLOCKS_MAX];
	int empty = 0;

	while (left > 0 && empty < EMPTY_MAX) {
		struct timespec timeout = {0, TIMEOUT_NS};
		int got = io_getevents(ctx, left, BLOCKS_MAX, events, &timeout);

		waits++;
		interrupted += got == -EINTR;
		empty = got == 0 ? empty + 1 : 0;
		if (got < 0 && got != -EINTR)
			return;
		for (int i = 0; i < got; i++)
			left -= settle(&events[i]);
	}
}

static void phase(const char *name, int writes, char generation)
{
	for (unsigned i = 0; i < count; i++)
		blocks[i].done = 0, blocks[i].error = 0;
	for (int round = 0; round < ROUNDS_MAX; round++) {
		int taken = submit_round(writes);

		if (taken <= 0)
			break;
		collect(taken);
	}
	for (unsigned i = 0; i < count; i++)
		printf("%s %u: done=%zu error=%ld differing=%zu\n", name, i, blocks[i].done,
		       blocks[i].error, differing(&blocks[i], generation));
}

static int open_all(char **argv)
{
	int direct = strcmp(argv[4], "direct") ? 0 : O_DIRECT;

	fd = open(argv[1], O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | direct, 0600);
	count = (unsigned)strtoul(argv[2], NULL, 10);
	bytes = strtoul(argv[3], NULL, 10);
	if (fd < 0 || count > BLOCKS_MAX)
		return -1;
	for (unsigned i = 0; i < count; i++)
		if (posix_memalign((void **)&blocks[i].memory, 4096, bytes))
			return -1;
	return io_setup(2 * BLOCKS_MAX, &ctx);
}

int main(int argc, char **argv)
{
	if (argc != 5 || open_all(argv) < 0)
		return 2;
	fill(1);
	phase("write", 1, 1);
	fill(2);
	phase("rewrite", 1, 2);
	fill(9);
	phase("read", 0, 2);
	printf("waits=%u interrupted=%u strays=%u\n", waits, interrupted, strays);
	return io_destroy(ctx) < 0;
}
