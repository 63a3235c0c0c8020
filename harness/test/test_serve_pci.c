/* SPDX-License-Identifier: MIT */
/*
 * test_serve_pci.c - what is written to tear a PCI function out, in directories that look like
 * those of the kernel; what the kernel does then is for guests to show (scenarios/device).
 */
#undef NDEBUG
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve_pci.h"

#define CONFIG_BYTES 64

static char directory[] = "/tmp/swaptorture-pci-XXXXXX";
static struct serve_pci pci;

static void put(const char *where, const char *name, const void *data, size_t bytes)
{
	char path[PATH_MAX + 16];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", where, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, bytes), (ssize_t)bytes);
	close(fd);
}

static size_t get(const char *where, const char *name, void *data, size_t bytes)
{
	char path[PATH_MAX + 16];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", where, name);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	got = read(fd, data, bytes);
	close(fd);
	assert_true(got >= 0);
	return (size_t)got;
}

static void make(char path[PATH_MAX], const char *name)
{
	snprintf(path, PATH_MAX, "%s/%s", directory, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

static int set_up(void **state)
{
	uint8_t config[CONFIG_BYTES];

	(void)state;
	assert_non_null(mkdtemp(directory));
	make(pci.device, "device");
	make(pci.port, "port");
	make(pci.block, "block");
	memset(config, 0x77, sizeof(config));
	put(pci.device, "config", config, sizeof(config));
	put(pci.device, "remove", "", 0);
	config[0x19] = 3;
	config[0x1a] = 5;
	put(pci.port, "config", config, sizeof(config));
	put(pci.block, "size", "2048\n", 5);
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = {"device/config", "device/remove", "device",
					    "port/config",   "port",	      "block/size",
					    "block"};
	char path[PATH_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		remove(path);
	}
	assert_int_equal(rmdir(directory), 0);
	memcpy(strrchr(directory, '-') + 1, "XXXXXX", 6);
	return 0;
}

/* It neither listens nor speaks, its port leads nowhere, and nothing else of either is changed. */
static void a_function_that_is_torn_out_cannot_be_reached(void **state)
{
	uint8_t config[CONFIG_BYTES], word[4] = "";
	struct diag diag;

	(void)state;
	assert_int_equal(serve_pci_tear_out(&pci, &diag), 0);
	get(pci.device, "config", config, sizeof(config));
	for (unsigned i = 0; i < CONFIG_BYTES; i++)
		assert_int_equal(config[i], i == 4 || i == 5 ? 0 : 0x77);
	get(pci.port, "config", config, sizeof(config));
	for (unsigned i = 0; i < CONFIG_BYTES; i++)
		assert_int_equal(config[i], i == 0x19 || i == 0x1a ? 0 : 0x77);
	assert_int_equal(pci.buses[0], 3);
	assert_int_equal(pci.buses[1], 5);
	assert_int_equal(get(pci.device, "remove", word, sizeof(word)), 1);
	assert_int_equal(word[0], '1');
	assert_int_equal(serve_pci_open_port(&pci, &diag), 0);
	get(pci.port, "config", config, sizeof(config));
	for (unsigned i = 0; i < CONFIG_BYTES; i++)
		assert_int_equal(config[i], i == 0x19 ? 3 : i == 0x1a ? 5 : 0x77);
}

static void what_cannot_be_torn_out_is_told_with_its_file(void **state)
{
	char path[PATH_MAX + 16];
	struct diag diag = {.text = ""};

	(void)state;
	snprintf(path, sizeof(path), "%s/config", pci.port);
	assert_int_equal(truncate(path, 4), 0);
	assert_int_equal(serve_pci_tear_out(&pci, &diag), -EIO);
	assert_non_null(strstr(diag.text, "port/config"));
	unlink(path);
	assert_int_equal(serve_pci_tear_out(&pci, &diag), -ENOENT);
}

static void a_device_without_sectors_has_ended(void **state)
{
	char path[PATH_MAX + 16];
	struct diag diag = {.text = ""};

	(void)state;
	assert_int_equal(serve_pci_await_end(&pci, 0, &diag), -ETIMEDOUT);
	assert_non_null(strstr(diag.text, "is still there after 0 s"));
	put(pci.block, "size", "0\n", 2);
	assert_int_equal(serve_pci_await_end(&pci, 0, &diag), 0);
	snprintf(path, sizeof(path), "%s/size", pci.block);
	unlink(path);
	assert_int_equal(serve_pci_await_end(&pci, 0, &diag), 0);
}

static void a_device_that_is_not_there_is_told(void **state)
{
	struct serve_pci found;
	struct diag diag = {.text = ""};

	(void)state;
	assert_int_equal(serve_pci_find("/dev/nvme77n1", &found, &diag), -ENOENT);
	assert_non_null(strstr(diag.text, "/sys/block/nvme77n1/device/device"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(a_function_that_is_torn_out_cannot_be_reached),
		CASE(what_cannot_be_torn_out_is_told_with_its_file),
		CASE(a_device_without_sectors_has_ended),
		CASE(a_device_that_is_not_there_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
