/* SPDX-License-Identifier: MIT */
/*
 * medium_undo.c - what was overwritten by writes that are not durable: kept, dropped when they
 * become so, and drawn from when the power goes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "medium_internal.h"

/* A write cache has a size: past it, the oldest writes that were answered are written back. */
#define CACHE_BYTES_MAX (64ull << 20)

static void undo_fini(struct undo *undo)
{
	free(undo->settled);
	free(undo->before);
}

void undo_clear(struct medium *medium)
{
	for (size_t i = 0; i < medium->undos_count; i++)
		undo_fini(&medium->undos[i]);
	medium->undos_count = 0;
	medium->undo_bytes = 0;
}

/* Forget what can no longer be taken back. */
static void drop_settled(struct medium *medium)
{
	size_t kept = 0;

	for (size_t i = 0; i < medium->undos_count; i++) {
		struct undo *undo = &medium->undos[i];

		if (undo->open) {
			medium->undos[kept++] = *undo;
			continue;
		}
		medium->undo_bytes -= undo->sectors * medium->options.sector_bytes;
		undo_fini(undo);
	}
	medium->undos_count = kept;
}

/* Those of @undo that lie between @first and @end. */
static void settle_sectors(struct undo *undo, uint64_t first, uint64_t end)
{
	uint64_t s = first > undo->sector ? first - undo->sector : 0;

	for (; undo->open && s < undo->sectors && undo->sector + s < end; s++) {
		undo->open -= !undo->settled[s];
		undo->settled[s] = 1;
	}
}

/* @durable is durable: so nothing older comes back in its sectors. */
static void settle(struct medium *medium, const struct undo *durable)
{
	uint64_t first = durable->sector, end = first + durable->sectors;

	for (size_t i = 0; i < medium->undos_count; i++) {
		struct undo *undo = &medium->undos[i];

		if (undo->write > durable->write)
			return;
		settle_sectors(undo, first, end);
	}
}

static void write_back_oldest(struct medium *medium)
{
	for (size_t i = 0; i < medium->undos_count; i++) {
		if (medium->undo_bytes <= CACHE_BYTES_MAX)
			break;
		if (!medium->undos[i].answered)
			continue;
		settle(medium, &medium->undos[i]);
		drop_settled(medium);
		i = (size_t)-1;
	}
}

int undo_keep(struct medium *medium, uint64_t sector, uint64_t sectors, const uint8_t *before)
{
	size_t bytes = sectors * medium->options.sector_bytes;
	struct undo undo = {
		.write = medium->writes, .sector = sector, .sectors = sectors, .open = sectors};

	if (medium->undos_count == medium->undos_room) {
		size_t room = medium->undos_room ? 2 * medium->undos_room : 64;
		struct undo *grown = realloc(medium->undos, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		medium->undos = grown;
		medium->undos_room = room;
	}
	undo.settled = calloc(sectors, 1);
	undo.before = malloc(bytes);
	if (!undo.settled || !undo.before) {
		undo_fini(&undo);
		return -ENOMEM;
	}
	memcpy(undo.before, before, bytes);
	medium->undos[medium->undos_count++] = undo;
	medium->undo_bytes += bytes;
	write_back_oldest(medium);
	return 0;
}

void undo_answered(struct medium *medium, uint64_t write, bool durable)
{
	for (size_t i = medium->undos_count; i-- > 0;) {
		struct undo *undo = &medium->undos[i];

		if (undo->write != write)
			continue;
		undo->answered = medium->answered;
		if (durable) {
			settle(medium, undo);
			drop_settled(medium);
		}
		return;
	}
}

static bool is_flushed(const struct undo *undo, uint64_t begun)
{
	return undo->answered && undo->answered <= begun;
}

void undo_flushed(struct medium *medium, uint64_t begun)
{
	for (size_t i = 0; i < medium->undos_count; i++)
		if (medium->undos[i].open && is_flushed(&medium->undos[i], begun))
			settle(medium, &medium->undos[i]);
	drop_settled(medium);
}

/* One content that a sector may fall back from. */
struct version {
	uint64_t sector, write;
	const uint8_t *before;
};

/* By sector, the youngest first. */
static int compare(const void *left, const void *right)
{
	const struct version *a = left, *b = right;

	if (a->sector != b->sector)
		return a->sector < b->sector ? -1 : 1;
	return a->write > b->write ? -1 : 1;
}

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static size_t list_versions(const struct medium *medium, struct version *versions)
{
	size_t count = 0;

	for (size_t i = 0; i < medium->undos_count; i++) {
		const struct undo *undo = &medium->undos[i];

		for (uint64_t s = 0; s < undo->sectors; s++)
			if (!undo->settled[s])
				versions[count++] = (struct version){
					undo->sector + s, undo->write,
					undo->before + s * medium->options.sector_bytes};
	}
	return count;
}

/*
 * How likely a write is to be lost is drawn once: all of them and none are ends that a draw for
 * each sector alone would hardly ever reach.
 */
static uint64_t contents_lost(uint64_t seed, uint64_t sector, uint64_t versions)
{
	static const unsigned eighths[] = {0, 1, 4, 7, 8};
	uint64_t drawn = mix(mix(seed) ^ sector);

	if (drawn % 8 >= eighths[mix(seed) % (sizeof(eighths) / sizeof(eighths[0]))])
		return 0;
	return 1 + (drawn >> 8) % versions;
}

static int restore(const struct medium *medium, const struct version *version)
{
	unsigned bytes = medium->options.sector_bytes;
	ssize_t count = pwrite(medium->options.fd, version->before, bytes,
			       (off_t)(version->sector * bytes));

	return count == (ssize_t)bytes ? 0 : -EIO;
}

int medium_cut(struct medium *medium, uint64_t seed)
{
	size_t count = 0, next;
	struct version *versions;
	int result = 0;

	for (size_t i = 0; i < medium->undos_count; i++)
		count += medium->undos[i].open;
	versions = calloc(count ? count : 1, sizeof(*versions));
	if (!versions)
		return -ENOMEM;
	count = list_versions(medium, versions);
	qsort(versions, count, sizeof(*versions), compare);
	for (size_t i = 0; i < count && result == 0; i = next) {
		uint64_t lost;

		for (next = i; next < count && versions[next].sector == versions[i].sector;)
			next++;
		lost = contents_lost(seed, versions[i].sector, next - i);
		if (lost)
			result = restore(medium, &versions[i + lost - 1]);
	}
	free(versions);
	undo_clear(medium);
	return result;
}
