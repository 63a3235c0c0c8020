/* SPDX-License-Identifier: MIT */
/* test_worker.c - several threads on one handle, two handles on one file; nobody waits in vain. */
#include "script_engine.h"

#define THREADS 4
#define ROUNDS 40
#define SHARE 3000u /* bytes of each thread's part: no multiple of a sector */

struct party {
	struct swapio *handle;
	unsigned number;
	unsigned char *buf;
	unsigned char *model; /* of the thread's part */
};

static void run_threads(void *(*function)(void *), struct party *parties, unsigned count)
{
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < count; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, function, &parties[i]), 0);
	for (unsigned i = 0; i < count; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		assert_null(failed);
	}
}

/* Only the main thread may use cmocka's assertions: others tell by what they return. */
#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return (void *)#condition;                                                 \
	} while (0)

static void *write_and_read_own_part(void *arg)
{
	struct party *party = arg;
	uint64_t offset = party->number * SHARE;

	for (unsigned round = 0; round < ROUNDS; round++) {
		fill_random(party->model, SHARE, party->number * 1000 + round);
		memcpy(party->buf, party->model, SHARE);
		EXPECT(swapio_write(party->handle, file_path, offset, party->buf, SHARE, NULL) ==
		       0);
		memset(party->buf, 0, SHARE);
		EXPECT(swapio_read(party->handle, file_path, offset, party->buf, SHARE, NULL) == 0);
		EXPECT(memcmp(party->buf, party->model, SHARE) == 0);
	}
	return NULL;
}

static void neighbours(unsigned workers, unsigned handles)
{
	struct swapio_options options = script_options(workers);
	struct party parties[THREADS];
	struct swapio *opened[THREADS];
	unsigned char model[THREADS * SHARE];

	options.bounce_slots = 1;
	unlink(file_path);
	for (unsigned i = 0; i < handles; i++)
		opened[i] = open_handle(&options);
	for (unsigned i = 0; i < THREADS; i++) {
		parties[i] = (struct party){.handle = opened[i % handles], .number = i};
		parties[i].buf = alloc_buffer(parties[i].handle, SHARE);
		parties[i].model = model + i * SHARE;
	}
	run_threads(write_and_read_own_part, parties, THREADS);
	assert_file_equal(file_path, model, sizeof(model));
	for (unsigned i = 0; i < handles; i++)
		close_handle(opened[i]);
}

static void threads_on_one_handle_keep_their_shared_sectors(void **state)
{
	(void)state;
	for (unsigned workers = 0; workers < 4; workers++)
		neighbours(workers, 1);
}

static void threads_on_their_own_handles_keep_their_shared_sectors(void **state)
{
	(void)state;
	neighbours(0, THREADS);
	neighbours(1, THREADS);
	neighbours(2, 2);
}

static void *submit_many(void *arg)
{
	struct party *party = arg;
	struct swapio_io io = io_of(SWAPIO_READ, file_path, -1, 0, party->buf, 4096);

	for (unsigned i = 0; i < ROUNDS; i++) {
		swapio_id id;

		EXPECT(swapio_submit(party->handle, &io, NULL, &id) == 0);
	}
	return NULL;
}

/* Threads take whatever ended first, whoever started it. */
static void *fetch_many(void *arg)
{
	struct party *party = arg;
	struct swapio_result result;

	for (unsigned i = 0; i < ROUNDS;) {
		int count = swapio_wait_some(party->handle, 1, 1, SWAPIO_FOREVER, &result);

		EXPECT(count >= 0);
		EXPECT(!count || result.error == 0);
		i += (unsigned)count;
	}
	return NULL;
}

static void *submit_or_fetch(void *arg)
{
	struct party *party = arg;

	return party->number % 2 ? fetch_many(party) : submit_many(party);
}

static void submitters_and_waiters_do_not_block_each_other(void **state)
{
	(void)state;
	for (unsigned workers = 0; workers < 3; workers++) {
		struct swapio_options options = script_options(workers);
		struct party parties[THREADS];
		struct swapio *handle = open_handle(&options);

		for (unsigned i = 0; i < THREADS; i++)
			parties[i] = (struct party){
				.handle = handle, .number = i, .buf = alloc_buffer(handle, 4096)};
		write_file(file_path, parties[0].buf, 4096);
		run_threads(submit_or_fetch, parties, THREADS);
		assert_int_equal(swapio_pending(handle), 0);
		close_handle(handle);
	}
}

static swapio_id waited_for;

static void *wait_for_one(void *arg)
{
	struct party *party = arg;
	struct swapio_result result;

	EXPECT(swapio_wait(party->handle, waited_for, SWAPIO_FOREVER, &result) == 0);
	EXPECT(result.error == -ECANCELED);
	return NULL;
}

