/* SPDX-License-Identifier: MIT */
/*
 * test_swap_fail.c - a swap that fails or is cancelled at any request leaves the earlier generation
 * whole, says so, and the next swap works. Scripts say which request fails or is held.
 */
#include "script_engine.h"
#include "swap_helpers.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

static const struct swapio_tensor tensors[] = {
	{.size_bytes = sizeof(struct swapio_tensor),
	 .name = "a",
	 .numel = 10000,
	 .element_bytes = 4},
	{.size_bytes = sizeof(struct swapio_tensor),
	 .name = "b",
	 .numel = 5001,
	 .element_bytes = 1},
};
/* 16384, 16384, 4096 and the tail; 4096 and the tail. */
#define PIECES 6u

static struct swapio_group *group;
static struct memory memory, other;

static void set_up(unsigned workers, unsigned threads)
{
	struct swapio_store_options options = store_options(threads);
	struct swapio_options handle_options;

	options.durable = true;
	script_reset();
	swapio_options_init(&handle_options);
	handle_options.workers = workers;
	handle = script_open(&handle_options);
	open_store(&options);
	group = open_group("g", tensors, 2);
	memory_make(&memory, tensors, 2, 0);
	memory_make(&other, tensors, 2, 0);
	memory_fill(&memory, 1);
	swap_out_ok(group, memory.mem);
}

static void tear_down(void)
{
	assert_int_equal(swapio_group_close(group), 0);
	close_store();
	remove_store();
	script_close(handle);
	memory_free(&memory);
	memory_free(&other);
}

/* From the disk, by a group that is opened anew. */
static void assert_stored(uint64_t generation, uint64_t seed)
{
	assert_int_equal(swapio_group_generation(group), generation);
	memory_poison(&other);
	assert_int_equal(swap_in_ok(group, other.mem).generation, generation);
	assert_memory_holds(&other, seed);
	assert_int_equal(swapio_group_close(group), 0);
	group = open_group("g", tensors, 2);
	assert_int_equal(swapio_group_generation(group), generation);
	memory_poison(&other);
	swap_in_ok(group, other.mem);
	assert_memory_holds(&other, seed);
}

/* A swap-out that nothing is wrong with. */
static void swap_out_seed(uint64_t seed)
{
	uint64_t before = swapio_group_generation(group);

	script_anew();
	memory_fill(&memory, seed);
	assert_int_equal(swap_out_ok(group, memory.mem).generation, before + 1);
	assert_stored(before + 1, seed);
}

/* The @n-th request of a swap-out fails. False if it has no so many. */
static bool fail_request(unsigned n, int error, unsigned *failed)
{
	uint64_t seed = 1000 + n, before;
	struct swapio_swap_result result;
	char part[80];
	bool reached;

	swap_out_seed(seed);
	before = swapio_group_generation(group);
	script_anew();
	script.steps[n] = (struct step){STEP_RESULT, error};
	memory_fill(&memory, seed + 1);
	result = run(group, SWAPIO_SWAP_OUT, memory.mem);
	reached = script.accepted > n;
	script_anew();
	if (!result.error) {
		/* What fails behind the commit does not undo it. */
		assert_int_equal(result.generation, before + 1);
		assert_stored(before + 1, seed + 1);
		return reached;
	}
	++*failed;
	assert_int_equal(result.error, error);
	assert_int_equal(result.generation, before);
	snprintf(part, sizeof(part), "; generation %u is still stored", (unsigned)before);
	if (!strstr(result.text, part))
		fail_msg("no \"%s\" in \"%s\"", part, result.text);
	assert_stored(before, seed);
	return true;
}

static void a_failure_at_any_request_keeps_the_earlier_generation(void **state)
{
	const int errors[] = {-EIO, -ENOSPC};

	(void)state;
	for (unsigned workers = 0; workers < 2; workers++)
		for (unsigned e = 0; e < 2; e++) {
			unsigned failed = 0, n = 0;

			set_up(workers, workers);
			while (fail_request(n, errors[e], &failed))
				n++;
			/* Each piece, and at least the manifest. */
			assert_true(failed > PIECES);
			tear_down();
		}
}

