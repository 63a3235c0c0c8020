/* SPDX-License-Identifier: MIT */
/*
 * store.h - where groups of tensors are kept: a directory, or a range of a block device.
 *
 * A store has an identity of its own, drawn when it is made; everything in it carries it. A group
 * in a store has generations: each swap-out makes one, committed so that a crash at any point
 * leaves the old or the new one readable, never a mixture. docs/STORE.md describes the bytes.
 *
 * Threads: a store may be used by several threads at once; swapio_store_close() only by one, after
 *          the others stopped calling. One process at a time has a store open for writing.
 * Example: examples/store_roundtrip.c
 */
#ifndef SWAPIO_STORE_H
#define SWAPIO_STORE_H

#include "swapio/handle.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct swapio_store;

/** Longest name of a group or tensor, in bytes, without the NUL. Files are not named after them. */
#define SWAPIO_NAME_BYTES_MAX 1023

/** How the bytes of tensors are summed; the algorithm stands in each manifest. */
enum swapio_checksum {
	SWAPIO_CHECKSUM_NONE = 0,  /* lost, stale and flipped bytes are not noticed */
	SWAPIO_CHECKSUM_XXH64 = 1, /* XXH64, 64 bits for each chunk */
	SWAPIO_CHECKSUM_XXH3 = 2,  /* XXH3, 64 bits for each chunk; needs xxhash 0.8 at build */
};

/**
 * struct swapio_store_options - how a store is opened; fill with swapio_store_options_init()
 * @size_bytes:         sizeof(struct swapio_store_options) as the caller was compiled
 * @create:             make the store if there is none; default true
 * @read_only:          refuse swap-outs and removals, share the store with other readers;
 *                      default false
 * @durable:            sync before and after a commit, so that a generation which was reported
 *                      survives a power cut; default true. With false it survives the process
 * @checksum:           of what swap-outs write; default XXH3, or XXH64 where that is missing
 * @chunk_bytes:        bytes under one checksum, and moved by one request; multiple of 4096,
 *                      4096 to 2^30; default 1 MiB
 * @slot_bytes:         size of a slot of the pinned pool; multiple of 4096, 4096 to 2^30;
 *                      default 1 MiB
 * @slots:              slots in the pool; 2 to 65536; default 32. Two for each thread (or the
 *                      caller) are kept for staging; the others are lent, see swapio_swap.mem, or
 *                      help staging while nobody wants them
 * @threads:            threads that carry out swaps; 0 to 16; default 2.
 *                      0: swaps are carried out inside swapio_swap_wait()
 * @range_offset_bytes: block devices only: where the store begins, multiple of 4096; default 0
 * @range_length_bytes: block devices only: its length, multiple of 4096, 2 MiB or more; default 0,
 *                      to the end of the device
 */
struct swapio_store_options {
	size_t size_bytes;
	bool create;
	bool read_only;
	bool durable;
	enum swapio_checksum checksum;
	size_t chunk_bytes;
	size_t slot_bytes;
	unsigned slots;
	unsigned threads;
	uint64_t range_offset_bytes;
	uint64_t range_length_bytes;
};

/**
 * swapio_store_options_init() - fill options with their defaults
 * @options: caller storage, not NULL
 *
 * Since: 0.2
 */
void swapio_store_options_init(struct swapio_store_options *options);

/**
 * swapio_store_open() - open a store, or make one
 * @handle:    moves the bytes; not NULL; must outlive the store
 * @path:      a directory (made if missing, its parent must exist), or a block device
 * @options:   NULL for defaults; borrowed during the call
 * @error:     NULL, or filled when the call fails
 * @ret_store: written only on success; owned by the caller until swapio_store_close() returns 0
 *
 * A store is never made over something else: a directory that holds other files, or a range whose
 * first 4096 bytes are neither a store's nor zeros, is refused.
 *
 * Return:    0
 *            -EINVAL    an option is out of range; @error names it, its value and range
 *            -ENOENT    no store there, and not @create
 *            -ENOTEMPTY the place holds something that is not a store
 *            -EBADMSG   the store's own record is damaged
 *            -ENOTSUP   the store has a version or a checksum that this library does not know
 *            -EBUSY     another process, or another store of this one, has it open
 *            -ENOTDIR   neither directory nor block device
 *            -EACCES -EROFS -ENOSPC -EDQUOT -EMFILE -ENFILE -ENAMETOOLONG -EIO -ENOMEM -EAGAIN
 *                       of the calls that it takes; @error names the path
 *            -ECHILD    the handle was opened before fork(), in the parent
 * Contract:  C7, C13, C21, C23
 * Since:     0.2
 */
int swapio_store_open(struct swapio *handle, const char *path,
		      const struct swapio_store_options *options, struct swapio_error *error,
		      struct swapio_store **ret_store);

/**
 * swapio_store_close() - finish what was started and free the store
 * @store:      NULL is a no-op that returns 0
 * @timeout_ns: how long to wait for swaps that were started, 0 to SWAPIO_FOREVER
 *
 * In a child after fork() nothing is waited for: the copy is freed, with groups that are open in it
 * and swaps on their way, and the parent's store is left alone. What another thread was doing to it
 * at the moment of fork() does not matter, unless it was closing this very store.
 *
 * Return:    0       the store is gone
 *            -EBUSY  swaps are not over in time, a group is open, or a slot is lent: the store and
 *                    everything of it stays; close again
 * Contract:  C15, C17
 * Since:     0.2
 */
int swapio_store_close(struct swapio_store *store, int64_t timeout_ns);

