/* SPDX-License-Identifier: MIT */
/*
 * stage_context.c - the contexts handed to the program and their tables of requests.
 *
 * Slots are static and never freed, so that a call may look for its context without a lock; what a
 * slot points to lives until the last call has left it.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "rawcall.h"
#include "stage.h"
#include "stage_internal.h"

#define RING_COMPAT_FEATURES 1
#define LEAVE_PATIENCE_NS 100000000u /* for calls that never return (longjmp from a handler) */
#define LEAVE_SLICE_NS 1000000u
#define TABLE_SMALL 256u
#define RING_SMALL_BYTES 16384u

static struct stage_ctx slots[STAGE_CONTEXTS_MAX];
static _Atomic unsigned slots_used;
static _Atomic uint32_t contexts_made;
static bool pump_always;
static struct stage_ring reserved; /* a slot that is being set up */
static struct stage_req small_table[TABLE_SMALL];
static atomic_flag small_table_taken = ATOMIC_FLAG_INIT;

void stage_pump_set_always(void)
{
	pump_always = true;
}

void stage_begin(void)
{
	stage_stale_begin();
}

const char *stage_left_over(void)
{
	for (unsigned i = 0; i < atomic_load(&slots_used); i++)
		if (atomic_load(&slots[i].ring))
			return "a context was not destroyed";
	return stage_pump_runs() ? "a thread of ours keeps rings filled" : NULL;
}

/* Nobody can be inside a context any more: there is none. */
void stage_end(void)
{
	memset(slots, 0, atomic_load(&slots_used) * sizeof(*slots));
	atomic_store(&slots_used, 0);
	atomic_store(&contexts_made, 0);
	stage_stale_end();
	stage_signal_end();
}

struct stage_ctx *stage_context_at(unsigned index)
{
	return index < atomic_load(&slots_used) ? &slots[index] : NULL;
}

static struct stage_ctx *context_find(aio_context_t ctx)
{
	unsigned used = atomic_load(&slots_used), i;

	for (i = 0; ctx && i < used; i++)
		if ((aio_context_t)(uintptr_t)atomic_load(&slots[i].ring) == ctx)
			return &slots[i];
	return NULL;
}

bool stage_owns(aio_context_t ctx)
{
	return context_find(ctx) != NULL;
}

struct stage_ctx *stage_get(aio_context_t address)
{
	struct stage_ctx *ctx = context_find(address);

	if (!ctx || address == (aio_context_t)(uintptr_t)&reserved)
		return NULL;
	atomic_fetch_add(&ctx->users, 1);
	if ((aio_context_t)(uintptr_t)atomic_load(&ctx->ring) == address &&
	    !atomic_load(&ctx->dead))
		return ctx;
	stage_put(ctx);
	return NULL;
}

void stage_put(struct stage_ctx *ctx)
{
	if (atomic_fetch_sub(&ctx->users, 1) == 3 && atomic_load(&ctx->dead))
		futex_wake(&ctx->users);
}

/* libc reads a file for it each time. */
unsigned stage_processors(void)
{
	static _Atomic unsigned known;

	if (!atomic_load_explicit(&known, memory_order_relaxed))
		atomic_store(&known, (unsigned)sysconf(_SC_NPROCESSORS_CONF));
	return atomic_load_explicit(&known, memory_order_relaxed);
}

/* As fs/aio.c sizes its ring: twice the wish, and then the page is filled. */
static unsigned ring_events(unsigned nr_events, size_t *ret_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t cpus = stage_processors();
	size_t events = nr_events > 4 * cpus ? nr_events : 4 * cpus;
	size_t bytes = sizeof(struct stage_ring) + (2 * events + 2) * sizeof(struct io_event);

	*ret_bytes = (bytes + page - 1) / page * page;
	return (unsigned)((*ret_bytes - sizeof(struct stage_ring)) / sizeof(struct io_event));
}

