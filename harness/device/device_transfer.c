/* SPDX-License-Identifier: MIT */
/*
 * device_transfer.c - which bytes move between a request and the medium, with and without a fault.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device_internal.h"
#include "nvme_driver.h"

/* So that an error of the device is one that the program sees, as fault_effect() says. */
_Static_assert(NVME_DRIVER_RETRIES == 0, "the guest's kernel would try again what failed once");

/* The bit that is flipped, in the byte that the fault names. */
#define FLIPPED_BIT 0x01

static bool is_kind(const struct fault *fault, enum kind_id read, enum kind_id write)
{
	return fault && (fault->kind == read || fault->kind == write);
}

/* Where the bytes are instead; -1: past an end of the device, or not a whole sector away. */
static int64_t misdirected(const struct server *server, const struct nbd_request *request,
			   int64_t by)
{
	uint64_t place;

	if (by % (int64_t)server->options.sector_bytes)
		return -1;
	if (by < 0 && request->offset < 0 - (uint64_t)by)
		return -1;
	place = request->offset + (uint64_t)by;
	if (place > server->options.size_bytes ||
	    request->length > server->options.size_bytes - place)
		return -1;
	return (int64_t)place;
}

/* The place of the transfer: the request's, or another one. */
static uint64_t place_of(struct server *server, const struct nbd_request *request,
			 const struct fault *fault)
{
	int64_t place;

	if (!is_kind(fault, KIND_nvme_read_misdirect, KIND_nvme_write_misdirect))
		return request->offset;
	place = misdirected(server, request, fault->value);
	if (place < 0) {
		device_missed(server, fault, "outside of the device, or no whole sector away");
		return request->offset;
	}
	device_injected(server, fault);
	return (uint64_t)place;
}

static void flip(struct server *server, const struct nbd_request *request,
		 const struct fault *fault, uint8_t *data)
{
	if (!is_kind(fault, KIND_nvme_read_flip, KIND_nvme_write_flip))
		return;
	if ((uint64_t)fault->value >= request->length) {
		device_missed(server, fault, "the request has no such byte");
		return;
	}
	data[fault->value] ^= FLIPPED_BIT;
	device_injected(server, fault);
}

static int read_stale(struct server *server, const struct nbd_request *request,
		      const struct fault *fault, uint8_t *data)
{
	int result = medium_read_previous(server->medium, request->offset, data, request->length);

	if (result == 0)
		device_injected(server, fault);
	if (result != -ENODATA)
		return result;
	device_missed(server, fault, "nothing was written there");
	return 0;
}

static void carry_out_read(struct server *server, struct pending *pending,
			   const struct fault *fault)
{
	const struct nbd_request *request = &pending->request;
	uint64_t place = place_of(server, request, fault);
	int result;

	pending->answer = malloc(request->length);
	if (!pending->answer) {
		pending->error = ENOMEM;
		return;
	}
	if (fault && fault->kind == KIND_nvme_read_stale)
		result = read_stale(server, request, fault, pending->answer);
	else
		result = medium_read(server->medium, place, pending->answer, request->length);
	pending->error = -result;
	if (result == 0)
		flip(server, request, fault, pending->answer);
}

/* How much of a write reaches the medium. */
static size_t bytes_written(struct server *server, const struct nbd_request *request,
			    const struct fault *fault)
{
	if (fault && fault->kind == KIND_nvme_write_lost) {
		device_injected(server, fault);
		return 0;
	}
	if (!fault || fault->kind != KIND_nvme_write_torn)
		return request->length;
	if ((uint64_t)fault->value >= request->length) {
		device_missed(server, fault, "the request is no longer than that");
		return request->length;
	}
	device_injected(server, fault);
	return (size_t)fault->value;
}

static void carry_out_write(struct server *server, struct pending *pending,
			    const struct fault *fault)
{
	struct nbd_request *request = &pending->request;
	uint64_t place = place_of(server, request, fault);

	flip(server, request, fault, request->data);
	pending->error = -medium_write(server->medium, place, request->data,
				       bytes_written(server, request, fault), &pending->write);
	free(request->data);
	request->data = NULL;
}

static void carry_out_flush(struct server *server, struct pending *pending,
			    const struct fault *fault)
{
	pending->is_lost = fault && fault->kind == KIND_nvme_flush_lost;
	if (pending->is_lost)
		device_injected(server, fault);
	pending->flush_begun = medium_flush_begin(server->medium);
}

static bool is_error(const struct fault *fault)
{
	return fault &&
	       (fault->kind == KIND_nvme_read_error || fault->kind == KIND_nvme_write_error ||
		fault->kind == KIND_nvme_flush_error);
}

bool device_transfer(struct server *server, struct pending *pending, const struct fault *fault)
{
	if (is_error(fault)) {
		pending->error = (int)fault->value;
		device_injected(server, fault);
		return true;
	}
	switch (pending->request.command) {
	case NBD_READ:
		carry_out_read(server, pending, fault);
		break;
	case NBD_WRITE:
		carry_out_write(server, pending, fault);
		break;
	case NBD_FLUSH:
		carry_out_flush(server, pending, fault);
		break;
	}
	return pending->error == 0;
}
