/* SPDX-License-Identifier: MIT */
/*
 * durable_process.c - the processes of the case: when the power goes, it goes for all of them. A
 * program that a child executes is out of reach.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "durable_internal.h"

#define FIELD_START 20 /* of /proc/PID/stat, counted from the one after the name's bracket */

static uint64_t parse_number(const char *text)
{
	uint64_t value = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (uint64_t)(*text - '0');
	return value;
}

/* When the process started; 0: there is none. */
static uint64_t start_of(int pid)
{
	char path[64], text[1024];
	const char *at;
	long fd, count;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = raw_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	count = raw_call(SYS_read, fd, text, sizeof(text) - 1);
	raw_call(SYS_close, fd);
	text[count > 0 ? count : 0] = '\0';
	at = strrchr(text, ')');
	for (unsigned i = 0; at && i < FIELD_START; i++)
		at = strchr(at + 1, ' ');
	return at ? parse_number(at + 1) : 0;
}

static bool is_gone(const struct durable_process *process)
{
	return !process->pid || start_of(process->pid) != process->start;
}

void durable_process_add(void)
{
	struct simlock_guard guard = durable_lock();
	int pid = (int)raw_call(SYS_getpid);
	unsigned i;

	for (i = 0; i < DURABLE_PROCESSES_MAX; i++)
		if (is_gone(&durable_journal->processes[i]))
			break;
	if (i < DURABLE_PROCESSES_MAX)
		durable_journal->processes[i] = (struct durable_process){pid, start_of(pid)};
	else
		durable_give_up("too many processes");
	durable_unlock(&guard);
}

void durable_process_end_others(void)
{
	int self = (int)raw_call(SYS_getpid);

	for (unsigned i = 0; i < DURABLE_PROCESSES_MAX; i++) {
		const struct durable_process *process = &durable_journal->processes[i];

		if (process->pid != self && !is_gone(process))
			raw_call(SYS_kill, process->pid, SIGKILL);
	}
}
