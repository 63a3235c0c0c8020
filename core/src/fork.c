/* SPDX-License-Identifier: MIT */
/*
 * fork.c - a page that the kernel wipes in every child holds the epoch of this process.
 *
 * Handles keep the epoch they were opened in. After fork() the page reads 0, and a child that
 * opens handles of its own writes a greater epoch than any it inherited. Where MADV_WIPEONFORK is
 * missing (before Linux 4.14) the process id is the epoch.
 *
 * A child frees its copies of open handles and stores. Other threads of the parent may have been at
 * work on them at the moment of fork(), so the locks of all of them are held over it.
 */
#include "fork.h"

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

/* Handles and stores that are open; those that a child inherited stay until it closes them. */
static pthread_mutex_t members_lock = PTHREAD_MUTEX_INITIALIZER;
static struct list members = {&members, &members};

void swapioi_fork_join(struct fork_member *member, pthread_mutex_t *lock)
{
	member->lock = lock;
	pthread_mutex_lock(&members_lock);
	list_append(&members, &member->link);
	pthread_mutex_unlock(&members_lock);
}

void swapioi_fork_leave(struct fork_member *member)
{
	pthread_mutex_lock(&members_lock);
	list_remove(&member->link);
	pthread_mutex_unlock(&members_lock);
}

static void members_before_fork(void)
{
	pthread_mutex_lock(&members_lock);
	for (struct list *link = members.next; link != &members; link = link->next)
		pthread_mutex_lock(list_entry(link, struct fork_member, link)->lock);
}

/* In a child, too: the thread that took them is the one that it has. */
static void members_after_fork(void)
{
	for (struct list *link = members.prev; link != &members; link = link->prev)
		pthread_mutex_unlock(list_entry(link, struct fork_member, link)->lock);
	pthread_mutex_unlock(&members_lock);
}

/* The other two are leaves: a thread with the lock of a member may wait for them. */
static void before_fork(void)
{
	members_before_fork();
	swapioi_range_before_fork();
	swapioi_pin_before_fork();
}

static void after_fork_parent(void)
{
	swapioi_pin_after_fork(false);
	swapioi_range_after_fork(false);
	members_after_fork();
}

static void after_fork_child(void)
{
	swapioi_pin_after_fork(true);
	swapioi_range_after_fork(true);
	members_after_fork();
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
