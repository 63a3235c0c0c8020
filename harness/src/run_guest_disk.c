/* SPDX-License-Identifier: MIT */
/*
 * run_guest_disk.c - the namespace that cases in the guest work on: a file in memory, formatted
 * here, a device process that serves it and owns its faults, a controller plugged into the guest,
 * mounted there. It stays for the next case that wants the same.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "run_guest_internal.h"
#include "spawn.h"

#define MOUNT_SECONDS 60
#define UNMOUNT_SECONDS 20
#define FORMAT_MS 60000

/*
 * Blocks of 4096 bytes, so that it does for either size of sector. ext4 writes its superblock
 * beside the journal, and checks its sum before the journal is replayed: where a power cut may tear
 * it into sectors of 512 bytes, there must be no sum.
 */
static int format(int image_fd, bool may_tear, struct diag *diag)
{
	char path[32];
	char *const argv[] = {(char[]){"mke2fs"},
			      (char[]){"-q"},
			      (char[]){"-F"},
			      (char[]){"-t"},
			      (char[]){"ext4"},
			      (char[]){"-b"},
			      (char[]){"4096"},
			      (char[]){"-m"},
			      (char[]){"0"},
			      (char[]){"-O"},
			      may_tear ? (char[]){"^metadata_csum,uninit_bg"}
				       : (char[]){"metadata_csum"},
			      (char[]){"-E"},
			      (char[]){"lazy_itable_init=1,lazy_journal_init=1"},
			      path,
			      NULL};
	const struct spawn_options options = {
		.argv = argv,
		/* Where it lies for those who are no administrators. */
		.environment = (const char *const[]){"PATH", "/usr/sbin:/sbin:/usr/bin:/bin", NULL},
		.deadline_ms = FORMAT_MS,
		.fd = image_fd,
	};
	struct spawn_result result;
	int error;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", image_fd);
	error = spawn_run(&options, &result);
	if (error == 0 && result.status != 0) {
		error = -EIO;
		diag_set(diag, NULL, 0, 0, "mke2fs: wait status %#x: %.300s",
			 (unsigned)result.status,
			 result.error[0] ? result.error : "nothing was said");
	} else if (error < 0) {
		diag_set(diag, NULL, 0, 0, "mke2fs: %s", strerror(-error));
	}
	spawn_fini(&result);
	return error;
}

static int make_image(struct guest_disk *disk, struct diag *diag)
{
	int error = 0;

	disk->image_fd = memfd_create("namespace", MFD_CLOEXEC);
	if (disk->image_fd < 0 || ftruncate(disk->image_fd, (off_t)disk->geometry.size_bytes) < 0)
		error = -errno;
	if (error < 0)
		diag_set(diag, NULL, 0, 0, "bytes of a namespace: %s", strerror(-error));
	else if (disk->geometry.file_system == FILE_SYSTEM_EXT4)
		error = format(disk->image_fd, schedule_cuts_power(disk->schedule), diag);
	return error;
}

static int start_device(struct guest_disk *disk, const struct schedule *schedule, int *ret_socket,
			struct diag *diag)
{
	const struct device_options options = {
		.size_bytes = disk->geometry.size_bytes,
		.sector_bytes = disk->geometry.sector_bytes,
		.read_only = disk->geometry.read_only,
		.write_cache = disk->geometry.write_cache,
		.image_fd = disk->image_fd,
		.schedule = schedule,
	};

	return device_start(&disk->device, &options, ret_socket, diag);
}

struct guest_namespace guest_disk_namespace(const struct guest_disk *disk)
{
	struct guest_namespace namespace = {
		.size_bytes = disk->geometry.size_bytes,
		.sector_bytes = disk->geometry.sector_bytes,
		.mdts = disk->geometry.mdts,
		.queues = disk->geometry.queues,
		.write_cache = disk->geometry.write_cache,
		.read_only = disk->geometry.read_only,
	};

	memcpy(namespace.id, disk->id, sizeof(namespace.id));
	return namespace;
}

