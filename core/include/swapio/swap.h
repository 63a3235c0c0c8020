/* SPDX-License-Identifier: MIT */
/*
 * swap.h - groups of tensors, each with its own numel and element size, and swapping them.
 *
 * Swaps of one group happen in the order in which they were started; swaps of different groups
 * overlap. To read ahead, start the next group's swap-in before computing; to write behind, start
 * the last group's swap-out and fetch its result later.
 *
 * Threads: every function may be called by several threads; swapio_group_close() of a group only by
 *          one, after the others stopped using it.
 * Example: examples/training_loop.c
 */
#ifndef SWAPIO_SWAP_H
#define SWAPIO_SWAP_H

#include "swapio/store.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** Dimensions of a shape at most. */
#define SWAPIO_DIMS_MAX 8
/** Longest name of an element type, without the NUL. */
#define SWAPIO_DTYPE_BYTES_MAX 15
/** Tensors of a group at most. */
#define SWAPIO_TENSORS_MAX 65536u

/**
 * struct swapio_tensor - one tensor of a group
 * @size_bytes:    sizeof(struct swapio_tensor) as the caller was compiled
 * @name:          1 to SWAPIO_NAME_BYTES_MAX bytes, unlike every other of the group
 * @numel:         number of elements; 0 is an empty tensor. numel * element_bytes <= 2^56
 * @element_bytes: size of an element, 1 to 64
 * @dtype:         name of the element type ("fp32"), compared as it is; NULL: not compared
 * @dims:          dimensions in @shape, 0 (not compared) to SWAPIO_DIMS_MAX
 * @shape:         [dims], in elements; their product is @numel
 */
struct swapio_tensor {
	size_t size_bytes;
	const char *name;
	uint64_t numel;
	uint32_t element_bytes;
	const char *dtype;
	unsigned dims;
	const uint64_t *shape;
};

struct swapio_group;

/**
 * swapio_group_open() - say what tensors a group has
 * @store:     not NULL
 * @name:      1 to SWAPIO_NAME_BYTES_MAX bytes; names the group within the store
 * @tensors:   [count], in order; borrowed during the call
 * @count:     1 to SWAPIO_TENSORS_MAX
 * @error:     NULL, or filled when the call fails
 * @ret_group: written on success; the caller's until swapio_group_close()
 *
 * What is stored under that name is looked up and may differ: a swap-in is then refused, a swap-out
 * of the whole group replaces it.
 *
 * Return:    0
 *            -EINVAL    a tensor cannot be; @error names it, its value and range
 *            -EBUSY     the group is open already
 *            -EBADMSG   what is stored under that name is damaged: verify, remove
 *            -EXDEV     what is stored under that name belongs to another store
 *            -ENOTSUP   it has a version or a checksum that this library does not know
 *            -ENOMEM    no memory; or what reading the store said
 *            -ECHILD    the store was opened before fork(), in the parent
 * Contract:  C7, C21
 * Since:     0.2
 */
int swapio_group_open(struct swapio_store *store, const char *name,
		      const struct swapio_tensor *tensors, unsigned count,
		      struct swapio_error *error, struct swapio_group **ret_group);

/**
 * swapio_group_close() - forget a group; what is stored stays
 * @group: NULL is a no-op
 *
 * In a child after fork() the copy is freed and the parent's group is left alone; unless another
 * thread was closing it at that moment: then it is not the child's to close.
 *
 * Return: 0, -EBUSY while swaps of it are not over
 * Since:  0.2
 */
int swapio_group_close(struct swapio_group *group);

/**
 * swapio_group_generation() - which generation a swap-in would read
 * @group: not NULL
 *
 * Return: 0 when nothing is stored, else 1 or more
 * Since:  0.2
 */
uint64_t swapio_group_generation(struct swapio_group *group);

/** Direction of a swap. */
enum swapio_swap_op {
	SWAPIO_SWAP_IN = 0,  /* store to memory */
	SWAPIO_SWAP_OUT = 1, /* memory to store */
};

