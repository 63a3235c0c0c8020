/* SPDX-License-Identifier: MIT */
/*
 * spawn.c - fork, exec, wait with a deadline. What the program says goes into memfds, so that it
 * never waits for its reader.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest_wait.h"
#include "spawn.h"

#define OUTPUT_BYTES_MAX (1024u * 1024)

void spawn_prepare_child(pid_t parent)
{
	static const int defaults[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ, SIGCHLD};
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent) /* it died before it could take us along */
		_exit(126);
	for (size_t i = 0; i < sizeof(defaults) / sizeof(*defaults); i++)
		signal(defaults[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void become(const struct spawn_options *options, pid_t parent, int out, int error)
{
	int nothing = open("/dev/null", O_RDONLY);

	spawn_prepare_child(parent);
	setsid(); /* Ctrl-C is the caller's to handle */
	dup2(nothing, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(error, STDERR_FILENO);
	if (options->fd >= 0)
		fcntl(options->fd, F_SETFD, 0);
	for (const char *const *pair = options->environment; pair && *pair; pair += 2)
		setenv(pair[0], pair[1], 1);
	execvp(options->argv[0], options->argv);
	_exit(127);
}

static char *read_all(int fd)
{
	off_t end = lseek(fd, 0, SEEK_END);
	size_t bytes = end > (off_t)OUTPUT_BYTES_MAX ? OUTPUT_BYTES_MAX : (size_t)end;
	char *text = calloc(1, bytes + 1);

	if (text && pread(fd, text, bytes, 0) < 0)
		text[0] = '\0';
	return text;
}

static int await_exit(pid_t pid, const struct spawn_options *options, int *ret_status)
{
	static const struct guest_interrupt none = {0};
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), error = fd < 0 ? -errno : 0;
	struct pollfd polled = {.fd = fd, .events = POLLIN};

	if (error == 0)
		error = guest_wait(&polled, 1, guest_deadline(options->deadline_ms),
				   options->interrupt ? options->interrupt : &none);
	if (error < 0)
		kill(pid, SIGKILL);
	while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
		;
	if (fd >= 0)
		close(fd);
	return error;
}

int spawn_run(const struct spawn_options *options, struct spawn_result *ret_result)
{
	int out = memfd_create("out", MFD_CLOEXEC), errors = memfd_create("err", MFD_CLOEXEC);
	pid_t parent = getpid(), pid = out < 0 || errors < 0 ? -1 : fork();
	int result = pid < 0 ? -errno : 0;

	*ret_result = (struct spawn_result){0};
	if (pid == 0)
		become(options, parent, out, errors);
	if (result == 0)
		result = await_exit(pid, options, &ret_result->status);
	if (result == 0) {
		ret_result->out = read_all(out);
		ret_result->error = read_all(errors);
		if (!ret_result->out || !ret_result->error)
			result = -ENOMEM;
	}
	if (result < 0)
		spawn_fini(ret_result);
	if (out >= 0)
		close(out);
	if (errors >= 0)
		close(errors);
	return result;
}

bool spawn_can(const char *program)
{
	const char *rest = getenv("PATH");
	char path[PATH_MAX];

	for (rest = rest ? rest : "/usr/bin:/bin"; *rest;) {
		size_t length = strcspn(rest, ":");
		int bytes = snprintf(path, sizeof(path), "%.*s/%s", (int)length,
				     length ? rest : ".", program);

		if (bytes < (int)sizeof(path) && access(path, X_OK) == 0)
			return true;
		rest += length + (rest[length] == ':');
	}
	return false;
}

void spawn_fini(struct spawn_result *result)
{
	free(result->out);
	free(result->error);
	*result = (struct spawn_result){0};
}
