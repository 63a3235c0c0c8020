/* SPDX-License-Identifier: MIT */
/*
 * store_range_claim.c - opens a device so that nobody else uses it, and looks what is in its range.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "align.h"
#include "bytes.h"
#include "error.h"
#include "store_options.h"
#include "store_place.h"
#include "store_range.h"

/* O_EXCL: the kernel refuses it while the device is mounted, or is part of another one. */
static int open_device(struct swapio_store *store, struct swapio_error *error)
{
	struct stat st;
	int flags = store->options.read_only ? O_RDONLY : O_RDWR, fd;

	if (stat(store->path, &st) < 0)
		return swapioi_place_error(store, -errno, "look at it", error);
	if (S_ISBLK(st.st_mode) && !store->options.read_only)
		flags |= O_EXCL;
	fd = swapioi_place_open(AT_FDCWD, store->path, flags);
	if (fd == -EBUSY)
		return swapioi_error(
			error, -EBUSY,
			"%s: it is mounted, part of another device, or open in another "
			"store",
			store->path);
	if (fd < 0)
		return swapioi_place_error(store, fd, "open it", error);
	store->medium.lock_fd = fd;
	return 0;
}

static int find_range(struct swapio_store *store, struct swapio_error *error)
{
	const struct swapio_store_options *options = &store->options;
	uint64_t start = options->range_offset_bytes, length = options->range_length_bytes;
	struct file_facts facts;
	int ret = swapioi_file_facts(store->medium.lock_fd, &facts);

	if (ret < 0)
		return swapioi_place_error(store, ret, "ask for its size", error);
	if (!length && start < facts.size_bytes)
		length = round_down(facts.size_bytes - start, STORE_UNIT);
	if (start > facts.size_bytes || length > facts.size_bytes - start ||
	    length < RANGE_BYTES_MIN)
		return swapioi_error(error, -EINVAL,
				     "%s: range_offset_bytes %" PRIu64
				     " and range_length_bytes %" PRIu64 ": it has %" PRIu64
				     " bytes, and a range at least %" PRIu64,
				     store->path, start, options->range_length_bytes,
				     facts.size_bytes, RANGE_BYTES_MIN);
	store->medium.start = start;
	store->medium.length_bytes = length;
	return 0;
}

/* The record knows how long the range was when the store was made. */
static int check_record(struct swapio_store *store, const struct store_record *record,
			struct swapio_error *error)
{
	uint64_t asked = store->options.range_length_bytes;

	if (asked && asked != record->length_bytes)
		return swapioi_error(error, -EINVAL,
				     "%s: range_length_bytes is %" PRIu64
				     ", and the store there has %" PRIu64,
				     store->path, asked, record->length_bytes);
	if (record->length_bytes < RANGE_BYTES_MIN || record->length_bytes % STORE_UNIT ||
	    record->length_bytes > store->medium.length_bytes)
		return swapioi_error(error, -EBADMSG,
				     "%s: the store there has %" PRIu64
				     " bytes, and the device only %" PRIu64 " from its begin",
				     store->path, record->length_bytes, store->medium.length_bytes);
	store->medium.length_bytes = record->length_bytes;
	memcpy(store->id, record->id, sizeof(store->id));
	return 0;
}

static int read_unit(struct swapio_store *store, unsigned char unit[STORE_UNIT],
		     struct swapio_error *error)
{
	int ret = swapioi_place_read(store->medium.lock_fd, unit, STORE_UNIT, store->medium.start);

	return ret < 0 ? swapioi_place_error(store, ret, "read its record", error) : 0;
}

static int read_record(struct swapio_store *store, bool *ret_found, struct swapio_error *error)
{
	unsigned char unit[STORE_UNIT];
	struct store_record record;
	struct swapio_error why = {.code = 0};
	int ret = read_unit(store, unit, error);

	if (ret < 0)
		return ret;
	ret = swapioi_store_record_decode(unit, &record, &why);
	*ret_found = ret != -ENOENT;
	if (ret == -ENOENT)
		return 0;
	if (ret == -EBADMSG && !swapioi_store_record_is(unit))
		return swapioi_error(error, -ENOTEMPTY,
				     "%s: its %u bytes at %" PRIu64
				     " are neither a store nor zeros",
				     store->path, STORE_UNIT, store->medium.start);
	if (ret < 0)
		return swapioi_error(error, ret, "%s: %s", store->path, why.text);
	return check_record(store, &record, error);
}

int swapioi_range_claim(struct swapio_store *store, bool *ret_found, struct swapio_error *error)
{
	int ret = open_device(store, error);

	if (ret < 0)
		return ret;
	ret = swapioi_place_lock(store, store->medium.lock_fd, error);
	if (ret == 0)
		ret = find_range(store, error);
	if (ret == 0)
		ret = read_record(store, ret_found, error);
	if (ret < 0) {
		swapioi_place_unlock(store->medium.lock_fd, false);
		store->medium.lock_fd = -1;
	}
	return ret;
}

int swapioi_range_record_check(struct swapio_store *store, struct swapio_error *error)
{
	unsigned char unit[STORE_UNIT];
	struct store_record record;
	struct swapio_error why = {.code = 0};
	int ret = read_unit(store, unit, error);

	if (ret < 0)
		return ret;
	ret = swapioi_store_record_decode(unit, &record, &why);
	if (ret == -ENOENT)
		ret = swapioi_error(&why, -EBADMSG, "its record is gone");
	else if (ret == 0 && memcmp(record.id, store->id, sizeof(store->id)) != 0)
		ret = swapioi_error(&why, -EXDEV, "its record is that of another store");
	else if (ret == 0 && record.length_bytes != store->medium.length_bytes)
		ret = swapioi_error(&why, -EBADMSG,
				    "its record says %" PRIu64 " bytes, and it has %" PRIu64,
				    record.length_bytes, store->medium.length_bytes);
	return ret < 0 ? swapioi_error(error, ret, "%s: %s", store->path, why.text) : 0;
}
