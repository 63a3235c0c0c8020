/* SPDX-License-Identifier: MIT */
/*
 * oracle_data.c - whatever is said to have moved is there. Memory was compared by the worker, which
 * alone has it; files are compared by the reader in this process (reader.c).
 */
#include <inttypes.h>

#include "oracle.h"

void oracle_data(const struct observation *seen, struct case_result *result)
{
	const struct outcome *outcome = seen->outcome;

	for (unsigned i = 0; i < outcome->data_count; i++) {
		const struct outcome_remark *remark = &outcome->data[i];
		const struct step *step = &seen->workload->steps[remark->step];

		result_add(result, "data", CLASS_CORRUPTION,
			   "step %u (%s): tensor %s, bytes %" PRIu64 "-%" PRIu64 " %s (%" PRIu64
			   " bytes are wrong)",
			   remark->step + 1, step_name(step->kind),
			   seen->workload->tensors[remark->tensor].name, remark->begin,
			   remark->end - 1, remark->text, remark->bad);
	}
}
