/* SPDX-License-Identifier: MIT */
/*
 * wire.c - messages with descriptors over a SEQPACKET socket.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "wire.h"

union control {
	char bytes[CMSG_SPACE(sizeof(int) * WIRE_FD_COUNT)];
	struct cmsghdr header;
};

int wire_send(int socket, const void *message, size_t bytes, const int *fds, unsigned count)
{
	struct iovec part = {(void *)(uintptr_t)message, bytes};
	struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
	union control control = {.bytes = {0}};
	struct cmsghdr *rights;
	ssize_t sent;

	assert(count <= WIRE_FD_COUNT);
	if (count) {
		header.msg_control = control.bytes;
		header.msg_controllen = CMSG_SPACE(sizeof(int) * count);
		rights = CMSG_FIRSTHDR(&header);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(sizeof(int) * count);
		memcpy(CMSG_DATA(rights), fds, sizeof(int) * count);
	}
	do
		sent = sendmsg(socket, &header, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

long wire_receive(int socket, void *message, size_t bytes, int *ret_fds, unsigned count)
{
	struct iovec part = {message, bytes};
	union control control;
	struct msghdr header = {.msg_iov = &part,
				.msg_iovlen = 1,
				.msg_control = control.bytes,
				.msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *rights;
	ssize_t got;

	assert(count <= WIRE_FD_COUNT);
	do
		got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	for (unsigned i = 0; i < count; i++)
		ret_fds[i] = -1;
	rights = CMSG_FIRSTHDR(&header);
	if (rights && rights->cmsg_type == SCM_RIGHTS &&
	    rights->cmsg_len <= CMSG_LEN(sizeof(int) * count))
		memcpy(ret_fds, CMSG_DATA(rights), rights->cmsg_len - CMSG_LEN(0));
	return header.msg_flags & MSG_TRUNC ? -EMSGSIZE : got;
}

bool wire_case_is_whole(const void *message, size_t bytes)
{
	const struct wire_case *wire = message;

	if (bytes < sizeof(*wire) || wire->magic != WIRE_MAGIC || wire->version != WIRE_VERSION)
		return false;
	return bytes - sizeof(*wire) ==
	       (size_t)wire->work_dir_bytes + wire->schedule_bytes + wire->workload_bytes;
}
