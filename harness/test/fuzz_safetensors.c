/* SPDX-License-Identifier: MIT */
/*
 * fuzz_safetensors.c - any bytes as a checkpoint: refused with a sentence, or tensors that lie
 * without a gap in the file.
 */
#undef NDEBUG
#include <assert.h>
#include <string.h>

#include "safetensors.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static void check(const struct safetensors *file, uint64_t file_bytes)
{
	uint64_t end = 0;

	for (size_t i = 0; i < file->count; i++) {
		const struct safetensors_tensor *tensor = &file->tensors[i];
		uint64_t numel = 1;

		for (unsigned d = 0; d < tensor->dims; d++)
			numel *= tensor->shape[d];
		assert(tensor->name[0] && tensor->numel == numel && tensor->begin == end);
		assert(tensor->end - tensor->begin == numel * dtype_bytes(tensor->dtype));
		end = tensor->end;
	}
	assert(end <= file_bytes);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
	/* Large files, too, of which only the beginning is there; and the length may be right. */
	uint64_t file_bytes = bytes + (bytes ? (uint64_t)data[0] << 8 * (data[0] % 6) : 0);
	struct safetensors *file = NULL;
	char text[256] = "";
	int error = safetensors_parse(data, bytes, file_bytes, &file, text, sizeof(text));

	if (error < 0) {
		assert(!file && text[0]);
		return 0;
	}
	check(file, file_bytes);
	safetensors_free(file);
	return 0;
}
