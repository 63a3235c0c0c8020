/* SPDX-License-Identifier: MIT */
/*
 * forks.c - how many small processes this machine starts and ends a second, one after the other:
 * the unit in which the cost of a case is best given. Prints one number.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FORKS 1000

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(void)
{
	double begin = seconds_now();

	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	printf("%.0f\n", FORKS / (seconds_now() - begin));
	return 0;
}
