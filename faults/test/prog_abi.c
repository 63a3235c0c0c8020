/* SPDX-License-Identifier: MIT */
/*
 * prog_abi.c - a victim that asks the kernel's AIO for everything it refuses, and for some of what
 * it does not, and prints a line for each answer. Under the preload the lines must be the same.
 *
 *   prog_abi DIRECTORY
 */
#include <errno.h>
#include <fcntl.h>
#include <libaio.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_BYTES 10000
#define BLOCK_BYTES 4096

static const struct timespec second = {1, 0};
static char *memory; /* two blocks, aligned */
static io_context_t ctx;
static int file_rdwr, file_read, file_write, file_direct, directory;
static void *volatile nowhere = (void *)8; /* volatile: the compiler knows better */

static void say(const char *what, long answer)
{
	printf("%s: %ld\n", what, answer);
}

static long take(void)
{
	struct io_event event;
	struct timespec timeout = second;
	int count = io_getevents(ctx, 1, 1, &event, &timeout);

	return count == 1 ? (long)event.res : -1000 + count;
}

/* The answer of io_submit, or, if it took the request, 100000 plus what the event says. */
static long ask(struct iocb *iocb)
{
	int taken = io_submit(ctx, 1, &iocb);

	return taken == 1 ? 100000 + take() : taken;
}

static struct iocb pread_of(int fd, void *to, size_t bytes, long long offset)
{
	struct iocb iocb;

	io_prep_pread(&iocb, fd, to, bytes, offset);
	return iocb;
}

static void say_pread(const char *what, int fd, void *to, size_t bytes, long long offset)
{
	struct iocb iocb = pread_of(fd, to, bytes, offset);

	say(what, ask(&iocb));
}

static void say_pwrite(const char *what, int fd, void *from, size_t bytes, long long offset)
{
	struct iocb iocb;

	io_prep_pwrite(&iocb, fd, from, bytes, offset);
	say(what, ask(&iocb));
}

static void setup(void)
{
	io_context_t other = NULL;

	say("setup of none", io_setup(0, &other));
	say("setup of too many", io_setup(1 << 30, &other));
	say("setup above the limit", io_setup(1 << 20, &other));
	other = (io_context_t)(uintptr_t)1;
	say("setup twice", io_setup(1, &other));
	say("setup nowhere", io_setup(1, nowhere));
	say("setup", io_setup(8, &ctx));
}

static void submit_refused(void)
{
	struct iocb iocb = pread_of(file_rdwr, memory, 512, 0), *list[2] = {&iocb, nowhere};

	say("submit to no context", io_submit((io_context_t)(uintptr_t)4096, 1, list));
	say("submit minus one", io_submit(ctx, -1, list));
	say("submit none", io_submit(ctx, 0, list));
	say("submit a list nowhere", io_submit(ctx, 1, nowhere));
	say("submit an iocb nowhere", io_submit(ctx, 1, list + 1));
	say("submit one and one nowhere", io_submit(ctx, 2, list));
	say("the one", take());
	iocb.aio_lio_opcode = 99;
	say("opcode 99", ask(&iocb));
	iocb.aio_lio_opcode = IO_CMD_NOOP;
	say("opcode noop", ask(&iocb));
	say_pread("bad descriptor", 777, memory, 512, 0);
	say_pread("read of a write descriptor", file_write, memory, 512, 0);
	say_pwrite("write of a read descriptor", file_read, memory, 512, 0);
	say_pread("negative length", file_rdwr, memory, (size_t)-1, 0);
	say_pread("directory", directory, memory, 512, 0);
	say_pread("negative offset", file_rdwr, memory, 512, -512);
}

