/* SPDX-License-Identifier: MIT */
/*
 * serve.h - the side of the harness that runs in a guest: does what the lines of the other side
 * ask for, one after the other, and answers each with one.
 *
 *   {"mount": {"serial": S, "file_system": "ext4" | "none", "seconds": N}}
 *   {"unmount": {"serial": S, "seconds": N}}
 *   {"run": {"scenario": PATH, "cells": [...], "faults": [...] | null, "seed": N,
 *            "work_dir": DIR, "patience": N, "device": BOOL}}
 *
 * Answers: {"done": {...}} or {"failed": {"errno": N, "text": SENTENCE}}. While a case runs whose
 * faults are the device's, this side asks: {"ask": "arm" | "disarm" | "outcome"}, and is answered
 * {"answer": N}, 0 or -errno, with "faults" for an outcome.
 *
 * Threads: one thread.
 */
#ifndef SERVE_H
#define SERVE_H

#include "forkserver.h"
#include "kernel_log.h"
#include "serve_channel.h"
#include "serve_disk.h"

#define SERVE_DISKS_MAX 8

struct serve {
	struct serve_channel channel;
	struct forkserver_pool pool; /* stays from case to case */
	struct kernel_log *kernel_log;
	struct serve_disk disks[SERVE_DISKS_MAX];
	char serials[SERVE_DISKS_MAX][SERVE_DISK_BYTES]; /* "": free */
};

/* {"done": @what} and {"failed": ...}, new references; @what is consumed. */
json_t *serve_done(json_t *what);
json_t *serve_failed(int error, const struct diag *diag);

/* serve_case.c: run one case; its answer. */
json_t *serve_case(struct serve *serve, json_t *asked);

#endif /* SERVE_H */
