/* SPDX-License-Identifier: MIT */
/*
 * stage_internal.h - what the files of the delivery stage share: contexts, requests, the lock.
 *
 * Threads: a context is guarded by its lock. While the lock is held every signal is blocked
 *          (struct stage_guard), so a handler of the program never runs under it.
 */
#ifndef SWAPFAULT_STAGE_INTERNAL_H
#define SWAPFAULT_STAGE_INTERNAL_H

#include <linux/aio_abi.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <time.h>

#include "runtime.h"
#include "schedule.h"

#define STAGE_CONTEXTS_MAX 1024
#define STAGE_IOVECS_FEW 4
#define STAGE_BATCH 64 /* requests or events moved by one system call */
#define STAGE_FOREVER UINT64_MAX
#define STAGE_OPCODE_POLL 5	  /* IOCB_CMD_POLL, Linux 4.18 */
#define STAGE_MANY UINT32_MAX	  /* submitters */
#define STAGE_UNARMED 0x80000000u /* numbers of requests accepted while nothing was counted */

/* The ring that programs see, in the kernel's layout (fs/aio.c). */
#define STAGE_RING_MAGIC 0xa10a10a1u
struct stage_ring {
	uint32_t id, nr;
	_Atomic uint32_t head, tail;
	uint32_t magic, compat_features, incompat_features, header_length;
	struct io_event events[];
};

_Static_assert(sizeof(struct stage_ring) == 32, "the kernel's layout is fixed");

enum stage_state {
	STAGE_FREE,
	STAGE_INFLIGHT, /* the back end has it */
	STAGE_HELD,	/* done, not to be shown yet */
	STAGE_READY,	/* to be given to the program next */
	STAGE_SHUFFLED, /* done, waiting for those that it is to be shuffled with */
	STAGE_DROPPED,	/* done, never to be shown */
};

struct stage_req {
	struct iocb real; /* what the back end carries out; first, the kernel answers its address */
	struct stage_req *next;
	struct iocb *obj; /* the program's; only an address once io_submit returned */
	uint64_t data;
	uint32_t number; /* of the event on its context since arming */
	uint8_t state;	 /* enum stage_state */
	uint8_t op;	 /* enum fault_op */
	uint8_t fault_count;
	uint8_t told;  /* bit i: faults[i] was logged as taken or missed */
	uint8_t taken; /* bit i: as taken */
	struct fault *faults[FIRING_MAX];
	int fd;	      /* the program's number */
	int kept_fd;  /* sim: a duplicate until the I/O is done, or -1 */
	int fd_flags; /* F_GETFL */
	bool direct;  /* sim: opened with O_DIRECT, as the program believes */
	int resfd;    /* the program's eventfd, or -1 */
	/* the transfer as the program asked for it */
	uint16_t opcode;
	uint64_t offset_bytes, length_bytes;
	const struct iovec *iov;
	unsigned iov_count;
	struct iovec iov_few[STAGE_IOVECS_FEW];
	void *iov_map; /* longer vectors: a mapping of their own */
	/* the transfer as the faults want it */
	char *shadow; /* NULL: straight from and to the program's buffer */
	void *shadow_map;
	size_t shadow_map_bytes;
	uint64_t move_bytes; /* at most these reach the program's buffer */
	bool nothing;	     /* the back end was asked for no byte at all */
	/* what came of it */
	int64_t real_result, result;
	uint8_t copies;	  /* events still to be given */
	bool stray_first; /* an unknown event comes before it */
	bool gone;	  /* its memory was unmapped in flight */
	bool hashed;
	uint64_t hash;	 /* of what is to be written */
	uint64_t due_ns; /* sim: virtual time of completion */
};

struct stage_list {
	struct stage_req *first, *last;
	unsigned count;
};

struct sim_place;

