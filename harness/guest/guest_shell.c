/* SPDX-License-Identifier: MIT */
/*
 * guest_shell.c - a terminal as the console of a guest. QEMU could have the terminal itself; but
 * what has it when it is killed leaves it raw, and what hangs up would have to end QEMU.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "guest_internal.h"
#include "guest_wait.h"

#define ESCAPE 0x01 /* Ctrl-A, as QEMU has it */
#define END_OF_INPUT 0x04
#define ANSWER_DEADLINE_MS 60000u /* beyond that of init */
#define READ_BYTES 256u		  /* a serial port is not fast */

struct shell {
	struct guest *guest;
	int in, out; /* @in -1: it has ended */
	bool escaped;
	size_t matched; /* of the prompt */
};

/* init's PS1. What comes from a file or a pipe waits for the first one: a shell that sets its
 * terminal up may lose it. People see what they type, and may want to type Ctrl-A X. */
static const char prompt[] = "guest# ";

static bool is_ready(const struct shell *shell)
{
	return shell->matched == sizeof(prompt) - 1 || isatty(shell->in);
}

static void look_for_prompt(struct shell *shell, const char *text, size_t bytes)
{
	for (size_t i = 0; i < bytes && !is_ready(shell); i++)
		shell->matched = text[i] == prompt[shell->matched] ? shell->matched + 1
								   : text[i] == prompt[0];
}

static int write_all(int fd, const char *text, size_t bytes)
{
	while (bytes > 0) {
		ssize_t written = write(fd, text, bytes);

		if (written < 0 && errno != EINTR)
			return -EIO;
		if (written > 0) {
			text += written;
			bytes -= (size_t)written;
		}
	}
	return 0;
}

/* What the console says is shown, and kept for who asks for its last lines. */
static int show(struct shell *shell)
{
	struct guest_console *console = &shell->guest->console;
	char text[4096];
	ssize_t got;

	while ((got = recv(console->socket, text, sizeof(text), MSG_DONTWAIT)) > 0) {
		guest_console_add(console, text, (size_t)got);
		look_for_prompt(shell, text, (size_t)got);
		if (write_all(shell->out, text, (size_t)got) < 0)
			return -EIO;
	}
	return 0;
}

/* The guest takes what is typed when it can; a guest that hangs takes no more. */
static void type(struct shell *shell, char letter)
{
	while (send(shell->guest->console.socket, &letter, 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
	       errno == EINTR)
		;
}

/* 1: Ctrl-A X. Ctrl-A twice is one for the guest. */
static int take(struct shell *shell, char letter)
{
	if (!shell->escaped && letter == ESCAPE) {
		shell->escaped = true;
		return 0;
	}
	if (shell->escaped && (letter == 'x' || letter == 'X'))
		return 1;
	if (shell->escaped && letter != ESCAPE)
		type(shell, ESCAPE);
	shell->escaped = false;
	type(shell, letter);
	return 0;
}

static int read_typed(struct shell *shell)
{
	char text[READ_BYTES];
	ssize_t got = read(shell->in, text, sizeof(text));
	int result = 0;

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return 0;
	if (got <= 0 && isatty(shell->in))
		return -EIO;
	if (got < 0 && errno == EIO) /* of a terminal that has hung up */
		return -EIO;
	if (got <= 0) {
		type(shell, END_OF_INPUT);
		shell->in = -1;
	}
	for (ssize_t i = 0; i < got && result == 0; i++)
		result = take(shell, text[i]);
	return result;
}

/* {@key: @value}, which is consumed. */
static int say(struct guest *guest, const char *key, json_t *value)
{
	json_t *line = json_pack("{s:o}", key, value);
	int error = line ? guest_send(guest, line) : -ENOMEM;

	json_decref(line);
	return error;
}

/* The number that the guest answers; -errno. */
static int hear_there(struct guest *guest)
{
	struct pollfd polled = {.fd = guest->epoll, .events = POLLIN};
	uint64_t deadline = guest_deadline(ANSWER_DEADLINE_MS);
	json_t *line;

	for (;;) {
		int result = guest_receive(guest, &line);

		if (result == 1) {
			int there = (int)json_integer_value(json_object_get(line, "there"));

			json_decref(line);
			return there;
		}
		if (result == 0)
			result = guest_wait(&polled, 1, deadline, &guest->interrupt);
		if (result < 0)
			return result;
	}
}

int guest_await_namespaces(struct guest *guest, unsigned count, struct diag *diag)
{
	int there = say(guest, "await", json_integer(count));

	if (there == 0)
		there = hear_there(guest);
	if (there >= (int)count)
		return 0;
	if (there < 0)
		diag_set(diag, NULL, 0, 0, "the guest does not answer: %s", strerror(-there));
	if (there < 0)
		return there;
	diag_set(diag, NULL, 0, 0,
		 "the guest sees %d of %u namespaces: has its kernel drivers for NVMe and for hot "
		 "plugging (PCIe)?",
		 there, count);
	return -ENODEV;
}

static int relay(struct shell *shell)
{
	struct guest *guest = shell->guest;
	struct pollfd polled[] = {{.fd = is_ready(shell) ? shell->in : -1, .events = POLLIN},
				  {.fd = guest->console.socket, .events = POLLIN},
				  {.fd = guest->qmp.socket, .events = POLLIN},
				  {.fd = guest->pidfd, .events = POLLIN}};
	int result = guest_wait(polled, 4, UINT64_MAX, &guest->interrupt);

	if (result == 0)
		result = show(shell);
	if (result == 0 && polled[0].revents)
		result = read_typed(shell);
	qmp_drain(&guest->qmp);
	return result;
}

int guest_shell(struct guest *guest, int in, int out)
{
	struct shell shell = {.guest = guest, .in = in, .out = out};
	int result = say(guest, "shell", json_true());

	if (result < 0 && result != -EPIPE)
		return result;
	while (result == 0 && guest_is_alive(guest))
		result = relay(&shell);
	if (result == 0 || result == -EPIPE)
		result = show(&shell);
	return result;
}