/* All blocks wait for a lock that another handle holds, so the driving caller sleeps. */
static void a_cancel_wakes_a_caller_that_sleeps_as_driver(void **state)
{
	struct swapio_options options = script_options(0);
	struct swapio *holder, *waiter;
	struct party party;
	struct swapio_io io;
	swapio_id held;
	pthread_t thread;
	void *failed;

	(void)state;
	script_reset();
	script.steps[0].kind = STEP_HOLD;
	holder = script_open(&options);
	waiter = script_open(&options);
	party = (struct party){.handle = waiter, .buf = alloc_buffer(waiter, 4096)};
	write_file(file_path, party.buf, 4096);
	io = io_of(SWAPIO_WRITE, file_path, -1, 10, party.buf, 100);
	held = start(holder, &io);
	io.offset_bytes = 200;
	waited_for = start(waiter, &io);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_one, &party), 0);
	for (bool asleep = false; !asleep;) {
		pthread_mutex_lock(&waiter->lock);
		asleep = waiter->queues[0].asleep;
		pthread_mutex_unlock(&waiter->lock);
	}
	assert_int_equal(swapio_cancel(waiter, waited_for), 0);
	pthread_join(thread, &failed);
	assert_null(failed);
	script_release();
	assert_int_equal(finish(holder, held).error, 0);
	close_handle(waiter);
	script_close(holder);
}

static void *wait_own(void *arg)
{
	struct party *party = arg;
	struct swapio_io io = io_of(SWAPIO_WRITE, file_path, -1, 0, party->buf, 100);
	struct swapio_result result;
	swapio_id id;

	io.offset_bytes = party->number * 100;
	for (unsigned i = 0; i < ROUNDS; i++) {
		EXPECT(swapio_submit(party->handle, &io, NULL, &id) == 0);
		if ((i + party->number) % 5 == 0)
			EXPECT(swapio_cancel(party->handle, id) == 0);
		while (swapio_wait(party->handle, id, NS_PER_MS, &result) == -ETIMEDOUT)
			continue;
		EXPECT(result.error == 0 || result.error == -ECANCELED);
	}
	return NULL;
}

static void cancels_and_short_deadlines_pass_the_drive_on(void **state)
{
	(void)state;
	for (unsigned workers = 0; workers < 3; workers++) {
		struct swapio_options options = script_options(workers);
		struct party parties[THREADS];
		struct swapio *handle = open_handle(&options);

		for (unsigned i = 0; i < THREADS; i++)
			parties[i] = (struct party){
				.handle = handle, .number = i, .buf = alloc_buffer(handle, 4096)};
		run_threads(wait_own, parties, THREADS);
		close_handle(handle);
	}
}

/* A worker whose blocks all wait for a lock must not swallow the wake-up of a block. */
static void a_worker_with_room_is_woken_when_another_has_none(void **state)
{
	struct swapio_options options = script_options(2);
	struct swapio_result result;
	struct swapio *holder, *handle;
	struct swapio_io io;
	unsigned char *buf;
	swapio_id held, parked[2];

	(void)state;
	script_reset();
	script.steps[0].kind = STEP_HOLD;
	options.queue_depth = 1;
	holder = script_open(&options);
	handle = script_open(&options);
	buf = alloc_buffer(handle, 4 * 4096);
	write_file(file_path, buf, 4 * 4096);
	io = io_of(SWAPIO_WRITE, file_path, -1, 10, buf, 100);
	held = start(holder, &io);
	script_await_accepted(1);
	for (unsigned i = 0; i < 2; i++)
		parked[i] = start(handle, &io);
	for (unsigned i = 0; i < 20; i++) {
		io = io_of(SWAPIO_READ, file_path, -1, 8192, buf + 8192, 4096);
		assert_int_equal(finish(handle, start(handle, &io)).error, 0);
	}
	assert_int_equal(swapio_wait(handle, parked[0], 0, &result), -ETIMEDOUT);
	script_release();
	assert_int_equal(finish(holder, held).error, 0);
	assert_int_equal(finish(handle, parked[0]).error, 0);
	assert_int_equal(finish(handle, parked[1]).error, 0);
	close_handle(handle);
	script_close(holder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_on_one_handle_keep_their_shared_sectors),
		cmocka_unit_test(threads_on_their_own_handles_keep_their_shared_sectors),
		cmocka_unit_test(submitters_and_waiters_do_not_block_each_other),
		cmocka_unit_test(a_cancel_wakes_a_caller_that_sleeps_as_driver),
		cmocka_unit_test(cancels_and_short_deadlines_pass_the_drive_on),
		cmocka_unit_test(a_worker_with_room_is_woken_when_another_has_none),
	};

	return cmocka_run_group_tests(tests, scratch_create, scratch_remove);
}
