/* SPDX-License-Identifier: MIT */
/*
 * swap.c - what a swap of many tensors costs beside one plain transfer of as many bytes, what
 * copies and checksums cost, and how well swaps overlap with computing. Prints a table.
 *
 * Sides are paired A B B A on the same disk in one process. The figure of a pair is the time of A
 * over that of B, so above 1 B is faster; A against itself is its first run over its second. Both
 * use the same memory: in a virtual machine pages differ in how fast a device moves them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "swapio/swapio.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define PAIRS_MAX 99u
#define DEPTH 128 /* so that also pieces of 256 KiB are 32 MiB in flight */
#define TENSORS_MAX 1024u
#define MEMORY_BYTES (1024 * MIB)

static struct swapio *handle;
static struct swapio_error error;
static const char *directory;
static unsigned pairs = 9;
static char *memory; /* of whoever runs */

static void check(int ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "swap: %s: %s: %s\n", what, strerror(-ret), error.text);
	exit(1);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* One group of equal tensors in a store of its own, or a plain file of as many bytes. */
struct load {
	unsigned count;
	size_t tensor_bytes;
	size_t offset; /* of each tensor from a page */
	enum swapio_checksum checksum;
	bool plain; /* one transfer of the file, without store */

	void *mem[TENSORS_MAX];
	char path[300];
	int fd;
	struct swapio_store *store;
	struct swapio_group *group;
};

/* In huge pages where there are any, as the slots of a pool are. */
static void map_memory(void)
{
	memory = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	check(memory == MAP_FAILED ? -errno : 0, "memory");
	madvise(memory, MEMORY_BYTES, MADV_HUGEPAGE);
	memset(memory, 0x5a, MEMORY_BYTES);
}

static void place_tensors(struct load *load)
{
	size_t stride = load->tensor_bytes + (load->offset ? 4096 : 0);

	for (unsigned i = 0; i < load->count; i++)
		load->mem[i] = memory + i * stride + load->offset;
}

static void open_group(struct load *load)
{
	static struct swapio_tensor tensors[TENSORS_MAX];
	static char names[TENSORS_MAX][16];
	struct swapio_store_options options;

	swapio_store_options_init(&options);
	options.checksum = load->checksum;
	check(swapio_store_open(handle, load->path, &options, &error, &load->store), load->path);
	for (unsigned i = 0; i < load->count; i++) {
		snprintf(names[i], sizeof(names[i]), "tensor %u", i);
		tensors[i] = (struct swapio_tensor){
			.size_bytes = sizeof(*tensors),
			.name = names[i],
			.numel = load->tensor_bytes / 4,
			.element_bytes = 4,
		};
	}
	check(swapio_group_open(load->store, "g", tensors, load->count, &error, &load->group),
	      "group");
}

static double run_plain(struct load *load, enum swapio_swap_op op)
{
	double begin = seconds();
	struct swapio_result result;
	swapio_id id;
	struct swapio_io io = {
		.size_bytes = sizeof(io),
		.op = op == SWAPIO_SWAP_OUT ? SWAPIO_WRITE : SWAPIO_READ,
		.fd = load->fd,
		.length_bytes = load->count * load->tensor_bytes,
		.buf = memory,
	};

	check(swapio_submit(handle, &io, &error, &id), "submit");
	check(swapio_wait(handle, id, SWAPIO_FOREVER, &result), "wait");
	check(result.error, "transfer");
	if (op == SWAPIO_SWAP_OUT && fdatasync(load->fd) < 0)
		check(-errno, "fdatasync");
	return seconds() - begin;
}

static double run_load(struct load *load, enum swapio_swap_op op)
{
	double begin = seconds();

	if (load->plain)
		return run_plain(load, op);
	check(op == SWAPIO_SWAP_OUT ? swapio_swap_out(load->group, load->mem, &error)
				    : swapio_swap_in(load->group, load->mem, &error),
	      "swap");
	return seconds() - begin;
}

