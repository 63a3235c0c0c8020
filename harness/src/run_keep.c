/* SPDX-License-Identifier: MIT */
/*
 * run_keep.c - sets aside what a case that did not pass left: its files, the event log as text, the
 * worker's lines, and a page that says what it was and how to run it again.
 */
#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "run_job.h"
#include "run_story.h"

void run_keep_name(const struct test_case *test_case, char name[RUN_KEEP_NAME_BYTES])
{
	size_t used = (size_t)snprintf(name, RUN_KEEP_NAME_BYTES, "%04u-", test_case->index);

	for (const char *at = test_case->name; *at && used < RUN_KEEP_NAME_BYTES - 1; at++) {
		bool plain = isalnum((unsigned char)*at) || strchr("=.,_-", *at);

		if (plain || name[used - 1] != '-')
			name[used++] = plain ? *at : '-';
	}
	name[used] = '\0';
}

static int create(const struct job *job, const char *name)
{
	char path[WORK_DIR_BYTES + 64];

	snprintf(path, sizeof(path), "%s/%s", job->result.work_dir, name);
	return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static void write_case(const struct job *job)
{
	const struct case_result *result = &job->result;
	int fd = create(job, "case.txt");

	if (fd < 0)
		return;
	dprintf(fd, "%s: %s", verdict_name(result->verdict), result->test_case->name);
	if (result->failure_class != CLASS_NONE)
		dprintf(fd, " (%s)", failure_class_name(result->failure_class));
	dprintf(fd, "\n%s\nseed %" PRIu64 "\nagain: %s\n", result->reason, result->test_case->seed,
		result->test_case->repro);
	if (result->test_case->schedule_text[0])
		dprintf(fd, "faults:\n%s\n", result->test_case->schedule_text);
	for (unsigned i = 0; i < result->findings_count; i++)
		dprintf(fd, "%s (%s): %s\n", result->findings[i].oracle,
			failure_class_name(result->findings[i].failure_class),
			result->findings[i].text);
	if (job->story[0])
		dprintf(fd, "at the end: %s\n", job->story);
	close(fd);
}

static void write_outcome(const struct job *job)
{
	uint64_t used = __atomic_load_n(&job->outcome_file->used, __ATOMIC_ACQUIRE);
	int fd = create(job, "outcome.ndjson");

	if (fd < 0)
		return;
	if (used < WIRE_OUTCOME_BYTES_MAX - sizeof(*job->outcome_file))
		for (uint64_t done = 0; done < used;) {
			ssize_t put = write(fd, job->outcome_file->text + done, used - done);

			if (put <= 0)
				break;
			done += (uint64_t)put;
		}
	close(fd);
}

static void write_words(const struct job *job, const char *name, int from)
{
	int fd = from < 0 ? -1 : create(job, name);
	off_t at = 0;

	if (fd < 0)
		return;
	while (sendfile(fd, from, &at, 1 << 20) > 0)
		;
	close(fd);
}

static void write_events(const struct job *job)
{
	int fd = create(job, "events.txt");

	if (fd < 0)
		return;
	run_story_log(job->log, fd);
	close(fd);
}

void job_keep(struct job *job, struct work_root *root)
{
	char name[RUN_KEEP_NAME_BYTES];

	run_keep_name(job->test_case, name);
	if (work_dir_keep(root, job->work_dir, name, job->result.work_dir) < 0) {
		job->result.work_dir[0] = '\0';
		return;
	}
	write_case(job);
	write_outcome(job);
	write_events(job);
	write_words(job, "stdout.txt", job->stdout_fd);
	write_words(job, "stderr.txt", job->stderr_fd);
}
