/* SPDX-License-Identifier: MIT */
/*
 * reader_store.h - the independent reader where the tensors are in a store: what the newest
 * generation holds against what was swapped out.
 *
 * Threads: one thread.
 */
#ifndef READER_STORE_H
#define READER_STORE_H

#include "reader.h"

/* Bytes that reader_store_check() would read. */
uint64_t reader_store_bytes(const struct reader_job *job);
void reader_store_check(const struct reader_job *job, struct case_result *result);

#endif /* READER_STORE_H */
