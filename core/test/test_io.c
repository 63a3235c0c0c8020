/* SPDX-License-Identifier: MIT */
/* test_io.c - transfers on real files against a model of bytes. */
#include "helpers.h"

#define MODEL_BYTES ((size_t)256 << 10)

struct world {
	struct swapio *handle;
	unsigned char *buf, *model;
	size_t size; /* of the file */
	int fd;	     /* -1: by path */
	uint64_t seed;
};

static struct swapio *open_with(unsigned workers, enum swapio_unaligned unaligned)
{
	struct swapio_options options;

	swapio_options_init(&options);
	options.workers = workers;
	options.unaligned = unaligned;
	options.block_bytes = 8192;
	options.queue_depth = 4;
	options.bounce_slots = 2;
	options.overlap_events = workers != 1;
	options.single_submit = workers == 2;
	return open_handle(&options);
}

static void world_write(struct world *world, size_t offset, unsigned char *mem, size_t bytes)
{
	const char *path = world->fd < 0 ? file_path : NULL;
	struct swapio_io io = io_of(SWAPIO_WRITE, path, world->fd, offset, mem, bytes);
	struct swapio_result result;

	fill_random(mem, bytes, world->seed++);
	result = finish(world->handle, start(world->handle, &io));
	assert_int_equal(result.error, 0);
	assert_int_equal(result.bytes, bytes);
	memcpy(world->model + offset, mem, bytes);
	if (bytes && offset + bytes > world->size)
		world->size = offset + bytes;
	assert_int_equal(file_size(file_path), world->size);
}

/* Bytes beside the range must stay, and the end of the file must be told. */
static void world_read(struct world *world, size_t offset, unsigned char *mem, size_t bytes)
{
	const char *path = world->fd < 0 ? file_path : NULL;
	struct swapio_io io = io_of(SWAPIO_READ, path, world->fd, offset, mem, bytes);
	size_t there = offset >= world->size ? 0 : world->size - offset;
	struct swapio_result result;

	there = there < bytes ? there : bytes;
	memset(mem, 0xee, bytes + 1);
	result = finish(world->handle, start(world->handle, &io));
	assert_memory_equal(mem, world->model + offset, there);
	assert_int_equal(mem[bytes], 0xee);
	if (there == bytes) {
		assert_int_equal(result.error, 0);
		assert_int_equal(result.bytes, bytes);
		return;
	}
	assert_int_equal(result.error, -ENODATA);
	assert_int_equal(result.cause, SWAPIO_CAUSE_EOF);
	assert_int_equal(result.bytes, there);
	assert_int_equal(result.fail_offset_bytes, offset + there);
	assert_int_equal(result.fail_length_bytes, bytes - there);
}

static void world_run(struct world *world, unsigned rounds, bool odd_pointers)
{
	for (unsigned i = 0; i < rounds; i++) {
		size_t offset = random_next(&world->seed) % (MODEL_BYTES / 2);
		size_t bytes = random_next(&world->seed) % 40000;
		unsigned char *mem = world->buf;

		if (random_next(&world->seed) % 3 == 0)
			offset &= ~(size_t)511;
		if (random_next(&world->seed) % 3 == 0)
			bytes &= ~(size_t)511;
		if (odd_pointers)
			mem += random_next(&world->seed) % 1024;
		if (random_next(&world->seed) % 2)
			world_write(world, offset, mem, bytes);
		else
			world_read(world, offset, mem, bytes);
	}
	assert_file_equal(file_path, world->model, world->size);
}

static void run_property(unsigned workers, enum swapio_unaligned unaligned, int fd)
{
	struct world world = {
		.handle = open_with(workers, unaligned),
		.model = calloc(1, MODEL_BYTES),
		.fd = fd,
		.seed = 0x5eed + workers,
	};

	unlink(fd < 0 ? file_path : "");
	world.buf = alloc_buffer(world.handle, 64 << 10);
	world_write(&world, 0, world.buf, 3);
	world_run(&world, 150, unaligned == SWAPIO_UNALIGNED_BOUNCE);
	close_handle(world.handle);
	free(world.model);
}

static void random_ranges_by_path_match_a_model(void **state)
{
	(void)state;
	for (unsigned workers = 0; workers < 3; workers++) {
		run_property(workers, SWAPIO_UNALIGNED_REJECT, -1);
		run_property(workers, SWAPIO_UNALIGNED_BOUNCE, -1);
	}
}

static void random_ranges_by_descriptor_match_a_model(void **state)
{
	const int flags[] = {O_RDWR, O_RDWR | O_DIRECT};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		int fd = open(file_path, flags[i] | O_CREAT | O_TRUNC, 0644);

		assert_true(fd >= 0);
		run_property(i, SWAPIO_UNALIGNED_BOUNCE, fd);
		assert_true(fcntl(fd, F_GETFD) >= 0);
		close(fd);
	}
}

static void every_odd_offset_within_a_sector_keeps_its_neighbours(void **state)
{
	struct world world = {
		.handle = open_with(0, SWAPIO_UNALIGNED_REJECT),
		.model = calloc(1, MODEL_BYTES),
		.fd = -1,
		.seed = 11,
	};

	(void)state;
	unlink(file_path);
	world.buf = alloc_buffer(world.handle, 64 << 10);
	world_write(&world, 0, world.buf, 5000);
	for (size_t offset = 0; offset < 512; offset++)
		world_write(&world, offset, world.buf, 1 + (offset * 7) % 1100);
	assert_file_equal(file_path, world.model, world.size);
	close_handle(world.handle);
	free(world.model);
}

