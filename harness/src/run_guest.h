/* SPDX-License-Identifier: MIT */
/*
 * run_guest.h - the cases of target nvme: a process of the harness boots a guest and runs them
 * there one after the other, beside what runs here. It knows the plan by fork(), and sends results.
 *
 *   run.c  <-- results, SOCK_SEQPACKET --  run_guest_lane.c  <-- lines, ttyS1 -->  cmd_serve.c
 *                                           |  run_guest_case.c: what is done for a case
 *                                           |  run_guest_disk.c: image, device process, namespace
 *                                           v
 *                                          harness/guest, harness/device
 *
 * Threads: one thread.
 */
#ifndef RUN_GUEST_H
#define RUN_GUEST_H

#include <stdbool.h>
#include <sys/types.h>

struct run;

struct run_guest {
	pid_t pid; /* 0: none runs */
	int socket;
	bool *told;	   /* of each case of the plan: its result was reported */
	char refused[512]; /* why no guest can be had, "" one can */
};

/* Start it if the plan has cases for it. 0, -errno. */
int run_guest_start(struct run *run);
/* Its socket is readable, which it is also when the process ended. */
void run_guest_readable(struct run *run);
/* End it, whatever it does; its guest and devices end with it. */
void run_guest_stop(struct run *run);

#endif /* RUN_GUEST_H */
