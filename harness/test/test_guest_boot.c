/* SPDX-License-Identifier: MIT */
/*
 * test_guest_boot.c - real guests: said hello to, plugged, unplugged, hung, killed with their
 * harness. In the guest this very program stands in for swaptorture: called with `serve` it answers
 * every line with what it sees.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <linux/fs.h>
#include <unistd.h>

#include "guest.h"

#define NAMESPACE_BYTES (16u << 20)

static char self[PATH_MAX], init_program[PATH_MAX], kernel_tool[PATH_MAX];
static struct guest_programs programs = {
	.init = init_program, .kernel_tool = kernel_tool, .swaptorture = self};

/* ---- in the guest ---- */

static long read_attribute(const char *name, const char *attribute)
{
	char path[300], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/block/%s/%s", name, attribute);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strtol(text, NULL, 10);
}

/* The bytes at the beginning of the device, as the caller put them there. */
static json_t *first_word(const char *name)
{
	char path[300], text[4097] = "";
	int fd;

	snprintf(path, sizeof(path), "/dev/%s", name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	return json_string(text);
}

/* 0, or -errno of writing a few sectors straight to the device. */
static int try_write(const char *name)
{
	static char bytes[4096] __attribute__((aligned(4096)));
	char path[300];
	int fd, error = 0;

	snprintf(path, sizeof(path), "/dev/%s", name);
	fd = open(path, O_WRONLY | O_DIRECT);
	if (fd < 0 || pwrite(fd, bytes, sizeof(bytes), 8192) != (ssize_t)sizeof(bytes))
		error = -errno;
	if (fd >= 0)
		close(fd);
	return error;
}

static json_t *disks(void)
{
	json_t *all = json_array();
	DIR *directory = opendir("/sys/block");
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		if (strncmp(entry->d_name, "nvme", 4) != 0)
			continue;
		json_array_append_new(
			all,
			json_pack("{s:i, s:i, s:i, s:o}", "sectors",
				  (int)read_attribute(entry->d_name, "size"), "sector_bytes",
				  (int)read_attribute(entry->d_name, "queue/logical_block_size"),
				  "write", try_write(entry->d_name), "word",
				  first_word(entry->d_name)));
	}
	if (directory)
		closedir(directory);
	return all;
}

static void say(FILE *channel, json_t *line)
{
	json_dumpf(line, channel, JSON_COMPACT);
	fputc('\n', channel);
	fflush(channel);
	json_decref(line);
}

static int serve(void)
{
	static char text[64 * 1024];
	FILE *channel = fdopen(3, "r+");

	say(channel, json_pack("{s:i, s:s}", "hello", 1, "version", "test"));
	while (fgets(text, sizeof(text), channel)) {
		json_t *line = json_loads(text, 0, NULL);

		if (json_object_get(line, "end"))
			return 3;
		if (json_object_get(line, "disks"))
			say(channel, disks());
		else
			say(channel, json_pack("{s:O?}", "echo", line));
		json_decref(line);
	}
	return 4;
}

/* ---- outside ---- */

static struct guest_options options_of_test(void)
{
	return (struct guest_options){.programs = &programs, .accel = "tcg"};
}

static struct guest *start(void)
{
	struct guest_options options = options_of_test();
	struct guest *guest = NULL;
	struct diag diag = {.text = ""};

	if (guest_start(&guest, &options, &diag) < 0)
		fail_msg("%s", diag.text);
	return guest;
}

static json_t *receive(struct guest *guest)
{
	struct pollfd polled = {.fd = guest_fd(guest), .events = POLLIN};
	json_t *line = NULL;
	int result;

	while ((result = guest_receive(guest, &line)) == 0)
		assert_int_equal(poll(&polled, 1, 60000), 1);
	assert_int_equal(result, 1);
	return line;
}

static json_t *ask(struct guest *guest, json_t *question)
{
	assert_int_equal(guest_send(guest, question), 0);
	json_decref(question);
	return receive(guest);
}

