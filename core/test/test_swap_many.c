/* SPDX-License-Identifier: MIT */
/*
 * test_swap_many.c - many swaps at once: those of one group in their order, those of different
 * groups beside each other, from several threads, beside the owner's own requests; nothing leaks.
 */
#include "script_engine.h"
#include "swap_helpers.h"

static const struct swapio_tensor tensors[] = {
	{.size_bytes = sizeof(struct swapio_tensor),
	 .name = "a",
	 .numel = 5000,
	 .element_bytes = 4},
	{.size_bytes = sizeof(struct swapio_tensor), .name = "b", .numel = 3, .element_bytes = 4},
};

static void swaps_of_a_group_happen_in_the_order_of_their_start(void **state)
{
	const unsigned threads[] = {0, 1, 4};

	(void)state;
	for (unsigned t = 0; t < 3; t++) {
		struct memory out[8], in[8];
		swapio_swap_id out_ids[8], in_ids[8];
		struct swapio_group *group;

		begin(1, threads[t]);
		group = open_group("g", tensors, 2);
		for (unsigned i = 0; i < 8; i++) {
			struct swapio_swap swap;

			memory_make(&out[i], tensors, 2, i % 2);
			memory_make(&in[i], tensors, 2, 0);
			memory_fill(&out[i], i);
			swap = swap_of(group, SWAPIO_SWAP_OUT, out[i].mem);
			out_ids[i] = start_swap(&swap);
			swap = swap_of(group, SWAPIO_SWAP_IN, in[i].mem);
			swap.generation = i + 1;
			swap.tag = i;
			in_ids[i] = start_swap(&swap);
		}
		/* Fetched in the opposite order. */
		for (unsigned i = 8; i-- > 0;) {
			struct swapio_swap_result result = finish_swap(in_ids[i]);

			assert_good(&result);
			assert_int_equal(result.generation, i + 1);
			assert_int_equal(result.tag, i);
			assert_memory_holds(&in[i], i);
			assert_int_equal(finish_swap(out_ids[i]).generation, i + 1);
			memory_free(&out[i]);
			memory_free(&in[i]);
		}
		assert_int_equal(swapio_group_close(group), 0);
		end();
	}
}

/* One is held at the device; the other is carried out meanwhile. */
static void swaps_of_two_groups_overlap(void **state)
{
	struct swapio_store_options options = store_options(2);
	struct swapio_options handle_options;
	struct swapio_swap_result result = {.size_bytes = sizeof(result)};
	struct swapio_group *held, *free_one;
	struct swapio_swap swap;
	struct memory memory;
	swapio_swap_id id;

	(void)state;
	script_reset();
	swapio_options_init(&handle_options);
	handle = script_open(&handle_options);
	open_store(&options);
	held = open_group("held", tensors, 2);
	free_one = open_group("free", tensors, 2);
	memory_make(&memory, tensors, 2, 0);
	memory_fill(&memory, 1);
	script.steps[script.accepted].kind = STEP_HOLD;
	swap = swap_of(held, SWAPIO_SWAP_OUT, memory.mem);
	id = start_swap(&swap);
	script_await_accepted(1);
	swap_out_ok(free_one, memory.mem);
	swap_in_ok(free_one, memory.mem);
	assert_int_equal(swapio_swap_wait(store, id, 0, &result), -ETIMEDOUT);
	script_release();
	result = finish_swap(id);
	assert_good(&result);
	assert_int_equal(swapio_group_close(held), 0);
	assert_int_equal(swapio_group_close(free_one), 0);
	close_store();
	remove_store();
	script_close(handle);
	memory_free(&memory);
}

/* A thread of the test swaps its own group again and again. */
struct swapper {
	unsigned number, rounds;
	const char *failed; /* what did not hold; NULL: all did */
};

#define EXPECT(swapper, condition)                                                                 \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			(swapper)->failed = #condition;                                            \
			return;                                                                    \
		}                                                                                  \
	} while (0)

static void swap_rounds(struct swapper *swapper, struct swapio_group *group, unsigned char *mine,
			unsigned char *back)
{
	void *out[] = {mine, mine + 20000}, *in[] = {back, back + 20000};

	for (unsigned i = 0; i < swapper->rounds; i++) {
		fill_random(mine, 20012, swapper->number * 1000 + i);
		memset(back, POISON, 20012);
		EXPECT(swapper, swapio_swap_out(group, out, NULL) == 0);
		EXPECT(swapper, swapio_swap_in(group, in, NULL) == 0);
		EXPECT(swapper, memcmp(mine, back, 20012) == 0);
		EXPECT(swapper, swapio_group_generation(group) == i + 1);
	}
}

