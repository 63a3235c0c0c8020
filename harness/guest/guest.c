/* SPDX-License-Identifier: MIT */
/*
 * guest.c - a guest from its kernel to its first word, and its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guest_internal.h"
#include "guest_wait.h"

#define BOOT_SECONDS_DEFAULT 120u
#define BOOT_SECONDS_KVM 20u /* it may hang although it did not before */
#define MONITOR_DEADLINE_MS 20000u
#define CONSOLE_TOLD_BYTES 300u
#define STOP_DEADLINE_MS 10000u
#define QEMU_MAJOR_MIN 6 /* the first whose NVMe device is what we need */

static struct guest *guest_create(const struct guest_options *options)
{
	struct guest *guest = calloc(1, sizeof(*guest));

	if (!guest)
		return NULL;
	guest->pidfd = guest->epoll = guest->channel = guest->error_log = -1;
	guest->qmp.socket = guest->console.socket = -1;
	guest->interrupt = options->interrupt;
	for (unsigned i = 0; i < GUEST_NAMESPACES_MAX; i++)
		guest->ports[i].set = -1;
	return guest;
}

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* What QEMU gets, and with it ends. */
static void close_ends(struct guest_ends *ends)
{
	close_one(&ends->monitor);
	close_one(&ends->console);
	close_one(&ends->channel);
	close_one(&ends->image);
}

static int connect_one(int epoll, int *ret_ours, int *ret_theirs)
{
	struct epoll_event event = {.events = EPOLLIN};
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	*ret_ours = ends[0];
	*ret_theirs = ends[1];
	return epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event) < 0 ? -errno : 0;
}

static int connect_all(struct guest *guest, struct guest_ends *ends)
{
	int error = 0;

	guest->epoll = epoll_create1(EPOLL_CLOEXEC);
	guest->error_log = memfd_create("qemu-errors", MFD_CLOEXEC);
	if (guest->epoll < 0 || guest->error_log < 0)
		return -errno;
	ends->error_log = guest->error_log;
	error = connect_one(guest->epoll, &guest->qmp.socket, &ends->monitor);
	if (error == 0)
		error = connect_one(guest->epoll, &guest->console.socket, &ends->console);
	if (error == 0)
		error = connect_one(guest->epoll, &guest->channel, &ends->channel);
	return error;
}

static int make_image(const struct guest *guest, const struct guest_options *options,
		      struct guest_ends *ends, struct diag *diag)
{
	ends->image = memfd_create("initramfs", MFD_CLOEXEC);
	if (ends->image < 0)
		return -errno;
	return guest_image_write(ends->image, options, &guest->kernel, diag);
}

static int start_qemu(struct guest *guest, const struct guest_options *options,
		      const struct guest_ends *ends)
{
	struct guest_words words = {0};
	char image[32];
	pid_t pid;

	snprintf(image, sizeof(image), "/proc/self/fd/%d", ends->image);
	guest_qemu_words(&words, options, &guest->kernel, guest->accel, image, ends);
	guest->command_line = guest_words_line(&words);
	pid = guest->command_line ? guest_qemu_start(&words, ends) : -ENOMEM;
	guest_words_fini(&words);
	if (pid < 0)
		return pid;
	guest->pid = pid;
	guest->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return guest->pidfd < 0 ? -errno : 0;
}

/* The last thing QEMU said of itself; "". */
static void last_words(const struct guest *guest, char *text, size_t bytes)
{
	off_t end = lseek(guest->error_log, 0, SEEK_END), from = end > 300 ? end - 300 : 0;
	ssize_t got = pread(guest->error_log, text, bytes - 1, from);

	text[got > 0 ? got : 0] = '\0';
	for (char *c = text; *c; c++)
		if (*c == '\n')
			*c = c[1] ? ' ' : '\0';
}

/* Why QEMU is gone before it said a word. */
static int tell_start(const struct guest *guest, int error, struct diag *diag)
{
	char words[301];

	if (error != -EPIPE)
		return error;
	last_words(guest, words, sizeof(words));
	diag_set(diag, NULL, 0, 0, "%s does not start: %s", GUEST_QEMU,
		 *words ? words : "it ended without a word");
	return error;
}

static int open_monitor(struct guest *guest, struct diag *diag)
{
	int socket = guest->qmp.socket;
	int error = qmp_open(&guest->qmp, socket, &guest->interrupt, MONITOR_DEADLINE_MS, diag);

	if (error < 0)
		return tell_start(guest, error, diag);
	if (guest->qmp.major >= QEMU_MAJOR_MIN)
		return 0;
	diag_set(diag, NULL, 0, 0, "%s is release %u.%u, guests need %d.0", GUEST_QEMU,
		 guest->qmp.major, guest->qmp.minor, QEMU_MAJOR_MIN);
	return -ENOENT;
}

void guest_service(struct guest *guest)
{
	guest_console_read(&guest->console);
	if (guest->qmp.socket >= 0)
		qmp_drain(&guest->qmp);
	if (guest->channel >= 0)
		guest_channel_read(guest);
}

/* Of a panic or of what init complains of its line, else the end. */
static const char *find_words(const char *tail, int *ret_length)
{
	static const char *const begins[] = {"Kernel panic", "init: the kernel"};
	size_t length = strlen(tail);
	const char *found = NULL;

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins) && !found; i++)
		found = strstr(tail, begins[i]);
	if (!found)
		found = length > CONSOLE_TOLD_BYTES ? tail + length - CONSOLE_TOLD_BYTES : tail;
	else
		length = strcspn(found, "\r\n");
	*ret_length = (int)length;
	return found;
}

