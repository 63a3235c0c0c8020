/* SPDX-License-Identifier: MIT */
/*
 * scenario_man.c - the table of keys as mdoc lists, the heart of swaptorture-scenario(5).
 */
#include <ctype.h>
#include <string.h>

#include "scenario_json.h"
#include "scenario_schema.h"

#define LINE_BYTES 78

static const char *type_name(const struct scenario_key *key)
{
	switch (key->type) {
	case KEY_BOOL:
		return "true | false";
	case KEY_COUNT:
		return "number";
	case KEY_BYTES:
		return "size";
	case KEY_DURATION:
		return "duration";
	case KEY_TEXT:
		return "text";
	case KEY_CHOICE:
		return "word";
	case KEY_COUNTS:
	case KEY_SET:
	case KEY_WORDS:
	case KEY_MAPS:
		return "list";
	case KEY_MAP:
	case KEY_SPECIAL:
		return "";
	}
	return "";
}

static void print_choices(FILE *stream, const struct scenario_key *key)
{
	fputs("One of\n", stream);
	for (const char *const *choice = key->choices; *choice; choice++)
		fprintf(stream, ".Cm %s%s\n", *choice, choice[1] ? " ," : " .");
}

/* A duration is given in nanoseconds in the table; people read the unit they write. */
static void print_range(FILE *stream, const struct scenario_key *key)
{
	unsigned long long least = key->least, most = key->most;
	char multiple[48] = "";

	if (key->multiple)
		snprintf(multiple, sizeof(multiple), ", a multiple of %llu",
			 (unsigned long long)key->multiple);
	if (key->type == KEY_DURATION)
		fprintf(stream, "%llu ms to %llu s.\n", least / 1000000, most / 1000000000);
	else if (key->type == KEY_COUNT || key->type == KEY_BYTES)
		fprintf(stream, "%llu to %llu%s%s.\n", least, most,
			key->power_of_two ? ", a power of two" : "", multiple);
}

/* The source of a page has short lines; a line must not begin with a full stop. */
static void print_wrapped(FILE *stream, const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t length = strcspn(text, " ");

		if (column && column + 1 + length > LINE_BYTES) {
			fputc('\n', stream);
			column = 0;
		}
		column += (size_t)fprintf(stream, "%s%.*s", column ? " " : "", (int)length, text);
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', stream);
}

static void print_doc(FILE *stream, const char *doc)
{
	char text[256];

	snprintf(text, sizeof(text), "%c%s.", toupper((unsigned char)doc[0]), doc + 1);
	print_wrapped(stream, text);
}

static void print_allowed(FILE *stream, const char *allowed)
{
	char text[256];

	snprintf(text, sizeof(text), "Allowed: %s.", allowed);
	print_wrapped(stream, text);
}

static void print_key(FILE *stream, const struct scenario_key *key)
{
	const char *type = type_name(key);

	fprintf(stream, ".It Cm %s%s%s\n", key->name, *type ? " Ar " : "", type);
	print_doc(stream, key->doc);
	if (key->choices)
		print_choices(stream, key);
	else
		print_range(stream, key);
	if (key->allowed)
		print_allowed(stream, key->allowed);
	if (key->required)
		fputs("Required.\n", stream);
	if (key->fallback)
		fprintf(stream, "Default: %s.\n", key->fallback);
}

static void print_keys(FILE *stream, const struct scenario_key *keys)
{
	fputs(".Bl -tag -width Ds\n", stream);
	for (const struct scenario_key *key = keys; key->name; key++)
		print_key(stream, key);
	fputs(".El\n", stream);
}

static void print_step_keys(FILE *stream, const struct step_rule *rule)
{
	const char *with = rule->store_keys, *without = rule->keys;

	if (!with)
		fputs("Not with a store.\n", stream);
	else if (!without)
		fputs("With a store only.\n", stream);
	if (with && without && strcmp(with, without) != 0) {
		fprintf(stream, "Takes\n.Cm %s ,\nand with a store\n.Cm %s .\n", without, with);
		return;
	}
	without = without ? without : with;
	if (*without)
		fprintf(stream, "Takes\n.Cm %s .\n", without);
}

static void print_steps(FILE *stream)
{
	fputs(".Ss Steps\n.Bl -tag -width Ds\n", stream);
	for (unsigned i = 0; i < STEP_COUNT; i++) {
		fprintf(stream, ".It Cm %s\n", step_name((enum step_kind)i));
		print_doc(stream, step_rules[i].doc);
		print_step_keys(stream, &step_rules[i]);
	}
	fputs(".El\n.Ss Keys of steps\n", stream);
	print_keys(stream, step_keys);
}

static void print_maps(FILE *stream, const struct scenario_key *keys)
{
	for (const struct scenario_key *key = keys; key->name; key++) {
		if (!key->keys)
			continue;
		fprintf(stream, ".Ss Keys of %s\n", key->name);
		print_keys(stream, key->keys);
		print_maps(stream, key->keys);
		if (key->keys == tensor_keys) {
			fputs(".Ss Keys of tensors that are the states of an optimizer\n", stream);
			print_keys(stream, preset_keys);
			fputs(".Ss Keys of tensors that are those of a checkpoint\n", stream);
			print_keys(stream, checkpoint_keys);
		}
	}
}

void scenario_print_mdoc(FILE *stream)
{
	fputs(".Ss Keys of the file\n", stream);
	print_keys(stream, scenario_keys);
	print_maps(stream, scenario_keys);
	print_steps(stream);
}
