/* SPDX-License-Identifier: MIT */
/*
 * prog_child.c - a victim with children: each process reads from a file once and says how it went.
 *
 *   prog_child fork [COUNT]     parent, and then its children one after the other
 *   prog_child exec PROGRAM...  parent, and then the program in its place
 *   prog_child loop             reads until a read fails, and says so; "started" before that
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOP_SECONDS 30

static int fd;

static ssize_t read_once(void)
{
	char data[16];

	return pread(fd, data, sizeof(data), 0);
}

static void read_and_say(const char *who)
{
	ssize_t result = read_once();

	printf("%s %zd %s\n", who, result, result < 0 ? strerror(errno) : "");
	fflush(stdout);
}

static int run_children(int count)
{
	read_and_say("parent");
	for (int i = 0; i < count; i++) {
		int status = -1;
		pid_t child = fork();

		if (child == 0) {
			read_and_say("child");
			_exit(0);
		}
		if (waitpid(child, &status, 0) != child || status != 0)
			return 1;
	}
	return 0;
}

static int loop(void)
{
	struct timespec pause = {.tv_nsec = 1000000};

	puts("started");
	fflush(stdout);
	for (int i = 0; i < LOOP_SECONDS * 1000; i++) {
		if (read_once() < 0) {
			printf("failed %s\n", strerror(errno));
			return 0;
		}
		nanosleep(&pause, NULL);
	}
	puts("never failed");
	return 1;
}

int main(int argc, char **argv)
{
	fd = open("file", O_RDWR | O_CREAT, 0600);
	if (fd < 0 || argc < 2) {
		fprintf(stderr, "prog_child: no file, or no arguments\n");
		return 2;
	}
	if (strcmp(argv[1], "fork") == 0)
		return run_children(argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1);
	if (strcmp(argv[1], "loop") == 0)
		return loop();
	read_and_say("parent");
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 2;
}
