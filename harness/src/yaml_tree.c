/* SPDX-License-Identifier: MIT */
/*
 * yaml_tree.c - from libyaml's events to a tree, and the refusal of everything that is not plain.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "yaml_bytes.h"
#include "yaml_tree.h"

struct reader {
	yaml_parser_t parser;
	const char *path;
	struct diag *diag;
	unsigned nodes, depth;
};

static int refuse_at(struct reader *reader, const yaml_mark_t *mark, const char *text)
{
	return diag_set(reader->diag, reader->path, (unsigned)mark->line + 1,
			(unsigned)mark->column + 1, "%s", text);
}

static int parser_failed(struct reader *reader)
{
	yaml_parser_t *parser = &reader->parser;
	const yaml_mark_t *mark = &parser->problem_mark;

	if (parser->error == YAML_MEMORY_ERROR)
		return -ENOMEM;
	return diag_set(reader->diag, reader->path, (unsigned)mark->line + 1,
			(unsigned)mark->column + 1, "no YAML: %s%s%s",
			parser->problem ? parser->problem : "cannot be read",
			parser->context ? " " : "", parser->context ? parser->context : "");
}

static int next_event(struct reader *reader, yaml_event_t *ret_event)
{
	if (!yaml_parser_parse(&reader->parser, ret_event))
		return parser_failed(reader);
	return 0;
}

static int check_plain(struct reader *reader, const yaml_event_t *event, const yaml_char_t *anchor,
		       const yaml_char_t *tag)
{
	if (anchor)
		return refuse_at(reader, &event->start_mark,
				 "anchors are not allowed: write the value out");
	if (tag)
		return refuse_at(reader, &event->start_mark,
				 "tags are not allowed: the key says the type");
	if (++reader->nodes > YAML_TREE_NODES_MAX)
		return refuse_at(reader, &event->start_mark, "too many values, at most 20000");
	if (reader->depth > YAML_TREE_DEPTH_MAX)
		return refuse_at(reader, &event->start_mark,
				 "nested too deeply, at most 12 levels");
	return 0;
}

static struct yaml_node *node_at(enum yaml_kind kind, const yaml_event_t *event)
{
	struct yaml_node place = {
		.line = (unsigned)event->start_mark.line + 1,
		.column = (unsigned)event->start_mark.column + 1,
	};

	return yaml_node_new(kind, &place);
}

static int read_scalar(struct reader *reader, const yaml_event_t *event,
		       struct yaml_node **ret_node)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t length = event->data.scalar.length;
	struct yaml_node *node;

	if (check_plain(reader, event, event->data.scalar.anchor, event->data.scalar.tag) < 0)
		return -EINVAL;
	if (length > YAML_TREE_SCALAR_BYTES_MAX)
		return refuse_at(reader, &event->start_mark, "value too long, at most 4095 bytes");
	if (strlen(text) != length)
		return refuse_at(reader, &event->start_mark, "a value must not hold NUL");
	node = node_at(YAML_KIND_SCALAR, event);
	if (!node)
		return -ENOMEM;
	node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	node->text = strdup(text);
	*ret_node = node;
	if (node->text)
		return 0;
	yaml_node_free(node);
	return -ENOMEM;
}

static int read_node(struct reader *reader, const yaml_event_t *event, struct yaml_node **ret_node);

/* 1 with a node, 0 at the end of the collection, negative on error. */
static int read_next(struct reader *reader, struct yaml_node **ret_node)
{
	yaml_event_t event;
	int result = next_event(reader, &event);

	if (result < 0)
		return result;
	if (event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT) {
		yaml_event_delete(&event);
		return 0;
	}
	result = read_node(reader, &event, ret_node);
	yaml_event_delete(&event);
	return result < 0 ? result : 1;
}

static int check_key(struct reader *reader, const struct yaml_node *map,
		     const struct yaml_node *key)
{
	if (key->kind != YAML_KIND_SCALAR)
		return diag_set(reader->diag, reader->path, key->line, key->column,
				"a key must be a word, not %s", yaml_kind_name(key->kind));
	for (unsigned i = 0; i < map->count; i++)
		if (strcmp(map->names[i]->text, key->text) == 0)
			return diag_set(reader->diag, reader->path, key->line, key->column,
					"key '%s' is given twice, first in line %u", key->text,
					map->names[i]->line);
	return 0;
}

