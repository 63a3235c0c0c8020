/* SPDX-License-Identifier: MIT */
/*
 * case.c - the life of a case's process: set up, arm, run the steps, disarm, probe, close, count.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "leaks.h"
#include "raw.h"
#include "swap.h"

#define DRAIN_TIMEOUT_NS INT64_C(1000000000) /* for what the end of the faults lets go */

struct worker worker;

_Noreturn void case_leave(int status)
{
	syscall(SYS_exit_group, status);
	__builtin_unreachable();
}

static _Noreturn void give_up(const char *what, const char *why)
{
	tell_broken("%s: %s", what, why);
	case_leave(EXIT_FAILURE);
}

_Static_assert(WIRE_TENSORS_MAX == WORKLOAD_TENSORS_MAX, "each tensor has its place");

/* What an earlier process of the case did to the files. */
static void take_kept(void)
{
	for (unsigned i = 0; i < worker.workload.tensors_count; i++) {
		struct worker_tensor *tensor = &worker.tensors[i];

		tensor->generation = worker.wire.kept[i].drawn;
		tensor->stored = worker.wire.kept[i].stored;
		tensor->stored_bytes = worker.wire.kept[i].stored_bytes;
	}
}

static void tell_all_kept(void)
{
	for (unsigned i = 0; i < worker.workload.tensors_count; i++)
		tell_kept(i);
}

static void take_message(const void *message)
{
	const char *text = (const char *)message + sizeof(worker.wire);
	struct diag diag;

	memcpy(&worker.wire, message, sizeof(worker.wire));
	worker.step = worker.wire.step_first; /* what is set up is of its image */
	worker.work_dir = text;
	worker.schedule = text + worker.wire.work_dir_bytes;
	if (workload_decode(worker.schedule + worker.wire.schedule_bytes, &worker.workload, &diag) <
	    0)
		give_up("workload", diag.text);
	memory_plan();
	take_kept();
}

static void begin_preload(bool again)
{
	struct swapfault_config config = {
		.size_bytes = sizeof(config),
		.schedule = worker.schedule,
		.backend = (int)worker.wire.backend,
		.seed = worker.wire.seed,
		.log_fd = again ? SWAPFAULT_LOG_KEPT : worker.fds[WIRE_FD_LOG],
		.work_dir = worker.work_dir,
		.sector_bytes = worker.wire.sector_bytes,
		.memory_align_bytes = worker.wire.memory_align_bytes,
		.deadline_ns = worker.wire.deadline_ns,
		.image = worker.wire.image,
		.journal_fd = again ? 0 : worker.fds[WIRE_FD_JOURNAL],
	};
	char text[256] = "";
	int error;

	if (!control_found())
		give_up("preload", "libswapfault.so is not in this process");
	error = control_begin(&config, text, sizeof(text));
	if (error < 0)
		give_up("preload", text[0] ? text : strerror(-error));
	if (again)
		return;
	raw_close(worker.fds[WIRE_FD_LOG]); /* the preload keeps its own */
	raw_close(worker.fds[WIRE_FD_JOURNAL]);
}

static void limit(__rlimit_resource_t resource, uint64_t bytes)
{
	struct rlimit limits = {.rlim_cur = bytes, .rlim_max = bytes};

	if (bytes != UINT64_MAX && setrlimit(resource, &limits) < 0)
		give_up("setrlimit", strerror(errno));
}

static void set_limits(void)
{
	const struct limits *limits = &worker.workload.limits;

	signal(SIGXFSZ, SIG_IGN); /* EFBIG instead */
	limit(RLIMIT_MEMLOCK, limits->memlock_bytes);
	limit(RLIMIT_NOFILE, limits->nofile);
	limit(RLIMIT_FSIZE, limits->fsize_bytes);
	limit(RLIMIT_AS, limits->address_space_bytes);
}

static void set_up(bool again)
{
	if (chdir(worker.work_dir) < 0)
		give_up(worker.work_dir, strerror(errno));
	begin_preload(again);
	set_limits();
	counts_tell_before();
}

/* What was started and never waited for; with the faults over, it has to come. */
static void drain(void)
{
	unsigned lost = worker.handle ? transfer_drain(DRAIN_TIMEOUT_NS) : 0;

	if (kept.store)
		lost += swap_drain(DRAIN_TIMEOUT_NS);

	if (lost)
		tell_aborted(lost);
}

/* Slots that steps kept. */
static void release_all(void)
{
	for (unsigned i = 0; i < WORKLOAD_TENSORS_MAX; i++) {
		int error = swap_release(i);

		if (error < 0)
			tell_wrong("swapio_slot_release at the end: %s", strerror(-error));
	}
}

static void close_handle(void)
{
	int error;

	if (!worker.handle)
		return;
	error = kept_close(DRAIN_TIMEOUT_NS);
	if (error < 0) { /* its threads use the handle: neither of the two can go */
		worker.aborted = true;
		tell_call("last close", error, "the store");
		return;
	}
	tell_stats(worker.handle);
	memory_forget_all(true);
	error = swapio_close(worker.handle, DRAIN_TIMEOUT_NS);
	if (error < 0) {
		worker.aborted = true;
		tell_call("last close", error, "");
		swapio_abort(worker.handle);
	}
	worker.handle = NULL;
}

/* Somebody else keeps faults of this case, those of a device. */
static void tell_arming(uint32_t step)
{
	if (worker.wire.tell_arming)
		step_pause(step, false);
}

static void arm(void)
{
	tell_arming(WIRE_STEP_ARM);
	control_arm();
}

static void run(void)
{
	bool early = worker.workload.arm_before_open;

	if (early)
		arm();
	step_open(NULL);
	if (!early)
		arm();
	step_run_all();
	control_disarm();
	tell_arming(WIRE_STEP_DISARM);
	drain();
	release_all();
	if (worker.workload.aftermath && worker.handle) {
		aftermath_probe();
		aftermath_store();
	}
	close_handle();
	memory_forget_all(true);
}

/* @again: this process had a case before, and nothing of it is left. */
static void run_case(const void *message, bool again)
{
	take_message(message);
	set_up(again);
	run();
	if (promised_counts())
		tell_all_kept();
	counts_tell_after();
	leaks_look();
	tell_end();
}

_Noreturn void case_run(const void *message, const int fds[WIRE_FD_COUNT])
{
	memcpy(worker.fds, fds, sizeof(worker.fds));
	if (tell_open(fds[WIRE_FD_OUTCOME]) < 0)
		case_leave(EXIT_FAILURE);
	for (bool again = false; message; again = true) {
		run_case(message, again);
		message = stay_is_clean() ? stay_for_next() : NULL;
	}
	case_leave(EXIT_SUCCESS);
}
