/* SPDX-License-Identifier: MIT */
/*
 * serve_pci.c - a PCI function that is torn out, through the configuration space of it and of its
 * port. QEMU has no way to tear a device out that the guest did not give up. What a driver sees of
 * one that is gone is that reads give ones, that writes go nowhere, and that nothing comes from it;
 * and all of that can be had: a function whose command register is 0 neither listens nor speaks,
 * and behind a port that leads to no bus there is no configuration space. (A driver that resets a
 * device which merely does not answer would have it back.)
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "guest_wait.h"
#include "serve_pci.h"

#define PCI_COMMAND 0x04       /* two bytes */
#define PCI_SECONDARY_BUS 0x19 /* of a bridge; behind it the subordinate one */
#define LOOK_AGAIN_MS 2

static int fail(struct diag *diag, const char *path, int error)
{
	diag_set(diag, NULL, 0, 0, "%s: %s", path, strerror(-error));
	return error;
}

/* @bytes of the file, there and back. */
static int move(const char *directory, const char *name, bool write, void *data, size_t bytes,
		off_t offset, struct diag *diag)
{
	char path[PATH_MAX + 16];
	ssize_t moved = -1;
	int fd, error = 0;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, (write ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
	if (fd >= 0)
		moved = write ? pwrite(fd, data, bytes, offset) : pread(fd, data, bytes, offset);
	if (moved != (ssize_t)bytes)
		error = fail(diag, path, moved < 0 ? -errno : -EIO);
	if (fd >= 0)
		close(fd);
	return error;
}

/* "1" into a file below /sys that acts on it. */
static int act(const char *directory, const char *name, struct diag *diag)
{
	return move(directory, name, true, (char[]){"1"}, 1, 0, diag);
}

int serve_pci_find(const char *device, struct serve_pci *ret_pci, struct diag *diag)
{
	char link[PATH_MAX];
	const char *name = strrchr(device, '/');

	*ret_pci = (struct serve_pci){.device = ""};
	snprintf(ret_pci->block, sizeof(ret_pci->block), "/sys/block/%s", name ? name + 1 : device);
	snprintf(link, sizeof(link), "%.*s/device/device", PATH_MAX - 32, ret_pci->block);
	if (!realpath(link, ret_pci->device))
		return fail(diag, link, -errno);
	snprintf(link, sizeof(link), "%.*s/..", PATH_MAX - 32, ret_pci->device);
	return realpath(link, ret_pci->port) ? 0 : fail(diag, link, -errno);
}

int serve_pci_tear_out(struct serve_pci *pci, struct diag *diag)
{
	uint8_t nothing[2] = {0, 0};
	int error = move(pci->port, "config", false, pci->buses, 2, PCI_SECONDARY_BUS, diag);

	if (error == 0)
		error = move(pci->device, "config", true, nothing, 2, PCI_COMMAND, diag);
	if (error == 0)
		error = move(pci->port, "config", true, nothing, 2, PCI_SECONDARY_BUS, diag);
	return error < 0 ? error : act(pci->device, "remove", diag);
}

int serve_pci_open_port(const struct serve_pci *pci, struct diag *diag)
{
	uint8_t buses[2] = {pci->buses[0], pci->buses[1]};

	return move(pci->port, "config", true, buses, 2, PCI_SECONDARY_BUS, diag);
}

int serve_pci_rescan(struct diag *diag)
{
	return act("/sys/bus/pci", "rescan", diag);
}

/* One that is to go has no sectors any more; soon it has no directory. */
static bool has_ended(const struct serve_pci *pci)
{
	char path[PATH_MAX + 16], text[2] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/size", pci->block);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	if (pread(fd, text, 1, 0) < 1)
		text[0] = '0';
	close(fd);
	return text[0] == '0';
}

int serve_pci_await_end(const struct serve_pci *pci, unsigned seconds, struct diag *diag)
{
	uint64_t deadline = guest_deadline(1000 * seconds);

	while (!has_ended(pci)) {
		if (guest_deadline(0) > deadline) {
			diag_set(diag, NULL, 0, 0, "%s is still there after %u s", pci->block,
				 seconds);
			return -ETIMEDOUT;
		}
		poll(NULL, 0, LOOK_AGAIN_MS);
	}
	return 0;
}
