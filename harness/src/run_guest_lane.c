/* SPDX-License-Identifier: MIT */
/*
 * run_guest_lane.c - the process that runs the cases of target nvme: it keeps a guest up, has one
 * case after the other run there, and tells the run what came of each. A guest that died, or that
 * does not answer, is replaced before the next case.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest_wait.h"
#include "run_guest_internal.h"

bool guest_lane_is_lost(int error)
{
	return error == -EPIPE || error == -ETIMEDOUT || error == -EPROTO;
}

/* ---- what the device says ---- */

/* To be polled; -1: nothing can come. */
static int event_fd(const struct guest_disk *disk)
{
	return disk->device && !disk->is_deaf ? device_event_fd(disk->device) : -1;
}

static int take_events(struct guest_lane *lane, struct diag *diag)
{
	struct guest_disk *disk = &lane->disk;
	struct device_event event;
	int got = 0, error = 0;

	if (event_fd(disk) < 0)
		return 0;
	while (error == 0 && (got = device_event(disk->device, &event)) > 0)
		error = event.kind == DEVICE_POWER_CUT ? guest_power_cut(lane)
						       : guest_removal_begin(lane, &event, diag);
	disk->is_deaf = got < 0;
	return error;
}

/* ---- questions of the guest ---- */

static json_t *fault_json(const struct device *device, unsigned index)
{
	struct device_fault_outcome outcome;

	device_outcome(device, index, &outcome);
	return json_pack("{s:i, s:I, s:I, s:I, s:s}", "index", (int)index, "fired",
			 (json_int_t)outcome.fired, "injected", (json_int_t)outcome.injected,
			 "missed", (json_int_t)outcome.missed, "why_missed", outcome.why_missed);
}

json_t *guest_lane_outcome(const struct guest_disk *disk)
{
	json_t *faults = json_array();

	for (unsigned i = 0; i < disk->schedule->count; i++)
		if (fault_is_device(&disk->schedule->faults[i]))
			json_array_append_new(faults, fault_json(disk->device, i));
	return faults;
}

/* 0, -errno. */
static int obey(struct guest_lane *lane, const char *what, struct diag *diag)
{
	struct device *device = lane->disk.device;

	if (!device)
		return -ENODEV;
	if (strcmp(what, "arm") == 0 || strcmp(what, "disarm") == 0) {
		lane->disk.armed = what[0] == 'a';
		return lane->disk.armed ? device_arm(device) : device_disarm(device);
	}
	if (strcmp(what, "out") == 0)
		return guest_removal_is_out(lane, diag);
	if (strcmp(what, "back") == 0)
		return guest_removal_end(lane, diag);
	return strcmp(what, "outcome") == 0 ? 0 : -EPROTO;
}

/* A device whose power was cut is no more, and what became of its faults was kept. */
static json_t *outcome_json(const struct guest_disk *disk)
{
	return disk->told ? json_incref(disk->told) : guest_lane_outcome(disk);
}

/* No answer overtakes that the power is cut. */
static int answer(struct guest_lane *lane, const char *what)
{
	struct diag diag = {.text = ""};
	int error = obey(lane, what, &diag), result = 0;
	json_t *line = json_pack("{s:i, s:s}", "answer", error, "text", diag.text);

	if (error == 0 && strcmp(what, "outcome") == 0)
		json_object_set_new(line, "faults", outcome_json(&lane->disk));
	if (schedule_cuts_power(lane->disk.schedule))
		result = take_events(lane, &diag);
	if (result == 0)
		result = guest_send(lane->guest, line);
	json_decref(line);
	return result;
}

/* ---- a line, and what comes of it ---- */

static int take_failed(const json_t *failed, struct diag *diag)
{
	const char *text = json_string_value(json_object_get(failed, "text"));
	json_int_t error = json_integer_value(json_object_get(failed, "errno"));

	diag_set(diag, NULL, 0, 0, "%s", text ? text : "the guest refuses, and does not say why");
	return error > 0 && error < 4096 ? -(int)error : -EPROTO;
}

/* 1: it was the answer, with *ret_error; 0: it was a question; -errno. */
static int take_line(struct guest_lane *lane, json_t *line, json_t **ret, int *ret_error,
		     struct diag *diag)
{
	const char *question = json_string_value(json_object_get(line, "ask"));
	json_t *done = json_object_get(line, "done");
	const json_t *failed = json_object_get(line, "failed");

