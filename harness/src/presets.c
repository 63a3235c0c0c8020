/* SPDX-License-Identifier: MIT */
/*
 * presets.c - the table of optimizer states, and how a parameter's numel makes theirs.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "presets.h"

/* How the size of a state comes from the parameter's. */
enum extent {
	EXTENT_PARAMETER, /* as the parameter, with its shape */
	EXTENT_SCALAR,	  /* one element, no dimensions */
	EXTENT_ROWS,	  /* the parameter's shape without its last dimension */
	EXTENT_COLUMNS,	  /* the parameter's shape without its last but one */
	EXTENT_BLOCKS,	  /* one for each block of the parameter, the last of which may be short */
	EXTENT_CODES,	  /* a table of the 256 values that a byte stands for */
	EXTENT_FIXED,	  /* as the row says */
};

struct state {
	const char *name;
	enum dtype dtype;
	enum extent extent;
	uint64_t numel; /* EXTENT_FIXED */
};

#define CODES 256

static const struct preset {
	const char *name, *doc;
	unsigned least_dims; /* that a parameter must have */
	struct state states[20];
} presets[] = {
	{"sgd",
	 "SGD with momentum: one state as large as the parameter",
	 0,
	 {{"momentum_buffer", DTYPE_FP32, EXTENT_PARAMETER, 0}}},
	{"fused-adam",
	 "FusedAdam of ZeRO: master parameter and two moments, [N, N, N]",
	 0,
	 {{"param", DTYPE_FP32, EXTENT_PARAMETER, 0},
	  {"exp_avg", DTYPE_FP32, EXTENT_PARAMETER, 0},
	  {"exp_avg_sq", DTYPE_FP32, EXTENT_PARAMETER, 0}}},
	{"torch-adam",
	 "Adam of torch: a scalar step and two moments, [1, N, N]",
	 0,
	 {{"step", DTYPE_FP32, EXTENT_SCALAR, 0},
	  {"exp_avg", DTYPE_FP32, EXTENT_PARAMETER, 0},
	  {"exp_avg_sq", DTYPE_FP32, EXTENT_PARAMETER, 0}}},
	{"adafactor",
	 "Adafactor: row and column factors of a parameter with two dimensions or more",
	 2,
	 {{"step", DTYPE_FP32, EXTENT_SCALAR, 0},
	  {"exp_avg_sq_row", DTYPE_FP32, EXTENT_ROWS, 0},
	  {"exp_avg_sq_col", DTYPE_FP32, EXTENT_COLUMNS, 0}}},
	{"adam8bit",
	 "Adam in 8 bits: two states of bytes, a maximum for each block, tables of codes",
	 0,
	 {{"state1", DTYPE_U8, EXTENT_PARAMETER, 0},
	  {"state2", DTYPE_U8, EXTENT_PARAMETER, 0},
	  {"qmap1", DTYPE_FP32, EXTENT_CODES, 0},
	  {"qmap2", DTYPE_FP32, EXTENT_CODES, 0},
	  {"absmax1", DTYPE_FP32, EXTENT_BLOCKS, 0},
	  {"absmax2", DTYPE_FP32, EXTENT_BLOCKS, 0}}},
	{"bf16-adam",
	 "a parameter in bf16 whose master and moments are fp32",
	 0,
	 {{"param", DTYPE_BF16, EXTENT_PARAMETER, 0},
	  {"master", DTYPE_FP32, EXTENT_PARAMETER, 0},
	  {"step", DTYPE_FP32, EXTENT_SCALAR, 0},
	  {"exp_avg", DTYPE_FP32, EXTENT_PARAMETER, 0},
	  {"exp_avg_sq", DTYPE_FP32, EXTENT_PARAMETER, 0}}},
	{"edges",
	 "empty tensors first, in the middle and last, and sizes around every alignment step",
	 0,
	 {{"empty-first", DTYPE_FP32, EXTENT_FIXED, 0},
	  {"one", DTYPE_U8, EXTENT_FIXED, 1},
	  {"below-512", DTYPE_U8, EXTENT_FIXED, 511},
	  {"at-512", DTYPE_U8, EXTENT_FIXED, 512},
	  {"above-512", DTYPE_U8, EXTENT_FIXED, 513},
	  {"empty-middle", DTYPE_FP64, EXTENT_FIXED, 0},
	  {"below-4096", DTYPE_U8, EXTENT_FIXED, 4095},
	  {"at-4096", DTYPE_U8, EXTENT_FIXED, 4096},
	  {"above-4096", DTYPE_U8, EXTENT_FIXED, 4097},
	  {"below-2-pages", DTYPE_I16, EXTENT_FIXED, 4095},
	  {"below-65536", DTYPE_U8, EXTENT_FIXED, 65535},
	  {"at-65536", DTYPE_U8, EXTENT_FIXED, 65536},
	  {"above-65536", DTYPE_U8, EXTENT_FIXED, 65537},
	  {"one-double", DTYPE_FP64, EXTENT_FIXED, 1},
	  {"empty-last", DTYPE_U8, EXTENT_FIXED, 0}}},
};

#define PRESETS (sizeof(presets) / sizeof(*presets))

