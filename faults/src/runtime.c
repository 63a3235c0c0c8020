/* SPDX-License-Identifier: MIT */
/*
 * runtime.c - the case of this process: begin, arm, disarm, and what everybody asks of it. How it
 * ends is in runtime_end.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "case.h"
#include "durable.h"
#include "interpose.h"
#include "paths.h"
#include "rawcall.h"
#include "simclock.h"
#include "simthread.h"
#include "stage.h"

_Atomic int runtime_mode = RUNTIME_PASSIVE;
struct runtime_case runtime_case;

static __thread __attribute__((tls_model("initial-exec"))) unsigned inside_depth;

REAL(clock_gettime)

bool runtime_sim(void)
{
	return runtime_staged() && runtime_case.config.backend == SWAPFAULT_BACKEND_SIM;
}

uint64_t runtime_seed(void)
{
	return runtime_case.config.seed;
}

const struct swapfault_config *runtime_config(void)
{
	return &runtime_case.config;
}

struct eventlog *runtime_log(void)
{
	return runtime_case.log;
}

struct schedule *runtime_schedule(void)
{
	return &runtime_case.schedule;
}

bool runtime_inside(void)
{
	return inside_depth > 0;
}

void runtime_enter(void)
{
	inside_depth++;
}

void runtime_leave(void)
{
	inside_depth--;
}

uint64_t runtime_now_ns(void)
{
	struct timespec now;

	if (runtime_sim())
		return simclock_now_ns();
	real_clock_gettime()(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static __attribute__((format(printf, 3, 4))) int refuse(char *text, size_t bytes,
							const char *format, ...)
{
	va_list arguments;

	if (text && bytes) {
		va_start(arguments, format);
		vsnprintf(text, bytes, format, arguments);
		va_end(arguments);
	}
	return -EINVAL;
}

static bool power_of_two(unsigned value)
{
	return value && !(value & (value - 1));
}

static int check_config(const struct swapfault_config *config, char *text, size_t bytes)
{
	if (config->size_bytes != sizeof(*config))
		return refuse(text, bytes, "size_bytes: %zu, must be %zu", config->size_bytes,
			      sizeof(*config));
	if (config->backend != SWAPFAULT_BACKEND_KERNEL && config->backend != SWAPFAULT_BACKEND_SIM)
		return refuse(text, bytes, "backend: %d, must be 1 (kernel) or 2 (sim)",
			      config->backend);
	if (config->sector_bytes && config->sector_bytes != 512 && config->sector_bytes != 4096)
		return refuse(text, bytes, "sector_bytes: %u, must be 512 or 4096",
			      config->sector_bytes);
	if (config->memory_align_bytes && !power_of_two(config->memory_align_bytes))
		return refuse(text, bytes, "memory_align_bytes: %u, must be a power of two",
			      config->memory_align_bytes);
	if (config->work_dir && config->work_dir[0] != '/')
		return refuse(text, bytes, "work_dir: '%s', must be an absolute path",
			      config->work_dir);
	return 0;
}

/* The path as /proc/self/fd will show it: symbolic links resolved, no slash at the end. */
static int find_work_dir(const char *path, char *text, size_t bytes)
{
	char link[64];
	long fd, count;

	if (!path)
		return 0;
	fd = raw_call(SYS_openat, AT_FDCWD, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return refuse(text, bytes, "work_dir: '%s': %s", path, strerror((int)-fd));
	snprintf(link, sizeof(link), "/proc/self/fd/%ld", fd);
	count = raw_call(SYS_readlinkat, AT_FDCWD, link, runtime_case.work_dir,
			 sizeof(runtime_case.work_dir) - 1);
	raw_call(SYS_close, fd);
	if (count < 0)
		return refuse(text, bytes, "work_dir: '%s': %s", path, strerror((int)-count));
	runtime_case.work_dir[count] = '\0';
	return paths_absolute(AT_FDCWD, path, runtime_case.work_dir_given);
}

static int parse_schedule(const char *schedule, char *text, size_t bytes)
{
	struct schedule_error error;

	if (!schedule || !*schedule)
		return 0;
	if (schedule_parse(schedule, &runtime_case.schedule, &error) < 0)
		return refuse(text, bytes, "schedule:%u:%u: %s", error.line, error.column,
			      error.text);
	for (unsigned i = 0; i < runtime_case.schedule.count; i++)
		runtime_case.scheduled[runtime_case.schedule.faults[i].point] = true;
	return 0;
}

static void keep_config(const struct swapfault_config *config)
{
	struct swapfault_config *kept = &runtime_case.config;

	*kept = *config;
	kept->schedule = NULL;
	runtime_case.schedule.image = config->image;
	kept->work_dir = config->work_dir ? runtime_case.work_dir : NULL;
	if (!kept->sector_bytes)
		kept->sector_bytes = 512;
	if (!kept->memory_align_bytes)
		kept->memory_align_bytes = 512;
	if (!kept->deadline_ns)
		kept->deadline_ns = 60000000000u;
}

static int take_kept_log(char *text, size_t bytes)
{
	runtime_case.log = runtime_case.log_kept;
	runtime_case.log_kept = NULL;
	return runtime_case.log ? 0
				: refuse(text, bytes, "log_fd: no case before this one had a log");
}

static int find_log(int fd, char *text, size_t bytes)
{
	int result;

	if (fd == SWAPFAULT_LOG_KEPT)
		return take_kept_log(text, bytes);
	eventlog_close(runtime_case.log_kept);
	runtime_case.log_kept = NULL;
	if (fd < 0)
		return 0;
	result = eventlog_open(fd, &runtime_case.log);
	if (result < 0)
		refuse(text, bytes, "log_fd: %d: %s", fd, strerror(-result));
	return result;
}

static int open_log(int fd, int backend, char *text, size_t bytes)
{
	struct eventlog_header *header;
	int result = find_log(fd, text, bytes);

	if (result < 0 || !runtime_case.log)
		return result;
	header = eventlog_header(runtime_case.log);
	header->backend = (uint32_t)backend;
	__atomic_store_n(&header->handshake, (uint32_t)runtime_case.pid, __ATOMIC_RELEASE);
	return 0;
}

/* Everything that can fail comes before anything that cannot be taken back. */
static int prepare(const struct swapfault_config *config, char *text, size_t bytes)
{
	int result = check_config(config, text, bytes);

	if (result == 0)
		result = find_work_dir(config->work_dir, text, bytes);
	if (result == 0)
		result = parse_schedule(config->schedule, text, bytes);
	if (result == 0 && fiu_bridge_enable(&runtime_case.schedule) < 0)
		result = refuse(text, bytes, "libfiu refused a point");
	runtime_case.pid = (int)raw_call(SYS_getpid);
	if (result == 0)
		result = open_log(config->log_fd, config->backend, text, bytes);
	return result;
}

int runtime_begin(const struct swapfault_config *config, char *error_text, size_t error_bytes)
{
	int result;

	if (runtime_staged()) {
		refuse(error_text, error_bytes, "the case before has not ended");
		return -EALREADY;
	}
	result = prepare(config, error_text, error_bytes);
	if (result < 0) {
		struct eventlog *kept = runtime_case.log_kept;

		memset(&runtime_case, 0, sizeof(runtime_case));
		runtime_case.log_kept = kept;
		return result;
	}
	keep_config(config);
	runtime_identity_begin();
	if (config->backend == SWAPFAULT_BACKEND_SIM)
		simclock_begin(runtime_case.config.deadline_ns);
	simthread_begin();
	stage_begin();
	atomic_store(&runtime_mode, RUNTIME_STAGED);
	durable_attach();
	return 0;
}

static void log_mark(enum eventlog_type type)
{
	struct eventlog_record record = {
		.type = (uint8_t)type,
		.time_ns = runtime_now_ns(),
		.pid = (uint32_t)runtime_case.pid,
		.tid = runtime_thread_number(),
		.fd = -1,
	};

	if (runtime_case.log)
		runtime_log_append(&record);
}

void runtime_arm(void)
{
	if (atomic_load(&runtime_mode) != RUNTIME_STAGED)
		return;
	runtime_count_reset();
	durable_begin();
	log_mark(EVENTLOG_ARM);
	atomic_store(&runtime_mode, RUNTIME_ARMED);
}

void runtime_disarm(void)
{
	if (atomic_load(&runtime_mode) != RUNTIME_ARMED)
		return;
	atomic_store(&runtime_mode, RUNTIME_STAGED);
	durable_finish();
	stage_release_held();
	log_mark(EVENTLOG_DISARM);
}
