/* SPDX-License-Identifier: MIT */
/*
 * test_device_nbd.c - the protocol: whatever a client says, it is answered, refused or cut off, and
 * the device goes on doing what its maker says.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "device_fixture.h"
#include "nbd.h"

#define UNSUPPORTED 0x80000001u
#define INVALID 0x80000003u
#define UNKNOWN 0x80000006u

static uint8_t data[4096];

/* The client was cut off, the device was not. */
static void check_cut_off(void)
{
	assert_true(client_is_hung_up(fixture_client));
	assert_int_equal(device_arm(fixture_device), 0);
	assert_int_equal(device_requests(fixture_device), 0);
	assert_int_equal(fixture_stop(), 0);
}

static uint32_t option(uint32_t number, const void *bytes, uint32_t count)
{
	uint8_t nothing[64];

	client_send_option(fixture_client, number, bytes, count);
	return client_option_reply(fixture_client, number, nothing, sizeof(nothing));
}

/* ---- negotiation ---- */

static void unknown_options_are_refused_and_one_can_go_on(void **state)
{
	struct client_export served;

	(void)state;
	fixture_start("");
	client_greet(fixture_client, 3);
	assert_int_equal(option(8, NULL, 0), UNSUPPORTED); /* structured replies */
	assert_int_equal(option(5, NULL, 0), UNSUPPORTED); /* TLS */
	assert_int_equal(option(3, NULL, 0), UNSUPPORTED); /* list */
	assert_int_equal(option(999, data, sizeof(data)), UNSUPPORTED);
	client_ask(fixture_client, CLIENT_GO, &served);
	assert_int_equal(served.size_bytes, FIXTURE_BYTES);
	assert_int_equal(read_bytes(0, 512, data), 0);
}

static void the_old_way_in_is_open(void **state)
{
	uint8_t answer[10 + 124];

	(void)state;
	for (uint32_t no_zeroes = 0; no_zeroes <= 2; no_zeroes += 2) {
		fixture_start("");
		client_greet(fixture_client, no_zeroes);
		client_send_option(fixture_client, CLIENT_EXPORT_NAME, NULL, 0);
		client_receive(fixture_client, answer, no_zeroes ? 10 : sizeof(answer));
		assert_int_equal(client_get(answer, 8), FIXTURE_BYTES);
		assert_int_equal(client_get(answer + 8, 2), 1 | 4 | 8);
		assert_int_equal(read_bytes(0, 512, data), 0);
		fixture_hang_up();
		assert_int_equal(fixture_stop(), 0);
	}
}

static void there_is_one_export_and_it_has_no_name(void **state)
{
	static const uint8_t named[] = {0, 0, 0, 1, 'x', 0, 0};

	(void)state;
	fixture_start("");
	client_greet(fixture_client, 3);
	assert_int_equal(option(CLIENT_GO, named, sizeof(named)), UNKNOWN);
	assert_int_equal(option(CLIENT_INFO, named, sizeof(named)), UNKNOWN);
	client_send_option(fixture_client, CLIENT_EXPORT_NAME, "x", 1);
	check_cut_off();
}

static void lengths_that_do_not_add_up_are_refused(void **state)
{
	static const struct {
		uint8_t bytes[8];
		uint32_t count;
	} cases[] = {
		{{0}, 0},
		{{0, 0, 0, 0, 0}, 5},
		{{0, 0, 0, 1, 0, 0}, 6},	     /* no room for the name */
		{{0xff, 0xff, 0xff, 0xff, 0, 0}, 6}, /* nor in any memory */
		{{0, 0, 0, 0, 0, 1}, 6},	     /* one information, and none is named */
		{{0, 0, 0, 0, 0, 0, 0, 0}, 8},	     /* none, and one is */
		{{0, 0, 0, 0, 0xff, 0xff, 0, 0}, 8},
	};

	(void)state;
	fixture_start("");
	client_greet(fixture_client, 3);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(option(CLIENT_GO, cases[i].bytes, cases[i].count), INVALID);
	assert_int_equal(device_arm(fixture_device), 0);
}

static void who_leaves_is_let_go(void **state)
{
	(void)state;
	fixture_start("");
	client_greet(fixture_client, 3);
	assert_int_equal(option(CLIENT_ABORT, NULL, 0), 1);
	check_cut_off();
}