/* Everything is written twice, so that both places of a store and the file have their blocks. */
static void open_load(struct load *load)
{
	static unsigned number;

	snprintf(load->path, sizeof(load->path), "%s/%u", directory, number++);
	place_tensors(load);
	if (load->plain) {
		load->fd = open(load->path, O_RDWR | O_CREAT | O_DIRECT, 0600);
		check(load->fd < 0 ? -errno : 0, load->path);
	} else {
		open_group(load);
	}
	run_load(load, SWAPIO_SWAP_OUT);
	run_load(load, SWAPIO_SWAP_OUT);
}

static void close_load(struct load *load)
{
	if (load->plain) {
		close(load->fd);
		unlink(load->path);
	} else {
		check(swapio_group_close(load->group), "close of the group");
		check(swapio_store_close(load->store, SWAPIO_FOREVER), "close of the store");
		check(swapio_store_destroy(load->path, NULL, &error), "removal of the store");
	}
}

static int compare(const void *a, const void *b)
{
	const double *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static double median(double *values, unsigned count)
{
	qsort(values, count, sizeof(*values), compare);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static double gib_per_second(const struct load *load, double time)
{
	return (double)load->count * (double)load->tensor_bytes / time / (double)(1024 * MIB);
}

static void print_row(const char *what, const struct load *a, const struct load *b,
		      enum swapio_swap_op op, double runs[PAIRS_MAX][4], const char *wanted)
{
	double ratio[PAIRS_MAX], self[PAIRS_MAX], time_a[PAIRS_MAX], time_b[PAIRS_MAX];

	for (unsigned i = 0; i < pairs; i++) {
		time_a[i] = (runs[i][0] + runs[i][3]) / 2;
		time_b[i] = (runs[i][1] + runs[i][2]) / 2;
		ratio[i] = time_a[i] / time_b[i];
		self[i] = runs[i][0] / runs[i][3];
	}
	printf("%-48s %-4s %7.2f %7.2f %7.3f %7.3f   %s\n", what,
	       op == SWAPIO_SWAP_OUT ? "out" : "in", gib_per_second(a, median(time_a, pairs)),
	       gib_per_second(b, median(time_b, pairs)), median(ratio, pairs), median(self, pairs),
	       wanted);
	fflush(stdout);
}

static void compare_loads(const char *what, struct load *a, struct load *b, const char *wanted)
{
	static double runs[PAIRS_MAX][4];

	open_load(a);
	open_load(b);
	for (int op = SWAPIO_SWAP_IN; op <= SWAPIO_SWAP_OUT; op++) {
		for (unsigned i = 0; i < pairs; i++) {
			runs[i][0] = run_load(a, (enum swapio_swap_op)op);
			runs[i][1] = run_load(b, (enum swapio_swap_op)op);
			runs[i][2] = run_load(b, (enum swapio_swap_op)op);
			runs[i][3] = run_load(a, (enum swapio_swap_op)op);
		}
		print_row(what, a, b, (enum swapio_swap_op)op, runs, wanted);
	}
	close_load(a);
	close_load(b);
}

#define LAYERS 8u /* a multiple of IN_MEMORY */
#define STEPS 4u
#define LAYER_BYTES (32 * MIB)
#define IN_MEMORY 4u /* read ahead, computed on, two written behind */

static struct load layers[LAYERS];
static swapio_swap_id pending[IN_MEMORY];

static void finish_layer(unsigned layer)
{
	struct swapio_swap_result result = {.size_bytes = sizeof(result)};
	swapio_swap_id *id = &pending[layer % IN_MEMORY];

	if (*id)
		check(swapio_swap_wait(layers[0].store, *id, SWAPIO_FOREVER, &result), "wait");
	check(result.error, result.text);
	*id = 0;
}

static void start_layer(unsigned layer, enum swapio_swap_op op)
{
	struct swapio_swap swap = {.size_bytes = sizeof(swap), .op = op};

	finish_layer(layer);
	swap.group = layers[layer % LAYERS].group;
	swap.mem = layers[layer % LAYERS].mem;
	check(swapio_swap_start(&swap, &error, &pending[layer % IN_MEMORY]), "start");
}

/* Arithmetic on a layer, again and again, for so long. */
static void compute(unsigned layer, double duration)
{
	float *values = layers[layer % LAYERS].mem[0];
	double end = seconds() + duration;

	while (duration > 0 && seconds() < end)
		for (size_t i = 0; i < 4096; i++)
			values[i] = 0.9f * values[i] + 0.1f;
}

/*
 * The time of a step, in a run of several: each layer is read while the one before is computed on,
 * the first one of the next step, too, and written behind.
 */
static double step(double compute_each)
{
	double begin = seconds();

	start_layer(0, SWAPIO_SWAP_IN);
	for (unsigned layer = 0; layer < LAYERS * STEPS; layer++) {
		finish_layer(layer);
		if (layer + 1 < LAYERS * STEPS)
			start_layer(layer + 1, SWAPIO_SWAP_IN);
		compute(layer, compute_each);
		start_layer(layer, SWAPIO_SWAP_OUT);
	}
	for (unsigned i = 0; i < IN_MEMORY; i++)
		finish_layer(i);
	return (seconds() - begin) / STEPS;
}

static void open_layers(void)
{
	static char names[LAYERS][16];
	struct swapio_tensor tensor = {.size_bytes = sizeof(tensor),
				       .name = "momentum",
				       .numel = LAYER_BYTES / 4,
				       .element_bytes = 4};

	snprintf(layers[0].path, sizeof(layers[0].path), "%s/layers", directory);
	check(swapio_store_open(handle, layers[0].path, NULL, &error, &layers[0].store), "store");
	for (unsigned i = 0; i < LAYERS; i++) {
		layers[i].count = 1;
		layers[i].tensor_bytes = LAYER_BYTES;
		layers[i].mem[0] = memory + i % IN_MEMORY * LAYER_BYTES;
		snprintf(names[i], sizeof(names[i]), "layer %u", i);
		check(swapio_group_open(layers[0].store, names[i], &tensor, 1, &error,
					&layers[i].group),
		      "group");
		for (unsigned j = 0; j < 2; j++)
			check(swapio_swap_out(layers[i].group, layers[i].mem, &error), "swap");
	}
}

static void close_layers(void)
{
	for (unsigned i = 0; i < LAYERS; i++) {
		check(swapio_group_close(layers[i].group), "close of the group");
	}
	check(swapio_store_close(layers[0].store, SWAPIO_FOREVER), "close of the store");
	check(swapio_store_destroy(layers[0].path, NULL, &error), "removal of the store");
}

/* A step that swaps and computes, over the longer of both alone; computing takes as long as swaps.
 */
static void compare_overlap(void)
{
	double swaps[PAIRS_MAX], both[PAIRS_MAX], ratio[PAIRS_MAX], self[PAIRS_MAX], each;

	open_layers();
	for (unsigned i = 0; i < pairs; i++) {
		double first = step(0), second;

		each = first / LAYERS;
		both[i] = (step(each) + step(each)) / 2;
		second = step(0);
		swaps[i] = (first + second) / 2;
		/* Computing was told to take as long as the first. */
		ratio[i] = both[i] / (swaps[i] > first ? swaps[i] : first);
		self[i] = first / second;
	}
	printf("%-48s %-4s %7.3f %7.3f %7.3f %7.3f   %s\n",
	       "swaps alone (A, s), with as long a computation (B)", "both", median(swaps, pairs),
	       median(both, pairs), median(ratio, pairs), median(self, pairs), "B/A <= 1.15");
	close_layers();
}

/* KiB of this process that are locked or pinned. */
static unsigned long pinned_kib(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long total = 0;
	char line[200];

	check(file ? 0 : -errno, "/proc/self/status");
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, "VmLck:", 6) == 0 || strncmp(line, "VmPin:", 6) == 0)
			total += strtoul(line + 6, NULL, 10);
	fclose(file);
	return total;
}