static int tell_boot(struct guest *guest, int error, unsigned seconds, struct diag *diag)
{
	int length;
	const char *words = find_words(guest_console_tail(guest), &length);
	const char *hint = guest->kernel.modules[0]
				   ? ""
				   : " (of this kernel no directory of modules was found)";

	if (error == -EINTR)
		diag_set(diag, NULL, 0, 0, "interrupted");
	else if (error == -ETIMEDOUT)
		diag_set(diag, NULL, 0, 0, "the guest did not say hello within %u s: %.*s%s",
			 seconds, length, words, hint);
	else
		diag_set(diag, NULL, 0, 0, "the guest died while it booted: %.*s%s", length, words,
			 hint);
	return error;
}

static int await_hello(struct guest *guest, unsigned seconds, struct diag *diag)
{
	uint64_t deadline = guest_deadline(seconds * 1000);
	struct pollfd polled = {.fd = guest->epoll, .events = POLLIN};
	json_t *line;
	int result;

	for (;;) {
		result = guest_receive(guest, &line);
		if (result == 1) {
			bool hello = json_object_get(line, "hello") != NULL;

			json_decref(line);
			if (hello)
				return 0;
		} else if (result == 0) {
			result = guest_wait(&polled, 1, deadline, &guest->interrupt);
		}
		/* Bytes of a port that is not set up yet are no line: -EBADMSG is nothing here. */
		if (result < 0 && result != -EBADMSG)
			return tell_boot(guest, result, seconds, diag);
	}
}

static int boot(struct guest *guest, const struct guest_options *options, unsigned seconds,
		struct diag *diag)
{
	struct guest_ends ends = {-1, -1, -1, -1, -1};
	int error = connect_all(guest, &ends);

	if (error < 0)
		diag_set(diag, NULL, 0, 0, "sockets of a guest: %s", strerror(-error));
	if (error == 0)
		error = make_image(guest, options, &ends, diag);
	if (error == 0) {
		error = start_qemu(guest, options, &ends);
		if (error < 0)
			diag_set(diag, NULL, 0, 0, "%s: %s", GUEST_QEMU, strerror(-error));
	}
	close_ends(&ends);
	if (error == 0)
		error = open_monitor(guest, diag);
	if (error == 0)
		error = await_hello(guest, seconds, diag);
	return error;
}

static int boot_under(const char *accel, const struct guest_options *options, unsigned seconds,
		      const struct guest_kernel *kernel, struct guest **ret, struct diag *diag)
{
	struct guest *guest = guest_create(options);
	int error;

	if (!guest)
		return -ENOMEM;
	guest->kernel = *kernel;
	snprintf(guest->accel, sizeof(guest->accel), "%s", accel);
	error = boot(guest, options, seconds, diag);
	if (error < 0)
		guest_stop(guest);
	else
		*ret = guest;
	return error;
}

int guest_start(struct guest **ret, const struct guest_options *options, struct diag *diag)
{
	unsigned seconds = options->boot_seconds ? options->boot_seconds : BOOT_SECONDS_DEFAULT;
	struct guest_kernel kernel;
	const char *accel;
	int error = guest_find(options, &kernel, diag);

	if (error < 0)
		return error;
	accel = guest_accel_choose(options, &kernel);
	if (options->accel || strcmp(accel, "kvm") != 0)
		return boot_under(accel, options, seconds, &kernel, ret, diag);
	error = boot_under(accel, options, BOOT_SECONDS_KVM, &kernel, ret, diag);
	if (error == 0 || error == -EINTR)
		return error;
	guest_accel_remember(&kernel, false);
	return boot_under("tcg", options, seconds, &kernel, ret, diag);
}

int guest_fd(const struct guest *guest)
{
	return guest->epoll;
}

const char *guest_console_tail(struct guest *guest)
{
	guest_console_read(&guest->console);
	return guest_console_lines(&guest->console);
}

const char *guest_command_line(const struct guest *guest)
{
	return guest->command_line;
}

const char *guest_kernel_version(const struct guest *guest)
{
	return guest->kernel.version;
}

const char *guest_accel(const struct guest *guest)
{
	return guest->accel;
}

bool guest_is_alive(const struct guest *guest)
{
	struct pollfd polled = {.fd = guest->pidfd, .events = POLLIN};

	return guest->pid && poll(&polled, 1, 0) == 0;
}

int guest_await_end(struct guest *guest, unsigned deadline_ms)
{
	struct pollfd polled[] = {{.fd = guest->pidfd, .events = POLLIN},
				  {.fd = guest->epoll, .events = POLLIN}};
	uint64_t deadline = deadline_ms == GUEST_FOREVER ? UINT64_MAX : guest_deadline(deadline_ms);
	int error = 0;

	while (guest_is_alive(guest) && error == 0) {
		error = guest_wait(polled, 2, deadline, &guest->interrupt);
		guest_service(guest);
	}
	return error;
}

/* A killed process ends at once, unless a driver of this machine holds it. */
static int reap(struct guest *guest)
{
	static const struct guest_interrupt none = {0};
	struct pollfd polled = {.fd = guest->pidfd, .events = POLLIN};
	int error;

	if (!guest->pid)
		return 0;
	kill(guest->pid, SIGKILL);
	error = guest_wait(&polled, 1, guest_deadline(STOP_DEADLINE_MS), &none);
	waitpid(guest->pid, NULL, error == 0 ? 0 : WNOHANG);
	return error;
}

int guest_stop(struct guest *guest)
{
	int error;

	if (!guest)
		return 0;
	error = reap(guest);
	qmp_close(&guest->qmp);
	close_one(&guest->channel);
	close_one(&guest->console.socket);
	close_one(&guest->epoll);
	close_one(&guest->pidfd);
	close_one(&guest->error_log);
	free(guest->received);
	free(guest->command_line);
	free(guest);
	return error;
}
