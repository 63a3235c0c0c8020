/* SPDX-License-Identifier: MIT */
/*
 * oracle_kernel.c - what the kernel complained of while the case ran. Complaints of its own state
 * are found for the oracle "kernel"; those of a device for "kernel-io", which a fault of the device
 * can explain (verdict.c decides that), and of one that had been pulled out and was put back for
 * "kernel-return".
 */
#include <stdio.h>
#include <string.h>

#include "kernel_log.h"
#include "oracle.h"

struct complaint {
	const char *words; /* of a line */
	const char *oracle;
	enum failure_class failure_class;
	const char *what;
};

static const struct complaint complaints[] = {
	{"kernel BUG at", "kernel", CLASS_CRASH, "the kernel found a bug of its own"},
	{"BUG: ", "kernel", CLASS_CRASH, "the kernel found a bug of its own"},
	{"Oops", "kernel", CLASS_CRASH, "the kernel had an oops"},
	{"general protection fault", "kernel", CLASS_CRASH, "the kernel had an oops"},
	{"WARNING: CPU", "kernel", CLASS_CRASH, "the kernel warned of itself"},
	{"blocked for more than", "kernel-io", CLASS_HANG, "a task was stuck in the kernel"},
	{"I/O error, dev", "kernel-io", CLASS_CONTRACT, "a device failed that nobody told to"},
	{"medium error, dev", "kernel-io", CLASS_CONTRACT, "a device failed that nobody told to"},
	{"timeout, ", "kernel-io", CLASS_CONTRACT, "a device did not answer in time"},
	{"EXT4-fs error", "kernel-io", CLASS_CONTRACT, "the file system is damaged"},
	{"JBD2: ", "kernel-io", CLASS_CONTRACT, "the file system's journal failed"},
};

#define COMPLAINTS (sizeof(complaints) / sizeof(*complaints))

static const struct complaint *find(const char *line, size_t length)
{
	for (size_t i = 0; i < COMPLAINTS; i++)
		if (memmem(line, length, complaints[i].words, strlen(complaints[i].words)))
			return &complaints[i];
	return NULL;
}

static bool is_mark(const char *line, size_t length)
{
	return length == strlen(KERNEL_LOG_RETURN) && memcmp(line, KERNEL_LOG_RETURN, length) == 0;
}

static const char *oracle_of(const struct complaint *complaint, bool returned)
{
	return returned && strcmp(complaint->oracle, "kernel-io") == 0 ? "kernel-return"
								       : complaint->oracle;
}

/* Each kind once, before and behind a return: the first of it explains the others. */
void oracle_kernel(const struct observation *seen, struct case_result *result)
{
	bool found[2][COMPLAINTS] = {{false}}, returned = false;

	for (const char *line = seen->kernel_text; line && *line;) {
		size_t length = strcspn(line, "\n");
		const struct complaint *complaint = find(line, length);

		returned |= is_mark(line, length);
		if (complaint && !found[returned][complaint - complaints]) {
			found[returned][complaint - complaints] = true;
			result_add(result, oracle_of(complaint, returned), complaint->failure_class,
				   "%s: %.*s", complaint->what, length > 200 ? 200 : (int)length,
				   line);
		}
		line += length + (line[length] == '\n');
	}
}
