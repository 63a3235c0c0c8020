/* SPDX-License-Identifier: MIT */
/*
 * stage_memory.c - memory of the program, which may be anything: the kernel would answer -EFAULT,
 * so must we. And memory of our own, straight from the kernel: the program's allocator may be
 * tortured.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "rawcall.h"
#include "stage_internal.h"

#define KERNEL_SIGSET_BYTES 8
#define PROBE_PAGE 4096u
#define PAGES_MANY 3u
#define ADVICE_POPULATE_READ 22 /* MADV_POPULATE_READ */

/*
 * The cheapest question to the kernel about one word: sigprocmask copies the new set in before it
 * looks at anything else. Whoever asks is inside a guard, where every signal is blocked already:
 * to block the ones that the word happens to name changes nothing.
 */
static bool word_readable(uintptr_t address)
{
	return raw_call(SYS_rt_sigprocmask, SIG_BLOCK, address, 0, KERNEL_SIGSET_BYTES) != -EFAULT;
}

static bool word_writable(uintptr_t address)
{
	return raw_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, address, KERNEL_SIGSET_BYTES) != -EFAULT;
}

/* The last word of every page and of the whole: at least one of each page that is touched. */
static bool probe(uintptr_t start, size_t bytes, bool (*word)(uintptr_t))
{
	uintptr_t end = start + bytes, at = start;

	if (!bytes)
		return true;
	if (bytes < sizeof(uint64_t) || end < start)
		return false;
	for (; (at | (PROBE_PAGE - 1)) < end - 1; at = (at | (PROBE_PAGE - 1)) + 1) {
		uintptr_t last = (at | (PROBE_PAGE - 1)) + 1 - sizeof(uint64_t);

		if (!word(last < start ? start : last))
			return false;
	}
	return word(end - sizeof(uint64_t));
}

/* Many pages at once (Linux 5.14). What it says no to is asked for word by word: it knows less of
 * memory that is not pages. */
static bool pages_readable(uintptr_t start, size_t bytes)
{
	uintptr_t first = start & ~(uintptr_t)(PROBE_PAGE - 1);

	return raw_call(SYS_madvise, first, start + bytes - first, ADVICE_POPULATE_READ) == 0;
}

bool memory_readable(const void *start, size_t bytes)
{
	if (bytes >= PAGES_MANY * PROBE_PAGE && pages_readable((uintptr_t)start, bytes))
		return true;
	return probe((uintptr_t)start, bytes, word_readable);
}

bool memory_writable(void *start, size_t bytes)
{
	return probe((uintptr_t)start, bytes, word_writable);
}

/* One iovec to or from this very process; where that is forbidden (seccomp), trust the address. */
static int copy_self(long number, const void *ours, const void *theirs, size_t bytes)
{
	struct iovec local = {(void *)(uintptr_t)ours, bytes};
	struct iovec remote = {(void *)(uintptr_t)theirs, bytes};
	long pid = raw_call(SYS_getpid);
	long done = raw_call(number, pid, &local, 1, &remote, 1, 0);

	if (done == -EFAULT || (done >= 0 && (size_t)done < bytes))
		return -EFAULT;
	return done < 0 ? -ENOSYS : 0;
}

int memory_copy_to(void *to, const void *from, size_t bytes)
{
	int err = bytes ? copy_self(SYS_process_vm_writev, from, to, bytes) : 0;

	if (err != -ENOSYS)
		return err;
	memcpy(to, from, bytes);
	return 0;
}

int memory_copy_from(void *to, const void *from, size_t bytes)
{
	int err = bytes ? copy_self(SYS_process_vm_readv, to, from, bytes) : 0;

	if (err != -ENOSYS)
		return err;
	memcpy(to, from, bytes);
	return 0;
}

static void *map(size_t bytes, int flags)
{
	long address = raw_call(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);

	return address < 0 && address > -(long)PROBE_PAGE ? NULL : (void *)address;
}

void *memory_map(size_t bytes)
{
	return map(bytes, 0);
}

void *memory_map_ready(size_t bytes)
{
	return map(bytes, MAP_POPULATE);
}

void memory_unmap(void *start, size_t bytes)
{
	if (start)
		raw_call(SYS_munmap, start, bytes);
}
