/* SPDX-License-Identifier: MIT */
/*
 * run_sanitizer.c - a sanitized worker as an oracle: reads the report it left about the process of
 * a case. No report, no finding; builds without sanitizer leave none.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "run_internal.h"

#define LOG_NAME_BYTES (WORK_DIR_BYTES + 32)
#define SUMMARY "SUMMARY: "

static void log_name(const struct run *run, pid_t pid, char name[LOG_NAME_BYTES])
{
	snprintf(name, LOG_NAME_BYTES, "%s/sanitizer.%d", run->root.disk, (int)pid);
}

/* "    #1 0x7f5 in block_done core/src/block.c:77": what a person reads; NULL: no such line. */
static const char *place_of(const char *line)
{
	const char *frame = strstr(line, "#1 0x"), *in = frame ? strstr(frame, " in ") : NULL;

	return in ? in + 4 : NULL;
}

/* Any report but ThreadSanitizer's is the end of the process. */
static enum failure_class class_of(const char *summary)
{
	if (strstr(summary, "leaked in"))
		return CLASS_LEAK;
	return strncmp(summary, "ThreadSanitizer: ", 17) == 0 ? CLASS_CONTRACT : CLASS_CRASH;
}

static void add_report(struct case_result *result, const char *summary, const char *place)
{
	enum failure_class class = class_of(summary);
	bool leaked = class == CLASS_LEAK;

	/* A leak's summary counts; any other names the place itself. */
	result_add(result, "sanitizer", class, "%s%s%s", summary,
		   leaked && place[0] ? " First by " : "", leaked ? place : "");
}

static void read_report(FILE *log, struct case_result *result)
{
	char line[1024], first[512] = "", place[200] = "";
	bool summed_up = false;

	while (fgets(line, sizeof(line), log)) {
		const char *at = place_of(line);

		line[strcspn(line, "\n")] = '\0';
		if (!place[0] && at)
			snprintf(place, sizeof(place), "%s", at);
		if (!first[0] && (strstr(line, "ERROR: ") || strstr(line, "runtime error: ")))
			snprintf(first, sizeof(first), "%.500s", line);
		if (strncmp(line, SUMMARY, strlen(SUMMARY)) == 0) {
			add_report(result, line + strlen(SUMMARY), place);
			summed_up = true;
		}
	}
	if (!summed_up)
		add_report(result, first[0] ? first : "a report without words", place);
}

void run_sanitizer_ask(const struct run *run, struct job *job)
{
	char name[LOG_NAME_BYTES];
	FILE *log;

	if (job->pid <= 0)
		return;
	log_name(run, job->pid, name);
	log = fopen(name, "re");
	if (!log)
		return;
	read_report(log, &job->result);
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
	snprintf(kept, sizeof(kept), "%s/sanitizer%s.log", job->result.work_dir, digits);
	if (!job->result.work_dir[0] || rename(name, kept) < 0)
		unlink(name);
}

void run_sanitizer_keep(const struct run *run, const struct job *job)
{
	for (unsigned i = 0; i <= job->image; i++)
		keep_log(run, job, i);
}
