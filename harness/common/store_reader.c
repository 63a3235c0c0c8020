/* SPDX-License-Identifier: MIT */
/*
 * store_reader.c - finds the newest generation of a group: the store's record, the volumes of the
 * group by directory or catalog, their heads, and of all their manifests the one that counts.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store_io.h"
#include "store_reader.h"

#define VERSION 1u
#define SUM_AT 4088u /* in records of one unit */
#define CATALOG_0_AT UINT64_C(4096)
#define CATALOG_1_AT UINT64_C(524288)
#define CATALOG_BYTES UINT64_C(520192) /* of the smaller copy: no more can be in either */
#define CATALOG_HEAD_BYTES 40u
#define CATALOG_ENTRY_BYTES 32u
#define VOLUMES_AT UINT64_C(1048576)
#define NAME_BYTES_MAX 1023u
#define MANIFEST_BYTES_MAX (UINT64_C(1) << 30)
#define PLACE_BYTES_MAX (UINT64_C(1) << 58)

struct search {
	const struct store_place *place;
	const char *name;
	uint64_t name_sum;
	unsigned char id[STORE_ID_BYTES];
	int error;	 /* what was wrong with the volumes that were passed over; 0 none */
	uint64_t sealed; /* newest generation that a seal says was committed */
	char *text;
	struct store_group *best;
};

static __attribute__((format(printf, 3, 4))) int tell(char *text, int error, const char *format,
						      ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, STORE_TEXT_BYTES, format, arguments);
	va_end(arguments);
	return error;
}

static bool is_zero(const unsigned char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (bytes[i])
			return false;
	return true;
}

/*
 * Magic, version, sum and zeros of a record that takes a unit and says @used bytes. @small is what
 * the u32 behind the version may be: bytes of a name that ends what is used, or 0.
 */
static int check_unit(const unsigned char *unit, const char *magic, size_t used, uint32_t small,
		      char *text)
{
	if (memcmp(unit, magic, 8) != 0)
		return tell(text, is_zero(unit, STORE_UNIT) ? -ENOENT : -EBADMSG,
			    "it does not begin with %s", magic);
	if (store_record_sum(unit, SUM_AT) != store_u64(unit + SUM_AT))
		return tell(text, -EBADMSG, "the sum of %s is wrong", magic);
	if (store_u32(unit + 8) != VERSION)
		return tell(text, -ENOTSUP, "%s: version %u, known is %u", magic,
			    store_u32(unit + 8), VERSION);
	if (store_u32(unit + 12) > small)
		return tell(text, -EBADMSG, "%s: a name of %u bytes", magic, store_u32(unit + 12));
	used += store_u32(unit + 12);
	if (!is_zero(unit + used, SUM_AT - used))
		return tell(text, -EBADMSG, "%s: what must be zero is not", magic);
	return 0;
}

static int read_record(struct search *search, int fd, uint64_t offset, uint64_t length)
{
	unsigned char unit[STORE_UNIT];
	int error = store_io_read(fd, unit, sizeof(unit), offset);

	if (error == -ENODATA)
		return tell(search->text, -EBADMSG, "%s: the store's record is cut",
			    search->place->path);
	if (error < 0)
		return tell(search->text, error, "%s: %s", search->place->path, strerror(-error));
	error = check_unit(unit, "SWAPSTOR", 40, 0, search->text);
	if (error < 0)
		return error;
	if (store_u64(unit + 32) != length)
		return tell(search->text, -EBADMSG,
			    "the store's record says a range of %" PRIu64 " bytes, it is %" PRIu64,
			    store_u64(unit + 32), length);
	memcpy(search->id, unit + 16, STORE_ID_BYTES);
	return 0;
}