static unsigned long most_pinned(struct swapio_store *store, swapio_swap_id id)
{
	struct swapio_swap_result result = {.size_bytes = sizeof(result)};
	unsigned long most = 0, now;

	while (swapio_swap_wait(store, id, 0, &result) == -ETIMEDOUT) {
		now = pinned_kib();
		most = now > most ? now : most;
	}
	check(result.error, result.text);
	return most;
}

/* Every byte of it goes through the pool. */
static void measure_pinned(void)
{
	struct load load = {
		.count = 256,
		.tensor_bytes = MIB,
		.offset = 64,
		.checksum = SWAPIO_CHECKSUM_XXH3,
	};
	struct swapio_swap swap = {.size_bytes = sizeof(swap), .mem = load.mem};
	struct swapio_store_info info = {.size_bytes = sizeof(info)};
	unsigned long before = pinned_kib(), most = 0;
	swapio_swap_id id;

	open_load(&load);
	swap.group = load.group;
	check(swapio_store_info_get(load.store, &info), "info");
	for (int op = SWAPIO_SWAP_IN; op <= SWAPIO_SWAP_OUT; op++) {
		unsigned long now;

		swap.op = (enum swapio_swap_op)op;
		check(swapio_swap_start(&swap, &error, &id), "start");
		now = most_pinned(load.store, id);
		most = now > most ? now : most;
	}
	printf("pinned at most while 256 MiB are staged: %lu KiB more than before; the pool has "
	       "%llu KiB%s\n",
	       most - before, (unsigned long long)info.pool_bytes / 1024,
	       info.pool_locked ? "" : ", not locked");
	close_load(&load);
}

