/* SPDX-License-Identifier: MIT */
/*
 * device_fixture.h - a device of 1 MiB in sectors of 512 bytes, a client that is connected to it,
 * and the care that nothing is left behind: no descriptor, no process.
 *
 * Threads: one.
 */
#ifndef DEVICE_FIXTURE_H
#define DEVICE_FIXTURE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "device.h"
#include "nbd_client.h"

#define FIXTURE_BYTES (1u << 20)
#define FIXTURE_SECTOR 512u

static struct schedule fixture_schedule;
static struct device_options fixture_options;
static struct device *fixture_device;
static int fixture_client = -1;
static unsigned fixture_descriptors;

static inline unsigned fixture_count_descriptors(void)
{
	DIR *list = opendir("/proc/self/fd");
	unsigned count = 0;

	assert_non_null(list);
	while (readdir(list))
		count++;
	closedir(list);
	return count;
}

static inline int fixture_setup(void **state)
{
	(void)state;
	fixture_descriptors = fixture_count_descriptors();
	fixture_options = (struct device_options){
		.size_bytes = FIXTURE_BYTES,
		.sector_bytes = FIXTURE_SECTOR,
		.image_fd = memfd_create("image", MFD_CLOEXEC),
	};
	assert_true(fixture_options.image_fd >= 0);
	return 0;
}

static inline void fixture_start(const char *faults)
{
	struct schedule_error error;
	struct diag diag;

	if (schedule_parse(faults, &fixture_schedule, &error) < 0)
		fail_msg("%s: %s", faults, error.text);
	fixture_options.schedule = &fixture_schedule;
	if (device_start(&fixture_device, &fixture_options, &fixture_client, &diag) < 0)
		fail_msg("%s", diag.text);
}

/* Started, connected and armed. */
static inline void fixture_arm(const char *faults)
{
	fixture_start(faults);
	client_connect(fixture_client);
	assert_int_equal(device_arm(fixture_device), 0);
}

static inline void fixture_hang_up(void)
{
	if (fixture_client >= 0)
		close(fixture_client);
	fixture_client = -1;
}

static inline int fixture_stop(void)
{
	int result = device_stop(fixture_device);

	fixture_device = NULL;
	return result;
}

static inline int fixture_teardown(void **state)
{
	(void)state;
	fixture_hang_up();
	fixture_stop();
	close(fixture_options.image_fd);
	assert_int_equal(fixture_count_descriptors(), fixture_descriptors);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	return 0;
}

#define fixture_test(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

static inline pid_t fixture_parent_of(const char *pid)
{
	char path[320], line[512] = "";
	const char *behind_name;
	FILE *stream;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	stream = fopen(path, "r");
	if (!stream)
		return 0; /* no process, or none any more */
	if (!fgets(line, sizeof(line), stream))
		line[0] = '\0';
	fclose(stream);
	behind_name = strrchr(line, ')');
	return behind_name ? (pid_t)strtol(behind_name + 4, NULL, 10) : 0;
}

/* The process behind the device: the only child. */
static inline pid_t fixture_pid(void)
{
	DIR *list = opendir("/proc");
	const struct dirent *entry;
	pid_t pid = 0;

	assert_non_null(list);
	while ((entry = readdir(list)) != NULL)
		if (fixture_parent_of(entry->d_name) == getpid())
			pid = (pid_t)strtol(entry->d_name, NULL, 10);
	closedir(list);
	assert_true(pid > 0);
	return pid;
}

/* ---- requests of the client ---- */

static inline uint32_t write_bytes(uint64_t offset, uint32_t length, uint8_t with, uint16_t flags)
{
	uint8_t *data = malloc(length);
	uint32_t error;

	assert_non_null(data);
	memset(data, with, length);
	error = client_do(fixture_client, CLIENT_WRITE, flags, offset, data, length);
	free(data);
	return error;
}

static inline uint32_t read_bytes(uint64_t offset, uint32_t length, uint8_t *data)
{
	return client_do(fixture_client, CLIENT_READ, 0, offset, data, length);
}

static inline uint32_t flush(void)
{
	return client_do(fixture_client, CLIENT_FLUSH, 0, 0, NULL, 0);
}

/* A request that nobody waits for. */
static inline void submit(enum client_command command, uint64_t cookie, uint64_t offset)
{
	static uint8_t data[FIXTURE_SECTOR];
	struct client_request request = {command, 0, cookie, offset,
					 command == CLIENT_FLUSH ? 0 : FIXTURE_SECTOR};

	memset(data, (int)cookie, sizeof(data));
	client_submit(fixture_client, &request, data);
}

static inline uint64_t next_cookie(enum client_command command)
{
	uint8_t data[FIXTURE_SECTOR];
	struct client_reply reply =
		client_reply(fixture_client, data, command == CLIENT_READ ? sizeof(data) : 0);

	assert_int_equal(reply.error, 0);
	return reply.cookie;
}

/* What is on the medium, behind the device's back. */
static inline uint8_t image_byte(uint64_t offset)
{
	uint8_t byte = 0xee;

	assert_int_equal(pread(fixture_options.image_fd, &byte, 1, (off_t)offset), 1);
	return byte;
}

static inline bool image_holds(uint64_t offset, uint32_t length, uint8_t byte)
{
	uint8_t *held = malloc(length);
	bool holds = true;

	assert_non_null(held);
	assert_int_equal(pread(fixture_options.image_fd, held, length, (off_t)offset), length);
	for (uint32_t i = 0; i < length; i++)
		holds &= held[i] == byte;
	free(held);
	return holds;
}

static inline void check_outcome(unsigned fault, uint64_t fired, uint64_t injected, uint64_t missed,
				 const char *why)
{
	struct device_fault_outcome outcome;

	device_outcome(fixture_device, fault, &outcome);
	assert_int_equal(outcome.fired, fired);
	assert_int_equal(outcome.injected, injected);
	assert_int_equal(outcome.missed, missed);
	assert_string_equal(outcome.why_missed, why);
}

#endif /* DEVICE_FIXTURE_H */
