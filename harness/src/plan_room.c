/* SPDX-License-Identifier: MIT */
/*
 * plan_room.c - what a case takes: its tensors in memory, and once more as files, which are files
 * in memory in sim as long as they fit there.
 */
#include <stdio.h>

#include "machine.h"
#include "plan_room.h"

void plan_room_measure(struct plan_room *room, const char *disk)
{
	*room = (struct plan_room){disk, UINT64_MAX, 0, UINT64_MAX};
	machine_memory(&room->memory_bytes);
	machine_disk(MACHINE_MEMORY_DIRECTORY, &room->files_bytes);
	machine_disk(disk, &room->disk_bytes);
}

static unsigned long long mib(uint64_t bytes)
{
	return (unsigned long long)(bytes >> 20);
}

/* Rounded up, so that what is needed never looks like what there is. */
static unsigned long long mib_needed(uint64_t bytes)
{
	return mib(bytes > UINT64_MAX - 0xfffff ? bytes : bytes + 0xfffff);
}

void plan_room_check(const struct plan_room *room, const struct workload *workload,
		     enum target target, char *reason, size_t reason_bytes)
{
	uint64_t bytes = workload_bytes(workload), files = workload_file_bytes(workload);
	bool in_memory = target == TARGET_SIM && files <= room->files_bytes;
	uint64_t memory = bytes;

	if (in_memory && __builtin_add_overflow(bytes, files, &memory))
		memory = UINT64_MAX;
	reason[0] = '\0';
	if (memory > room->memory_bytes)
		snprintf(reason, reason_bytes, "memory: %llu MiB available, %llu MiB needed",
			 mib(room->memory_bytes), mib_needed(memory));
	else if (!in_memory && files > room->disk_bytes)
		snprintf(reason, reason_bytes,
			 "disk space in %.60s: %llu MiB free, %llu MiB needed", room->disk,
			 mib(room->disk_bytes), mib_needed(files));
}