static void write_only_descriptors_still_share_sectors(void **state)
{
	struct swapio *handle = open_with(0, SWAPIO_UNALIGNED_REJECT);
	unsigned char *buf = alloc_buffer(handle, 8192), model[8192];
	int fd;
	struct swapio_io io;

	(void)state;
	fill_random(model, sizeof(model), 3);
	write_file(file_path, model, sizeof(model));
	fd = open(file_path, O_WRONLY | O_DIRECT);
	assert_true(fd >= 0);
	memset(buf, 0x11, 100);
	io = io_of(SWAPIO_WRITE, NULL, fd, 700, buf, 100);
	assert_int_equal(finish(handle, start(handle, &io)).error, 0);
	memset(model + 700, 0x11, 100);
	assert_file_equal(file_path, model, sizeof(model));
	close(fd);
	close_handle(handle);
}

static void length_zero_completes_at_once(void **state)
{
	struct swapio *handle = open_with(1, SWAPIO_UNALIGNED_REJECT);
	struct swapio_io io = io_of(SWAPIO_WRITE, file_path, -1, 77, NULL, 0);
	struct swapio_result result;
	swapio_id id;

	(void)state;
	unlink(file_path);
	id = start(handle, &io);
	assert_int_equal(swapio_wait(handle, id, 0, &result), 0);
	assert_int_equal(result.error, 0);
	assert_int_equal(result.bytes, 0);
	assert_int_equal(file_size(file_path), 0);
	assert_int_equal(swapio_wait(handle, id, 0, &result), -ENOENT);
	close_handle(handle);
}

static void results_are_fetched_once_and_counted(void **state)
{
	struct swapio_options options;
	struct swapio_result results[8];
	struct swapio_error error;
	struct swapio *handle;
	unsigned char *buf;
	swapio_id id;

	(void)state;
	swapio_options_init(&options);
	options.requests_max = 3;
	options.workers = 0;
	handle = open_handle(&options);
	buf = alloc_buffer(handle, 4 * 4096);
	assert_int_equal(swapio_wait_some(handle, 5, 8, SWAPIO_FOREVER, results), 0);
	assert_int_equal(swapio_wait_some(handle, 2, 1, 0, results), -EINVAL);
	assert_int_equal(swapio_wait_some(handle, 0, 0, 0, results), -EINVAL);
	for (unsigned i = 0; i < 3; i++) {
		struct swapio_io io =
			io_of(SWAPIO_WRITE, file_path, -1, i * 4096, buf + i * 4096, 4096);

		io.tag = i;
		start(handle, &io);
	}
	struct swapio_io fourth = io_of(SWAPIO_WRITE, file_path, -1, 0, buf, 4096);
	assert_int_equal(swapio_submit(handle, &fourth, &error, &id), -EAGAIN);
	assert_non_null(strstr(error.text, "3 requests are pending"));
	assert_int_equal(swapio_pending(handle), 3);
	assert_int_equal(swapio_wait_some(handle, 8, 8, SWAPIO_FOREVER, results), 3);
	assert_int_equal(results[0].tag + results[1].tag + results[2].tag, 3);
	assert_int_equal(swapio_pending(handle), 0);
	assert_int_equal(swapio_wait(handle, results[0].id, SWAPIO_FOREVER, results), -ENOENT);
	assert_int_equal(swapio_cancel(handle, results[0].id), -ENOENT);
	close_handle(handle);
}

static void a_thousand_small_requests_share_one_queue(void **state)
{
	struct swapio *handle = open_with(1, SWAPIO_UNALIGNED_REJECT);
	struct swapio_result results[64];
	unsigned char *buf = alloc_buffer(handle, 1000 * 4096);
	int fd = open(file_path, O_RDWR | O_CREAT | O_TRUNC | O_DIRECT, 0644), count, fetched = 0;

	(void)state;
	assert_true(fd >= 0);
	fill_random(buf, 1000 * 4096, 9);
	for (unsigned i = 0; i < 1000; i++) {
		struct swapio_io io =
			io_of(SWAPIO_WRITE, NULL, fd, i * 4096ull, buf + i * 4096ull, 4096);

		start(handle, &io);
	}
	while ((count = swapio_wait_some(handle, 1, 64, SWAPIO_FOREVER, results)) > 0)
		for (fetched += count; count--;)
			assert_int_equal(results[count].error, 0);
	assert_int_equal(count < 0 ? count : fetched, 1000);
	assert_file_equal(file_path, buf, 1000 * 4096);
	close(fd);
	close_handle(handle);
}

static void sync_calls_name_the_path(void **state)
{
	struct swapio *handle = open_with(0, SWAPIO_UNALIGNED_REJECT);
	unsigned char *buf = alloc_buffer(handle, 4096);
	struct swapio_error error = {0};

	(void)state;
	write_file(file_path, buf, 100);
	assert_int_equal(swapio_read(handle, file_path, 0, buf, 200, &error), -ENODATA);
	assert_non_null(strstr(error.text, file_path));
	assert_non_null(strstr(error.text, "the file ends before"));
	assert_int_equal(swapio_read(handle, NULL, 0, buf, 1, &error), -EINVAL);
	assert_int_equal(swapio_write(handle, NULL, 0, buf, 1, &error), -EINVAL);
	close_handle(handle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_ranges_by_path_match_a_model),
		cmocka_unit_test(random_ranges_by_descriptor_match_a_model),
		cmocka_unit_test(every_odd_offset_within_a_sector_keeps_its_neighbours),
		cmocka_unit_test(write_only_descriptors_still_share_sectors),
		cmocka_unit_test(length_zero_completes_at_once),
		cmocka_unit_test(results_are_fetched_once_and_counted),
		cmocka_unit_test(a_thousand_small_requests_share_one_queue),
		cmocka_unit_test(sync_calls_name_the_path),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
