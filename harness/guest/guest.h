/* SPDX-License-Identifier: MIT */
/*
 * guest.h - a machine in QEMU that runs this build's programs: booted from the distribution's
 * kernel and an image made in memory, talked to in lines of JSON, NVMe namespaces plugged into it
 * and out of it again. Nothing of it lies in the file system, and it dies with the thread that
 * started it.
 *
 * Threads: one thread for each guest, the one that called guest_start(): with it the guest ends.
 */
#ifndef GUEST_H
#define GUEST_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "diag.h"

#define GUEST_ID_BYTES 32
/* A line to the guest: its serial port has no flow control that way, its kernel keeps 64 KiB. */
#define GUEST_SEND_BYTES_MAX (32u * 1024)
#define GUEST_NAMESPACES_MAX 8u

/* What runs in the guest, as paths of this machine. */
struct guest_programs {
	const char *init;	  /* swaptorture-guest-init */
	const char *kernel_tool;  /* swaptorture-guest-kernel, which finds a kernel */
	const char *swaptorture;  /* the program that is told `serve --channel 3` */
	const char *worker;	  /* may be NULL, as those below */
	const char *preload;	  /* libswapfault.so */
	const char *meta;	  /* directory of the faulty cores */
	const char *suppressions; /* swaptorture.supp */
	const char *scenarios;	  /* directory */
};

/* A file of this machine put into the guest. */
struct guest_file {
	const char *path; /* in the guest, absolute */
	const char *source;
};

/* What ends a wait before its time: a signal that @mask lets through, if @came says so. */
struct guest_interrupt {
	const sigset_t *mask; /* NULL: the thread's own */
	bool (*came)(void);   /* NULL: no signal ends a wait */
};

struct guest_options {
	const struct guest_programs *programs;
	const struct guest_file *files; /* @file_count of them, beside the programs */
	unsigned file_count;
	const char *kernel;	     /* path of a vmlinuz; NULL: the tool finds or fetches one */
	const char *accel;	     /* "kvm", "tcg"; NULL: KVM where it is proved, else TCG */
	unsigned cpus, memory_mib;   /* 0: 2 and 1024 */
	unsigned io_timeout_seconds; /* 0: NVME_DRIVER_IO_TIMEOUT_SECONDS */
	unsigned boot_seconds;	     /* until the guest says hello; 0: 120 */
	bool shell; /* instead of `serve` a shell on the console, which guest_shell() begins */
	struct guest_interrupt interrupt;
};

struct guest;

/* Could a guest be booted here? A kernel may have to be fetched to know. 0; -ENOENT with what is
 * missing in @diag, -ETIMEDOUT, -EINTR. */
int guest_possible(const struct guest_options *options, struct diag *diag);

/* Could the libraries of this program go into a guest? 0; -ENOENT one is missing, -errno; with
 * @diag. What is no dynamic program has none. */
int guest_libraries_check(const char *path, struct diag *diag);

/*
 * Boot, and wait for the line {"hello":...} of `serve`. 0, or with a sentence in @diag: -ENOENT a
 * part is missing (no QEMU, no kernel), -ETIMEDOUT no hello in time, -EPIPE the guest died before,
 * -EINTR a signal came, another -errno.
 */
int guest_start(struct guest **ret, const struct guest_options *options, struct diag *diag);

/* Poll it for reading; then call guest_receive() until it returns no line. */
int guest_fd(const struct guest *guest);
/* 1 and a line (a new reference); 0: none yet; -EPIPE: the guest is dead; -EBADMSG: it said
 * something that is no JSON. */
int guest_receive(struct guest *guest, json_t **ret_line);
/* Send a line, all of it. 0; -EMSGSIZE: over GUEST_SEND_BYTES_MAX; -EPIPE; -ETIMEDOUT: the guest
 * does not read. */
int guest_send(struct guest *guest, const json_t *line);

