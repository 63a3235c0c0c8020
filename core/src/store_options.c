/* SPDX-License-Identifier: MIT */
/*
 * store_options.c - defaults and ranges of a store's options.
 */
#include "store_options.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "checksum.h"
#include "error.h"
#include "manifest.h"

#define DEFAULT_BYTES ((size_t)1 << 20)

void swapio_store_options_init(struct swapio_store_options *options)
{
	/* Bytes between the members are zero too, so that options can be compared. */
	memset(options, 0, sizeof(*options));
	options->size_bytes = sizeof(*options);
	options->create = true;
	options->durable = true;
	options->checksum = swapioi_checksum_default();
	options->chunk_bytes = DEFAULT_BYTES;
	options->slot_bytes = DEFAULT_BYTES;
	options->slots = 32;
	options->threads = 2;
}

unsigned swapioi_store_staging_slots(const struct swapio_store_options *options)
{
	return 2 * (options->threads ? options->threads : 1);
}

struct option_range {
	const char *name;
	uint64_t value, min, max;
	bool units; /* a multiple of STORE_UNIT */
};

static int check_range(const struct option_range *option, struct swapio_error *error)
{
	if (option->value >= option->min && option->value <= option->max &&
	    !(option->units && option->value % STORE_UNIT))
		return 0;
	return swapioi_error(error, -EINVAL,
			     "%s is %" PRIu64 ", allowed: %s%" PRIu64 " to %" PRIu64, option->name,
			     option->value, option->units ? "multiples of 4096 from " : "",
			     option->min, option->max);
}

static int check_ranges(const struct swapio_store_options *options, struct swapio_error *error)
{
	const struct option_range table[] = {
		{"chunk_bytes", options->chunk_bytes, STORE_UNIT, CHUNK_BYTES_MAX, true},
		{"slot_bytes", options->slot_bytes, STORE_UNIT, CHUNK_BYTES_MAX, true},
		{"threads", options->threads, 0, STORE_THREADS_MAX, false},
		{"slots", options->slots, 2, STORE_SLOTS_MAX, false},
		{"range_offset_bytes", options->range_offset_bytes, 0, INT64_MAX, true},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (check_range(&table[i], error) < 0)
			return -EINVAL;
	return 0;
}

static int check_length(uint64_t length_bytes, struct swapio_error *error)
{
	if (!length_bytes || (length_bytes >= RANGE_BYTES_MIN && length_bytes % STORE_UNIT == 0 &&
			      length_bytes <= INT64_MAX))
		return 0;
	return swapioi_error(error, -EINVAL,
			     "range_length_bytes is %" PRIu64
			     ", allowed: 0 (to the end of the device) or multiples of 4096 from "
			     "%" PRIu64 " to %" PRId64,
			     length_bytes, RANGE_BYTES_MIN, INT64_MAX);
}

static int check_slots(const struct swapio_store_options *options, struct swapio_error *error)
{
	unsigned staging = swapioi_store_staging_slots(options);

	if (options->slots >= staging)
		return 0;
	return swapioi_error(error, -EINVAL,
			     "slots is %u, allowed with %u threads: %u to %u, two for each thread",
			     options->slots, options->threads, staging, STORE_SLOTS_MAX);
}

int swapioi_store_options_check(const struct swapio_store_options *options,
				struct swapio_error *error)
{
	int ret;

	if (options->size_bytes != sizeof(*options))
		return swapioi_error(error, -EINVAL,
				     "size_bytes of the store's options is %zu, allowed: %zu; fill "
				     "them with swapio_store_options_init()",
				     options->size_bytes, sizeof(*options));
	ret = check_ranges(options, error);
	if (ret == 0)
		ret = check_length(options->range_length_bytes, error);
	if (ret == 0)
		ret = check_slots(options, error);
	if (ret == 0 && !swapioi_checksum_known(options->checksum))
		ret = swapioi_error(
			error, -EINVAL, "checksum is %u (%s), allowed: 0 (none), 1 (xxh64)%s",
			(unsigned)options->checksum, swapioi_checksum_name(options->checksum),
			swapioi_checksum_known(SWAPIO_CHECKSUM_XXH3) ? " and 2 (xxh3)" : "");
	return ret;
}