static void a_failed_piece_names_its_tensor_and_bytes(void **state)
{
	struct swapio_swap_result result;

	(void)state;
	set_up(0, 0);
	script_anew();
	script.steps[1] = (struct step){STEP_RESULT, -EIO};
	result = run(group, SWAPIO_SWAP_OUT, memory.mem);
	assert_failed(&result, -EIO, SWAPIO_SWAP_IO,
		      "group g, tensor 0 (a): bytes 16384 to 32767 cannot be written: Input/output "
		      "error (device); generation 1 is still stored");
	assert_int_equal(result.tensor, 0);
	assert_int_equal(result.fail_offset_bytes, 16384);
	assert_int_equal(result.fail_length_bytes, 16384);
	script_anew();
	script.steps[3] = (struct step){STEP_RESULT, -ENOSPC};
	result = run(group, SWAPIO_SWAP_OUT, memory.mem);
	assert_failed(
		&result, -ENOSPC, SWAPIO_SWAP_SPACE,
		"group g, tensor 0 (a): bytes 36864 to 39999 cannot be written: No space left "
		"on device (device); generation 1 is still stored");
	assert_int_equal(result.fail_length_bytes, 40000 - 36864);
	script_anew();
	script.steps[5] = (struct step){STEP_RESULT, -EIO};
	result = run(group, SWAPIO_SWAP_IN, memory.mem);
	assert_failed(
		&result, -EIO, SWAPIO_SWAP_IO,
		"group g, tensor 1 (b): bytes 4096 to 5000 cannot be read: Input/output error "
		"(device)");
	assert_int_equal(result.tensor, 1);
	tear_down();
}

/* Events that are short, doubled or of nobody are the engine's users' daily bread. */
static void what_the_request_layer_heals_is_no_failure(void **state)
{
	(void)state;
	set_up(1, 1);
	script_anew();
	script.steps[0] = (struct step){STEP_SHORT, 4096};
	script.steps[2] = (struct step){STEP_TWICE, 0};
	script.steps[3] = (struct step){STEP_UNKNOWN, 0};
	memory_fill(&memory, 2);
	swap_out_ok(group, memory.mem);
	assert_stored(2, 2);
	tear_down();
}

/* Cancelled while the @n-th request is held; false when there is none. */
static bool cancel_at(unsigned n)
{
	uint64_t before = swapio_group_generation(group);
	struct swapio_swap swap = swap_of(group, SWAPIO_SWAP_OUT, memory.mem);
	struct swapio_swap_result result;
	swapio_swap_id id;

	script_anew();
	script.steps[n].kind = STEP_HOLD;
	memory_fill(&memory, 2000 + n);
	id = start_swap(&swap);
	script_await_accepted(n + 1);
	assert_int_equal(swapio_swap_cancel(store, id), 0);
	script_release();
	result = finish_swap(id);
	script_anew();
	if (!result.error) {
		assert_int_equal(result.generation, before + 1);
		assert_stored(before + 1, 2000 + n);
		return false;
	}
	assert_int_equal(result.error, -ECANCELED);
	assert_int_equal(result.cause, SWAPIO_SWAP_CANCELLED);
	assert_int_equal(result.generation, before);
	return true;
}

/* While pieces move it is given up; when the manifest is on its way, it is carried out. */
static void a_swap_out_can_be_cancelled_until_it_commits(void **state)
{
	unsigned n = 0;

	(void)state;
	set_up(1, 1);
	while (cancel_at(n))
		n++;
	assert_int_equal(n, PIECES);
	tear_down();
}

static void a_cancelled_swap_says_so_and_keeps_what_is_stored(void **state)
{
	struct swapio_swap swap;
	struct swapio_swap_result result;
	swapio_swap_id id;

	(void)state;
	/* Without threads nothing of it begins before somebody waits. */
	set_up(0, 0);
	swap = swap_of(group, SWAPIO_SWAP_OUT, memory.mem);
	id = start_swap(&swap);
	assert_int_equal(swapio_swap_cancel(store, id), 0);
	result = finish_swap(id);
	assert_failed(&result, -ECANCELED, SWAPIO_SWAP_CANCELLED,
		      "group g: the swap was cancelled; generation 1 is still stored");
	swap.op = SWAPIO_SWAP_IN;
	id = start_swap(&swap);
	assert_int_equal(swapio_swap_cancel(store, id), 0);
	result = finish_swap(id);
	assert_failed(&result, -ECANCELED, SWAPIO_SWAP_CANCELLED,
		      "group g: the swap was cancelled");
	assert_stored(1, 1);
	tear_down();
}

