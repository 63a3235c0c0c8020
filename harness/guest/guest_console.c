/* SPDX-License-Identifier: MIT */
/*
 * guest_console.c - a ring, and the lines at its end.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "guest_console.h"

void guest_console_add(struct guest_console *console, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		console->ring[console->written++ % GUEST_CONSOLE_BYTES] = text[i];
}

void guest_console_read(struct guest_console *console)
{
	char text[4096];
	ssize_t got;

	while (console->socket >= 0) {
		got = recv(console->socket, text, sizeof(text), MSG_DONTWAIT);
		if (got > 0)
			guest_console_add(console, text, (size_t)got);
		else if (got == 0 || errno != EINTR)
			return;
	}
}

static char at(const struct guest_console *console, uint64_t position)
{
	return console->ring[position % GUEST_CONSOLE_BYTES];
}

/* Where the lines that fit begin: never in mid-line, unless one line is longer than all. */
static uint64_t find_start(const struct guest_console *console)
{
	uint64_t oldest = console->written > GUEST_CONSOLE_TAIL_BYTES
				  ? console->written - GUEST_CONSOLE_TAIL_BYTES
				  : 0;
	uint64_t start = console->written;
	unsigned lines = 0;

	for (uint64_t position = console->written; position > oldest; position--) {
		if (at(console, position - 1) != '\n' || position == console->written)
			continue;
		start = position;
		if (++lines == GUEST_CONSOLE_TAIL_LINES)
			return start;
	}
	return oldest == 0 || start == console->written ? oldest : start;
}

const char *guest_console_lines(struct guest_console *console)
{
	size_t used = 0;

	for (uint64_t position = find_start(console); position < console->written; position++) {
		char letter = at(console, position);

		if (letter == '\n' || letter == '\t' || (letter >= ' ' && letter != 0x7f))
			console->tail[used++] = letter;
	}
	console->tail[used] = '\0';
	return console->tail;
}