/**
 * struct swapio_swap - a swap to be started
 * @size_bytes: sizeof(struct swapio_swap) as the caller was compiled
 * @group:      not NULL
 * @op:         direction
 * @first:      index of the first tensor
 * @count:      number of tensors, 1 to what there are from @first; 0 means all from @first
 * @mem:        [count] memory of each tensor; host or device memory at any address. Host memory at
 *              a multiple of 4096 and of the handle's alignment moves without a copy, but for an
 *              odd tail of less than 4096 bytes; other memory goes through the pool. For a swap-in
 *              an element may be NULL: the library lends a slot of the pool and writes its address
 *              there before the call returns; give it back with swapio_slot_release(), however the
 *              swap ended. Empty tensors may be NULL and stay so
 * @generation: swap-in: the generation that must be there, 0 for whatever is; swap-out: 0
 * @slot_timeout_ns: how long to wait for slots to lend, 0 to SWAPIO_FOREVER. All that a swap
 *              wants are lent at once, to those who wait first
 * @tag:        the caller's own, copied into the result
 *
 * The array and the memory are the library's until the result is fetched.
 */
struct swapio_swap {
	size_t size_bytes;
	struct swapio_group *group;
	enum swapio_swap_op op;
	unsigned first;
	unsigned count;
	void **mem;
	uint64_t generation;
	int64_t slot_timeout_ns;
	uint64_t tag;
};

/** Names a swap within its store; never 0, never used twice. */
typedef uint64_t swapio_swap_id;

/** Which stage a failed swap failed in. */
enum swapio_swap_cause {
	SWAPIO_SWAP_NONE = 0,	    /* it succeeded */
	SWAPIO_SWAP_MISSING = 1,    /* nothing is stored: -ENOENT */
	SWAPIO_SWAP_MISMATCH = 2,   /* numel, element size, dtype, shape, name or order: -EINVAL */
	SWAPIO_SWAP_GENERATION = 3, /* another generation is stored: -ESTALE */
	SWAPIO_SWAP_CHECKSUM = 4,   /* bytes are not what was stored: -EBADMSG */
	SWAPIO_SWAP_MANIFEST = 5,   /* the manifest is damaged or foreign: -EBADMSG, -EXDEV */
	SWAPIO_SWAP_IO = 6,	    /* a transfer failed: its -errno */
	SWAPIO_SWAP_SPACE = 7,	    /* no room for a new generation: -ENOSPC, -EDQUOT, -EFBIG */
	SWAPIO_SWAP_SYNC = 8,	    /* data or manifest could not be made durable: its -errno */
	SWAPIO_SWAP_COPY = 9,	    /* copying to or from a slot failed: its -errno */
	SWAPIO_SWAP_CANCELLED = 10, /* swapio_swap_cancel(): -ECANCELED */
};

/**
 * struct swapio_swap_result - how a swap ended
 * @size_bytes:        set by the caller to sizeof(struct swapio_swap_result)
 * @id:                the swap
 * @tag:               swapio_swap.tag
 * @error:             0 or -errno
 * @cause:             stage of the failure
 * @tensor:            index in the group of the tensor that failed, UINT_MAX if none in particular
 * @fail_offset_bytes: first failing byte within that tensor
 * @fail_length_bytes: bytes from there that are not valid
 * @generation:        swap-out: committed; swap-in: read; on failure what is stored, 0 for nothing
 * @bytes:             bytes of tensors that moved, without padding
 * @staged_bytes:      those of them that went through the pool
 * @text:              a sentence, empty on success; names group and tensor, both values of a
 *                     mismatch, and after a failed swap-out the generation that is still there
 *
 * After a failed swap-in no byte of its memory may be used. After a failed swap-out the earlier
 * generation is intact.
 */
struct swapio_swap_result {
	size_t size_bytes;
	swapio_swap_id id;
	uint64_t tag;
	int error;
	enum swapio_swap_cause cause;
	unsigned tensor;
	uint64_t fail_offset_bytes;
	uint64_t fail_length_bytes;
	uint64_t generation;
	uint64_t bytes;
	uint64_t staged_bytes;
	char text[SWAPIO_ERROR_TEXT_BYTES];
};

