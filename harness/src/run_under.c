/* SPDX-License-Identifier: MIT */
/*
 * run_under.c - valgrind as an oracle: reads the log it wrote about the process of a case.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run_internal.h"

#define LOG_NAME_BYTES (WORK_DIR_BYTES + 32)

static void log_name(const struct run *run, pid_t pid, char name[LOG_NAME_BYTES])
{
	snprintf(name, LOG_NAME_BYTES, "%s/valgrind.%d", run->root.disk, (int)pid);
}

/* What a line says behind "==PID== "; NULL: it is not valgrind's. */
static char *said_of(char *line)
{
	char *end = line[0] == '=' && line[1] == '=' ? strstr(line + 2, "== ") : NULL;

	line[strcspn(line, "\n")] = '\0';
	return end ? end + 3 : NULL;
}

static enum failure_class class_of(const char *error)
{
	if (strncmp(error, "Invalid", 7) == 0 || strstr(error, "overlap"))
		return CLASS_CORRUPTION;
	return strstr(error, "lost") ? CLASS_LEAK : CLASS_CONTRACT;
}

/* "   at 0x48B9F: block_done (block.c:77)": what a person reads. Its own malloc() is no place. */
static const char *place_of(const char *line)
{
	const char *at = line + strspn(line, " ");
	bool frame = strncmp(at, "at 0x", 5) == 0 || strncmp(at, "by 0x", 5) == 0;
	const char *colon = frame && !strstr(at, "/vgpreload_") ? strchr(at, ':') : NULL;

	return colon ? colon + 2 : NULL;
}

/* "Thread #1: Exiting thread still holds 1 lock"; "Thread #1 was created" only introduces it. */
static bool is_about_thread(const char *text)
{
	size_t word = strlen("Thread #");

	return strncmp(text, "Thread #", word) == 0 &&
	       text[word + strspn(text + word, "0123456789")] == ':';
}

static bool is_error(const char *text)
{
	static const char *const errors[] = {
		"Invalid ",	 "Conditional jump", "Use of uninit",
		"Syscall param", "Source and",	     "Possible data race",
		"Argument ",	 "Mismatched free",  "Process terminating",
	};

	for (unsigned i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (strncmp(text, errors[i], strlen(errors[i])) == 0)
			return true;
	return is_about_thread(text) || strstr(text, " definitely lost in ") != NULL;
}

/* An error is a line that says what, and a line that says where. */
static void read_errors(FILE *log, const char *tool, struct case_result *result)
{
	char line[1024], error[200] = "";

	while (fgets(line, sizeof(line), log)) {
		const char *text = said_of(line), *place;

		if (!text)
			continue;
		place = place_of(text);
		if (is_error(text)) {
			snprintf(error, sizeof(error), "%s", text);
		} else if (error[0] && place) {
			result_add(result, tool, class_of(error), "%s in %s", error, place);
			error[0] = '\0';
		}
	}
}

static unsigned errors_counted(FILE *log)
{
	char line[1024];
	unsigned count = 0;

	while (fgets(line, sizeof(line), log)) {
		const char *summary = strstr(line, "ERROR SUMMARY: ");

		if (summary)
			count = (unsigned)strtoul(summary + 15, NULL, 10);
	}
	rewind(log);
	return count;
}

void run_under_ask(const struct run *run, struct job *job)
{
	const char *tool = run_valgrind_tool(run);
	unsigned before = job->result.findings_count, count;
	char name[LOG_NAME_BYTES];
	FILE *log;

	if (!tool || job->pid <= 0)
		return;
	log_name(run, job->pid, name);
	log = fopen(name, "re");
	if (!log) {
		snprintf(job->outcome.broken, sizeof(job->outcome.broken), "%s left no log", tool);
		return;
	}
	count = errors_counted(log);
	if (count)
		read_errors(log, tool, &job->result);
	if (count && job->result.findings_count == before)
		result_add(&job->result, tool, CLASS_CONTRACT, "%u errors, see valgrind.log",
			   count);
	fclose(log);
}

/* The process that ran last has the plain name, those before it are numbered. */
static void keep_log(const struct run *run, const struct job *job, unsigned number)
{
	char name[LOG_NAME_BYTES], kept[LOG_NAME_BYTES], digits[16] = "";

	if (job->pids[number] <= 0)
		return;
	if (number < job->image)
		snprintf(digits, sizeof(digits), ".%u", number + 1);
	log_name(run, job->pids[number], name);
	snprintf(kept, sizeof(kept), "%s/valgrind%s.log", job->result.work_dir, digits);
	if (!job->result.work_dir[0] || rename(name, kept) < 0)
		unlink(name);
}

void run_under_keep(const struct run *run, const struct job *job)
{
	if (!run_valgrind_tool(run))
		return;
	for (unsigned i = 0; i <= job->image; i++)
		keep_log(run, job, i);
}

/* In sim signals come at the points where waits look for them: valgrind has no part in that. */
const char *run_under_refuses(const struct run *run, const struct test_case *test_case)
{
	if (run_valgrind_tool(run) && test_case->program)
		return "a scenario's program runs without tools: see swaptorture exec --under";
	if (run_valgrind_tool(run) && test_case->target != TARGET_SIM)
		return "valgrind has no io_pgetevents: only sim runs under it";
	return "";
}
