/* SPDX-License-Identifier: MIT */
/*
 * scenario_json.c - the table of keys as a JSON schema (draft 7), which editors complete and check
 * scenarios with.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_json.h"
#include "scenario_schema.h"

#define DURATION_PATTERN "^(0|[0-9]+(ns|us|ms|s|m))$"
#define BYTES_PATTERN "^[0-9]+[KMGT]?$"

static json_t *map_schema(const struct scenario_key *keys, const char *only);

static json_t *choices_json(const char *const *choices)
{
	json_t *list = json_array();

	for (const char *const *choice = choices; *choice; choice++)
		json_array_append_new(list, json_string(*choice));
	return list;
}

static json_t *numbers_json(const char *const *choices)
{
	json_t *list = json_array();

	for (const char *const *choice = choices; *choice; choice++)
		json_array_append_new(list, json_integer(atoll(*choice)));
	return list;
}

static json_t *integer_schema(const struct scenario_key *key)
{
	json_t *schema = json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum",
				   (json_int_t)key->least, "maximum", (json_int_t)key->most);

	if (key->multiple)
		json_object_set_new(schema, "multipleOf", json_integer((json_int_t)key->multiple));
	if (key->choices)
		json_object_set_new(schema, "enum", numbers_json(key->choices));
	return schema;
}

static json_t *bytes_schema(const struct scenario_key *key)
{
	return json_pack("{s:[o, {s:s, s:s}]}", "anyOf", integer_schema(key), "type", "string",
			 "pattern", BYTES_PATTERN);
}

static json_t *word_schema(const struct scenario_key *key)
{
	json_t *schema = json_pack("{s:s, s:i, s:I}", "type", "string", "minLength", 1, "maxLength",
				   (json_int_t)key->bytes - 1);

	if (key->pattern)
		json_object_set_new(schema, "pattern", json_string(key->pattern));
	if (key->choices)
		json_object_set_new(schema, "enum", choices_json(key->choices));
	return schema;
}

static json_t *list_schema(json_t *item, uint64_t least, uint64_t most)
{
	return json_pack("{s:s, s:I, s:I, s:o}", "type", "array", "minItems", (json_int_t)least,
			 "maxItems", (json_int_t)most, "items", item);
}

static json_t *list_or_one(json_t *item, const struct scenario_key *key)
{
	json_t *list = list_schema(json_incref(item), key->least, key->most);

	return json_pack("{s:[o, o]}", "anyOf", item, list);
}

static json_t *choice_schema(const struct scenario_key *key)
{
	return json_pack("{s:o}", "enum", choices_json(key->choices));
}

static json_t *steps_schema(const struct scenario_key *key)
{
	json_t *names = json_array(), *maps = json_array();

	for (unsigned i = 0; i < STEP_COUNT; i++) {
		const char *name = step_name((enum step_kind)i);
		json_t *options;
		char keys[300];

		snprintf(keys, sizeof(keys), "%s %s", step_rules[i].keys ? step_rules[i].keys : "",
			 step_rules[i].store_keys ? step_rules[i].store_keys : "");
		options = map_schema(step_keys, keys);

		json_array_append_new(names, json_string(name));
		json_object_set_new(options, "description", json_string(step_rules[i].doc));
		json_array_append_new(maps,
				      json_pack("{s:s, s:[s], s:b, s:{s:o}}", "type", "object",
						"required", name, "additionalProperties", 0,
						"properties", name, options));
	}
	json_array_insert_new(maps, 0, json_pack("{s:o}", "enum", names));
	return list_schema(json_pack("{s:o}", "anyOf", maps), key->least, key->most);
}

/* A list of tensors, or what makes one. */
static json_t *tensors_schema(const struct scenario_key *key)
{
	json_t *list = list_schema(map_schema(tensor_keys, NULL), key->least, key->most);

	return json_pack("{s:[o, o, o]}", "anyOf", list, map_schema(preset_keys, NULL),
			 map_schema(checkpoint_keys, NULL));
}

static json_t *matrix_schema(const struct scenario_key *key)
{
	json_t *values = json_pack("{s:s, s:i, s:i}", "type", "array", "minItems", 1, "maxItems",
				   SCENARIO_MATRIX_VALUES_MAX);

	return json_pack("{s:s, s:I, s:I, s:o}", "type", "object", "minProperties",
			 (json_int_t)key->least, "maxProperties", (json_int_t)key->most,
			 "additionalProperties", values);
}

static json_t *strings_schema(const struct scenario_key *key)
{
	return list_or_one(json_pack("{s:s}", "type", "string"), key);
}

static json_t *special_schema(const struct scenario_key *key)
{
	if (strcmp(key->name, "steps") == 0)
		return steps_schema(key);
	if (strcmp(key->name, "matrix") == 0)
		return matrix_schema(key);
	return key->keys ? tensors_schema(key) : strings_schema(key);
}

static json_t *type_schema(const struct scenario_key *key)
{
	switch (key->type) {
	case KEY_BOOL:
		return json_pack("{s:s}", "type", "boolean");
	case KEY_COUNT:
		return integer_schema(key);
	case KEY_COUNTS:
		return list_or_one(json_pack("{s:s, s:i, s:I}", "type", "integer", "minimum", 0,
					     "maximum", (json_int_t)SCENARIO_NUMEL_MAX),
				   key);
	case KEY_BYTES:
		return bytes_schema(key);
	case KEY_DURATION:
		return json_pack("{s:[{s:i}, {s:s, s:s}]}", "anyOf", "const", 0, "type", "string",
				 "pattern", DURATION_PATTERN);
	case KEY_TEXT:
		return word_schema(key);
	case KEY_CHOICE:
		return choice_schema(key);
	case KEY_SET:
		return list_or_one(choice_schema(key), key);
	case KEY_WORDS:
		return list_or_one(word_schema(key), key);
	case KEY_MAP:
		return map_schema(key->keys, NULL);
	case KEY_MAPS:
		return list_schema(map_schema(key->keys, NULL), key->least, key->most);
	case KEY_SPECIAL:
		return special_schema(key);
	}
	return NULL;
}

static json_t *key_schema(const struct scenario_key *key)
{
	json_t *schema = type_schema(key);
	char text[512];

	snprintf(text, sizeof(text), "%s%s%s", key->doc, key->fallback ? "; default: " : "",
		 key->fallback ? key->fallback : "");
	json_object_set_new(schema, "description", json_string(text));
	return schema;
}

/* @only: names separated by blanks, NULL for all keys. */
static json_t *map_schema(const struct scenario_key *keys, const char *only)
{
	json_t *properties = json_object(), *required = json_array();

	for (const struct scenario_key *key = keys; key->name; key++) {
		if (only && !scenario_step_takes(only, key->name))
			continue;
		json_object_set_new(properties, key->name, key_schema(key));
		if (key->required)
			json_array_append_new(required, json_string(key->name));
	}
	return json_pack("{s:s, s:b, s:o, s:o}", "type", "object", "additionalProperties", 0,
			 "required", required, "properties", properties);
}

int scenario_print_schema(FILE *stream)
{
	json_t *schema = map_schema(scenario_keys, NULL);
	int failed;

	json_object_set_new(schema, "$schema",
			    json_string("http://json-schema.org/draft-07/schema#"));
	json_object_set_new(schema, "title", json_string("swaptorture scenario"));
	failed = json_dumpf(schema, stream, JSON_INDENT(2));
	json_decref(schema);
	if (fputc('\n', stream) == EOF || failed)
		return -EIO;
	return 0;
}
