/* SPDX-License-Identifier: MIT */
/*
 * serve_pci.h - tears a block device's PCI function out of this guest's bus, and lets the kernel
 * find it again.
 *
 * Threads: one thread.
 */
#ifndef SERVE_PCI_H
#define SERVE_PCI_H

#include <limits.h>
#include <stdint.h>

#include "diag.h"

struct serve_pci {
	char device[PATH_MAX]; /* its directory below /sys, "": not known */
	char port[PATH_MAX];   /* that of the port it is plugged into */
	char block[PATH_MAX];
	uint8_t buses[2]; /* that the port leads to, while it leads nowhere */
};

/* Where the block device "/dev/nvme0n1" is plugged in. 0, -errno with @diag. */
int serve_pci_find(const char *device, struct serve_pci *ret_pci, struct diag *diag);

/*
 * As if somebody had torn it out: the function answers no more, neither to its registers nor to
 * configuration, and can reach no memory; then the kernel is told that it is gone. It ends what is
 * in flight with errors. 0, -errno with @diag.
 */
int serve_pci_tear_out(struct serve_pci *pci, struct diag *diag);
/* Its port leads to it again, and the kernel looks what there is. 0, -errno with @diag. */
int serve_pci_open_port(const struct serve_pci *pci, struct diag *diag);
int serve_pci_rescan(struct diag *diag);

/* Wait until the kernel gives the device no more requests, because it is being taken out in order.
 * 0; -ETIMEDOUT. */
int serve_pci_await_end(const struct serve_pci *pci, unsigned seconds, struct diag *diag);

#endif /* SERVE_PCI_H */
