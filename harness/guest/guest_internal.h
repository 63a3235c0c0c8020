/* SPDX-License-Identifier: MIT */
/*
 * guest_internal.h - what the parts of a guest share.
 *
 * Threads: as guest.h.
 */
#ifndef GUEST_INTERNAL_H
#define GUEST_INTERNAL_H

#include <limits.h>
#include <sys/types.h>

#include "guest.h"
#include "guest_console.h"
#include "guest_kernel.h"
#include "qmp.h"

#define GUEST_QEMU "qemu-system-x86_64"

struct guest_port {
	char id[GUEST_ID_BYTES]; /* of the namespace in it; "" free */
	int set;		 /* QEMU's set of descriptors of a file; -1 none */
};

struct guest {
	pid_t pid; /* 0: not running */
	int pidfd;
	int epoll;	/* of channel, console and monitor */
	int channel;	/* ttyS1 */
	int error_log;	/* memfd: what QEMU itself says */
	char *received; /* of the channel; no whole line yet, or lines nobody took */
	size_t received_bytes, received_room;
	bool ended; /* the channel is at its end */
	struct qmp qmp;
	struct guest_console console;
	struct guest_port ports[GUEST_NAMESPACES_MAX];
	struct guest_interrupt interrupt;
	struct guest_kernel kernel;
	char accel[16];
	char *command_line;
};

/* The descriptors that QEMU gets; -1: none. Borrowed. */
struct guest_ends {
	int monitor, console, channel, image, error_log;
};

/* guest_find.c: guest_possible(), and the kernel. */
int guest_find(const struct guest_options *options, struct guest_kernel *ret_kernel,
	       struct diag *diag);

/* guest_qemu.c: words of a command line. */
struct guest_words {
	char **words; /* ends with NULL */
	unsigned count;
	bool failed; /* out of memory */
};
void guest_words_add(struct guest_words *words, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void guest_words_fini(struct guest_words *words);
/* Quoted for a shell; to be freed. */
char *guest_words_line(const struct guest_words *words);
/* @image: path of the initramfs. With all of @ends -1 the console is the terminal. */
void guest_qemu_words(struct guest_words *words, const struct guest_options *options,
		      const struct guest_kernel *kernel, const char *accel, const char *image,
		      const struct guest_ends *ends);
/* Fork and exec. The pid, or -errno. */
pid_t guest_qemu_start(const struct guest_words *words, const struct guest_ends *ends);

/* guest_accel.c: does this kernel boot under it, within that time? */
bool guest_accel_works(const char *accel, const struct guest_kernel *kernel, unsigned deadline_ms,
		       const struct guest_interrupt *interrupt);
/* Its name for -accel. */
const char *guest_accel_choose(const struct guest_options *options,
			       const struct guest_kernel *kernel);

/* guest_accel_known.c: was it found out since this machine booted, whether the kernel boots under
 * KVM? What cannot be kept is found out again. */
bool guest_accel_known(const struct guest_kernel *kernel, bool *ret_works);
void guest_accel_remember(const struct guest_kernel *kernel, bool works);

/* guest_image.c: write the initramfs. 0 or -errno with @diag. */
int guest_image_write(int fd, const struct guest_options *options,
		      const struct guest_kernel *kernel, struct diag *diag);

/* guest_channel.c: read what is there. 0; -EPIPE at the end. */
int guest_channel_read(struct guest *guest);
/* guest.c: read from all of QEMU's sockets what is there. */
void guest_service(struct guest *guest);

#endif /* GUEST_INTERNAL_H */