/* Head of a volume that should be number @group->number of the group. */
static int read_head(const struct search *search, struct store_group *group, char *text)
{
	unsigned char unit[STORE_UNIT];
	int error = store_io_read(group->fd, unit, sizeof(unit), group->base);

	if (error < 0)
		return tell(text, error == -ENODATA ? -EBADMSG : error,
			    "the head cannot be read: %s", strerror(-error));
	error = check_unit(unit, "SWAPVOLU", 64, NAME_BYTES_MAX, text);
	if (error < 0) /* what has a name has a head: it was durable before */
		return error == -ENOENT ? -EBADMSG : error;
	if (memcmp(unit + 16, search->id, STORE_ID_BYTES) != 0)
		return tell(text, -EXDEV, "it belongs to another store");
	if (store_u64(unit + 32) != search->name_sum || store_u64(unit + 40) != group->number)
		return tell(text, -EBADMSG, "its head says volume %016" PRIx64 "-%" PRIu64,
			    store_u64(unit + 32), store_u64(unit + 40));
	if (store_u32(unit + 12) != strlen(search->name) ||
	    memcmp(unit + 64, search->name, strlen(search->name)) != 0)
		return tell(text, -EBADMSG, "its head says group %.200s", (char *)unit + 64);
	group->slot_bytes = store_u64(unit + 48);
	group->place_bytes = store_u64(unit + 56);
	if (group->slot_bytes == 0 || group->slot_bytes % STORE_UNIT ||
	    group->place_bytes % STORE_UNIT || group->place_bytes > PLACE_BYTES_MAX)
		return tell(text, -EBADMSG, "slots of %" PRIu64 " bytes and places of %" PRIu64,
			    group->slot_bytes, group->place_bytes);
	if (group->length < STORE_UNIT || group->slot_bytes > (group->length - STORE_UNIT) / 2)
		return tell(text, -EBADMSG, "slots of %" PRIu64 " bytes in a volume of %" PRIu64,
			    group->slot_bytes, group->length);
	return 0;
}

static int check_manifest(const struct search *search, const struct store_group *group,
			  const struct store_manifest *manifest, char *text)
{
	const struct store_tensor *last = &manifest->tensors[manifest->count - 1];

	if (memcmp(manifest->id, search->id, STORE_ID_BYTES) != 0)
		return tell(text, -EXDEV, "its manifest belongs to another store");
	if (strcmp(manifest->group, search->name) != 0)
		return tell(text, -EBADMSG, "its manifest is of group %.200s", manifest->group);
	if (last->place_offset > group->place_bytes ||
	    store_padded(last->bytes) > group->place_bytes - last->place_offset)
		return tell(text, -EBADMSG,
			    "tensor %.200s ends behind its place of %" PRIu64 " bytes", last->name,
			    group->place_bytes);
	return 0;
}

/* A slot without a manifest may say which generation was committed to the other one. */
static bool read_seal(struct search *search, const struct store_group *group, unsigned slot)
{
	unsigned char unit[STORE_UNIT];
	char text[STORE_TEXT_BYTES];

	if (store_io_read(group->fd, unit, sizeof(unit), store_group_slot_offset(group, slot)) <
		    0 ||
	    memcmp(unit, "SWAPSEAL", 8) != 0)
		return false;
	if (check_unit(unit, "SWAPSEAL", 56, 0, text) == 0 &&
	    memcmp(unit + 16, search->id, STORE_ID_BYTES) == 0 &&
	    store_u64(unit + 32) == search->name_sum && store_u64(unit + 40) == group->number &&
	    store_u64(unit + 48) > search->sealed)
		search->sealed = store_u64(unit + 48);
	return true;
}

/* Only as much as the manifest says it has is read. */
static int read_slot(const struct search *search, const struct store_group *group, unsigned slot,
		     struct store_manifest **ret_manifest, char *text)
{
	uint64_t at = store_group_slot_offset(group, slot), bytes;
	unsigned char head[64], *memory;
	int error = store_io_read(group->fd, head, sizeof(head), at);

