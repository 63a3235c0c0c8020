/* SPDX-License-Identifier: MIT */
/*
 * start.c - what the preload does before main: resolve the real calls, and begin a case for a
 * program that does not know of us, from the environment. What cannot be begun ends the program
 * with 127: it must not run unarmed by mistake.
 *
 *   SWAPFAULT_SCHEDULE  text, or @FILE            SWAPFAULT_LOG       file, made if missing
 *   SWAPFAULT_BACKEND   kernel | sim              SWAPFAULT_SEED      number
 *   SWAPFAULT_WORK_DIR  default: where we start   SWAPFAULT_ARM       start | open
 *   SWAPFAULT_SECTOR_BYTES, SWAPFAULT_MEMORY_ALIGN_BYTES, SWAPFAULT_DEADLINE_NS: see swapfault.h
 *   SWAPFAULT_PUMP=1  fill the ring without being asked, for programs that read it themselves
 *   SWAPFAULT_FOLLOW_EXEC=1  leave all this to programs that this one executes
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "case.h"
#include "interpose.h"
#include "rawcall.h"
#include "stage.h"

#define EXIT_REFUSED 127
#define SCHEDULE_TEXT_BYTES 65536

extern char **environ;

enum variable {
	VARIABLE_SCHEDULE,
	VARIABLE_LOG,
	VARIABLE_BACKEND,
	VARIABLE_SEED,
	VARIABLE_WORK_DIR,
	VARIABLE_ARM,
	VARIABLE_SECTOR_BYTES,
	VARIABLE_MEMORY_ALIGN_BYTES,
	VARIABLE_DEADLINE_NS,
	VARIABLE_PUMP,
	VARIABLE_FOLLOW_EXEC,
	VARIABLE_COUNT
};

static const char *const variable_names[VARIABLE_COUNT] = {
	[VARIABLE_SCHEDULE] = "SWAPFAULT_SCHEDULE",
	[VARIABLE_LOG] = "SWAPFAULT_LOG",
	[VARIABLE_BACKEND] = "SWAPFAULT_BACKEND",
	[VARIABLE_SEED] = "SWAPFAULT_SEED",
	[VARIABLE_WORK_DIR] = "SWAPFAULT_WORK_DIR",
	[VARIABLE_ARM] = "SWAPFAULT_ARM",
	[VARIABLE_SECTOR_BYTES] = "SWAPFAULT_SECTOR_BYTES",
	[VARIABLE_MEMORY_ALIGN_BYTES] = "SWAPFAULT_MEMORY_ALIGN_BYTES",
	[VARIABLE_DEADLINE_NS] = "SWAPFAULT_DEADLINE_NS",
	[VARIABLE_PUMP] = "SWAPFAULT_PUMP",
	[VARIABLE_FOLLOW_EXEC] = "SWAPFAULT_FOLLOW_EXEC",
};

static __attribute__((format(printf, 1, 2), noreturn)) void refuse(const char *format, ...)
{
	char text[1024] = "swapfault: ";
	size_t used = strlen(text);
	va_list arguments;
	int count;

	va_start(arguments, format);
	count = vsnprintf(text + used, sizeof(text) - used - 1, format, arguments);
	va_end(arguments);
	used += count < 0 ? 0 : (size_t)count;
	if (used > sizeof(text) - 2)
		used = sizeof(text) - 2;
	text[used] = '\n';
	raw_call(SYS_write, STDERR_FILENO, text, used + 1);
	raw_call(SYS_exit_group, EXIT_REFUSED);
	__builtin_unreachable();
}

static const char *value_of(enum variable variable)
{
	return getenv(variable_names[variable]);
}

static uint64_t number_of(enum variable variable, uint64_t largest)
{
	const char *text = value_of(variable);
	char *end;
	uint64_t value;

	if (!text)
		return 0;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-')
		refuse("%s: '%s', must be a number", variable_names[variable], text);
	if (value > largest)
		refuse("%s: %s, must be at most %llu", variable_names[variable], text,
		       (unsigned long long)largest);
	return value;
}

/* Index of the value among @words, 0 when unset. */
static unsigned choice_of(enum variable variable, const char *const words[2])
{
	const char *text = value_of(variable);

	if (!text || strcmp(text, words[0]) == 0)
		return 0;
	if (strcmp(text, words[1]) != 0)
		refuse("%s: '%s', must be %s or %s", variable_names[variable], text, words[0],
		       words[1]);
	return 1;
}

static bool is_known(const char *entry)
{
	for (unsigned i = 0; i < VARIABLE_COUNT; i++) {
		size_t bytes = strlen(variable_names[i]);

		if (strncmp(entry, variable_names[i], bytes) == 0 && entry[bytes] == '=')
			return true;
	}
	return false;
}

