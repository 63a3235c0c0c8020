/* SPDX-License-Identifier: MIT */
/*
 * matrix.c - reading the matrix, counting its cells, and putting a cell's values into the tree.
 *
 * A bare key is an option of handle or a key of the file; a dotted one is a place in the file,
 * where a number selects a member of a list: swap.tensors.0.numel.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"
#include "number.h"
#include "scenario_schema.h"

/* What a matrix may change: nothing that says what the scenario is. */
static const char *const open_keys[] = {"swap",	  "program",   "store",	 "handle",
					"device", "limits",    "expect", "faults",
					"arm",	  "aftermath", NULL};

static int join_faults(struct scenario_reader *reader, const struct yaml_node *node,
		       char text[SCENARIO_VALUE_BYTES])
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < node->count; i++) {
		const char *word;

		if (scenario_read_text(reader, node->items[i], "faults", &word) < 0)
			return -EINVAL;
		used += (size_t)snprintf(text + used, SCENARIO_VALUE_BYTES - used, "%s%s",
					 used ? "; " : "", word);
		if (used >= SCENARIO_VALUE_BYTES)
			return scenario_refuse(reader, node, "faults: longer than %d bytes",
					       SCENARIO_VALUE_BYTES - 1);
	}
	return 0;
}

static int read_value(struct scenario_reader *reader, const char *key, const struct yaml_node *node,
		      char text[SCENARIO_VALUE_BYTES])
{
	const char *word;

	if (strcmp(key, "faults") == 0 && node->kind == YAML_KIND_LIST)
		return join_faults(reader, node, text);
	if (scenario_read_text(reader, node, key, &word) < 0)
		return -EINVAL;
	if (strlen(word) >= SCENARIO_VALUE_BYTES)
		return scenario_refuse(reader, node, "%s: longer than %d bytes", key,
				       SCENARIO_VALUE_BYTES - 1);
	memcpy(text, word, strlen(word) + 1);
	return 0;
}

static int read_values(struct scenario_reader *reader, const struct yaml_node *name,
		       const struct yaml_node *list, struct matrix_key *key)
{
	if (list->kind != YAML_KIND_LIST)
		return scenario_refuse(reader, list, "%s: %s, must be a list of values", name->text,
				       yaml_kind_name(list->kind));
	if (list->count < 1 || list->count > SCENARIO_MATRIX_VALUES_MAX)
		return scenario_refuse(reader, list, "%s: %u values, must be 1 to %d", name->text,
				       list->count, SCENARIO_MATRIX_VALUES_MAX);
	for (unsigned i = 0; i < list->count; i++) {
		if (read_value(reader, name->text, list->items[i], key->values[i]) < 0)
			return -EINVAL;
		for (unsigned k = 0; k < i; k++)
			if (strcmp(key->values[k], key->values[i]) == 0)
				return scenario_refuse(reader, list->items[i],
						       "%s: '%s' is given twice", name->text,
						       key->values[i]);
	}
	key->values_count = list->count;
	return 0;
}

static int read_key(struct scenario_reader *reader, const struct yaml_node *name,
		    const struct yaml_node *list, struct matrix_key *key)
{
	if (strlen(name->text) >= sizeof(key->key) || !name->text[0])
		return scenario_refuse(reader, name, "key '%s': must have 1 to %zu bytes",
				       name->text, sizeof(key->key) - 1);
	memcpy(key->key, name->text, strlen(name->text) + 1);
	key->line = name->line;
	key->column = name->column;
	return read_values(reader, name, list, key);
}

int scenario_read_matrix(struct scenario_reader *reader, const struct yaml_node *node)
{
	struct scenario *scenario = reader->scenario;
	unsigned cells = 1;

	if (node->kind != YAML_KIND_MAP)
		return scenario_refuse(reader, node, "matrix: %s, must be a map of keys",
				       yaml_kind_name(node->kind));
	if (node->count < 1 || node->count > SCENARIO_MATRIX_KEYS_MAX)
		return scenario_refuse(reader, node, "matrix: %u keys, must be 1 to %d",
				       node->count, SCENARIO_MATRIX_KEYS_MAX);
	for (unsigned i = 0; i < node->count; i++) {
		if (read_key(reader, node->names[i], node->items[i], &scenario->matrix[i]) < 0)
			return -EINVAL;
		cells *= scenario->matrix[i].values_count;
		if (cells > SCENARIO_CELLS_MAX)
			return scenario_refuse(reader, node->names[i],
					       "matrix: more than %d combinations",
					       SCENARIO_CELLS_MAX);
	}
	scenario->matrix_count = node->count;
	return 0;
}

unsigned matrix_cells(const struct scenario *scenario)
{
	unsigned cells = 1;

	for (unsigned i = 0; i < scenario->matrix_count; i++)
		cells *= scenario->matrix[i].values_count;
	return cells;
}

