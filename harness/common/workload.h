/* SPDX-License-Identifier: MIT */
/*
 * workload.h - what the worker does: tensors, handle options, steps. The part of a case that
 * crosses from the harness to the worker (as one JSON object), and nothing else does.
 *
 * Threads: caller storage.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diag.h"

#define WORKLOAD_TENSORS_MAX 64
#define WORKLOAD_STEPS_MAX 64
#define WORKLOAD_NAME_BYTES 128
#define WORKLOAD_DIMS_MAX 8
#define WORKLOAD_PLACE_BYTES 32
#define WORKLOAD_FILE_BYTES 300 /* longer than NAME_MAX on purpose: ENAMETOOLONG is a case */

enum dtype {
	DTYPE_U8,
	DTYPE_FP16,
	DTYPE_BF16,
	DTYPE_FP32,
	DTYPE_FP64,
	DTYPE_I32,
	DTYPE_I64,
	DTYPE_I8,
	DTYPE_I16,
	DTYPE_U16,
	DTYPE_U32,
	DTYPE_U64,
	DTYPE_BOOL,
	DTYPE_FP8_E4M3,
	DTYPE_FP8_E5M2,
	DTYPE_COUNT
};
size_t dtype_bytes(enum dtype dtype);
const char *dtype_name(enum dtype dtype);
int dtype_find(const char *name, enum dtype *ret_dtype); /* -ENOENT */

enum memory_kind {
	MEMORY_ALIGNED, /* swapio_buffer_alloc */
	MEMORY_PINNED,	/* swapio_buffer_alloc with SWAPIO_BUFFER_PINNED */
	MEMORY_HEAP,	/* the program's own page-aligned memory, plus pointer_offset */
	MEMORY_SLOT,	/* a slot of the store's pool, lent for each swap-in */
	MEMORY_COUNT
};
const char *memory_kind_name(enum memory_kind kind); /* "aligned" ... */

struct tensor {
	char name[WORKLOAD_NAME_BYTES];
	uint64_t numel;
	enum dtype dtype;
	unsigned dims; /* 0: no shape is given */
	uint64_t shape[WORKLOAD_DIMS_MAX];
	char file[WORKLOAD_FILE_BYTES]; /* below the work directory; default "NAME.swp" */
	uint64_t file_offset_bytes;
	enum memory_kind memory;
	uint32_t pointer_offset_bytes; /* added to the aligned base pointer */
};

enum step_kind {
	STEP_SWAP_OUT, /* new generation of the pattern in memory, write all asynchronously, wait
			* for all; then the independent reader checks the files */
	STEP_SWAP_IN,  /* poison memory, read all asynchronously, wait for all, check the data */
	STEP_WRITE,    /* as swap-out, one after the other, synchronously, no new generation */
	STEP_READ,     /* as swap-in, one after the other, synchronously */
	STEP_START,    /* submit (op=read or write) and go on: STEP_WAIT or STEP_CANCEL later */
	STEP_WAIT,     /* wait for everything started, with `timeout` */
	STEP_CANCEL,   /* cancel everything started (then STEP_WAIT) */
	STEP_TRUNCATE, /* set the size of a tensor's file, outside of the library */
	STEP_CORRUPT,  /* flip one byte of a tensor's file, outside of the library */
	STEP_PREPARE, /* write the tensors' files with plain buffered writes, outside of the library
		       */
	STEP_REMOVE,  /* unlink a tensor's file, outside of the library */
	STEP_CLOSE,   /* close the handle with `timeout` (0: at once) */
	STEP_ABORT,   /* swapio_abort */
	STEP_OPEN,    /* open the handle (implicit before the first step) */
	STEP_FORK, /* fork; the child uses the handle and must be refused; parent waits and goes on
		    */
	STEP_IS_PINNED,	 /* ask swapio_is_pinned for base, slice, past the end, freed, reused; check
			    answers */
	STEP_STORE_OPEN, /* open a store, the first time implicit before the first step */
	STEP_STORE_CLOSE, /* close group and store */
	STEP_COPY_VOLUME, /* the group's volumes from one directory to another, outside of the
			     library; stale and foreign ones are made so */
	STEP_RELEASE,	  /* give slots back that swap-ins with `keep` left lent */
	STEP_VERIFY, /* swapio_store_verify of the whole store, and the second reader looks at it
		      * before and behind */
	STEP_STORE_REMOVE, /* swapio_store_remove of the group, from the store that is open */
	STEP_REPEAT,	   /* the steps since the last repeat mark again, `count` times in all */
	STEP_SYNC,    /* fsync the tensors' files and their directory, outside of the library */
	STEP_REPLACE, /* as swap-out, into FILE.new beside each file: fsync, rename, fsync of the
		       * directory: the way a program keeps the old until it has the new */
	STEP_DEVICE_RETURN, /* a device that was pulled out is put back, its file system mounted
			     * anew; what was open on it is dead */
	STEP_RESTART,	    /* the process ends here, and the next steps run in a fresh one */
	STEP_COUNT
};
const char *step_name(enum step_kind kind);  /* "swap-out" ... */
bool step_needs_handle(enum step_kind kind); /* it calls the library with an open handle */
bool step_needs_store(enum step_kind kind);  /* with a store: it has to be open */
int step_find(const char *name, enum step_kind *ret_kind); /* -ENOENT */

/* What a step changes of a store, outside of the library. */
enum store_part { STORE_PART_DATA, STORE_PART_MANIFEST, STORE_PART_HEAD, STORE_PART_RECORD };