const char *const preset_names[] = {"sgd",	"fused-adam", "torch-adam", "adafactor",
				    "adam8bit", "bf16-adam",  "edges",	    NULL};

_Static_assert(sizeof(preset_names) / sizeof(*preset_names) == PRESETS + 1,
	       "every preset is named");

static const struct preset *find(const char *name)
{
	for (size_t i = 0; i < PRESETS; i++)
		if (strcmp(presets[i].name, name) == 0)
			return &presets[i];
	return NULL;
}

static unsigned count_states(const struct preset *preset)
{
	unsigned count = 0;

	while (count < sizeof(preset->states) / sizeof(*preset->states) &&
	       preset->states[count].name)
		count++;
	return count;
}

/* All dimensions but @left_out; UINT_MAX leaves none out. */
static void copy_shape(const struct preset_asked *asked, unsigned left_out, struct tensor *tensor)
{
	tensor->dims = 0;
	for (unsigned i = 0; i < asked->dims; i++)
		if (i != left_out)
			tensor->shape[tensor->dims++] = asked->shape[i];
}

static void set_vector(struct tensor *tensor, uint64_t numel)
{
	tensor->numel = numel;
	tensor->dims = 1;
	tensor->shape[0] = numel;
}

static uint64_t product(const struct tensor *tensor)
{
	uint64_t numel = 1;

	for (unsigned i = 0; i < tensor->dims; i++)
		numel *= tensor->shape[i];
	return numel;
}

static void set_extent(const struct preset_asked *asked, const struct state *state,
		       struct tensor *tensor)
{
	switch (state->extent) {
	case EXTENT_PARAMETER:
		tensor->numel = asked->numel;
		copy_shape(asked, UINT32_MAX, tensor);
		break;
	case EXTENT_SCALAR:
		tensor->numel = 1;
		break;
	case EXTENT_ROWS:
		copy_shape(asked, asked->dims - 1, tensor);
		tensor->numel = product(tensor);
		break;
	case EXTENT_COLUMNS:
		copy_shape(asked, asked->dims - 2, tensor);
		tensor->numel = product(tensor);
		break;
	case EXTENT_BLOCKS:
		set_vector(tensor, (asked->numel + asked->block - 1) / asked->block);
		break;
	case EXTENT_CODES:
		set_vector(tensor, CODES);
		break;
	case EXTENT_FIXED:
		set_vector(tensor, state->numel);
		break;
	}
}

static void make_tensor(const struct preset_asked *asked, const struct state *state,
			unsigned parameter, struct tensor *tensor)
{
	tensor_defaults(tensor);
	tensor->dtype = state->dtype;
	tensor->memory = asked->memory;
	tensor->pointer_offset_bytes = asked->pointer_offset_bytes;
	if (asked->parameters > 1)
		snprintf(tensor->name, sizeof(tensor->name), "%u.%s", parameter, state->name);
	else
		snprintf(tensor->name, sizeof(tensor->name), "%s", state->name);
	set_extent(asked, state, tensor);
}

static int check(const struct preset *preset, const struct preset_asked *asked, char *text,
		 size_t text_bytes)
{
	bool sized = preset->states[0].extent != EXTENT_FIXED;

	if (sized && !asked->numel && !asked->dims)
		snprintf(text, text_bytes, "preset %s needs a numel or a shape", preset->name);
	else if (!sized && (asked->numel || asked->dims))
		snprintf(text, text_bytes, "preset %s has sizes of its own, it takes no numel",
			 preset->name);
	else if (asked->dims < preset->least_dims)
		snprintf(text, text_bytes,
			 "preset %s needs a shape of %u dimensions or more, not %u", preset->name,
			 preset->least_dims, asked->dims);
	else
		return 0;
	return -EINVAL;
}

int preset_expand(const struct preset_asked *asked, struct tensor *tensors, unsigned room,
		  char *text, size_t text_bytes)
{
	const struct preset *preset = find(asked->name);
	unsigned states, count = 0;

	if (!preset) {
		snprintf(text, text_bytes, "no preset is named '%s'", asked->name);
		return -EINVAL;
	}
	if (check(preset, asked, text, text_bytes) < 0)
		return -EINVAL;
	states = count_states(preset);
	if (states * asked->parameters > room) {
		snprintf(text, text_bytes, "%u parameters of preset %s make %u tensors, at most %u",
			 asked->parameters, preset->name, states * asked->parameters, room);
		return -ERANGE;
	}
	for (unsigned p = 0; p < asked->parameters; p++)
		for (unsigned s = 0; s < states; s++)
			make_tensor(asked, &preset->states[s], p, &tensors[count++]);
	return (int)count;
}

void presets_print(FILE *stream)
{
	for (size_t i = 0; i < PRESETS; i++) {
		fprintf(stream, "%-12s %s\n             ", presets[i].name, presets[i].doc);
		for (unsigned s = 0; s < count_states(&presets[i]); s++)
			fprintf(stream, "%s%s %s", s ? ", " : "", presets[i].states[s].name,
				dtype_name(presets[i].states[s].dtype));
		fputc('\n', stream);
	}
}
