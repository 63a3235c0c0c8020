/* SPDX-License-Identifier: MIT */
/*
 * guest_fixture.h - real guests for tests: started, asked, given namespaces. In the guest the test
 * itself stands in for swaptorture (guest_stand_in.h). cmocka.h has to be included before.
 *
 * Threads: one thread.
 */
#ifndef GUEST_FIXTURE_H
#define GUEST_FIXTURE_H

#include <sys/mman.h>

#include "guest.h"
#include "guest_stand_in.h"
#include "guest_wait.h"

#define NAMESPACE_BYTES (16u << 20)

static char self[PATH_MAX], init_program[PATH_MAX], kernel_tool[PATH_MAX];
static struct guest_programs programs = {
	.init = init_program, .kernel_tool = kernel_tool, .swaptorture = self};

static inline struct guest_options options_of_test(void)
{
	return (struct guest_options){.programs = &programs, .accel = "tcg"};
}

static inline struct guest *start(void)
{
	struct guest_options options = options_of_test();
	struct guest *guest = NULL;
	struct diag diag = {.text = ""};

	if (guest_start(&guest, &options, &diag) < 0)
		fail_msg("%s", diag.text);
	return guest;
}

static inline json_t *receive(struct guest *guest)
{
	struct pollfd polled = {.fd = guest_fd(guest), .events = POLLIN};
	json_t *line = NULL;
	int result;

	while ((result = guest_receive(guest, &line)) == 0)
		assert_int_equal(poll(&polled, 1, 60000), 1);
	assert_int_equal(result, 1);
	return line;
}

static inline json_t *ask(struct guest *guest, json_t *question)
{
	assert_int_equal(guest_send(guest, question), 0);
	json_decref(question);
	return receive(guest);
}

/* Plugging is seen by the guest some time later: it is asked until it sees @count disks. */
static inline json_t *await_disks(struct guest *guest, size_t count)
{
	const uint64_t deadline = guest_deadline(60000);

	do {
		json_t *all = ask(guest, json_pack("{s:b}", "disks", 1));
		const json_t *word = json_object_get(json_array_get(all, 0), "word");

		if (json_array_size(all) == count && (!word || *json_string_value(word)))
			return all;
		json_decref(all);
	} while (guest_deadline(0) < deadline);
	fail_msg("the guest does not see %zu disks: %s", count, guest_console_tail(guest));
	return NULL;
}

static inline int integer(const json_t *object, const char *key)
{
	return (int)json_integer_value(json_object_get(object, key));
}

/* Bytes of a namespace in memory, with @word at the beginning. */
static inline int namespace_image(const char *word)
{
	int fd = memfd_create("namespace", MFD_CLOEXEC);

	assert_int_equal(ftruncate(fd, NAMESPACE_BYTES), 0);
	assert_int_equal(pwrite(fd, word, strlen(word), 0), (ssize_t)strlen(word));
	return fd;
}

static inline void unplug(struct guest *guest, const char *id)
{
	struct diag diag = {.text = ""};

	if (guest_unplug(guest, id, &diag) < 0)
		fail_msg("%s", diag.text);
}

/* What the guest's "move" gives. */
static inline int moved(struct guest *guest, const char *what, int offset, int length)
{
	json_t *answer = ask(guest, json_pack("{s:s, s:i, s:i, s:s}", "move", what, "offset",
					      offset, "length", length, "fill", "w"));
	int bytes = integer(answer, "moved");

	json_decref(answer);
	return bytes;
}

/* Beside this program, in ../../bin of its build. */
static inline void find(const char *name, char path[PATH_MAX])
{
	char directory[PATH_MAX];
	char *end;

	snprintf(directory, sizeof(directory), "%s", self);
	for (unsigned up = 0; up < 3 && (end = strrchr(directory, '/')); up++)
		*end = '\0';
	snprintf(path, PATH_MAX, "%.*s/bin/%s", PATH_MAX - 64, directory, name);
}

/*
 * What main() does before the tests. False: @ret_status is all: this is a guest, or there can be
 * none here, which is a reason to skip (77), unless NEED_GUEST=1 says that this machine must.
 */
static inline bool fixture_begin(int argc, char **argv, int *ret_status)
{
	struct guest_options options = options_of_test();
	const char *need = getenv("NEED_GUEST");
	struct diag diag = {.text = ""};

	*ret_status = 1;
	if (argc > 1 && strcmp(argv[1], "serve") == 0) {
		*ret_status = stand_in();
		return false;
	}
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return false;
	find("swaptorture-guest-init", init_program);
	find("swaptorture-guest-kernel", kernel_tool);
	if (guest_possible(&options, &diag) == 0)
		return true;
	if (need && strcmp(need, "1") == 0) {
		printf("not ok - NEED_GUEST=1, but %s\n", diag.text);
		return false;
	}
	printf("1..0 # SKIP no guests here: %s\n", diag.text);
	*ret_status = 77;
	return false;
}

#endif /* GUEST_FIXTURE_H */
