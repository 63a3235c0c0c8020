/* SPDX-License-Identifier: MIT */
/*
 * serve_disk.c - block devices by their serial number, as the kernel shows them below /sys/block.
 * A controller that was plugged shows up when the kernel is ready with it, and nobody tells when:
 * it is looked for again and again.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "serve_disk.h"

#define LOOK_AGAIN_MS 5

/* Of ext4's own header, which programs are not given. */
#ifndef EXT4_IOC_SHUTDOWN
#define EXT4_IOC_SHUTDOWN _IOR('X', 125, uint32_t)
#endif
#ifndef EXT4_GOING_FLAGS_NOLOGFLUSH
#define EXT4_GOING_FLAGS_NOLOGFLUSH 0x2
#endif

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void wait_a_moment(void)
{
	poll(NULL, 0, LOOK_AGAIN_MS);
}

/* Of a block device; "" if it has none. The kernel pads serial numbers with blanks. */
static void read_attribute(const char *name, const char *attribute, char text[SERVE_DISK_BYTES])
{
	char path[300];
	ssize_t got = -1;
	int fd;

	snprintf(path, sizeof(path), "/sys/block/%s/%s", name, attribute);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		got = read(fd, text, SERVE_DISK_BYTES - 1);
		close(fd);
	}
	text[got < 0 ? 0 : got] = '\0';
	text[strcspn(text, " \n")] = '\0';
}

static bool has_serial(const char *name, const char *serial)
{
	char text[SERVE_DISK_BYTES];

	read_attribute(name, "device/serial", text);
	return strcmp(text, serial) == 0;
}

/* One whose size is not known yet is not ready yet, neither is one without its node. */
static bool is_ready(const char *name, char device[SERVE_DISK_BYTES])
{
	char text[SERVE_DISK_BYTES];

	read_attribute(name, "size", text);
	snprintf(device, SERVE_DISK_BYTES, "/dev/%.48s", name);
	return text[0] && text[0] != '0' && access(device, F_OK) == 0;
}

static bool find(const char *serial, char device[SERVE_DISK_BYTES])
{
	DIR *directory = opendir("/sys/block");
	const struct dirent *entry;
	bool found = false;

	while (directory && !found && (entry = readdir(directory)))
		found = strncmp(entry->d_name, "nvme", 4) == 0 &&
			has_serial(entry->d_name, serial) && is_ready(entry->d_name, device);
	if (directory)
		closedir(directory);
	return found;
}

/* The node may be there before the kernel lets anybody open it. */
static int try_to_mount(const struct serve_disk *disk, const char *file_system, long long due)
{
	while (mount(disk->device, disk->directory, file_system, MS_NOATIME, NULL) < 0) {
		if (errno != ENXIO || now_ms() > due)
			return -errno;
		wait_a_moment();
	}
	return 0;
}

static int mount_it(struct serve_disk *disk, const char *serial, const char *file_system,
		    long long due, struct diag *diag)
{
	int error = 0;

	snprintf(disk->directory, sizeof(disk->directory), "/mnt/%.50s", serial);
	mkdir("/mnt", 0755);
	if (mkdir(disk->directory, 0755) < 0 && errno != EEXIST)
		error = -errno;
	if (error == 0)
		error = try_to_mount(disk, file_system, due);
	if (error == 0)
		return 0;
	diag_set(diag, NULL, 0, 0, "mounting %s as %s: %s", disk->device, file_system,
		 strerror(-error));
	disk->directory[0] = '\0';
	return error;
}

int serve_disk_mount(const char *serial, const char *file_system, unsigned seconds,
		     struct serve_disk *ret_disk, struct diag *diag)
{
	long long due = now_ms() + 1000LL * seconds;
	struct serve_disk disk = {.directory = ""};

	snprintf(disk.file_system, sizeof(disk.file_system), "%s", file_system);
	*ret_disk = disk; /* @file_system may have been its own */
	while (!find(serial, ret_disk->device)) {
		if (now_ms() > due) {
			diag_set(diag, NULL, 0, 0, "the namespace %s did not show up within %u s",
				 serial, seconds);
			return -ETIMEDOUT;
		}
		wait_a_moment();
	}
	if (strcmp(ret_disk->file_system, "none") == 0)
		return 0;
	return mount_it(ret_disk, serial, ret_disk->file_system, due, diag);
}

/* Told that it is dead, it has nothing to say any more that would be taken for what the next one
 * says. */
static void shut_down(const char *directory)
{
	uint32_t without_a_flush = EXT4_GOING_FLAGS_NOLOGFLUSH;
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	ioctl(fd, EXT4_IOC_SHUTDOWN, &without_a_flush);
	close(fd);
}

int serve_disk_abandon(const struct serve_disk *disk, struct diag *diag)
{
	int error = 0;

	if (!disk->directory[0])
		return 0;
	shut_down(disk->directory);
	if (umount2(disk->directory, MNT_DETACH) < 0)
		error = -errno;
	if (error < 0)
		diag_set(diag, NULL, 0, 0, "detaching %s: %s", disk->directory, strerror(-error));
	return error;
}

/* A process that was killed closes its files when it gets to run, which takes its time. */
int serve_disk_unmount(const struct serve_disk *disk, unsigned seconds, struct diag *diag)
{
	long long due = now_ms() + 1000LL * seconds;
	int error = 0;

	if (!disk->directory[0])
		return 0;
	while (umount2(disk->directory, 0) < 0) {
		error = -errno;
		if (error != -EBUSY || now_ms() > due)
			break;
		wait_a_moment();
		error = 0;
	}
	if (error == 0)
		rmdir(disk->directory);
	else
		diag_set(diag, NULL, 0, 0, "unmounting %s: %s", disk->directory, strerror(-error));
	return error;
}
