/* SPDX-License-Identifier: MIT */
/*
 * buffer.h - aligned and pinned memory, and pools of slots in pinned slabs.
 *
 * Threads: all functions may be called by several threads.
 * Example: examples/pinned_pool.c
 */
#ifndef SWAPIO_BUFFER_H
#define SWAPIO_BUFFER_H

#include "swapio/handle.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** How a buffer is allocated; or'ed together. */
#define SWAPIO_BUFFER_PINNED 0x1u /* prefaulted, locked if possible, huge pages if possible */

/**
 * swapio_buffer_alloc() - allocate memory that transfers of this handle take directly
 * @handle:       not NULL; the memory outlives neither the handle nor swapio_buffer_free()
 * @length_bytes: 1 to PTRDIFF_MAX, rounded up to whole pages
 * @flags:        0 or SWAPIO_BUFFER_PINNED
 * @ret_buf:      written on success: page aligned at least, and aligned to the handle's alignment,
 *                filled with zeros
 *
 * A pinned buffer whose mlock failed (RLIMIT_MEMLOCK) is still returned, unlocked, and
 * swapio_is_pinned() says false for it; the log warns. Pinned buffers are not inherited by fork().
 *
 * Return:    0
 *            -EINVAL  length 0 or too large, unknown flag
 *            -ENOMEM  no memory
 *            -ECHILD  the handle was opened before fork(), in the parent
 * Contract:  C12, C19
 * Since:     0.1
 */
int swapio_buffer_alloc(struct swapio *handle, size_t length_bytes, unsigned flags, void **ret_buf);

/**
 * swapio_buffer_free() - free a buffer of swapio_buffer_alloc()
 * @handle: the handle that allocated it
 * @buf:    NULL is a no-op
 *
 * Return:    0
 *            -EINVAL  not a base pointer of this handle (a slice, freed already, another's)
 *            -EBUSY   a request in flight still uses it; nothing is freed
 *            -ECHILD  the handle was opened before fork(), in the parent
 * Contract:  C14, C15
 * Since:     0.1
 */
int swapio_buffer_free(struct swapio *handle, void *buf);

/**
 * swapio_is_pinned() - tell whether a whole range is pinned memory
 * @handle:       not NULL; its accelerator is asked
 * @ptr:          any address
 * @length_bytes: 1 or more; 0 is never pinned
 *
 * Exact: true if and only if every byte lies in one live pinned and locked allocation,
 * made through any handle of this process.
 *
 * Contract:  C19
 * Since:     0.1
 */
bool swapio_is_pinned(struct swapio *handle, const void *ptr, size_t length_bytes);

struct swapio_pool;

/**
 * swapio_pool_create() - make a pool of equal slots in one pinned slab
 * @handle:     not NULL; must outlive the pool
 * @slot_bytes: size of a slot, 1 to 2^40, rounded up to the handle's alignment
 * @slots:      number of slots, 1 to 65536
 * @ret_pool:   written on success, owned by the caller
 *
 * Return:    0
 *            -EINVAL  @slot_bytes or @slots is out of range
 *            -ENOMEM  no memory
 *            -ECHILD  the handle was opened before fork(), in the parent
 * Contract:  C12, C23
 * Since:     0.1
 */
int swapio_pool_create(struct swapio *handle, size_t slot_bytes, unsigned slots,
		       struct swapio_pool **ret_pool);

/**
 * swapio_pool_destroy() - free a pool
 * @pool: NULL is a no-op
 *
 * Return: 0, -EBUSY while a slot is acquired: nothing is freed
 * Since:  0.1
 */
int swapio_pool_destroy(struct swapio_pool *pool);

/**
 * swapio_pool_acquire() - take a slot
 * @pool:       not NULL
 * @timeout_ns: 0 to SWAPIO_FOREVER
 * @ret_slot:   written on success; the caller's until swapio_pool_release()
 *
 * Return:    0
 *            -ETIMEDOUT  no slot came free; @ret_slot is not written
 *            -ECHILD     the handle was opened before fork(), in the parent
 * Contract:  C23
 * Since:     0.1
 */
int swapio_pool_acquire(struct swapio_pool *pool, int64_t timeout_ns, void **ret_slot);

/**
 * swapio_pool_release() - give a slot back
 * @pool: not NULL
 * @slot: a slot's base pointer
 *
 * Return: 0
 *         -EINVAL  @slot is not an acquired slot of @pool
 *         -ECHILD  the handle was opened before fork(), in the parent
 * Since:  0.1
 */
int swapio_pool_release(struct swapio_pool *pool, void *slot);

/**
 * swapio_pool_slot_bytes() - size of a slot after rounding
 * @pool: not NULL
 *
 * Since: 0.1
 */
size_t swapio_pool_slot_bytes(const struct swapio_pool *pool);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif /* SWAPIO_BUFFER_H */
