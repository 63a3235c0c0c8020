/* SPDX-License-Identifier: MIT */
/*
 * report_table.c - the table of the text report: a row for each scenario and target.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plan_internal.h"
#include "report_internal.h"

struct row {
	bool used;
	unsigned counts[VERDICT_COUNT];
	uint64_t duration_ns;
};

struct report_table {
	const struct plan *plan;
	struct row *rows; /* scenarios_count times TARGET_COUNT */
};

int report_table_create(const struct plan *plan, struct report_table **ret_table)
{
	struct report_table *table = calloc(1, sizeof(*table));

	if (!table)
		return -ENOMEM;
	table->plan = plan;
	table->rows = calloc(plan->scenarios_count * (size_t)TARGET_COUNT + 1, sizeof(struct row));
	if (!table->rows) {
		free(table);
		return -ENOMEM;
	}
	*ret_table = table;
	return 0;
}

void report_table_destroy(struct report_table *table)
{
	if (!table)
		return;
	free(table->rows);
	free(table);
}

static struct row *find_row(const struct report_table *table, const struct test_case *test_case)
{
	unsigned index = 0;

	while (index < table->plan->scenarios_count &&
	       table->plan->scenarios[index] != test_case->scenario)
		index++;
	return &table->rows[index * TARGET_COUNT + test_case->target];
}

void report_table_add(struct report_table *table, const struct case_result *result)
{
	struct row *row = find_row(table, result->test_case);

	row->used = true;
	row->counts[result->verdict]++;
	row->duration_ns += result->duration_ns;
}

static void print_count(FILE *stream, unsigned count)
{
	if (count)
		fprintf(stream, " %7u", count);
	else
		fprintf(stream, " %7s", "-");
}

static void print_row(FILE *stream, const char *name, int width, const char *target,
		      const struct row *row)
{
	fprintf(stream, "%-*s  %-6s", width, name, target);
	for (unsigned i = 0; i < VERDICT_COUNT; i++)
		print_count(stream, row->counts[i]);
	fprintf(stream, " %8.2f s\n", (double)row->duration_ns / 1e9);
}

static int name_width(const struct plan *plan)
{
	char name[DIAG_FILE_BYTES];
	size_t width = strlen("scenario");

	for (unsigned i = 0; i < plan->scenarios_count; i++) {
		plan_scenario_name(plan->scenarios[i]->path, name, sizeof(name));
		width = strlen(name) > width ? strlen(name) : width;
	}
	return (int)width;
}

void report_table_print(const struct report_table *table, FILE *stream)
{
	int width = name_width(table->plan);
	char name[DIAG_FILE_BYTES];

	fprintf(stream, "%-*s  %-6s %7s %7s %7s %7s %7s %10s\n", width, "scenario", "target",
		"pass", "fail", "vacuous", "skip", "broken", "time");
	for (unsigned i = 0; i < table->plan->scenarios_count; i++) {
		plan_scenario_name(table->plan->scenarios[i]->path, name, sizeof(name));
		for (unsigned target = 0; target < TARGET_COUNT; target++) {
			const struct row *row = &table->rows[i * TARGET_COUNT + target];

			if (row->used)
				print_row(stream, name, width, target_name((enum target)target),
					  row);
		}
	}
}
