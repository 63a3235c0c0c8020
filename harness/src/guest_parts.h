/* SPDX-License-Identifier: MIT */
/*
 * guest_parts.h - the programs of this build that go into a guest, whoever boots it.
 *
 * Threads: caller storage.
 */
#ifndef GUEST_PARTS_H
#define GUEST_PARTS_H

#include "guest.h"
#include "run_paths.h"

struct guest_parts {
	struct run_paths paths;
	char init[PATH_MAX], kernel_tool[PATH_MAX], self[PATH_MAX];
	struct guest_programs programs; /* points into the others */
};

/* 0; -errno with @diag naming what is missing. */
int guest_parts_find(struct guest_parts *parts, struct diag *diag);

#endif /* GUEST_PARTS_H */
