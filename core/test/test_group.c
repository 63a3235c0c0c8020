/* SPDX-License-Identifier: MIT */
/* test_group.c - groups are opened once, by what they hold; what cannot be is refused in words. */
#include "swap_helpers.h"

#include <sys/wait.h>

static const struct swapio_tensor one[] = {
	{.size_bytes = sizeof(struct swapio_tensor), .name = "a", .numel = 10, .element_bytes = 4},
};

static int setup(void **state)
{
	(void)state;
	begin(1, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	end();
	return 0;
}

static void assert_refused(const char *name, const struct swapio_tensor *tensors, unsigned count,
			   int error_code, const char *part)
{
	struct swapio_group *group = (void *)&group, *before = group;
	struct swapio_error error = {0};

	assert_int_equal(swapio_group_open(store, name, tensors, count, &error, &group),
			 error_code);
	assert_int_equal(error.code, error_code);
	if (!strstr(error.text, part))
		fail_msg("no \"%s\" in \"%s\"", part, error.text);
	assert_ptr_equal(group, before);
	assert_int_equal(swapio_group_open(store, name, tensors, count, NULL, &group), error_code);
}

static void a_group_is_open_once_at_a_time(void **state)
{
	struct swapio_group *group = open_group("g", one, 1), *other;

	(void)state;
	assert_refused("g", one, 1, -EBUSY, "group g is open already");
	other = open_group("h", one, 1);
	assert_int_equal(swapio_group_close(other), 0);
	assert_int_equal(swapio_group_close(group), 0);
	group = open_group("g", one, 1);
	assert_int_equal(swapio_group_generation(group), 0);
	assert_int_equal(swapio_group_close(group), 0);
	assert_int_equal(swapio_group_close(NULL), 0);
}

static void names_are_1_to_1023_bytes(void **state)
{
	char name[SWAPIO_NAME_BYTES_MAX + 2];

	(void)state;
	memset(name, 'n', sizeof(name));
	name[SWAPIO_NAME_BYTES_MAX + 1] = '\0';
	assert_refused(NULL, one, 1, -EINVAL, "0 bytes, allowed: 1 to 1023");
	assert_refused("", one, 1, -EINVAL, "0 bytes, allowed: 1 to 1023");
	assert_refused(name, one, 1, -EINVAL, "1024 bytes, allowed: 1 to 1023");
	name[SWAPIO_NAME_BYTES_MAX] = '\0';
	assert_int_equal(swapio_group_close(open_group(name, one, 1)), 0);
	assert_int_equal(swapio_group_close(open_group("/../\n", one, 1)), 0);
}

static void tensors_that_cannot_be_are_refused_by_name_and_value(void **state)
{
	struct swapio_tensor bad = one[0];

	(void)state;
	assert_refused("g", one, 0, -EINVAL, "0");
	assert_refused("g", one, SWAPIO_TENSORS_MAX + 1, -EINVAL, "65537");
	bad.element_bytes = 65;
	assert_refused("g", &bad, 1, -EINVAL, "65");
	bad = one[0];
	bad.numel = (UINT64_C(1) << 56) / 4 + 1;
	assert_refused("g", &bad, 1, -EINVAL, "18014398509481985");
	bad = one[0];
	bad.size_bytes = 1;
	assert_refused("g", &bad, 1, -EINVAL, "size_bytes");
	bad = one[0];
	bad.name = "";
	assert_refused("g", &bad, 1, -EINVAL, "name");
}

/* A refused group does not stay taken. */
static void a_refused_name_can_be_opened_then(void **state)
{
	struct swapio_tensor bad = one[0];

	(void)state;
	bad.element_bytes = 0;
	assert_refused("g", &bad, 1, -EINVAL, "element_bytes");
	assert_int_equal(swapio_group_close(open_group("g", one, 1)), 0);
}

static void a_store_stays_while_a_group_is_open(void **state)
{
	struct swapio_group *group = open_group("g", one, 1);

	(void)state;
	assert_int_equal(swapio_store_close(store, 0), -EBUSY);
	assert_int_equal(swapio_group_close(group), 0);
}

static void child_uses_what_is_the_parents(struct swapio_group *group)
{
	struct swapio_swap_result result = {.size_bytes = sizeof(result)};
	struct swapio_group *none = NULL;
	void *mem[1] = {&result};
	const struct swapio_swap swap = swap_of(group, SWAPIO_SWAP_OUT, mem);
	struct swapio_error error = {0};
	swapio_swap_id id;

	assert(swapio_group_open(store, "h", one, 1, &error, &none) == -ECHILD);
	assert(strstr(error.text, "fork"));
	assert(swapio_swap_start(&swap, NULL, &id) == -ECHILD);
	assert(swapio_swap_wait(store, 1, 0, &result) == -ECHILD);
	assert(swapio_swap_cancel(store, 1) == -ECHILD);
	assert(swapio_slot_release(store, mem) == -ECHILD);
	assert(swapio_group_generation(group) == 0);
	assert(swapio_group_close(group) == 0);
	assert(swapio_store_close(store, 0) == 0);
	assert(swapio_close(handle, 0) == 0);
	_exit(0);
}

static void a_child_of_fork_only_forgets(void **state)
{
	struct swapio_group *group = open_group("g", one, 1);
	unsigned char mem[40] = {0};
	void *array[] = {mem};
	int status;
	pid_t pid;

	(void)state;
	swap_out_ok(group, array);
	pid = fork();
	if (pid == 0)
		child_uses_what_is_the_parents(group);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(swap_out_ok(group, array).generation, 2);
	assert_int_equal(swapio_group_close(group), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_group_is_open_once_at_a_time),
		CASE(names_are_1_to_1023_bytes),
		CASE(tensors_that_cannot_be_are_refused_by_name_and_value),
		CASE(a_refused_name_can_be_opened_then),
		CASE(a_store_stays_while_a_group_is_open),
		CASE(a_child_of_fork_only_forgets),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
