/* SPDX-License-Identifier: MIT */
/*
 * device.h - the block device behind one namespace of a guest: an NBD server in a process of its
 * own that owns the faults at nvme.read, nvme.write and nvme.flush, a write cache that a power cut
 * loses, and certain knowledge of which request ran into which fault.
 *
 * Threads: one thread, which must outlive the device: the device dies with the thread that started
 * it. device_outcome() and the log may be read at any time.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "diag.h"
#include "schedule.h"

#define DEVICE_SIZE_MAX (1ull << 62)

struct device_options {
	uint64_t size_bytes;   /* a multiple of the sector, at most DEVICE_SIZE_MAX */
	unsigned sector_bytes; /* 512 or 4096 */
	bool read_only;
	/* What is answered may be lost in a power cut until it was flushed, or written with FUA. */
	bool write_cache;
	/* Holds the bytes, memfd or file; it is grown to the size. The caller's, and fit for a
	 * later device: after a power cut it holds what survived. */
	int image_fd;
	const struct schedule *schedule; /* its faults at other points are ignored; NULL: none */
	/* A process that takes longer for an answer is taken for dead, and killed. 0: 10 s. It has
	 * at least that long to start. */
	unsigned answer_ms;
};

struct device;

/*
 * Start the process. *ret_socket is the client's end (for QEMU), the caller's to close.
 * 0; -EINVAL, -errno with @diag.
 */
int device_start(struct device **ret_device, const struct device_options *options, int *ret_socket,
		 struct diag *diag);

/* Faults that were there are over, as by device_disarm(); counting begins anew, and faults fire
 * from now on. 0; -EPIPE: the process is gone. */
int device_arm(struct device *device);
/* All faults are over: what is held is answered, limits end, nothing fires. A device without power
 * stays so, and one that was to be pulled out and is not yet is missed. 0; -EPIPE. */
int device_disarm(struct device *device);
/*
 * After DEVICE_REMOVAL: it is out, the guest hears nothing of it any more. What was in flight is
 * answered, be it to nobody, so that its client can let go; after a surprise what comes then is
 * answered with EIO, and nothing of it is carried out. 0; -EPIPE.
 */
int device_pulled(struct device *device);
/* It is to be put back: requests are carried out again. Counting goes on. 0; -EPIPE. */
int device_put_back(struct device *device);

/* What became of a fault since the device started. Each request at which its turn came counts as
 * injected or as missed. */

struct device_fault_outcome {
	uint64_t fired;	   /* its turn came */
	uint64_t injected; /* it took effect */
	uint64_t missed;   /* it could not, and why the last time */
	char why_missed[64];
};

/* @fault_index: in the schedule. */
void device_outcome(const struct device *device, unsigned fault_index,
		    struct device_fault_outcome *ret_outcome);

/* 0, or the errno that its own medium or memory failed with, which nobody injected, and the text of
 * the first request that met it. */
int device_failure(const struct device *device, char *text, size_t text_bytes);

/* What the lane has to act on. */
enum device_event_kind {
	DEVICE_POWER_CUT, /* the guest has to die: nothing is answered any more */
	/* The device has to be pulled out. By surprise: it does nothing until it is; in order: the
	 * request is not answered until the guest no longer gives it new ones. */
	DEVICE_REMOVAL,
};

struct device_event {
	enum device_event_kind kind;
	unsigned fault_index;
	enum point_id point; /* of the request it happened at, and its number there */
	uint64_t number;
};

/* Readable: device_event() has one, or the process is gone. */
int device_event_fd(const struct device *device);
/* 1 and an event; 0: none yet; -EPIPE: the process is gone. */
int device_event(struct device *device, struct device_event *ret_event);

/* One request, as it is told in reports. */
struct device_request {
	uint64_t number; /* at its point since the device was armed; 0: before */
	uint64_t offset;
	uint32_t length;
	uint8_t point; /* enum point_id */
	bool fua;
	bool answered;
	int16_t fault; /* index of the fault that decided what happened; -1: none */
	int32_t error; /* errno that it was answered with; 0: success */
};

#define DEVICE_LOG_MAX 4095 /* the youngest are kept */

/* Requests so far, and the one at @index of them. False: too old, or not there yet. */
uint64_t device_requests(const struct device *device);
bool device_request(const struct device *device, uint64_t index,
		    struct device_request *ret_request);
/* "nvme.write#7 1048576+4096 fua: EIO (fault 2)"; what snprintf returns. */
int device_request_print(const struct device_request *request, char *text, size_t text_bytes);

/* End the process and wait for that. 0; -ECHILD: it had ended by itself, or had to be killed. NULL
 * is nothing. */
int device_stop(struct device *device);

#endif /* DEVICE_H */
