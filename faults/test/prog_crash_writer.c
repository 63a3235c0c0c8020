/* SPDX-License-Identifier: MIT */
/*
 * prog_crash_writer.c - a victim that writes and syncs one file, and knows nothing of crashes.
 *
 * usage: prog_crash_writer        four writes and an fsync
 *        prog_crash_writer big    cuts a file of 300 MiB first
 *        prog_crash_writer fork   with a child
 *        prog_crash_writer directory, prog_crash_writer synced-directory
 *                                 makes a directory with another one and files in it, all of them
 *                                 synced, and its own name last or not at all
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

static int sync_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY), result = fsync(fd);

	close(fd);
	return result;
}

static int make_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0644);
	int result = fd < 0 || write(fd, path, strlen(path)) < 0 || fsync(fd) < 0 ? -1 : 0;

	close(fd);
	return result;
}

static int make_directory(bool synced)
{
	int at = open(".", O_RDONLY | O_DIRECTORY);

	if (mkdir("made", 0755) < 0 || mkdirat(at, "made/inside", 0755) < 0)
		return -1;
	if (make_file("made/one") < 0 || make_file("made/inside/two") < 0)
		return -1;
	if (sync_directory("made/inside") < 0 || sync_directory("made") < 0)
		return -1;
	return synced ? fsync(at) : 0;
}

int main(int count, char **arguments)
{
	const char *mode = count > 1 ? arguments[1] : "";
	int fd = open("written", O_RDWR | O_CREAT, 0644);
	char bytes[1024];

	if (fd < 0 || (strcmp(mode, "big") == 0 && cut_big(fd) < 0))
		return 2;
	if (strstr(mode, "directory") && make_directory(strstr(mode, "synced") != NULL) < 0)
		return 2;
	if (strcmp(mode, "fork") == 0)
		leave_child();
	memset(bytes, 'w', sizeof(bytes));
	for (off_t i = 0; i < 4; i++)
		if (pwrite(fd, bytes, sizeof(bytes), i * (off_t)sizeof(bytes)) < 0)
			return 2;
	return fsync(fd) < 0 ? 2 : 0;
}
