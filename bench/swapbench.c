/* SPDX-License-Identifier: MIT */
/*
 * swapbench.c - reads or writes a file through libswapio as fio's libaio engine would: requests of
 * one block each, a fixed number of them pending, one thread, memory of its own. Prints one line:
 * "BYTES WALL_SECONDS CPU_SECONDS".
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "swapio/swapio.h"

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

struct bench {
	const char *path;
	enum swapio_op op;
	uint64_t file_bytes, total_bytes, request_bytes;
	unsigned pending;
	bool huge;
	uint64_t next_byte;
	char *memory;
	struct swapio_options options;
};

static double seconds(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
}

static double wall_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "swapbench: %s: %s\n", what, why);
	return 1;
}

/* Start the request that uses memory slot @slot. */
static int start(struct swapio *handle, struct bench *bench, int fd, uint64_t slot)
{
	struct swapio_error error;
	swapio_id id;
	struct swapio_io io = {
		.size_bytes = sizeof(io),
		.op = bench->op,
		.fd = fd,
		.offset_bytes = bench->next_byte % bench->file_bytes,
		.length_bytes = bench->request_bytes,
		.buf = bench->memory + slot * bench->request_bytes,
		.tag = slot,
	};
	int ret = swapio_submit(handle, &io, &error, &id);

	if (ret < 0)
		fail("submit", error.text);
	bench->next_byte += bench->request_bytes;
	return ret;
}

static int transfer(struct swapio *handle, struct bench *bench, int fd)
{
	struct swapio_result results[256];
	char text[256];
	int count;

	for (uint64_t slot = 0; slot < bench->pending; slot++)
		if (start(handle, bench, fd, slot) < 0)
			return 1;
	while (swapio_pending(handle) > 0) {
		count = swapio_wait_some(handle, 1, 256, SWAPIO_FOREVER, results);
		if (count < 0)
			return fail("wait", strerror(-count));
		for (int i = 0; i < count; i++) {
			if (results[i].error) {
				swapio_result_text(&results[i], text, sizeof(text));
				return fail("transfer", text);
			}
			if (bench->next_byte < bench->total_bytes &&
			    start(handle, bench, fd, results[i].tag) < 0)
				return 1;
		}
	}
	return 0;
}

static size_t memory_bytes(const struct bench *bench)
{
	size_t bytes = bench->pending * bench->request_bytes;

	return (bytes + HUGE_PAGE_BYTES - 1) & ~(HUGE_PAGE_BYTES - 1);
}

/* The same backing as fio's mem=mmaphuge and mem=mmap, so that both sides do the same DMA. */
static void *map_memory(const struct bench *bench)
{
	int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;

	return mmap(NULL, memory_bytes(bench), PROT_READ | PROT_WRITE,
		    flags | (bench->huge ? MAP_HUGETLB : 0), -1, 0);
}

static int measure(struct bench *bench, int fd)
{
	struct swapio_error error;
	struct swapio *handle;
	double wall, cpu;
	void *memory;
	int ret;

	if (swapio_open(&bench->options, &error, &handle) < 0)
		return fail("open", error.text);
	memory = map_memory(bench);
	if (memory == MAP_FAILED) {
		swapio_abort(handle);
		return fail("memory", strerror(errno));
	}
	bench->memory = memory;
	wall = wall_seconds();
	cpu = cpu_seconds();
	ret = transfer(handle, bench, fd);
	cpu = cpu_seconds() - cpu;
	wall = wall_seconds() - wall;
	munmap(memory, memory_bytes(bench));
	swapio_close(handle, SWAPIO_FOREVER);
	if (ret == 0)
		printf("%llu %.6f %.6f\n", (unsigned long long)bench->total_bytes, wall, cpu);
	return ret;
}

static unsigned shift_of(char suffix)
{
	switch (suffix) {
	case 'K':
		return 10;
	case 'M':
		return 20;
	case 'G':
		return 30;
	default:
		return 0;
	}
}

static uint64_t bytes_of(const char *text)
{
	char *end;
	uint64_t value = strtoull(text, &end, 10);
	unsigned shift = shift_of(*end);

	if (!value || end[shift != 0]) {
		fail(text, "is no size: a number above 0 with K, M or G is");
		exit(2);
	}
	return value << shift;
}

static const struct option long_options[] = {
	{"file", required_argument, NULL, 'f'},
	{"write", no_argument, NULL, 'w'},
	{"block", required_argument, NULL, 'b'},
	{"request", required_argument, NULL, 'r'},
	{"depth", required_argument, NULL, 'd'},
	{"bytes", required_argument, NULL, 'n'},
	{"file-bytes", required_argument, NULL, 's'},
	{"workers", required_argument, NULL, 'k'},
	{"huge", no_argument, NULL, 'H'},
	{"batch", no_argument, NULL, 'B'},
	{"single-submit", no_argument, NULL, 'S'},
	{NULL, 0, NULL, 0},
};

static int parse(struct bench *bench, int argc, char **argv)
{
	int option;

	swapio_options_init(&bench->options);
	bench->options.workers = 0;
	bench->total_bytes = bench->file_bytes = 1ull << 30;
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) >= 0) {
		switch (option) {
		case 'f':
			bench->path = optarg;
			break;
		case 'w':
			bench->op = SWAPIO_WRITE;
			break;
		case 'b':
			bench->options.block_bytes = bytes_of(optarg);
			break;
		case 'r':
			bench->request_bytes = bytes_of(optarg);
			break;
		case 'd':
			bench->options.queue_depth = (unsigned)bytes_of(optarg);
			break;
		case 'n':
			bench->total_bytes = bytes_of(optarg);
			break;
		case 's':
			bench->file_bytes = bytes_of(optarg);
			break;
		case 'k':
			bench->options.workers = (unsigned)bytes_of(optarg);
			break;
		case 'H':
			bench->huge = true;
			break;
		case 'B':
			bench->options.overlap_events = false;
			break;
		case 'S':
			bench->options.single_submit = true;
			break;
		default:
			return -EINVAL;
		}
	}
	return bench->path ? 0 : -EINVAL;
}

/* Memory in flight equals fio's: depth blocks in all, however large a request is. */
static void set_pending(struct bench *bench)
{
	uint64_t in_flight = bench->options.block_bytes * bench->options.queue_depth;

	if (!bench->request_bytes)
		bench->request_bytes = bench->options.block_bytes;
	bench->pending = (unsigned)(in_flight / bench->request_bytes);
	if (!bench->pending)
		bench->pending = 1;
	if (bench->pending > bench->options.requests_max)
		bench->options.requests_max = bench->pending;
}

int main(int argc, char **argv)
{
	struct bench bench = {.op = SWAPIO_READ};
	int fd, ret;

	if (parse(&bench, argc, argv) < 0) {
		fprintf(stderr,
			"usage: swapbench --file PATH [--write] [--block BYTES] [--request BYTES]\n"
			"       [--depth N] [--bytes N] [--file-bytes N] [--workers N]\n"
			"       [--huge] [--batch] [--single-submit]\n");
		return 2;
	}
	set_pending(&bench);
	fd = open(bench.path,
		  O_DIRECT | O_CLOEXEC | (bench.op == SWAPIO_WRITE ? O_RDWR : O_RDONLY));
	if (fd < 0)
		return fail(bench.path, strerror(errno));
	ret = measure(&bench, fd);
	close(fd);
	return ret;
}
