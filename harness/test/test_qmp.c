/* SPDX-License-Identifier: MIT */
/*
 * test_qmp.c - the monitor's client against a peer that says what a test has it say, well and
 * badly. Numbers of commands are known (negotiation is the first), so that answers can lie there
 * before.
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
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "qmp.h"

#define GREETING                                                                                   \
	"{\"QMP\": {\"version\": {\"qemu\": {\"micro\": 0, \"minor\": 2, \"major\": 7}}, "         \
	"\"capabilities\": [\"oob\"]}}\r\n"
#define AGREED "{\"return\": {}, \"id\": 1}\r\n"
#define LONG_MS 20000u
#define SHORT_MS 30u

static const struct guest_interrupt deaf;
static struct qmp qmp;
static int peer, descriptors_before;

static int descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

static int connect_peer(void **state)
{
	int ends[2];

	(void)state;
	descriptors_before = descriptors();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	qmp.socket = ends[0];
	peer = ends[1];
	return 0;
}

/* Whatever came before: nothing is left. */
static int part(void **state)
{
	(void)state;
	qmp_close(&qmp);
	if (peer >= 0)
		close(peer);
	assert_int_equal(descriptors(), descriptors_before);
	return 0;
}

static void say(const char *text)
{
	assert_int_equal(send(peer, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static void hang_up(void)
{
	close(peer);
	peer = -1;
}

/* What was sent to the peer. */
static const char *heard(void)
{
	static char text[4096];
	ssize_t got = recv(peer, text, sizeof(text) - 1, MSG_DONTWAIT);

	text[got > 0 ? got : 0] = '\0';
	return text;
}

static int open_it(unsigned deadline_ms, struct diag *diag)
{
	return qmp_open(&qmp, qmp.socket, &deaf, deadline_ms, diag);
}

static void open_well(void)
{
	say(GREETING AGREED);
	assert_int_equal(open_it(LONG_MS, NULL), 0);
	heard();
}

static int execute(unsigned deadline_ms, json_t **ret, struct diag *diag)
{
	return qmp_execute(
		&qmp,
		&(struct qmp_command){.name = "query-it", .fd = -1, .deadline_ms = deadline_ms},
		ret, diag);
}

static void greeting_gives_the_version(void **state)
{
	(void)state;
	say("\r\nno JSON\n[1, 2]\n" GREETING AGREED);
	assert_int_equal(open_it(LONG_MS, NULL), 0);
	assert_int_equal(qmp.major, 7);
	assert_int_equal(qmp.minor, 2);
	assert_string_equal(heard(), "{\"execute\":\"qmp_capabilities\",\"id\":1}\n");
}

static void a_peer_that_hangs_up_is_gone(void **state)
{
	struct diag diag = {.text = ""};

	(void)state;
	hang_up();
	assert_int_equal(open_it(LONG_MS, &diag), -EPIPE);
	assert_string_equal(diag.text, "QEMU is gone: greeting");
	assert_int_equal(qmp.socket, -1);
}

static void a_greeting_cut_short_is_no_greeting(void **state)
{
	struct diag diag = {.text = ""};

	(void)state;
	say("{\"QMP\": {\"version\": {\"qemu\": {\"mi");
	hang_up();
	assert_int_equal(open_it(LONG_MS, &diag), -EPIPE);
	assert_string_equal(diag.text, "QEMU is gone: greeting");
}

static void a_silent_peer_ends_the_deadline(void **state)
{
	struct diag diag = {.text = ""};

	(void)state;
	assert_int_equal(open_it(SHORT_MS, &diag), -ETIMEDOUT);
	assert_string_equal(diag.text, "QEMU does not answer: greeting");
	assert_int_equal(qmp.socket, -1);
}

static void events_do_not_stretch_a_deadline(void **state)
{
	(void)state;
	open_well();
	say("{\"event\": \"RTC_CHANGE\"}\n{\"event\": \"STOP\"}\n");
	assert_int_equal(execute(SHORT_MS, NULL, NULL), -ETIMEDOUT);
	assert_int_equal(qmp_await_event(&qmp, "STOP", NULL, NULL, SHORT_MS), 0);
}

static void something_else_than_qemu_is_told(void **state)
{
	static const char *const greetings[] = {
		"{\"hello\": 1}\n", "{\"QMP\": {}}\n", "{\"QMP\": {\"version\": {\"qemu\": 7}}}\n",
		"{\"QMP\": {\"version\": {\"qemu\": {\"major\": \"7\", \"minor\": 2}}}}\n"};
	struct diag diag = {.text = ""};

	for (size_t i = 0; i < sizeof(greetings) / sizeof(*greetings); i++) {
		if (i)
			connect_peer(state);
		say(greetings[i]);
		assert_int_equal(open_it(LONG_MS, &diag), -EPROTO);
		assert_string_equal(diag.text, "what answers is not QEMU's monitor");
		part(state);
	}
	connect_peer(state);
}

static void a_refused_negotiation_is_told(void **state)
{
	struct diag diag = {.text = ""};

	(void)state;
	say(GREETING "{\"error\": {\"class\": \"GenericError\", \"desc\": \"busy\"}, \"id\": 1}\n");
	assert_int_equal(open_it(LONG_MS, &diag), -EPROTO);
	assert_string_equal(diag.text, "QEMU refuses qmp_capabilities: busy");
	assert_int_equal(qmp.socket, -1);
}

static void answers_find_their_command_among_events(void **state)
{
	json_t *answer = NULL;

	(void)state;
	open_well();
	say("{\"event\": \"RESUME\"}\n{\"return\": {\"x\": 5}, \"id\": 2}\n"
	    "{\"event\": \"STOP\"}\n");
	assert_int_equal(execute(LONG_MS, &answer, NULL), 0);
	assert_int_equal(json_integer_value(json_object_get(answer, "x")), 5);
	json_decref(answer);
	assert_string_equal(heard(), "{\"execute\":\"query-it\",\"id\":2}\n");
	assert_int_equal(qmp_await_event(&qmp, "STOP", NULL, NULL, LONG_MS), 0);
	assert_int_equal(qmp_await_event(&qmp, "RESUME", NULL, NULL, LONG_MS), 0);
	assert_int_equal(qmp_await_event(&qmp, "RESUME", NULL, NULL, SHORT_MS), -ETIMEDOUT);
}

static void a_late_answer_is_not_the_next_ones(void **state)
{
	json_t *answer = NULL;

	(void)state;
	open_well();
	say("{\"return\": {\"x\"");
	assert_int_equal(execute(SHORT_MS, &answer, NULL), -ETIMEDOUT);
	assert_null(answer);
	say(": 1}, \"id\": 2}\n{\"return\": {\"x\": 2}, \"id\": 3}\n");
	assert_int_equal(execute(LONG_MS, &answer, NULL), 0);
	assert_int_equal(json_integer_value(json_object_get(answer, "x")), 2);
	json_decref(answer);
}

static void a_refusal_bears_qemus_words(void **state)
{
	struct diag diag = {.text = ""};
	json_t *answer = NULL;

	(void)state;
	open_well();
	say("{\"error\": {\"desc\": \"Device 'x' not found\"}, \"id\": 2}\n"
	    "{\"error\": {}, \"id\": 3}\n{\"error\": 5, \"id\": 4}\n");
	assert_int_equal(execute(LONG_MS, &answer, &diag), -EPROTO);
	assert_string_equal(diag.text, "QEMU refuses query-it: Device 'x' not found");
	assert_int_equal(execute(LONG_MS, &answer, &diag), -EPROTO);
	assert_int_equal(execute(LONG_MS, &answer, &diag), -EPROTO);
	assert_string_equal(diag.text, "QEMU refuses query-it: ?");
	assert_null(answer);
}

static void events_are_told_apart_by_what_they_are_about(void **state)
{
	(void)state;
	open_well();
	say("{\"event\": \"DEVICE_DELETED\", \"data\": {\"path\": \"/machine/ctrl-a\"}}\n"
	    "{\"event\": \"DEVICE_DELETED\", \"data\": {\"device\": \"ctrl-b\"}}\n"
	    "{\"event\": \"DEVICE_DELETED\"}\n{\"event\": 5}\n");
	assert_int_equal(qmp_await_event(&qmp, "DEVICE_DELETED", "device", "ctrl-a", SHORT_MS),
			 -ETIMEDOUT);
	assert_int_equal(qmp_await_event(&qmp, "DEVICE_DELETED", "device", "ctrl-b", LONG_MS), 0);
	hang_up();
	assert_int_equal(qmp_await_event(&qmp, "DEVICE_DELETED", "device", "ctrl-b", LONG_MS),
			 -EPIPE);
}

static void old_events_make_room(void **state)
{
	char text[64];

	(void)state;
	open_well();
	for (unsigned i = 0; i < 300; i++) {
		snprintf(text, sizeof(text), "{\"event\": \"E\", \"data\": {\"n\": \"%u\"}}\n", i);
		say(text);
		assert_int_equal(qmp_drain(&qmp), 0);
	}
	assert_int_equal(json_array_size(qmp.events), 256);
	assert_int_equal(qmp_await_event(&qmp, "E", "n", "43", SHORT_MS), -ETIMEDOUT);
	assert_int_equal(qmp_await_event(&qmp, "E", "n", "44", SHORT_MS), 0);
	assert_int_equal(qmp_await_event(&qmp, "E", "n", "299", SHORT_MS), 0);
}

static void *say_without_end(void *argument)
{
	char text[4096];

	memset(text, '[', sizeof(text));
	while (send(*(int *)argument, text, sizeof(text), MSG_NOSIGNAL) > 0)
		;
	return NULL;
}

static void a_line_without_end_is_an_end(void **state)
{
	struct diag diag = {.text = ""};
	pthread_t speaker;

	(void)state;
	open_well();
	assert_int_equal(pthread_create(&speaker, NULL, say_without_end, &peer), 0);
	assert_int_equal(execute(LONG_MS, NULL, &diag), -EPIPE);
	qmp_close(&qmp);
	assert_int_equal(pthread_join(speaker, NULL), 0);
}

static void descriptors_go_along(void **state)
{
	char text[256], control[CMSG_SPACE(sizeof(int))];
	struct iovec part_of = {text, sizeof(text)};
	struct msghdr header = {.msg_iov = &part_of,
				.msg_iovlen = 1,
				.msg_control = control,
				.msg_controllen = sizeof(control)};
	int got = -1;

	(void)state;
	open_well();
	say("{\"return\": {}, \"id\": 2}\n");
	assert_int_equal(qmp_execute(&qmp,
				     &(struct qmp_command){"getfd",
							   json_pack("{s:s}", "fdname", "a"),
							   STDERR_FILENO, LONG_MS},
				     NULL, NULL),
			 0);
	assert_true(recvmsg(peer, &header, MSG_CMSG_CLOEXEC) > 0);
	memcpy(&got, CMSG_DATA(CMSG_FIRSTHDR(&header)), sizeof(got));
	assert_true(got > STDERR_FILENO);
	close(got);
}

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
	(void)number;
	signalled = 1;
}

static bool came(void)
{
	return signalled;
}

/* The signal is pending already, and let through by the wait alone. */
static void a_signal_ends_a_wait(void **state)
{
	struct diag diag = {.text = ""};
	sigset_t blocked, open;

	(void)state;
	signal(SIGUSR1, on_signal);
	sigemptyset(&open);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	raise(SIGUSR1);
	assert_int_equal(qmp_open(&qmp, qmp.socket, &(struct guest_interrupt){&open, came}, LONG_MS,
				  &diag),
			 -EINTR);
	assert_string_equal(diag.text, "interrupted");
	assert_true(signalled);
}

#define CASE(function) cmocka_unit_test_setup_teardown(function, connect_peer, part)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(greeting_gives_the_version),
		CASE(a_peer_that_hangs_up_is_gone),
		CASE(a_greeting_cut_short_is_no_greeting),
		CASE(a_silent_peer_ends_the_deadline),
		CASE(events_do_not_stretch_a_deadline),
		CASE(something_else_than_qemu_is_told),
		CASE(a_refused_negotiation_is_told),
		CASE(answers_find_their_command_among_events),
		CASE(a_late_answer_is_not_the_next_ones),
		CASE(a_refusal_bears_qemus_words),
		CASE(events_are_told_apart_by_what_they_are_about),
		CASE(old_events_make_room),
		CASE(a_line_without_end_is_an_end),
		CASE(descriptors_go_along),
		CASE(a_signal_ends_a_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
