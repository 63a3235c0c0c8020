/* SPDX-License-Identifier: MIT */
/*
 * test_guest_nbd.c - namespaces of a real guest whose bytes an NBD server holds: that they arrive,
 * that a fault is seen once and by whom, and what becomes of servers that misbehave.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "guest_fixture.h"
#include "nbd_server.h"

#define PLACE (1 << 20)

static struct guest *guest; /* of all cases: each leaves it without a namespace */

static int plug(struct nbd_server *server, const char *id, bool write_cache, struct diag *diag)
{
	struct guest_namespace namespace = {.sector_bytes = 4096, .write_cache = write_cache};
	int socket = nbd_start(server, namespace_image(id), NAMESPACE_BYTES), error;

	assert_true(socket >= 0);
	snprintf(namespace.id, sizeof(namespace.id), "%s", id);
	error = guest_plug(guest, &namespace, socket, diag);
	close(socket);
	return error;
}

static void plug_well(struct nbd_server *server, const char *id, bool write_cache)
{
	struct diag diag = {.text = ""};

	if (plug(server, id, write_cache, &diag) < 0)
		fail_msg("%s", diag.text);
	json_decref(await_disks(guest, 1));
}

static void unplug_well(struct nbd_server *server, const char *id)
{
	unplug(guest, id);
	nbd_stop(server);
	json_decref(await_disks(guest, 0));
}

static void bytes_go_through_the_server(void **state)
{
	struct nbd_server server = {0};
	char bytes[4097] = "";
	json_t *all;

	(void)state;
	plug_well(&server, "remote", false);
	all = await_disks(guest, 1);
	assert_string_equal(json_string_value(json_object_get(json_array_get(all, 0), "word")),
			    "remote");
	assert_int_equal(integer(json_array_get(all, 0), "sector_bytes"), 4096);
	assert_int_equal(integer(json_array_get(all, 0), "sectors"), NAMESPACE_BYTES / 512);
	json_decref(all);
	assert_int_equal(moved(guest, "write", PLACE, 4096), 4096);
	assert_int_equal(pread(server.image_fd, bytes, 4096, PLACE), 4096);
	assert_int_equal(strspn(bytes, "w"), 4096);
	assert_false(server.parted);
	unplug_well(&server, "remote");
	assert_true(server.parted);
}

/* The bytes stay with QEMU while no controller is there. */
static void what_was_pulled_is_put_back_with_its_bytes(void **state)
{
	struct guest_namespace namespace = {.id = "pulled", .sector_bytes = 4096};
	struct nbd_server server = {0};
	struct diag diag = {.text = ""};
	json_t *all;

	(void)state;
	plug_well(&server, "pulled", false);
	assert_int_equal(guest_pull(guest, "pulled", &diag), 0);
	json_decref(await_disks(guest, 0));
	assert_false(server.parted);
	if (guest_put_back(guest, &namespace, &diag) < 0)
		fail_msg("%s", diag.text);
	all = await_disks(guest, 1);
	assert_string_equal(json_string_value(json_object_get(json_array_get(all, 0), "word")),
			    "pulled");
	json_decref(all);
	assert_int_equal(moved(guest, "write", PLACE, 4096), 4096);
	unplug_well(&server, "pulled");
}

static void what_is_not_there_is_neither_pulled_nor_put_back(void **state)
{
	struct guest_namespace namespace = {.id = "nobody"};
	struct diag diag = {.text = ""};

	(void)state;
	assert_int_equal(guest_pull(guest, "nobody", &diag), -ENOENT);
	assert_string_equal(diag.text, "there is no namespace nobody");
	assert_int_equal(guest_pull(guest, "", &diag), -ENOENT);
	assert_int_equal(guest_put_back(guest, &namespace, &diag), -ENOENT);
}

/* QEMU's device claims a cache in any case; without one it asks for each write to be durable. */
static void without_a_cache_each_write_is_durable(void **state)
{
	struct nbd_server cached = {0}, straight = {0};
	unsigned before;

	(void)state;
	plug_well(&cached, "cached", true);
	before = cached.flushes;
	assert_int_equal(moved(guest, "write", PLACE, 4096), 4096);
	assert_int_equal(cached.durable, 0);
	assert_int_equal(cached.flushes, before);
	assert_int_equal(moved(guest, "flush", 0, 0), 0);
	assert_int_equal(cached.flushes, before + 1);
	unplug_well(&cached, "cached");
	plug_well(&straight, "straight", false);
	assert_int_equal(moved(guest, "write", PLACE, 4096), 4096);
	assert_int_equal(straight.durable, 1);
	unplug_well(&straight, "straight");
}