	if (error < 0)
		return tell(text, error, "slot %u: %s", slot, strerror(-error));
	bytes = store_u64(head + 16);
	if (bytes < sizeof(head) || bytes > group->slot_bytes)
		bytes = sizeof(head); /* the decoder says what it is then */
	if (bytes > MANIFEST_BYTES_MAX)
		return tell(text, -EBADMSG, "slot %u: a manifest of %" PRIu64 " bytes", slot,
			    bytes);
	memory = malloc(bytes);
	error = memory ? store_io_read(group->fd, memory, bytes, at) : -ENOMEM;
	if (error < 0)
		tell(text, error, "slot %u: %s", slot, strerror(-error));
	else
		error = store_manifest_decode(memory, bytes, ret_manifest, text);
	free(memory);
	if (error < 0)
		return error;
	error = check_manifest(search, group, *ret_manifest, text);
	if (error < 0)
		store_manifest_free(*ret_manifest);
	return error;
}

/* A first manifest that was torn: nothing was ever committed to the volume. */
static bool is_unfinished(const struct store_group *group)
{
	uint64_t at = store_group_slot_offset(group, 1), end = at + group->slot_bytes;
	unsigned char unit[STORE_UNIT];

	for (; at < end; at += sizeof(unit))
		if (store_io_read(group->fd, unit, sizeof(unit), at) < 0 ||
		    !is_zero(unit, sizeof(unit)))
			return false;
	return true;
}

static void remember(struct search *search, int error, const char *path, const char *text)
{
	if (error == -ENOENT || search->error)
		return;
	search->error = error;
	tell(search->text, error, "%.200s: %.110s", path, text);
}

/* The newest manifest of one volume. */
static void read_slots(struct search *search, struct store_group *group)
{
	for (unsigned slot = 0; slot < 2; slot++) {
		struct store_manifest *manifest = NULL;
		char text[STORE_TEXT_BYTES];
		int error;

		if (read_seal(search, group, slot))
			continue;
		error = read_slot(search, group, slot, &manifest, text);
		if (error < 0) {
			if (error != -EBADMSG || slot || !is_unfinished(group))
				remember(search, error, group->path, text);
			continue;
		}
		if (group->manifest && group->manifest->generation >= manifest->generation) {
			store_manifest_free(manifest);
			continue;
		}
		store_manifest_free(group->manifest);
		group->manifest = manifest;
		group->slot = slot;
	}
}

/* Takes @group over: it becomes the best, or goes. */
static void offer_volume(struct search *search, struct store_group *group)
{
	char text[STORE_TEXT_BYTES];
	int error = group->fd < 0 ? tell(text, group->fd, "%s", strerror(-group->fd))
				  : read_head(search, group, text);
	struct store_group *worse = group;

	if (error < 0)
		remember(search, error, group->path, text);
	else
		read_slots(search, group);
	if (group->manifest &&
	    (!search->best || search->best->manifest->generation < group->manifest->generation)) {
		worse = search->best;
		search->best = group;
	}
	store_group_close(worse);
}

/* "0123456789abcdef-1.vol", to the letter. */
static bool is_volume_name(const char *name, uint64_t sum, uint64_t *ret_number)
{
	char expected[64];
	char *end;

	if (strlen(name) < 18)
		return false;
	*ret_number = strtoull(name + 17, &end, 10);
	snprintf(expected, sizeof(expected), "%016" PRIx64 "-%" PRIu64 ".vol", sum, *ret_number);
	return *ret_number && strcmp(name, expected) == 0;
}

static int offer_file(struct search *search, const char *name, uint64_t number)
{
	struct store_group *group = calloc(1, sizeof(*group));
	int64_t length = 0;

	if (!group)
		return -ENOMEM;
	snprintf(group->path, sizeof(group->path), "%s/%s", search->place->path, name);
	group->fd = store_io_open(group->path);
	if (group->fd >= 0)
		length = store_io_length(group->fd);
	group->length = length > 0 ? (uint64_t)length : 0;
	group->number = number;
	offer_volume(search, group);
	return 0;
}