static void *swapper_main(void *arg)
{
	struct swapper *swapper = arg;
	unsigned char *mine = malloc(20012), *back = malloc(20012);
	struct swapio_group *group;
	char name[16];

	snprintf(name, sizeof(name), "g%u", swapper->number);
	if (!mine || !back || swapio_group_open(store, name, tensors, 2, NULL, &group) < 0) {
		swapper->failed = "the group is open";
	} else {
		swap_rounds(swapper, group, mine, back);
		if (swapio_group_close(group) < 0)
			swapper->failed = "the group is closed";
	}
	free(mine);
	free(back);
	return NULL;
}

static void many_threads_swap_at_once(void **state)
{
	const unsigned threads[] = {0, 1, 4};

	(void)state;
	for (unsigned workers = 0; workers < 2; workers++)
		for (unsigned t = 0; t < 3; t++) {
			struct swapio_store_options options = store_options(threads[t]);
			struct swapper swappers[5];
			pthread_t ids[5];

			begin_with(workers, &options);
			for (unsigned i = 0; i < 5; i++) {
				swappers[i] = (struct swapper){.number = i, .rounds = 10};
				assert_int_equal(pthread_create(&ids[i], NULL, swapper_main,
								&swappers[i]),
						 0);
			}
			for (unsigned i = 0; i < 5; i++) {
				pthread_join(ids[i], NULL);
				if (swappers[i].failed)
					fail_msg("not true: %s", swappers[i].failed);
			}
			end();
		}
}

static void *swap_once(void *arg)
{
	struct swapio_swap_result *result = arg;

	if (swapio_swap_wait(store, result->id, SWAPIO_FOREVER, result) < 0)
		result->error = -ESRCH;
	return NULL;
}

/* Without threads one of those that wait carries swaps out, and hands over when it leaves. */
static void callers_that_wait_carry_out_each_others_swaps(void **state)
{
	struct swapio_swap_result results[4];
	struct swapio_group *groups[4];
	struct memory memories[4];
	pthread_t threads[4];

	(void)state;
	begin(1, 0);
	for (unsigned i = 0; i < 4; i++) {
		char name[8];
		struct swapio_swap swap;

		snprintf(name, sizeof(name), "g%u", i);
		groups[i] = open_group(name, tensors, 2);
		memory_make(&memories[i], tensors, 2, 0);
		memory_fill(&memories[i], i);
		swap = swap_of(groups[i], SWAPIO_SWAP_OUT, memories[i].mem);
		results[i] = (struct swapio_swap_result){.size_bytes = sizeof(*results)};
		results[i].id = start_swap(&swap);
	}
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, swap_once, &results[i]), 0);
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_good(&results[i]);
		memory_poison(&memories[i]);
		swap_in_ok(groups[i], memories[i].mem);
		assert_memory_holds(&memories[i], i);
		memory_free(&memories[i]);
		assert_int_equal(swapio_group_close(groups[i]), 0);
	}
	end();
}

static void *look_for_a_while(void *arg)
{
	struct swapio_swap_result result = {.size_bytes = sizeof(result)};

	return swapio_swap_wait(store, *(swapio_swap_id *)arg, 50 * NS_PER_MS, &result) ==
			       -ETIMEDOUT
		       ? NULL
		       : arg;
}

/* Who carries a swap out and gives up waiting leaves it to another who waits. */
static void a_caller_that_gives_up_hands_over(void **state)
{
	const struct swapio_store_options options = store_options(0);
	struct swapio_options handle_options;
	struct swapio_swap_result results[2];
	struct swapio_group *group;
	struct swapio_swap swap;
	struct memory memory;
	pthread_t impatient, patient;
	void *failed;

	(void)state;
	script_reset();
	swapio_options_init(&handle_options);
	handle_options.workers = 0;
	handle = script_open(&handle_options);
	open_store(&options);
	group = open_group("g", tensors, 2);
	memory_make(&memory, tensors, 2, 0);
	memory_fill(&memory, 1);
	pthread_mutex_lock(&script.lock);
	script.steps[script.accepted].kind = STEP_HOLD;
	pthread_mutex_unlock(&script.lock);
	swap = swap_of(group, SWAPIO_SWAP_OUT, memory.mem);
	for (unsigned i = 0; i < 2; i++) {
		results[i] = (struct swapio_swap_result){.size_bytes = sizeof(results[i])};
		results[i].id = start_swap(&swap);
	}
	assert_int_equal(pthread_create(&impatient, NULL, look_for_a_while, &results[0].id), 0);
	script_await_accepted(1);
	assert_int_equal(pthread_create(&patient, NULL, swap_once, &results[1]), 0);
	pthread_join(impatient, &failed);
	assert_null(failed);
	script_release();
	pthread_join(patient, NULL);
	assert_good(&results[1]);
	assert_int_equal(results[1].generation, 2);
	assert_int_equal(finish_swap(results[0].id).generation, 1);
	memory_free(&memory);
	assert_int_equal(swapio_group_close(group), 0);
	close_store();
	remove_store();
	script_close(handle);
}