/* A free slot, taken: its ring is not NULL any more, and not yet an address of the program. */
static struct stage_ctx *slot_take(void)
{
	unsigned i;

	for (i = 0; i < STAGE_CONTEXTS_MAX; i++) {
		struct stage_ring *none = NULL;
		unsigned used = atomic_load(&slots_used);

		if (!atomic_compare_exchange_strong(&slots[i].ring, &none, &reserved))
			continue;
		while (used <= i && !atomic_compare_exchange_weak(&slots_used, &used, i + 1))
			;
		return &slots[i];
	}
	return NULL;
}

static void context_clear(struct stage_ctx *ctx)
{
	size_t from = offsetof(struct stage_ctx, number);

	memset((char *)ctx + from, 0, sizeof(*ctx) - from);
	ctx->ring_bytes = 0;
	atomic_store(&ctx->lock, 0);
	atomic_store(&ctx->dead, false);
}

/* One small table at a time needs no mapping of its own. */
static void table_make(struct stage_ctx *ctx, unsigned count)
{
	ctx->table_count = count;
	ctx->table_bytes = count * sizeof(*ctx->table);
	if (count <= TABLE_SMALL && !atomic_flag_test_and_set(&small_table_taken))
		ctx->table = small_table;
	else
		ctx->table = memory_map(ctx->table_bytes);
}

static void table_unmake(struct stage_ctx *ctx)
{
	if (ctx->table != small_table) {
		memory_unmap(ctx->table, ctx->table_bytes);
		return;
	}
	memset(small_table, 0, ctx->table_used * sizeof(*small_table));
	atomic_flag_clear(&small_table_taken);
}

static struct stage_ring *context_make(struct stage_ctx *ctx, unsigned nr_events)
{
	unsigned events = ring_events(nr_events, &ctx->ring_bytes);
	struct stage_ring *ring = ctx->ring_bytes <= RING_SMALL_BYTES
					  ? memory_map_ready(ctx->ring_bytes)
					  : memory_map(ctx->ring_bytes);

	if (ring)
		table_make(ctx, events - 1);
	if (!ring || !ctx->table) {
		memory_unmap(ring, ctx->ring_bytes);
		return NULL;
	}
	ring->id = (uint32_t)(ctx - slots);
	ring->nr = events;
	ring->magic = STAGE_RING_MAGIC;
	ring->compat_features = RING_COMPAT_FEATURES;
	ring->header_length = sizeof(*ring);
	return ring;
}

static void context_unmake(struct stage_ctx *ctx, struct stage_ring *ring)
{
	unsigned i;

	for (i = 0; i < ctx->table_used; i++)
		stage_req_fini(&ctx->table[i]);
	memory_unmap(ring, ctx->ring_bytes);
	table_unmake(ctx);
}

static long context_open(unsigned nr_events, struct stage_ring **ret_ring,
			 struct stage_ctx **ret_ctx)
{
	struct stage_ctx *ctx = slot_take();
	int err;

	if (!ctx)
		return -EAGAIN;
	context_clear(ctx);
	err = backend()->open(ctx, nr_events);
	if (!err) {
		*ret_ring = context_make(ctx, nr_events);
		if (!*ret_ring) {
			backend()->close(ctx);
			err = -ENOMEM;
		}
	}
	if (err)
		atomic_store(&ctx->ring, NULL);
	*ret_ctx = ctx;
	return err;
}

static long setup_checked(unsigned nr_events, aio_context_t *ret_ctx)
{
	struct stage_ctx *ctx;
	struct stage_ring *ring;
	long err;

	if (!memory_readable(ret_ctx, sizeof(*ret_ctx)))
		return -EFAULT;
	if (*ret_ctx || !nr_events)
		return -EINVAL;
	err = context_open(nr_events, &ring, &ctx);
	if (err)
		return err;
	ctx->number = atomic_fetch_add(&contexts_made, 1) + 1;
	atomic_store(&ctx->users, 1);
	*ret_ctx = (aio_context_t)(uintptr_t)ring;
	atomic_store(&ctx->ring, ring);
	if (pump_always)
		stage_pump_want(ctx);
	return 0;
}

