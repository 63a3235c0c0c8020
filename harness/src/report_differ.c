/* SPDX-License-Identifier: MIT */
/*
 * report_differ.c - the same case on the host and in a guest: where the verdicts differ, so do two
 * kernels or two devices, which is worth a look whichever of them is right.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report_internal.h"

#define NOT_RUN VERDICT_SKIP

struct report_differ {
	const struct plan *plan;
	enum verdict *verdicts; /* of each case; NOT_RUN */
};

int report_differ_create(const struct plan *plan, struct report_differ **ret_differ)
{
	struct report_differ *differ = calloc(1, sizeof(*differ));

	if (differ)
		differ->verdicts = calloc(plan->count + 1u, sizeof(*differ->verdicts));
	if (!differ || !differ->verdicts) {
		free(differ);
		return -ENOMEM;
	}
	differ->plan = plan;
	for (unsigned i = 0; i < plan->count; i++)
		differ->verdicts[i] = NOT_RUN;
	*ret_differ = differ;
	return 0;
}

void report_differ_destroy(struct report_differ *differ)
{
	if (!differ)
		return;
	free(differ->verdicts);
	free(differ);
}

void report_differ_add(struct report_differ *differ, const struct case_result *result)
{
	if (result->test_case->index < differ->plan->count)
		differ->verdicts[result->test_case->index] = result->verdict;
}

/* Names are alike up to their last @, behind which is the target. */
static bool is_same_cell(const struct test_case *a, const struct test_case *b)
{
	size_t length = (size_t)(strrchr(a->name, '@') - a->name);

	return a->scenario == b->scenario && strncmp(a->name, b->name, length + 1) == 0 &&
	       strrchr(b->name, '@') == b->name + length;
}

/* The targets of a cell follow each other in a plan. The host's comes first; NULL: it has none. */
static const struct test_case *on_host(const struct plan *plan, unsigned index)
{
	for (unsigned back = 1; back < TARGET_COUNT && back <= index; back++) {
		const struct test_case *test_case = &plan->cases[index - back];

		if (test_case->target == TARGET_HOST &&
		    is_same_cell(&plan->cases[index], test_case))
			return test_case;
	}
	return NULL;
}

void report_differ_print(const struct report_differ *differ, FILE *stream)
{
	const struct plan *plan = differ->plan;

	for (unsigned i = 0; i < plan->count; i++) {
		enum verdict there = differ->verdicts[i], here;
		const struct test_case *host;

		if (plan->cases[i].target != TARGET_NVME || there == NOT_RUN)
			continue;
		host = on_host(plan, i);
		here = host ? differ->verdicts[host->index] : NOT_RUN;
		if (here != NOT_RUN && here != there)
			fprintf(stream, "differs: %s: %s, and %s on the host\n",
				plan->cases[i].name, verdict_name(there), verdict_name(here));
	}
}
