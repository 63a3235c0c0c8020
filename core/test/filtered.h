/* SPDX-License-Identifier: MIT */
/*
 * filtered.h - runs a piece of a test in a thread where system calls are refused, as an old kernel
 * or a container's seccomp filter does. The filter ends with the thread; threads that it starts
 * have it too.
 */
#ifndef TEST_FILTERED_H
#define TEST_FILTERED_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "helpers.h"

struct filtered {
	unsigned first, second; /* calls that are refused */
	int error;		/* with which errno */
	unsigned workers;	/* for the test's handle */
	void (*run)(struct filtered *filtered);
	const char *failed; /* the condition that did not hold; NULL: all did */
};

/* cmocka's assertions work in the main thread only. */
#define EXPECT(filtered, condition)                                                                \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			(filtered)->failed = #condition;                                           \
			return;                                                                    \
		}                                                                                  \
	} while (0)

static inline int filtered_refuse(const struct filtered *filtered)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, filtered->first, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, filtered->second, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)filtered->error),
	};
	const struct sock_fprog program = {.len = 5, .filter = code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0 ? -errno : 0;
}

static inline void *filtered_main(void *arg)
{
	struct filtered *filtered = arg;

	if (filtered_refuse(filtered) < 0)
		filtered->failed = "the filter could be installed";
	else
		filtered->run(filtered);
	return NULL;
}

static inline void run_filtered(struct filtered filtered)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, filtered_main, &filtered), 0);
	pthread_join(thread, NULL);
	if (filtered.failed)
		fail_msg("not true: %s", filtered.failed);
}

#endif /* TEST_FILTERED_H */
