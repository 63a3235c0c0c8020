/* SPDX-License-Identifier: MIT */
/*
 * machine.h - how much memory and disk space can be had here and now, and what the disk asks for.
 *
 * Threads: any.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdint.h>

#define MACHINE_MEMORY_DIRECTORY "/dev/shm" /* files in memory */

/* Memory that is available without swapping, as far as our control group lets us. 0, -errno. */
int machine_memory(uint64_t *ret_bytes);
/* What we may still write to the file system of @directory. 0, -errno. */
int machine_disk(const char *directory, uint64_t *ret_bytes);
/* Alignment that direct I/O demands of offsets in files of @directory; 0 bytes: the kernel does not
 * tell. 0, -errno. */
int machine_offset_alignment(const char *directory, uint32_t *ret_bytes);

#endif /* MACHINE_H */
