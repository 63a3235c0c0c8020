/* SPDX-License-Identifier: MIT */
/*
 * store_range_catalog.c - the catalog on the device and in the index, and the room between volumes.
 *
 * Both copies say the same, but for a crash in between: copy 1 is written and synced, then copy 0.
 * So damage to one of them loses nothing, and a torn one is not the only one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "bytes.h"
#include "error.h"
#include "store_place.h"
#include "store_range.h"

static int move_copy(struct swapio_store *store, enum swapio_op op, uint64_t at, void *buf,
		     size_t bytes, struct swapio_error *error)
{
	struct swapio_error why = {.code = 0};
	struct store_io io = {
		.op = op,
		.fd = store->medium.place_fd,
		.offset_bytes = store->medium.start + at,
		.buf = buf,
		.length_bytes = bytes,
		.what = op == SWAPIO_READ ? "read the catalog" : "write the catalog",
	};
	int ret = swapioi_store_io(store, &io, &why);

	return ret < 0 ? swapioi_error(error, ret, "%s: %s", store->path, why.text) : 0;
}

static int alloc_copy(struct swapio_store *store, void **ret_buf, struct swapio_error *error)
{
	int ret = swapio_buffer_alloc(store->handle, CATALOG_BYTES, 0, ret_buf);

	return ret < 0 ? swapioi_error(error, ret, "%s: no memory for a catalog", store->path) : 0;
}

/* The better of the two; *catalog has entries or none. */
static int read_best(struct swapio_store *store, void *buf, struct catalog *catalog,
		     struct swapio_error *error)
{
	static const uint64_t places[] = {CATALOG_0_AT, CATALOG_1_AT};
	struct swapio_error why = {.code = 0};

	for (unsigned i = 0; i < 2; i++) {
		struct catalog copy = {.count = 0};
		int ret = move_copy(store, SWAPIO_READ, places[i], buf, CATALOG_BYTES, &why);

		if (ret == 0)
			ret = swapioi_catalog_decode(buf, store->id, store->medium.length_bytes,
						     &copy, &why);
		/* A newer version may have written the one that counts. */
		if (ret == -ENOTSUP || ret == -ENOMEM || ret == -EAGAIN)
			return swapioi_error(error, ret, "%s: %s", store->path, why.text);
		if (ret < 0)
			continue;
		if (catalog->entries && catalog->sequence >= copy.sequence) {
			free(copy.entries);
			continue;
		}
		free(catalog->entries);
		*catalog = copy;
	}
	return catalog->entries ? 0
				: swapioi_error(error, -EBADMSG, "%s: %s", store->path, why.text);
}

static int take_entries(struct swapio_store *store, const struct catalog *catalog,
			struct swapio_error *error)
{
	struct medium_index *index = &store->medium.index;

	for (size_t i = 0; i < catalog->count; i++) {
		struct medium_entry entry = catalog->entries[i];

		if (swapioi_index_find(index, entry.group_sum, entry.number))
			return swapioi_error(error, -EBADMSG, "%s: the catalog has a volume twice",
					     store->path);
		entry.base += store->medium.start;
		if (swapioi_index_add(index, &entry) < 0)
			return swapioi_error(error, -ENOMEM, "%s: no memory for its catalog",
					     store->path);
	}
	store->medium.sequence = catalog->sequence;
	return 0;
}

typedef int use_catalog_fn(struct swapio_store *store, const struct catalog *catalog,
			   struct swapio_error *error);

/* Of the two copies on the device the one that counts. */
static int use_best(struct swapio_store *store, use_catalog_fn *use, struct swapio_error *error)
{
	struct catalog catalog = {.count = 0};
	void *buf;
	int ret = alloc_copy(store, &buf, error);

	if (ret < 0)
		return ret;
	ret = read_best(store, buf, &catalog, error);
	if (ret == 0)
		ret = use(store, &catalog, error);
	free(catalog.entries);
	swapio_buffer_free(store->handle, buf);
	return ret;
}

int swapioi_range_load(struct swapio_store *store, struct swapio_error *error)
{
	return use_best(store, take_entries, error);
}

/* One copy is enough, if it is not one of an earlier time. */
static int check_sequence(struct swapio_store *store, const struct catalog *catalog,
			  struct swapio_error *error)
{
	if (catalog->sequence >= store->medium.sequence)
		return 0;
	return swapioi_error(error, -EBADMSG,
			     "%s: the catalog is number %" PRIu64 ", and number %" PRIu64
			     " was written",
			     store->path, catalog->sequence, store->medium.sequence);
}

