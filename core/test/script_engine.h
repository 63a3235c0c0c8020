/* SPDX-License-Identifier: MIT */
/*
 * script_engine.h - an engine for tests that does what a script says: it moves bytes with pread and
 * pwrite when an event is delivered, and answers as told. Also watches how it is used.
 */
#ifndef TEST_SCRIPT_ENGINE_H
#define TEST_SCRIPT_ENGINE_H

#include <limits.h>
#include <stdatomic.h>

#include "deadline.h"
#include "handle.h"
#include "helpers.h"

/* What happens to a request; without a step it succeeds. */
enum step_kind {
	STEP_FULL,    /* moves and reports everything */
	STEP_SHORT,   /* moves and reports value bytes, if that is less */
	STEP_LIE,     /* moves everything, reports value bytes */
	STEP_RESULT,  /* moves nothing, reports value */
	STEP_HOLD,    /* not delivered before script_release() */
	STEP_TWICE,   /* delivered twice, the second time in a later wait */
	STEP_UNKNOWN, /* before it come events of nobody */
};

struct step {
	enum step_kind kind;
	int64_t value;
};

#define SCRIPT_STEPS 64
#define SCRIPT_EXTRAS 16
#define SCRIPT_PASS INT_MAX /* a call does what it would do anyway */

struct script {
	struct step steps[SCRIPT_STEPS]; /* of the n-th request accepted */
	int submits[SCRIPT_STEPS];	 /* what the n-th submit accepts, or -errno */
	int submits_after;		 /* the same for all further ones */
	int waits[SCRIPT_STEPS]; /* how many events the n-th wait delivers at most, or -errno */
	int waits_after;
	int creates[4]; /* what the n-th create returns */

