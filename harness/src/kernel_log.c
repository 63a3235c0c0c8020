/* SPDX-License-Identifier: MIT */
/*
 * kernel_log.c - records of /dev/kmsg, "priority,number,time,flags;text", one for each read().
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel_log.h"

#define TEXT_BYTES 65536
#define RECORD_BYTES 8192 /* the kernel's are shorter */

struct kernel_log {
	int fd;
	bool lost;
	size_t used;
	char text[TEXT_BYTES];
};

int kernel_log_open(struct kernel_log **ret_log)
{
	struct kernel_log *log = calloc(1, sizeof(*log));
	int error;

	if (!log)
		return -ENOMEM;
	log->fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (log->fd >= 0) {
		kernel_log_begin(log);
		*ret_log = log;
		return 0;
	}
	error = -errno;
	free(log);
	return error;
}

void kernel_log_close(struct kernel_log *log)
{
	if (!log)
		return;
	close(log->fd);
	free(log);
}

void kernel_log_begin(struct kernel_log *log)
{
	lseek(log->fd, 0, SEEK_END);
	log->used = 0;
	log->lost = false;
	log->text[0] = '\0';
}

/* Lines that follow the first are the record's properties, and begin with a blank. */
static void take(struct kernel_log *log, const char *record)
{
	const char *text = strchr(record, ';');
	size_t length;

	if (!text++)
		return;
	length = strcspn(text, "\n");
	if (log->used + length + 2 > sizeof(log->text)) {
		log->lost = true;
		return;
	}
	memcpy(log->text + log->used, text, length);
	log->used += length;
	memcpy(log->text + log->used++, "\n", 2);
}

const char *kernel_log_read(struct kernel_log *log)
{
	char record[RECORD_BYTES + 1];
	ssize_t got;

	if (!log)
		return "";
	for (;;) {
		got = read(log->fd, record, RECORD_BYTES);
		if (got < 0 && errno == EPIPE) { /* overwritten before we came */
			log->lost = true;
			continue;
		}
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return log->text;
		record[got] = '\0';
		take(log, record);
	}
}

void kernel_log_mark(const char *line)
{
	int fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	ssize_t put;

	if (fd < 0)
		return;
	put = write(fd, line, strlen(line));
	(void)put; /* a kernel that takes none is not asked about it either */
	close(fd);
}

bool kernel_log_lost(const struct kernel_log *log)
{
	return log && log->lost;
}
