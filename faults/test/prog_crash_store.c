/* SPDX-License-Identifier: MIT */
/*
 * prog_crash_store.c - a small store that commits by the book, and a driver that cuts its power:
 * each case is a forked process which begins with generation 1 durable, commits 2 and 3, and is
 * ended by the crash of a schedule; the driver then reads what is left.
 *
 * usage: prog_crash_store [aio] [without=file|dir] [write-through] SEEDS DIRECTORY POINT...
 *   POINT is "fsync#2"; the crash is at that call, with each of the seeds 1 to SEEDS.
 *   write-through: O_DSYNC in place of the fsync of the file
 * One line per point: crashes, what was found after them, and a hash over all that was left.
 */
#include <assert.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libaio.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eventlog.h"
#include "swapfault.h"

#define STORE_BYTES 8192u
#define WRITES 2u

static bool use_aio, sync_file = true, sync_directory = true, write_through;
static const char *directory;
static __typeof__(&swapfault_begin) begin_call;
static __typeof__(&swapfault_arm) arm_call;

/* What may be found: whole, not before what was acknowledged, not after what was begun. */
struct tally {
	unsigned crashed, finished, old, newer, mixed, lost;
	uint64_t hash;
};

static void find(const char *name, void *ret_call)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);

	if (!symbol) {
		fprintf(stderr, "%s: run me under the preload\n", name);
		exit(2);
	}
	memcpy(ret_call, &symbol, sizeof(symbol));
}

static void must(bool holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	_exit(3);
}

static void write_aio(int fd, char *bytes)
{
	struct iocb iocbs[WRITES], *list[WRITES];
	struct io_event events[WRITES];
	io_context_t ctx = 0;

	must(io_setup(WRITES, &ctx) == 0, "io_setup");
	for (unsigned i = 0; i < WRITES; i++) {
		size_t part = STORE_BYTES / WRITES;

		io_prep_pwrite(&iocbs[i], fd, bytes + i * part, part, (long long)(i * part));
		list[i] = &iocbs[i];
	}
	must(io_submit(ctx, WRITES, list) == WRITES, "io_submit");
	must(io_getevents(ctx, WRITES, WRITES, events, NULL) == WRITES, "io_getevents");
	for (unsigned i = 0; i < WRITES; i++)
		must(events[i].res == STORE_BYTES / WRITES, "aio write");
	io_destroy(ctx);
}

static void write_plain(int fd, const char *bytes)
{
	for (unsigned i = 0; i < WRITES; i++) {
		size_t part = STORE_BYTES / WRITES;

		must(pwrite(fd, bytes + i * part, part, (off_t)(i * part)) == (ssize_t)part,
		     "pwrite");
	}
}

static void commit(int dir, unsigned char generation)
{
	int flags = O_CREAT | O_EXCL | O_WRONLY | (write_through ? O_DSYNC : 0), fd;
	char *bytes = aligned_alloc(4096, STORE_BYTES);

	assert(bytes);
	memset(bytes, generation, STORE_BYTES);
	must(unlink("store.tmp") == 0 || errno == ENOENT, "unlink");
	fd = open("store.tmp", flags, 0644);
	must(fd >= 0, "open");
	must(ftruncate(fd, STORE_BYTES) == 0, "ftruncate");
	if (use_aio)
		write_aio(fd, bytes);
	else
		write_plain(fd, bytes);
	must(!sync_file || fsync(fd) == 0, "fsync of the file");
	must(rename("store.tmp", "store") == 0, "rename");
	must(!sync_directory || fsync(dir) == 0, "fsync of the directory");
	close(fd);
	free(bytes);
}

