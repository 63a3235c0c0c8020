/* SPDX-License-Identifier: MIT */
/*
 * options.c - defaults and ranges of the options.
 */
#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "error.h"

void swapio_options_init(struct swapio_options *options)
{
	/* Bytes between the members are zero too, so that options can be compared. */
	memset(options, 0, sizeof(*options));
	options->size_bytes = sizeof(*options);
	options->block_bytes = (size_t)1 << 20;
	options->queue_depth = 32;
	options->workers = 1;
	options->requests_max = 1024;
	options->overlap_events = true;
	options->unaligned = SWAPIO_UNALIGNED_REJECT;
	options->bounce_slots = 4;
	options->direct = SWAPIO_DIRECT_PREFER;
}

struct option_range {
	const char *name;
	uint64_t value, min, max;
};

static int check_range(const struct option_range *option, struct swapio_error *error)
{
	if (option->value >= option->min && option->value <= option->max)
		return 0;
	return swapioi_error(error, -EINVAL, "%s is %" PRIu64 ", allowed: %" PRIu64 " to %" PRIu64,
			     option->name, option->value, option->min, option->max);
}

static int check_ranges(const struct swapio_options *options, struct swapio_error *error)
{
	const struct option_range table[] = {
		{"block_bytes", options->block_bytes, BLOCK_BYTES_MIN, BLOCK_BYTES_MAX},
		{"queue_depth", options->queue_depth, 1, QUEUE_DEPTH_MAX},
		{"workers", options->workers, 0, WORKERS_MAX},
		{"requests_max", options->requests_max, 1, REQUESTS_MAX},
		{"unaligned", (unsigned)options->unaligned, 0, SWAPIO_UNALIGNED_BOUNCE},
		{"alignment_bytes", options->alignment_bytes, 0, ALIGNMENT_BYTES_MAX},
		{"bounce_slots", options->bounce_slots, 1, BOUNCE_SLOTS_MAX},
		{"direct", (unsigned)options->direct, 0, SWAPIO_DIRECT_REQUIRE},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (check_range(&table[i], error) < 0)
			return -EINVAL;
	return 0;
}

int swapioi_options_check(const struct swapio_options *options, struct swapio_error *error)
{
	size_t alignment = options->alignment_bytes;

	if (options->size_bytes != sizeof(*options))
		return swapioi_error(error, -EINVAL,
				     "size_bytes of the options is %zu, allowed: %zu; "
				     "fill them with swapio_options_init()",
				     options->size_bytes, sizeof(*options));
	if (check_ranges(options, error) < 0)
		return -EINVAL;
	if (options->block_bytes % BLOCK_BYTES_MIN)
		return swapioi_error(
			error, -EINVAL,
			"block_bytes is %zu, allowed: a multiple of %zu from %zu to %zu",
			options->block_bytes, BLOCK_BYTES_MIN, BLOCK_BYTES_MIN, BLOCK_BYTES_MAX);
	if (alignment & (alignment - 1))
		return swapioi_error(
			error, -EINVAL,
			"alignment_bytes is %zu, allowed: 0 (the page size) or a power "
			"of two from 1 to %zu",
			alignment, ALIGNMENT_BYTES_MAX);
	return 0;
}
