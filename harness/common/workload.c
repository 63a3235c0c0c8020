/* SPDX-License-Identifier: MIT */
/*
 * workload.c - names and defaults of what a worker does.
 */
#include <errno.h>
#include <string.h>

#include "workload.h"

static const struct dtype_info {
	const char *name;
	size_t bytes;
} dtypes[DTYPE_COUNT] = {
	[DTYPE_U8] = {"u8", 1},
	[DTYPE_FP16] = {"fp16", 2},
	[DTYPE_BF16] = {"bf16", 2},
	[DTYPE_FP32] = {"fp32", 4},
	[DTYPE_FP64] = {"fp64", 8},
	[DTYPE_I32] = {"i32", 4},
	[DTYPE_I64] = {"i64", 8},
	[DTYPE_I8] = {"i8", 1},
	[DTYPE_I16] = {"i16", 2},
	[DTYPE_U16] = {"u16", 2},
	[DTYPE_U32] = {"u32", 4},
	[DTYPE_U64] = {"u64", 8},
	[DTYPE_BOOL] = {"bool", 1},
	[DTYPE_FP8_E4M3] = {"fp8-e4m3", 1},
	[DTYPE_FP8_E5M2] = {"fp8-e5m2", 1},
};

static const char *const memory_names[MEMORY_COUNT] = {
	[MEMORY_ALIGNED] = "aligned",
	[MEMORY_PINNED] = "pinned",
	[MEMORY_HEAP] = "heap",
	[MEMORY_SLOT] = "slot",
};

static const char *const step_names[STEP_COUNT] = {
	[STEP_SWAP_OUT] = "swap-out",
	[STEP_SWAP_IN] = "swap-in",
	[STEP_WRITE] = "write",
	[STEP_READ] = "read",
	[STEP_START] = "start",
	[STEP_WAIT] = "wait",
	[STEP_CANCEL] = "cancel",
	[STEP_TRUNCATE] = "truncate",
	[STEP_CORRUPT] = "corrupt",
	[STEP_PREPARE] = "prepare",
	[STEP_REMOVE] = "remove",
	[STEP_CLOSE] = "close",
	[STEP_ABORT] = "abort",
	[STEP_OPEN] = "open",
	[STEP_FORK] = "fork",
	[STEP_IS_PINNED] = "is-pinned",
	[STEP_STORE_OPEN] = "store-open",
	[STEP_STORE_CLOSE] = "store-close",
	[STEP_COPY_VOLUME] = "copy-volume",
	[STEP_RELEASE] = "release",
	[STEP_VERIFY] = "verify",
	[STEP_STORE_REMOVE] = "store-remove",
	[STEP_REPEAT] = "repeat",
	[STEP_SYNC] = "sync",
	[STEP_REPLACE] = "replace",
	[STEP_DEVICE_RETURN] = "device-return",
	[STEP_RESTART] = "restart",
};

size_t dtype_bytes(enum dtype dtype)
{
	return dtypes[dtype].bytes;
}

const char *dtype_name(enum dtype dtype)
{
	return dtypes[dtype].name;
}

int dtype_find(const char *name, enum dtype *ret_dtype)
{
	for (unsigned i = 0; i < DTYPE_COUNT; i++) {
		if (strcmp(dtypes[i].name, name) != 0)
			continue;
		*ret_dtype = (enum dtype)i;
		return 0;
	}
	return -ENOENT;
}

const char *memory_kind_name(enum memory_kind kind)
{
	return memory_names[kind];
}

const char *step_name(enum step_kind kind)
{
	return step_names[kind];
}

bool step_needs_handle(enum step_kind kind)
{
	switch (kind) {
	case STEP_TRUNCATE:
	case STEP_CORRUPT:
	case STEP_PREPARE:
	case STEP_REMOVE:
	case STEP_OPEN:
	case STEP_COPY_VOLUME:
	case STEP_REPEAT:
	case STEP_SYNC:
	case STEP_DEVICE_RETURN:
	case STEP_RESTART:
	case STEP_COUNT:
		return false;
	case STEP_SWAP_OUT:
	case STEP_SWAP_IN:
	case STEP_WRITE:
	case STEP_READ:
	case STEP_START:
	case STEP_WAIT:
	case STEP_CANCEL:
	case STEP_CLOSE:
	case STEP_ABORT:
	case STEP_FORK:
	case STEP_IS_PINNED:
	case STEP_STORE_OPEN:
	case STEP_STORE_CLOSE:
	case STEP_RELEASE:
	case STEP_VERIFY:
	case STEP_STORE_REMOVE:
	case STEP_REPLACE:
		return true;
	}
	return false;
}

bool step_needs_store(enum step_kind kind)
{
	return kind == STEP_SWAP_OUT || kind == STEP_SWAP_IN || kind == STEP_START ||
	       kind == STEP_WAIT || kind == STEP_CANCEL || kind == STEP_STORE_CLOSE ||
	       kind == STEP_RELEASE || kind == STEP_VERIFY || kind == STEP_STORE_REMOVE;
}

int step_find(const char *name, enum step_kind *ret_kind)
{
	for (unsigned i = 0; i < STEP_COUNT; i++) {
		if (strcmp(step_names[i], name) != 0)
			continue;
		*ret_kind = (enum step_kind)i;
		return 0;
	}
	return -ENOENT;
}