/* Those behind it in the group go on; one that is over is not cancelled any more. */
static void one_of_several_is_cancelled(void **state)
{
	struct swapio_swap out, in;
	swapio_swap_id ids[4];
	struct swapio_swap_result result;

	(void)state;
	set_up(1, 1);
	script_anew();
	script.steps[0].kind = STEP_HOLD;
	memory_fill(&memory, 5);
	out = swap_of(group, SWAPIO_SWAP_OUT, memory.mem);
	in = swap_of(group, SWAPIO_SWAP_IN, other.mem);
	ids[0] = start_swap(&out);
	script_await_accepted(1);
	ids[1] = start_swap(&out);
	ids[2] = start_swap(&in);
	ids[3] = start_swap(&out);
	assert_int_equal(swapio_swap_cancel(store, ids[1]), 0);
	assert_int_equal(swapio_swap_cancel(store, ids[3]), 0);
	assert_int_equal(finish_swap(ids[1]).error, -ECANCELED);
	script_release();
	result = finish_swap(ids[2]);
	assert_good(&result);
	assert_int_equal(result.generation, 2);
	assert_memory_holds(&other, 5);
	assert_int_equal(swapio_swap_cancel(store, ids[0]), 0);
	result = finish_swap(ids[0]);
	assert_good(&result);
	assert_int_equal(finish_swap(ids[3]).error, -ECANCELED);
	assert_stored(2, 5);
	tear_down();
}

static void a_store_is_not_closed_while_swaps_are_in_flight(void **state)
{
	struct swapio_error error = {0};
	struct swapio_swap swap;
	struct swapio_swap_result result;
	swapio_swap_id id, none;

	(void)state;
	for (unsigned threads = 0; threads < 2; threads++) {
		set_up(1, threads);
		script_anew();
		script.steps[0].kind = STEP_HOLD;
		swap = swap_of(group, SWAPIO_SWAP_OUT, memory.mem);
		id = start_swap(&swap);
		if (threads)
			script_await_accepted(1);
		assert_int_equal(swapio_group_close(group), -EBUSY);
		assert_int_equal(swapio_store_close(store, 0), -EBUSY);
		assert_int_equal(swapio_store_close(store, NS_PER_MS), -EBUSY);
		assert_int_equal(swapio_swap_start(&swap, &error, &none), -ESHUTDOWN);
		assert_string_equal(error.text, "the store is being closed");
		script_release();
		result = finish_swap(id);
		assert_good(&result);
		assert_int_equal(swapio_store_close(store, SWAPIO_FOREVER), -EBUSY);
		tear_down();
	}
}

/* Results that nobody fetched go with the store. */
static void a_store_is_closed_with_results_that_nobody_fetched(void **state)
{
	struct swapio_swap swap;

	(void)state;
	for (unsigned threads = 0; threads < 2; threads++) {
		set_up(1, threads);
		swap = swap_of(group, SWAPIO_SWAP_OUT, memory.mem);
		start_swap(&swap);
		assert_int_equal(swapio_store_close(store, SWAPIO_FOREVER), -EBUSY);
		assert_int_equal(swapio_group_generation(group), 2);
		tear_down();
	}
}

static void a_look_at_a_swap_never_blocks_and_the_next_goes_on(void **state)
{
	struct swapio_swap_result result = {.size_bytes = sizeof(result)};
	struct swapio_swap swap;
	swapio_swap_id id;
	unsigned looks = 0;

	(void)state;
	for (unsigned threads = 0; threads < 2; threads++)
		for (unsigned held = 0; held <= PIECES; held++) {
			set_up(threads, threads);
			script_anew();
			script.steps[held].kind = STEP_HOLD;
			memory_fill(&memory, 6);
			swap = swap_of(group, SWAPIO_SWAP_OUT, memory.mem);
			id = start_swap(&swap);
			for (unsigned i = 0; i < 20; i++)
				assert_int_equal(swapio_swap_wait(store, id, 0, &result),
						 -ETIMEDOUT);
			assert_int_equal(swapio_swap_wait(store, id, NS_PER_MS, &result),
					 -ETIMEDOUT);
			script_release();
			while (swapio_swap_wait(store, id, 0, &result) == -ETIMEDOUT)
				looks++;
			assert_good(&result);
			assert_stored(2, 6);
			tear_down();
		}
}

