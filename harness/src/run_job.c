/* SPDX-License-Identifier: MIT */
/*
 * run_job.c - a case on its way: sent to its fork server, paused for the reader, ended, judged.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "jobctl.h"
#include "kernel_log.h"
#include "run_job.h"
#include "run_story.h"
#include "verdict.h"

#define BACKEND_KERNEL 1
#define BACKEND_SIM 2
#define READ_AT_ONCE_BYTES ((uint64_t)4 << 20) /* more is read by a child */
/* A sim case that really runs that long is stuck; its own deadline is in virtual time. */
#define SIM_REAL_TIME_NS UINT64_C(60000000000)

uint64_t job_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int make_outcome_file(struct job *job)
{
	job->outcome_fd = memfd_create("outcome", MFD_CLOEXEC);
	if (job->outcome_fd < 0 || ftruncate(job->outcome_fd, WIRE_OUTCOME_BYTES_STEP) < 0)
		return -errno;
	job->outcome_file = mmap(NULL, WIRE_OUTCOME_BYTES_MAX, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_NORESERVE, job->outcome_fd, 0);
	if (job->outcome_file != MAP_FAILED)
		return 0;
	job->outcome_file = NULL;
	return -errno;
}

static int make_log(struct job *job)
{
	int error;

	job->log_fd = memfd_create("eventlog", MFD_CLOEXEC);
	if (job->log_fd < 0)
		return -errno;
	error = eventlog_init(job->log_fd);
	return error < 0 ? error : eventlog_open(job->log_fd, &job->log);
}

/* What is not durable yet, in sim, whichever process of the case wrote it. */
static int make_journal(struct job *job)
{
	job->journal_fd = memfd_create("journal", MFD_CLOEXEC);
	return job->journal_fd < 0 ? -errno : 0;
}

