/* SPDX-License-Identifier: MIT */
/*
 * run_guest.c - the run's end of the process that runs cases in a guest.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run_guest_internal.h"
#include "run_internal.h"

static bool is_needed(const struct run *run)
{
	if (run->options->in_guest || run->options->under)
		return false; /* see run_under_refuses() */
	for (unsigned i = 0; i < run->plan->count; i++)
		if (guest_lane_has(&run->plan->cases[i]))
			return true;
	return false;
}

static _Noreturn void become_lane(const struct run *run, pid_t parent, int socket)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	signal(SIGINT, SIG_IGN); /* the run decides, and ends us */
	signal(SIGHUP, SIG_IGN);
	guest_lane_main(run->plan, run->root.disk, run->options->kernel, socket);
}

int run_guest_start(struct run *run)
{
	struct run_guest *guest = &run->guest;
	pid_t parent = getpid();
	int ends[2];

	if (!is_needed(run))
		return 0;
	guest->told = calloc(run->plan->count, sizeof(*guest->told));
	if (!guest->told || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return guest->told ? -errno : -ENOMEM;
	guest->pid = fork();
	if (guest->pid == 0) {
		close(ends[0]);
		become_lane(run, parent, ends[1]);
	}
	close(ends[1]);
	guest->socket = ends[0];
	if (guest->pid < 0) {
		int error = -errno;

		guest->pid = 0;
		close(ends[0]);
		return error;
	}
	run->active++;
	return 0;
}

/* Who asked for guests by name is told that there is none; else what needs one is left out. */
static void take_refusal(struct run *run, const struct guest_message *message)
{
	snprintf(run->guest.refused, sizeof(run->guest.refused), "%s", message->result.reason);
	if (!run->options->guest_is_a_must)
		return;
	run->error = diag_set(run->diag, NULL, 0, 0, "target nvme: %s", run->guest.refused);
}

static void report_untold(struct run *run, int status)
{
	struct case_result *result = calloc(1, sizeof(*result));
	bool refused = run->guest.refused[0];

	for (unsigned i = 0; result && !run->error && i < run->plan->count; i++) {
		if (!guest_lane_has(&run->plan->cases[i]) || run->guest.told[i])
			continue;
		result->test_case = &run->plan->cases[i];
		result->verdict = refused ? VERDICT_SKIP : VERDICT_BROKEN;
		if (refused)
			snprintf(result->reason, sizeof(result->reason), "%.*s",
				 FINDING_TEXT_BYTES - 1, run->guest.refused);
		else
			snprintf(result->reason, sizeof(result->reason),
				 "what runs the guest died (wait status %#x)", (unsigned)status);
		run_report(run, result);
	}
	free(result);
}

static int reap(struct run_guest *guest)
{
	int status = 0;

	while (waitpid(guest->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(guest->socket);
	guest->pid = 0;
	return status;
}

static void lane_ended(struct run *run)
{
	int status = reap(&run->guest);

	run->active--;
	report_untold(run, status);
}

void run_guest_readable(struct run *run)
{
	static struct guest_message message;
	ssize_t got = recv(run->guest.socket, &message, sizeof(message), MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got != (ssize_t)sizeof(message)) {
		lane_ended(run);
		return;
	}
	if (message.refused) {
		take_refusal(run, &message);
		return;
	}
	message.result.test_case = &run->plan->cases[message.index];
	run->guest.told[message.index] = true;
	run->root.kept |= message.result.work_dir[0] != '\0';
	run_report(run, &message.result);
}

void run_guest_stop(struct run *run)
{
	struct run_guest *guest = &run->guest;

	if (guest->pid) {
		kill(guest->pid, SIGKILL);
		reap(guest);
		run->active--;
	}
	free(guest->told);
	guest->told = NULL;
}
