/* SPDX-License-Identifier: MIT */
/*
 * guest_plug.c - NVMe namespaces in and out of a running guest. Each has a controller of its own
 * on a root port of its own: QEMU plugs controllers while the guest runs, but no namespaces into
 * them (the bus between them is fixed), and one that is torn out takes no other along.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest_internal.h"

#define COMMAND_DEADLINE_MS 20000u
#define UNPLUG_DEADLINE_MS 30000u
#define UNPLUG_AGAIN_MS 6000u

static int execute(struct guest *guest, const char *name, json_t *arguments, int fd, json_t **ret,
		   struct diag *diag)
{
	if (!arguments)
		return -ENOMEM;
	return qmp_execute(&guest->qmp,
			   &(struct qmp_command){name, arguments, fd, COMMAND_DEADLINE_MS}, ret,
			   diag);
}

int guest_monitor(struct guest *guest, const char *command, json_t *arguments, json_t **ret,
		  struct diag *diag)
{
	return execute(guest, command, arguments ? arguments : json_object(), -1, ret, diag);
}

static struct guest_port *find_port(struct guest *guest, const char *id)
{
	for (unsigned i = 0; i < GUEST_NAMESPACES_MAX; i++)
		if (strcmp(guest->ports[i].id, id) == 0)
			return &guest->ports[i];
	return NULL;
}

static bool id_is_good(const char *id)
{
	size_t length = strnlen(id, GUEST_ID_BYTES);

	if (length == 0 || length > 20) /* of a serial number */
		return false;
	for (; *id; id++)
		if (!isalnum((unsigned char)*id) && *id != '-')
			return false;
	return true;
}

static int check(struct guest *guest, const struct guest_namespace *namespace, struct diag *diag)
{
	unsigned sector = namespace->sector_bytes;

	if (!id_is_good(namespace->id))
		return diag_set(diag, NULL, 0, 0,
				"name of a namespace: 1 to 20 letters, digits, hyphens");
	if (sector && sector != 512 && sector != 4096)
		return diag_set(diag, NULL, 0, 0, "sectors of %u bytes: must be 512 or 4096",
				sector);
	if (find_port(guest, namespace->id)) {
		diag_set(diag, NULL, 0, 0, "namespace %s is there already", namespace->id);
		return -EEXIST;
	}
	if (!find_port(guest, "")) {
		diag_set(diag, NULL, 0, 0, "a guest has room for %u namespaces",
			 GUEST_NAMESPACES_MAX);
		return -ENOSPC;
	}
	return 0;
}

/* The node's cache is off: what QEMU has said is written has left QEMU. */
static json_t *node_new(const struct guest_namespace *namespace, json_t *backend)
{
	json_t *node = json_pack("{s:o, s:b, s:{s:b, s:b}}", "node-name",
				 json_sprintf("node-%s", namespace->id), "read-only",
				 namespace->read_only, "cache", "direct", 0, "no-flush", 0);

	json_object_update(node, backend);
	json_decref(backend);
	return node;
}

static int add_controller(struct guest *guest, const struct guest_namespace *namespace,
			  const struct guest_port *port, struct diag *diag)
{
	unsigned sector = namespace->sector_bytes ? namespace->sector_bytes : 512;
	json_t *device =
		json_pack("{s:s, s:o, s:s, s:o, s:o, s:i, s:i, s:s}", "driver", "nvme", "id",
			  json_sprintf("ctrl-%s", namespace->id), "serial", namespace->id, "drive",
			  json_sprintf("node-%s", namespace->id), "bus",
			  json_sprintf("port%d", (int)(port - guest->ports)), "logical_block_size",
			  (int)sector, "physical_block_size", (int)sector, "write-cache",
			  namespace->write_cache ? "on" : "off");

	if (namespace->mdts)
		json_object_set_new(device, "mdts", json_integer(namespace->mdts));
	if (namespace->queues)
		json_object_set_new(device, "max_ioqpairs", json_integer(namespace->queues));
	return execute(guest, "device_add", device, -1, NULL, diag);
}

static void remove_node(struct guest *guest, const char *id)
{
	execute(guest, "blockdev-del", json_pack("{s:o}", "node-name", json_sprintf("node-%s", id)),
		-1, NULL, NULL);
}

static int plug_node(struct guest *guest, const struct guest_namespace *namespace, json_t *backend,
		     struct diag *diag)
{
	struct guest_port *port = find_port(guest, "");
	int error = execute(guest, "blockdev-add", node_new(namespace, backend), -1, NULL, diag);

	if (error < 0)
		return error;
	error = add_controller(guest, namespace, port, diag);
	if (error < 0) {
		remove_node(guest, namespace->id);
		return error;
	}
	snprintf(port->id, sizeof(port->id), "%s", namespace->id);
	port->set = -1;
	return 0;
}

int guest_plug(struct guest *guest, const struct guest_namespace *namespace, int nbd_socket,
	       struct diag *diag)
{
	int error = check(guest, namespace, diag);
	json_t *backend;

