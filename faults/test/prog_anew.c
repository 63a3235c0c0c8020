/* SPDX-License-Identifier: MIT */
/*
 * prog_anew.c - a victim that has case after case in one process.
 *
 *   prog_anew one CASE...   each in turn: a line "CASE HASH" for what its event log says
 *   prog_anew memory        every case twice; the second time the preload's writable memory must be
 *                           the same, byte for byte, after the end of each
 *   prog_anew busy          a case that cannot end says why
 *
 * Runs in the work directory of the cases.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libaio.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "eventlog.h"
#include "swapfault.h"

#define BLOCKS 12
#define BLOCK_BYTES 4096

struct example {
	const char *schedule;
	int backend;
	uint64_t seed;
	int threads;
};

static const struct example examples[] = {
	{"io_event#2 => short:512; io_getevents#1 ready=0 => signal:USR1", 2, 1, 0},
	{"", 2, 2, 0},
	{"io_event#* op=read => stale; io_submit#9 => crash:4", 2, 3, 0},
	{"io_getevents#1 ready=2 => signal:USR2; open#1 => error:ENOSPC; io_event#7 => drop", 2, 4,
	 2},
	{"io_event#3 => dup; pwrite#1 => error:EIO; io_event#* => reorder:5", 2, 5, 1},
	{"io_event#4 => lie:512; io_getevents#2 => signal:USR1 masked", 1, 6, 0},
	{"io_setup#1 => error:EAGAIN", 2, 7, 0},
};

#define EXAMPLES (sizeof(examples) / sizeof(examples[0]))

static int (*begin)(const struct swapfault_config *config, char *text, size_t bytes);
static void (*arm)(void);
static void (*disarm)(void);
static int (*end)(char *text, size_t bytes);
static struct eventlog *log_ours;
static int log_fd;
static char *memory;
static const char *file_name = "anew";

static __attribute__((noreturn)) void die(const char *what, const char *why)
{
	printf("%s: %s\n", what, why);
	exit(1);
}

static void find(const char *name, void *ret_function)
{
	void *symbol = dlsym(RTLD_DEFAULT, name);

	if (!symbol)
		die(name, "not there");
	memcpy(ret_function, &symbol, sizeof(symbol));
}

static void transfer(int fd, io_context_t ctx, int writes)
{
	struct iocb iocbs[BLOCKS], *list[BLOCKS];
	struct io_event events[2 * BLOCKS];
	struct timespec patience = {.tv_nsec = 50000000};
	int taken, empty = 0;

	for (int i = 0; i < BLOCKS; i++) {
		char *block = memory + i * BLOCK_BYTES;

		list[i] = &iocbs[i];
		memset(block, 'a' + i + writes, BLOCK_BYTES);
		if (writes)
			io_prep_pwrite(&iocbs[i], fd, block, BLOCK_BYTES,
				       (long long)i * BLOCK_BYTES);
		else
			io_prep_pread(&iocbs[i], fd, block, BLOCK_BYTES,
				      (long long)i * BLOCK_BYTES);
	}
	taken = io_submit(ctx, BLOCKS, list);
	while (taken > 0 && empty < 2) {
		int got = io_getevents(ctx, taken, 2 * BLOCKS, events, &patience);

		empty += got <= 0;
		taken -= got > 0 ? got : 0;
	}
}

/* Until nobody comes: virtual time passes. */
static void *wait_a_little(void *unused)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_cond_t nobody = PTHREAD_COND_INITIALIZER;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	pthread_mutex_lock(&lock);
	while (pthread_cond_timedwait(&nobody, &lock, &until) != ETIMEDOUT)
		;
	pthread_mutex_unlock(&lock);
	return unused;
}

static void run_threads(int count)
{
	pthread_t threads[4];

	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, wait_a_little, NULL))
			die("pthread_create", "no thread");
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

static void work(const struct example *example)
{
	io_context_t ctx = NULL;
	int fd, copy;

	if (io_setup(64, &ctx) < 0 && io_setup(64, &ctx) < 0)
		die("io_setup", "twice refused");
	fd = open(file_name, O_RDWR | O_CREAT | O_DIRECT, 0600);
	if (fd < 0)
		fd = open(file_name, O_RDWR | O_CREAT | O_DIRECT, 0600);
	copy = dup(fd);
	run_threads(example->threads);
	for (int round = 0; round < 3; round++)
		transfer(round & 1 ? copy : fd, ctx, round != 2);
	if (pwrite(fd, memory, BLOCK_BYTES, 0) != BLOCK_BYTES)
		fsync(fd);
	disarm();
	io_destroy(ctx);
	close(copy);
	close(fd);
	unlink(file_name);
}

