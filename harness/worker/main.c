/* SPDX-License-Identifier: MIT */
/*
 * main.c - the fork server: receives cases on a socket, forks a process for each, says when it
 * began and how it ended. It has one thread and allocates nothing, so that a fork is cheap; it
 * ends, and its children with it, when the harness is gone.
 *
 * usage: swaptorture-worker SOCKET   (started by swaptorture, not by hand)
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "raw.h"
#include "worker.h"

#define CHILDREN_MAX 1024u

static struct child {
	pid_t pid; /* 0: free */
	uint32_t id;
} children[CHILDREN_MAX];

static char message[WIRE_MESSAGE_BYTES];

static void report(int socket, enum wire_report_kind kind, uint32_t id, pid_t pid, int status)
{
	struct wire_report out = {
		.magic = WIRE_MAGIC,
		.version = WIRE_VERSION,
		.kind = kind,
		.id = id,
		.pid = pid,
		.status = status,
	};

	if (wire_send(socket, &out, sizeof(out), NULL, 0) < 0)
		exit(EXIT_FAILURE); /* the harness is gone */
}

static struct child *free_child(void)
{
	for (unsigned i = 0; i < CHILDREN_MAX; i++)
		if (!children[i].pid)
			return &children[i];
	return NULL;
}

/* In the new process: nothing of the server's stays but the memory. */
static _Noreturn void become_case(int socket, int signals, const int fds[WIRE_FD_COUNT])
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	raw_close(socket);
	raw_close(signals);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	case_run(message, fds);
}

static bool is_whole(size_t bytes, const int fds[WIRE_FD_COUNT])
{
	for (unsigned i = 0; i < WIRE_FD_COUNT; i++)
		if (fds[i] < 0)
			return false;
	return wire_case_is_whole(message, bytes);
}

static void start_case(int socket, int signals, size_t bytes, const int fds[WIRE_FD_COUNT])
{
	uint32_t id = ((const struct wire_case *)(const void *)message)->id;
	struct child *child = free_child();
	pid_t pid = -1;
	int error = EINVAL;

	if (child && is_whole(bytes, fds)) {
		pid = fork();
		error = errno;
	}
	if (pid == 0)
		become_case(socket, signals, fds);
	for (unsigned i = 0; i < WIRE_FD_COUNT; i++)
		if (fds[i] >= 0)
			raw_close(fds[i]);
	if (pid < 0) {
		report(socket, WIRE_REFUSED, id, 0, -error);
		return;
	}
	*child = (struct child){pid, id};
	report(socket, WIRE_STARTED, id, pid, 0);
}

static void reap(int socket)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (unsigned i = 0; i < CHILDREN_MAX; i++) {
			if (children[i].pid != pid)
				continue;
			report(socket, WIRE_ENDED, children[i].id, pid, status);
			children[i].pid = 0;
			break;
		}
	}
}

static int watch_children(void)
{
	sigset_t child_ended;

	sigemptyset(&child_ended);
	sigaddset(&child_ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child_ended, NULL);
	return signalfd(-1, &child_ended, SFD_NONBLOCK | SFD_CLOEXEC);
}

static int serve(int socket, int signals)
{
	struct pollfd polled[] = {{.fd = socket, .events = POLLIN},
				  {.fd = signals, .events = POLLIN}};
	struct signalfd_siginfo ignored[8];
	int fds[WIRE_FD_COUNT];

	for (;;) {
		if (poll(polled, 2, -1) < 0 && errno != EINTR)
			return EXIT_FAILURE;
		if (polled[1].revents & POLLIN) {
			raw_read(signals, ignored, sizeof(ignored));
			reap(socket);
		}
		if (polled[0].revents) {
			long bytes =
				wire_receive(socket, message, sizeof(message), fds, WIRE_FD_COUNT);

			if (bytes <= 0)
				return EXIT_SUCCESS;
			start_case(socket, signals, (size_t)bytes, fds);
		}
	}
}

int main(int count, char **arguments)
{
	int socket = count == 2 ? (int)strtol(arguments[1], NULL, 10) : -1;
	int signals;

	if (socket < 3) {
		fprintf(stderr, "usage: swaptorture-worker SOCKET (started by swaptorture)\n");
		return 2;
	}
	signals = watch_children();
	if (signals < 0)
		return EXIT_FAILURE;
	control_find();
	report(socket, WIRE_HELLO, 0, getpid(), control_found() ? 0 : -ENOSYS);
	return serve(socket, signals);
}
