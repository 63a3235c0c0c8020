/* SPDX-License-Identifier: MIT */
/*
 * run_device.c - the device that a case of a guest has, as its job sees it: its faults begin and
 * end, it is pulled out, it is put back. What does that is somebody else's (struct run_device).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "run_job.h"

static void break_case(struct job *job, const char *what, int error, const struct diag *diag)
{
	snprintf(job->outcome.broken, sizeof(job->outcome.broken), "%s: %.300s", what,
		 diag->text[0] ? diag->text : strerror(-error));
}

void job_switch_device(struct job *job, bool arm)
{
	const struct run_device *device = job->options->device;
	int error = -EPROTO;

	if (device)
		error = arm ? device->arm(device->arg) : device->disarm(device->arg);
	job->armed = arm && error == 0;
	if (error < 0)
		break_case(job,
			   arm ? "the device cannot be armed" : "the device cannot be disarmed",
			   error, &(struct diag){.text = ""});
	job_check_power(job);
}

/* Who was killed ends when the device answers, and what it left is read without its faults. */
void job_disarm_device(struct job *job)
{
	if (job->armed)
		job_switch_device(job, false);
}

void job_ask_device(struct job *job)
{
	const struct run_device *device = job->options->device;
	int error = device ? device->outcome(&job->result, device->arg) : 0;

	if (error < 0)
		break_case(job, "what the device did is not known", error,
			   &(struct diag){.text = ""});
}

bool job_heeds_device(const struct job *job)
{
	return job->armed && (job->state == JOB_RUNNING || job->state == JOB_READING) &&
	       schedule_find_removal(&job->test_case->schedule);
}

bool job_device_is_out(const struct job *job)
{
	const struct run_device *device = job->options->device;

	return device && device->is_out(device->arg);
}

void job_device_readable(struct job *job)
{
	const struct run_device *device = job->options->device;
	struct diag diag = {.text = ""};
	int error = device->happened(device->arg, &diag);

	if (error < 0)
		break_case(job, "the device cannot be pulled out", error, &diag);
	else if (device->is_out(device->arg) && job->state == JOB_READING)
		break_case(job, "the device was pulled out", 0,
			   &(struct diag){.text = "it was the harness that read it; let #N name a "
						  "request of the program"});
}

/* As after a loss of power: of what was not synced nobody knows what is left, but the device. */
static void look_at_it(struct job *job, struct wire_kept *kept)
{
	struct reader_job reader_job = job_reader_job(job, job->outcome.last_step);

	reader_job.after = "the removal";
	reader_check_crash(&reader_job, job->test_case->expect.data, kept, &job->result);
	job->requests_read = job->outcome.requests_count;
}

static int put_back(struct job *job, struct wire_return *answer)
{
	const struct run_device *device = job->options->device;
	struct diag diag = {.text = ""};
	int result = device ? device->put_back(device->arg, &diag) : 0;

	if (result == 0)
		return 0;
	if (result > 0 && outcome_read(&job->outcome, job->outcome_file) < 0)
		result = -ENOMEM;
	if (result < 0) {
		break_case(job, "the device did not return", result, &diag);
		return result;
	}
	answer->is_back = true;
	job->steps_returned |= UINT64_C(1) << job->outcome.last_step;
	if (workload_is_durable(&job->test_case->workload))
		look_at_it(job, answer->kept);
	return 0;
}

/* The time that it takes is not the program's. */
void job_return_device(struct job *job)
{
	struct wire_return answer = {.id = job->id};
	uint64_t began = job_now_ns();
	ssize_t sent;

	if (put_back(job, &answer) < 0) {
		job_kill(job);
		return;
	}
	job->due_ns += job_now_ns() - began;
	sent = send(job->pause_ours, &answer, sizeof(answer), MSG_NOSIGNAL);
	(void)sent; /* killed in the meantime: its end is told by its server */
}
