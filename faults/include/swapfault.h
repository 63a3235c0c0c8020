/* SPDX-License-Identifier: MIT */
/*
 * swapfault.h - control of the preload from inside a program that knows it is tortured.
 *
 * The program looks the functions up with dlsym(RTLD_DEFAULT, ...): it is not linked with the
 * preload, and runs unchanged without it. Strangers are controlled through the environment instead
 * (SWAPFAULT_*, see docs).
 *
 * Threads: one controlling thread.
 */
#ifndef SWAPFAULT_H
#define SWAPFAULT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SWAPFAULT_BACKEND_KERNEL 1
#define SWAPFAULT_BACKEND_SIM 2

#define SWAPFAULT_LOG_KEPT (-2)

/**
 * struct swapfault_config - one case
 * @size_bytes:   sizeof(struct swapfault_config)
 * @schedule:     schedule text, NULL or "" for none; borrowed during the call
 * @backend:      SWAPFAULT_BACKEND_KERNEL or SWAPFAULT_BACKEND_SIM
 * @seed:         seed of every order that the back end draws
 * @log_fd:       an event log made by the harness; -1 none; SWAPFAULT_LOG_KEPT that of the case
 *                that ended last
 * @work_dir:     absolute path; file points match below it; borrowed
 * @sector_bytes: sim: logical block size that direct I/O must respect, 512 or 4096; 0 means 512
 * @memory_align_bytes: sim: alignment that direct I/O demands of buffers, power of two; 0 means 512
 * @deadline_ns:  sim: virtual time after which the case counts as hung; 0 means 60 s
 * @image:        which process of the case this is: faults of others do not fire; 0 means 1
 * @journal_fd:   sim: a file, empty for the first process, that keeps what is not durable yet for
 *                the later ones; 0 none: then it goes with its process
 */
struct swapfault_config {
	size_t size_bytes;
	const char *schedule;
	int backend;
	uint64_t seed;
	int log_fd;
	const char *work_dir;
	unsigned sector_bytes;
	unsigned memory_align_bytes;
	uint64_t deadline_ns;
	unsigned image;
	int journal_fd;
};

/**
 * swapfault_begin() - set a case up, before its first io_setup; one at a time in a process
 * @config:     not NULL
 * @error_text: NULL, or filled on failure
 * @error_bytes: size of @error_text
 *
 * Return: 0, -EINVAL (schedule or option, said in @error_text), -errno of the log
 *         -EALREADY  the case before has not ended
 */
int swapfault_begin(const struct swapfault_config *config, char *error_text, size_t error_bytes);

/** swapfault_arm() - start counting and injecting. */
void swapfault_arm(void);

/** swapfault_disarm() - stop counting and injecting; held completions are let go. */
void swapfault_disarm(void);

/**
 * swapfault_end() - the case is over: nothing of it stays, and another may begin
 * @error_text: NULL, or filled on failure
 * @error_bytes: size of @error_text
 *
 * For the thread that began it, when no other is left. The log stays mapped for the next case.
 *
 * Return: 0
 *         -EBUSY  something of the case lives on (a context, a thread, a child; said in
 *                 @error_text): this process cannot serve another, and nothing has changed
 *         -ENOENT no case was begun
 */
int swapfault_end(char *error_text, size_t error_bytes);

#ifdef __cplusplus
}
#endif
#endif /* SWAPFAULT_H */