static void flags(void)
{
	struct iocb iocb = pread_of(file_rdwr, memory, 512, 0);

	iocb.u.c.flags = 1; /* IOCB_FLAG_RESFD */
	iocb.u.c.resfd = 777;
	say("eventfd of a bad descriptor", ask(&iocb));
	iocb.u.c.resfd = (unsigned)file_rdwr;
	say("eventfd of a file", ask(&iocb));
	iocb.u.c.flags = 0;
	iocb.aio_rw_flags = 0x4000000;
	say("unknown flags", ask(&iocb));
	iocb = pread_of(file_rdwr, memory, 512, 0);
	iocb.u.c.flags = 2; /* IOCB_FLAG_IOPRIO */
	iocb.aio_reqprio = 0x7fff;
	say("impossible priority", ask(&iocb));
	iocb.aio_reqprio = (2 << 13) | 4;
	say("best effort priority", ask(&iocb));
	iocb.u.c.flags = 0;
	iocb.key = 77;
	say("key is ignored", ask(&iocb));
	say("and set", (long)iocb.key);
}

static void reserved(void)
{
	struct iocb iocb = pread_of(file_rdwr, memory, 512, 0);

	iocb.u.c.__pad3 = 1;
	say("reserved field", ask(&iocb));
}

static void vectors(void)
{
	static struct iovec many[1025];
	struct iovec few[3] = {{memory, 512}, {memory + 1024, 100}, {memory + 2048, 1000}};
	struct iocb iocb;

	io_prep_pwritev(&iocb, file_rdwr, few, 3, 0);
	say("write of three", ask(&iocb));
	io_prep_preadv(&iocb, file_rdwr, few, 3, 4096);
	say("read of three", ask(&iocb));
	io_prep_preadv(&iocb, file_rdwr, few, 0, 0);
	say("read of no vector", ask(&iocb));
	io_prep_preadv(&iocb, file_rdwr, nowhere, 3, 0);
	say("vector nowhere", ask(&iocb));
	io_prep_preadv(&iocb, file_rdwr, many, 1025, 0);
	say("vector of 1025", ask(&iocb));
	for (int i = 0; i < 1024; i++)
		many[i] = (struct iovec){memory, 1};
	io_prep_preadv(&iocb, file_rdwr, many, 1024, 0);
	say("vector of 1024", ask(&iocb));
	few[1].iov_len = (size_t)-1;
	io_prep_preadv(&iocb, file_rdwr, few, 3, 0);
	say("vector with a negative length", ask(&iocb));
}

static void transfers(void)
{
	say_pwrite("write", file_rdwr, memory, BLOCK_BYTES, 0);
	say_pread("read", file_rdwr, memory, BLOCK_BYTES, 0);
	say_pread("read of nothing", file_rdwr, memory, 0, 0);
	say_pread("read across the end", file_rdwr, memory, BLOCK_BYTES, FILE_BYTES - 100);
	say_pread("read behind the end", file_rdwr, memory, BLOCK_BYTES, 2 * FILE_BYTES);
	say_pread("read to nowhere", file_rdwr, nowhere, 512, 0);
	say_pwrite("write from nowhere", file_rdwr, nowhere, 512, 0);
	say_pread("direct read", file_direct, memory, BLOCK_BYTES, 0);
	say_pread("direct read at byte 1", file_direct, memory, BLOCK_BYTES, 1);
	say_pread("direct read of 100 bytes", file_direct, memory, 100, 0);
	say_pread("direct read to an odd address", file_direct, memory + 1, BLOCK_BYTES, 0);
	say_pread("direct read across the end", file_direct, memory, BLOCK_BYTES, 8192);
	say_pwrite("direct write", file_direct, memory, BLOCK_BYTES, 4096);
	say_pwrite("direct write of 1000 bytes", file_direct, memory, 1000, 0);
}

static void syncs(void)
{
	struct iocb iocb;

	io_prep_fsync(&iocb, file_rdwr);
	say("fsync", ask(&iocb));
	io_prep_fdsync(&iocb, file_rdwr);
	say("fdsync", ask(&iocb));
	iocb.u.c.nbytes = 1;
	say("fdsync of a byte", ask(&iocb));
}

static void polls(void)
{
	struct iocb iocb, *list[1] = {&iocb};
	struct io_event event;
	int ends[2];

	if (pipe(ends) < 0)
		return;
	io_prep_poll(&iocb, ends[1], POLLOUT);
	say("poll of a pipe that is ready", ask(&iocb));
	io_prep_poll(&iocb, ends[0], POLLIN);
	say("poll of an empty pipe", io_submit(ctx, 1, list));
	say("cancel of it", io_cancel(ctx, &iocb, &event));
	say("what came of it", take());
	iocb = pread_of(file_rdwr, memory, 512, 0);
	say("read of a file", io_submit(ctx, 1, list));
	say("cancel of that", io_cancel(ctx, &iocb, &event));
	say("what came of that", take());
	close(ends[0]);
	close(ends[1]);
}

