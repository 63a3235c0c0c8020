/* SPDX-License-Identifier: MIT */
/*
 * exec.c - starts the program, serves what its preload asks, and waits for its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "exec.h"
#include "jobctl.h"

#define SLICE_NS 1000000       /* how long a request for job control may wait for us */
#define SLICE_WAITING_NS 50000 /* ... while a thread is on its way into its wait */

struct child {
	pid_t pid;
	bool own_group;
	uint64_t begin_ns, deadline_ns; /* deadline 0: none */
	bool overdue, interrupted;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The child as it was before we changed what it would inherit. */
static __attribute__((noreturn)) void begin_child(const struct exec_options *options,
						  const sigset_t *mask, const char *log_path,
						  int error_fd)
{
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (options->deadline_ns)
		setpgid(0, 0);
	exec_become(options, log_path, error_fd);
}

/* The errno of exec, or 0 once the pipe closed because exec succeeded. */
static int read_error(int fd)
{
	int error = 0;
	ssize_t count;

	do
		count = read(fd, &error, sizeof(error));
	while (count < 0 && errno == EINTR);
	close(fd);
	return count == sizeof(error) ? error : 0;
}

/* A name for a file without one: it needs no place, and nothing of it is left behind. */
static void name_log(char log_path[64], int log_fd)
{
	snprintf(log_path, 64, "/proc/%d/fd/%d", getpid(), log_fd);
}

int exec_start(const struct exec_options *options, const sigset_t *mask, int log_fd, pid_t *ret_pid)
{
	int pipe_fds[2], error;
	char log_path[64];
	pid_t pid;

	name_log(log_path, log_fd);
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid < 0) {
		error = errno;
		close(pipe_fds[0]);
		close(pipe_fds[1]);
		return -error;
	}
	if (pid == 0)
		begin_child(options, mask, log_path, pipe_fds[1]);
	close(pipe_fds[1]);
	error = read_error(pipe_fds[0]);
	if (error) {
		waitpid(pid, NULL, 0);
		return -error;
	}
	*ret_pid = pid;
	return 0;
}

static void end_overdue(struct child *child)
{
	if (!child->deadline_ns || child->overdue || now_ns() < child->deadline_ns)
		return;
	child->overdue = true;
	kill(-child->pid, SIGKILL);
	kill(child->pid, SIGKILL);
}

/* Ctrl-C reaches the program by itself unless it has a group of its own. */
static void pass_on(struct child *child, int signal)
{
	if (signal == SIGCHLD)
		return;
	child->interrupted = true;
	if (child->own_group)
		kill(-child->pid, signal);
	else if (signal == SIGTERM || signal == SIGHUP)
		kill(child->pid, signal);
}

static int wait_for_end(struct child *child, const sigset_t *signals,
			struct eventlog_header *header)
{
	int status, signal;

	while (waitpid(child->pid, &status, WNOHANG) != child->pid) {
		enum jobctl served = jobctl_serve(header);
		struct timespec slice = {
			.tv_nsec = served == JOBCTL_WAITING ? SLICE_WAITING_NS : SLICE_NS,
		};

		end_overdue(child);
		signal = sigtimedwait(signals, NULL, &slice);
		if (signal > 0)
			pass_on(child, signal);
	}
	return status;
}

/* Signals that end us, and the one of a child that ended, are looked at between two slices. What
 * was ignored from the start stays ignored: blocked, it would be taken for an interrupt. */
static void block_signals(sigset_t *ret_signals, sigset_t *ret_before)
{
	static const int numbers[] = {SIGCHLD, SIGINT, SIGQUIT, SIGTERM, SIGHUP};
	struct sigaction action;

	sigemptyset(ret_signals);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i] == SIGCHLD ||
		    (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN))
			sigaddset(ret_signals, numbers[i]);
	sigprocmask(SIG_BLOCK, ret_signals, ret_before);
}

int exec_run(const struct exec_options *options, int log_fd, struct eventlog *log,
	     struct exec_end *ret_end, struct diag *diag)
{
	struct child child = {.own_group = options->deadline_ns != 0, .begin_ns = now_ns()};
	sigset_t signals, before;
	int result;

	if (options->deadline_ns)
		child.deadline_ns = child.begin_ns + (uint64_t)options->deadline_ns;
	block_signals(&signals, &before);
	result = exec_start(options, &before, log_fd, &child.pid);
	if (result == 0) {
		ret_end->status = wait_for_end(&child, &signals, eventlog_header(log));
		ret_end->overdue = child.overdue;
		ret_end->interrupted = child.interrupted;
		ret_end->duration_ns = now_ns() - child.begin_ns;
	} else {
		diag_set(diag, options->argv[0], 0, 0, "%s", strerror(-result));
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return result;
}