	if (question)
		return answer(lane, question);
	if (!done && !failed) {
		diag_set(diag, NULL, 0, 0, "the guest says what nobody understands");
		return -EPROTO;
	}
	*ret_error = failed ? take_failed(failed, diag) : 0;
	if (done && ret)
		*ret = json_incref(done);
	return 1;
}

/* Signals are the run's; it ends us. */
static int wait_for_guest(struct guest_lane *lane, uint64_t deadline, struct diag *diag)
{
	static const struct guest_interrupt none;
	struct pollfd polled[] = {{.fd = guest_fd(lane->guest), .events = POLLIN},
				  {.fd = event_fd(&lane->disk), .events = POLLIN}};
	int result = guest_wait(polled, 2, deadline, &none);

	if (result == 0 && polled[1].revents)
		result = take_events(lane, diag);
	return result;
}

static void tell_lost(struct guest_lane *lane, int error, unsigned seconds, struct diag *diag)
{
	const char *console = guest_console_tail(lane->guest);

	if (error == -EPIPE)
		diag_set(diag, NULL, 0, 0, "the guest died; its console: %.400s", console);
	else if (error == -ETIMEDOUT)
		diag_set(diag, NULL, 0, 0,
			 "the guest did not answer within %u s; its console: "
			 "%.400s",
			 seconds, console);
	else if (error == -EBADMSG)
		diag_set(diag, NULL, 0, 0, "the guest says what is no JSON");
}

int guest_lane_ask(struct guest_lane *lane, json_t *line, unsigned seconds, json_t **ret,
		   struct diag *diag)
{
	uint64_t deadline = guest_deadline(1000 * seconds);
	int result = line ? guest_send(lane->guest, line) : -ENOMEM, error = 0;

	json_decref(line);
	while (result == 0) {
		json_t *got = NULL;

		result = guest_receive(lane->guest, &got);
		if (result > 0)
			result = take_line(lane, got, ret, &error, diag);
		else if (result == 0)
			result = wait_for_guest(lane, deadline, diag);
		json_decref(got);
	}
	if (result > 0)
		return error;
	tell_lost(lane, result, seconds, diag);
	return result == -EBADMSG ? -EPROTO : result;
}

/* ---- the guest ---- */

/* The list has room for one more. */
int guest_lane_boot(struct guest_lane *lane, const struct guest_file *more, struct diag *diag)
{
	const struct guest_options options = {
		.programs = &lane->parts.programs,
		.files = lane->files,
		.file_count = lane->files_count + (more != NULL),
		.kernel = lane->kernel,
		.cpus = lane->cpus,
	};

	if (lane->guest)
		return 0;
	if (more)
		lane->files[lane->files_count] = *more;
	return guest_start(&lane->guest, &options, diag);
}

void guest_lane_drop(struct guest_lane *lane)
{
	guest_stop(lane->guest);
	lane->guest = NULL;
	guest_disk_forget(&lane->disk);
}

/* ---- the cases ---- */

/* Whoever reads may be gone: then so are we. */
static void tell(int socket, const struct guest_message *message)
{
	if (send(socket, message, sizeof(*message), MSG_NOSIGNAL) != (ssize_t)sizeof(*message))
		_exit(1);
}

static void refuse(int socket, struct guest_message *message, const struct diag *diag)
{
	message->refused = true;
	diag_format(diag, message->result.reason, sizeof(message->result.reason));
	tell(socket, message);
	_exit(1);
}

_Noreturn void guest_lane_main(const struct plan *plan, const char *keep_dir, const char *kernel,
			       int socket)
{
	static struct guest_message message;
	static struct guest_lane lane;
	struct diag diag = {.text = ""};
	int error;

	lane.plan = plan;
	lane.keep_dir = keep_dir;
	lane.kernel = kernel;
	lane.disk.image_fd = -1;
	error = guest_parts_find(&lane.parts, &diag);
	if (error == 0)
		error = guest_files_find(plan, &lane.files, &lane.files_count);
	if (error < 0 && !diag.text[0])
		diag_set(&diag, NULL, 0, 0, "files of the guest: %s", strerror(-error));
	if (error == 0)
		error = guest_lane_boot(&lane, NULL, &diag);
	if (error < 0)
		refuse(socket, &message, &diag);
	for (unsigned i = 0; i < plan->count; i++) {
		if (!guest_lane_has(&plan->cases[i]))
			continue;
		message.index = i;
		guest_case_run(&lane, &plan->cases[i], &message.result);
		tell(socket, &message);
	}
	guest_lane_drop(&lane);
	_exit(0);
}