struct stage_ctx {
	_Atomic(struct stage_ring *) ring; /* NULL: the slot is free */
	size_t ring_bytes;
	_Atomic uint32_t lock;
	_Atomic uint32_t users; /* calls inside the context */
	_Atomic bool dead;
	uint32_t number; /* of the context in this process, from 1 */
	struct stage_req *table, *free;
	unsigned table_count, table_used;
	size_t table_bytes;
	struct stage_list held, shuffled, ready;
	unsigned ready_events; /* that the ready requests yield */
	unsigned live;	       /* requests that are not free */
	unsigned inflight;     /* in the back end and bound to complete by themselves */
	unsigned polls;	       /* in the back end, completing when somebody else acts */
	uint32_t accepted, accepted_unarmed;
	uint32_t waits_begun; /* number of the last wait that was counted */
	uint32_t submitter;   /* the one thread that has submitted, 0: none, or STAGE_MANY */
	unsigned shuffles;
	unsigned blocked; /* threads blocked in the back end for events of this context */
	unsigned blocked_need;
	bool pumped; /* events go to the ring by themselves */
	/* kernel back end */
	aio_context_t kernel;
	struct iocb wake; /* a read of nothing, to wake who is in the real wait */
	/* sim back end */
	struct stage_list scheduled; /* in the order in which they will be done */
	uint64_t rng;
	unsigned reserved;	  /* of all the events that there may be */
	struct sim_place *places; /* who is blocked here */
};

/* One call of io_getevents or io_pgetevents on its way. */
struct stage_wait {
	struct stage_ctx *ctx;
	enum fault_call_name call;
	long min, nr, got;
	struct io_event *events;
	bool poll;	      /* a timeout of no time */
	uint64_t deadline_ns; /* STAGE_FOREVER: none */
	uint64_t mask;	      /* the signal mask while blocked */
	uint32_t number;      /* of the wait since arming */
};

/* stage_lock.c: signals blocked, then the lock. */
struct stage_guard {
	uint64_t mask; /* the thread's own */
};
void stage_guard_enter(struct stage_guard *guard);
void stage_guard_leave(const struct stage_guard *guard);
void stage_lock(struct stage_ctx *ctx);
void stage_unlock(struct stage_ctx *ctx);
void futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);
void futex_wake(_Atomic uint32_t *word);

/* Processors that the machine may have: the kernel sizes rings by them. stage_context.c */
unsigned stage_processors(void);

/* stage_memory.c: memory of the program, which may be wrong, and memory of our own. */
bool memory_readable(const void *start, size_t bytes);
bool memory_writable(void *start, size_t bytes);		/* scribbles over what it probes */
int memory_copy_to(void *to, const void *from, size_t bytes);	/* 0, -EFAULT */
int memory_copy_from(void *to, const void *from, size_t bytes); /* 0, -EFAULT */
void *memory_map(size_t bytes);					/* NULL when there is none */
void *memory_map_ready(size_t bytes);				/* with its pages in place */
void memory_unmap(void *start, size_t bytes);

/* stage_context.c */
struct stage_ctx *stage_get(aio_context_t ctx); /* NULL: none of ours; counted as a user */
void stage_put(struct stage_ctx *ctx);
struct stage_ctx *stage_context_at(unsigned index); /* NULL past the last; may be unused */
struct stage_req *stage_req_take(struct stage_ctx *ctx);
void stage_req_release(struct stage_ctx *ctx, struct stage_req *req);
void stage_list_add(struct stage_list *list, struct stage_req *req);
void stage_list_push(struct stage_list *list, struct stage_req *req);
struct stage_req *stage_list_take(struct stage_list *list);
void stage_list_remove(struct stage_list *list, struct stage_req *req);

/* stage_request.c: from the program's iocb to a request of ours. */
int stage_req_init(struct stage_req *req, const struct iocb *iocb, struct iocb *obj);
void stage_req_fini(struct stage_req *req);
void stage_req_keep_fd(struct stage_req *req);
void stage_req_drop_fd(struct stage_req *req);
static inline bool stage_req_transfers(const struct stage_req *req)
{
	return req->op != FAULT_OP_ANY;
}
/* Completes when somebody else acts, not by itself. */
static inline bool stage_req_polls(const struct stage_req *req)
{
	return req->opcode == STAGE_OPCODE_POLL;
}

/* stage_plan.c: what the faults of a request do to the transfer, before and after. */
void stage_plan_begin(struct stage_req *req);
void stage_plan_end(struct stage_ctx *ctx, struct stage_req *req);

/* stage_shadow.c: transfers through memory of our own. */
int stage_shadow_make(struct stage_req *req, uint64_t move_bytes);
int stage_shadow_out(struct stage_req *req, uint64_t bytes); /* to the program */
/* Between the first @bytes of the program's buffers and @to, @from. 0, -EFAULT. */
int stage_copy_to(struct stage_req *req, char *from, uint64_t bytes);
int stage_copy_from(const struct stage_req *req, char *to, uint64_t bytes);
int stage_shadow_flip(struct stage_req *req, uint64_t byte);
bool stage_memory_flip(struct stage_req *req, uint64_t byte);
unsigned stage_sector_bytes(const struct stage_req *req);
long stage_read_old(const struct stage_req *req, void *to, uint64_t offset_bytes, size_t bytes);

