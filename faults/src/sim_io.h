/* SPDX-License-Identifier: MIT */
/*
 * sim_io.h - carry one request out as the kernel would, direct I/O's rules included. The real
 * descriptor has lost its O_DIRECT, so that a case runs on any file system and at any sector size.
 *
 * Threads: any.
 */
#ifndef SWAPFAULT_SIM_IO_H
#define SWAPFAULT_SIM_IO_H

#include "stage_internal.h"

#define SIM_IO_LATER INT64_MIN /* a poll that nothing has answered yet */

/* 0, or what io_submit answers for a request that it would not take. */
int sim_io_check(const struct stage_req *req);
/* Bytes, -errno, the mask of a poll, or SIM_IO_LATER. */
int64_t sim_io(const struct stage_req *req);
/* The power goes while this write is in flight. */
void sim_io_in_flight(const struct stage_req *req);

#endif /* SWAPFAULT_SIM_IO_H */