static int search_directory(struct search *search)
{
	char path[STORE_PATH_BYTES];
	struct dirent *entry;
	uint64_t number;
	DIR *directory;
	int fd, error;

	snprintf(path, sizeof(path), "%s/swapio.store", search->place->path);
	fd = store_io_open(path);
	if (fd < 0)
		return tell(search->text, fd, "%.300s: %s", path, strerror(-fd));
	error = read_record(search, fd, 0, 0);
	if (error == -ENOENT) /* and so has the record of a directory */
		error = -EBADMSG;
	store_io_close(fd);
	directory = error ? NULL : opendir(search->place->path);
	if (error == 0 && !directory)
		error = tell(search->text, -errno, "%s: %s", search->place->path, strerror(errno));
	while (error == 0 && (entry = readdir(directory)))
		if (is_volume_name(entry->d_name, search->name_sum, &number))
			error = offer_file(search, entry->d_name, number);
	if (directory)
		closedir(directory);
	return error;
}

static const unsigned char *catalog_entry(const unsigned char *catalog, uint32_t index)
{
	return catalog + CATALOG_HEAD_BYTES + (size_t)index * CATALOG_ENTRY_BYTES;
}

/* Entries in order, within the range, and none over another. */
static int check_entries(const unsigned char *catalog, uint64_t range_bytes, char *text)
{
	uint64_t end = VOLUMES_AT;

	for (uint32_t i = 0; i < store_u32(catalog + 12); i++) {
		const unsigned char *entry = catalog_entry(catalog, i);
		uint64_t offset = store_u64(entry + 16), length = store_u64(entry + 24);

		if (offset < end || offset % STORE_UNIT || offset > range_bytes ||
		    length > range_bytes - offset)
			return tell(text, -EBADMSG,
				    "catalog entry %u: bytes %" PRIu64 " + %" PRIu64, i, offset,
				    length);
		end = offset + length;
	}
	return 0;
}

/* @used bytes are before the sum. */
static int check_catalog(const struct search *search, const unsigned char *catalog, size_t used,
			 uint64_t range_bytes, char *text)
{
	if (store_record_sum(catalog, used) != store_u64(catalog + used))
		return tell(text, -EBADMSG, "the sum of the catalog is wrong");
	if (store_u32(catalog + 8) != VERSION)
		return tell(text, -ENOTSUP, "catalog version %u", store_u32(catalog + 8));
	if (memcmp(catalog + 16, search->id, STORE_ID_BYTES) != 0)
		return tell(text, -EXDEV, "the catalog belongs to another store");
	return check_entries(catalog, range_bytes, text);
}

/* One of the two copies, malloc'ed when it is valid. */
static int read_catalog(const struct search *search, int fd, uint64_t at, uint64_t range_bytes,
			unsigned char **ret_catalog, char *text)
{
	unsigned char head[CATALOG_HEAD_BYTES], *catalog;
	int error = store_io_read(fd, head, sizeof(head), at);
	size_t used;

	if (error < 0)
		return tell(text, error, "the catalog: %s", strerror(-error));
	used = CATALOG_HEAD_BYTES + (size_t)store_u32(head + 12) * CATALOG_ENTRY_BYTES;
	if (memcmp(head, "SWAPCATA", 8) != 0)
		return tell(text, -EBADMSG, "it does not begin with SWAPCATA");
	if (used > CATALOG_BYTES - 8)
		return tell(text, -EBADMSG, "a catalog of %u entries", store_u32(head + 12));
	catalog = malloc(used + 8);
	error = catalog ? store_io_read(fd, catalog, used + 8, at) : -ENOMEM;
	if (error < 0)
		tell(text, error, "the catalog: %s", strerror(-error));
	else
		error = check_catalog(search, catalog, used, range_bytes, text);
	if (error < 0)
		free(catalog);
	else
		*ret_catalog = catalog;
	return error;
}

