/* SPDX-License-Identifier: MIT */
/*
 * fork.c - a page that the kernel wipes in every child holds the epoch of this process.
 *
 * Handles keep the epoch they were opened in. After fork() the page reads 0, and a child that
 * opens handles of its own writes a greater epoch than any it inherited. Where MADV_WIPEONFORK is
 * missing (before Linux 4.14) the process id is the epoch.
 */
#include "fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pin.h"
#include "range.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic uint64_t *page; /* NULL: the process id is used */
static _Atomic uint64_t epochs_used;

static void before_fork(void)
{
	swapioi_range_before_fork();
	swapioi_pin_before_fork();
}

static void after_fork_parent(void)
{
	swapioi_pin_after_fork(false);
	swapioi_range_after_fork(false);
}

static void after_fork_child(void)
{
	swapioi_pin_after_fork(true);
	swapioi_range_after_fork(true);
}

static void prepare_process(void)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *mem =
		mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
	if (mem == MAP_FAILED)
		return;
	if (madvise(mem, page_bytes, MADV_WIPEONFORK) < 0) {
		munmap(mem, page_bytes);
		return;
	}
	page = mem;
}

uint64_t swapioi_fork_epoch(void)
{
	uint64_t none = 0;

	pthread_once(&once, prepare_process);
	if (!page)
		return (uint64_t)getpid();
	atomic_compare_exchange_strong(page, &none, atomic_fetch_add(&epochs_used, 1) + 1);
	return atomic_load(page);
}

bool swapioi_fork_passed(uint64_t epoch)
{
	uint64_t current =
		page ? atomic_load_explicit(page, memory_order_relaxed) : (uint64_t)getpid();

	return current != epoch;
}
