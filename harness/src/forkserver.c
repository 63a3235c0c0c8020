/* SPDX-License-Identifier: MIT */
/*
 * forkserver.c - starts workers with the preload in place, under valgrind if asked for.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forkserver.h"

#define HELLO_TIMEOUT_SECONDS 60 /* valgrind takes its time */
#define WORKER_FD 3

struct command {
	char preload[2 * PATH_MAX + 128], socket[16], log_file[PATH_MAX + 16], tool[32];
	char suppressions[PATH_MAX + 16];
	const char *arguments[16];
};

static int command_make(struct command *command, const struct forkserver *server,
			const struct forkserver_options *options)
{
	const struct run_paths *paths = options->paths;
	unsigned count = 0;

	if (server->core[0])
		snprintf(command->preload, sizeof(command->preload), "%s/%s.so:%s", paths->meta,
			 server->core, paths->preload);
	else
		snprintf(command->preload, sizeof(command->preload), "%s", paths->preload);
	snprintf(command->socket, sizeof(command->socket), "%d", WORKER_FD);
	if (options->under) {
		snprintf(command->tool, sizeof(command->tool), "--tool=%s", options->under);
		snprintf(command->log_file, sizeof(command->log_file), "--log-file=%s/valgrind.%%p",
			 options->log_dir);
		snprintf(command->suppressions, sizeof(command->suppressions), "--suppressions=%s",
			 paths->suppressions);
		command->arguments[count++] = "valgrind";
		command->arguments[count++] = command->tool;
		command->arguments[count++] = command->log_file;
		command->arguments[count++] = command->suppressions;
		command->arguments[count++] = "--error-limit=no";
		command->arguments[count++] = "--num-callers=20";
		command->arguments[count++] = "--fair-sched=yes";
		if (strcmp(options->under, "memcheck") == 0) {
			command->arguments[count++] = "--leak-check=full";
			command->arguments[count++] = "--show-leak-kinds=definite";
			command->arguments[count++] = "--errors-for-leak-kinds=definite";
		}
	}
	command->arguments[count++] = paths->worker;
	command->arguments[count++] = command->socket;
	command->arguments[count] = NULL;
	return 0;
}

/* Behind what the user asks for; a sanitizer's report goes where run_sanitizer.c looks for it. */
static void set_sanitizer(const char *name, const char *more, const char *log_dir)
{
	const char *asked = getenv(name);
	char text[PATH_MAX + 1024];

	snprintf(text, sizeof(text), "%s%s%s:log_path=\"%s/sanitizer\"", asked ? asked : "",
		 asked ? ":" : "", more, log_dir);
	setenv(name, text, 1);
}

/*
 * What decides between a leak and a cache of the C library must be the same on every machine.
 * Leaks are looked for by the process of a case, when it is through; the server has none.
 */
static void set_environment(const struct command *command, const char *log_dir)
{
	set_sanitizer("ASAN_OPTIONS",
		      "verify_asan_link_order=0:detect_leaks=1:leak_check_at_exit=0", log_dir);
	set_sanitizer("UBSAN_OPTIONS", "print_stacktrace=1", log_dir);
	/* A race is a finding, and not a way to end. */
	set_sanitizer("TSAN_OPTIONS", "exitcode=0", log_dir);
	setenv("GLIBC_TUNABLES",
	       "glibc.pthread.stack_cache_size=0:glibc.malloc.arena_max=1:"
	       "glibc.malloc.tcache_count=0",
	       1);
	setenv("LD_BIND_NOW", "1", 1); /* once, before the forks */
	setenv("LD_PRELOAD", command->preload, 1);
}

static _Noreturn void become_worker(int socket, const struct command *command, const char *log_dir)
{
	sigset_t none;
	int nothing = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setsid(); /* Ctrl-C is the harness's to handle */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	dup2(nothing, STDIN_FILENO);
	dup2(nothing, STDOUT_FILENO);
	if (dup2(socket, WORKER_FD) < 0)
		_exit(126);
	if (socket == WORKER_FD)
		fcntl(socket, F_SETFD, 0);
	set_environment(command, log_dir);
	execvp(command->arguments[0], (char *const *)(uintptr_t)command->arguments);
	_exit(127);
}

/* An interrupt of the run ends this wait, too: with -EINTR. */
static int await_hello(struct forkserver *server, const struct run_signal *signals,
		       struct diag *diag)
{
	struct timespec timeout = {.tv_sec = HELLO_TIMEOUT_SECONDS};
	struct pollfd polled = {.fd = server->socket, .events = POLLIN};
	struct wire_report report;
	int ready;

	do
		ready = ppoll(&polled, 1, &timeout, run_signal_mask(signals));
	while (ready < 0 && errno == EINTR && !run_signal_came());
	if (ready < 0 && errno == EINTR)
		return -EINTR;
	if (ready > 0 && forkserver_receive(server, &report) == 1 && report.kind == WIRE_HELLO) {
		if (report.status == 0)
			return 0;
		diag_set(diag, NULL, 0, 0,
			 "the preload is not in the worker: static, setuid or of "
			 "another architecture?");
		return report.status;
	}
	diag_set(diag, NULL, 0, 0, "the worker does not start%s",
		 ready ? "" : ": it said nothing for a minute");
	return ready ? -EPIPE : -ETIMEDOUT;
}

int forkserver_start(struct forkserver *server, const struct forkserver_options *options,
		     struct diag *diag)
{
	struct command command;
	int ends[2], error;

	command_make(&command, server, options);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
		error = -errno;
		diag_set(diag, NULL, 0, 0, "socketpair: %s", strerror(-error));
		return error;
	}
	server->pid = fork();
	if (server->pid == 0)
		become_worker(ends[1], &command, options->log_dir);
	close(ends[1]);
	server->socket = ends[0];
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	if (server->pid < 0) {
		server->pid = 0;
		close(ends[0]);
		diag_set(diag, NULL, 0, 0, "fork: %s", strerror(EAGAIN));
		return -EAGAIN;
	}
	error = await_hello(server, options->signals, diag);
	if (error < 0) {
		kill(server->pid, SIGKILL);
		forkserver_stop(server);
	}
	return error;
}

int forkserver_stop(struct forkserver *server)
{
	int status = 0;

	if (!server->pid)
		return 0;
	close(server->socket);
	while (waitpid(server->pid, &status, 0) < 0 && errno == EINTR)
		;
	server->pid = 0;
	return status;
}

void forkserver_pool_stop(struct forkserver_pool *pool)
{
	for (unsigned i = 0; i < pool->count; i++)
		forkserver_stop(&pool->servers[i]);
	pool->count = 0;
}

int forkserver_receive(struct forkserver *server, struct wire_report *ret_report)
{
	long bytes = wire_receive(server->socket, ret_report, sizeof(*ret_report), NULL, 0);

	if (bytes == -EAGAIN)
		return 0;
	if (bytes != (long)sizeof(*ret_report) || ret_report->magic != WIRE_MAGIC ||
	    ret_report->version != WIRE_VERSION)
		return -EPIPE;
	return 1;
}
