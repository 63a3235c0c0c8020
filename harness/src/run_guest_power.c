/* SPDX-License-Identifier: MIT */
/*
 * run_guest_power.c - the guest whose power was cut is killed with all that its kernel had in
 * memory, and another one goes on with the case on what is left of the disk.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run_guest_internal.h"

#define STATE_PATH "/resume.json"

int guest_power_cut(struct guest_lane *lane)
{
	json_t *line = json_pack("{s:s}", "event", "power-cut");
	int error = line ? guest_send(lane->guest, line) : -ENOMEM;

	json_decref(line);
	lane->disk.is_cut = true;
	return error;
}

/* A file of no name. Its descriptor, -errno. */
static int write_state(const json_t *state)
{
	int fd = memfd_create("state", MFD_CLOEXEC), error = 0;

	if (fd < 0)
		return -errno;
	if (json_dumpfd(state, fd, JSON_COMPACT) < 0)
		error = -EIO;
	if (error < 0)
		close(fd);
	return error < 0 ? error : fd;
}

static int boot_again(struct guest_lane *lane, int state_fd, struct diag *diag)
{
	char source[32];
	struct guest_file file = {STATE_PATH, source};

	snprintf(source, sizeof(source), "/proc/self/fd/%d", state_fd);
	guest_stop(lane->guest);
	lane->guest = NULL;
	return guest_lane_boot(lane, &file, diag);
}

int guest_power_resume(struct guest_lane *lane, json_t *question, const json_t *state,
		       unsigned seconds, json_t **ret, struct diag *diag)
{
	int fd = write_state(state);
	int error = fd < 0 ? fd : boot_again(lane, fd, diag);

	if (fd >= 0)
		close(fd);
	if (error == 0)
		error = guest_disk_again(lane, diag);
	if (error < 0) {
		json_decref(question);
		return error;
	}
	json_object_set_new(json_object_get(question, "run"), "resume", json_string(STATE_PATH));
	return guest_lane_ask(lane, question, seconds, ret, diag);
}
