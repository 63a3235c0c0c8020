/* SPDX-License-Identifier: MIT */
/*
 * stage.h - the delivery stage: it owns the events that the program sees.
 *
 * Submissions go in, completions come out in the order, at the time and with the results that the
 * schedule says. Return values are those of the system calls (-errno). A context handed to the
 * program is a ring of ours in the kernel's ABI layout.
 *
 * Threads: as the system calls: any thread, any context.
 */
#ifndef SWAPFAULT_STAGE_H
#define SWAPFAULT_STAGE_H

#include <linux/aio_abi.h>
#include <signal.h>
#include <time.h>

#include "schedule.h"

/* Is @ctx one that the stage handed out (else: a raw kernel context, made while passive)? */
bool stage_owns(aio_context_t ctx);

long stage_setup(unsigned nr_events, aio_context_t *ret_ctx);
long stage_destroy(aio_context_t ctx);
long stage_submit(aio_context_t ctx, long nr, struct iocb **iocbs);
long stage_cancel(aio_context_t ctx, struct iocb *iocb, struct io_event *ret_event);
/* @call says which system call the program meant; @sigmask only with io_pgetevents, may be NULL. */
long stage_wait(aio_context_t ctx, enum fault_call_name call, long min_nr, long nr,
		struct io_event *events, struct timespec *timeout, const sigset_t *sigmask,
		size_t sigset_bytes);

/* A case begins: what it needs is mapped now, not under the program's feet. */
void stage_begin(void);
/* What of the case lives on, NULL: nothing. Then it can end. */
const char *stage_left_over(void);
void stage_end(void);

/* Let go of whatever is held (disarm), tell about forks (child: contexts are gone). */
void stage_release_held(void);
void stage_after_fork_child(void);
/* The file calls tell: memory going away (munmap, free of large blocks) while in flight is a CHECK.
 */
void stage_memory_gone(const void *start, size_t bytes);
/* The program reads the ring itself (fio's userspace_reap): keep it filled. Before any io_setup. */
void stage_pump_set_always(void);

#endif /* SWAPFAULT_STAGE_H */
