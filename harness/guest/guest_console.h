/* SPDX-License-Identifier: MIT */
/*
 * guest_console.h - the last 64 KiB that a guest wrote to its console.
 *
 * Threads: caller storage.
 */
#ifndef GUEST_CONSOLE_H
#define GUEST_CONSOLE_H

#include <stddef.h>
#include <stdint.h>

#define GUEST_CONSOLE_BYTES (64u * 1024)
#define GUEST_CONSOLE_TAIL_BYTES 8192u
#define GUEST_CONSOLE_TAIL_LINES 60u

struct guest_console {
	int socket; /* -1: none, or at its end */
	uint64_t written;
	char ring[GUEST_CONSOLE_BYTES];
	char tail[GUEST_CONSOLE_TAIL_BYTES + 1];
};

/* Read what is there. */
void guest_console_read(struct guest_console *console);
void guest_console_add(struct guest_console *console, const char *text, size_t bytes);
/* The last lines, whole ones, without carriage returns and other control characters. */
const char *guest_console_lines(struct guest_console *console);

#endif /* GUEST_CONSOLE_H */
