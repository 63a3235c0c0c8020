/* SPDX-License-Identifier: MIT */
/* test_accel.c - the host accelerator, and device memory through an accelerator of the test's. */
#include "script_engine.h"

#define BYTES 20000u

/* "Device" memory is this array; the kernel must never see it. */
static unsigned char device[BYTES];
static unsigned copies_left; /* before copies fail */
static struct accel device_accel;

static bool in_device(const void *ptr)
{
	return (uintptr_t)ptr - (uintptr_t)device < sizeof(device);
}

static bool not_device(struct accel *accel, const void *ptr)
{
	(void)accel;
	return !in_device(ptr);
}

static bool none_pinned(struct accel *accel, const void *ptr, size_t length_bytes)
{
	(void)accel;
	return ptr == device && length_bytes == 3;
}

static int copy(struct accel *accel, void *to, const void *from, size_t length_bytes)
{
	assert_ptr_equal(accel, &device_accel);
	if (!copies_left)
		return -EREMOTEIO;
	copies_left--;
	memcpy(to, from, length_bytes);
	return 0;
}

static const struct accel_ops device_ops = {
	.name = "test",
	.is_host = not_device,
	.is_pinned = none_pinned,
	.copy_to_host = copy,
	.copy_from_host = copy,
};

static struct swapio *open_device(void)
{
	struct swapio_options options = script_options(0);
	struct swapio *handle;

	script_reset();
	copies_left = UINT_MAX;
	device_accel.ops = &device_ops;
	assert_int_equal(swapioi_open_with(&options, &device_accel, &script_ops, NULL, &handle), 0);
	return handle;
}

static void the_host_copies_and_knows_its_pinned_memory(void **state)
{
	struct accel *host = swapioi_accel_find("host");
	char from[3] = "ab", to[3] = "";

	(void)state;
	assert_ptr_equal(host, swapioi_accel_find(NULL));
	assert_null(swapioi_accel_find("cuda"));
	assert_null(swapioi_accel_find(""));
	assert_true(host->ops->is_host(host, from));
	assert_false(host->ops->is_pinned(host, from, 1));
	assert_int_equal(host->ops->copy_to_host(host, to, from, 3), 0);
	assert_string_equal(to, "ab");
	assert_int_equal(host->ops->copy_from_host(host, from, "cd", 3), 0);
	assert_string_equal(from, "cd");
}

static void device_memory_goes_through_slots_whatever_its_alignment(void **state)
{
	struct swapio *handle = open_device();
	unsigned char model[BYTES];

	(void)state;
	fill_random(model, BYTES, 4);
	memcpy(device, model, BYTES);
	assert_int_equal(swapio_write(handle, file_path, 5, device + 1, BYTES - 1, NULL), 0);
	memset(device, 0, BYTES);
	assert_int_equal(swapio_read(handle, file_path, 5, device + 1, BYTES - 1, NULL), 0);
	assert_memory_equal(device + 1, model + 1, BYTES - 1);
	assert_int_equal(stats_of(handle).bounces, stats_of(handle).blocks);
	script_close(handle);
}

static void a_failed_copy_fails_the_request_and_leaves_the_file(void **state)
{
	struct swapio *handle = open_device();
	struct swapio_io io = io_of(SWAPIO_WRITE, file_path, -1, 0, device, BYTES);
	struct swapio_result result;
	unsigned char model[BYTES];

	(void)state;
	fill_random(model, BYTES, 6);
	write_file(file_path, model, BYTES);
	copies_left = 0;
	result = finish(handle, start(handle, &io));
	assert_int_equal(result.error, -EREMOTEIO);
	assert_int_equal(result.cause, SWAPIO_CAUSE_DEVICE);
	assert_int_equal(result.bytes, 0);
	assert_file_equal(file_path, model, BYTES);
	io.op = SWAPIO_READ;
	copies_left = 1;
	result = finish(handle, start(handle, &io));
	assert_int_equal(result.error, -EREMOTEIO);
	assert_int_equal(result.bytes, 4096);
	assert_int_equal(result.fail_offset_bytes, 4096);
	copies_left = UINT_MAX;
	assert_int_equal(swapio_read(handle, file_path, 0, device, BYTES, NULL), 0);
	assert_memory_equal(device, model, BYTES);
	script_close(handle);
}

static void is_pinned_asks_the_accelerator(void **state)
{
	struct swapio *handle = open_device();

	(void)state;
	assert_true(swapio_is_pinned(handle, device, 3));
	assert_false(swapio_is_pinned(handle, device, 4));
	script_close(handle);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_host_copies_and_knows_its_pinned_memory),
		cmocka_unit_test(device_memory_goes_through_slots_whatever_its_alignment),
		cmocka_unit_test(a_failed_copy_fails_the_request_and_leaves_the_file),
		cmocka_unit_test(is_pinned_asks_the_accelerator),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
