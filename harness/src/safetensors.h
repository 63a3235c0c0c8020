/* SPDX-License-Identifier: MIT */
/*
 * safetensors.h - names, dtypes and shapes of a checkpoint, from the header of its file alone.
 *
 * A file is a u64 (little-endian) that says how long the header is, the header as a JSON object,
 * and the bytes of the tensors, without a gap, an overlap or a rest. What breaks a rule of the
 * format is refused, however it came about.
 *
 * Threads: one owner.
 */
#ifndef SAFETENSORS_H
#define SAFETENSORS_H

#include "workload.h"

#define SAFETENSORS_HEADER_BYTES_MAX 100000000u /* as the format's own library has it */
#define SAFETENSORS_NUMEL_MAX (UINT64_C(1) << 40)

struct safetensors_tensor {
	char *name;
	enum dtype dtype;
	unsigned dims;
	uint64_t shape[WORKLOAD_DIMS_MAX];
	uint64_t numel;
	uint64_t begin, end; /* behind the header */
};

struct safetensors { /* in the order of their bytes */
	size_t count;
	struct safetensors_tensor *tensors;
};

/* 0; -EINVAL with @text that names the place and the value; -ENOMEM; -errno of the file, with
 * @text, too. */
int safetensors_read(const char *path, struct safetensors **ret_file, char *text,
		     size_t text_bytes);
/* As of a file of @file_bytes bytes in all that begins with the @bytes of @data. */
int safetensors_parse(const void *data, size_t bytes, uint64_t file_bytes,
		      struct safetensors **ret_file, char *text, size_t text_bytes);
void safetensors_free(struct safetensors *file);

#endif /* SAFETENSORS_H */