/* Plugging is seen by the guest some time later: it is asked until it sees @count disks. */
static json_t *await_disks(struct guest *guest, size_t count)
{
	for (unsigned tries = 0; tries < 2000; tries++) {
		json_t *all = ask(guest, json_pack("{s:b}", "disks", 1));
		const json_t *word = json_object_get(json_array_get(all, 0), "word");

		if (json_array_size(all) == count && (!word || *json_string_value(word)))
			return all;
		json_decref(all);
	}
	fail_msg("the guest does not see %zu disks: %s", count, guest_console_tail(guest));
	return NULL;
}

static int integer(const json_t *object, const char *key)
{
	return (int)json_integer_value(json_object_get(object, key));
}

static void plug(struct guest *guest, const struct guest_namespace *namespace)
{
	int fd = memfd_create("namespace", MFD_CLOEXEC);
	struct diag diag = {.text = ""};

	assert_int_equal(ftruncate(fd, NAMESPACE_BYTES), 0);
	assert_int_equal(pwrite(fd, namespace->id, strlen(namespace->id), 0),
			 (ssize_t)strlen(namespace->id));
	if (guest_plug_file(guest, namespace, fd, &diag) < 0)
		fail_msg("%s", diag.text);
	close(fd);
}

static void unplug(struct guest *guest, const char *id)
{
	struct diag diag = {.text = ""};

	if (guest_unplug(guest, id, &diag) < 0)
		fail_msg("%s", diag.text);
}

static void expect_disk(struct guest *guest, const struct guest_namespace *namespace)
{
	json_t *all, *disk;

	plug(guest, namespace);
	all = await_disks(guest, 1);
	disk = json_array_get(all, 0);
	assert_int_equal(integer(disk, "sectors"), NAMESPACE_BYTES / 512);
	assert_int_equal(integer(disk, "sector_bytes"), namespace->sector_bytes);
	assert_int_equal(integer(disk, "write"), namespace->read_only ? -ENODATA : 0);
	assert_string_equal(json_string_value(json_object_get(disk, "word")), namespace->id);
	json_decref(all);
	unplug(guest, namespace->id);
	json_decref(await_disks(guest, 0));
}

static void namespaces_come_and_go_with_their_geometry(void **state)
{
	struct guest *guest = start();

	(void)state;
	json_decref(await_disks(guest, 0));
	expect_disk(guest, &(struct guest_namespace){.id = "small", .sector_bytes = 512});
	expect_disk(guest, &(struct guest_namespace){
				   .id = "large", .sector_bytes = 4096, .write_cache = true});
	expect_disk(guest, &(struct guest_namespace){
				   .id = "locked", .sector_bytes = 512, .read_only = true});
	assert_int_equal(guest_unplug(guest, "small", NULL), -ENOENT);
	guest_stop(guest);
}

static void lines_of_any_length_go_both_ways(void **state)
{
	struct guest *guest = start();
	char *text = calloc(1, GUEST_SEND_BYTES_MAX);
	json_t *line, *answer;

	(void)state;
	memset(text, 'x', GUEST_SEND_BYTES_MAX - 11); /* {"text":""} and the end of the line */
	line = json_pack("{s:s}", "text", text);
	assert_int_equal(guest_send(guest, line), -EMSGSIZE);
	text[GUEST_SEND_BYTES_MAX - 12] = '\0';
	json_object_set_new(line, "text", json_string(text));
	answer = ask(guest, json_incref(line));
	assert_true(json_equal(json_object_get(answer, "echo"), line));
	json_decref(answer);
	json_decref(line);
	free(text);
	guest_stop(guest);
}

static void a_guest_whose_serve_ends_is_over(void **state)
{
	struct guest *guest = start();
	struct pollfd polled = {.fd = guest_fd(guest), .events = POLLIN};
	json_t *line = json_pack("{s:b}", "end", 1);
	int result;

	(void)state;
	assert_true(guest_is_alive(guest));
	assert_int_equal(guest_send(guest, line), 0);
	while ((result = guest_receive(guest, &line)) == 0)
		assert_int_equal(poll(&polled, 1, 60000), 1);
	assert_int_equal(result, -EPIPE);
	assert_int_equal(guest_await_end(guest), 0);
	assert_false(guest_is_alive(guest));
	assert_non_null(strstr(guest_console_tail(guest), "serve ended with status 3"));
	assert_int_equal(guest_send(guest, line), -EPIPE);
	json_decref(line);
	guest_stop(guest);
}

