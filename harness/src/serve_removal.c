/* SPDX-License-Identifier: MIT */
/*
 * serve_removal.c - the device of the case that runs here is pulled out while it runs, and put back
 * when its workload asks for that. What lay on it is mounted anew: whoever had something open there
 * has it on a file system that is dead.
 */
#include <errno.h>
#include <string.h>

#include "serve.h"
#include "work_dir.h"

#define LETTING_GO_SECONDS 20u
#define RETURN_SECONDS 60u

/* The frame of the case, its directories, is not what is tested: it must outlive a removal. */
static int make_durable(const struct serve_disk *disk, struct diag *diag)
{
	int error = work_dir_sync(disk->directory);

	if (error < 0)
		diag_set(diag, NULL, 0, 0, "sync of %s: %s", disk->directory, strerror(-error));
	return error;
}

int serve_removal_expect(struct serve *serve, const char *serial, struct diag *diag)
{
	struct serve_disk *disk = serial ? serve_find_disk(serve, serial) : NULL;
	int error;

	serve->removal.serial = NULL;
	serve->removal.is_out = false;
	if (!serial)
		return 0;
	if (!disk)
		return diag_set(diag, NULL, 0, 0, "there is no namespace %s", serial);
	error = serve_pci_find(disk->device, &serve->removal.pci, diag);
	if (error == 0)
		serve->removal.serial = serial;
	return error;
}

int serve_removal_prepare(struct serve *serve, struct diag *diag)
{
	const struct serve_disk *disk;

	if (!serve->removal.serial)
		return 0;
	disk = serve_find_disk(serve, serve->removal.serial);
	return disk->directory[0] ? make_durable(disk, diag) : 0;
}

static int pull_out(struct serve *serve, bool surprise, struct diag *diag)
{
	struct serve_pci *pci = &serve->removal.pci;
	int error = surprise ? serve_pci_tear_out(pci, diag)
			     : serve_pci_await_end(pci, LETTING_GO_SECONDS, diag);

	if (error == 0)
		error = serve_ask(serve, "out", NULL, diag);
	serve->removal.surprise = surprise;
	serve->removal.is_out = error == 0;
	return error;
}

static int take_line(struct serve *serve, json_t *line, struct diag *diag)
{
	const char *serial = "";
	int surprise = 0;

	if (serve->removal.is_out ||
	    json_unpack(line, "{s:{s:s, s:b}}", "removal", "serial", &serial, "surprise",
			&surprise) < 0 ||
	    strcmp(serial, serve->removal.serial) != 0) {
		diag_set(diag, NULL, 0, 0,
			 "what is said while a case runs is no removal of its "
			 "device");
		return -EPROTO;
	}
	return pull_out(serve, surprise, diag);
}

int serve_removal_happened(void *arg, struct diag *diag)
{
	struct serve *serve = arg;
	json_t *line = NULL;
	int result;

	if (!serve->removal.serial || !serve_channel_is_readable(&serve->channel))
		return 0;
	result = serve_channel_receive(&serve->channel, &line);
	if (result <= 0)
		return result < 0 ? result : -EPIPE;
	result = take_line(serve, line, diag);
	json_decref(line);
	return result;
}

bool serve_removal_is_out(void *arg)
{
	const struct serve *serve = arg;

	return serve->removal.is_out;
}

int serve_removal_end(void *arg, struct diag *diag)
{
	struct serve *serve = arg;
	struct serve_disk *disk;
	int error = serve_removal_happened(serve, diag);

	if (error < 0 || !serve->removal.is_out)
		return error;
	disk = serve_find_disk(serve, serve->removal.serial);
	error = serve_disk_abandon(disk, diag);
	if (error == 0)
		error = serve_ask(serve, "back", NULL, diag);
	if (error == 0 && serve->removal.surprise)
		error = serve_pci_open_port(&serve->removal.pci, diag);
	if (error == 0 && serve->removal.surprise)
		error = serve_pci_rescan(diag);
	kernel_log_mark(KERNEL_LOG_RETURN);
	if (error == 0)
		error = serve_disk_mount(serve->removal.serial, disk->file_system, RETURN_SECONDS,
					 disk, diag);
	if (error < 0)
		return error;
	serve->removal.is_out = false;
	return 1;
}