void matrix_cell(const struct scenario *scenario, unsigned number,
		 unsigned choice[SCENARIO_MATRIX_KEYS_MAX])
{
	for (unsigned i = scenario->matrix_count; i-- > 0;) {
		choice[i] = number % scenario->matrix[i].values_count;
		number /= scenario->matrix[i].values_count;
	}
}

char *matrix_cell_name(const struct scenario *scenario, const unsigned *choice)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *stream = open_memstream(&text, &bytes);

	if (!stream)
		return NULL;
	for (unsigned i = 0; i < scenario->matrix_count; i++)
		fprintf(stream, "%s%s=%s", i ? "," : "", scenario->matrix[i].key,
			scenario->matrix[i].values[choice[i]]);
	if (fclose(stream) == 0)
		return text;
	free(text);
	return NULL;
}

static bool is_open(const char *name)
{
	for (const char *const *key = open_keys; *key; key++)
		if (strcmp(*key, name) == 0)
			return true;
	return false;
}

/* "workers" -> "handle.workers"; others stay as they are. */
static int full_place(struct scenario_reader *reader, const struct yaml_node *name, char place[128])
{
	size_t first = strcspn(name->text, ".");
	char top[64];

	snprintf(top, sizeof(top), "%.*s", (int)(first < 63 ? first : 63), name->text);
	snprintf(place, 128, "%s", name->text);
	if (is_open(top))
		return 0;
	for (const struct scenario_key *key = scenario_keys; key->name; key++)
		if (strcmp(key->name, top) == 0)
			return scenario_refuse(reader, name, "key '%s' cannot be in a matrix", top);
	for (const struct scenario_key *key = handle_keys; key->name; key++)
		if (strcmp(key->name, name->text) == 0) {
			snprintf(place, 128, "handle.%s", name->text);
			return 0;
		}
	return scenario_refuse_key(reader, name, handle_keys, "the matrix");
}

static struct yaml_node **member_slot(struct yaml_node *node, const char *name)
{
	for (unsigned i = 0; i < node->count; i++)
		if (strcmp(node->names[i]->text, name) == 0)
			return &node->items[i];
	return NULL;
}

/* The slot of one step of the path, made where a map has no such key yet. */
static int descend(struct scenario_reader *reader, const struct yaml_node *name,
		   struct yaml_node *node, const char *word, struct yaml_node ***ret_slot)
{
	uint64_t index;

	if (node->kind == YAML_KIND_SCALAR)
		return scenario_refuse(reader, name, "key '%s': nothing is below '%s', it is %s",
				       name->text, node->text, yaml_kind_name(node->kind));
	if (node->kind == YAML_KIND_LIST) {
		if (number_count(word, &index) < 0 || index >= node->count)
			return scenario_refuse(reader, name,
					       "key '%s': no member '%s', the list has %u, from 0",
					       name->text, word, node->count);
		*ret_slot = &node->items[index];
		return 0;
	}
	*ret_slot = member_slot(node, word);
	if (*ret_slot)
		return 0;
	if (yaml_node_append(node, yaml_node_scalar(word, name),
			     yaml_node_new(YAML_KIND_MAP, name)) < 0)
		return -ENOMEM;
	*ret_slot = &node->items[node->count - 1];
	return 0;
}

static int set_place(struct scenario_reader *reader, const struct yaml_node *name,
		     struct yaml_node *root, const struct yaml_node *value)
{
	struct yaml_node **slot = &root, *copy;
	char place[128], *rest = place, *word;
	int result = full_place(reader, name, place);

	while (result == 0 && (word = strsep(&rest, ".")) != NULL)
		result = descend(reader, name, *slot, word, &slot);
	if (result < 0)
		return result;
	copy = yaml_node_dup(value);
	if (!copy)
		return -ENOMEM;
	yaml_node_free(*slot);
	*slot = copy;
	return 0;
}

static int apply(const struct scenario *scenario, const unsigned *choice, struct yaml_node *root,
		 struct diag *diag)
{
	struct scenario_reader reader = {.path = scenario->path, .diag = diag};
	const struct yaml_node *matrix = yaml_node_member(scenario->root, "matrix");
	int result = 0;

	for (unsigned i = 0; result == 0 && i < scenario->matrix_count; i++)
		result = set_place(&reader, matrix->names[i], root,
				   matrix->items[i]->items[choice[i]]);
	return result;
}

int matrix_decode(const struct scenario *scenario, const unsigned *choice, struct scenario *cell,
		  struct diag *diag)
{
	struct yaml_node *root = yaml_node_dup(scenario->root);
	char *name = matrix_cell_name(scenario, choice);
	int result = root && name ? apply(scenario, choice, root, diag) : -ENOMEM;

	if (result == 0)
		result = scenario_decode(root, scenario->path, name, cell, diag);
	free(name);
	yaml_node_free(root);
	return result;
}
