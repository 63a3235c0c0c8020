/* SPDX-License-Identifier: MIT */
/*
 * device_process.c - the process of a device: one loop over the connection, the control socket and
 * the answers that fall due. It ends when its maker does.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "device_internal.h"

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void hang_up(struct server *server)
{
	nbd_destroy(server->nbd);
	server->nbd = NULL;
}

/* Requests that were held or limited are over before anything is counted anew. */
static void begin_counting(struct server *server)
{
	schedule_reset(server->schedule);
	for (unsigned i = 0; i < DEVICE_POINTS; i++)
		server->counts[i] = 0;
	for (unsigned i = 0; i < SCHEDULE_FAULTS_MAX; i++)
		server->paces[i] = (struct pace){0};
}

static void switch_faults(struct server *server, bool armed)
{
	if (server->removal)
		device_missed(server, server->removal, "the faults were over before it was out");
	device_release(server);
	device_answer_due(server, now_ns());
	server->armed = armed;
	if (armed)
		begin_counting(server);
}

/* What waits for that, and what was held, goes to nobody. */
static void be_out(struct server *server)
{
	if (!server->removal)
		return; /* the faults were over before */
	device_injected(server, server->removal);
	server->is_out = device_is_torn_out(server);
	if (server->is_out)
		device_release(server);
	else
		device_release_in_flight(server);
	device_answer_due(server, now_ns());
}

/* False: the maker is gone, or stops us. */
static bool obey(struct server *server)
{
	uint8_t command;

	if (recv(server->control, &command, sizeof(command), 0) != (ssize_t)sizeof(command))
		return false;
	switch ((enum device_command)command) {
	case DEVICE_ARM:
	case DEVICE_DISARM:
		switch_faults(server, command == DEVICE_ARM);
		break;
	case DEVICE_PULLED:
		be_out(server);
		break;
	case DEVICE_PUT_BACK:
		server->is_out = false;
		break;
	}
	return send(server->control, &command, sizeof(command), MSG_NOSIGNAL) == 1;
}

/* Requests that are whole, as long as the device is there and has power. */
static void take_requests(struct server *server)
{
	struct nbd_request request;

	while (server->nbd && !server->is_dead && !device_is_torn_out(server) &&
	       nbd_next(server->nbd, &request)) {
		device_take(server, &request, now_ns());
		device_answer_due(server, now_ns());
	}
}

static void converse(struct server *server)
{
	if (!server->nbd || server->is_dead)
		return;
	if (nbd_receive(server->nbd) < 0)
		hang_up(server);
	take_requests(server);
	device_answer_due(server, now_ns());
	take_requests(server); /* answers make room for what had come in already */
	if (server->nbd && nbd_send(server->nbd) < 0)
		hang_up(server);
}

static struct timespec *time_left(const struct server *server, struct timespec *left)
{
	int64_t due = device_next_due_ns(server), now = (int64_t)now_ns();

	if (due < 0)
		return NULL;
	due = due > now ? due - now : 0;
	*left = (struct timespec){due / 1000000000, due % 1000000000};
	return left;
}

/* 0: the maker wants no more; -errno. */
static int loop(struct server *server)
{
	for (;;) {
		bool is_open = server->nbd && !server->is_dead;
		struct pollfd polled[] = {
			{.fd = server->control, .events = POLLIN},
			{.fd = is_open ? nbd_fd(server->nbd) : -1,
			 .events = is_open ? nbd_events(server->nbd) : (short)0},
		};
		struct timespec left;

		if (ppoll(polled, 2, time_left(server, &left), NULL) < 0) {
			if (errno != EINTR)
				return -errno;
			continue;
		}
		if (polled[0].revents && !obey(server))
			return 0;
		converse(server);
	}
}

static bool is_among(int fd, const int *fds, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (fds[i] == fd)
			return true;
	return false;
}

/* Not even what the maker holds for others may be kept open by a device: an end of a pipe, a lock.
 * (The list is walked again until it is short, since closing changes it.) */
static int close_others(const int *kept, unsigned count)
{
	DIR *list = opendir("/proc/self/fd");
	const struct dirent *entry;
	bool closed;

	if (!list)
		return -errno;
	do {
		closed = false;
		rewinddir(list);
		while ((entry = readdir(list)) != NULL) {
			int fd = (int)strtol(entry->d_name, NULL, 10);

			if (fd <= STDERR_FILENO || fd == dirfd(list) || is_among(fd, kept, count))
				continue;
			closed |= close(fd) == 0;
		}
	} while (closed);
	closedir(list);
	return 0;
}

static bool has_kind(const struct schedule *schedule, const enum kind_id *kinds, unsigned count)
{
	for (unsigned i = 0; i < schedule->count; i++)
		for (unsigned k = 0; k < count; k++)
			if (schedule->faults[i].kind == kinds[k])
				return true;
	return false;
}

static int open_medium(struct server *server)
{
	static const enum kind_id cuts[] = {KIND_nvme_read_powercut, KIND_nvme_write_powercut,
					    KIND_nvme_flush_powercut};
	static const enum kind_id stale[] = {KIND_nvme_read_stale};
	struct medium_options options = {
		.fd = server->options.image_fd,
		.sector_bytes = server->options.sector_bytes,
		.size_bytes = server->options.size_bytes,
		.write_cache = server->options.write_cache,
		.keeps_undo = has_kind(server->schedule, cuts, 3),
		.keeps_previous = has_kind(server->schedule, stale, 1),
	};

	return medium_create(&server->medium, &options);
}

static void settle_down(void)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setsid(); /* Ctrl-C is the maker's to handle */
	for (int signal_number = 1; signal_number < NSIG; signal_number++)
		signal(signal_number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static struct server *server_create(const struct device_options *options,
				    struct device_shared *shared)
{
	struct server *server = calloc(1, sizeof(*server));

	if (!server)
		return NULL;
	server->options = *options;
	server->shared = shared;
	server->schedule = calloc(1, sizeof(*server->schedule));
	if (server->schedule && options->schedule) {
		*server->schedule = *options->schedule;
		server->schedule->image = 0; /* whichever process of the guest asks */
	}
	if (server->schedule && open_medium(server) == 0)
		return server;
	free(server->schedule);
	free(server);
	return NULL;
}

static void server_destroy(struct server *server)
{
	device_forget_pending(server);
	nbd_destroy(server->nbd);
	medium_destroy(server->medium);
	free(server->schedule);
	free(server);
}

void device_serve(const struct device_options *options, struct device_shared *shared, int socket,
		  int control, int events)
{
	const struct nbd_export served = {options->size_bytes, options->sector_bytes,
					  options->read_only};
	const int kept[] = {socket, control, events, options->image_fd};
	struct server *server;
	int result;

	settle_down();
	if (close_others(kept, sizeof(kept) / sizeof(kept[0])) < 0)
		_exit(1);
	server = server_create(options, shared);
	if (!server)
		_exit(1);
	server->control = control;
	server->events = events;
	result = nbd_create(&server->nbd, socket, &served);
	/* The first word. Whether the maker still lives, the control socket says from here on. */
	if (result == 0 && send(control, "", 1, MSG_NOSIGNAL) == 1)
		result = loop(server);
	server_destroy(server);
	_exit(result < 0);
}