/* The owner fetches whatever is over while the @n-th request of a swap is held. */
static void fetch_while_held(struct swapio_group *group, struct memory *memory, unsigned n)
{
	struct swapio_swap swap = swap_of(group, SWAPIO_SWAP_OUT, memory->mem);
	unsigned char *buf = alloc_buffer(handle, 4096);
	struct swapio_io io = io_of(SWAPIO_READ, file_path, -1, 0, buf, 4096);
	struct swapio_swap_result swapped;
	struct swapio_result mine[2];
	swapio_swap_id id;

	script_anew();
	script.steps[n].kind = STEP_HOLD;
	id = start_swap(&swap);
	script_await_accepted(n + 1);
	io.tag = 99;
	start(handle, &io);
	assert_int_equal(swapio_pending(handle), 1);
	assert_int_equal(swapio_wait_some(handle, 2, 2, SWAPIO_FOREVER, mine), 1);
	assert_int_equal(mine[0].tag, 99);
	script_release();
	swapped = finish_swap(id);
	assert_good(&swapped);
	assert_int_equal(swapio_wait_some(handle, 1, 2, 0, mine), 0);
	assert_int_equal(swapio_buffer_free(handle, buf), 0);
}

/* Three pieces, the manifest and the seal. */
static void the_owners_own_requests_and_the_stores_do_not_meet(void **state)
{
	const struct swapio_store_options options = store_options(1);
	struct swapio_options handle_options;
	struct swapio_group *group;
	struct memory memory;

	(void)state;
	script_reset();
	swapio_options_init(&handle_options);
	handle = script_open(&handle_options);
	open_store(&options);
	write_file(file_path, (const unsigned char *)file_path, 300);
	assert_int_equal(truncate(file_path, 4096), 0);
	group = open_group("g", tensors, 2);
	memory_make(&memory, tensors, 2, 0);
	memory_fill(&memory, 1);
	swap_out_ok(group, memory.mem);
	for (unsigned n = 0; n < 5; n++)
		fetch_while_held(group, &memory, n);
	memory_free(&memory);
	assert_int_equal(swapio_group_close(group), 0);
	close_store();
	remove_store();
	script_close(handle);
}

/* More tensors than requests that may be pending. */
static void a_thousand_tensors_are_one_swap(void **state)
{
	static struct swapio_tensor many[1000];
	static char names[1000][8];
	static unsigned char mine[1000][512], back[1000][512];
	static void *out[1000], *in[1000];
	struct swapio_options handle_options;
	struct swapio_store_options options = store_options(2);
	struct swapio_group *group;

	(void)state;
	swapio_options_init(&handle_options);
	handle_options.requests_max = 8;
	handle = open_handle(&handle_options);
	open_store(&options);
	for (unsigned i = 0; i < 1000; i++) {
		snprintf(names[i], sizeof(names[i]), "t%u", i);
		many[i] = tensor_of(names[i], i % 512, 1);
		fill_random(mine[i], 512, i);
		out[i] = mine[i];
		in[i] = back[i];
	}
	group = open_group("many", many, 1000);
	swap_out_ok(group, out);
	swap_in_ok(group, in);
	for (unsigned i = 0; i < 1000; i++)
		assert_memory_equal(mine[i], back[i], i % 512);
	assert_int_equal(swapio_group_close(group), 0);
	end();
}

static void more_threads_than_requests_are_refused(void **state)
{
	struct swapio_store_options options = store_options(2);
	struct swapio_options handle_options;
	struct swapio_error error = {0};

	(void)state;
	swapio_options_init(&handle_options);
	handle_options.requests_max = 1;
	handle = open_handle(&handle_options);
	snprintf(store_path, sizeof(store_path), "%s/store", scratch_dir);
	assert_int_equal(swapio_store_open(handle, store_path, &options, &error, &store), -EINVAL);
	assert_string_equal(error.text,
			    "threads is 2, allowed with the handle's requests_max: 0 to 1");
	options.threads = 1;
	open_store(&options);
	end();
}