/**
 * swapio_swap_start() - start a swap
 * @swap:   borrowed during the call, but for its memory
 * @error:  NULL, or filled when the call fails
 * @ret_id: written only on success
 *
 * What can be known at once is refused here; mismatches with what is stored come as the result.
 *
 * Return:    0
 *            -EINVAL    unknown size or op, range outside the group, NULL memory, a generation
 *                       with a swap-out
 *            -EMSGSIZE  a tensor that is to be lent a slot is larger than one, or more slots are
 *                       to be lent than the pool has beside those for staging
 *            -ETIMEDOUT no slot came free in time; none stays lent
 *            -EROFS     swap-out into a store that was opened read-only
 *            -ENOMEM    no memory
 *            -ESHUTDOWN the store is being closed
 *            -ECHILD    the store was opened before fork(), in the parent
 * Contract:  C7, C15, C23
 * Since:     0.2
 */
int swapio_swap_start(const struct swapio_swap *swap, struct swapio_error *error,
		      swapio_swap_id *ret_id);

/**
 * swapio_swap_wait() - wait for a swap and fetch its result
 * @store:      not NULL
 * @id:         a swap that was started and not yet fetched
 * @timeout_ns: 0 to look only, up to SWAPIO_FOREVER
 * @ret_result: caller storage with size_bytes set, written on success only
 *
 * With threads == 0 the caller carries out this swap, and those before it, here. When the time is
 * up, they stay as they are, and the next wait goes on; only a sync is never interrupted. A request
 * that the handle's owner has left no room for fails the swap with -EAGAIN.
 *
 * Return:    0           @ret_result holds the result; the swap may have failed, see its error
 *            -ETIMEDOUT  not over; memory stays the library's
 *            -ENOENT     no such swap, or fetched already
 *            -EINVAL     size_bytes is not one this library knows
 *            -ECHILD     the store was opened before fork(), in the parent
 * Contract:  C1, C2, C15, C17
 * Since:     0.2
 */
int swapio_swap_wait(struct swapio_store *store, swapio_swap_id id, int64_t timeout_ns,
		     struct swapio_swap_result *ret_result);

/**
 * swapio_swap_cancel() - give up a swap
 * @store: not NULL
 * @id:    a swap
 *
 * Nothing more of it is submitted; what is in flight is drained. A swap-out whose manifest is
 * being written already goes on. The result comes through swapio_swap_wait() as ever.
 *
 * Return: 0, -ENOENT no such swap, -ECHILD
 * Contract:  C15
 * Since:  0.2
 */
int swapio_swap_cancel(struct swapio_store *store, swapio_swap_id id);

/**
 * swapio_swap_in() - swap a whole group in and wait for it
 * @group: not NULL
 * @mem:   as swapio_swap.mem, for every tensor of the group
 * @error: NULL, or filled when the call fails
 *
 * Waits without deadline.
 *
 * Return:    0, what swapio_swap_start() returns, or the result's -errno
 * Contract:  C7, C21
 * Since:     0.2
 */
int swapio_swap_in(struct swapio_group *group, void **mem, struct swapio_error *error);

/**
 * swapio_swap_out() - swap a whole group out and wait until the new generation is committed
 * @group: not NULL
 * @mem:   as swapio_swap.mem, for every tensor of the group; not changed
 * @error: NULL, or filled when the call fails
 *
 * Return:    0, what swapio_swap_start() returns, or the result's -errno
 * Contract:  C7, C21
 * Since:     0.2
 */
int swapio_swap_out(struct swapio_group *group, void **mem, struct swapio_error *error);

/**
 * swapio_slot_release() - give back a slot that a swap-in lent
 * @store: not NULL
 * @slot:  the address that stood in swapio_swap.mem; the swap is over
 *
 * Return: 0, -EINVAL not a lent slot, -EBUSY its swap is not over, -ECHILD
 * Contract:  C19, C23
 * Since:  0.2
 */
int swapio_slot_release(struct swapio_store *store, void *slot);

/**
 * swapio_swap_cause_name() - name a cause in one lower-case word
 * @cause: any value
 *
 * Return: static string, "unknown" for values outside the enum
 * Since:  0.2
 */
const char *swapio_swap_cause_name(enum swapio_swap_cause cause);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif /* SWAPIO_SWAP_H */