/* With retries of the driver the program would see nothing of the first failure. */
static void a_request_that_fails_once_fails_for_the_program(void **state)
{
	struct nbd_server server = {0};
	unsigned before;

	(void)state;
	plug_well(&server, "failing", false);
	before = server.reads;
	server.fails = 1;
	assert_int_equal(moved(guest, "read", PLACE, 4096), -ENODATA);
	assert_int_equal(server.reads, before + 1);
	assert_int_equal(moved(guest, "read", PLACE, 4096), 4096);
	server.fails = 1;
	assert_true(moved(guest, "write", PLACE, 4096) < 0);
	assert_int_equal(moved(guest, "write", PLACE, 4096), 4096);
	unplug_well(&server, "failing");
}

static void a_server_that_dies_takes_no_guest_along(void **state)
{
	struct nbd_server server = {0};

	(void)state;
	plug_well(&server, "dying", false);
	server.dies = true;
	assert_true(moved(guest, "read", PLACE, 4096) < 0);
	assert_true(guest_is_alive(guest));
	unplug_well(&server, "dying");
}

static void a_server_that_hangs_up_is_told_and_leaves_nothing(void **state)
{
	struct nbd_server rude = {.hangs_up = true}, server = {0};
	struct diag diag = {.text = ""};

	(void)state;
	assert_int_equal(plug(&rude, "same", false, &diag), -EPROTO);
	assert_non_null(strstr(diag.text, "QEMU refuses blockdev-add"));
	nbd_stop(&rude);
	json_decref(await_disks(guest, 0));
	plug_well(&server, "same", false);
	unplug_well(&server, "same");
}

static void what_is_no_socket_is_refused(void **state)
{
	struct guest_namespace namespace = {.id = "file"};
	int fd = namespace_image("file");
	struct diag diag = {.text = ""};

	(void)state;
	assert_int_equal(guest_plug(guest, &namespace, fd, &diag), -EPROTO);
	assert_non_null(strstr(diag.text, "QEMU refuses blockdev-add"));
	close(fd);
	assert_int_equal(guest_plug(guest, &namespace, fd, &diag), -EBADF);
	assert_non_null(strstr(diag.text, "Bad file descriptor"));
	json_decref(await_disks(guest, 0));
}

static void ports_are_as_many_as_is_said(void **state)
{
	struct nbd_server servers[GUEST_NAMESPACES_MAX] = {0}, again = {0}, more = {0};
	struct diag diag = {.text = ""};
	char id[GUEST_ID_BYTES];

	(void)state;
	for (unsigned i = 0; i < GUEST_NAMESPACES_MAX; i++) {
		snprintf(id, sizeof(id), "port-%u", i);
		assert_int_equal(plug(&servers[i], id, false, &diag), 0);
	}
	json_decref(await_disks(guest, GUEST_NAMESPACES_MAX));
	assert_int_equal(plug(&again, "port-0", false, &diag), -EEXIST);
	assert_int_equal(plug(&more, "more", false, &diag), -ENOSPC);
	nbd_stop(&again);
	nbd_stop(&more);
	for (unsigned i = 0; i < GUEST_NAMESPACES_MAX; i++) {
		snprintf(id, sizeof(id), "port-%u", i);
		unplug(guest, id);
		nbd_stop(&servers[i]);
	}
	json_decref(await_disks(guest, 0));
}

static int start_guest(void **state)
{
	(void)state;
	guest = start();
	return 0;
}

static int stop_guest(void **state)
{
	(void)state;
	return guest_stop(guest);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_go_through_the_server),
		cmocka_unit_test(what_was_pulled_is_put_back_with_its_bytes),
		cmocka_unit_test(what_is_not_there_is_neither_pulled_nor_put_back),
		cmocka_unit_test(without_a_cache_each_write_is_durable),
		cmocka_unit_test(a_request_that_fails_once_fails_for_the_program),
		cmocka_unit_test(a_server_that_dies_takes_no_guest_along),
		cmocka_unit_test(a_server_that_hangs_up_is_told_and_leaves_nothing),
		cmocka_unit_test(what_is_no_socket_is_refused),
		cmocka_unit_test(ports_are_as_many_as_is_said),
	};
	int status;

	if (!fixture_begin(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, start_guest, stop_guest);
}