/* Never returns: the crash does, or the status 0. */
static void run_case(const char *schedule, int acknowledge)
{
	struct swapfault_config config = {.size_bytes = sizeof(config),
					  .schedule = schedule,
					  .backend = SWAPFAULT_BACKEND_SIM,
					  .seed = 1,
					  .log_fd = -1,
					  .work_dir = directory};
	char text[256] = "";
	int dir = open(".", O_RDONLY | O_DIRECTORY);

	must(dir >= 0, "open of the directory");
	commit(dir, 1);
	if (begin_call(&config, text, sizeof(text)) < 0) {
		fprintf(stderr, "%s\n", text);
		_exit(3);
	}
	arm_call();
	for (unsigned char generation = 2; generation <= 3; generation++) {
		commit(dir, generation);
		must(write(acknowledge, &generation, 1) == 1, "acknowledge");
	}
	must(unlink("nothing") < 0, "unlink of nothing");
	_exit(0);
}

static unsigned char last_acknowledged(int fd)
{
	unsigned char generation = 1, next;

	while (read(fd, &next, 1) == 1)
		generation = next;
	return generation;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return hash ^ (hash >> 29);
}

/* Generation that the file holds all through; 0: none. */
static unsigned char look(const char *name, uint64_t *hash)
{
	static char bytes[2 * STORE_BYTES];
	int fd = open(name, O_RDONLY);
	ssize_t count = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));

	*hash = mix(*hash, (uint64_t)count);
	for (ssize_t i = 0; i < count; i++)
		*hash = mix(*hash, (unsigned char)bytes[i]);
	if (fd >= 0)
		close(fd);
	for (ssize_t i = 1; i < count; i++)
		if (bytes[i] != bytes[0])
			return 0;
	return count == STORE_BYTES ? (unsigned char)bytes[0] : 0;
}

static void judge(unsigned char acknowledged, struct tally *tally)
{
	unsigned char found = look("store", &tally->hash);

	look("store.tmp", &tally->hash);
	if (!found)
		tally->mixed++;
	else if (found < acknowledged)
		tally->lost++;
	else if (found == acknowledged)
		tally->old++;
	else
		tally->newer++;
}

static void clear(void)
{
	unlink("store");
	unlink("store.tmp");
}

static void crash_once(const char *point, unsigned seed, struct tally *tally)
{
	char schedule[128];
	int pipe_fds[2], status;
	pid_t pid;

	snprintf(schedule, sizeof(schedule), "%s => crash:%u", point, seed);
	clear();
	must(pipe(pipe_fds) == 0, "pipe");
	pid = fork();
	must(pid >= 0, "fork");
	if (pid == 0)
		run_case(schedule, pipe_fds[1]);
	close(pipe_fds[1]);
	must(waitpid(pid, &status, 0) == pid, "waitpid");
	if (status == 0)
		tally->finished++;
	else if (WIFEXITED(status) && WEXITSTATUS(status) == EVENTLOG_EXIT_CRASH)
		tally->crashed++;
	judge(last_acknowledged(pipe_fds[0]), tally);
	close(pipe_fds[0]);
}

static void crash_at(const char *point, unsigned seeds)
{
	struct tally tally = {.hash = 1};

	for (unsigned seed = 1; seed <= seeds; seed++)
		crash_once(point, seed, &tally);
	printf("%s crashed=%u finished=%u old=%u new=%u mixed=%u lost=%u hash=%016" PRIx64 "\n",
	       point, tally.crashed, tally.finished, tally.old, tally.newer, tally.mixed,
	       tally.lost, tally.hash);
	fflush(stdout);
}

static int take_options(char **arguments)
{
	int at = 1;

	for (;; at++) {
		const char *option = arguments[at] ? arguments[at] : "";

		if (strcmp(option, "aio") == 0)
			use_aio = true;
		else if (strcmp(option, "without=file") == 0)
			sync_file = false;
		else if (strcmp(option, "without=dir") == 0)
			sync_directory = false;
		else if (strcmp(option, "write-through") == 0)
			write_through = true;
		else
			return at;
	}
}

int main(int count, char **arguments)
{
	int at = take_options(arguments);

	if (count < at + 3)
		return 2;
	find("swapfault_begin", &begin_call);
	find("swapfault_arm", &arm_call);
	directory = arguments[at + 1];
	must(chdir(directory) == 0, directory);
	for (int i = at + 2; i < count; i++)
		crash_at(arguments[i], (unsigned)strtoul(arguments[at], NULL, 10));
	clear();
	return 0;
}