/* The room of a new volume is asked for before anything moves. */
static void no_room_for_a_volume_is_said_before_anything_moves(void **state)
{
	const struct swapio_tensor large[] = {tensor_of("large", 1 << 20, 1)};
	const struct rlimit small = {.rlim_cur = 1 << 20, .rlim_max = RLIM_INFINITY};
	struct swapio_swap_result result;
	struct swapio_group *larger;
	struct rlimit before;
	struct memory mine;

	(void)state;
	set_up(1, 1);
	larger = open_group("large", large, 1);
	memory_make(&mine, large, 1, 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	script_anew();
	result = run(larger, SWAPIO_SWAP_OUT, mine.mem);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(result.error, -EFBIG);
	assert_int_equal(result.cause, SWAPIO_SWAP_SPACE);
	assert_int_equal(result.bytes, 0);
	assert_non_null(strstr(result.text, "; nothing is stored"));
	assert_int_equal(swapio_group_generation(larger), 0);
	swap_out_ok(larger, mine.mem);
	memory_free(&mine);
	assert_int_equal(swapio_group_close(larger), 0);
	assert_stored(1, 1);
	tear_down();
}

/* Files of stores: a tool that the test runs under has others of its own. */
static unsigned count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	unsigned count = 0;

	assert(dir);
	while ((entry = readdir(dir))) {
		char target[4096] = "";

		if (readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1) > 0 &&
		    strstr(target, "/store"))
			count++;
	}
	closedir(dir);
	return count;
}

/* The volume of a first swap-out is nobody's yet but the swap's. */
static void a_child_of_fork_closes_what_a_swap_in_flight_has_open(void **state)
{
	const unsigned before = count_fds();
	struct swapio_group *first;
	struct swapio_swap_result result;
	struct swapio_swap swap;
	swapio_swap_id id;
	int status;
	pid_t pid;

	(void)state;
	set_up(1, 1);
	first = open_group("first", tensors, 2);
	swap = swap_of(first, SWAPIO_SWAP_OUT, memory.mem);
	script_anew();
	script.steps[0].kind = STEP_HOLD;
	id = start_swap(&swap);
	script_await_accepted(1);
	pid = fork();
	if (pid == 0) {
		assert(swapio_group_close(first) == 0);
		assert(swapio_group_close(group) == 0);
		assert(swapio_store_close(store, 0) == 0);
		_exit(count_fds() == before ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	script_release();
	result = finish_swap(id);
	assert_good(&result);
	assert_int_equal(status, 0);
	assert_int_equal(swapio_group_close(first), 0);
	tear_down();
}

static int copy_fails(struct accel *accel, void *to, const void *from, size_t length_bytes)
{
	(void)accel;
	(void)to;
	(void)from;
	(void)length_bytes;
	return -ENODEV;
}

static void a_copy_that_fails_is_the_swaps_failure(void **state)
{
	struct accel_ops failing_ops = *swapioi_accel_find(NULL)->ops;
	struct accel failing = {.ops = &failing_ops};
	struct swapio_swap_result result;

	(void)state;
	set_up(1, 1);
	failing_ops.copy_to_host = copy_fails;
	failing_ops.copy_from_host = copy_fails;
	handle->accel = &failing;
	result = run(group, SWAPIO_SWAP_OUT, memory.mem);
	assert_failed(&result, -ENODEV, SWAPIO_SWAP_COPY,
		      "group g, tensor 0 (a): bytes 36864 to 39999 cannot be copied to a slot: No "
		      "such device; generation 1 is still stored");
	result = run(group, SWAPIO_SWAP_IN, other.mem);
	assert_failed(
		&result, -ENODEV, SWAPIO_SWAP_COPY,
		"group g, tensor 0 (a): bytes 36864 to 39999 cannot be copied from a slot: No "
		"such device");
	handle->accel = swapioi_accel_find(NULL);
	assert_stored(1, 1);
	tear_down();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_at_any_request_keeps_the_earlier_generation),
		cmocka_unit_test(a_failed_piece_names_its_tensor_and_bytes),
		cmocka_unit_test(what_the_request_layer_heals_is_no_failure),
		cmocka_unit_test(a_swap_out_can_be_cancelled_until_it_commits),
		cmocka_unit_test(a_cancelled_swap_says_so_and_keeps_what_is_stored),
		cmocka_unit_test(one_of_several_is_cancelled),
		cmocka_unit_test(a_store_is_not_closed_while_swaps_are_in_flight),
		cmocka_unit_test(a_store_is_closed_with_results_that_nobody_fetched),
		cmocka_unit_test(a_look_at_a_swap_never_blocks_and_the_next_goes_on),
		cmocka_unit_test(no_room_for_a_volume_is_said_before_anything_moves),
		cmocka_unit_test(a_child_of_fork_closes_what_a_swap_in_flight_has_open),
		cmocka_unit_test(a_copy_that_fails_is_the_swaps_failure),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
