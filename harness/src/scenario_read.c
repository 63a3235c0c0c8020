/* SPDX-License-Identifier: MIT */
/*
 * scenario_read.c - from YAML nodes to fields of structs, as a table of keys says, or an error that
 * names the place, the value and what is allowed.
 */
#include <errno.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "nearest.h"
#include "number.h"
#include "scenario_schema.h"

#define LIST_BYTES 300

int scenario_refuse(const struct scenario_reader *reader, const struct yaml_node *node,
		    const char *format, ...)
{
	char text[DIAG_TEXT_BYTES];
	bool in_cell = reader->cell && reader->cell[0];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	for (char *c = text; *c;
	     c++) /* what was written may hold line ends: an error is one line */
		if ((unsigned char)*c < 0x20)
			*c = '?';
	return diag_set(reader->diag, reader->path, node->line, node->column, "%s%s%s%s", text,
			in_cell ? " (in the case " : "", in_cell ? reader->cell : "",
			in_cell ? ")" : "");
}

/* "a, b, c" of names that are NULL-terminated and @stride bytes apart. */
static const char *list_names(const void *first, size_t stride, char text[LIST_BYTES])
{
	size_t used = 0;

	text[0] = '\0';
	for (const char *place = first; *(const char *const *)place && used < LIST_BYTES;
	     place += stride)
		used += (size_t)snprintf(text + used, LIST_BYTES - used, "%s%s", used ? ", " : "",
					 *(const char *const *)place);
	return text;
}

int scenario_refuse_key(struct scenario_reader *reader, const struct yaml_node *name,
			const struct scenario_key *keys, const char *what)
{
	struct nearest nearest;
	char text[LIST_BYTES];

	nearest_init(&nearest, name->text);
	for (const struct scenario_key *key = keys; key->name; key++)
		nearest_offer(&nearest, key->name);
	if (nearest.best)
		return scenario_refuse(reader, name, "unknown key '%s' in %s, did you mean '%s'?",
				       name->text, what, nearest.best);
	return scenario_refuse(reader, name, "unknown key '%s' in %s, known are %s", name->text,
			       what, list_names(&keys->name, sizeof(*keys), text));
}

static int refuse_choice(struct scenario_reader *reader, const struct scenario_key *key,
			 const struct yaml_node *node)
{
	struct nearest nearest;
	char text[LIST_BYTES];

	nearest_init(&nearest, node->text);
	for (const char *const *choice = key->choices; *choice; choice++)
		nearest_offer(&nearest, *choice);
	list_names(key->choices, sizeof(*key->choices), text);
	if (nearest.best)
		return scenario_refuse(reader, node, "%s: '%s', did you mean '%s'? Allowed are %s",
				       key->name, node->text, nearest.best, text);
	return scenario_refuse(reader, node, "%s: '%s' is not allowed, one of %s", key->name,
			       node->text, text);
}

int scenario_read_text(struct scenario_reader *reader, const struct yaml_node *node,
		       const char *name, const char **ret_text)
{
	if (node->kind != YAML_KIND_SCALAR)
		return scenario_refuse(reader, node, "%s: %s, must be a single value", name,
				       yaml_kind_name(node->kind));
	if (!node->text[0] || (!node->quoted && strcmp(node->text, "~") == 0))
		return scenario_refuse(reader, node, "%s: has no value", name);
	for (const char *text = node->text; *text; text++)
		if ((unsigned char)*text < 0x20)
			return scenario_refuse(reader, node, "%s: must be one line of text", name);
	*ret_text = node->text;
	return 0;
}

static int choice_index(const char *const *choices, const char *text)
{
	for (int i = 0; choices[i]; i++)
		if (strcmp(choices[i], text) == 0)
			return i;
	return -ENOENT;
}

static bool matches(const char *pattern, const char *text)
{
	regex_t regex;
	bool found;

	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		return false;
	found = regexec(&regex, text, 0, NULL, 0) == 0;
	regfree(&regex);
	return found;
}

static int read_word(struct scenario_reader *reader, const struct scenario_key *key,
		     const struct yaml_node *node, char *place)
{
	const char *text;

	if (scenario_read_text(reader, node, key->name, &text) < 0)
		return -EINVAL;
	if (key->choices && choice_index(key->choices, text) < 0)
		return refuse_choice(reader, key, node);
	if (strlen(text) >= key->bytes)
		return scenario_refuse(reader, node, "%s: %zu bytes long, at most %zu", key->name,
				       strlen(text), key->bytes - 1);
	if (key->pattern && !matches(key->pattern, text))
		return scenario_refuse(reader, node, "%s: '%s', must be %s", key->name, text,
				       key->allowed);
	memcpy(place, text, strlen(text) + 1);
	return 0;
}