static void run(unsigned index)
{
	const struct example *example = &examples[index];
	static bool had_one;
	char directory[4096], text[512] = "";
	struct swapfault_config config = {
		.size_bytes = sizeof(config),
		.schedule = example->schedule,
		.backend = example->backend,
		.seed = example->seed,
		.log_fd = had_one ? SWAPFAULT_LOG_KEPT : log_fd,
		.work_dir = getcwd(directory, sizeof(directory)),
	};

	if (eventlog_reset(log_ours) < 0)
		die("log", "cannot be emptied");
	if (begin(&config, text, sizeof(text)) < 0)
		die("begin", text);
	had_one = true;
	arm();
	work(example);
	if (end(text, sizeof(text)) < 0)
		die("end", text);
}

static void run_and_tell(unsigned index)
{
	uint64_t hash = 0;

	if (index >= EXAMPLES)
		die("case", "no such");
	run(index);
	if (eventlog_count(log_ours) < 20 ||
	    eventlog_hash(log_ours, EVENTLOG_SCOPE_ORDER, &hash) < 0)
		die("log", "too short");
	printf("%u %016" PRIx64 "\n", index, hash);
}

/* The writable part of the preload, without what the loader has made read-only. */
static int find_memory(struct dl_phdr_info *info, size_t bytes, void *argument)
{
	struct iovec *found = argument;
	uintptr_t begins = 0, ends = 0, from = 0;

	(void)bytes;
	if (!strstr(info->dlpi_name, "libswapfault.so"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + header->p_vaddr;

		if (header->p_type == PT_LOAD && header->p_flags & PF_W) {
			begins = at;
			ends = at + header->p_memsz;
		}
		if (header->p_type == PT_GNU_RELRO)
			from = at + header->p_memsz;
	}
	begins = from > begins ? from : begins;
	*found = (struct iovec){(void *)begins, ends - begins};
	return 1;
}

static void compare(unsigned index, const struct iovec *now, const char *then)
{
	const char *bytes = now->iov_base;

	for (size_t i = 0; i < now->iov_len; i++) {
		if (bytes[i] == then[i])
			continue;
		printf("case %u: byte %zu of %zu stays changed\n", index, i, now->iov_len);
		exit(1);
	}
}

static void check_memory(void)
{
	struct iovec now = {0};
	char *then;

	if (!dl_iterate_phdr(find_memory, &now))
		die("preload", "not found");
	for (unsigned i = 0; i < EXAMPLES; i++)
		run(i);
	then = malloc(now.iov_len);
	memcpy(then, now.iov_base, now.iov_len);
	file_name = "one-that-was-never-there";
	for (unsigned i = 0; i < EXAMPLES; i++) {
		run(i);
		compare(i, &now, then);
	}
	printf("%zu bytes are as they were\n", now.iov_len);
	free(then);
}

static void *wait_for_good(void *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
	return NULL;
}

static void check_busy(void)
{
	static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
	char directory[4096], text[512] = "";
	struct swapfault_config config = {
		.size_bytes = sizeof(config),
		.backend = 2,
		.log_fd = log_fd,
		.work_dir = getcwd(directory, sizeof(directory)),
	};
	io_context_t ctx = NULL;
	pthread_t thread;

	printf("before: %d\n", end(text, sizeof(text)));
	if (begin(&config, text, sizeof(text)) < 0 || io_setup(8, &ctx) < 0)
		die("begin", text);
	printf("context: %d %s\n", end(text, sizeof(text)), text);
	io_destroy(ctx);
	pthread_mutex_lock(&held);
	pthread_create(&thread, NULL, wait_for_good, &held);
	printf("thread: %d %s\n", end(text, sizeof(text)), text);
	pthread_mutex_unlock(&held);
	pthread_join(thread, NULL);
	printf("again: %d\n", begin(&config, text, sizeof(text)));
	printf("after: %d\n", end(text, sizeof(text)));
}

int main(int count, char **words)
{
	find("swapfault_begin", &begin);
	find("swapfault_arm", &arm);
	find("swapfault_disarm", &disarm);
	find("swapfault_end", &end);
	log_fd = memfd_create("log", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	memory = aligned_alloc(4096, BLOCKS * BLOCK_BYTES);
	if (!memory || eventlog_init(log_fd) < 0 || eventlog_open(log_fd, &log_ours) < 0)
		die("log", strerror(errno));
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (count == 2 && strcmp(words[1], "memory") == 0)
		check_memory();
	else if (count == 2 && strcmp(words[1], "busy") == 0)
		check_busy();
	else
		for (int i = 2; i < count; i++)
			run_and_tell((unsigned)strtoul(words[i], NULL, 10));
	return 0;
}
