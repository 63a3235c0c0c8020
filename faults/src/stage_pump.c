/* SPDX-License-Identifier: MIT */
/*
 * stage_pump.c - events for programs that make no wait: those that read the ring themselves, or are
 * told by an eventfd. A thread of ours keeps their rings filled; it blocks every signal.
 *
 * In sim there is no thread: what is submitted to a pumped context is done at once.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include "backend.h"
#include "case.h"
#include "interpose.h"
#include "rawcall.h"
#include "simlock.h"

#define THREAD_OURS UINT32_MAX /* none of the program's numbers */
#define OWN_FD_MIN 900	       /* out of the way of the program's numbers */

REAL(pthread_create)

static struct simlock lock;
static bool running;
static int wake_fd = -1; /* the kernel counts completions of pumped contexts here */

static struct stage_ring *ring_of(const struct stage_ctx *ctx)
{
	return (struct stage_ring *)atomic_load(&ctx->ring);
}

unsigned stage_pump_count(const struct stage_ctx *ctx)
{
	struct stage_ring *ring;
	uint32_t head, tail;

	if (!ctx->pumped)
		return 0;
	ring = ring_of(ctx);
	head = atomic_load_explicit(&ring->head, memory_order_acquire) % ring->nr;
	tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	return (tail + ring->nr - head) % ring->nr;
}

static void signal_eventfd(int fd)
{
	uint64_t one = 1;

	if (fd >= 0)
		raw_call(SYS_write, fd, &one, sizeof(one));
}

/* As the kernel does: the event, then the tail, then the eventfd. */
void stage_pump_ring(struct stage_ctx *ctx)
{
	struct stage_ring *ring = ring_of(ctx);
	uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	struct io_event event;
	int resfd;

	stage_shuffle_settle(ctx);
	while (stage_pump_count(ctx) + 1 < ring->nr && stage_take_one(ctx, &event, &resfd)) {
		ring->events[tail] = event;
		tail = (tail + 1) % ring->nr;
		atomic_store_explicit(&ring->tail, tail, memory_order_release);
		signal_eventfd(resfd);
	}
}

long stage_pump_take(struct stage_ctx *ctx, struct io_event *events, long nr)
{
	struct stage_ring *ring = ring_of(ctx);
	uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire) % ring->nr;
	long count = stage_pump_count(ctx), got;

	for (got = 0; got < nr && got < count; got++) {
		events[got] = ring->events[head];
		head = (head + 1) % ring->nr;
	}
	atomic_store_explicit(&ring->head, head, memory_order_release);
	return got;
}

static void pump_context(struct stage_ctx *ctx)
{
	stage_lock(ctx);
	if (ctx->pumped && !atomic_load(&ctx->dead)) {
		backend()->reap(ctx);
		stage_pump_ring(ctx);
		if (ctx->blocked && stage_available(ctx))
			backend()->kick(ctx);
	}
	stage_unlock(ctx);
}

static void pump_all(void)
{
	struct stage_ctx *ctx;

	for (unsigned i = 0; (ctx = stage_context_at(i)) != NULL; i++) {
		ctx = stage_get((aio_context_t)(uintptr_t)atomic_load(&ctx->ring));
		if (!ctx)
			continue;
		pump_context(ctx);
		stage_put(ctx);
	}
}

static void *pump_main(void *unused)
{
	uint64_t count;

	runtime_enter();
	runtime_thread_number_take(THREAD_OURS);
	while (raw_call(SYS_read, wake_fd, &count, sizeof(count)) != -EBADF)
		pump_all();
	return unused;
}

static long eventfd_make(void)
{
	long low = raw_call(SYS_eventfd2, 0, EFD_CLOEXEC);
	long high = low < 0 ? low : raw_call(SYS_fcntl, low, F_DUPFD_CLOEXEC, OWN_FD_MIN);

	if (high < 0)
		return low;
	raw_call(SYS_close, low);
	return high;
}

static bool thread_start(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int err;

	runtime_enter();
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	err = real_pthread_create()(&thread, &attributes, pump_main, NULL);
	pthread_attr_destroy(&attributes);
	runtime_leave();
	return !err;
}

static void start(void)
{
	struct simlock_guard guard = simlock_take(&lock);

	if (!running && !runtime_sim()) {
		wake_fd = (int)eventfd_make();
		running = wake_fd >= 0 && thread_start();
		if (!running)
			runtime_log_note("no thread can be had to fill the ring");
	}
	simlock_drop(&lock, &guard);
}

int stage_pump_eventfd(void)
{
	return wake_fd;
}

/* @ctx->pumped says how events leave the context from here on: through the ring. */
void stage_pump_want(struct stage_ctx *ctx)
{
	start();
	ctx->pumped = true;
}

bool stage_pump_runs(void)
{
	return running;
}

/* The thread stayed in the parent. */
void stage_pump_after_fork(void)
{
	simlock_reset(&lock);
	if (wake_fd >= 0)
		raw_call(SYS_close, wake_fd);
	wake_fd = -1;
	running = false;
}