struct step {
	enum step_kind kind;
	uint64_t tensors;   /* bit per tensor; 0 means all */
	bool write;	    /* STEP_START */
	bool by_fd;	    /* give descriptors instead of paths */
	bool buffered_fd;   /* with by_fd: open without O_DIRECT */
	unsigned threads;   /* split the tensors over that many threads; 0 and 1: none */
	bool own_handles;   /* with threads: a handle of its own for each */
	uint64_t numel;	    /* read or write with this numel instead; UINT64_MAX: the tensor's */
	int dtype;	    /* ... with this dtype; -1: the tensor's */
	int64_t timeout_ns; /* -1: for ever */
	uint64_t bytes;	    /* STEP_TRUNCATE size, STEP_CORRUPT offset in the tensor */
	unsigned count;	    /* STEP_REPEAT */
	bool directory;	    /* STEP_SYNC: of the directory, too */
	/* With a store. */
	unsigned as_first, as_count; /* the group's tensors are these, of tensors behind
					tensors_count; 0: as ever */
	uint64_t generation;	     /* swap-in: that must be stored; 0 any */
	int64_t slot_timeout_ns;     /* -1: for ever */
	bool keep;		     /* lent slots stay lent */
	bool read_only;		     /* STEP_STORE_OPEN */
	enum store_part part;	     /* STEP_CORRUPT, STEP_REMOVE */
	char from[WORKLOAD_PLACE_BYTES], to[WORKLOAD_PLACE_BYTES]; /* directories of stores */
	/* what this step is expected to do; see struct expectation. */
	char expect_error[16]; /* "" from the case; "ok", an errno name, or "any" */
	unsigned line;	       /* in the scenario */
};

struct handle_options { /* as struct swapio_options; names in YAML without the unit */
	uint64_t block_bytes;
	unsigned queue_depth, workers, requests_max, bounce_slots;
	bool single_submit, overlap_events;
	int unaligned; /* 0 reject, 1 bounce */
	uint64_t alignment_bytes;
	int direct; /* 0 prefer, 1 require */
};

enum store_checksum {
	STORE_CHECKSUM_DEFAULT,
	STORE_CHECKSUM_NONE,
	STORE_CHECKSUM_XXH64,
	STORE_CHECKSUM_XXH3
};

struct store_options { /* as struct swapio_store_options */
	bool used;     /* the tensors are one group of a store; else each has a file */
	char group[WORKLOAD_NAME_BYTES];
	enum store_checksum checksum;
	bool durable;
	uint64_t chunk_bytes, slot_bytes;
	unsigned slots, threads;
};

struct limits { /* real rlimits set in the worker after fork; UINT64_MAX: untouched */
	uint64_t memlock_bytes, nofile, fsize_bytes, address_space_bytes;
};

struct workload {
	struct handle_options handle;
	struct limits limits;
	struct store_options store;
	unsigned tensors_count;
	unsigned as_count; /* tensors behind those, of steps that say other ones */
	struct tensor tensors[WORKLOAD_TENSORS_MAX];
	unsigned steps_count;
	struct step steps[WORKLOAD_STEPS_MAX];
	bool arm_before_open; /* count from before swapio_open (io_setup, mmap, mlock ... faults) */
	bool aftermath; /* default true: disarm, then write and read a probe on the same handle */
};

/* What holds where a scenario says nothing: the library's own defaults, limits untouched. */
void handle_options_defaults(struct handle_options *handle);
void store_options_defaults(struct store_options *store);
void limits_defaults(struct limits *limits);
void tensor_defaults(struct tensor *tensor);
void step_defaults(struct step *step, enum step_kind kind);
void workload_defaults(struct workload *workload);

/* Where the store of a workload lies, and steps that say nothing else look. */
#define WORKLOAD_STORE_PLACE "store"

/* The steps [first, end) that one process carries out; a restart stands between two of them. */
struct image {
	unsigned first, end;
};
unsigned workload_images(const struct workload *workload);
/* Is anything promised of what it wrote once the power was cut? */
bool workload_is_durable(const struct workload *workload);
/* Is there a step that waits for a device to return? */
bool workload_has_return(const struct workload *workload);
struct image workload_image(const struct workload *workload, unsigned number);
/* Of which image a step is; a restart belongs to the one that it ends. */
unsigned workload_image_of(const struct workload *workload, unsigned step);

/* Bytes that a tensor holds; numel and dtype are checked, so that this cannot overflow. */
uint64_t tensor_bytes(const struct tensor *tensor);
bool step_has(const struct step *step, unsigned tensor); /* is it one of the step's tensors? */
/* What the step moves of tensor number @tensor. */
uint64_t step_transfer_bytes(const struct workload *workload, const struct step *step,
			     unsigned tensor);
/* The longest transfer of tensor number @tensor, or its size: the memory it needs. */
uint64_t workload_tensor_bytes(const struct workload *workload, unsigned tensor);
/* Of all tensors that steps may touch; UINT64_MAX: or more. */
uint64_t workload_bytes(const struct workload *workload);
/* What their files may take: a store keeps a second place for each tensor. */
uint64_t workload_file_bytes(const struct workload *workload);
/* A tensor of another list is known by the first one of its name: that one. */
unsigned workload_origin(const struct workload *workload, unsigned tensor);

/* One JSON object; malloc'ed, caller frees. NULL when out of memory. */
char *workload_encode(const struct workload *workload);
/* 0; -EINVAL with @diag saying which member is wrong; -ENOMEM. @ret_workload is written only on 0.
 */
int workload_decode(const char *json, struct workload *ret_workload, struct diag *diag);

#endif /* WORKLOAD_H */