/* A misspelt variable would be a fault that silently does not happen. */
static void refuse_unknown_variables(void)
{
	for (char **entry = environ; entry && *entry; entry++)
		if (strncmp(*entry, "SWAPFAULT_", 10) == 0 && !is_known(*entry))
			refuse("%.*s: no such variable", (int)strcspn(*entry, "="), *entry);
}

static const char *read_schedule(const char *path)
{
	static char text[SCHEDULE_TEXT_BYTES];
	long fd = raw_call(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	long count = 0, part = 1;

	if (fd < 0)
		refuse("SWAPFAULT_SCHEDULE: %s: %s", path, strerror((int)-fd));
	while (part > 0 && count < (long)sizeof(text) - 1) {
		part = raw_call(SYS_read, fd, text + count, sizeof(text) - 1 - (size_t)count);
		if (part < 0)
			refuse("SWAPFAULT_SCHEDULE: %s: %s", path, strerror((int)-part));
		count += part;
	}
	raw_call(SYS_close, fd);
	if (count == (long)sizeof(text) - 1)
		refuse("SWAPFAULT_SCHEDULE: %s: longer than %d bytes", path, SCHEDULE_TEXT_BYTES);
	return text;
}

static const char *find_schedule(void)
{
	const char *text = value_of(VARIABLE_SCHEDULE);

	return text && text[0] == '@' ? read_schedule(text + 1) : text;
}

/* The harness hands over a log that it made; a person names a file that is not there yet. */
static int open_log(void)
{
	const char *path = value_of(VARIABLE_LOG);
	struct stat status;
	long fd;
	int result = 0;

	if (!path)
		return -1;
	fd = raw_call(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0)
		refuse("SWAPFAULT_LOG: %s: %s", path, strerror((int)-fd));
	if (fstat((int)fd, &status) == 0 && status.st_size == 0)
		result = eventlog_init((int)fd);
	if (result < 0)
		refuse("SWAPFAULT_LOG: %s: %s", path, strerror(-result));
	return (int)fd;
}

static const char *find_work_dir(void)
{
	static char path[PATH_MAX];
	const char *text = value_of(VARIABLE_WORK_DIR);

	if (text)
		return text;
	return raw_call(SYS_getcwd, path, sizeof(path)) > 0 ? path : NULL;
}

/* "sector_bytes: 100, must ..." is about SWAPFAULT_SECTOR_BYTES. */
static __attribute__((noreturn)) void refuse_config(const char *error)
{
	char name[64] = "";

	for (size_t i = 0; i < sizeof(name) - 1 && error[i] && error[i] != ':'; i++)
		name[i] = (char)toupper((unsigned char)error[i]);
	refuse("SWAPFAULT_%s%s", strcmp(name, "LOG_FD") == 0 ? "LOG" : name,
	       error + strcspn(error, ":"));
}

static void begin(void)
{
	static const char *const backends[2] = {"kernel", "sim"};
	static const char *const arms[2] = {"start", "open"};
	static const char *const switches[2] = {"0", "1"};
	struct swapfault_config config = {
		.size_bytes = sizeof(config),
		.schedule = find_schedule(),
		.backend = choice_of(VARIABLE_BACKEND, backends) ? SWAPFAULT_BACKEND_SIM
								 : SWAPFAULT_BACKEND_KERNEL,
		.seed = number_of(VARIABLE_SEED, UINT64_MAX),
		.log_fd = open_log(),
		.work_dir = find_work_dir(),
		.sector_bytes = (unsigned)number_of(VARIABLE_SECTOR_BYTES, UINT32_MAX),
		.memory_align_bytes = (unsigned)number_of(VARIABLE_MEMORY_ALIGN_BYTES, UINT32_MAX),
		.deadline_ns = number_of(VARIABLE_DEADLINE_NS, UINT64_MAX),
	};
	bool arm_at_open = choice_of(VARIABLE_ARM, arms);
	bool pump = choice_of(VARIABLE_PUMP, switches);
	char error[512];

	if (runtime_begin(&config, error, sizeof(error)) < 0)
		refuse_config(error);
	if (config.log_fd >= 0)
		raw_call(SYS_close, config.log_fd);
	runtime_case.arm_at_open = arm_at_open;
	if (pump)
		stage_pump_set_always();
	if (!arm_at_open)
		runtime_arm();
}

static bool is_wanted(void)
{
	return value_of(VARIABLE_SCHEDULE) || value_of(VARIABLE_LOG) ||
	       value_of(VARIABLE_BACKEND) || fiu_bridge_controlled();
}

/* A schedule is for one process image. */
static void forget_variables(void)
{
	static const char *const switches[2] = {"0", "1"};

	if (choice_of(VARIABLE_FOLLOW_EXEC, switches))
		return;
	for (unsigned i = 0; i < VARIABLE_COUNT; i++)
		unsetenv(variable_names[i]);
}

static __attribute__((constructor)) void start(void)
{
	real_resolve_all();
	fiu_bridge_find_control();
	refuse_unknown_variables();
	if (is_wanted())
		begin();
	forget_variables();
}