int swapioi_range_catalog_check(struct swapio_store *store, struct swapio_error *error)
{
	return use_best(store, check_sequence, error);
}

static int compare_bases(const void *a, const void *b)
{
	const struct medium_entry *left = a, *right = b;

	return left->base < right->base ? -1 : left->base > right->base;
}

static bool is_same(const struct medium_entry *a, const struct medium_entry *b)
{
	return a->group_sum == b->group_sum && a->number == b->number;
}

/* What is in the index, in order of base; the caller frees it. NULL: no memory. */
static struct medium_entry *sorted(struct swapio_store *store, size_t *ret_count)
{
	const struct medium_index *index = &store->medium.index;
	struct medium_entry *entries;

	pthread_mutex_lock(&store->lock);
	*ret_count = index->count;
	entries = calloc(index->count + 1, sizeof(*entries));
	if (entries && index->count)
		memcpy(entries, index->entries, index->count * sizeof(*entries));
	pthread_mutex_unlock(&store->lock);
	if (entries)
		qsort(entries, *ret_count, sizeof(*entries), compare_bases);
	return entries;
}

/* The published ones, relative to the range. */
static size_t keep_published(const struct swapio_store *store, struct medium_entry *entries,
			     size_t count, const struct medium_entry *change)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		struct medium_entry entry = entries[i];

		if (change && is_same(&entry, change))
			entry.published = change->published;
		if (!entry.published)
			continue;
		entry.base -= store->medium.start;
		entries[kept++] = entry;
	}
	return kept;
}

static int write_copies(struct swapio_store *store, const struct catalog *catalog,
			struct swapio_error *error)
{
	static const uint64_t places[] = {CATALOG_1_AT, CATALOG_0_AT};
	size_t bytes;
	void *buf;
	int ret = alloc_copy(store, &buf, error);

	if (ret < 0)
		return ret;
	bytes = swapioi_catalog_encode(catalog, buf);
	for (unsigned i = 0; i < 2 && ret == 0; i++) {
		ret = move_copy(store, SWAPIO_WRITE, places[i], buf, bytes, error);
		if (ret == 0)
			ret = swapioi_store_sync(store, store->medium.place_fd, store->path, error);
	}
	swapio_buffer_free(store->handle, buf);
	return ret;
}

int swapioi_range_save(struct swapio_store *store, const struct medium_entry *change,
		       struct swapio_error *error)
{
	struct catalog catalog = {.sequence = store->medium.sequence + 1};
	int ret;

	memcpy(catalog.store_id, store->id, sizeof(catalog.store_id));
	catalog.entries = sorted(store, &catalog.count);
	if (!catalog.entries)
		return swapioi_error(error, -ENOMEM, "%s: no memory for its catalog", store->path);
	catalog.count = keep_published(store, catalog.entries, catalog.count, change);
	/* A sequence that failed is never used again: a part of it may be there. */
	store->medium.sequence++;
	if (catalog.count > CATALOG_ENTRIES_MAX)
		ret = swapioi_error(error, -ENOSPC,
				    "%s: the catalog has room for %u volumes, and all are taken",
				    store->path, CATALOG_ENTRIES_MAX);
	else
		ret = write_copies(store, &catalog, error);
	free(catalog.entries);
	return ret;
}

int swapioi_range_find_room(struct swapio_store *store, uint64_t length_bytes, uint64_t *ret_base,
			    struct swapio_error *error)
{
	uint64_t at = store->medium.start + VOLUMES_AT, largest = 0, gap;
	uint64_t end = store->medium.start + store->medium.length_bytes;
	size_t count;
	struct medium_entry *entries = sorted(store, &count);

	if (!entries)
		return swapioi_error(error, -ENOMEM, "%s: no memory to look for room", store->path);
	for (size_t i = 0; i <= count; i++) {
		gap = (i < count ? entries[i].base : end) - at;
		largest = gap > largest ? gap : largest;
		if (gap >= length_bytes)
			break;
		at = i < count ? entries[i].base + entries[i].length_bytes : end;
	}
	free(entries);
	if (at == end)
		return swapioi_error(error, -ENOSPC,
				     "%s: no room for a volume of %" PRIu64
				     " bytes, the largest gap has %" PRIu64,
				     store->path, length_bytes, largest);
	*ret_base = at;
	return 0;
}
