/* SPDX-License-Identifier: MIT */
/*
 * store_roundtrip.c - store Adam's states of one parameter (a scalar step and two moments), read
 * them back, and see that nobody reads them as something else.
 *
 *	cc store_roundtrip.c $(pkg-config --cflags --libs swapio) -o store_roundtrip
 *	./store_roundtrip DIRECTORY [NUMEL]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "swapio/swapio.h"

#define TENSORS 3u

static struct swapio_tensor fp32(const char *name, uint64_t numel)
{
	return (struct swapio_tensor){
		.size_bytes = sizeof(struct swapio_tensor),
		.name = name,
		.numel = numel,
		.element_bytes = 4,
		.dtype = "fp32",
	};
}

/* Every element of every tensor is another number. */
static void fill(void *const mem[TENSORS], const struct swapio_tensor *tensors)
{
	for (unsigned i = 0; i < TENSORS; i++)
		for (uint64_t j = 0; j < tensors[i].numel; j++)
			((float *)mem[i])[j] = (float)i + (float)(j % 8388608) / 8388608;
}

static int is_filled(void *const mem[TENSORS], const struct swapio_tensor *tensors)
{
	for (unsigned i = 0; i < TENSORS; i++)
		for (uint64_t j = 0; j < tensors[i].numel; j++)
			if (((float *)mem[i])[j] != (float)i + (float)(j % 8388608) / 8388608)
				return 0;
	return 1;
}

static int round_trip(struct swapio_store *store, void *mem[TENSORS],
		      const struct swapio_tensor *tensors, struct swapio_error *error)
{
	struct swapio_group *group;
	int ret = swapio_group_open(store, "adam", tensors, TENSORS, error, &group);

	if (ret < 0)
		return ret;
	fill(mem, tensors);
	ret = swapio_swap_out(group, mem, error);
	for (unsigned i = 0; i < TENSORS; i++)
		memset(mem[i], 0xff, tensors[i].numel * 4);
	if (ret == 0)
		ret = swapio_swap_in(group, mem, error);
	if (ret == 0)
		printf("generation %llu of [%llu, %llu, %llu]: %s\n",
		       (unsigned long long)swapio_group_generation(group),
		       (unsigned long long)tensors[0].numel, (unsigned long long)tensors[1].numel,
		       (unsigned long long)tensors[2].numel,
		       is_filled(mem, tensors) ? "what was read is what was written" : "DIFFERS");
	swapio_group_close(group);
	return ret;
}

/* The step taken for a tensor like the others: nothing is read into memory. */
static int read_as_something_else(struct swapio_store *store, void *mem[TENSORS],
				  const struct swapio_tensor *tensors, struct swapio_error *error)
{
	const struct swapio_tensor wrong[TENSORS] = {fp32("step", tensors[1].numel), tensors[1],
						     tensors[2]};
	struct swapio_group *group;
	int ret = swapio_group_open(store, "adam", wrong, TENSORS, error, &group);

	if (ret < 0)
		return ret;
	ret = swapio_swap_in(group, mem, error);
	printf("refused: %s\n", ret < 0 ? error->text : "NOTHING");
	swapio_group_close(group);
	return ret < 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
	const uint64_t numel = argc > 2 ? strtoull(argv[2], NULL, 10) : 22843136;
	const struct swapio_tensor tensors[TENSORS] = {fp32("step", 1), fp32("exp_avg", numel),
						       fp32("exp_avg_sq", numel)};
	struct swapio_store *store = NULL;
	struct swapio *handle = NULL;
	struct swapio_error error = {0};
	void *mem[TENSORS];
	int ret;

	if (argc < 2) {
		fprintf(stderr, "usage: store_roundtrip DIRECTORY [NUMEL]\n");
		return 2;
	}
	ret = swapio_open(NULL, &error, &handle);
	for (unsigned i = 0; i < TENSORS && ret == 0; i++)
		ret = swapio_buffer_alloc(handle, numel * 4, 0, &mem[i]);
	if (ret == 0)
		ret = swapio_store_open(handle, argv[1], NULL, &error, &store);
	if (ret == 0)
		ret = round_trip(store, mem, tensors, &error);
	if (ret == 0)
		ret = read_as_something_else(store, mem, tensors, &error);
	if (ret < 0)
		fprintf(stderr, "store_roundtrip: %s\n", error.text);
	swapio_store_close(store, SWAPIO_FOREVER);
	swapio_close(handle, SWAPIO_FOREVER); /* frees the memory, too */
	return ret < 0;
}
