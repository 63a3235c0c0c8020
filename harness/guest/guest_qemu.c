/* SPDX-License-Identifier: MIT */
/*
 * guest_qemu.c - QEMU's command line, and its process. What it has of ours are descriptors that it
 * inherits: no socket and no file of a guest has a name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest_internal.h"
#include "nvme_driver.h"
#include "spawn.h"

#define CPUS_DEFAULT 2u
#define MEMORY_MIB_DEFAULT 1024u

void guest_words_add(struct guest_words *words, const char *format, ...)
{
	char **grown = reallocarray(words->words, words->count + 2, sizeof(*grown));
	va_list arguments;

	if (!grown) {
		words->failed = true;
		return;
	}
	words->words = grown;
	va_start(arguments, format);
	if (vasprintf(&grown[words->count], format, arguments) >= 0)
		words->count++;
	else
		words->failed = true;
	va_end(arguments);
	grown[words->count] = NULL;
}

void guest_words_fini(struct guest_words *words)
{
	for (unsigned i = 0; i < words->count; i++)
		free(words->words[i]);
	free(words->words);
	*words = (struct guest_words){0};
}

static void print_quoted(FILE *stream, const char *word)
{
	if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "-_=,./:+") == strlen(word)) {
		fputs(word, stream);
		return;
	}
	putc('\'', stream);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", stream);
		else
			putc(*word, stream);
	putc('\'', stream);
}

char *guest_words_line(const struct guest_words *words)
{
	char *line = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&line, &bytes);

	if (!stream)
		return NULL;
	for (unsigned i = 0; i < words->count; i++) {
		if (i)
			putc(' ', stream);
		print_quoted(stream, words->words[i]);
	}
	return fclose(stream) == 0 ? line : NULL;
}

/*
 * Boot messages over an emulated serial port take longer than the boot: only errors are printed
 * until init raises the level. A panic ends QEMU at once. Self-tests of the kernel's own and the
 * measuring of clocks are not what we are here for.
 */
static void add_kernel(struct guest_words *words, const struct guest_options *options,
		       const struct guest_kernel *kernel, const char *image)
{
	guest_words_add(words, "-kernel");
	guest_words_add(words, "%s", kernel->path);
	guest_words_add(words, "-initrd");
	guest_words_add(words, "%s", image);
	guest_words_add(words, "-append");
	guest_words_add(words,
			"console=ttyS0 quiet panic=-1 oops=panic tsc=reliable no_timer_check "
			"mitigations=off cryptomgr.notests random.trust_cpu=on "
			"nvme_core.max_retries=%u nvme_core.io_timeout=%u%s",
			NVME_DRIVER_RETRIES,
			options->io_timeout_seconds ? options->io_timeout_seconds
						    : NVME_DRIVER_IO_TIMEOUT_SECONDS,
			options->shell ? " swaptorture.shell" : "");
}

static void add_socket(struct guest_words *words, const char *name, int fd)
{
	guest_words_add(words, "-chardev");
	guest_words_add(words, "socket,id=%s,fd=%d", name, fd);
}

/* Serial ports in the order of their names in the guest: ttyS0, ttyS1. */
static void add_ports(struct guest_words *words, const struct guest_ends *ends)
{
	if (ends->console >= 0) {
		add_socket(words, "console", ends->console);
	} else {
		guest_words_add(words, "-chardev");
		guest_words_add(words, "stdio,id=console,mux=on,signal=off");
	}
	guest_words_add(words, "-serial");
	guest_words_add(words, "chardev:console");
	if (ends->channel >= 0) {
		add_socket(words, "channel", ends->channel);
		guest_words_add(words, "-serial");
		guest_words_add(words, "chardev:channel");
	}
	if (ends->monitor >= 0) {
		add_socket(words, "monitor", ends->monitor);
		guest_words_add(words, "-mon");
		guest_words_add(words, "chardev=monitor,mode=control");
	} else {
		guest_words_add(words, "-mon");
		guest_words_add(words, "chardev=console,mode=readline");
	}
	for (unsigned i = 0; i < GUEST_NAMESPACES_MAX; i++) {
		guest_words_add(words, "-device");
		guest_words_add(words, "pcie-root-port,id=port%u,chassis=%u,slot=%u", i, i + 1,
				i + 1);
	}
}

/*
 * "rep stosb" and "rep movsb" go byte by byte under TCG, and Linux clears and copies pages with
 * them where the processor calls them fast: emulated guests are told that it does not.
 */
static const char *processor(const char *accel)
{
	return strcmp(accel, "tcg") == 0 ? "max,-erms,-fsrm" : "max";
}

void guest_qemu_words(struct guest_words *words, const struct guest_options *options,
		      const struct guest_kernel *kernel, const char *accel, const char *image,
		      const struct guest_ends *ends)
{
	guest_words_add(words, GUEST_QEMU);
	guest_words_add(words, "-accel");
	guest_words_add(words, "%s%s", accel, strcmp(accel, "tcg") == 0 ? ",thread=multi" : "");
	guest_words_add(words, "-machine");
	guest_words_add(words, "q35,sata=off,smbus=off,vmport=off");
	guest_words_add(words, "-cpu");
	guest_words_add(words, "%s", processor(accel));
	guest_words_add(words, "-smp");
	guest_words_add(words, "%u", options->cpus ? options->cpus : CPUS_DEFAULT);
	guest_words_add(words, "-m");
	guest_words_add(words, "%u",
			options->memory_mib ? options->memory_mib : MEMORY_MIB_DEFAULT);
	guest_words_add(words, "-nodefaults");
	guest_words_add(words, "-no-user-config");
	guest_words_add(words, "-no-reboot");
	guest_words_add(words, "-display");
	guest_words_add(words, "none");
	add_kernel(words, options, kernel, image);
	add_ports(words, ends);
}

static void keep_open(int fd)
{
	if (fd >= 0)
		fcntl(fd, F_SETFD, 0);
}

static _Noreturn void become(const struct guest_words *words, const struct guest_ends *ends,
			     pid_t parent)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	spawn_prepare_child(parent);
	keep_open(ends->monitor);
	keep_open(ends->console);
	keep_open(ends->channel);
	keep_open(ends->image);
	setsid(); /* Ctrl-C is the caller's to handle */
	dup2(nothing, STDIN_FILENO);
	dup2(nothing, STDOUT_FILENO);
	dup2(ends->error_log, STDERR_FILENO);
	execvp(words->words[0], words->words);
	dprintf(STDERR_FILENO, "%s: %s\n", words->words[0], strerror(errno));
	_exit(127);
}

pid_t guest_qemu_start(const struct guest_words *words, const struct guest_ends *ends)
{
	pid_t parent = getpid(), pid;

	if (words->failed)
		return -ENOMEM;
	pid = fork();
	if (pid == 0)
		become(words, ends, parent);
	return pid < 0 ? -errno : pid;
}