static int offer_entry(struct search *search, const unsigned char *entry)
{
	struct store_group *group = calloc(1, sizeof(*group));

	if (!group)
		return -ENOMEM;
	snprintf(group->path, sizeof(group->path), "%s", search->place->path);
	group->fd = store_io_open(group->path);
	group->base = search->place->range_offset + store_u64(entry + 16);
	group->length = store_u64(entry + 24);
	group->number = store_u64(entry + 8);
	offer_volume(search, group);
	return 0;
}

static int offer_entries(struct search *search, const unsigned char *catalog)
{
	int error = 0;

	for (uint32_t i = 0; error == 0 && i < store_u32(catalog + 12); i++)
		if (store_u64(catalog_entry(catalog, i)) == search->name_sum)
			error = offer_entry(search, catalog_entry(catalog, i));
	return error;
}

/* Of two copies the valid one with the higher sequence. */
static int search_catalogs(struct search *search, int fd, uint64_t range_bytes)
{
	static const uint64_t at[2] = {CATALOG_0_AT, CATALOG_1_AT};
	unsigned char *best = NULL, *copy;
	char text[STORE_TEXT_BYTES];
	int error = 0;

	for (unsigned i = 0; i < 2; i++) {
		copy = NULL;
		error = read_catalog(search, fd, search->place->range_offset + at[i], range_bytes,
				     &copy, text);
		if (best && copy && store_u64(copy + 32) <= store_u64(best + 32)) {
			free(copy);
		} else if (copy) {
			free(best);
			best = copy;
		}
	}
	if (best)
		error = offer_entries(search, best);
	else
		tell(search->text, error, "%.150s: %.150s", search->place->path, text);
	free(best);
	return error;
}

static int search_range(struct search *search, int fd)
{
	uint64_t offset = search->place->range_offset, bytes = search->place->range_length;
	int64_t all = store_io_length(fd);
	int error;

	if (all < 0)
		return tell(search->text, (int)all, "%s", search->place->path);
	if (offset > (uint64_t)all || bytes > (uint64_t)all - offset)
		return tell(search->text, -EBADMSG, "%s: a range of %" PRIu64 " bytes at %" PRIu64,
			    search->place->path, bytes, offset);
	bytes = bytes ? bytes : (uint64_t)all - offset;
	error = read_record(search, fd, offset, bytes);
	return error ? error : search_catalogs(search, fd, bytes);
}

static int search_place(struct search *search)
{
	struct stat status;
	int error, fd;

	if (stat(search->place->path, &status) < 0)
		return tell(search->text, -errno, "%s: %s", search->place->path, strerror(errno));
	if (S_ISDIR(status.st_mode))
		return search_directory(search);
	fd = store_io_open(search->place->path);
	if (fd < 0)
		return tell(search->text, fd, "%s: %s", search->place->path, strerror(-fd));
	error = search_range(search, fd);
	store_io_close(fd);
	return error;
}

int store_group_open(const struct store_place *place, const char *name,
		     struct store_group **ret_group, char text[STORE_TEXT_BYTES])
{
	struct search search = {
		.place = place,
		.name = name,
		.name_sum = store_record_sum(name, strlen(name)),
		.text = text,
	};
	int error;

	text[0] = '\0';
	error = search_place(&search);
	if (error == 0 && !search.best)
		error = search.error	? search.error
			: search.sealed ? tell(text, -EBADMSG,
					       "group %.200s: generation %" PRIu64
					       " was committed, and no manifest is left",
					       name, search.sealed)
					: tell(text, -ENOENT, "group %s: nothing is stored", name);
	if (error == 0 && search.best->manifest->generation < search.sealed)
		error = tell(text, -EBADMSG,
			     "group %.200s: generation %" PRIu64
			     " was committed, and its manifest is gone or damaged",
			     name, search.sealed);
	if (error < 0)
		store_group_close(search.best);
	else
		*ret_group = search.best;
	return error;
}

void store_group_close(struct store_group *group)
{
	if (!group)
		return;
	store_io_close(group->fd);
	store_manifest_free(group->manifest);
	free(group);
}