	if (error == 0)
		error = execute(guest, "getfd", json_pack("{s:s}", "fdname", namespace->id),
				nbd_socket, NULL, diag);
	if (error < 0)
		return error;
	backend = json_pack("{s:s, s:{s:s, s:s}}", "driver", "nbd", "server", "type", "fd", "str",
			    namespace->id);
	error = plug_node(guest, namespace, backend, diag);
	if (error < 0) /* unless blockdev-add has taken it */
		execute(guest, "closefd", json_pack("{s:s}", "fdname", namespace->id), -1, NULL,
			NULL);
	return error;
}

static void remove_set(struct guest *guest, int set)
{
	execute(guest, "remove-fd", json_pack("{s:i}", "fdset-id", set), -1, NULL, NULL);
}

/* A set lends a descriptor only for what it was opened for: a new one, from the name of ours. */
static int open_again(int fd, bool read_only)
{
	char name[32];
	int again;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	again = open(name, (read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC);
	return again < 0 ? -errno : again;
}

static int add_set(struct guest *guest, int fd, bool read_only, struct diag *diag)
{
	int again = open_again(fd, read_only), error, set;
	json_t *added = NULL;

	if (again < 0) {
		diag_set(diag, NULL, 0, 0, "file of a namespace: %s", strerror(-again));
		return again;
	}
	error = execute(guest, "add-fd", json_object(), again, &added, diag);
	close(again);
	set = (int)json_integer_value(json_object_get(added, "fdset-id"));
	json_decref(added);
	return error < 0 ? error : set;
}

/* QEMU takes a descriptor for a name if the name is that of a set it was given. */
int guest_plug_file(struct guest *guest, const struct guest_namespace *namespace, int fd,
		    struct diag *diag)
{
	json_t *backend;
	int error = check(guest, namespace, diag), set;

	if (error < 0)
		return error;
	set = add_set(guest, fd, namespace->read_only, diag);
	if (set < 0)
		return set;
	backend = json_pack("{s:s, s:o, s:s}", "driver", "file", "filename",
			    json_sprintf("/dev/fdset/%d", set), "locking", "off");
	error = plug_node(guest, namespace, backend, diag);
	if (error < 0)
		remove_set(guest, set);
	else
		find_port(guest, namespace->id)->set = set;
	return error;
}

static int ask_to_let_go(struct guest *guest, const char *device, struct diag *diag)
{
	return execute(guest, "device_del", json_pack("{s:s}", "id", device), -1, NULL, diag);
}

/* A guest that was just asked may not have listened yet: it is asked again. */
static int ask_until_gone(struct guest *guest, const char *device, struct diag *diag)
{
	int error = -ETIMEDOUT;

	for (unsigned waited = 0; error == -ETIMEDOUT && waited < UNPLUG_DEADLINE_MS;
	     waited += UNPLUG_AGAIN_MS) {
		error = ask_to_let_go(guest, device, diag);
		/* "already in the process of unplug", or gone in between */
		if (error == 0 || error == -EPROTO)
			error = qmp_await_event(&guest->qmp, "DEVICE_DELETED", "device", device,
						UNPLUG_AGAIN_MS);
		guest_console_read(&guest->console);
	}
	if (error == -ETIMEDOUT)
		diag_set(diag, NULL, 0, 0, "the guest does not let go of %s within %u s", device,
			 UNPLUG_DEADLINE_MS / 1000);
	else if (error == -EPIPE)
		diag_set(diag, NULL, 0, 0, "the guest died while it was to let go of %s", device);
	return error;
}

/* The port of that namespace, and the name of its controller; NULL with @diag. */
static struct guest_port *find_plugged(struct guest *guest, const char *id,
				       char device[GUEST_ID_BYTES + 8], struct diag *diag)
{
	struct guest_port *port = *id ? find_port(guest, id) : NULL;

	if (!port)
		diag_set(diag, NULL, 0, 0, "there is no namespace %s", id);
	snprintf(device, GUEST_ID_BYTES + 8, "ctrl-%s", id);
	return port;
}

int guest_pull(struct guest *guest, const char *id, struct diag *diag)
{
	char device[GUEST_ID_BYTES + 8];

	return find_plugged(guest, id, device, diag) ? ask_to_let_go(guest, device, diag) : -ENOENT;
}

int guest_put_back(struct guest *guest, const struct guest_namespace *namespace, struct diag *diag)
{
	char device[GUEST_ID_BYTES + 8];
	struct guest_port *port = find_plugged(guest, namespace->id, device, diag);
	int error = port ? ask_until_gone(guest, device, diag) : -ENOENT;

	return error < 0 ? error : add_controller(guest, namespace, port, diag);
}

int guest_unplug(struct guest *guest, const char *id, struct diag *diag)
{
	char device[GUEST_ID_BYTES + 8];
	struct guest_port *port = find_plugged(guest, id, device, diag);
	int error;

	if (!port)
		return -ENOENT;
	error = ask_until_gone(guest, device, diag);
	if (error < 0)
		return error;
	remove_node(guest, id);
	if (port->set >= 0)
		remove_set(guest, port->set);
	*port = (struct guest_port){.set = -1};
	return 0;
}