static void an_option_that_is_none_is_cut_off(void **state)
{
	(void)state;
	fixture_start("");
	client_greet(fixture_client, 3);
	client_send(fixture_client, "IHAVENOT\0\0\0\1\0\0\0\0", 16);
	check_cut_off();
}

static void an_option_without_end_is_cut_off(void **state)
{
	(void)state;
	fixture_start("");
	client_greet(fixture_client, 3);
	client_send(fixture_client, "IHAVEOPT\0\0\0\1\xff\xff\xff\xff", 16);
	check_cut_off();
}

static void flags_that_nobody_knows_are_cut_off(void **state)
{
	(void)state;
	fixture_start("");
	client_greet(fixture_client, 4 | 3);
	check_cut_off();
}

static void who_understands_no_refusal_gets_none(void **state)
{
	(void)state;
	fixture_start("");
	client_greet(fixture_client, 2);
	client_send_option(fixture_client, 8, NULL, 0);
	check_cut_off();
}

/* ---- requests ---- */

static void a_request_that_is_none_is_cut_off(void **state)
{
	uint8_t header[28] = "this is no request of NBD..";

	(void)state;
	fixture_start("");
	client_connect(fixture_client);
	client_send(fixture_client, header, sizeof(header));
	check_cut_off();
}

static void requests_may_come_byte_by_byte_and_many_at_once(void **state)
{
	uint8_t both[2][28], *at;

	(void)state;
	fixture_arm("");
	for (unsigned i = 0; i < 2; i++) {
		at = client_put(both[i], 4, 0x25609513u);
		at = client_put(at, 4, CLIENT_READ);
		at = client_put(at, 8, 70 + i);
		at = client_put(at, 8, i * 512);
		client_put(at, 4, 512);
	}
	for (unsigned i = 0; i < 28; i++)
		client_send(fixture_client, both[0] + i, 1);
	assert_int_equal(next_cookie(CLIENT_READ), 70);
	client_send(fixture_client, both, sizeof(both));
	assert_int_equal(next_cookie(CLIENT_READ), 70);
	assert_int_equal(next_cookie(CLIENT_READ), 71);
}

static void who_disconnects_is_let_go(void **state)
{
	struct client_request request = {.command = CLIENT_DISCONNECT};

	(void)state;
	fixture_start("");
	client_connect(fixture_client);
	client_submit(fixture_client, &request, NULL);
	check_cut_off();
}

static void a_client_may_vanish_anywhere(void **state)
{
	struct client_request request = {CLIENT_WRITE, 0, 1, 0, 4096};

	(void)state;
	for (unsigned where = 0; where < 4; where++) {
		fixture_start("nvme.read => hold");
		if (where >= 1)
			client_greet(fixture_client, 3);
		if (where >= 2) {
			struct client_export served;

			client_ask(fixture_client, CLIENT_GO, &served);
			assert_int_equal(device_arm(fixture_device), 0);
			submit(CLIENT_READ, 1, 0); /* is held */
		}
		if (where >= 3) {
			client_submit(fixture_client, &request, NULL);
			client_send(fixture_client, data, 4095); /* but for one byte */
		}
		fixture_hang_up();
		assert_int_equal(device_arm(fixture_device), 0);
		assert_int_equal(device_disarm(fixture_device), 0);
		assert_int_equal(fixture_stop(), 0);
		assert_true(image_holds(0, 4096, 0)); /* half a write is none */
	}
}

/* ---- the connection by itself ---- */

struct connection {
	struct nbd *nbd;
	int client;
};

static void connection_open(struct connection *connection)
{
	static const struct nbd_export served = {FIXTURE_BYTES, 512, false};
	static const uint8_t flags[4] = {0, 0, 0, 3};
	uint8_t taken[64];
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	assert_int_equal(nbd_create(&connection->nbd, ends[0], &served), 0);
	connection->client = ends[1];
	client_send(ends[1], flags, sizeof(flags));
	client_send_option(ends[1], CLIENT_EXPORT_NAME, NULL, 0);
	assert_int_equal(nbd_receive(connection->nbd), 0);
	assert_int_equal(nbd_send(connection->nbd), 0);
	client_receive(ends[1], taken, 18 + 10);
}

