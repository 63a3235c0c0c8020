/* SPDX-License-Identifier: MIT */
/*
 * fuzz_scenario.c - any bytes as a scenario file: refused with a sentence, or read, planned and
 * encoded.
 */
#undef NDEBUG
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"
#include "scenario.h"

#define CELLS_TRIED 8

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes);

static void encode_and_decode(const struct scenario *scenario)
{
	static struct workload back;
	char *json = workload_encode(&scenario->workload);
	struct diag diag = {0};

	assert(json);
	assert(workload_decode(json, &back, &diag) == 0);
	free(json);
}

static void try_cells(const struct scenario *scenario)
{
	unsigned count = matrix_cells(scenario), choice[SCENARIO_MATRIX_KEYS_MAX];

	assert(count >= 1 && count <= SCENARIO_CELLS_MAX);
	for (unsigned i = 0; i < count && i < CELLS_TRIED; i++) {
		struct scenario *cell = calloc(1, sizeof(*cell));
		struct diag diag = {0};

		assert(cell);
		matrix_cell(scenario, i, choice);
		if (matrix_decode(scenario, choice, cell, &diag) == 0)
			encode_and_decode(cell);
		else
			assert(diag.text[0] && diag.line && diag.column);
		scenario_free(cell);
	}
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t bytes)
{
	struct scenario *scenario = NULL;
	struct diag diag = {0};
	int result = scenario_parse((const char *)data, bytes, "fuzz.yaml", &scenario, &diag);

	if (result < 0) {
		assert(!scenario);
		assert(diag.text[0] && !strchr(diag.text, '\n'));
		return 0;
	}
	encode_and_decode(scenario);
	try_cells(scenario);
	scenario_free(scenario);
	return 0;
}
