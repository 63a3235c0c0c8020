/* SPDX-License-Identifier: MIT */
/*
 * jobctl.h - what the preload asks of the harness through the event log's header: stop and continue
 * its process, or attach to a thread and leave it, while the thread is blocked in its wait. A
 * process cannot do either to itself.
 *
 * Threads: the thread that calls becomes the tracer for the time of the call.
 */
#ifndef JOBCTL_H
#define JOBCTL_H

#include "eventlog.h"

enum jobctl {
	JOBCTL_IDLE,	/* nothing is asked */
	JOBCTL_WAITING, /* something is, but the thread is not in its wait yet: call again soon */
	JOBCTL_DONE,	/* it was carried out, or refused; the program was told */
};

/* Look, and serve if it is time. Only processes that descend from this one are touched, whatever
 * the header says: the program under test can write there. Takes a second at most. */
enum jobctl jobctl_serve(struct eventlog_header *header);

#endif /* JOBCTL_H */
