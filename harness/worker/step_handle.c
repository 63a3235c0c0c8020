/* SPDX-License-Identifier: MIT */
/*
 * step_handle.c - open, close, abort, and a fork with the handle open.
 */
#include <string.h>
#include <sys/wait.h>

#include "raw.h"
#include "swap.h"

/* What the forked child found; its exit status. */
#define CHILD_SUBMIT_TAKEN 1
#define CHILD_WAIT_TAKEN 2
#define CHILD_CLOSE_FAILED 4
#define CHILD_SWAP_TAKEN 8

int handle_open(struct swapio **ret_handle, struct swapio_error *error)
{
	const struct handle_options *asked = &worker.workload.handle;
	struct swapio_options options;

	swapio_options_init(&options);
	options.block_bytes = asked->block_bytes;
	options.queue_depth = asked->queue_depth;
	options.workers = asked->workers;
	options.requests_max = asked->requests_max;
	options.bounce_slots = asked->bounce_slots;
	options.single_submit = asked->single_submit;
	options.overlap_events = asked->overlap_events;
	options.unaligned = (enum swapio_unaligned)asked->unaligned;
	options.alignment_bytes = asked->alignment_bytes;
	options.direct = (enum swapio_direct)asked->direct;
	return swapio_open(&options, error, ret_handle);
}

void step_open(const struct step *step)
{
	struct swapio_error sentence = {0};
	int error;

	(void)step;
	if (worker.handle) {
		tell_broken("open: the handle is open");
		return;
	}
	error = handle_open(&worker.handle, &sentence);
	tell_call("open", error, sentence.text);
	if (error < 0)
		return;
	tell_opened(worker.handle);
	if (worker.workload.store.used)
		step_store_open(NULL);
}

/* Buffers live no longer than their handle; those in use stay until it is gone. */
void step_close(const struct step *step)
{
	int error;

	error = kept_close(step_timeout(step));
	if (error < 0) {
		tell_call("store-close", error, "");
		return;
	}
	if (!transfer_any_started())
		memory_forget_all(true);
	tell_stats(worker.handle);
	error = swapio_close(worker.handle, step_timeout(step));
	tell_call("close", error, "");
	if (error < 0)
		return;
	worker.handle = NULL;
	transfer_forget_started();
	memory_forget_all(false);
}

void step_abort(const struct step *step)
{
	(void)step;
	worker.aborted = true;
	tell_stats(worker.handle);
	swapio_abort(worker.handle);
	tell_call("abort", 0, "");
	tell_aborted(0);
	worker.handle = NULL;
	transfer_forget_started();
	memory_forget_all(false);
}

/* The store, too, is the parent's; closing it in the child takes nothing from the parent. */
static int child_store_result(void)
{
	struct swapio_tensor tensor = {
		.size_bytes = sizeof(tensor), .name = "t", .numel = 1, .element_bytes = 1};
	struct swapio_group *group;
	int status = 0;

	if (!kept.store)
		return 0;
	if (swapio_group_open(kept.store, "fork", &tensor, 1, NULL, &group) != -ECHILD)
		status |= CHILD_SWAP_TAKEN;
	if (kept_close(0) != 0)
		status |= CHILD_CLOSE_FAILED;
	return status;
}

static int child_result(void)
{
	static char memory[4096] __attribute__((aligned(4096)));
	struct swapio_io io = {
		.size_bytes = sizeof(io),
		.op = SWAPIO_READ,
		.path = "fork.child",
		.fd = -1,
		.length_bytes = sizeof(memory),
		.buf = memory,
	};
	struct swapio_result result;
	swapio_id id = 0;
	int status = child_store_result();

	if (swapio_submit(worker.handle, &io, NULL, &id) != -ECHILD)
		status |= CHILD_SUBMIT_TAKEN;
	if (swapio_wait_some(worker.handle, 0, 1, 0, &result) != -ECHILD)
		status |= CHILD_WAIT_TAKEN;
	if (swapio_close(worker.handle, 0) != 0)
		status |= CHILD_CLOSE_FAILED;
	return status;
}

void step_fork(const struct step *step)
{
	pid_t pid = fork();
	int status = -1;

	(void)step;
	if (pid == 0)
		syscall(SYS_exit_group, child_result());
	if (pid < 0) {
		tell_broken("fork: %s", strerror(errno));
		return;
	}
	while (syscall(SYS_wait4, pid, &status, 0, NULL) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status))
		tell_wrong("a forked child that used the parent's handle died of signal %d",
			   WTERMSIG(status));
	else if (WEXITSTATUS(status))
		tell_wrong(
			"a forked child used the parent's handle:%s%s%s%s (status %d)",
			WEXITSTATUS(status) & CHILD_SUBMIT_TAKEN ? " submit was not refused" : "",
			WEXITSTATUS(status) & CHILD_WAIT_TAKEN ? " wait was not refused" : "",
			WEXITSTATUS(status) & CHILD_CLOSE_FAILED ? " close failed" : "",
			WEXITSTATUS(status) & CHILD_SWAP_TAKEN ? " group_open was not refused" : "",
			WEXITSTATUS(status));
}
