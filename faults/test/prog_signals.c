/* SPDX-License-Identifier: MIT */
/*
 * prog_signals.c - a victim that reads in batches and counts what signals do to its waits.
 *
 *   prog_signals FILE ROUNDS BATCH CALL [blocked|without-pgetevents]
 *
 * CALL is io_getevents or io_pgetevents. Every round submits BATCH reads and waits for all that are
 * left until they came. Prints counts: handlers run,
 * waits that answered -EINTR, waits that returned fewer than asked, events, wrong events.
 */
#include <errno.h>
#include <fcntl.h>
#include <libaio.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BATCH_MAX 16
#define BLOCK_BYTES 512
#define SYS_PGETEVENTS 333

static volatile sig_atomic_t handled;

struct tally {
	unsigned long eintr, shorts, events, bad;
};

static void handle(int signal)
{
	(void)signal;
	handled++;
}

/* A kernel, or a container, that does not know the call. */
static int take_pgetevents_away(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_PGETEVENTS, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0 ? -errno : 0;
}

static int wait_for(io_context_t ctx, int pgetevents, long count, struct io_event *events)
{
	return pgetevents ? io_pgetevents(ctx, count, count, events, NULL, NULL)
			  : io_getevents(ctx, count, count, events, NULL);
}

static void check(const struct io_event *events, int count, struct tally *tally)
{
	for (int i = 0; i < count; i++)
		if ((long)events[i].res != BLOCK_BYTES)
			tally->bad++;
	tally->events += (unsigned)count;
}

static void collect(io_context_t ctx, int pgetevents, long left, struct tally *tally)
{
	struct io_event events[BATCH_MAX];

	while (left > 0) {
		int count = wait_for(ctx, pgetevents, left, events);

		if (count == -EINTR) {
			tally->eintr++;
			continue;
		}
		if (count < 0) {
			tally->bad++;
			return;
		}
		tally->shorts += count < left;
		check(events, count, tally);
		left -= count;
	}
}

static int run(int fd, long rounds, long batch, int pgetevents, struct tally *tally)
{
	static char memory[BATCH_MAX][BLOCK_BYTES];
	struct iocb iocbs[BATCH_MAX], *list[BATCH_MAX];
	io_context_t ctx = NULL;
	int err = io_setup(BATCH_MAX, &ctx);

	if (err < 0)
		return err;
	for (long i = 0; i < batch; i++) {
		io_prep_pread(&iocbs[i], fd, memory[i], BLOCK_BYTES, i * BLOCK_BYTES);
		list[i] = &iocbs[i];
	}
	for (long round = 0; round < rounds; round++) {
		if (io_submit(ctx, batch, list) != batch)
			return -EPROTO;
		collect(ctx, pgetevents, batch, tally);
	}
	return io_destroy(ctx);
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = handle};
	struct tally tally = {0};
	int fd = argc > 4 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	const char *mode = argc > 5 ? argv[5] : "";
	sigset_t usr1;
	int err = fd < 0 ? -errno : 0;

	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigaction(SIGUSR1, &action, NULL);
	if (!strcmp(mode, "blocked"))
		sigprocmask(SIG_BLOCK, &usr1, NULL);
	if (!strcmp(mode, "without-pgetevents") && !err)
		err = take_pgetevents_away();
	if (!err)
		err = run(fd, strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10),
			  !strcmp(argv[4], "io_pgetevents"), &tally);
	printf("handled=%d eintr=%lu short=%lu events=%lu bad=%lu err=%d\n", (int)handled,
	       tally.eintr, tally.shorts, tally.events, tally.bad, err);
	return err ? 1 : 0;
}
