/* SPDX-License-Identifier: MIT */
/*
 * step_make_store.c - a store that the library did not make: written byte by byte from
 * docs/STORE.md, as generation 1 of the group. The library has to read what others write by the
 * same page. Tensors that are left hollow are holes of the file, so that sizes past 2^32 cost
 * nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "raw.h"
#include "store_reader.h"
#include "swap.h"

#define PIECE_BYTES 65536u
#define SUM_AT 4088u
#define SLOT_BYTES (256u * 1024)
#define PATH_BYTES 512

struct making {
	int fd;
	long error;	      /* the first one */
	uint64_t place_bytes; /* of all tensors */
	unsigned char id[STORE_ID_BYTES];
	unsigned char *at; /* in the manifest */
};

static unsigned char manifest[SLOT_BYTES];

static void put(unsigned char *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> 8 * i);
}

static void write_at(struct making *making, const void *bytes, size_t count, uint64_t offset)
{
	long moved = making->error < 0 ? 0 : raw_pwrite(making->fd, bytes, count, offset);

	if (making->error >= 0 && moved != (long)count)
		making->error = moved < 0 ? moved : -ENOSPC;
}

static uint64_t name_sum(void)
{
	return store_record_sum(worker.workload.store.group, strlen(worker.workload.store.group));
}

/* A record of one unit, but for its sum. */
static void begin_unit(const struct making *making, unsigned char unit[STORE_UNIT],
		       const char *magic)
{
	memset(unit, 0, STORE_UNIT);
	memcpy(unit, magic, 8);
	put(unit + 8, 1, 4);
	memcpy(unit + 16, making->id, STORE_ID_BYTES);
}

static void end_unit(struct making *making, unsigned char unit[STORE_UNIT])
{
	put(unit + SUM_AT, store_record_sum(unit, SUM_AT), 8);
	write_at(making, unit, STORE_UNIT, 0);
}

static void write_head(struct making *making)
{
	const char *group = worker.workload.store.group;
	unsigned char unit[STORE_UNIT];

	begin_unit(making, unit, "SWAPVOLU");
	put(unit + 12, strlen(group), 4);
	put(unit + 32, name_sum(), 8);
	put(unit + 40, 1, 8);
	put(unit + 48, SLOT_BYTES, 8);
	put(unit + 56, making->place_bytes, 8);
	memcpy(unit + 64, group, strlen(group));
	end_unit(making, unit);
}

static void put_name(struct making *making, const char *name)
{
	memcpy(making->at, name, strlen(name));
	making->at += (strlen(name) + 7) / 8 * 8;
}

static void put_tensor(struct making *making, const struct tensor *tensor, uint64_t offset)
{
	unsigned char *at = making->at;

	put(at, tensor->numel, 8);
	put(at + 8, offset, 8);
	put(at + 16, dtype_bytes(tensor->dtype), 4);
	put(at + 20, strlen(tensor->name), 2);
	at[22] = (unsigned char)tensor->dims;
	memcpy(at + 24, dtype_name(tensor->dtype), strlen(dtype_name(tensor->dtype)));
	for (unsigned i = 0; i < tensor->dims; i++)
		put(at + 40 + i * 8, tensor->shape[i], 8);
	making->at += 40 + tensor->dims * 8;
	put_name(making, tensor->name);
}

/* Without checksums: nobody read the hollow ones to sum them. */
static void write_manifest(struct making *making)
{
	const struct workload *workload = &worker.workload;
	uint64_t offset = 0;
	size_t bytes;

	memset(manifest, 0, sizeof(manifest));
	memcpy(manifest, "SWAPMANI", 8);
	put(manifest + 8, 1, 4);
	memcpy(manifest + 24, making->id, STORE_ID_BYTES);
	put(manifest + 40, 1, 8);
	put(manifest + 48, workload->store.chunk_bytes, 8);
	put(manifest + 56, workload->tensors_count, 4);
	put(manifest + 60, strlen(workload->store.group), 4);
	making->at = manifest + 64;
	put_name(making, workload->store.group);
	for (unsigned i = 0; i < workload->tensors_count; i++) {
		put_tensor(making, &workload->tensors[i], offset);
		offset += store_padded(tensor_bytes(&workload->tensors[i]));
	}
	bytes = (size_t)(making->at - manifest) + 8;
	put(manifest + 16, bytes, 8);
	put(manifest + bytes - 8, store_record_sum(manifest, bytes - 8), 8);
	write_at(making, manifest, bytes, STORE_UNIT);
}

static void write_data(struct making *making, const struct step *step)
{
	static char piece[PIECE_BYTES];
	uint64_t at = STORE_UNIT + 2 * SLOT_BYTES;
	uint32_t generation = swap_draw_generation(0, worker.workload.tensors_count);

	for (unsigned i = 0; i < worker.workload.tensors_count; i++) {
		uint64_t bytes = tensor_bytes(&worker.workload.tensors[i]);
		struct pattern pattern = {worker.wire.seed, i, generation};

		worker.tensors[i].stored = step_has(step, i) ? generation : 0;
		if (step_has(step, i) && promised_counts())
			tell_write("durable", i, generation, bytes);
		for (uint64_t done = 0; step_has(step, i) && done < bytes; done += PIECE_BYTES) {
			size_t part = bytes - done < PIECE_BYTES ? bytes - done : PIECE_BYTES;

			pattern_fill(&pattern, done, piece, part);
			write_at(making, piece, part, at + done);
		}
		at += store_padded(bytes);
	}
}

static void open_file(struct making *making, const char *name)
{
	char path[PATH_BYTES];

	snprintf(path, sizeof(path), "%s/%s", WORKLOAD_STORE_PLACE, name);
	making->fd = raw_open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);
	if (making->fd < 0 && making->error >= 0)
		making->error = making->fd;
}

static void close_file(struct making *making)
{
	if (making->fd >= 0 && syscall(SYS_fdatasync, making->fd) < 0 && making->error >= 0)
		making->error = -errno;
	if (making->fd >= 0)
		raw_close(making->fd);
}

static void write_volume(struct making *making, const struct step *step)
{
	char name[64];

	snprintf(name, sizeof(name), "%016" PRIx64 "-1.vol", name_sum());
	open_file(making, name);
	write_head(making);
	write_manifest(making);
	write_data(making, step);
	if (making->error >= 0)
		making->error = raw_truncate(making->fd,
					     STORE_UNIT + 2 * SLOT_BYTES + 2 * making->place_bytes);
	close_file(making);
}

void step_make_store(const struct step *step)
{
	struct making making = {.id = "made by a step"};
	unsigned char unit[STORE_UNIT];

	for (unsigned i = 0; i < worker.workload.tensors_count; i++)
		making.place_bytes += store_padded(tensor_bytes(&worker.workload.tensors[i]));
	if (syscall(SYS_mkdirat, AT_FDCWD, WORKLOAD_STORE_PLACE, 0777) < 0 && errno != EEXIST)
		making.error = -errno;
	open_file(&making, "swapio.store");
	begin_unit(&making, unit, "SWAPSTOR");
	end_unit(&making, unit);
	close_file(&making);
	write_volume(&making, step);
	if (making.error < 0)
		tell_broken("prepare: a store: %s", strerror((int)-making.error));
}