/** Bytes of a store's identity. */
#define SWAPIO_STORE_ID_BYTES 16

/**
 * struct swapio_store_info - what a store is
 * @size_bytes:        set by the caller to sizeof(struct swapio_store_info)
 * @id:                identity, drawn when the store was made
 * @block_device:      a range of a block device, else a directory
 * @checksum:          what swap-outs of this opening write
 * @pool_bytes:        pinned memory that the store holds, constant while it is open
 * @pool_locked:       that memory is locked
 * @free_bytes:        room for further groups (file system or range)
 */
struct swapio_store_info {
	size_t size_bytes;
	unsigned char id[SWAPIO_STORE_ID_BYTES];
	bool block_device;
	enum swapio_checksum checksum;
	uint64_t pool_bytes;
	bool pool_locked;
	uint64_t free_bytes;
};

/**
 * swapio_store_info_get() - say what a store is
 * @store:    not NULL
 * @ret_info: caller storage with size_bytes set
 *
 * Return: 0, -EINVAL if size_bytes is not one this library knows, -EIO of statvfs(3)
 * Since:  0.2
 */
int swapio_store_info_get(struct swapio_store *store, struct swapio_store_info *ret_info);

/**
 * struct swapio_group_info - a group as it is stored; valid during the call that hands it out
 * @size_bytes:   sizeof(struct swapio_group_info) of this library
 * @name:         name of the group; for a damaged volume whose group is not known, its file's name
 * @generation:   of the last swap-out that was committed, 1 or more
 * @checksum:     algorithm
 * @tensors:      number of tensors
 * @bytes:        bytes of all tensors, without padding
 * @volume_bytes: bytes that the group takes in the store
 * @damage:       0, or -errno: -EBADMSG no readable manifest, -EXDEV of another store,
 *                -ENOTSUP of another version
 */
struct swapio_group_info {
	size_t size_bytes;
	const char *name;
	uint64_t generation;
	enum swapio_checksum checksum;
	unsigned tensors;
	uint64_t bytes;
	uint64_t volume_bytes;
	int damage;
};

/** Called for each group; a value other than 0 ends the listing and is returned. */
typedef int swapio_group_fn(const struct swapio_group_info *info, void *arg);

/**
 * swapio_store_list() - hand out every group of a store, in the order of names
 * @store: not NULL
 * @each:  called for each group, damaged ones included; may not call back into @store
 * @arg:   passed on
 * @error: NULL, or filled when the call fails
 *
 * Return: 0, what @each returned, -ENOMEM, -EIO and so on of reading the store
 * Since:  0.2
 */
int swapio_store_list(struct swapio_store *store, swapio_group_fn *each, void *arg,
		      struct swapio_error *error);

/**
 * struct swapio_damage - bytes that are not what was stored; valid during the call
 * @size_bytes:   sizeof(struct swapio_damage) of this library
 * @group:        name of the group, or of the file when the group is not known; the path of the
 *                store when it is the store's own record, or catalog
 * @tensor:       name of the tensor, NULL when the manifest itself is damaged
 * @offset_bytes: first byte of the range, within the tensor
 * @length_bytes: length of the range
 * @error:        -EBADMSG the checksum differs, -ENODATA the file ends before, -EXDEV it belongs to
 *                another store, or what reading it said
 * @text:         a sentence
 */
struct swapio_damage {
	size_t size_bytes;
	const char *group;
	const char *tensor;
	uint64_t offset_bytes;
	uint64_t length_bytes;
	int error;
	const char *text;
};

/** Called for each damaged range; a value other than 0 ends the check and is returned. */
typedef int swapio_damage_fn(const struct swapio_damage *damage, void *arg);

/**
 * swapio_store_verify() - read everything and report what is damaged, range by range
 * @store: not NULL
 * @group: NULL for all
 * @each:  called for each damaged range, neighbours joined; may not call back into @store
 * @arg:   passed on
 * @error: NULL, or filled when the call fails
 *
 * Groups without checksums are read, and their manifests checked. The store is left as it is, also
 * what a crash left in it and the next swap-out removes.
 *
 * Return: 0        nothing is damaged
 *         -EBADMSG something is, and was handed out
 *         -ENOENT  no group of that name
 *         what @each returned; -ENOMEM; -ETIMEDOUT and so on of reading the store
 * Contract:  C21
 * Since:  0.2
 */
int swapio_store_verify(struct swapio_store *store, const char *group, swapio_damage_fn *each,
			void *arg, struct swapio_error *error);

/**
 * swapio_store_remove() - remove a group and free its room
 * @store: not NULL, not read-only
 * @group: name of a group, or what swapio_store_list() called a damaged one
 * @error: NULL, or filled when the call fails
 *
 * Return: 0, -ENOENT no such group, -EBUSY it is open, -EROFS, or what removing said
 * Since:  0.2
 */
int swapio_store_remove(struct swapio_store *store, const char *group, struct swapio_error *error);

/**
 * swapio_store_destroy() - remove a whole store
 * @path:    a directory, or a block device
 * @options: NULL for defaults; only the range is looked at
 * @error:   NULL, or filled when the call fails
 *
 * Removes what is a store's and nothing else: a directory that holds other files, too, loses the
 * store and stays. On a block device the store's records are overwritten with zeros.
 *
 * Return: 0, -ENOENT no store there, -EBUSY somebody has it open, or what removing said
 * Since:  0.2
 */
int swapio_store_destroy(const char *path, const struct swapio_store_options *options,
			 struct swapio_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif /* SWAPIO_STORE_H */
