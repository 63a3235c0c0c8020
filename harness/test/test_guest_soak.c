/* SPDX-License-Identifier: MIT */
/*
 * test_guest_soak.c - guests one after the other, each booted, given a namespace behind an NBD
 * server, asked, and stopped: after each this process has the descriptors, threads, children and
 * memory that it had before, and nothing is in its directory. BOOTS=N says how many (make soak).
 */
#undef NDEBUG
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/wait.h>

#include "guest_fixture.h"
#include "nbd_server.h"

#define BOOTS_DEFAULT 2u
#define BOOTS_MAX 10000u
#ifdef __SANITIZE_ADDRESS__ /* it keeps what was freed, and looks for leaks itself */
#define MEMORY_SLACK_KIB (1 << 20)
#else
#define MEMORY_SLACK_KIB 8192 /* of what the C library keeps for itself */
#endif

struct held {
	unsigned descriptors, threads, sockets, files;
	long memory_kib;
};

static unsigned entries(const char *path)
{
	DIR *directory = opendir(path);
	unsigned count = 0;

	while (directory && readdir(directory))
		count++;
	if (directory)
		closedir(directory);
	return count;
}

/* Sockets of this machine that begin and end while we look are others'. */
static unsigned own_sockets(void)
{
	char path[64], link[64];
	unsigned count = 0;

	for (int fd = 0; fd < 1024; fd++) {
		ssize_t bytes;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		bytes = readlink(path, link, sizeof(link) - 1);
		count += bytes > 7 && strncmp(link, "socket:", 7) == 0;
	}
	return count;
}

static long memory_kib(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	long pages = 0, resident = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%ld %ld", &pages, &resident), 2);
	fclose(file);
	return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static struct held look(void)
{
	const char *directory = getenv("TMPDIR");

	return (struct held){.descriptors = entries("/proc/self/fd"),
			     .threads = entries("/proc/self/task"),
			     .sockets = own_sockets(),
			     .files = directory ? entries(directory) : 0,
			     .memory_kib = memory_kib()};
}

static void expect_same(const struct held *before)
{
	struct held now = look();

	assert_int_equal(now.descriptors, before->descriptors);
	assert_int_equal(now.threads, before->threads);
	assert_int_equal(now.sockets, before->sockets);
	assert_int_equal(now.files, before->files);
	assert_true(now.memory_kib <= before->memory_kib + MEMORY_SLACK_KIB);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child, dead or alive */
	assert_int_equal(errno, ECHILD);
}

/* Milliseconds until the guest said hello. */
static unsigned boot_once(void)
{
	uint64_t begin = guest_deadline(0), said;
	struct nbd_server server = {0};
	struct guest *guest = start();
	struct guest_namespace namespace = {.id = "soak", .sector_bytes = 4096};
	struct diag diag = {.text = ""};
	int socket;

	said = guest_deadline(0);
	socket = nbd_start(&server, namespace_image("soak"), NAMESPACE_BYTES);
	if (guest_plug(guest, &namespace, socket, &diag) < 0)
		fail_msg("%s", diag.text);
	close(socket);
	json_decref(await_disks(guest, 1));
	assert_int_equal(moved(guest, "write", 1 << 20, 4096), 4096);
	assert_int_equal(guest_stop(guest), 0); /* with the namespace in it */
	nbd_stop(&server);
	return (unsigned)((said - begin) / 1000000);
}

static int compare(const void *a, const void *b)
{
	const unsigned *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static unsigned count_boots(void)
{
	const char *text = getenv("BOOTS");
	unsigned long boots = text ? strtoul(text, NULL, 10) : BOOTS_DEFAULT;

	assert_in_range(boots, 1, BOOTS_MAX);
	return (unsigned)boots;
}

static void boots_leave_nothing_behind(void **state)
{
	unsigned boots = count_boots(), *times = calloc(boots, sizeof(*times));
	struct held before;

	(void)state;
	boot_once(); /* what is made once and stays is made now */
	before = look();
	for (unsigned i = 0; i < boots; i++) {
		times[i] = boot_once();
		expect_same(&before);
		if (boots > BOOTS_DEFAULT && (i + 1) % 10 == 0) {
			printf("# %u of %u boots\n", i + 1, boots);
			fflush(stdout);
		}
	}
	qsort(times, boots, sizeof(*times), compare);
	printf("# %u boots: %u ms until hello in the median, %u to %u; nothing left behind\n",
	       boots, times[boots / 2], times[0], times[boots - 1]);
	free(times);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boots_leave_nothing_behind),
	};
	int status;

	if (!fixture_begin(argc, argv, &status))
		return status;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
