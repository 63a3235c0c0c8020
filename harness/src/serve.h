/* SPDX-License-Identifier: MIT */
/*
 * serve.h - the side of the harness that runs in a guest: does what the lines of the other side
 * ask for, one after the other, and answers each with one.
 *
 *   {"mount": {"serial": S, "file_system": "ext4" | "none", "seconds": N}}
 *   {"unmount": {"serial": S, "seconds": N}}
 *   {"run": {"scenario": PATH, "cells": [...], "faults": [...] | null, "seed": N,
 *            "work_dir": DIR, "patience": N, "device": BOOL, "serial": S,
 *            "resume": PATH | absent, "program": PATH | absent}}
 *
 * Answers: {"done": {...}} or {"failed": {"errno": N, "text": SENTENCE}}. While a case runs whose
 * faults are the device's, this side asks: {"ask": "arm" | "disarm" | "outcome"}, and is answered
 * {"answer": N, "text": SENTENCE}, 0 or -errno, with "faults" for an outcome. When the device is to
 * be pulled out the other side says so unasked,
 *
 *   {"removal": {"serial": S, "surprise": BOOL}}
 *
 * and this side, once nothing in the guest reaches it any more, {"ask": "out"}; {"ask": "back"}
 * when the case wants it back.
 *
 * {"event": "power-cut"} comes by itself: the device answers nothing any more. This side says
 * {"done": {"cut": STATE}}, and waits for its own end. Another guest finds STATE in the file that
 * "resume" names, and goes on with the case.
 *
 * Threads: one thread.
 */
#ifndef SERVE_H
#define SERVE_H

#include "forkserver.h"
#include "kernel_log.h"
#include "serve_channel.h"
#include "serve_disk.h"
#include "serve_pci.h"

#define SERVE_DISKS_MAX 8

struct serve {
	struct serve_channel channel;
	struct forkserver_pool pool; /* stays from case to case */
	struct kernel_log *kernel_log;
	bool power_is_cut; /* of the device of the case that runs */
	struct serve_disk disks[SERVE_DISKS_MAX];
	char serials[SERVE_DISKS_MAX][SERVE_DISK_BYTES]; /* "": free */
	/* The device of the case that runs, if a fault pulls it out. */
	struct {
		const char *serial; /* NULL: none does */
		bool is_out, surprise;
		struct serve_pci pci;
	} removal;
};

/* {"done": @what} and {"failed": ...}, new references; @what is consumed. */
json_t *serve_done(json_t *what);
json_t *serve_failed(int error, const struct diag *diag);

/* cmd_serve.c: the place of that namespace, or with "" a free one. NULL: there is none. */
struct serve_disk *serve_find_disk(struct serve *serve, const char *serial);

/* serve_ask.c: a question to the other side. 0 or -errno with @diag, and the whole answer (a new
 * reference) if @ret is not NULL. */
int serve_ask(struct serve *serve, const char *what, json_t **ret, struct diag *diag);

/*
 * serve_removal.c: a case with that device begins, whose faults pull it out; or, with NULL, one
 * whose faults do not.
 */
int serve_removal_expect(struct serve *serve, const char *serial, struct diag *diag);
/* It is about to be armed: what the harness needs there must not be in memory only. */
int serve_removal_prepare(struct serve *serve, struct diag *diag);
/*
 * As struct run_device wants them, of a struct serve. Take what the other side said unasked, if it
 * said something, and pull the device out: 0, -errno. Is it out? Put it back: 1 it was out, 0 it
 * was not, -errno.
 */
int serve_removal_happened(void *arg, struct diag *diag);
bool serve_removal_is_out(void *arg);
int serve_removal_end(void *arg, struct diag *diag);

/* serve_power.c: was it said that the power is cut? True: @line says it, and it is noted. */
bool serve_power_take(struct serve *serve, const json_t *line);
/* As struct run_device wants it, of a struct serve. */
bool serve_power_is_cut(void *arg);
void serve_power_gone(json_t *state, void *arg);

/* serve_case.c: run one case; its answer. */
json_t *serve_case(struct serve *serve, json_t *asked);

#endif /* SERVE_H */