/* libaio looks into the ring, and at the timeout, before it calls. */
static long raw_getevents(io_context_t of, long nr, struct io_event *events,
			  struct timespec *timeout)
{
	long count = syscall(SYS_io_getevents, of, nr, nr, events, timeout);

	return count < 0 ? -errno : count;
}

static void waits(void)
{
	struct iocb iocb = pread_of(file_rdwr, memory, 512, 0), *list[1] = {&iocb};
	struct timespec none = {0, 0}, moment = {0, 1000000};
	struct io_event events[2];

	say("wait on no context", raw_getevents((io_context_t)4096, 1, events, NULL));
	say("wait for more than there is room", io_getevents(ctx, 2, 1, events, NULL));
	say("wait for minus one", io_getevents(ctx, -1, 1, events, NULL));
	say("wait for none", io_getevents(ctx, 0, 1, events, NULL));
	say("wait with no room", io_getevents(ctx, 0, 0, events, NULL));
	say("look", io_getevents(ctx, 1, 1, events, &none));
	say("wait a moment", io_getevents(ctx, 1, 1, events, &moment));
	say("timeout nowhere", raw_getevents(ctx, 1, events, nowhere));
	say("mask nowhere", io_pgetevents(ctx, 1, 1, events, &moment, nowhere));
	say("submit", io_submit(ctx, 1, list));
	say("events nowhere", io_getevents(ctx, 1, 1, nowhere, NULL));
	say("still there", io_getevents(ctx, 1, 2, events, &moment));
	say("data of it", events[0].obj == &iocb && events[0].res2 == 0);
}

static void eventfds(void)
{
	struct iocb iocb = pread_of(file_rdwr, memory, 512, 0), *list[1] = {&iocb};
	int fd = eventfd(0, EFD_CLOEXEC);
	eventfd_t count = 0;

	io_set_eventfd(&iocb, fd);
	say("submit with an eventfd", io_submit(ctx, 1, list));
	say("read of the eventfd", eventfd_read(fd, &count));
	say("count of it", (long)count);
	say("its event", take());
	close(fd);
}

static void lifetimes(void)
{
	struct iocb iocb, *list[1] = {&iocb};
	int fd = dup(file_rdwr), status = 0;
	pid_t child;

	iocb = pread_of(fd, memory, 512, 0);
	say("submit", io_submit(ctx, 1, list));
	close(fd);
	say("closed in flight", take());
	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(io_submit(ctx, 1, list) == -EINVAL ? 7 : 8);
	waitpid(child, &status, 0);
	say("submit in a child", WEXITSTATUS(status));
	say("destroy", io_destroy(ctx));
	say("destroy again", io_destroy(ctx));
	say("submit after it", io_submit(ctx, 1, list));
	say("wait after it", raw_getevents(ctx, 0, NULL, NULL));
}

static int open_all(const char *path)
{
	if (chdir(path) < 0 || posix_memalign((void **)&memory, 4096, 2 * BLOCK_BYTES))
		return -1;
	memset(memory, 'm', 2 * BLOCK_BYTES);
	directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	file_rdwr = open("abi", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	for (long at = 0; at < FILE_BYTES; at += 100)
		if (pwrite(file_rdwr, memory, 100, at) != 100)
			return -1;
	file_read = open("abi", O_RDONLY | O_CLOEXEC);
	file_write = open("abi", O_WRONLY | O_CLOEXEC);
	file_direct = open("abi", O_RDWR | O_DIRECT | O_CLOEXEC);
	return file_direct < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0); /* a hang must not hide the answers before it */
	if (argc != 2 || open_all(argv[1]) < 0) {
		perror("prog_abi");
		return 1;
	}
	setup();
	submit_refused();
	reserved();
	flags();
	vectors();
	transfers();
	syncs();
	polls();
	waits();
	eventfds();
	lifetimes();
	return 0;
}
