/* SPDX-License-Identifier: MIT */
/*
 * machine.c - what this machine charges for what a case is made of: how many small processes it
 * starts and ends a second, one after the other, and what a page costs that is mapped, written to
 * and unmapped. Prints one line.
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FORKS 500
#define ROUNDS 500
#define PAGES 8
#define PAGE_BYTES 4096

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double seconds_of_forks(void)
{
	double begin = seconds_now();

	for (int i = 0; i < FORKS; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return -1;
	}
	return seconds_now() - begin;
}

static double seconds_of_pages(void)
{
	double begin = seconds_now();

	for (int i = 0; i < ROUNDS; i++) {
		char *memory = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			return -1;
		for (int page = 0; page < PAGES; page++)
			*(volatile char *)(memory + page * PAGE_BYTES) = 1;
		munmap(memory, PAGES * PAGE_BYTES);
	}
	return seconds_now() - begin;
}

int main(void)
{
	double forks = seconds_of_forks(), pages = seconds_of_pages();

	if (forks < 0 || pages < 0)
		return 1;
	printf("%.0f forks/s, %.0f us/page\n", FORKS / forks, pages * 1e6 / (ROUNDS * PAGES));
	return 0;
}
