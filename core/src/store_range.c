/* SPDX-License-Identifier: MIT */
/*
 * store_range.c - the medium that is a range of a block device: volumes lie behind each other, and
 * a catalog says where.
 */
#include "store_range.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "align.h"
#include "error.h"
#include "handle.h"
#include "store_place.h"

static void range_close(struct swapio_store *store, bool forked)
{
	struct medium *medium = &store->medium;

	swapioi_index_fini(&medium->index);
	if (medium->place_fd >= 0)
		close(medium->place_fd);
	if (medium->lock_fd >= 0)
		swapioi_place_unlock(medium->lock_fd, forked);
	medium->lock_fd = medium->place_fd = -1;
}

/* A second descriptor, for the data: records that are read before must not need direct I/O. */
static int open_data(struct swapio_store *store, struct swapio_error *error)
{
	int flags = store->options.read_only ? O_RDONLY : O_RDWR;
	int fd = swapioi_place_open(AT_FDCWD, store->path, flags | O_DIRECT);

	if (fd == -EINVAL && store->handle->options.direct == SWAPIO_DIRECT_REQUIRE)
		return swapioi_error(error, -EOPNOTSUPP,
				     "%s: it has no O_DIRECT, and direct of the handle is REQUIRE",
				     store->path);
	if (fd == -EINVAL)
		fd = swapioi_place_open(AT_FDCWD, store->path, flags);
	if (fd < 0)
		return swapioi_place_error(store, fd, "open it", error);
	store->medium.place_fd = fd;
	return 0;
}

/* The record last: what has one is whole. */
static int make_store(struct swapio_store *store, struct swapio_error *error)
{
	struct store_record record = {.length_bytes = store->medium.length_bytes};
	unsigned char unit[STORE_UNIT];
	int fd = store->medium.lock_fd, ret = swapioi_place_draw_id(record.id);

	if (ret < 0)
		return swapioi_place_error(store, ret, "draw an identity", error);
	memcpy(store->id, record.id, sizeof(store->id));
	ret = swapioi_range_save(store, NULL, error);
	if (ret < 0)
		return ret;
	if (fdatasync(store->medium.place_fd) < 0)
		return swapioi_place_error(store, -errno, "sync its catalog", error);
	swapioi_store_record_encode(&record, unit);
	ret = swapioi_place_write(fd, unit, sizeof(unit), store->medium.start);
	if (ret == 0 && fdatasync(fd) < 0)
		ret = -errno;
	return ret < 0 ? swapioi_place_error(store, ret, "write its record", error) : 0;
}

static int range_open(struct swapio_store *store, struct swapio_error *error)
{
	bool found;
	int ret = swapioi_range_claim(store, &found, error);

	if (ret < 0)
		return ret;
	if (!found && (!store->options.create || store->options.read_only))
		ret = swapioi_error(error, -ENOENT, "%s: no store is there", store->path);
	if (ret == 0)
		ret = open_data(store, error);
	if (ret == 0)
		ret = found ? swapioi_range_load(store, error) : make_store(store, error);
	if (ret < 0)
		range_close(store, false);
	return ret;
}

static int range_check(struct swapio_store *store, struct swapio_error *error)
{
	int ret = swapioi_range_record_check(store, error);

	return ret < 0 ? ret : swapioi_range_catalog_check(store, error);
}

static int range_open_volume(struct swapio_store *store, const struct medium_entry *entry,
			     int *ret_fd, uint64_t *ret_length, struct swapio_error *error)
{
	(void)error;
	*ret_fd = store->medium.place_fd;
	*ret_length = entry->length_bytes;
	return 0;
}

/* The descriptor is the store's. */
static void range_close_volume(struct swapio_store *store, int fd)
{
	(void)store, (void)fd;
}

static int range_length_now(struct swapio_store *store, const struct medium_entry *entry, int fd,
			    uint64_t *ret_length)
{
	(void)store, (void)fd;
	*ret_length = entry->length_bytes;
	return 0;
}

