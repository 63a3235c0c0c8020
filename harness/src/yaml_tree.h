/* SPDX-License-Identifier: MIT */
/*
 * yaml_tree.h - a YAML file as a tree of nodes that know their place.
 *
 * A plain subset: one document of maps, lists and scalars, in UTF-8, without tabs, anchors,
 * aliases, tags, keys twice or keys that are no scalars. Everything is bounded, so that no input
 * can be a bomb.
 *
 * Threads: one owner.
 */
#ifndef YAML_TREE_H
#define YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "diag.h"

#define YAML_TREE_FILE_BYTES_MAX (256u * 1024)
#define YAML_TREE_DEPTH_MAX 12
#define YAML_TREE_NODES_MAX 20000u
#define YAML_TREE_SCALAR_BYTES_MAX 4095

enum yaml_kind { YAML_KIND_SCALAR, YAML_KIND_LIST, YAML_KIND_MAP };

struct yaml_node {
	enum yaml_kind kind;
	unsigned line, column;	  /* from 1 */
	char *text;		  /* of a scalar */
	bool quoted;		  /* scalar: written in quotes, or as a block of text */
	unsigned count;		  /* of a list or map */
	struct yaml_node **names; /* keys of a map, all scalars */
	struct yaml_node **items; /* members of a list, values of a map */
};

/* Read a file. 0; -EINVAL with @diag; -errno of the file, with @diag, too. */
int yaml_tree_load(const char *path, struct yaml_node **ret_root, struct diag *diag);
/* Parse @bytes of memory; @path is for messages only. */
int yaml_tree_parse(const char *text, size_t bytes, const char *path, struct yaml_node **ret_root,
		    struct diag *diag);

void yaml_node_free(struct yaml_node *node);
/* A deep copy; NULL when out of memory. */
struct yaml_node *yaml_node_dup(const struct yaml_node *node);
/* A scalar that stands where @place stands. */
struct yaml_node *yaml_node_scalar(const char *text, const struct yaml_node *place);
/* An empty list or map that stands where @place stands. */
struct yaml_node *yaml_node_new(enum yaml_kind kind, const struct yaml_node *place);
/* Append to a list (@name NULL) or map; takes both over, also when it fails with -ENOMEM. */
int yaml_node_append(struct yaml_node *node, struct yaml_node *name, struct yaml_node *item);

/* Value of a key; NULL if there is none or @node is no map. */
struct yaml_node *yaml_node_member(const struct yaml_node *node, const char *name);
const char *yaml_kind_name(enum yaml_kind kind); /* "a list" */

#endif /* YAML_TREE_H */
