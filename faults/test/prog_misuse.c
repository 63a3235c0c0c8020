/* SPDX-License-Identifier: MIT */
/*
 * prog_misuse.c - a victim that does one thing with memory in flight that it must not, on purpose.
 *
 *   prog_misuse FILE change|overlap|unmap|leak|leak-in-flight|nothing
 */
#include <fcntl.h>
#include <libaio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK_BYTES 4096

static io_context_t ctx;
static struct iocb iocbs[2], *list[2] = {&iocbs[0], &iocbs[1]};

static void collect(int count)
{
	struct io_event events[2];

	if (io_getevents(ctx, count, 2, events, NULL) != count)
		abort();
}

/* The completion is held (by the schedule), so that the misuse is in time. */
static void misuse(const char *what, int fd, char *memory)
{
	if (!strcmp(what, "change"))
		io_prep_pwrite(&iocbs[0], fd, memory, BLOCK_BYTES, 0);
	else
		io_prep_pread(&iocbs[0], fd, memory, BLOCK_BYTES, 0);
	io_prep_pread(&iocbs[1], fd, memory + (strcmp(what, "overlap") ? BLOCK_BYTES : 512),
		      BLOCK_BYTES, BLOCK_BYTES);
	if (io_submit(ctx, 2, list) != 2)
		abort();
	if (!strcmp(what, "change"))
		memory[100]++;
	if (!strcmp(what, "unmap"))
		munmap(memory, BLOCK_BYTES);
	if (strcmp(what, "leak-in-flight"))
		collect(2);
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR | O_CLOEXEC) : -1;
	char *memory = mmap(NULL, 3 * BLOCK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (fd < 0 || memory == MAP_FAILED || io_setup(8, &ctx) < 0)
		return 2;
	memset(memory, 1, 3 * BLOCK_BYTES);
	misuse(argv[2], fd, memory);
	if (strncmp(argv[2], "leak", 4))
		io_destroy(ctx);
	puts("done");
	return 0;
}
