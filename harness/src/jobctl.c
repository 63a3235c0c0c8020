/* SPDX-License-Identifier: MIT */
/*
 * jobctl.c - stop, continue, attach, detach.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "jobctl.h"

#define POLL_NS 50000
#define POLLS_MAX 20000 /* a second */
#define ANCESTORS_MAX 64

/* One line of /proc/PID/task/TID/NAME; -errno. */
static int read_proc(pid_t pid, pid_t tid, const char *name, char text[512])
{
	char path[64];
	ssize_t count;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	count = read(fd, text, 511);
	if (count < 0)
		count = -errno;
	close(fd);
	text[count < 0 ? 0 : count] = '\0';
	return count < 0 ? (int)count : 0;
}

/* State letter and parent; the command between them may hold blanks and brackets. */
static int read_stat(pid_t pid, pid_t tid, char *ret_state, pid_t *ret_parent)
{
	char text[512];
	int result = read_proc(pid, tid, "stat", text);
	const char *end = result < 0 ? NULL : strrchr(text, ')');

	if (result < 0)
		return result;
	if (!end || sscanf(end + 1, " %c %d", ret_state, ret_parent) != 2)
		return -EIO;
	return 0;
}

static bool is_ours(pid_t pid)
{
	pid_t own = getpid();
	char state;

	for (unsigned i = 0; i < ANCESTORS_MAX && pid > 1; i++)
		if (read_stat(pid, pid, &state, &pid) < 0)
			return false;
		else if (pid == own)
			return true;
	return false;
}

/* 1: blocked in io_getevents or io_pgetevents, 0: elsewhere, -errno. */
static int sits_in_wait(pid_t pid, pid_t tid)
{
	char text[512];
	int result = read_proc(pid, tid, "syscall", text);
	long number;

	if (result < 0)
		return result;
	if (!isdigit((unsigned char)text[0])) /* "running" */
		return 0;
	number = strtol(text, NULL, 10);
	return number == SYS_io_getevents || number == SYS_io_pgetevents;
}

static void pause_briefly(void)
{
	const struct timespec time = {.tv_nsec = POLL_NS};

	nanosleep(&time, NULL);
}

static int wait_for_state(pid_t pid, pid_t tid, char wanted)
{
	for (unsigned i = 0; i < POLLS_MAX; i++) {
		char state = 0;
		pid_t parent;
		int result = read_stat(pid, tid, &state, &parent);

		if (result < 0)
			return result;
		if (state == wanted)
			return 0;
		if (state == 'Z' || state == 'X')
			return -ESRCH;
		pause_briefly();
	}
	return -ETIME;
}

static int stop_and_continue(pid_t pid, pid_t tid)
{
	int result;

	if (kill(pid, SIGSTOP) < 0)
		return -errno;
	result = wait_for_state(pid, tid, 'T');
	/* Continue in any case: nothing may stay stopped behind us. */
	if (kill(pid, SIGCONT) < 0 && result == 0)
		result = -errno;
	return result;
}

/* Asks for stops alone: the end of a child of ours stays for those who wait for it. */
static int wait_for_trap(pid_t tid)
{
	for (unsigned i = 0; i < POLLS_MAX; i++) {
		siginfo_t info = {0};

		if (waitid(P_PID, (id_t)tid, &info, WSTOPPED | WNOHANG | __WALL) < 0)
			return -errno;
		if (info.si_pid == tid)
			return 0;
		pause_briefly();
	}
	return -ETIME;
}

static int attach_and_leave(pid_t tid)
{
	int result;

	if (ptrace(PTRACE_ATTACH, tid, NULL, NULL) < 0)
		return -errno;
	result = wait_for_trap(tid);
	if (ptrace(PTRACE_DETACH, tid, NULL, NULL) < 0 && result == 0)
		result = -errno;
	return result;
}

static int carry_out(enum eventlog_request request, pid_t pid, pid_t tid)
{
	switch (request) {
	case EVENTLOG_REQUEST_STOP:
		return stop_and_continue(pid, tid);
	case EVENTLOG_REQUEST_ATTACH:
		return attach_and_leave(tid);
	case EVENTLOG_REQUEST_NONE:
		break;
	}
	return -EINVAL;
}

static void tell(struct eventlog_header *header, int answer)
{
	header->answer = answer;
	__atomic_store_n(&header->request, (uint32_t)EVENTLOG_REQUEST_NONE, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &header->request, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

enum jobctl jobctl_serve(struct eventlog_header *header)
{
	uint32_t request = __atomic_load_n(&header->request, __ATOMIC_SEQ_CST);
	pid_t pid = header->request_pid, tid = header->request_tid;
	int result;

	if (request == EVENTLOG_REQUEST_NONE)
		return JOBCTL_IDLE;
	result = is_ours(pid) ? sits_in_wait(pid, tid) : -EPERM;
	if (result == 0)
		return JOBCTL_WAITING;
	if (result > 0)
		result = carry_out((enum eventlog_request)request, pid, tid);
	tell(header, result < 0 ? result : 1);
	return JOBCTL_DONE;
}