static const char *number_shape(enum key_type type)
{
	if (type == KEY_BYTES)
		return "a size such as 4096, 16K, 1M or 2G";
	if (type == KEY_DURATION)
		return "a duration such as 5s, 100ms, 50us or 2m";
	return "a plain number";
}

static int parse_number(enum key_type type, const char *text, uint64_t *ret_value)
{
	int64_t duration_ns = 0;
	int result;

	if (type == KEY_BYTES)
		return number_bytes(text, ret_value);
	if (type == KEY_COUNT)
		return number_count(text, ret_value);
	result = number_duration(text, &duration_ns);
	*ret_value = (uint64_t)duration_ns;
	return result;
}

static int check_number(struct scenario_reader *reader, const struct scenario_key *key,
			const struct yaml_node *node, uint64_t value, int parsed)
{
	unsigned long long least = key->least, most = key->most;
	const char *unit = key->type == KEY_DURATION ? " nanoseconds" : "";

	if (parsed == -ERANGE || value < key->least || value > key->most)
		return scenario_refuse(reader, node, "%s: %s is out of range, %llu to %llu%s",
				       key->name, node->text, least, most, unit);
	if (key->multiple && value % key->multiple)
		return scenario_refuse(reader, node, "%s: %s, must be a multiple of %llu",
				       key->name, node->text, (unsigned long long)key->multiple);
	if (key->power_of_two && (value & (value - 1)))
		return scenario_refuse(reader, node, "%s: %s, must be a power of two", key->name,
				       node->text);
	return 0;
}

static int read_number(struct scenario_reader *reader, const struct scenario_key *key,
		       const struct yaml_node *node, void *place)
{
	const char *text;
	uint64_t value = 0;
	int result;

	if (scenario_read_text(reader, node, key->name, &text) < 0)
		return -EINVAL;
	result = parse_number(key->type, text, &value);
	if (result == -EINVAL || node->quoted)
		return scenario_refuse(reader, node, "%s: '%s'%s, must be %s", key->name, text,
				       node->quoted ? " in quotes" : "", number_shape(key->type));
	if (key->choices && choice_index(key->choices, text) < 0)
		return refuse_choice(reader, key, node);
	if (check_number(reader, key, node, value, result) < 0)
		return -EINVAL;
	if (key->bytes == sizeof(uint64_t))
		*(uint64_t *)place = value;
	else
		*(unsigned *)place = (unsigned)value;
	return 0;
}

static int read_bool(struct scenario_reader *reader, const struct scenario_key *key,
		     const struct yaml_node *node, bool *place)
{
	const char *text;

	if (scenario_read_text(reader, node, key->name, &text) < 0)
		return -EINVAL;
	if (node->quoted || (strcmp(text, "true") != 0 && strcmp(text, "false") != 0))
		return scenario_refuse(reader, node, "%s: '%s'%s, must be true or false", key->name,
				       text, node->quoted ? " in quotes" : "");
	*place = text[0] == 't';
	return 0;
}

static int read_choice(struct scenario_reader *reader, const struct scenario_key *key,
		       const struct yaml_node *node, int *ret_index)
{
	const char *text;

	if (scenario_read_text(reader, node, key->name, &text) < 0)
		return -EINVAL;
	*ret_index = choice_index(key->choices, text);
	return *ret_index < 0 ? refuse_choice(reader, key, node) : 0;
}

static int read_one_choice(struct scenario_reader *reader, const struct scenario_key *key,
			   const struct yaml_node *node, void *place)
{
	int index;

	if (read_choice(reader, key, node, &index) < 0)
		return -EINVAL;
	if (key->bytes == sizeof(bool))
		*(bool *)place = index;
	else
		*(int *)place = index;
	return 0;
}

/* A single value stands for a list of one. */
static unsigned item_count(const struct yaml_node *node)
{
	return node->kind == YAML_KIND_SCALAR ? 1 : node->count;
}

static const struct yaml_node *item_at(const struct yaml_node *node, unsigned index)
{
	return node->kind == YAML_KIND_SCALAR ? node : node->items[index];
}

static int check_list(struct scenario_reader *reader, const struct scenario_key *key,
		      const struct yaml_node *node)
{
	unsigned count = item_count(node);

	if (node->kind == YAML_KIND_MAP ||
	    (node->kind == YAML_KIND_SCALAR && key->type == KEY_MAPS))
		return scenario_refuse(reader, node, "%s: %s, must be a list", key->name,
				       yaml_kind_name(node->kind));
	if (count < key->least || count > key->most)
		return scenario_refuse(reader, node, "%s: %u given, must be %llu to %llu",
				       key->name, count, (unsigned long long)key->least,
				       (unsigned long long)key->most);
	return 0;
}