static int mount_it(struct guest_lane *lane, struct diag *diag)
{
	struct guest_disk *disk = &lane->disk;
	json_t *done = NULL, *line;
	const char *node = "", *directory = "";
	int error;

	line = json_pack("{s:{s:s, s:s, s:i}}", "mount", "serial", disk->id, "file_system",
			 file_system_name(disk->geometry.file_system), "seconds", MOUNT_SECONDS);
	error = guest_lane_ask(lane, line, 2 * MOUNT_SECONDS, &done, diag);
	if (error == 0 &&
	    json_unpack(done, "{s:s, s:s}", "device", &node, "directory", &directory) < 0)
		error = -EPROTO;
	if (error == 0) {
		snprintf(disk->node, sizeof(disk->node), "%s", node);
		snprintf(disk->directory, sizeof(disk->directory), "%s", directory);
	}
	disk->mounted = error == 0;
	json_decref(done);
	return error;
}

static int attach(struct guest_lane *lane, const struct schedule *schedule, struct diag *diag)
{
	int socket = -1, error = start_device(&lane->disk, schedule, &socket, diag);

	if (error == 0) {
		struct guest_namespace namespace = guest_disk_namespace(&lane->disk);

		error = guest_plug(lane->guest, &namespace, socket, diag);
	}
	if (socket >= 0)
		close(socket);
	lane->disk.plugged = error == 0;
	return error < 0 ? error : mount_it(lane, diag);
}

static int make_disk(struct guest_lane *lane, const struct test_case *test_case, struct diag *diag)
{
	struct guest_disk *disk = &lane->disk;
	int error;

	*disk = (struct guest_disk){.geometry = test_case->device, .image_fd = -1};
	snprintf(disk->id, sizeof(disk->id), "namespace-%u", ++lane->disks_made);
	disk->schedule = &test_case->schedule;
	disk->faulty = schedule_find_device(disk->schedule);
	error = make_image(disk, diag);
	return error < 0 ? error : attach(lane, disk->schedule, diag);
}

/* It keeps its name, and is mounted where it was. */
int guest_disk_again(struct guest_lane *lane, struct diag *diag)
{
	struct guest_disk *disk = &lane->disk;

	disk->told = guest_lane_outcome(disk);
	device_stop(disk->device);
	disk->device = NULL;
	disk->is_cut = disk->plugged = disk->mounted = false;
	return attach(lane, NULL, diag);
}

/* A device has the faults of one case only, and what a fault did to its bytes stays. */
static bool fits(const struct guest_disk *disk, const struct test_case *test_case)
{
	const struct scenario_device *have = &disk->geometry, *want = &test_case->device;

	return disk->plugged && !disk->faulty && !schedule_find_device(&test_case->schedule) &&
	       have->size_bytes == want->size_bytes && have->sector_bytes == want->sector_bytes &&
	       have->mdts == want->mdts && have->queues == want->queues &&
	       have->write_cache == want->write_cache && have->read_only == want->read_only &&
	       have->file_system == want->file_system;
}

int guest_disk_provide(struct guest_lane *lane, const struct test_case *test_case,
		       struct diag *diag)
{
	int error;

	if (fits(&lane->disk, test_case))
		return 0;
	error = guest_disk_remove(lane, diag);
	if (error == 0)
		error = make_disk(lane, test_case, diag);
	return error;
}

int guest_disk_remove(struct guest_lane *lane, struct diag *diag)
{
	struct guest_disk *disk = &lane->disk;
	int error = 0;

	if (disk->mounted)
		error = guest_lane_ask(lane,
				       json_pack("{s:{s:s, s:i}}", "unmount", "serial", disk->id,
						 "seconds", UNMOUNT_SECONDS),
				       3 * UNMOUNT_SECONDS, NULL, diag);
	if (error == 0 && disk->plugged)
		error = guest_unplug(lane->guest, disk->id, diag);
	if (error == 0)
		guest_disk_forget(disk);
	return error;
}

void guest_disk_forget(struct guest_disk *disk)
{
	if (disk->device)
		device_stop(disk->device);
	if (disk->image_fd >= 0)
		close(disk->image_fd);
	json_decref(disk->told);
	*disk = (struct guest_disk){.image_fd = -1};
}
