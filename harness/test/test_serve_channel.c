/* SPDX-License-Identifier: MIT */
/*
 * test_serve_channel.c - lines of JSON arrive whole however they come in, and what is none is
 * thrown away without harm to the next.
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve_channel.h"

static struct serve_channel channel;
static int other;

static int set_up(void **state)
{
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	channel.fd = ends[0];
	channel.used = 0;
	other = ends[1];
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close(channel.fd);
	if (other >= 0)
		close(other);
	return 0;
}

static void say(const char *text)
{
	assert_int_equal(send(other, text, strlen(text), 0), (ssize_t)strlen(text));
}

static void hang_up(void)
{
	close(other);
	other = -1;
}

static void expect_number(int number)
{
	json_t *line = NULL;

	assert_int_equal(serve_channel_receive(&channel, &line), 1);
	assert_int_equal(json_integer_value(json_object_get(line, "number")), number);
	json_decref(line);
}

static void several_lines_may_come_at_once(void **state)
{
	json_t *line = NULL;

	(void)state;
	say("{\"number\":1}\n{\"number\":2}\n{\"number\":3}\n");
	hang_up();
	for (int i = 1; i <= 3; i++)
		expect_number(i);
	assert_int_equal(serve_channel_receive(&channel, &line), 0);
}

static void *say_bit_by_bit(void *arg)
{
	for (const char *at = arg; *at; at++)
		assert_int_equal(send(other, at, 1, 0), 1);
	return NULL;
}

static void a_line_may_come_bit_by_bit(void **state)
{
	static char text[] = "{\"number\":7}\n{\"number\":8}\n";
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, say_bit_by_bit, text), 0);
	expect_number(7);
	expect_number(8);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static void what_is_no_object_is_refused_and_the_next_line_is_read(void **state)
{
	static const char *const wrong[] = {"\n", "null\n", "[1]\n", "{\"number\":\n",
					    "\xff\xfe\n"};
	json_t *line = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		say(wrong[i]);
		say("{\"number\":5}\n");
		assert_int_equal(serve_channel_receive(&channel, &line), -EBADMSG);
		assert_null(line);
		expect_number(5);
	}
}

static void what_was_received_along_is_readable(void **state)
{
	(void)state;
	assert_false(serve_channel_is_readable(&channel));
	say("{\"number\":1}\n{\"number\":2}\n");
	assert_true(serve_channel_is_readable(&channel));
	expect_number(1);
	assert_true(serve_channel_is_readable(&channel)); /* though nothing is left to read() */
	expect_number(2);
	assert_false(serve_channel_is_readable(&channel));
}

static void *say_a_long_line(void *arg)
{
	size_t bytes = *(const size_t *)arg;
	char *text = malloc(bytes);

	memset(text, 'x', bytes);
	for (size_t done = 0; done < bytes;) {
		ssize_t put = send(other, text + done, bytes - done, 0);

		assert_true(put > 0);
		done += (size_t)put;
	}
	free(text);
	say("\n{\"number\":6}\n");
	return NULL;
}

static void a_line_that_is_too_long_is_thrown_away_whole(void **state)
{
	static const size_t lengths[] = {SERVE_LINE_BYTES_MAX, SERVE_LINE_BYTES_MAX + 1,
					 3 * SERVE_LINE_BYTES_MAX + 5};
	json_t *line = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		size_t length = lengths[i];
		pthread_t thread;

		assert_int_equal(pthread_create(&thread, NULL, say_a_long_line, &length), 0);
		assert_int_equal(serve_channel_receive(&channel, &line), -EBADMSG);
		expect_number(6);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
}

static void half_a_line_at_the_end_is_no_line(void **state)
{
	json_t *line = NULL;

	(void)state;
	say("{\"number\":1}");
	hang_up();
	assert_int_equal(serve_channel_receive(&channel, &line), 0);
	assert_null(line);
}

static void what_is_sent_is_one_line(void **state)
{
	char text[64] = "";

	(void)state;
	assert_int_equal(serve_channel_send(&channel, json_pack("{s:s}", "text", "a\nb")), 0);
	assert_int_equal(recv(other, text, sizeof(text) - 1, 0), 16);
	assert_string_equal(text, "{\"text\":\"a\\nb\"}\n");
	assert_int_equal(serve_channel_send(&channel, NULL), -ENOMEM);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(several_lines_may_come_at_once),
		CASE(what_was_received_along_is_readable),
		CASE(a_line_may_come_bit_by_bit),
		CASE(what_is_no_object_is_refused_and_the_next_line_is_read),
		CASE(a_line_that_is_too_long_is_thrown_away_whole),
		CASE(half_a_line_at_the_end_is_no_line),
		CASE(what_is_sent_is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
