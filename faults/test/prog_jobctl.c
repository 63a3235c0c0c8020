/* SPDX-License-Identifier: MIT */
/*
 * prog_jobctl.c - stands in for the harness: makes an event log, runs a program that writes to it,
 * and stops and continues it, or attaches to it, as the program's preload asks.
 *
 *   prog_jobctl LOG PROGRAM [ARGUMENT...]    exit status of the program
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eventlog.h"

#define TRIES_MAX 20000
#define SYS_PGETEVENTS 333

#define LOOK_INTERVAL_NS 1000000

/* The number of the call that the thread is in, -1 if in none. */
static long call_of(const struct eventlog_header *header)
{
	char path[64];
	long number = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", header->request_pid,
		 header->request_tid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%ld", &number) != 1)
		number = -1;
	fclose(file);
	return number;
}

static int until_in_wait(const struct eventlog_header *header)
{
	for (int i = 0; i < TRIES_MAX; i++) {
		long number = call_of(header);

		if (number == SYS_io_getevents || number == SYS_PGETEVENTS)
			return 0;
		sched_yield();
	}
	return -ETIME;
}

static int stop(const struct eventlog_header *header)
{
	int status;

	if (kill(header->request_pid, SIGSTOP) < 0)
		return -errno;
	if (waitpid(header->request_pid, &status, WUNTRACED) < 0 || !WIFSTOPPED(status))
		return -ECHILD;
	return kill(header->request_pid, SIGCONT) < 0 ? -errno : 1;
}

static int attach(const struct eventlog_header *header)
{
	int status;

	if (ptrace(PTRACE_ATTACH, header->request_tid, NULL, NULL) < 0)
		return -errno;
	if (waitpid(header->request_tid, &status, __WALL) < 0)
		return -errno;
	return ptrace(PTRACE_DETACH, header->request_tid, NULL, NULL) < 0 ? -errno : 1;
}

static int serve(const struct eventlog_header *header, uint32_t request)
{
	int err = until_in_wait(header);

	if (err)
		return err;
	return request == EVENTLOG_REQUEST_STOP ? stop(header) : attach(header);
}

static int serve_until_end(struct eventlog_header *header, pid_t child)
{
	struct timespec interval = {0, LOOK_INTERVAL_NS};
	int status;

	while (waitpid(child, &status, WNOHANG) == 0) {
		uint32_t request = __atomic_load_n(&header->request, __ATOMIC_ACQUIRE);

		if (request == EVENTLOG_REQUEST_NONE) {
			syscall(SYS_futex, &header->request, FUTEX_WAIT, request, &interval);
			continue;
		}
		header->answer = serve(header, request);
		__atomic_store_n(&header->request, EVENTLOG_REQUEST_NONE, __ATOMIC_RELEASE);
		syscall(SYS_futex, &header->request, FUTEX_WAKE, 1);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	struct eventlog *log;
	pid_t child;
	int fd, err;

	if (argc < 3)
		return 2;
	fd = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	err = fd < 0 ? -errno : eventlog_init(fd);
	if (!err)
		err = eventlog_open(fd, &log);
	if (err) {
		fprintf(stderr, "%s: error %d\n", argv[1], -err);
		return 1;
	}
	child = fork();
	if (child == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	return child < 0 ? 1 : serve_until_end(eventlog_header(log), child);
}