static void connection_close(struct connection *connection)
{
	nbd_destroy(connection->nbd);
	if (connection->client >= 0)
		close(connection->client);
}

/* With as many unanswered requests as it takes nothing is read, but the end is seen: or whoever
 * polls the connection would be woken for it for ever. */
static void the_end_is_seen_though_nothing_is_read(void **state)
{
	struct client_request sent = {CLIENT_FLUSH, 0, 0, 0, 0};
	struct nbd_request request;
	struct connection connection;

	(void)state;
	connection_open(&connection);
	for (unsigned i = 0; i < NBD_REQUESTS_MAX + 1; i++)
		client_submit(connection.client, &sent, NULL);
	assert_int_equal(nbd_receive(connection.nbd), 0);
	for (unsigned i = 0; i < NBD_REQUESTS_MAX; i++)
		assert_int_equal(nbd_next(connection.nbd, &request), 1);
	assert_int_equal(nbd_next(connection.nbd, &request), 0);
	assert_int_equal(nbd_events(connection.nbd), 0);
	assert_int_equal(nbd_receive(connection.nbd), 0);
	close(connection.client);
	connection.client = -1;
	assert_int_equal(nbd_receive(connection.nbd), -EPIPE);
	connection_close(&connection);
}

static void what_is_answered_makes_room_for_the_next(void **state)
{
	struct client_request sent = {CLIENT_FLUSH, 0, 5, 0, 0};
	struct nbd_request request;
	struct connection connection;

	(void)state;
	connection_open(&connection);
	for (unsigned i = 0; i < NBD_REQUESTS_MAX + 1; i++)
		client_submit(connection.client, &sent, NULL);
	assert_int_equal(nbd_receive(connection.nbd), 0);
	for (unsigned i = 0; i < NBD_REQUESTS_MAX; i++)
		assert_int_equal(nbd_next(connection.nbd, &request), 1);
	assert_int_equal(nbd_reply(connection.nbd, &request, 0, NULL), 0);
	assert_int_equal(nbd_next(connection.nbd, &request), 1);
	assert_int_equal(nbd_events(connection.nbd), POLLOUT);
	assert_int_equal(nbd_send(connection.nbd), 0);
	assert_int_equal(client_reply(connection.client, NULL, 0).cookie, 5);
	connection_close(&connection);
}

/* A client that fetches no replies gets no more requests in. */
static void replies_that_nobody_fetches_do_not_pile_up(void **state)
{
	struct client_request sent = {CLIENT_READ, 0, 0, 0, 1 << 20};
	static uint8_t megabyte[1 << 20];
	struct nbd_request request;
	struct connection connection;
	unsigned taken = 0;

	(void)state;
	connection_open(&connection);
	for (unsigned i = 0; i < 100; i++) {
		client_submit(connection.client, &sent, NULL);
		if (!(nbd_events(connection.nbd) & POLLIN))
			break;
		assert_int_equal(nbd_receive(connection.nbd), 0);
		assert_int_equal(nbd_next(connection.nbd, &request), 1);
		assert_int_equal(nbd_reply(connection.nbd, &request, 0, megabyte), 0);
		taken++;
	}
	assert_int_equal(taken, 64);
	assert_int_equal(nbd_events(connection.nbd), POLLOUT);
	connection_close(&connection);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fixture_test(unknown_options_are_refused_and_one_can_go_on),
		fixture_test(the_old_way_in_is_open),
		fixture_test(there_is_one_export_and_it_has_no_name),
		fixture_test(lengths_that_do_not_add_up_are_refused),
		fixture_test(who_leaves_is_let_go),
		fixture_test(an_option_that_is_none_is_cut_off),
		fixture_test(an_option_without_end_is_cut_off),
		fixture_test(flags_that_nobody_knows_are_cut_off),
		fixture_test(who_understands_no_refusal_gets_none),
		fixture_test(a_request_that_is_none_is_cut_off),
		fixture_test(requests_may_come_byte_by_byte_and_many_at_once),
		fixture_test(who_disconnects_is_let_go),
		fixture_test(a_client_may_vanish_anywhere),
		fixture_test(the_end_is_seen_though_nothing_is_read),
		fixture_test(what_is_answered_makes_room_for_the_next),
		fixture_test(replies_that_nobody_fetches_do_not_pile_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
