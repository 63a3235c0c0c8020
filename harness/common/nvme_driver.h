/* SPDX-License-Identifier: MIT */
/*
 * nvme_driver.h - what a guest's kernel tells its NVMe driver. Who boots guests says it on the
 * kernel's command line; who breaks their devices counts on it.
 */
#ifndef NVME_DRIVER_H
#define NVME_DRIVER_H

/* nvme_core.max_retries, 5 if nobody says so: with it a request that failed once would be repeated
 * within the driver, and the program would see nothing of the fault. */
#define NVME_DRIVER_RETRIES 0u
/* nvme_core.io_timeout, the kernel's own: a request that takes longer is aborted, and then the
 * controller is reset. */
#define NVME_DRIVER_IO_TIMEOUT_SECONDS 30u

#endif /* NVME_DRIVER_H */
