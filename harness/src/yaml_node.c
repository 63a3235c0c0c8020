/* SPDX-License-Identifier: MIT */
/*
 * yaml_node.c - building, copying and asking the nodes of a YAML tree.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "yaml_tree.h"

struct yaml_node *yaml_node_new(enum yaml_kind kind, const struct yaml_node *place)
{
	struct yaml_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->kind = kind;
	node->line = place->line;
	node->column = place->column;
	return node;
}

struct yaml_node *yaml_node_scalar(const char *text, const struct yaml_node *place)
{
	struct yaml_node *node = yaml_node_new(YAML_KIND_SCALAR, place);

	if (!node)
		return NULL;
	node->text = strdup(text);
	if (node->text)
		return node;
	free(node);
	return NULL;
}

void yaml_node_free(struct yaml_node *node)
{
	if (!node)
		return;
	for (unsigned i = 0; i < node->count; i++) {
		if (node->names)
			yaml_node_free(node->names[i]);
		yaml_node_free(node->items[i]);
	}
	free(node->names);
	free(node->items);
	free(node->text);
	free(node);
}

static int list_grow(struct yaml_node ***list, unsigned count)
{
	struct yaml_node **grown;

	if (count & (count - 1)) /* full only at 0 and at powers of two */
		return 0;
	grown = realloc(*list, (count ? 2 * (size_t)count : 1) * sizeof(**list));
	if (!grown)
		return -ENOMEM;
	*list = grown;
	return 0;
}

int yaml_node_append(struct yaml_node *node, struct yaml_node *name, struct yaml_node *item)
{
	bool named = node->kind == YAML_KIND_MAP;

	if (!item || (named && !name) || list_grow(&node->items, node->count) < 0 ||
	    (named && list_grow(&node->names, node->count) < 0)) {
		yaml_node_free(name);
		yaml_node_free(item);
		return -ENOMEM;
	}
	if (named)
		node->names[node->count] = name;
	node->items[node->count++] = item;
	return 0;
}

struct yaml_node *yaml_node_dup(const struct yaml_node *node)
{
	struct yaml_node *copy;

	if (node->kind == YAML_KIND_SCALAR) {
		copy = yaml_node_scalar(node->text, node);
		if (copy)
			copy->quoted = node->quoted;
		return copy;
	}
	copy = yaml_node_new(node->kind, node);
	for (unsigned i = 0; copy && i < node->count; i++) {
		struct yaml_node *name = node->names ? yaml_node_dup(node->names[i]) : NULL;

		if (yaml_node_append(copy, name, yaml_node_dup(node->items[i])) == 0)
			continue;
		yaml_node_free(copy);
		return NULL;
	}
	return copy;
}

struct yaml_node *yaml_node_member(const struct yaml_node *node, const char *name)
{
	if (!node || node->kind != YAML_KIND_MAP)
		return NULL;
	for (unsigned i = 0; i < node->count; i++)
		if (strcmp(node->names[i]->text, name) == 0)
			return node->items[i];
	return NULL;
}

const char *yaml_kind_name(enum yaml_kind kind)
{
	switch (kind) {
	case YAML_KIND_SCALAR:
		return "a single value";
	case YAML_KIND_LIST:
		return "a list";
	case YAML_KIND_MAP:
		return "a map of keys";
	}
	return "nothing";
}