static int range_create_volume(struct swapio_store *store, struct medium_entry *entry, int *ret_fd,
			       struct swapio_error *error)
{
	int ret = swapioi_range_find_room(store, entry->length_bytes, &entry->base, error);

	if (ret < 0)
		return ret;
	entry->published = false;
	pthread_mutex_lock(&store->lock);
	ret = swapioi_index_add(&store->medium.index, entry);
	pthread_mutex_unlock(&store->lock);
	if (ret < 0)
		return swapioi_error(error, ret, "%s: no memory for its catalog", store->path);
	*ret_fd = store->medium.place_fd;
	return 0;
}

static int range_publish_volume(struct swapio_store *store, struct medium_entry *entry, int fd,
				struct swapio_error *error)
{
	struct medium_entry change = *entry;
	int ret = swapioi_store_sync(store, fd, store->path, error);

	change.published = true;
	if (ret == 0)
		ret = swapioi_range_save(store, &change, error);
	if (ret == 0)
		swapioi_index_publish(store, entry);
	return ret;
}

/* Its room is used again at once, so that the catalog is synced whatever @sync says. Even a volume
 * that was not published may be in a catalog that could not be written whole. */
static int range_remove_volume(struct swapio_store *store, const struct medium_entry *entry,
			       bool sync, struct swapio_error *error)
{
	struct medium_entry change = *entry;
	int ret;

	(void)sync;
	change.published = false;
	ret = swapioi_range_save(store, &change, error);
	if (ret < 0)
		return ret;
	pthread_mutex_lock(&store->lock);
	swapioi_index_remove(&store->medium.index, entry->group_sum, entry->number);
	pthread_mutex_unlock(&store->lock);
	return 0;
}

/* Removals are durable already. */
static int range_settle(struct swapio_store *store, struct swapio_error *error)
{
	(void)store, (void)error;
	return 0;
}

static int wipe(struct swapio_store *store, struct swapio_error *error)
{
	static const uint64_t places[] = {CATALOG_0_AT, CATALOG_1_AT, 0};
	static const unsigned char zeros[STORE_UNIT];
	int fd = store->medium.lock_fd, ret = 0;

	for (unsigned i = 0; i < 3 && ret == 0; i++) {
		ret = swapioi_place_write(fd, zeros, sizeof(zeros),
					  store->medium.start + places[i]);
		if (ret == 0 && fdatasync(fd) < 0)
			ret = -errno;
	}
	return ret < 0 ? swapioi_place_error(store, ret, "overwrite its records", error) : 0;
}

static int range_destroy(struct swapio_store *store, struct swapio_error *error)
{
	bool found;
	int ret = swapioi_range_claim(store, &found, error);

	if (ret < 0)
		return ret;
	if (!found)
		ret = swapioi_error(error, -ENOENT, "%s: no store is there", store->path);
	if (ret == 0)
		ret = wipe(store, error);
	range_close(store, false);
	return ret;
}

static int range_free_bytes(struct swapio_store *store, uint64_t *ret_bytes)
{
	const struct medium_index *index = &store->medium.index;
	uint64_t used = VOLUMES_AT;

	pthread_mutex_lock(&store->lock);
	for (size_t i = 0; i < index->count; i++)
		used += index->entries[i].length_bytes;
	pthread_mutex_unlock(&store->lock);
	*ret_bytes = store->medium.length_bytes - used;
	return 0;
}

const struct medium_ops swapioi_medium_range = {
	.block_device = true,
	.open = range_open,
	.check = range_check,
	.close = range_close,
	.open_volume = range_open_volume,
	.close_volume = range_close_volume,
	.length_now = range_length_now,
	.create_volume = range_create_volume,
	.publish_volume = range_publish_volume,
	.remove_volume = range_remove_volume,
	.settle = range_settle,
	.destroy = range_destroy,
	.free_bytes = range_free_bytes,
};
