/* SPDX-License-Identifier: MIT */
/*
 * worker.h - the case of this process, as the files of the worker share it.
 *
 * The fork server (main.c) forks a process; that one (case.c) sets up, runs the steps (step_*.c)
 * through libswapio, and tells what happened (tell.c). If nothing of the case stays behind, it may
 * be given another (stay.c). It judges nothing: the harness does.
 *
 * Threads: one, but inside the steps that ask for more (step_transfer.c).
 */
#ifndef WORKER_H
#define WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "pattern.h"
#include "swapfault.h"
#include "swapio/swapio.h"
#include "wire.h"
#include "workload.h"

#define WORKER_RED_ZONE_BYTES 64u /* behind every destination; must stay poison */

/* One transfer of one tensor: asked for, and what came of it. */
struct transfer {
	bool asked, submitted, done;
	enum swapio_op op;
	uint32_t generation;
	uint64_t length_bytes;
	uint64_t known_bytes; /* of them are of that generation */
	int64_t size_before;  /* of the file; -errno when it was not there */
	int fd;		      /* -1: by path */
	swapio_id id;
	int error;	  /* of submit, or of the wait for it; result has the transfer's own */
	bool synchronous; /* through swapio_read or swapio_write: no range is told */
	struct swapio_result result;
	struct swapio_error sentence;
};

struct worker_tensor {
	char *memory; /* where the tensor stands; NULL: not allocated */
	void *block;  /* what is freed */
	size_t block_bytes;
	uint64_t capacity_bytes; /* the longest transfer of any step */
	uint32_t generation;	 /* last one drawn */
	uint32_t stored;	 /* generation in the file; 0: unknown */
	uint64_t stored_bytes;	 /* its length */
	uint32_t flushed;	 /* generation that a sync of the file made durable */
	uint64_t flushed_bytes;
	bool named;		 /* its name is durable */
	struct transfer started; /* by STEP_START, not yet fetched */
	unsigned origin;	 /* first tensor of that name: it knows what is stored */
	void *lent;		 /* the slot that a swap-in got; NULL none */
};

struct worker {
	struct wire_case wire;
	int fds[WIRE_FD_COUNT];
	const char *work_dir, *schedule;
	struct workload workload;
	struct swapio *handle; /* from here on nothing outlives the case, see stay.c */
	struct worker_tensor tensors[WORKLOAD_TENSORS_MAX];
	struct transfer transfers[WORKLOAD_TENSORS_MAX]; /* of the step that runs */
	unsigned step;
	bool device_returned;
	bool aborted;	 /* requests were given up, on purpose or because they never ended */
	bool told_wrong; /* something that no clean case has */
};

extern struct worker worker;

/* case.c: the whole life of a case's process; never returns. */
_Noreturn void case_run(const void *message, const int fds[WIRE_FD_COUNT]);
_Noreturn void case_leave(int status);

/* stay.c: is the process as it was before the case? Then the next one, NULL when none comes. */
bool stay_is_clean(void);
const void *stay_for_next(void);

/* control.c: the preload's calls, looked up once by the server. */
void control_find(void);
bool control_found(void);
int control_begin(const struct swapfault_config *config, char *text, size_t bytes);
void control_arm(void);
void control_disarm(void);
int control_end(void); /* -EBUSY: something of the case lives on */

/* memory.c: memory of tensors; allocated at first use, on the handle where its kind says so. */
void memory_plan(void);
int memory_get(unsigned tensor);      /* 0, -errno of swapio_buffer_alloc */
void memory_forget_all(bool free_it); /* free, unless the handle took it along */
void memory_touch(void *memory, size_t bytes);

/* step.c and step_*.c */
void step_run_all(void);
/* Stand still until the harness answers; @step: the one that is done or, @before, to come, or one
 * of WIRE_STEP_. */
void step_pause(uint32_t step, bool before);
void step_open(const struct step *step);
void step_close(const struct step *step);
void step_abort(const struct step *step);
void step_fork(const struct step *step);
void step_is_pinned(const struct step *step);
void step_transfer(const struct step *step);
void step_start(const struct step *step);
void step_wait(const struct step *step);
void step_cancel(const struct step *step);
void step_truncate(const struct step *step);
void step_corrupt(const struct step *step);
void step_prepare(const struct step *step);
void step_remove(const struct step *step);
void step_sync(const struct step *step);
void step_device_return(const struct step *step);
void step_replace(const struct step *step);
int64_t step_timeout(const struct step *step);

/* step_handle.c */
int handle_open(struct swapio **ret_handle, struct swapio_error *error);
/* transfer.c: one tensor's way through the library. */
/* A descriptor, made with the program's own open. @flags beside those of the step; -errno. */
int transfer_open(const struct step *step, const char *path, int flags);
void transfer_prepare(const struct step *step, unsigned tensor, bool write,
		      struct transfer *transfer);
int transfer_submit(struct swapio *handle, unsigned tensor, struct transfer *transfer);
void transfer_wait(struct swapio *handle, struct transfer *transfer, int64_t timeout_ns);
void transfer_finish(unsigned tensor, struct transfer *transfer); /* told, and its data checked */
/* It did not come to be: told as refused, with that errno. Returns @error, which is negative. */
int transfer_refuse(struct transfer *transfer, int error, const char *what, const char *name);
/* compare.c: what a read gave, where nobody knows what the file holds: against the file itself. */
void compare_with_file(unsigned tensor, const struct transfer *transfer);
/* promised.c: what the program was promised to find again after a loss of power. */
bool promised_counts(void);		  /* a later process looks, or a device returns */
void promised_written(unsigned tensor);	  /* by other means, durable at once */
int promised_sync_file(const char *file); /* and what it holds is flushed; -errno, told */
int promised_sync_directory(void);	  /* likewise, names */
void promised_renamed(const char *file);  /* another file has that name now */
/* step_start.c */
bool transfer_any_started(void);
void transfer_forget_started(void);
unsigned transfer_drain(int64_t timeout_ns); /* fetch what was started; how many never came */
void aftermath_probe(void);		     /* aftermath.c */

/* tell.c: the lines of the outcome. */
int tell_open(int fd);
void tell_step(void);
void tell_transfer(unsigned tensor, const struct transfer *transfer);
void tell_call(const char *call, int error, const char *text);
void tell_opened(struct swapio *handle);
void tell_data(unsigned tensor, const struct pattern_finding *finding);
void tell_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tell_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));
void tell_write(const char *kind, unsigned tensor, uint32_t generation, uint64_t length_bytes);
void tell_kept(unsigned tensor);
void tell_stats(struct swapio *handle);
void tell_aborted(unsigned count);
#define COUNT_ABSENT INT64_MIN /* not measured: is left out */
void tell_counts(const char *when, const int64_t *values, const char *const *names, unsigned count);
void tell_end(void);

/* counts.c: what must be the same before and after. */
void counts_tell_before(void);
void counts_tell_after(void);
bool counts_grew(void);
int64_t counts_locked(void); /* bytes */

#endif /* WORKER_H */
