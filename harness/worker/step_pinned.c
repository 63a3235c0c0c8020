/* SPDX-License-Identifier: MIT */
/*
 * step_pinned.c - asks swapio_is_pinned about every kind of range, and compares with the truth.
 */
#include <string.h>
#include <sys/mman.h>

#include "raw.h"
#include "worker.h"

#define BUFFER_BYTES (UINT64_C(4) << 20) /* whole pages, huge ones too */

static void expect(struct swapio *handle, const char *what, const char *ptr, size_t bytes,
		   bool truth)
{
	if (swapio_is_pinned(handle, ptr, bytes) != truth)
		tell_wrong("swapio_is_pinned of %s says %s", what, truth ? "no" : "yes");
}

static void ask_live(struct swapio *handle, const char *base, bool pinned)
{
	expect(handle, "a whole buffer", base, BUFFER_BYTES, pinned);
	expect(handle, "its first byte", base, 1, pinned);
	expect(handle, "its last byte", base + BUFFER_BYTES - 1, 1, pinned);
	expect(handle, "a slice at an odd address", base + 4097, 12345, pinned);
	expect(handle, "no bytes of it", base, 0, false);
	expect(handle, "one byte more than it has", base, BUFFER_BYTES + 1, false);
	expect(handle, "a slice past its end", base + BUFFER_BYTES - 4096, 8192, false);
	expect(handle, "a range that begins before it", base - 1, 2, false);
}

/* Other memory at the same address is not pinned because that one was. */
static void ask_reused(struct swapio *handle, char *base)
{
	long address = syscall(SYS_mmap, base, BUFFER_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	expect(handle, "a freed buffer", base, BUFFER_BYTES, false);
	if (address == -1)
		return; /* something else lives there by now */
	expect(handle, "other memory at the address of a freed buffer", base, BUFFER_BYTES, false);
	syscall(SYS_munmap, address, BUFFER_BYTES);
}

static void ask_through(struct swapio *asked)
{
	char own[64];
	int64_t locked_before = counts_locked();
	void *block;
	bool pinned;
	int error = swapio_buffer_alloc(worker.handle, BUFFER_BYTES, SWAPIO_BUFFER_PINNED, &block);

	if (error < 0) {
		tell_call("buffer_alloc", error, "");
		return;
	}
	/* A limit may have stopped mlock: then the buffer is there, and not pinned. */
	pinned = counts_locked() - locked_before >= (int64_t)BUFFER_BYTES;
	memset(block, 1, BUFFER_BYTES);
	ask_live(asked, block, pinned);
	expect(asked, "the program's stack", own, sizeof(own), false);
	expect(asked, "NULL", NULL, 1, false);
	error = swapio_buffer_free(worker.handle, block);
	if (error < 0)
		tell_wrong("swapio_buffer_free of an idle buffer: %s", strerror(-error));
	ask_reused(asked, block);
}

void step_is_pinned(const struct step *step)
{
	struct swapio *second = NULL;
	int error;

	(void)step;
	ask_through(worker.handle);
	error = handle_open(&second, NULL);
	if (error < 0) {
		tell_call("open", error, "the second handle");
		return;
	}
	ask_through(second);
	error = swapio_close(second, SWAPIO_FOREVER);
	if (error < 0)
		tell_call("close", error, "the second handle");
}