static long setup_faulted(unsigned nr_events, aio_context_t *ret_ctx)
{
	struct fault_call call = stage_call(POINT_io_setup, NULL);
	struct firing firing = {0};
	uint32_t number;
	long result;

	runtime_decide(&call, &firing);
	number = runtime_call_number(POINT_io_setup);
	result = firing.count ? -firing.faults[0]->value : setup_checked(nr_events, ret_ctx);
	if (firing.count)
		runtime_log_inject(firing.faults[0], &call, number, result);
	runtime_log_call(&call, number, result, firing.count != 0);
	return result;
}

long stage_setup(unsigned nr_events, aio_context_t *ret_ctx)
{
	struct stage_guard guard;
	long result;

	stage_guard_enter(&guard);
	result = runtime_armed() ? setup_faulted(nr_events, ret_ctx)
				 : setup_checked(nr_events, ret_ctx);
	stage_guard_leave(&guard);
	return result;
}

/* Everybody else has left, or never will. */
static bool context_left(struct stage_ctx *ctx)
{
	uint64_t waited = 0;
	uint32_t users;

	while ((users = atomic_load(&ctx->users)) > 2 && waited < LEAVE_PATIENCE_NS) {
		futex_wait(&ctx->users, users, LEAVE_SLICE_NS);
		waited += LEAVE_SLICE_NS;
	}
	return users <= 2;
}

static void context_destroy(struct stage_ctx *ctx)
{
	struct stage_ring *ring = atomic_load(&ctx->ring);

	stage_lock(ctx);
	backend()->drain(ctx);
	backend()->close(ctx);
	stage_unlock(ctx);
	if (!context_left(ctx))
		return; /* the slot and its memory stay for whoever jumped out of a wait */
	context_unmake(ctx, ring);
	atomic_store(&ctx->users, 0);
	atomic_store(&ctx->ring, NULL);
}

static long destroy_guarded(aio_context_t address)
{
	struct stage_ctx *ctx = stage_get(address);
	struct fault_call call = stage_call(POINT_io_destroy, ctx);
	struct firing firing = {0};
	uint32_t number;
	long result;

	if (!ctx)
		return -EINVAL;
	runtime_decide(&call, &firing);
	number = runtime_call_number(POINT_io_destroy);
	result = firing.count ? -firing.faults[0]->value : 0;
	if (atomic_exchange(&ctx->dead, true)) { /* another thread destroys it */
		stage_put(ctx);
		return -EINVAL;
	}
	context_destroy(ctx);
	if (firing.count)
		runtime_log_inject(firing.faults[0], &call, number, result);
	runtime_log_call(&call, number, result, firing.count != 0);
	return result;
}

long stage_destroy(aio_context_t address)
{
	struct stage_guard guard;
	long result;

	stage_guard_enter(&guard);
	result = destroy_guarded(address);
	stage_guard_leave(&guard);
	return result;
}

/* The kernel gives a child none of its parent's contexts; the ring of ours becomes mere memory. */
void stage_after_fork_child(void)
{
	unsigned i;

	for (i = 0; i < STAGE_CONTEXTS_MAX && i < atomic_load(&slots_used); i++) {
		atomic_store(&slots[i].ring, NULL);
		atomic_store(&slots[i].users, 0);
	}
	atomic_flag_clear(&small_table_taken);
	atomic_store(&contexts_made, 0);
	stage_pump_after_fork();
}

/* The kernel ends a context with its process, but a correct program does it itself. */
__attribute__((destructor)) static void contexts_leaked(void)
{
	unsigned i;

	for (i = 0; runtime_staged() && i < atomic_load(&slots_used); i++)
		if (atomic_load(&slots[i].users))
			stage_check_exit(&slots[i]);
}