static int read_set(struct scenario_reader *reader, const struct scenario_key *key,
		    const struct yaml_node *node, unsigned *place)
{
	unsigned set = 0;

	if (check_list(reader, key, node) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < item_count(node); i++) {
		int index;

		if (read_choice(reader, key, item_at(node, i), &index) < 0)
			return -EINVAL;
		if (set & (1u << index))
			return scenario_refuse(reader, item_at(node, i), "%s: '%s' is given twice",
					       key->name, key->choices[index]);
		set |= 1u << index;
	}
	*place = set;
	return 0;
}

static int read_words(struct scenario_reader *reader, const struct scenario_key *key,
		      const struct yaml_node *node, char *place, unsigned *ret_count)
{
	if (check_list(reader, key, node) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < item_count(node); i++) {
		char *word = place + i * key->bytes;

		if (read_word(reader, key, item_at(node, i), word) < 0)
			return -EINVAL;
		for (unsigned k = 0; k < i; k++)
			if (strcmp(place + k * key->bytes, word) == 0)
				return scenario_refuse(reader, item_at(node, i),
						       "%s: '%s' is given twice", key->name, word);
	}
	*ret_count = item_count(node);
	return 0;
}

/* Numbers in the order they are written in, the same one twice, too. */
static int read_counts(struct scenario_reader *reader, const struct scenario_key *key,
		       const struct yaml_node *node, uint64_t *place, unsigned *ret_count)
{
	const struct scenario_key item = {.name = key->name,
					  .type = KEY_COUNT,
					  .bytes = sizeof(*place),
					  .most = SCENARIO_NUMEL_MAX};

	if (check_list(reader, key, node) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < item_count(node); i++)
		if (read_number(reader, &item, item_at(node, i), &place[i]) < 0)
			return -EINVAL;
	*ret_count = item_count(node);
	return 0;
}

static int read_maps(struct scenario_reader *reader, const struct scenario_key *key,
		     const struct yaml_node *node, char *place, unsigned *ret_count)
{
	if (check_list(reader, key, node) < 0)
		return -EINVAL;
	for (unsigned i = 0; i < node->count; i++) {
		char *item = place + i * key->bytes;

		key->defaults(item);
		if (scenario_read_map(reader, key->keys, node->items[i], item, key->name) < 0)
			return -EINVAL;
	}
	*ret_count = node->count;
	return 0;
}

int scenario_read_key(struct scenario_reader *reader, const struct scenario_key *key,
		      const struct yaml_node *node, void *container)
{
	char *place = (char *)container + key->offset;
	unsigned *count = (unsigned *)((char *)container + key->count_offset);

	switch (key->type) {
	case KEY_BOOL:
		return read_bool(reader, key, node, (bool *)place);
	case KEY_COUNT:
	case KEY_BYTES:
	case KEY_DURATION:
		return read_number(reader, key, node, place);
	case KEY_COUNTS:
		return read_counts(reader, key, node, (uint64_t *)place, count);
	case KEY_TEXT:
		return read_word(reader, key, node, place);
	case KEY_CHOICE:
		return read_one_choice(reader, key, node, place);
	case KEY_SET:
		return read_set(reader, key, node, (unsigned *)place);
	case KEY_WORDS:
		return read_words(reader, key, node, place, count);
	case KEY_MAP:
		return scenario_read_map(reader, key->keys, node, place, key->name);
	case KEY_MAPS:
		return read_maps(reader, key, node, place, count);
	case KEY_SPECIAL:
		return key->read(reader, node);
	}
	return -EINVAL;
}

static const struct scenario_key *find_key(const struct scenario_key *keys, const char *name)
{
	for (const struct scenario_key *key = keys; key->name; key++)
		if (strcmp(key->name, name) == 0)
			return key;
	return NULL;
}

static int check_keys(struct scenario_reader *reader, const struct scenario_key *keys,
		      const struct yaml_node *node, const char *what)
{
	if (node->kind != YAML_KIND_MAP)
		return scenario_refuse(reader, node, "%s: %s, must be a map of keys", what,
				       yaml_kind_name(node->kind));
	for (unsigned i = 0; i < node->count; i++)
		if (!find_key(keys, node->names[i]->text))
			return scenario_refuse_key(reader, node->names[i], keys, what);
	for (const struct scenario_key *key = keys; key->name; key++)
		if (key->required && !yaml_node_member(node, key->name))
			return scenario_refuse(reader, node, "key '%s' is missing in %s", key->name,
					       what);
	return 0;
}

/* In the order of the table, not of the file: later keys may build on earlier ones. */
int scenario_read_map(struct scenario_reader *reader, const struct scenario_key *keys,
		      const struct yaml_node *node, void *container, const char *what)
{
	if (check_keys(reader, keys, node, what) < 0)
		return -EINVAL;
	for (const struct scenario_key *key = keys; key->name; key++) {
		const struct yaml_node *value = yaml_node_member(node, key->name);

		if (value && scenario_read_key(reader, key, value, container) < 0)
			return -EINVAL;
	}
	return 0;
}
