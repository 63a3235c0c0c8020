/* SPDX-License-Identifier: MIT */
/*
 * device.c - the maker's side of a device: its process, what it is told and what it has to say.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device_internal.h"

#define ANSWER_MS 10000u

struct device {
	pid_t pid;
	unsigned answer_ms;
	int control, events;
	struct device_shared *shared;
};

static int check_options(const struct device_options *options, struct diag *diag)
{
	unsigned sector_bytes = options->sector_bytes;
	struct stat stat;

	if (sector_bytes != 512 && sector_bytes != 4096)
		return diag_set(diag, NULL, 0, 0,
				"device: sectors of %u bytes (allowed: 512, 4096)", sector_bytes);
	if (!options->size_bytes || options->size_bytes % sector_bytes ||
	    options->size_bytes > DEVICE_SIZE_MAX)
		return diag_set(diag, NULL, 0, 0,
				"device: a size of %" PRIu64 " bytes (must be whole sectors of %u)",
				options->size_bytes, sector_bytes);
	if (fstat(options->image_fd, &stat) < 0)
		return diag_set(diag, NULL, 0, 0, "device: image: %s", strerror(errno));
	if ((uint64_t)stat.st_size < options->size_bytes &&
	    ftruncate(options->image_fd, (off_t)options->size_bytes) < 0) {
		int error = -errno;

		diag_set(diag, NULL, 0, 0, "device: image of %" PRIu64 " bytes: %s",
			 options->size_bytes, strerror(-error));
		return error;
	}
	return 0;
}

/* nbd, control and events, one end each; -errno with nothing left open. */
static int make_sockets(int ends[3][2])
{
	static const int types[3] = {SOCK_STREAM, SOCK_SEQPACKET, SOCK_SEQPACKET};

	for (int i = 0; i < 3; i++) {
		if (socketpair(AF_UNIX, types[i] | SOCK_CLOEXEC, 0, ends[i]) == 0)
			continue;
		int error = -errno;

		while (i-- > 0) {
			close(ends[i][0]);
			close(ends[i][1]);
		}
		return error;
	}
	return 0;
}

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The process says something on the control socket, or its end of it is gone. Who does neither in
 * time is killed: a late answer would be taken for that of the next command. */
static bool is_heard(const struct device *device)
{
	struct pollfd polled = {.fd = device->control, .events = POLLIN};
	int64_t end = now_ms() + device->answer_ms, left = device->answer_ms;
	int ready;

	do {
		ready = poll(&polled, 1, (int)left);
		left = end - now_ms();
	} while (ready < 0 && errno == EINTR && left > 0);
	if (ready > 0)
		return true;
	kill(device->pid, SIGKILL);
	return false;
}

/* One byte from the process: 0; -EPIPE. */
static int hear(const struct device *device)
{
	uint8_t word;

	if (!is_heard(device))
		return -EPIPE;
	return recv(device->control, &word, sizeof(word), 0) == (ssize_t)sizeof(word) ? 0 : -EPIPE;
}

/* It says its first word, or ends. A shorter patience than the usual one counts from then on: how
 * long a process takes to start is the machine's affair. */
static int await_start(struct device *device, unsigned answer_ms, struct diag *diag)
{
	int result;

	device->answer_ms = answer_ms > ANSWER_MS ? answer_ms : ANSWER_MS;
	result = hear(device);
	if (result < 0)
		diag_set(diag, NULL, 0, 0, "device: its process did not start (out of memory?)");
	device->answer_ms = answer_ms ? answer_ms : ANSWER_MS;
	return result;
}

static int start(struct device *device, const struct device_options *options, int *ret_socket,
		 struct diag *diag)
{
	int ends[3][2], result = make_sockets(ends);

	if (result < 0) {
		diag_set(diag, NULL, 0, 0, "device: socketpair: %s", strerror(-result));
		return result;
	}
	device->pid = fork();
	if (device->pid == 0)
		device_serve(options, device->shared, ends[0][1], ends[1][1], ends[2][1]);
	result = device->pid < 0 ? -errno : 0;
	for (int i = 0; i < 3; i++)
		close(ends[i][1]);
	device->control = ends[1][0];
	device->events = ends[2][0];
	if (result < 0)
		diag_set(diag, NULL, 0, 0, "device: fork: %s", strerror(-result));
	else
		result = await_start(device, options->answer_ms, diag);
	if (result < 0)
		close(ends[0][0]);
	else
		*ret_socket = ends[0][0];
	return result;
}

int device_start(struct device **ret_device, const struct device_options *options, int *ret_socket,
		 struct diag *diag)
{
	struct device *device;
	int result = check_options(options, diag);

	if (result < 0)
		return result;
	device = calloc(1, sizeof(*device));
	if (!device) {
		diag_set(diag, NULL, 0, 0, "device: out of memory");
		return -ENOMEM;
	}
	device->control = device->events = -1;
	device->shared = mmap(NULL, sizeof(*device->shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (device->shared == MAP_FAILED) {
		device->shared = NULL;
		result = -ENOMEM;
		diag_set(diag, NULL, 0, 0, "device: out of memory");
	} else {
		result = start(device, options, ret_socket, diag);
	}
	if (result < 0)
		device_stop(device);
	else
		*ret_device = device;
	return result;
}

/* The device has done it when it answers. */
static int command(struct device *device, enum device_command what)
{
	uint8_t word = (uint8_t)what;

	if (send(device->control, &word, sizeof(word), MSG_NOSIGNAL) != (ssize_t)sizeof(word))
		return -EPIPE;
	return hear(device);
}

int device_arm(struct device *device)
{
	return command(device, DEVICE_ARM);
}

int device_disarm(struct device *device)
{
	return command(device, DEVICE_DISARM);
}

int device_pulled(struct device *device)
{
	return command(device, DEVICE_PULLED);
}

int device_put_back(struct device *device)
{
	return command(device, DEVICE_PUT_BACK);
}

const struct device_shared *device_shared(const struct device *device)
{
	return device->shared;
}

int device_event_fd(const struct device *device)
{
	return device->events;
}

int device_event(struct device *device, struct device_event *ret_event)
{
	ssize_t count;

	do
		count = recv(device->events, ret_event, sizeof(*ret_event), MSG_DONTWAIT);
	while (count < 0 && errno == EINTR);
	if (count < 0 && errno == EAGAIN)
		return 0;
	return count == (ssize_t)sizeof(*ret_event) ? 1 : -EPIPE;
}

static int reap(pid_t pid)
{
	int status = 0;
	pid_t ended;

	do
		ended = waitpid(pid, &status, 0);
	while (ended < 0 && errno == EINTR);
	return ended == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ECHILD;
}

int device_stop(struct device *device)
{
	int result = 0;

	if (!device)
		return 0;
	if (device->pid > 0) {
		shutdown(device->control, SHUT_WR); /* at which it ends, in order */
		is_heard(device);
		result = reap(device->pid);
	}
	if (device->control >= 0)
		close(device->control);
	if (device->events >= 0)
		close(device->events);
	if (device->shared)
		munmap(device->shared, sizeof(*device->shared));
	free(device);
	return result;
}
