/* SPDX-License-Identifier: MIT */
/*
 * checksum.c - the one file that knows xxhash.
 *
 * XXH3 has a fixed output since xxhash 0.8.0; what older headers call XXH3 sums otherwise, so that
 * a build with them has XXH64 only.
 */
#include "checksum.h"

#include <stdlib.h>
#include <xxhash.h>

#define HAVE_XXH3 (XXH_VERSION_NUMBER >= 800)

struct checksum {
	enum swapio_checksum algorithm;
	XXH64_state_t *xxh64;
#if HAVE_XXH3
	XXH3_state_t *xxh3;
#endif
};

bool swapioi_checksum_known(enum swapio_checksum algorithm)
{
	switch (algorithm) {
	case SWAPIO_CHECKSUM_NONE:
	case SWAPIO_CHECKSUM_XXH64:
		return true;
	case SWAPIO_CHECKSUM_XXH3:
		return HAVE_XXH3;
	}
	return false;
}

const char *swapioi_checksum_name(enum swapio_checksum algorithm)
{
	switch (algorithm) {
	case SWAPIO_CHECKSUM_NONE:
		return "none";
	case SWAPIO_CHECKSUM_XXH64:
		return "xxh64";
	case SWAPIO_CHECKSUM_XXH3:
		return "xxh3";
	}
	return "unknown";
}

enum swapio_checksum swapioi_checksum_default(void)
{
	return HAVE_XXH3 ? SWAPIO_CHECKSUM_XXH3 : SWAPIO_CHECKSUM_XXH64;
}

#if HAVE_XXH3
static bool xxh3_create(struct checksum *sum)
{
	sum->xxh3 = XXH3_createState();
	return sum->xxh3;
}

static void xxh3_destroy(struct checksum *sum)
{
	XXH3_freeState(sum->xxh3);
}

static void xxh3_begin(struct checksum *sum)
{
	XXH3_64bits_reset(sum->xxh3);
}

static void xxh3_add(struct checksum *sum, const void *bytes, size_t count)
{
	XXH3_64bits_update(sum->xxh3, bytes, count);
}

static uint64_t xxh3_end(struct checksum *sum)
{
	return XXH3_64bits_digest(sum->xxh3);
}
#else
/* Nobody gets here: swapioi_checksum_known() says that there is none. */
static bool xxh3_create(struct checksum *sum)
{
	(void)sum;
	return true;
}

static void xxh3_destroy(struct checksum *sum)
{
	(void)sum;
}

static void xxh3_begin(struct checksum *sum)
{
	(void)sum;
}

static void xxh3_add(struct checksum *sum, const void *bytes, size_t count)
{
	(void)sum, (void)bytes, (void)count;
}

static uint64_t xxh3_end(struct checksum *sum)
{
	(void)sum;
	return 0;
}
#endif

struct checksum *swapioi_checksum_create(void)
{
	struct checksum *sum = calloc(1, sizeof(*sum));

	if (!sum)
		return NULL;
	sum->xxh64 = XXH64_createState();
	if (sum->xxh64 && xxh3_create(sum))
		return sum;
	XXH64_freeState(sum->xxh64);
	free(sum);
	return NULL;
}

void swapioi_checksum_destroy(struct checksum *sum)
{
	if (!sum)
		return;
	xxh3_destroy(sum);
	XXH64_freeState(sum->xxh64);
	free(sum);
}

void swapioi_checksum_begin(struct checksum *sum, enum swapio_checksum algorithm)
{
	sum->algorithm = algorithm;
	switch (algorithm) {
	case SWAPIO_CHECKSUM_NONE:
		break;
	case SWAPIO_CHECKSUM_XXH64:
		XXH64_reset(sum->xxh64, 0);
		break;
	case SWAPIO_CHECKSUM_XXH3:
		xxh3_begin(sum);
		break;
	}
}

void swapioi_checksum_add(struct checksum *sum, const void *bytes, size_t count)
{
	switch (sum->algorithm) {
	case SWAPIO_CHECKSUM_NONE:
		break;
	case SWAPIO_CHECKSUM_XXH64:
		XXH64_update(sum->xxh64, bytes, count);
		break;
	case SWAPIO_CHECKSUM_XXH3:
		xxh3_add(sum, bytes, count);
		break;
	}
}

uint64_t swapioi_checksum_end(struct checksum *sum)
{
	switch (sum->algorithm) {
	case SWAPIO_CHECKSUM_NONE:
		return 0;
	case SWAPIO_CHECKSUM_XXH64:
		return XXH64_digest(sum->xxh64);
	case SWAPIO_CHECKSUM_XXH3:
		return xxh3_end(sum);
	}
	return 0;
}

uint64_t swapioi_record_sum(const void *bytes, size_t count)
{
	return XXH64(bytes, count, 0);
}
