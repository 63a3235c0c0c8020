/* SPDX-License-Identifier: MIT */
/*
 * scenario_steps.c - the steps of a workload: "swap-out", or {swap-out: {threads: 4}}.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "nearest.h"
#include "scenario_schema.h"

bool scenario_step_takes(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = list; (at = strstr(at, word)) != NULL; at += length)
		if ((at == list || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' '))
			return true;
	return false;
}

static int refuse_kind(struct scenario_reader *reader, const struct yaml_node *node)
{
	struct nearest nearest;
	char list[300] = "";
	size_t used = 0;

	nearest_init(&nearest, node->text);
	for (unsigned i = 0; i < STEP_COUNT; i++) {
		const char *name = step_name((enum step_kind)i);

		nearest_offer(&nearest, name);
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 name);
	}
	if (nearest.best)
		return scenario_refuse(reader, node, "unknown step '%s', did you mean '%s'?",
				       node->text, nearest.best);
	return scenario_refuse(reader, node, "unknown step '%s', known are %s", node->text, list);
}

static int find_tensor(const struct workload *workload, const char *name)
{
	for (unsigned i = 0; i < workload->tensors_count; i++)
		if (strcmp(workload->tensors[i].name, name) == 0)
			return (int)i;
	return -ENOENT;
}

static int refuse_tensor(struct scenario_reader *reader, const struct yaml_node *node)
{
	const struct workload *workload = &reader->scenario->workload;
	struct nearest nearest;

	nearest_init(&nearest, node->text);
	for (unsigned i = 0; i < workload->tensors_count; i++)
		nearest_offer(&nearest, workload->tensors[i].name);
	return scenario_refuse(reader, node, "no tensor is named '%s'%s%s%s", node->text,
			       nearest.best ? ", did you mean '" : "",
			       nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
}

/* One name or a list of names; each at most once. */
static int read_tensors(struct scenario_reader *reader, const struct yaml_node *node,
			uint64_t *ret_tensors)
{
	unsigned count = node->kind == YAML_KIND_SCALAR ? 1 : node->count;

	if (node->kind == YAML_KIND_MAP || count == 0)
		return scenario_refuse(reader, node, "tensors: must be a list of names");
	*ret_tensors = 0;
	for (unsigned i = 0; i < count; i++) {
		const struct yaml_node *item =
			node->kind == YAML_KIND_SCALAR ? node : node->items[i];
		const char *text;
		int index;

		if (scenario_read_text(reader, item, "tensors", &text) < 0)
			return -EINVAL;
		index = find_tensor(&reader->scenario->workload, text);
		if (index < 0)
			return refuse_tensor(reader, item);
		if (*ret_tensors & (1ull << index))
			return scenario_refuse(reader, item, "tensors: '%s' is given twice", text);
		*ret_tensors |= 1ull << index;
	}
	return 0;
}

static const struct scenario_key *find_step_key(const char *name)
{
	for (const struct scenario_key *key = step_keys; key->name; key++)
		if (strcmp(key->name, name) == 0)
			return key;
	return NULL;
}

/* What a step takes here: with a store, or without. NULL: it does not go with it. */
static const char *keys_of(const struct scenario_reader *reader, const struct step *step)
{
	const struct step_rule *rule = &step_rules[step->kind];

	return reader->scenario->workload.store.used ? rule->store_keys : rule->keys;
}

static int refuse_step_key(struct scenario_reader *reader, const struct step *step,
			   const struct yaml_node *name)
{
	const char *keys = keys_of(reader, step);
	struct nearest nearest;

	nearest_init(&nearest, name->text);
	for (const struct scenario_key *key = step_keys; key->name; key++)
		if (scenario_step_takes(keys, key->name))
			nearest_offer(&nearest, key->name);
	if (nearest.best)
		return scenario_refuse(reader, name, "unknown key '%s' in %s, did you mean '%s'?",
				       name->text, step_name(step->kind), nearest.best);
	return scenario_refuse(reader, name, "unknown key '%s' in %s, %s%s", name->text,
			       step_name(step->kind), *keys ? "known are " : "it takes none", keys);
}

/* The other tensors of a step lie behind those that were read before. */
static int read_as(struct scenario_reader *reader, const struct yaml_node *node, struct step *step)
{
	struct workload *workload = &reader->scenario->workload;
	unsigned first = workload->tensors_count + workload->as_count, count = 0;

	if (first == WORKLOAD_TENSORS_MAX)
		return scenario_refuse(reader, node, "as: %u tensors are there already, at most %u",
				       first, WORKLOAD_TENSORS_MAX);
	if (scenario_read_tensor_list(reader, node, &workload->tensors[first],
				      WORKLOAD_TENSORS_MAX - first, &count) < 0)
		return -EINVAL;
	step->as_first = first;
	step->as_count = count;
	workload->as_count += count;
	return 0;
}

static int read_option(struct scenario_reader *reader, const struct scenario_key *key,
		       const struct yaml_node *node, struct step *step)
{
	if (strcmp(key->name, "tensors") == 0)
		return read_tensors(reader, node, &step->tensors);
	if (strcmp(key->name, "as") == 0)
		return read_as(reader, node, step);
	return scenario_read_key(reader, key, node, step);
}

static int read_options(struct scenario_reader *reader, const struct yaml_node *node,
			struct step *step)
{
	if (node->kind != YAML_KIND_MAP)
		return scenario_refuse(reader, node, "%s: %s, must be a map of keys",
				       step_name(step->kind), yaml_kind_name(node->kind));
	for (unsigned i = 0; i < node->count; i++) {
		const char *name = node->names[i]->text;
		const struct scenario_key *key = find_step_key(name);
		int result;

		if (!key || !scenario_step_takes(keys_of(reader, step), name))
			return refuse_step_key(reader, step, node->names[i]);
		result = read_option(reader, key, node->items[i], step);
		if (result < 0)
			return result;
	}
	return 0;
}

static int read_step(struct scenario_reader *reader, const struct yaml_node *node,
		     struct step *step)
{
	const struct yaml_node *name = node;
	enum step_kind kind;
	const char *text;

	if (node->kind == YAML_KIND_MAP && node->count == 1)
		name = node->names[0];
	else if (node->kind != YAML_KIND_SCALAR)
		return scenario_refuse(reader, node,
				       "a step must be a name, or one name with a map of keys");
	if (scenario_read_text(reader, name, "steps", &text) < 0)
		return -EINVAL;
	if (step_find(text, &kind) < 0)
		return refuse_kind(reader, name);
	step_defaults(step, kind);
	step->line = node->line;
	if (!keys_of(reader, step))
		return scenario_refuse(reader, name, "step %s goes %s a store", text,
				       step_rules[kind].keys ? "without" : "with");
	return node == name ? 0 : read_options(reader, node->items[0], step);
}

int scenario_read_steps(struct scenario_reader *reader, const struct yaml_node *node)
{
	struct workload *workload = &reader->scenario->workload;

	if (node->kind != YAML_KIND_LIST)
		return scenario_refuse(reader, node, "steps: %s, must be a list",
				       yaml_kind_name(node->kind));
	if (node->count < 1 || node->count > WORKLOAD_STEPS_MAX)
		return scenario_refuse(reader, node, "steps: %u given, must be 1 to %u",
				       node->count, WORKLOAD_STEPS_MAX);
	for (unsigned i = 0; i < node->count; i++)
		if (read_step(reader, node->items[i], &workload->steps[i]) < 0)
			return -EINVAL;
	workload->steps_count = node->count;
	return 0;
}
