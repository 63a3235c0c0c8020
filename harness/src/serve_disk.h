/* SPDX-License-Identifier: MIT */
/*
 * serve_disk.h - finds the namespaces that were plugged into this guest, and mounts them.
 *
 * Threads: one thread.
 */
#ifndef SERVE_DISK_H
#define SERVE_DISK_H

#include "diag.h"

#define SERVE_DISK_BYTES 64

struct serve_disk {
	char device[SERVE_DISK_BYTES];	  /* "/dev/nvme0n1" */
	char directory[SERVE_DISK_BYTES]; /* where it is mounted; "" it is not */
	char file_system[SERVE_DISK_BYTES];
};

/*
 * Wait until the namespace with that serial number is there, and mount it if @file_system is not
 * "none". 0; -ETIMEDOUT: it did not come within @seconds; -errno, with @diag.
 */
int serve_disk_mount(const char *serial, const char *file_system, unsigned seconds,
		     struct serve_disk *ret_disk, struct diag *diag);
/* Its device is gone: what is open there stays with a dead file system, the place is free. */
int serve_disk_abandon(const struct serve_disk *disk, struct diag *diag);
/* 0; -EBUSY: something of it is still open after @seconds; -errno, with @diag. */
int serve_disk_unmount(const struct serve_disk *disk, unsigned seconds, struct diag *diag);

#endif /* SERVE_DISK_H */
