/* SPDX-License-Identifier: MIT */
/*
 * run_guest_removal.c - a device that is pulled out of the guest while its case runs, and put back.
 * The device says when; in order, the guest's hot-plug is asked to let go of it; by surprise the
 * agent in the guest cuts it off, since QEMU takes nothing out that a guest does not hand over.
 */
#include <errno.h>
#include <string.h>

#include "run_guest_internal.h"

static int tell_guest(struct guest_lane *lane)
{
	json_t *line = json_pack("{s:{s:s, s:b}}", "removal", "serial", lane->disk.id, "surprise",
				 lane->disk.way == FAULT_REMOVAL_SURPRISE);
	int error = line ? guest_send(lane->guest, line) : -ENOMEM;

	json_decref(line);
	return error;
}

int guest_removal_begin(struct guest_lane *lane, const struct device_event *event,
			struct diag *diag)
{
	struct guest_disk *disk = &lane->disk;
	int error = 0;

	if (!disk->armed)
		return 0; /* what was disarmed since then stays */
	disk->way = (enum fault_removal)disk->schedule->faults[event->fault_index].value;
	disk->removal = GUEST_REMOVAL_BEGUN;
	if (disk->way == FAULT_REMOVAL_ORDERLY)
		error = guest_pull(lane->guest, disk->id, diag);
	return error < 0 ? error : tell_guest(lane);
}

int guest_removal_is_out(struct guest_lane *lane, struct diag *diag)
{
	struct guest_disk *disk = &lane->disk;
	int error = -EPROTO;

	if (disk->removal == GUEST_REMOVAL_BEGUN)
		error = device_pulled(disk->device);
	if (error == 0)
		disk->removal = GUEST_REMOVAL_OUT;
	else
		diag_set(diag, NULL, 0, 0, "the device is not to be pulled out");
	return error;
}

/* Its bytes are still QEMU's: in order what goes in is another controller, by surprise the guest
 * finds the same one anew. */
int guest_removal_end(struct guest_lane *lane, struct diag *diag)
{
	struct guest_disk *disk = &lane->disk;
	struct guest_namespace namespace = guest_disk_namespace(disk);
	int error = -EPROTO;

	if (disk->removal == GUEST_REMOVAL_OUT)
		error = device_put_back(disk->device);
	if (error == 0 && disk->way == FAULT_REMOVAL_ORDERLY)
		error = guest_put_back(lane->guest, &namespace, diag);
	if (error == 0)
		disk->removal = GUEST_REMOVAL_OVER;
	else if (!diag->text[0])
		diag_set(diag, NULL, 0, 0, "the device cannot be put back: %s", strerror(-error));
	return error;
}

/*
 * Before QEMU 8.2 (0d58c660689f "softmmu: Use async_run_on_cpu in tcg_commit") a processor that it
 * emulates may look for a device in the map of memory while another one takes it out of there, and
 * QEMU dies of that.
 */
void guest_removal_choose(struct guest_lane *lane, const struct test_case *test_case)
{
	const struct fault *removal = schedule_find_removal(&test_case->schedule);
	unsigned cpus = removal && removal->value == FAULT_REMOVAL_SURPRISE ? 1 : 0;

	if (lane->guest && lane->cpus != cpus)
		guest_lane_drop(lane);
	lane->cpus = cpus;
}

bool guest_removal_spoilt(const struct guest_lane *lane)
{
	const struct guest_disk *disk = &lane->disk;

	return disk->removal == GUEST_REMOVAL_BEGUN || disk->removal == GUEST_REMOVAL_OUT ||
	       (disk->removal == GUEST_REMOVAL_OVER && disk->way == FAULT_REMOVAL_SURPRISE);
}
