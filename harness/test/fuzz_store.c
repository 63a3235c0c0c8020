/* SPDX-License-Identifier: MIT */
/*
 * fuzz_store.c - a store of which any bytes were changed: found and read within its bounds, or
 * refused with a sentence. The input is a list of changes to a valid image (u32 offset, u8 value),
 * with every sum made right again when its first byte is odd, so that they get past the sums.
 */
#undef NDEBUG
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store_image.h"
#include "store_reader.h"

#define VOLUME_AT (1u << 20)
#define CATALOG_AT 4096u
#define IMAGE_BYTES (VOLUME_AT + IMAGE_VOLUME_BYTES)

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static unsigned char image[IMAGE_BYTES];

static void make_image(void)
{
	struct image_group first = image_adam(1), second = image_adam(2);
	unsigned char *catalog = image + CATALOG_AT, *entry = catalog + 40;

	memset(image, 0, 2 * IMAGE_UNIT);
	memset(image + VOLUME_AT, 0, IMAGE_VOLUME_BYTES);
	image_record(image, IMAGE_BYTES);
	memcpy(catalog, "SWAPCATA", 8);
	image_put(catalog + 8, 1, 4);
	image_put(catalog + 12, 1, 4);
	memcpy(catalog + 16, image_id, 16);
	image_put(catalog + 32, 1, 8);
	image_put(entry, XXH64("optimizer", 9, 0), 8);
	image_put(entry + 8, 1, 8);
	image_put(entry + 16, VOLUME_AT, 8);
	image_put(entry + 24, IMAGE_VOLUME_BYTES, 8);
	image_sum(catalog, 72);
	image_head(image + VOLUME_AT, "optimizer", 1);
	image_generation(image + VOLUME_AT, &first);
	image_generation(image + VOLUME_AT, &second);
}

static void make_sums_right(void)
{
	image_sum(image, 4088);
	image_sum(image + CATALOG_AT, 72);
	image_sum(image + VOLUME_AT, 4088);
	for (unsigned slot = 0; slot < 2; slot++) {
		unsigned char *at = image + VOLUME_AT + IMAGE_UNIT + slot * IMAGE_SLOT_BYTES;
		uint64_t count = store_u64(at + 16);

		if (count >= 8 && count <= IMAGE_SLOT_BYTES)
			image_sum(at, count - 8);
	}
}

static void count_damage(void *arg, unsigned tensor, uint64_t offset, uint64_t length,
			 const char *what)
{
	(void)tensor, (void)offset;
	assert(length && what[0]);
	++*(int *)arg;
}

static void look(const char *path)
{
	struct store_place place = {path, 0, 0};
	char text[STORE_TEXT_BYTES] = "";
	struct store_group *group = NULL;
	int error = store_group_open(&place, "optimizer", &group, text), told = 0;

	assert(error <= 0);
	if (error < 0) {
		assert(!group && text[0]);
		return;
	}
	for (unsigned i = 0; i < group->manifest->count; i++) {
		const struct store_tensor *tensor = &group->manifest->tensors[i];

		assert(tensor->bytes <= group->place_bytes);
		told = 0;
		if (tensor->bytes <= IMAGE_BYTES)
			assert(store_group_check(group, i, count_damage, &told) == told);
	}
	store_group_close(group);
}

/* Offsets of changes count through what is in use: record, catalog, volume. */
static size_t place_of(uint32_t offset)
{
	offset %= 2 * IMAGE_UNIT + IMAGE_VOLUME_BYTES;
	return offset < 2 * IMAGE_UNIT ? offset : offset - 2 * IMAGE_UNIT + VOLUME_AT;
}

static void write_part(int fd, size_t at, size_t count)
{
	assert(pwrite(fd, image + at, count, (off_t)at) == (ssize_t)count);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
	static int fd = -1;
	char path[64];

	if (fd < 0)
		fd = memfd_create("store", 0);
	assert(fd >= 0);
	make_image();
	for (size_t i = 1; i + 5 <= bytes; i += 5)
		image[place_of(store_u32(data + i))] = data[i + 4];
	if (bytes && data[0] & 1)
		make_sums_right();
	write_part(fd, 0, 2 * IMAGE_UNIT);
	write_part(fd, VOLUME_AT, IMAGE_VOLUME_BYTES);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	look(path);
	return 0;
}