/* The owner has every request that there can be: the swap says so instead of waiting for him. */
static void an_owner_who_leaves_no_request_makes_swaps_fail(void **state)
{
	struct swapio_options handle_options;
	struct swapio_store_options options = store_options(1);
	struct swapio_swap_result result;
	struct swapio_group *group;
	struct swapio_io io;
	struct memory memory;
	swapio_id ids[2];
	unsigned char *buf;

	(void)state;
	swapio_options_init(&handle_options);
	handle_options.requests_max = 2;
	handle = open_handle(&handle_options);
	open_store(&options);
	group = open_group("g", tensors, 2);
	memory_make(&memory, tensors, 2, 0);
	swap_out_ok(group, memory.mem);
	buf = alloc_buffer(handle, 4096);
	write_file(file_path, buf, 4096);
	io = io_of(SWAPIO_READ, file_path, -1, 0, buf, 4096);
	ids[0] = start(handle, &io);
	ids[1] = start(handle, &io);
	result = run(group, SWAPIO_SWAP_OUT, memory.mem);
	assert_failed(
		&result, -EAGAIN, SWAPIO_SWAP_IO,
		"group g, tensor 0 (a): bytes 0 to 16383 cannot be written: 2 requests are "
		"pending, as many as requests_max allows: fetch results first; generation 1 is "
		"still stored");
	finish(handle, ids[0]);
	finish(handle, ids[1]);
	assert_int_equal(swap_out_ok(group, memory.mem).generation, 2);
	memory_free(&memory);
	assert_int_equal(swapio_group_close(group), 0);
	end();
}

static unsigned count_entries(const char *path)
{
	DIR *dir = opendir(path);
	unsigned count = 0;

	assert_non_null(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* A line of /proc/self/status, in KiB. */
static unsigned long status_kib(const char *key)
{
	FILE *file = fopen("/proc/self/status", "r");
	unsigned long value = 0;
	char line[200];

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		if (strncmp(line, key, strlen(key)) == 0)
			value = strtoul(line + strlen(key) + 1, NULL, 10);
	fclose(file);
	return value;
}

/* Memory of the handle, which would go unnoticed until it is closed. */
static unsigned count_buffers(void)
{
	unsigned count = 0;

	for (struct list *link = handle->buffers.next; link != &handle->buffers; link = link->next)
		count++;
	return count;
}

static void a_thousand_swaps_leak_nothing(void **state)
{
	struct swapio_store_options options = store_options(1);
	unsigned long locked = 0, pinned = 0;
	unsigned fds = 0, threads = 0;

	(void)state;
	options.slot_bytes = 32768;
	begin_with(1, &options);
	for (unsigned i = 0; i < 1000; i++) {
		struct swapio_group *group = open_group("g", tensors, 2);
		unsigned char byte[20012] = {0};
		void *out[] = {byte, byte + 20000}, *in[] = {NULL, NULL};
		struct swapio_swap swap = swap_of(group, SWAPIO_SWAP_IN, in);
		swapio_swap_id id;

		swap_out_ok(group, out);
		swap.generation = i % 2; /* every other one is refused but the first */
		id = start_swap(&swap);
		if (i % 3 == 0)
			swapio_swap_cancel(store, id);
		finish_swap(id);

		for (unsigned j = 0; j < 2; j++)
			assert_int_equal(swapio_slot_release(store, in[j]), 0);
		assert_int_equal(swapio_group_close(group), 0);
		if (i != 100)
			continue;
		fds = count_entries("/proc/self/fd");
		threads = count_entries("/proc/self/task");
		locked = status_kib("VmLck");
		pinned = status_kib("VmPin");
	}
	assert_int_equal(count_entries("/proc/self/fd"), fds);
	assert_int_equal(count_entries("/proc/self/task"), threads);
	assert_int_equal(status_kib("VmLck"), locked);
	assert_int_equal(status_kib("VmPin"), pinned);
	assert_int_equal(count_buffers(), 0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(swaps_of_a_group_happen_in_the_order_of_their_start),
		cmocka_unit_test(swaps_of_two_groups_overlap),
		cmocka_unit_test(many_threads_swap_at_once),
		cmocka_unit_test(callers_that_wait_carry_out_each_others_swaps),
		cmocka_unit_test(a_caller_that_gives_up_hands_over),
		cmocka_unit_test(the_owners_own_requests_and_the_stores_do_not_meet),
		cmocka_unit_test(a_thousand_tensors_are_one_swap),
		cmocka_unit_test(more_threads_than_requests_are_refused),
		cmocka_unit_test(an_owner_who_leaves_no_request_makes_swaps_fail),
		cmocka_unit_test(a_thousand_swaps_leak_nothing),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
