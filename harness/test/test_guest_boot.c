/* SPDX-License-Identifier: MIT */
/*
 * test_guest_boot.c - real guests: said hello to, plugged, unplugged, hung, killed with their
 * harness.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/wait.h>

#include "guest_fixture.h"

static void plug(struct guest *guest, const struct guest_namespace *namespace)
{
	int fd = namespace_image(namespace->id);
	struct diag diag = {.text = ""};

	if (guest_plug_file(guest, namespace, fd, &diag) < 0)
		fail_msg("%s", diag.text);
	close(fd);
}

static void expect_disk(struct guest *guest, const struct guest_namespace *namespace)
{
	json_t *all, *disk;

	plug(guest, namespace);
	all = await_disks(guest, 1);
	disk = json_array_get(all, 0);
	assert_int_equal(integer(disk, "sectors"), NAMESPACE_BYTES / 512);
	assert_int_equal(integer(disk, "sector_bytes"), namespace->sector_bytes);
	assert_string_equal(json_string_value(json_object_get(disk, "word")), namespace->id);
	json_decref(all);
	assert_int_equal(moved(guest, "write", 8192, 4096), namespace->read_only ? -ENODATA : 4096);
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
	assert_int_equal(guest_stop(guest), 0);
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
	assert_int_equal(guest_stop(guest), 0);
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
	assert_int_equal(guest_await_end(guest, GUEST_FOREVER), 0);
	assert_false(guest_is_alive(guest));
	assert_non_null(strstr(guest_console_tail(guest), "serve ended with status 3"));
	assert_int_equal(guest_send(guest, line), -EPIPE);
	json_decref(line);
	assert_int_equal(guest_stop(guest), 0);
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
	int status;

	if (!fixture_begin(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