/* What is init here reads a line that never comes. */
static void a_hung_boot_ends_at_its_deadline(void **state)
{
	struct guest_programs hung = programs;
	struct guest_options options = options_of_test();
	struct guest *guest = NULL;
	struct diag diag = {.text = ""};

	(void)state;
	hung.init = "/bin/cat";
	options.programs = &hung;
	options.boot_seconds = 1;
	assert_int_equal(guest_start(&guest, &options, &diag), -ETIMEDOUT);
	assert_non_null(strstr(diag.text, "did not say hello within 1 s"));
	assert_null(guest);
}

static void an_init_that_is_none_is_a_dead_guest(void **state)
{
	struct guest_programs dead = programs;
	struct guest_options options = options_of_test();
	struct guest *guest = NULL;
	struct diag diag = {.text = ""};

	(void)state;
	dead.init = "/bin/true";
	options.programs = &dead;
	assert_int_equal(guest_start(&guest, &options, &diag), -EPIPE);
	assert_non_null(strstr(diag.text, "Kernel panic"));
}

/* The process that @pid started last; 0 none. */
static pid_t child_of(pid_t pid)
{
	char path[64], text[256] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	return (pid_t)strtol(text, NULL, 10);
}

static bool is_qemu(pid_t pid)
{
	char path[64], name[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, name, sizeof(name) - 1) < 0)
		name[0] = '\0';
	if (fd >= 0)
		close(fd);
	return strncmp(name, "qemu-system", 11) == 0;
}

static void a_killed_harness_takes_its_guest_along(void **state)
{
	struct guest_options options = options_of_test();
	struct guest *guest = NULL;
	pid_t harness = fork(), qemu = 0;

	(void)state;
	if (harness == 0)
		_exit(guest_start(&guest, &options, NULL) == 0);
	for (unsigned tries = 0; tries < 600 && !(qemu && is_qemu(qemu)); tries++) {
		assert_int_equal(poll(NULL, 0, 10), 0);
		qemu = child_of(harness);
	}
	assert_true(qemu && is_qemu(qemu));
	assert_int_equal(kill(harness, SIGKILL), 0);
	assert_int_equal(waitpid(harness, NULL, 0), harness);
	for (unsigned tries = 0; tries < 600 && is_qemu(qemu); tries++)
		assert_int_equal(poll(NULL, 0, 10), 0);
	assert_false(is_qemu(qemu));
}

/* Beside this program, in ../../bin of its build. */
static void find(const char *name, char path[PATH_MAX])
{
	char directory[PATH_MAX];
	char *end;

	snprintf(directory, sizeof(directory), "%s", self);
	for (unsigned up = 0; up < 3 && (end = strrchr(directory, '/')); up++)
		*end = '\0';
	snprintf(path, PATH_MAX, "%.*s/bin/%s", PATH_MAX - 64, directory, name);
}

/* Why no guest can be had here: 77 of a test is for machines, not for mistakes. */
static const char *obstacle(void)
{
	static struct diag diag;
	struct guest_options options = options_of_test();
	char *line = NULL;
	int error;

	if (access("/usr/bin/qemu-system-x86_64", X_OK) < 0)
		return "qemu-system-x86_64 is not installed";
	error = guest_print(&options, "/dev/null", &line, &diag);
	free(line);
	return error < 0 ? diag.text : NULL;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(namespaces_come_and_go_with_their_geometry),
		cmocka_unit_test(lines_of_any_length_go_both_ways),
		cmocka_unit_test(a_guest_whose_serve_ends_is_over),
		cmocka_unit_test(a_hung_boot_ends_at_its_deadline),
		cmocka_unit_test(an_init_that_is_none_is_a_dead_guest),
		cmocka_unit_test(a_killed_harness_takes_its_guest_along),
	};
	const char *reason;

	if (argc > 1 && strcmp(argv[1], "serve") == 0)
		return serve();
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	find("swaptorture-guest-init", init_program);
	find("swaptorture-guest-kernel", kernel_tool);
	reason = obstacle();
	if (reason) {
		printf("1..0 # SKIP %s\n", reason);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