	/* Seen. */
	unsigned accepted, submit_calls, wait_calls, create_calls, destroy_calls, forget_calls;
	unsigned waits_min[SCRIPT_STEPS];
	unsigned batch_max; /* largest count of one submit */
	unsigned depth;	    /* of the engine made last */
	bool overasked;	    /* a wait asked for more than is in flight */
	bool shared;	    /* two threads were inside one engine */
	bool released;
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

struct flight {
	bool used, held;
	struct step step;
	struct engine_io io;
};

struct engine {
	unsigned depth, in_flight;
	atomic_flag busy;
	struct flight *flights; /* by index of the io */
	unsigned count;
	struct engine_event extras[SCRIPT_EXTRAS];
	unsigned extras_count;
};

static struct script script;

static inline void script_reset(void)
{
	pthread_condattr_t monotonic;

	memset(&script, 0, sizeof(script));
	for (unsigned i = 0; i < SCRIPT_STEPS; i++)
		script.submits[i] = script.waits[i] = SCRIPT_PASS;
	script.submits_after = script.waits_after = SCRIPT_PASS;
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_mutex_init(&script.lock, NULL);
	pthread_cond_init(&script.changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
}

/* Count requests from here on; nothing of the script is left, and nothing is in flight. */
static inline void script_anew(void)
{
	pthread_mutex_lock(&script.lock);
	memset(script.steps, 0, sizeof(script.steps));
	script.accepted = 0;
	script.released = false;
	pthread_mutex_unlock(&script.lock);
}

/* Held requests complete from now on. */
static inline void script_release(void)
{
	pthread_mutex_lock(&script.lock);
	script.released = true;
	pthread_cond_broadcast(&script.changed);
	pthread_mutex_unlock(&script.lock);
}

/* Until so many requests were accepted; the test's time limit ends a wait in vain. */
static inline void script_await_accepted(unsigned count)
{
	pthread_mutex_lock(&script.lock);
	while (script.accepted < count)
		pthread_cond_wait(&script.changed, &script.lock);
	pthread_mutex_unlock(&script.lock);
}

static inline void script_enter(struct engine *engine)
{
	if (atomic_flag_test_and_set(&engine->busy))
		script.shared = true;
	pthread_mutex_lock(&script.lock);
}

static inline void script_leave(struct engine *engine)
{
	pthread_mutex_unlock(&script.lock);
	atomic_flag_clear(&engine->busy);
}

static int script_create(unsigned depth, unsigned count, struct engine **ret_engine)
{
	unsigned call = script.create_calls++;
	struct engine *engine;

	if (call < 4 && script.creates[call])
		return script.creates[call];
	engine = calloc(1, sizeof(*engine));
	assert_non_null(engine);
	engine->flights = calloc(count, sizeof(*engine->flights));
	assert_non_null(engine->flights);
	engine->depth = script.depth = depth;
	engine->count = count;
	*ret_engine = engine;
	return 0;
}

static void script_free(struct engine *engine)
{
	free(engine->flights);
	free(engine);
}

static void script_destroy(struct engine *engine)
{
	script.destroy_calls++;
	script_free(engine);
}

static void script_forget(struct engine *engine)
{
	script.forget_calls++;
	script_free(engine);
}

static void script_accept(struct engine *engine, const struct engine_io *io)
{
	struct flight *flight = &engine->flights[io->index];
	unsigned number = script.accepted++;

	assert_true(io->index < engine->count);
	assert_false(flight->used);
	assert_true(engine->in_flight < engine->depth);
	*flight = (struct flight){.used = true, .io = *io};
	if (number < SCRIPT_STEPS)
		flight->step = script.steps[number];
	engine->in_flight++;
}

static int script_submit(struct engine *engine, struct engine_io *const *ios, unsigned count)
{
	unsigned call;
	int limit;

	script_enter(engine);
	call = script.submit_calls++;
	limit = call < SCRIPT_STEPS ? script.submits[call] : script.submits_after;
	if (count > script.batch_max)
		script.batch_max = count;
	if (limit >= 0 && (unsigned)limit < count)
		count = (unsigned)limit;
	for (unsigned i = 0; i < count && limit >= 0; i++)
		script_accept(engine, ios[i]);
	pthread_cond_broadcast(&script.changed);
	script_leave(engine);
	return limit < 0 ? limit : (int)count;
}

static int64_t script_move(const struct engine_io *io, size_t bytes)
{
	ssize_t moved = io->write ? pwrite(io->fd, io->mem, bytes, (off_t)io->offset_bytes)
				  : pread(io->fd, io->mem, bytes, (off_t)io->offset_bytes);

	return moved < 0 ? -errno : moved;
}

/* The part of a direct transfer that is not whole sectors moves through memory of our own. */
static int64_t script_move_short(const struct engine_io *io, size_t bytes)
{
	char path[64];
	int fd;
	struct engine_io buffered = *io;
	int64_t moved;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", io->fd);
	fd = open(path, io->write ? O_WRONLY : O_RDONLY);
	assert_true(fd >= 0);
	buffered.fd = fd;
	moved = script_move(&buffered, bytes);
	close(fd);
	return moved;
}

static int64_t script_outcome(const struct flight *flight)
{
	const struct engine_io *io = &flight->io;

	switch (flight->step.kind) {
	case STEP_SHORT:
		if ((size_t)flight->step.value < io->length_bytes)
			return script_move_short(io, (size_t)flight->step.value);
		break;
	case STEP_LIE:
		script_move(io, io->length_bytes);
		return flight->step.value;
	case STEP_RESULT:
		return flight->step.value;
	case STEP_FULL:
	case STEP_HOLD:
	case STEP_TWICE:
	case STEP_UNKNOWN:
		break;
	}
	return script_move(io, io->length_bytes);
}

static bool script_deliverable(const struct flight *flight)
{
	return flight->used && (flight->step.kind != STEP_HOLD || script.released);
}

static void script_add_extra(struct engine *engine, uintptr_t cookie, int64_t result)
{
	assert_true(engine->extras_count < SCRIPT_EXTRAS);
	engine->extras[engine->extras_count++] = (struct engine_event){cookie, result};
}

/* Unknown events come before the true one, a second one comes in a later wait. */
static void script_prepare_extras(struct engine *engine)
{
	for (unsigned i = 0; i < engine->count; i++) {
		struct flight *flight = &engine->flights[i];

		if (!script_deliverable(flight) || flight->step.kind != STEP_UNKNOWN)
			continue;
		flight->step.kind = STEP_FULL;
		script_add_extra(engine, 0, 4096);
		script_add_extra(engine, UINTPTR_MAX, -EIO);
		script_add_extra(engine, flight->io.cookie + COOKIE_GENERATION, 4096);
	}
}

static unsigned script_collect(struct engine *engine, unsigned max, struct engine_event *events)
{
	unsigned count = 0;

	script_prepare_extras(engine);
	while (count < max && engine->extras_count)
		events[count++] = engine->extras[--engine->extras_count];
	for (unsigned i = 0; i < engine->count && count < max; i++) {
		struct flight *flight = &engine->flights[i];

		if (!script_deliverable(flight))
			continue;
		events[count] = (struct engine_event){flight->io.cookie, script_outcome(flight)};
		if (flight->step.kind == STEP_TWICE)
			script_add_extra(engine, events[count].cookie, events[count].result);
		flight->used = false;
		engine->in_flight--;
		count++;
	}
	return count;
}

static unsigned script_block(struct engine *engine, unsigned max, int64_t timeout_ns,
			     struct engine_event *events)
{
	struct timespec until = timespec_of(deadline_after(timeout_ns));
	unsigned count = script_collect(engine, max, events);

	while (!count && timeout_ns) {
		if (pthread_cond_timedwait(&script.changed, &script.lock, &until) == ETIMEDOUT)
			timeout_ns = 0;
		count = script_collect(engine, max, events);
	}
	return count;
}

static int script_wait(struct engine *engine, unsigned min, unsigned max, int64_t timeout_ns,
		       struct engine_event *events)
{
	unsigned call, count = 0;
	int limit;

	script_enter(engine);
	call = script.wait_calls++;
	limit = call < SCRIPT_STEPS ? script.waits[call] : script.waits_after;
	if (call < SCRIPT_STEPS)
		script.waits_min[call] = min;
	if (min > engine->in_flight)
		script.overasked = true;
	if (limit > 0)
		count = script_block(engine, (unsigned)limit < max ? (unsigned)limit : max,
				     timeout_ns, events);
	script_leave(engine);
	return limit < 0 ? limit : (int)count;
}

static enum swapio_wait_call script_wait_call(const struct engine *engine)
{
	(void)engine;
	return SWAPIO_WAIT_IO_PGETEVENTS;
}

static const struct engine_ops script_ops = {
	.name = "script",
	.create = script_create,
	.destroy = script_destroy,
	.forget = script_forget,
	.submit = script_submit,
	.wait = script_wait,
	.wait_call = script_wait_call,
};

/* Small blocks, few slots; tests change what they are about. */
static inline struct swapio_options script_options(unsigned workers)
{
	struct swapio_options options;

	swapio_options_init(&options);
	options.workers = workers;
	options.block_bytes = 4096;
	options.queue_depth = 4;
	options.bounce_slots = 2;
	return options;
}

static inline struct swapio *script_open(const struct swapio_options *options)
{
	struct swapio_error error = {0};
	struct swapio *handle = NULL;
	int ret =
		swapioi_open_with(options, swapioi_accel_find(NULL), &script_ops, &error, &handle);

	if (ret < 0)
		fail_msg("open: %s", error.text);
	return handle;
}

/* Close, and see that the engine was used as engine.h demands. */
static inline void script_close(struct swapio *handle)
{
	close_handle(handle);
	assert_int_equal(script.create_calls, script.destroy_calls);
	assert_false(script.overasked);
	assert_false(script.shared);
}

#endif /* TEST_SCRIPT_ENGINE_H */
