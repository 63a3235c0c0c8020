/* SPDX-License-Identifier: MIT */
/*
 * reader_child.c - the reader as a child of the harness, for files that take a while.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reader.h"

/* Findings as they travel; all of them fit into a pipe, so the child never waits. */
struct packet {
	enum failure_class failure_class;
	bool medium; /* its oracle; else "data" */
	char text[FINDING_TEXT_BYTES];
};

_Static_assert(RESULT_FINDINGS_MAX * sizeof(struct packet) < 65536, "a pipe holds them all");

static _Noreturn void be_reader(int pipe, const struct reader_job *job)
{
	static struct case_result found;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	reader_check(job, &found);
	for (unsigned i = 0; i < found.findings_count; i++) {
		struct packet packet = {
			.failure_class = found.findings[i].failure_class,
			.medium = strcmp(found.findings[i].oracle, "medium") == 0,
		};

		memcpy(packet.text, found.findings[i].text, sizeof(packet.text));
		if (write(pipe, &packet, sizeof(packet)) != sizeof(packet))
			_exit(1);
	}
	_exit(0);
}

int reader_fork(struct reader *reader, const struct reader_job *job)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		be_reader(ends[1], job);
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return -errno;
	}
	*reader = (struct reader){pid, ends[0]};
	return 0;
}

static int reap(struct reader *reader)
{
	int status = 0;

	close(reader->pipe);
	while (waitpid(reader->pid, &status, 0) < 0 && errno == EINTR)
		;
	reader->pid = 0;
	return status;
}

void reader_take(struct reader *reader, struct case_result *result)
{
	struct packet packet;
	ssize_t got;
	int status;

	do {
		got = read(reader->pipe, &packet, sizeof(packet));
		if (got == (ssize_t)sizeof(packet))
			result_add(result, packet.medium ? "medium" : "data", packet.failure_class,
				   "%s", packet.text);
	} while (got > 0 || (got < 0 && errno == EINTR));
	status = reap(reader);
	if (status)
		result_add(result, "data", CLASS_CRASH, "the reader died (wait status %#x)",
			   (unsigned)status);
}

void reader_kill(struct reader *reader)
{
	if (!reader->pid)
		return;
	kill(reader->pid, SIGKILL);
	reap(reader);
}
