/* SPDX-License-Identifier: MIT */
/*
 * plan_select.c - choosing among what the scenarios offer.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "nearest.h"
#include "plan_select.h"

/* "workers" and "handle.workers" are one key. */
static const char *bare_key(const char *key)
{
	return strncmp(key, "handle.", 7) == 0 ? key + 7 : key;
}

static bool same_key(const char *key, const char *cell, size_t cell_length)
{
	char name[sizeof(((struct matrix_key *)0)->key)];

	if (cell_length >= sizeof(name))
		return false;
	memcpy(name, cell, cell_length);
	name[cell_length] = '\0';
	return strcmp(bare_key(key), bare_key(name)) == 0;
}

static const struct matrix_key *find_key(const struct scenario *scenario, const char *cell)
{
	size_t length = strcspn(cell, "=");

	for (unsigned i = 0; i < scenario->matrix_count; i++)
		if (same_key(scenario->matrix[i].key, cell, length))
			return &scenario->matrix[i];
	return NULL;
}

static int refuse_value(const char *cell, const struct matrix_key *key,
			const struct scenario *scenario, struct diag *diag)
{
	char list[300] = "";
	size_t used = 0;

	for (unsigned i = 0; i < key->values_count && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 key->values[i]);
	return diag_set(diag, NULL, 0, 0, "--case %s: %s in %s is one of %s", cell, key->key,
			scenario->path, list);
}

static int refuse_key(const char *cell, struct scenario *const *scenarios, unsigned count,
		      struct diag *diag)
{
	char word[64];
	struct nearest nearest;

	snprintf(word, sizeof(word), "%.*s", (int)strcspn(cell, "="), cell);
	nearest_init(&nearest, word);
	for (unsigned i = 0; i < count; i++)
		for (unsigned k = 0; k < scenarios[i]->matrix_count; k++)
			nearest_offer(&nearest, scenarios[i]->matrix[k].key);
	return diag_set(diag, NULL, 0, 0, "--case %s: no matrix has the key '%s'%s%s%s", cell, word,
			nearest.best ? ", did you mean '" : "", nearest.best ? nearest.best : "",
			nearest.best ? "'?" : "");
}

static bool has_value(const struct matrix_key *key, const char *value)
{
	for (unsigned i = 0; i < key->values_count; i++)
		if (strcmp(key->values[i], value) == 0)
			return true;
	return false;
}

static int check_cell(const char *cell, struct scenario *const *scenarios, unsigned count,
		      struct diag *diag)
{
	const char *equals = strchr(cell, '=');
	const struct scenario *with_key = NULL;
	const struct matrix_key *key = NULL;

	if (!equals || equals == cell || !equals[1])
		return diag_set(diag, NULL, 0, 0, "--case '%s': must be KEY=VALUE", cell);
	for (unsigned i = 0; i < count; i++) {
		const struct matrix_key *found = find_key(scenarios[i], cell);

		if (found && has_value(found, equals + 1))
			return 0;
		if (found && !with_key) {
			with_key = scenarios[i];
			key = found;
		}
	}
	return with_key ? refuse_value(cell, key, with_key, diag)
			: refuse_key(cell, scenarios, count, diag);
}

int plan_select_check(const struct plan_options *options, struct scenario *const *scenarios,
		      unsigned scenarios_count, struct diag *diag)
{
	for (unsigned i = 0; i < options->cells_count; i++)
		if (check_cell(options->cells[i], scenarios, scenarios_count, diag) < 0)
			return -EINVAL;
	return 0;
}

/* Cells that differ in the replaced faults alone are one cell. */
static bool is_double(const struct plan_options *options, const struct scenario *scenario,
		      const unsigned *choice)
{
	for (unsigned i = 0; options->faults_count && i < scenario->matrix_count; i++)
		if (strcmp(scenario->matrix[i].key, "faults") == 0 && choice[i] != 0)
			return true;
	return false;
}

bool plan_select_cell(const struct plan_options *options, const struct scenario *scenario,
		      const unsigned *choice)
{
	for (unsigned i = 0; i < options->cells_count; i++) {
		const struct matrix_key *key = find_key(scenario, options->cells[i]);
		const char *value = strchr(options->cells[i], '=') + 1;

		if (!key || strcmp(key->values[choice[key - scenario->matrix]], value) != 0)
			return false;
	}
	return !is_double(options, scenario, choice);
}

unsigned plan_select_targets(const struct plan_options *options, const struct scenario *scenario)
{
	return options->targets ? scenario->targets & options->targets : scenario->targets;
}

bool plan_select_name(const struct plan_options *options, const char *name)
{
	return !options->filter || fnmatch(options->filter, name, 0) == 0;
}