struct guest_namespace {
	char id[GUEST_ID_BYTES]; /* letters, digits, hyphens; also its serial number */
	uint64_t size_bytes;	 /* for who makes its device; QEMU asks the device itself */
	unsigned sector_bytes;	 /* 0: 512 */
	unsigned mdts;		 /* longest transfer, 4 KiB << mdts; 0: QEMU's 7 */
	unsigned queues;	 /* pairs of I/O queues; 0: QEMU's 64 */
	bool write_cache, read_only;
};

/*
 * Plug an NVMe controller with this namespace whose bytes an NBD server at the other end of
 * @nbd_socket (or the file @fd) holds; the descriptor stays the caller's. QEMU has it then, the
 * guest's kernel soon. 0; -EEXIST, -ENOSPC (all ports are taken), -EPIPE, -ETIMEDOUT, or -EPROTO
 * with QEMU's words in @diag, and nothing is plugged.
 */
int guest_plug(struct guest *guest, const struct guest_namespace *namespace, int nbd_socket,
	       struct diag *diag);
int guest_plug_file(struct guest *guest, const struct guest_namespace *namespace, int fd,
		    struct diag *diag);
/*
 * Take it out in order: the guest is asked, ends what is in flight, and lets go. 0; -ENOENT;
 * -ETIMEDOUT: it does not let go, and keeps it; -EPIPE; -EPROTO.
 */
int guest_unplug(struct guest *guest, const char *id, struct diag *diag);

/*
 * The two halves of pulling its controller out in order and putting it back, the bytes behind it
 * stay with QEMU. guest_pull() only asks the guest to let go; guest_put_back() waits until it did.
 * Errors as of guest_unplug() and guest_plug().
 */
int guest_pull(struct guest *guest, const char *id, struct diag *diag);
int guest_put_back(struct guest *guest, const struct guest_namespace *namespace, struct diag *diag);

/* Any other command to QEMU, @arguments is consumed (may be NULL). 0 and its "return" (a new
 * reference, if @ret is not NULL); errors as of guest_plug(). */
int guest_monitor(struct guest *guest, const char *command, json_t *arguments, json_t **ret,
		  struct diag *diag);

/* The last lines of the console; valid until the next call with this guest. */
const char *guest_console_tail(struct guest *guest);
/* The command line of its QEMU, quoted for a shell; valid as long as the guest. */
const char *guest_command_line(const struct guest *guest);
const char *guest_kernel_version(const struct guest *guest);
const char *guest_accel(const struct guest *guest);
bool guest_is_alive(const struct guest *guest);
#define GUEST_FOREVER 0u
/* Wait until it ends by itself, at most so long (or GUEST_FOREVER). 0, -ETIMEDOUT or -EINTR. */
int guest_await_end(struct guest *guest, unsigned deadline_ms);
/*
 * Kill it, as a cut of its power, and wait for that; nothing is left. NULL is allowed. 0;
 * -ETIMEDOUT: QEMU hangs in the kernel of this machine, and ends whenever that lets it.
 */
int guest_stop(struct guest *guest);

/* Of a guest with a shell: wait until it sees so many namespaces. In this way they have the order
 * in which they were plugged. 0; -ENODEV: it does not, its kernel lacks a driver; errors as of
 * guest_send(), all with @diag. */
int guest_await_namespaces(struct guest *guest, unsigned count, struct diag *diag);
/*
 * Begin the shell, and be its terminal until the guest ends: what is typed comes from @in, what the
 * console says goes to @out. The settings of a terminal are the caller's. When @in ends and is no
 * terminal, so does the shell.
 * 0: the guest ended; 1: Ctrl-A X was typed; -EINTR; -EIO: the terminal is gone.
 */
int guest_shell(struct guest *guest, int in, int out);

/*
 * What boots such a guest without us: write initramfs and an empty file for each namespace into
 * @directory, which is made if need be, and give the command line, to be freed. Errors as of
 * guest_start().
 */
int guest_print(const struct guest_options *options, const struct guest_namespace *namespaces,
		unsigned count, const char *directory, char **ret_line, struct diag *diag);

#endif /* GUEST_H */
