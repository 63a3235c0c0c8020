/* SPDX-License-Identifier: MIT */
/*
 * plan_needs.c - does this machine have what a scenario needs? Asked by trying, not by version.
 *
 * In sim the preload stands in for the kernel, so that what is needed of a kernel is always there.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine.h"
#include "exec.h"
#include "number.h"
#include "plan_internal.h"

#define PROGRAM "program-"

struct asked {
	const char *name; /* of program-NAME */
	const char *work_root;
	uint64_t bytes; /* of disk-N, memory-N */
	char *reason;
	size_t reason_bytes;
};

typedef int need_fn(const struct asked *asked);

static __attribute__((format(printf, 2, 3))) int lacks(const struct asked *asked,
						       const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(asked->reason, asked->reason_bytes, format, arguments);
	va_end(arguments);
	return 1;
}

/* A context that does not exist: EINVAL if the call is there at all. */
static int pgetevents_error(void)
{
	syscall(SYS_io_pgetevents, 0L, 1L, 1L, NULL, NULL, NULL);
	return errno == EINVAL ? 0 : errno;
}

static int need_pgetevents(const struct asked *asked)
{
	int error = pgetevents_error();

	return error ? lacks(asked, "io_pgetevents: %s", strerror(error)) : 0;
}

/* Either the mask of io_pgetevents opens for the signal, or we see a thread sit in its wait. */
static int need_signal_exact(const struct asked *asked)
{
	int error = pgetevents_error(), fd;

	if (!error)
		return 0;
	fd = open("/proc/self/syscall", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return lacks(asked, "exact signals: io_pgetevents: %s, /proc/self/syscall: %s",
			     strerror(error), strerror(errno));
	close(fd);
	return 0;
}

static int try_ptrace(pid_t child)
{
	int status, error = 0;

	if (ptrace(PTRACE_ATTACH, child, NULL, NULL) < 0)
		return errno;
	if (waitpid(child, &status, __WALL) < 0)
		error = errno;
	ptrace(PTRACE_DETACH, child, NULL, NULL);
	return error;
}

static int need_ptrace(const struct asked *asked)
{
	pid_t child = fork();
	int error;

	if (child < 0)
		return lacks(asked, "ptrace: fork: %s", strerror(errno));
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	error = try_ptrace(child);
	kill(child, SIGKILL);
	while (waitpid(child, NULL, __WALL) < 0 && errno == EINTR)
		;
	return error ? lacks(asked, "ptrace: %s", strerror(error)) : 0;
}

static int need_direct_io(const struct asked *asked)
{
	int fd = open(asked->work_root, O_TMPFILE | O_RDWR | O_DIRECT | O_CLOEXEC, 0600);

	if (fd < 0)
		return lacks(asked, "O_DIRECT in %s: %s", asked->work_root, strerror(errno));
	close(fd);
	return 0;
}

/* What direct I/O asks of offsets in files there, if anybody says so. */
static int told_alignment(const struct asked *asked, uint32_t *ret_bytes)
{
	int error = machine_offset_alignment(asked->work_root, ret_bytes);

	if (error < 0)
		return lacks(asked, "alignment of direct I/O in %s: %s", asked->work_root,
			     strerror(-error));
	if (*ret_bytes)
		return 0;
	return lacks(asked, "alignment of direct I/O in %s: statx does not tell it",
		     asked->work_root);
}

static int need_dio_align(const struct asked *asked)
{
	uint32_t bytes;

	return told_alignment(asked, &bytes);
}

static int need_dio_align_512(const struct asked *asked)
{
	uint32_t bytes;

	if (told_alignment(asked, &bytes))
		return 1;
	return bytes <= 512 ? 0
			    : lacks(asked, "alignment of direct I/O in %s: %u bytes, 512 needed",
				    asked->work_root, bytes);
}

static int need_root(const struct asked *asked)
{
	return geteuid() == 0 ? 0 : lacks(asked, "root: user id is %u", geteuid());
}

static int need_disk(const struct asked *asked)
{
	uint64_t available;
	int error = machine_disk(asked->work_root, &available);

	if (error < 0)
		return lacks(asked, "disk space of %s: %s", asked->work_root, strerror(-error));
	if (available >= asked->bytes)
		return 0;
	return lacks(asked, "disk space in %s: %llu MiB free, %llu MiB needed", asked->work_root,
		     (unsigned long long)(available >> 20),
		     (unsigned long long)(asked->bytes >> 20));
}

static int need_memory(const struct asked *asked)
{
	uint64_t available;
	int error = machine_memory(&available);

	if (error < 0)
		return lacks(asked, "memory: /proc/meminfo: %s", strerror(-error));
	if (available >= asked->bytes)
		return 0;
	return lacks(asked, "memory: %llu MiB available, %llu MiB needed",
		     (unsigned long long)(available >> 20),
		     (unsigned long long)(asked->bytes >> 20));
}

const char *plan_need_program(const char *need)
{
	return strncmp(need, PROGRAM, strlen(PROGRAM)) == 0 ? need + strlen(PROGRAM) : NULL;
}

static int need_program(const struct asked *asked)
{
	char path[PATH_MAX];
	int result = exec_find_program(asked->name, path, sizeof(path));

	return result < 0 ? lacks(asked, "program %s: %s", asked->name, strerror(-result)) : 0;
}

static const struct need {
	const char *name; /* ends with - when a size or a name follows */
	need_fn *check;
	bool of_kernel; /* sim has it anyway */
} needs[] = {
	{"signal-exact", need_signal_exact, true},
	{"ptrace", need_ptrace, true},
	{"io_pgetevents", need_pgetevents, true},
	{"direct-io", need_direct_io, true},
	{"dio-align", need_dio_align, true},
	{"dio-align-512", need_dio_align_512, true},
	{"root", need_root, false},
	{"disk-", need_disk, false},
	{"memory-", need_memory, false},
	{PROGRAM, need_program, false},
};

int plan_need_check(const char *need, enum target target, const char *work_root, char *reason,
		    size_t reason_bytes)
{
	struct asked asked = {
		.work_root = work_root, .reason = reason, .reason_bytes = reason_bytes};

	for (size_t i = 0; i < sizeof(needs) / sizeof(needs[0]); i++) {
		size_t length = strlen(needs[i].name);
		bool more = needs[i].name[length - 1] == '-';

		if (strncmp(need, needs[i].name, length) != 0 || (!more && need[length]))
			continue;
		if (target == TARGET_SIM && needs[i].of_kernel)
			return 0;
		asked.name = need + length;
		if (more && needs[i].check != need_program &&
		    number_bytes(need + length, &asked.bytes) < 0)
			break;
		return needs[i].check(&asked);
	}
	return lacks(&asked, "'%s' is no need that is known here", need);
}
