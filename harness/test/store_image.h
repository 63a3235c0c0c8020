/* SPDX-License-Identifier: MIT */
/*
 * store_image.h - stores made by hand, byte by byte, as docs/STORE.md says: neither the library nor
 * the reader under test has a part in them.
 *
 * Threads: caller storage.
 */
#ifndef STORE_IMAGE_H
#define STORE_IMAGE_H

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <xxhash.h>

#define IMAGE_UNIT 4096u
#define IMAGE_SLOT_BYTES 8192u
#define IMAGE_PLACE_BYTES (16u * 4096u)
#define IMAGE_VOLUME_BYTES (IMAGE_UNIT + 2 * IMAGE_SLOT_BYTES + 2 * IMAGE_PLACE_BYTES)

static const unsigned char image_id[16] = "0123456789abcde";

struct image_tensor {
	const char *name, *dtype;
	uint64_t numel, offset;
	uint32_t element;
	uint8_t dims, place;
	uint64_t shape[8];
};

static inline void image_put(unsigned char *at, uint64_t value, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		at[i] = (unsigned char)(value >> 8 * i);
}

static inline void image_sum(unsigned char *record, size_t count)
{
	image_put(record + count, XXH64(record, count, 0), 8);
}

/* A record of one unit. */
static inline void image_unit(unsigned char *unit, const char *magic)
{
	memset(unit, 0, IMAGE_UNIT);
	memcpy(unit, magic, 8);
	image_put(unit + 8, 1, 4);
	memcpy(unit + 16, image_id, 16);
}

static inline void image_record(unsigned char *unit, uint64_t range_bytes)
{
	image_unit(unit, "SWAPSTOR");
	image_put(unit + 32, range_bytes, 8);
	image_sum(unit, 4088);
}

static inline void image_head(unsigned char *unit, const char *group, uint64_t number)
{
	image_unit(unit, "SWAPVOLU");
	image_put(unit + 12, strlen(group), 4);
	memcpy(unit + 64, group, strlen(group));
	image_put(unit + 32, XXH64(group, strlen(group), 0), 8);
	image_put(unit + 40, number, 8);
	image_put(unit + 48, IMAGE_SLOT_BYTES, 8);
	image_put(unit + 56, IMAGE_PLACE_BYTES, 8);
	image_sum(unit, 4088);
}

/* The byte at @offset of tensor @tensor of generation @generation. */
static inline unsigned char image_byte(unsigned tensor, uint64_t generation, uint64_t offset)
{
	return (unsigned char)(offset * 31 + tensor * 7 + generation * 101 + (offset >> 8));
}

static inline size_t image_name(unsigned char *at, const char *name)
{
	size_t length = strlen(name);

	memcpy(at, name, length);
	return (length + 7) / 8 * 8;
}

/* Everything but the sums of chunks is in @tensor; @data is where its bytes lie. */
static inline size_t image_manifest_tensor(unsigned char *at, const struct image_tensor *tensor,
					   unsigned algorithm, uint64_t chunk_bytes,
					   const unsigned char *data)
{
	uint64_t bytes = tensor->numel * tensor->element;
	unsigned char *begin = at;

	image_put(at, tensor->numel, 8);
	image_put(at + 8, tensor->offset, 8);
	image_put(at + 16, tensor->element, 4);
	image_put(at + 20, strlen(tensor->name), 2);
	at[22] = tensor->dims;
	at[23] = tensor->place;
	memcpy(at + 24, tensor->dtype, strlen(tensor->dtype));
	at += 40;
	for (unsigned i = 0; i < tensor->dims; i++, at += 8)
		image_put(at, tensor->shape[i], 8);
	at += image_name(at, tensor->name);
	for (uint64_t done = 0; algorithm && done < bytes; done += chunk_bytes, at += 8) {
		size_t part = bytes - done < chunk_bytes ? bytes - done : chunk_bytes;

#if XXH_VERSION_NUMBER >= 800
		if (algorithm == 2) {
			image_put(at, XXH3_64bits(data + done, part), 8);
			continue;
		}
#endif
		image_put(at, XXH64(data + done, part, 0), 8);
	}
	return (size_t)(at - begin);
}

/* Bytes of a tensor in a generation; by default image_byte(). */
typedef void image_fill_fn(unsigned tensor, uint64_t generation, unsigned char *data,
			   uint64_t bytes);

static inline void image_fill(unsigned tensor, uint64_t generation, unsigned char *data,
			      uint64_t bytes)
{
	for (uint64_t b = 0; b < bytes; b++)
		data[b] = image_byte(tensor, generation, b);
}

struct image_group {
	image_fill_fn *fill;
	const char *name;
	uint64_t generation, chunk_bytes;
	unsigned algorithm, count, slot;
	struct image_tensor tensors[8];
};

/* Data of a generation, and its manifest, into a volume. Bytes of the manifest. */
static inline size_t image_generation(unsigned char *volume, const struct image_group *group)
{
	unsigned char *slot = volume + IMAGE_UNIT + group->slot * IMAGE_SLOT_BYTES, *at = slot;
	unsigned char *places = volume + IMAGE_UNIT + 2 * IMAGE_SLOT_BYTES;
	size_t total;

	memset(slot, 0, IMAGE_SLOT_BYTES);
	memcpy(at, "SWAPMANI", 8);
	image_put(at + 8, 1, 4);
	image_put(at + 12, group->algorithm, 4);
	memcpy(at + 24, image_id, 16);
	image_put(at + 40, group->generation, 8);
	image_put(at + 48, group->chunk_bytes, 8);
	image_put(at + 56, group->count, 4);
	image_put(at + 60, strlen(group->name), 4);
	at += 64 + image_name(at + 64, group->name);
	for (unsigned i = 0; i < group->count; i++) {
		const struct image_tensor *tensor = &group->tensors[i];
		unsigned char *data = places + tensor->place * IMAGE_PLACE_BYTES + tensor->offset;

		group->fill(i, group->generation, data, tensor->numel * tensor->element);
		at += image_manifest_tensor(at, tensor, group->algorithm, group->chunk_bytes, data);
	}
	total = (size_t)(at - slot) + 8;
	assert(total <= IMAGE_SLOT_BYTES);
	image_put(slot + 16, total, 8);
	image_sum(slot, total - 8);
	return total;
}

/* torch Adam's shape, a scalar and two moments, with an empty tensor. */
static inline struct image_group image_adam(uint64_t generation)
{
	uint8_t place = generation % 2;

	return (struct image_group){
		.fill = image_fill,
		.name = "optimizer",
		.generation = generation,
		.chunk_bytes = 4096,
		.algorithm = 1,
		.count = 4,
		.slot = generation % 2,
		.tensors =
			{
				{"step", "fp32", 1, 0, 4, 0, place, {0}},
				{"exp_avg", "fp32", 3000, 4096, 4, 2, place, {30, 100}},
				{"empty", "u8", 0, 4096 * 4, 1, 1, place, {0}},
				{"exp_avg_sq", "fp32", 3072, 4096 * 4, 4, 0, place, {0}},
			},
	};
}

#endif /* STORE_IMAGE_H */
