/* SPDX-License-Identifier: MIT */
/*
 * ending.h - faults that end the process at a call: the power goes (durable.h), or the process is
 * killed, and what it wrote stays as it is, durable or not.
 *
 * Threads: any; safe in signal handlers. No lock of the stage may be held.
 */
#ifndef SWAPFAULT_ENDING_H
#define SWAPFAULT_ENDING_H

#include "schedule.h"

/* End the process before @call takes effect. Returns only from a crash that cannot be, which was
 * logged as missed. */
void ending_at(const struct fault *fault, const struct fault_call *call, uint32_t number);
/* The same for a call whose faults were drawn; what could not be is taken out of them. */
void ending_of(struct firing *firing, const struct fault_call *call, uint32_t number);

#endif /* SWAPFAULT_ENDING_H */
