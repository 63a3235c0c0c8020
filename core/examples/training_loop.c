/* SPDX-License-Identifier: MIT */
/*
 * training_loop.c - a model whose optimizer states do not fit into memory: while one layer is
 * computed on, the next one's states are read ahead and the last one's are written behind.
 *
 *	cc training_loop.c $(pkg-config --cflags --libs swapio) -o training_loop
 *	./training_loop DIRECTORY
 */
#include <err.h>
#include <stdio.h>
#include <time.h>

#include "swapio/swapio.h"

#define LAYERS 12u
#define NUMEL ((uint64_t)4 << 20)
#define PASSES 8u    /* over a layer: how long computing on it takes */
#define IN_MEMORY 4u /* read ahead, computed on, two written behind */

static struct swapio *handle;
static struct swapio_store *store;
static struct swapio_group *groups[LAYERS];
static void *mem[IN_MEMORY];		  /* layer i has mem[i % IN_MEMORY] */
static swapio_swap_id pending[IN_MEMORY]; /* the swap that has that memory, 0 for none */
static struct swapio_error error = {.text = "no memory"};

static void check(int ret, const char *text)
{
	if (ret)
		errx(1, "%s", text);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Wait until the memory of @layer is ours. */
static void finish(unsigned layer)
{
	struct swapio_swap_result result = {.size_bytes = sizeof(result)};
	swapio_swap_id *id = &pending[layer % IN_MEMORY];

	if (*id)
		check(swapio_swap_wait(store, *id, SWAPIO_FOREVER, &result), "wait");
	check(result.error, result.text);
	*id = 0;
}

static void start(unsigned layer, enum swapio_swap_op op)
{
	struct swapio_swap swap = {.size_bytes = sizeof(swap), .op = op, .group = groups[layer]};

	finish(layer);
	swap.mem = &mem[layer % IN_MEMORY];
	check(swapio_swap_start(&swap, &error, &pending[layer % IN_MEMORY]), error.text);
}

static void compute(unsigned layer, unsigned passes)
{
	float *momentum = mem[layer % IN_MEMORY];

	for (uint64_t i = 0; i < passes * NUMEL; i++)
		momentum[i % NUMEL] = 0.9f * momentum[i % NUMEL] + 0.1f;
}

static void step(unsigned passes)
{
	start(0, SWAPIO_SWAP_IN);
	for (unsigned layer = 0; layer < LAYERS; layer++) {
		finish(layer);
		if (layer + 1 < LAYERS)
			start(layer + 1, SWAPIO_SWAP_IN);
		compute(layer, passes);
		start(layer, SWAPIO_SWAP_OUT);
	}
	for (unsigned i = 0; i < IN_MEMORY; i++)
		finish(i);
}

static void open_model(const char *path)
{
	const struct swapio_tensor momentum = {
		.size_bytes = sizeof(momentum), .name = "m", .numel = NUMEL, .element_bytes = 4};
	char name[32];

	check(swapio_open(NULL, &error, &handle), error.text);
	for (unsigned i = 0; i < IN_MEMORY; i++)
		check(swapio_buffer_alloc(handle, NUMEL * 4, 0, &mem[i]), error.text);
	check(swapio_store_open(handle, path, NULL, &error, &store), error.text);
	for (unsigned i = 0; i < LAYERS; i++) {
		snprintf(name, sizeof(name), "layer %u", i);
		check(swapio_group_open(store, name, &momentum, 1, &error, &groups[i]), error.text);
		start(i, SWAPIO_SWAP_OUT);
	}
}

int main(int argc, char **argv)
{
	double begin, swaps, alone;

	check(argc < 2, "usage: training_loop DIRECTORY");
	open_model(argv[1]);
	begin = seconds();
	step(0);
	swaps = seconds() - begin;
	for (unsigned layer = 0; layer < LAYERS; layer++)
		compute(layer, PASSES);
	alone = seconds() - begin - swaps;
	step(PASSES);
	printf("swaps %.3f s, compute %.3f s, a step of both %.3f s\n", swaps, alone,
	       seconds() - begin - swaps - alone);
	for (unsigned i = 0; i < LAYERS; i++)
		swapio_group_close(groups[i]);
	swapio_store_close(store, SWAPIO_FOREVER);
	return swapio_close(handle, SWAPIO_FOREVER) < 0; /* frees the memory, too */
}