static int make_look(struct job *job)
{
	job->look = mmap(NULL, sizeof(*job->look), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (job->look != MAP_FAILED)
		return 0;
	job->look = NULL;
	return -errno;
}

int job_init(struct job *job, const struct run_options *options, const struct work_root *root,
	     bool in_memory, unsigned number)
{
	int ends[2] = {-1, -1}, error;

	*job = (struct job){
		.number = number,
		.options = options,
		.in_memory = in_memory,
		.log_fd = -1,
		.outcome_fd = -1,
		.journal_fd = -1,
		.pause_ours = -1,
		.pause_theirs = -1,
		.stdout_fd = -1,
		.stderr_fd = -1,
	};
	error = make_log(job);
	if (error == 0)
		error = make_outcome_file(job);
	if (error == 0)
		error = make_journal(job);
	if (error == 0)
		error = make_look(job);
	if (error == 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		error = -errno;
	job->pause_ours = ends[0];
	job->pause_theirs = ends[1];
	if (error == 0)
		error = work_dir_make(root, in_memory, number, job->work_dir);
	if (error < 0)
		job_fini(job);
	return error;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

void job_fini(struct job *job)
{
	reader_kill(&job->reader);
	job_end_program(job);
	eventlog_close(job->log);
	if (job->outcome_file)
		munmap(job->outcome_file, WIRE_OUTCOME_BYTES_MAX);
	if (job->look)
		munmap(job->look, sizeof(*job->look));
	looks_free(&job->looks);
	close_fd(job->log_fd);
	close_fd(job->outcome_fd);
	close_fd(job->journal_fd);
	close_fd(job->pause_ours);
	close_fd(job->pause_theirs);
	outcome_free(&job->outcome);
	if (job->work_dir[0])
		work_dir_remove(job->work_dir);
	*job = (struct job){.log_fd = -1,
			    .outcome_fd = -1,
			    .journal_fd = -1,
			    .pause_ours = -1,
			    .pause_theirs = -1,
			    .stdout_fd = -1,
			    .stderr_fd = -1};
}

/* Does a fault of the case need the harness's hand? */
static bool asks_jobctl(const struct schedule *schedule)
{
	for (unsigned i = 0; i < schedule->count; i++)
		if (schedule->faults[i].kind == KIND_io_getevents_stop ||
		    schedule->faults[i].kind == KIND_io_getevents_attach)
			return true;
	return false;
}

/* The pages of the log stay where they are for a process that has them mapped. */
static int empty_log(struct job *job)
{
	return job->stays ? eventlog_reset(job->log) : eventlog_init(job->log_fd);
}

int job_reset(struct job *job, const struct test_case *test_case)
{
	int error = empty_log(job);

	if (error == 0 && ftruncate(job->journal_fd, 0) < 0)
		error = -errno;
	outcome_reset(&job->outcome);
	memset(&job->result, 0, sizeof(job->result));
	memset(job->outcome_file, 0, sizeof(*job->outcome_file));
	job->result.test_case = test_case;
	job->test_case = test_case;
	job->pid = 0;
	job->status = 0;
	job->ended = job->overdue = job->paused = false;
	job->cut = false;
	job->steps_cut = 0;
	job->image = 0;
	job->pids[0] = 0;
	job->log_first = 0;
	job->requests_read = 0;
	job->looks.count = 0;
	job->story[0] = '\0';
	job->armed = false;
	job->steps_returned = 0;
	job->asks_jobctl = asks_jobctl(&test_case->schedule);
	job->pause_steps = reader_pause_steps(&test_case->workload);
	return error;
}

static bool append(char *message, size_t *used, const char *text, uint32_t *ret_bytes)
{
	size_t bytes = strlen(text) + 1;

	if (*used + bytes > WIRE_MESSAGE_BYTES)
		return false;
	memcpy(message + *used, text, bytes);
	*used += bytes;
	*ret_bytes = (uint32_t)bytes;
	return true;
}

/* A schedule is for the first process of a case. */
bool job_tells_arming(const struct job *job)
{
	return job->options->device && job->image == 0;
}

static int send_case(struct job *job)
{
	static char message[WIRE_MESSAGE_BYTES];
	const struct test_case *test_case = job->test_case;
	const int fds[WIRE_FD_COUNT] = {job->log_fd, job->outcome_fd, job->pause_theirs,
					job->journal_fd};
	char *workload = workload_encode(&test_case->workload);
	size_t used = sizeof(struct wire_case);
	struct image image = workload_image(&test_case->workload, job->image);
	/* Behind the last process that a fault is for there is nothing to count or to keep. */
	const char *schedule =
		job->image < schedule_images(&test_case->schedule) ? test_case->schedule_text : "";
	struct wire_case wire = {
		.magic = WIRE_MAGIC,
		.version = WIRE_VERSION,
		.id = job->id,
		.may_stay = job->may_stay,
		.tell_arming = job_tells_arming(job),
		.backend = test_case->target == TARGET_SIM ? BACKEND_SIM : BACKEND_KERNEL,
		.sector_bytes = test_case->device.sector_bytes,
		.memory_align_bytes = test_case->device.memory_align_bytes,
		.seed = test_case->seed,
		.deadline_ns = (uint64_t)test_case->expect.deadline_ns,
		.pause_steps = job->pause_steps,
		.image = job->image + 1,
		.step_first = image.first,
		.step_end = image.end,
	};
	bool fits;

	if (!workload)
		return -ENOMEM;
	fits = append(message, &used, job->work_dir, &wire.work_dir_bytes) &&
	       append(message, &used, schedule, &wire.schedule_bytes) &&
	       append(message, &used, workload, &wire.workload_bytes);
	free(workload);
	if (!fits)
		return -EMSGSIZE;
	memcpy(wire.kept, job->outcome.kept, sizeof(wire.kept));
	memcpy(message, &wire, sizeof(wire));
	if (job->again)
		return wire_send(job->pause_ours, message, used, NULL, 0);
	return wire_send(job->server->socket, message, used, fds, WIRE_FD_COUNT);
}

static void read_what_is_left(struct job *job, const char *after);

/* Its process died with another machine. What the kernel has said since this one began counts, too:
 * it mounted what is left. */
static int resume(struct job *job)
{
	int error = job_take_state(job, job->options->resume);

	if (error == 0)
		error = outcome_read(&job->outcome, job->outcome_file);
	if (error < 0)
		return error;
	job->ended = true;
	if (job->overdue)
		job->state = JOB_ENDED;
	else
		read_what_is_left(job, "the power cut");
	return 0;
}

void job_dismiss(struct job *job)
{
	if (job->stays)
		kill(job->stays, SIGKILL);
	job->stays = 0;
}

int job_start(struct job *job, const struct test_case *test_case, struct forkserver *server,
	      uint32_t id, unsigned patience, bool may_stay)
{
	int error;

	if (!may_stay || job->server != server)
		job_dismiss(job);
	error = job_reset(job, test_case);
	job->server = server;
	job->id = id;
	job->patience = patience;
	job->may_stay = may_stay;
	job->again = job->stays != 0;
	job->began_ns = job_now_ns();
	job->due_ns = UINT64_MAX;
	if (error == 0 && job->options->resume)
		return resume(job);
	if (job->options->kernel_log)
		kernel_log_begin(job->options->kernel_log);
	/* The directory is there before the power can go. */
	if (error == 0 && schedule_cuts_power(&test_case->schedule))
		error = work_dir_sync(job->work_dir);
	if (error == 0)
		error = send_case(job);
	job->state = error < 0 ? JOB_IDLE : JOB_STARTING;
	if (error == 0 && job->again)
		job_started(job, job->stays);
	if (error == 0)
		job->stays = 0;
	return error;
}

void job_started(struct job *job, pid_t pid)
{
	uint64_t allowed = (uint64_t)job->test_case->expect.deadline_ns * job->patience;

	if (job->test_case->target == TARGET_SIM && allowed < SIM_REAL_TIME_NS)
		allowed = SIM_REAL_TIME_NS;
	job->pid = job->pids[job->image] = pid;
	job->state = JOB_RUNNING;
	job->due_ns = job_now_ns() + allowed;
}

static bool is_looking(const struct job *job)
{
	return job->paused && job->test_case->workload.steps[job->pause_step].kind == STEP_VERIFY;
}

struct reader_job job_reader_job(const struct job *job, unsigned step)
{
	return (struct reader_job){
		.work_dir = job->work_dir,
		.workload = &job->test_case->workload,
		.outcome = &job->outcome,
		.seed = job->test_case->seed,
		.from_medium = job->test_case->target != TARGET_SIM,
		.step = step,
		.request_first = job->requests_read,
		.look = is_looking(job) ? job->look : NULL,
		.before = job->pause_before,
	};
}

/* The case goes on: its time does not count while we read. */
static void answer_pause(struct job *job)
{
	struct wire_pause answer = {job->id, job->pause_step, job->pause_before};
	ssize_t sent = send(job->pause_ours, &answer, sizeof(answer), MSG_NOSIGNAL);

	(void)sent; /* killed in the meantime: its end is told by its server */
	job->paused = false;
}

/* Whoever dies in a verify has no second moment, and is found for that. */
static void begin_look(struct job *job)
{
	if (job->pause_before)
		*job->look = (struct store_look){.log_first = eventlog_count(job->log)};
	else
		job->look->log_end = eventlog_count(job->log);
}

static void end_look(struct job *job)
{
	if (!job->pause_before && looks_add(&job->looks, job->look) < 0)
		snprintf(job->outcome.broken, sizeof(job->outcome.broken),
			 "no memory for what the reader saw");
}

static void reading_done(struct job *job)
{
	if (is_looking(job))
		end_look(job);
	else
		job->requests_read = job->outcome.requests_count;
	if (job->ended) {
		job->paused = false;
		job->state = JOB_ENDED;
		return;
	}
	job->state = JOB_RUNNING;
	if (job->paused)
		answer_pause(job);
}

static void read_files(struct job *job, unsigned step)
{
	struct reader_job reader_job = job_reader_job(job, step);

	if (is_looking(job))
		begin_look(job);
	/* Whoever reads may never come back from a device that is armed. */
	if ((job->armed || reader_bytes(&reader_job) > READ_AT_ONCE_BYTES) &&
	    reader_fork(&job->reader, &reader_job) == 0) {
		job->state = JOB_READING;
		return;
	}
	reader_check(&reader_job, &job->result);
	reading_done(job);
}

static bool is_last(const struct job *job)
{
	return job->image + 1 == workload_images(&job->test_case->workload);
}

/* The fault of the schedule that ended its process, and a fresh one follows that reads what it
 * left; NULL: none. */
static const struct fault *ended_by(struct job *job)
{
	const struct fault *fault;

	if (is_last(job) || job->overdue)
		return NULL;
	verdict_count_faults(job->test_case, job->log, &job->result);
	fault = verdict_ended_by(&job->test_case->schedule, &job->result, job->image + 1,
				 job->status);
	if (fault && fault_crashes(fault) && !workload_is_durable(&job->test_case->workload))
		return NULL;
	return fault;
}

/* From the step that it was in on; it may not have come to the first. */
static void mark_steps_cut(struct job *job)
{
	struct image image = workload_image(&job->test_case->workload, job->image);
	unsigned last = job->outcome.last_step;

	for (unsigned i = last > image.first ? last : image.first; i < image.end; i++)
		job->steps_cut |= UINT64_C(1) << i;
	job->cut = true;
}

static void read_what_is_left(struct job *job, const char *after)
{
	struct reader_job reader_job = job_reader_job(job, job->outcome.last_step);

	mark_steps_cut(job);
	reader_job.after = after;
	reader_check_crash(&reader_job, job->test_case->expect.data, job->outcome.kept,
			   &job->result);
	job->state = JOB_ENDED;
}

/* The last that it told, and the files that it left. */
static void case_over(struct job *job)
{
	int last = reader_last_step(&job->test_case->workload, job->image);
	const struct fault *fault;

	outcome_read(&job->outcome, job->outcome_file);
	if (job->state == JOB_READING)
		return; /* a reader of its last pause: its pipe tells when */
	fault = ended_by(job);
	if (fault) {
		read_what_is_left(job, fault_crashes(fault) ? "the crash" : "the kill");
		return;
	}
	if (last >= 0 && !job_device_is_out(job))
		read_files(job, (unsigned)last);
	else
		job->state = JOB_ENDED;
}

/* Its process stays. */
static void job_done(struct job *job)
{
	if (!job->may_stay)
		return;
	job->ended = true;
	job->stays = job->pid;
	case_over(job);
}

/* Only what this case asked for: an earlier one may have been killed in mid-question. */
void job_pause_readable(struct job *job)
{
	struct wire_pause pause;
	ssize_t got = recv(job->pause_ours, &pause, sizeof(pause), MSG_DONTWAIT);

	if (got != sizeof(pause) || pause.id != job->id || job->state != JOB_RUNNING)
		return;
	job->pause_step = pause.step;
	job->pause_before = pause.before;
	if (pause.step == WIRE_STEP_DONE)
		job_done(job);
	if (pause.step == WIRE_STEP_ARM || pause.step == WIRE_STEP_DISARM) {
		job_switch_device(job, pause.step == WIRE_STEP_ARM);
		answer_pause(job);
	}
	if (pause.step == WIRE_STEP_RETURN)
		job_return_device(job);
	if (pause.step >= job->test_case->workload.steps_count)
		return;
	if (job_device_is_out(job)) { /* it is looked at when it is back */
		answer_pause(job);
		return;
	}
	job->paused = true;
	if (outcome_read(&job->outcome, job->outcome_file) < 0) {
		job_kill(job);
		return;
	}
	read_files(job, pause.step);
}

void job_reader_readable(struct job *job)
{
	reader_take(&job->reader, &job->result);
	reading_done(job);
}

/* What it left behind must not outlive it: its children are of its group. */
void job_kill(struct job *job)
{
	if (job->pid > 0 && !job->ended)
		kill(job->pid, SIGKILL);
	if (job->pid > 0)
		kill(-job->pid, SIGKILL);
}

static void drain_pause(struct job *job)
{
	char ignored[64];

	while (recv(job->pause_ours, ignored, sizeof(ignored), MSG_DONTWAIT) > 0)
		;
	while (recv(job->pause_theirs, ignored, sizeof(ignored), MSG_DONTWAIT) > 0)
		;
}

void job_ended(struct job *job, int status)
{
	job->ended = true;
	job->status = status;
	job_kill(job);
	drain_pause(job);
	job_disarm_device(job);
	case_over(job);
}

void job_check_deadline(struct job *job, uint64_t now_ns)
{
	if (job->state != JOB_RUNNING || job->overdue)
		return;
	if (job->asks_jobctl)
		jobctl_serve(eventlog_header(job->log));
	if (now_ns < job->due_ns || job->paused)
		return;
	job->overdue = true;
	run_story(job->pid, job->log, job->story, sizeof(job->story));
	job_kill(job);
	job_disarm_device(job);
}

bool job_is_done(const struct job *job)
{
	return job->state == JOB_ENDED;
}

bool job_goes_on(const struct job *job)
{
	return !is_last(job) && !job->overdue && !job->outcome.broken[0] &&
	       (job->cut || (job->outcome.ended && job->status == 0));
}

static struct observation observe(const struct job *job, bool emulated)
{
	return (struct observation){
		.workload = &job->test_case->workload,
		.outcome = &job->outcome,
		.looks = &job->looks,
		.log = job->log,
		.log_first = job->log_first,
		.steps_cut = job->steps_cut,
		.steps_returned = job->steps_returned,
		.image = job->image + 1,
		.status = job->status,
		.overdue = job->overdue,
		.deadline_ns = job->test_case->expect.deadline_ns,
		.story = job->story,
		.work_dir = job->work_dir,
		.kernel_text = kernel_log_read(job->options->kernel_log),
		.emulated = emulated,
	};
}

int job_next_process(struct job *job, struct forkserver *server, uint32_t id, bool emulated)
{
	struct observation seen = observe(job, emulated);
	int error;

	oracle_ask_process(&seen, &job->result);
	outcome_next_process(&job->outcome);
	job->requests_read = job->outcome.requests_count;
	job->log_first = eventlog_count(job->log);
	job->pids[++job->image] = 0;
	job->server = server;
	job->id = id;
	job->pid = 0;
	job->status = 0;
	job->ended = job->cut = false;
	job->due_ns = UINT64_MAX;
	error = send_case(job);
	if (error == 0)
		job->state = JOB_STARTING;
	return error;
}

/* Nothing of the disk may be touched any more: whoever does never comes back. */
void job_check_power(struct job *job)
{
	const struct run_device *device = job->options->device;
	struct observation seen;

	if (!device || job->state == JOB_IDLE || !device->is_cut(device->arg))
		return;
	seen = observe(job, false);
	oracle_kernel(&seen, &job->result);
	device->power_gone(job_state(job), device->arg);
}

static const char *wait_call_of(const struct eventlog_header *header)
{
	if (header->waits_getevents && header->waits_pgetevents)
		return "both";
	if (header->waits_pgetevents)
		return "io_pgetevents";
	return header->waits_getevents ? "io_getevents" : "";
}

static bool has_hang(const struct job *job)
{
	uint64_t count = eventlog_count(job->log);
	const struct eventlog_record *last = count ? eventlog_get(job->log, count - 1) : NULL;

	return last && last->type == EVENTLOG_HANG;
}

static void judge_worker(struct job *job, bool emulated)
{
	struct observation seen = observe(job, emulated);

	oracle_ask_all(&seen, &job->result);
	verdict_count_faults(job->test_case, job->log, &job->result);
	job_ask_device(job);
	verdict_decide(job->test_case, &seen, &job->result);
}

void job_ask_kernel(struct job *job)
{
	struct observation seen = observe(job, false);

	oracle_kernel(&seen, &job->result);
	if (verdict_explains_kernel(job->test_case, &job->result))
		result_forget(&job->result, "kernel-io");
}

void job_judge(struct job *job, bool emulated)
{
	struct case_result *result = &job->result;

	if (has_hang(job))
		run_story(0, job->log, job->story, sizeof(job->story));
	if (job_is_program(job))
		job_judge_program(job);
	else
		judge_worker(job, emulated);
	result->exit_status = job->status;
	result->shared = job->again;
	result->duration_ns = job_now_ns() - job->began_ns;
	result->log_records = eventlog_count(job->log);
	if (eventlog_hash(job->log, EVENTLOG_SCOPE_ORDER, &result->log_hash) < 0)
		result->log_hash = 0;
	snprintf(result->wait_call, sizeof(result->wait_call), "%s",
		 wait_call_of(eventlog_header(job->log)));
}