static void compare_all(void)
{
	struct load small = {.count = 1000, .tensor_bytes = 256 * KIB},
		    small_plain = {.count = 1000, .tensor_bytes = 256 * KIB, .plain = true},
		    large = {.count = 1000, .tensor_bytes = MIB},
		    large_plain = {.count = 1000, .tensor_bytes = MIB, .plain = true},
		    aligned = {.count = 256, .tensor_bytes = MIB},
		    unaligned = {.count = 256, .tensor_bytes = MIB, .offset = 64},
		    unsummed = {.count = 256, .tensor_bytes = MIB};

	compare_loads("1000 tensors of 256 KiB against one transfer", &small_plain, &small,
		      ">= 0.90");
	compare_loads("1000 tensors of 1 MiB against one transfer", &large_plain, &large,
		      ">= 0.95");
	small.checksum = aligned.checksum = unaligned.checksum = SWAPIO_CHECKSUM_XXH3;
	compare_loads("1000 tensors of 256 KiB, and XXH3, against it", &small_plain, &small, "");
	compare_loads("unaligned tensors against aligned ones", &aligned, &unaligned, ">= 0.60");
	compare_loads("with checksums (XXH3) against without", &unsummed, &aligned, ">= 0.90");
}

int main(int argc, char **argv)
{
	struct swapio_options options;

	if (argc > 2)
		pairs = (unsigned)strtoul(argv[2], NULL, 10);
	if (argc < 2 || !pairs || pairs > PAIRS_MAX) {
		fprintf(stderr, "usage: swap DIRECTORY [PAIRS], pairs 1 to %u\n", PAIRS_MAX);
		return 2;
	}
	directory = argv[1];
	swapio_options_init(&options);
	options.queue_depth = DEPTH;
	check(swapio_open(&options, &error, &handle), "open");
	map_memory();
	printf("%-48s %-4s %7s %7s %7s %7s   %s\n", "B against A", "op", "A", "B", "B/A", "A/A",
	       "wanted");
	printf("%-48s %-4s %7s %7s %7s %7s\n", "", "", "GiB/s", "GiB/s", "speed", "speed");
	compare_all();
	compare_overlap();
	measure_pinned();
	check(swapio_close(handle, SWAPIO_FOREVER), "close");
	return 0;
}