static int read_pair(struct reader *reader, struct yaml_node *map)
{
	struct yaml_node *key = NULL, *value = NULL;
	int result = read_next(reader, &key);

	if (result <= 0)
		return result;
	result = check_key(reader, map, key);
	if (result == 0)
		result = read_next(reader, &value);
	if (result <= 0) {
		yaml_node_free(key);
		return result;
	}
	result = yaml_node_append(map, key, value);
	return result < 0 ? result : 1;
}

static int read_item(struct reader *reader, struct yaml_node *list)
{
	struct yaml_node *item = NULL;
	int result = read_next(reader, &item);

	if (result <= 0)
		return result;
	result = yaml_node_append(list, NULL, item);
	return result < 0 ? result : 1;
}

static int read_collection(struct reader *reader, const yaml_event_t *event, enum yaml_kind kind,
			   struct yaml_node **ret_node)
{
	struct yaml_node *node = node_at(kind, event);
	int result;

	if (!node)
		return -ENOMEM;
	reader->depth++;
	do {
		result = kind == YAML_KIND_MAP ? read_pair(reader, node) : read_item(reader, node);
	} while (result > 0);
	reader->depth--;
	if (result < 0)
		yaml_node_free(node);
	else
		*ret_node = node;
	return result;
}

static int read_node(struct reader *reader, const yaml_event_t *event, struct yaml_node **ret_node)
{
	const yaml_char_t *anchor, *tag;

	if (event->type == YAML_SCALAR_EVENT)
		return read_scalar(reader, event, ret_node);
	if (event->type == YAML_ALIAS_EVENT)
		return refuse_at(reader, &event->start_mark,
				 "aliases are not allowed: write the value out");
	if (event->type == YAML_SEQUENCE_START_EVENT) {
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
		if (check_plain(reader, event, anchor, tag) < 0)
			return -EINVAL;
		return read_collection(reader, event, YAML_KIND_LIST, ret_node);
	}
	anchor = event->data.mapping_start.anchor;
	tag = event->data.mapping_start.tag;
	if (check_plain(reader, event, anchor, tag) < 0)
		return -EINVAL;
	return read_collection(reader, event, YAML_KIND_MAP, ret_node);
}

/* Skip to the first event that is content, or refuse what stands there instead. */
static int expect_event(struct reader *reader, yaml_event_type_t wanted, const char *complaint)
{
	yaml_event_t event;
	int result = next_event(reader, &event);

	if (result < 0)
		return result;
	if (event.type != wanted)
		result = refuse_at(reader, &event.start_mark, complaint);
	yaml_event_delete(&event);
	return result;
}

static int read_document(struct reader *reader, struct yaml_node **ret_root)
{
	struct yaml_node *root = NULL;
	int result = expect_event(reader, YAML_STREAM_START_EVENT, "no YAML");

	if (result == 0)
		result = expect_event(reader, YAML_DOCUMENT_START_EVENT, "the file is empty");
	if (result == 0)
		result = read_next(reader, &root);
	if (result < 0)
		return result;
	result = expect_event(reader, YAML_DOCUMENT_END_EVENT, "no YAML");
	if (result == 0)
		result = expect_event(reader, YAML_STREAM_END_EVENT,
				      "a second document: one file is one scenario");
	if (result < 0)
		yaml_node_free(root);
	else
		*ret_root = root;
	return result;
}

int yaml_tree_parse(const char *text, size_t bytes, const char *path, struct yaml_node **ret_root,
		    struct diag *diag)
{
	struct reader reader = {.path = path, .diag = diag};
	int result;

	if (bytes > YAML_TREE_FILE_BYTES_MAX)
		return diag_set(diag, path, 0, 0, "%zu bytes, at most %u are read", bytes,
				YAML_TREE_FILE_BYTES_MAX);
	if (yaml_bytes_check(text, bytes, path, diag) < 0)
		return -EINVAL;
	if (!yaml_parser_initialize(&reader.parser))
		return -ENOMEM;
	yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, bytes);
	result = read_document(&reader, ret_root);
	yaml_parser_delete(&reader.parser);
	return result;
}

int yaml_tree_load(const char *path, struct yaml_node **ret_root, struct diag *diag)
{
	char *text;
	size_t bytes;
	int result = yaml_bytes_read(path, YAML_TREE_FILE_BYTES_MAX, &text, &bytes, diag);

	if (result < 0)
		return result;
	result = yaml_tree_parse(text, bytes, path, ret_root, diag);
	free(text);
	return result;
}