void handle_options_defaults(struct handle_options *handle)
{
	*handle = (struct handle_options){
		.block_bytes = 1u << 20,
		.queue_depth = 32,
		.workers = 1,
		.requests_max = 1024,
		.bounce_slots = 4,
		.overlap_events = true,
	};
}

void store_options_defaults(struct store_options *store)
{
	*store = (struct store_options){
		.group = "optimizer",
		.durable = true,
		.chunk_bytes = 1u << 20,
		.slot_bytes = 1u << 20,
		.slots = 32,
		.threads = 2,
	};
}

void limits_defaults(struct limits *limits)
{
	*limits = (struct limits){
		.memlock_bytes = UINT64_MAX,
		.nofile = UINT64_MAX,
		.fsize_bytes = UINT64_MAX,
		.address_space_bytes = UINT64_MAX,
	};
}

void tensor_defaults(struct tensor *tensor)
{
	*tensor = (struct tensor){.dtype = DTYPE_FP32, .memory = MEMORY_ALIGNED};
}

void step_defaults(struct step *step, enum step_kind kind)
{
	*step = (struct step){
		.kind = kind,
		.numel = UINT64_MAX,
		.dtype = -1,
		.timeout_ns = -1,
		.slot_timeout_ns = -1,
		.from = WORKLOAD_STORE_PLACE,
		.to = WORKLOAD_STORE_PLACE,
		.directory = true,
	};
}

void workload_defaults(struct workload *workload)
{
	memset(workload, 0, sizeof(*workload));
	handle_options_defaults(&workload->handle);
	limits_defaults(&workload->limits);
	store_options_defaults(&workload->store);
	workload->aftermath = true;
}

uint64_t tensor_bytes(const struct tensor *tensor)
{
	return tensor->numel * dtype_bytes(tensor->dtype);
}

bool step_has(const struct step *step, unsigned tensor)
{
	return !step->tensors || step->tensors & UINT64_C(1) << tensor;
}

uint64_t step_transfer_bytes(const struct workload *workload, const struct step *step,
			     unsigned tensor)
{
	const struct tensor *asked = &workload->tensors[tensor];
	uint64_t numel = step->numel == UINT64_MAX ? asked->numel : step->numel;
	enum dtype dtype = step->dtype < 0 ? asked->dtype : (enum dtype)step->dtype;

	return numel * dtype_bytes(dtype);
}

uint64_t workload_tensor_bytes(const struct workload *workload, unsigned tensor)
{
	uint64_t longest = tensor_bytes(&workload->tensors[tensor]);

	for (unsigned i = 0; i < workload->steps_count; i++) {
		uint64_t bytes = step_transfer_bytes(workload, &workload->steps[i], tensor);

		if (step_has(&workload->steps[i], tensor) && bytes > longest)
			longest = bytes;
	}
	return longest;
}

/* Does the step, which has a store, want the tensor in memory? */
static bool holds(const struct step *step, unsigned tensor)
{
	bool moves = step->kind == STEP_SWAP_OUT || step->kind == STEP_SWAP_IN ||
		     step->kind == STEP_START || step->kind == STEP_IS_PINNED;

	if (!moves || !step->as_count)
		return moves && step_has(step, tensor);
	return tensor >= step->as_first && tensor - step->as_first < step->as_count;
}

/* A tensor of a store that no step moves may be larger than memory: it is a hole in its file. */
static bool takes_memory(const struct workload *workload, unsigned tensor)
{
	bool taken = !workload->store.used;

	for (unsigned i = 0; i < workload->steps_count && !taken; i++)
		taken = holds(&workload->steps[i], tensor);
	return taken;
}

uint64_t workload_bytes(const struct workload *workload)
{
	unsigned count = workload->tensors_count + workload->as_count;
	uint64_t sum = 0;

	for (unsigned i = 0; i < count; i++)
		if (takes_memory(workload, i) &&
		    __builtin_add_overflow(sum, workload_tensor_bytes(workload, i), &sum))
			return UINT64_MAX;
	return sum;
}

uint64_t workload_file_bytes(const struct workload *workload)
{
	uint64_t bytes = workload_bytes(workload);

	if (!workload->store.used)
		return bytes;
	return bytes > UINT64_MAX / 2 ? UINT64_MAX : 2 * bytes;
}

unsigned workload_origin(const struct workload *workload, unsigned tensor)
{
	unsigned first = 0;

	while (strcmp(workload->tensors[first].name, workload->tensors[tensor].name) != 0)
		first++;
	return first;
}

unsigned workload_image_of(const struct workload *workload, unsigned step)
{
	unsigned image = 0;

	for (unsigned i = 0; i < step; i++)
		image += workload->steps[i].kind == STEP_RESTART;
	return image;
}

unsigned workload_images(const struct workload *workload)
{
	return workload_image_of(workload, workload->steps_count) + 1;
}

bool workload_is_durable(const struct workload *workload)
{
	return !workload->store.used || workload->store.durable;
}

bool workload_has_return(const struct workload *workload)
{
	for (unsigned i = 0; i < workload->steps_count; i++)
		if (workload->steps[i].kind == STEP_DEVICE_RETURN)
			return true;
	return false;
}

struct image workload_image(const struct workload *workload, unsigned number)
{
	struct image image = {0, 0};

	while (image.first < workload->steps_count &&
	       (workload_image_of(workload, image.first) < number))
		image.first++;
	image.end = image.first;
	while (image.end < workload->steps_count && workload->steps[image.end].kind != STEP_RESTART)
		image.end++;
	return image;
}
