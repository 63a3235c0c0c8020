/* SPDX-License-Identifier: MIT */
/*
 * fuzz_driver.c - runs a fuzz target without libFuzzer: every seed as it is, then seeds with bytes
 * changed, cut out, doubled and joined, from a generator of our own.
 *
 * usage: PROGRAM -seed=N -runs=N FILE...
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INPUT_BYTES_MAX 65536u
#define SEEDS_MAX 256u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

struct input {
	size_t bytes;
	uint8_t data[INPUT_BYTES_MAX];
};

static struct input *seeds[SEEDS_MAX];
static unsigned seeds_count;
static uint64_t state;

/* splitmix64 */
static uint64_t draw(uint64_t below)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return (z ^ (z >> 31)) % below;
}

static void seed_load(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct input *input = calloc(1, sizeof(*input));

	if (!file || !input) {
		perror(path);
		exit(2);
	}
	input->bytes = fread(input->data, 1, sizeof(input->data), file);
	fclose(file);
	if (seeds_count < SEEDS_MAX)
		seeds[seeds_count++] = input;
	else
		free(input);
}

/* Put @bytes of another seed in the place of @cut bytes at @at. */
static void splice(struct input *input, size_t at, size_t cut, const uint8_t *data, size_t bytes)
{
	if (input->bytes - cut + bytes > INPUT_BYTES_MAX)
		return;
	memmove(input->data + at + bytes, input->data + at + cut, input->bytes - at - cut);
	if (bytes) /* data may be NULL then, which memcpy forbids */
		memcpy(input->data + at, data, bytes);
	input->bytes += bytes - cut;
}

static void mutate(struct input *input)
{
	const struct input *other = seeds[draw(seeds_count)];
	size_t at = draw(input->bytes + 1);
	size_t cut = draw((input->bytes - at < 64 ? input->bytes - at : 64) + 1);
	size_t from = draw(other->bytes + 1);
	size_t take = draw((other->bytes - from < 64 ? other->bytes - from : 64) + 1);
	uint8_t byte = (uint8_t)draw(256);

	switch (draw(4)) {
	case 0: /* a byte becomes another */
		if (at < input->bytes)
			input->data[at] = byte;
		break;
	case 1: /* a byte more */
		splice(input, at, 0, &byte, 1);
		break;
	case 2: /* a stretch less */
		splice(input, at, cut, NULL, 0);
		break;
	default: /* a stretch of another seed */
		splice(input, at, cut, other->data + from, take);
		break;
	}
}

/* A copy of exactly its size, so that ASan sees one byte too far. */
static void run(const struct input *input)
{
	uint8_t *data = malloc(input->bytes ? input->bytes : 1);

	if (!data)
		abort();
	memcpy(data, input->data, input->bytes);
	LLVMFuzzerTestOneInput(data, input->bytes);
	free(data);
}

int main(int argc, char **argv)
{
	static struct input input;
	unsigned long long seed = 1, runs = 10000, i;
	int arg;

	for (arg = 1; arg < argc; arg++) {
		if (sscanf(argv[arg], "-seed=%llu", &seed) != 1 &&
		    sscanf(argv[arg], "-runs=%llu", &runs) != 1)
			seed_load(argv[arg]);
	}
	if (!seeds_count)
		seed_load("/dev/null");
	state = seed;
	for (i = 0; i < seeds_count; i++)
		run(seeds[i]);
	for (i = 0; i < runs; i++) {
		uint64_t changes = 1 + draw(8);

		input = *seeds[draw(seeds_count)];
		while (changes--)
			mutate(&input);
		run(&input);
	}
	printf("%u seeds and %llu inputs made of them, seed %llu\n", seeds_count, runs, seed);
	for (i = 0; i < seeds_count; i++)
		free(seeds[i]);
	return 0;
}
