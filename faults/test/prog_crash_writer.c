/* SPDX-License-Identifier: MIT */
/*
 * prog_crash_writer.c - a victim that writes and syncs one file, and knows nothing of crashes.
 *
 * usage: prog_crash_writer        four writes and an fsync
 *        prog_crash_writer big    cuts a file of 300 MiB first
 *        prog_crash_writer fork   with a child
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BIG_BYTES ((off_t)300 << 20)

static void leave_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	printf("child %d\n", (int)pid);
	fflush(stdout);
}

static int cut_big(int fd)
{
	if (ftruncate(fd, BIG_BYTES) < 0)
		return -1;
	return ftruncate(fd, 0);
}

int main(int count, char **arguments)
{
	const char *mode = count > 1 ? arguments[1] : "";
	int fd = open("written", O_RDWR | O_CREAT, 0644);
	char bytes[1024];

	if (fd < 0 || (strcmp(mode, "big") == 0 && cut_big(fd) < 0))
		return 2;
	if (strcmp(mode, "fork") == 0)
		leave_child();
	memset(bytes, 'w', sizeof(bytes));
	for (off_t i = 0; i < 4; i++)
		if (pwrite(fd, bytes, sizeof(bytes), i * (off_t)sizeof(bytes)) < 0)
			return 2;
	return fsync(fd) < 0 ? 2 : 0;
}