/* stage_stale.c: what ranges held before their last write. */
bool stage_stale_wanted(void);
void stage_stale_remember(struct stage_req *req);
/* 0; -ENOENT never written; -EALREADY the same; -EFAULT, -ENOMEM */
int stage_stale_apply(struct stage_req *req);
void stage_stale_begin(void);
void stage_stale_end(void);

/* stage_deliver.c: from done to the program. All with the context's lock held. */
void stage_completed(struct stage_ctx *ctx, struct stage_req *req, int64_t result);
/* Events that can be taken now; shuffled ones join them once nothing else is in flight. */
unsigned stage_available(struct stage_ctx *ctx);
/* Take up to @nr events: the number taken, -EFAULT when none could be written. */
long stage_take(struct stage_ctx *ctx, struct io_event *events, long nr);
bool stage_take_one(struct stage_ctx *ctx, struct io_event *event, int *ret_resfd);

/* stage_held.c: events kept back from the program, and when they are let go. Likewise. */
void stage_held_begin(struct stage_ctx *ctx, struct stage_req *req);
bool stage_held_keep(struct stage_ctx *ctx, struct stage_req *req);
void stage_held_check_wait(struct stage_ctx *ctx);
void stage_held_check_event(struct stage_ctx *ctx, uint32_t number);
void stage_held_let_go(struct stage_ctx *ctx);
bool stage_shuffle_keep(struct stage_ctx *ctx, struct stage_req *req);
void stage_shuffle_settle(struct stage_ctx *ctx);
void stage_ready_add(struct stage_ctx *ctx, struct stage_req *req);

/* stage_interrupt.c: what arrives in the middle of a wait. True: the wait ended with *ret_result.
 */
bool stage_interrupt(struct stage_wait *wait, struct fault *fault, long *ret_result);

/* stage_signal.c: what the program does with a signal, for the time of an injection. */
/* NULL, or why the fault cannot act on this program. */
const char *stage_signal_prepare(const struct fault *fault);
void stage_signal_restore(const struct fault *fault);
void stage_signal_end(void); /* the case is over */
void stage_signal_raise(int signal);
static inline uint64_t stage_signal_bit(int signal)
{
	return (uint64_t)1 << (signal - 1);
}

/* stage_jobctl.c: what the harness does to this process, one request at a time. */
int stage_jobctl_ask(enum eventlog_request request);
bool stage_jobctl_pending(uint64_t patience_ns); /* after at most that long */
int stage_jobctl_end(void); /* the answer: 0, or -errno; -ETIME when there was none */

/* stage_check.c: what a correct program does not do. */
void stage_check_submit(struct stage_ctx *ctx, struct stage_req *req);
void stage_check_complete(struct stage_ctx *ctx, struct stage_req *req);
void stage_check_wait(const struct stage_wait *wait);
void stage_check_exit(struct stage_ctx *ctx);

/* stage_trace.c: the records of requests. */
struct fault_call stage_call(enum point_id point, const struct stage_ctx *ctx);
void stage_trace(enum eventlog_type type, const struct stage_ctx *ctx, const struct stage_req *req,
		 int64_t result, bool injected);
void stage_trace_taken(struct stage_ctx *ctx, struct stage_req *req, unsigned index);
void stage_trace_missed(struct stage_req *req, unsigned index, const char *why);
void stage_trace_check(const struct stage_ctx *ctx, const struct stage_req *req, const char *text);
static inline bool stage_trace_told(const struct stage_req *req, unsigned index)
{
	return req->told & (1u << index);
}
bool stage_trace_injected(const struct stage_req *req);

/* stage_pump.c: programs that read the ring themselves. */
void stage_pump_want(struct stage_ctx *ctx);
void stage_pump_ring(struct stage_ctx *ctx);				       /* lock held */
long stage_pump_take(struct stage_ctx *ctx, struct io_event *events, long nr); /* lock held */
unsigned stage_pump_count(const struct stage_ctx *ctx); /* events in the ring */
int stage_pump_eventfd(void); /* to be signalled by the kernel back end's completions, or -1 */
void stage_pump_after_fork(void);
bool stage_pump_runs(void); /* its thread never ends */

#endif /* SWAPFAULT_STAGE_INTERNAL_H */
