/* SPDX-License-Identifier: MIT */
/*
 * scenario_program.c - the key `program`: its words as lists, and what goes with it and what does
 * not.
 */
#include <errno.h>
#include <string.h>

#include "scenario_schema.h"

static int refuse_name(struct scenario_reader *reader, const struct yaml_node *node,
		       const char *brace)
{
	struct yaml_node place = {.line = node->line, .column = node->column};

	place.column += (unsigned)(brace - node->text) + (node->quoted ? 1 : 0);
	return scenario_refuse(reader, &place,
			       "'%.*s' stands for nothing, known are {work_dir} and {seed}; a "
			       "brace itself is written {{",
			       (int)strcspn(brace, "}") + 1, brace);
}

/* Unlike other lists it may hold a word twice. */
static int add_word(struct scenario_reader *reader, const struct yaml_node *node, const char *name,
		    struct program_words *words)
{
	const char *word, *brace;

	if (node->kind == YAML_KIND_SCALAR && node->quoted && !node->text[0])
		word = ""; /* nobody writes that by mistake */
	else if (scenario_read_text(reader, node, name, &word) < 0)
		return -EINVAL;
	brace = program_words_unknown(word);
	if (brace)
		return refuse_name(reader, node, brace);
	if (program_words_add(words, word) < 0)
		return scenario_refuse(reader, node, "%s: longer than %d words or %d bytes", name,
				       PROGRAM_WORDS_MAX, PROGRAM_WORDS_BYTES);
	return 0;
}

static int add_words(struct scenario_reader *reader, const struct yaml_node *node, const char *name,
		     struct program_words *words)
{
	if (node->kind == YAML_KIND_SCALAR)
		return add_word(reader, node, name, words);
	if (node->kind != YAML_KIND_LIST || !node->count)
		return scenario_refuse(reader, node, "%s: %s, must be a list of words", name,
				       node->count ? yaml_kind_name(node->kind) : "empty");
	for (unsigned i = 0; i < node->count; i++)
		if (add_word(reader, node->items[i], name, words) < 0)
			return -EINVAL;
	return 0;
}

int scenario_read_argv(struct scenario_reader *reader, const struct yaml_node *node)
{
	struct program *program = &reader->scenario->program;

	program->line = node->line;
	program->column = node->column;
	if (add_words(reader, node, "argv", &program->argv) < 0)
		return -EINVAL;
	if (!program->argv.text[0] || strchr(program->argv.text, '{'))
		return scenario_refuse(reader, node,
				       "argv: the program must be a name or a path as it is");
	return 0;
}

/* A fault or a log of its own would go behind the harness's back. */
int scenario_read_env(struct scenario_reader *reader, const struct yaml_node *node)
{
	struct program_words *env = &reader->scenario->program.env;

	if (add_words(reader, node, "env", env) < 0)
		return -EINVAL;
	for (const char *word = program_words_next(env, NULL); word;
	     word = program_words_next(env, word))
		if (!strchr(word, '=') || word[0] == '=' || strncmp(word, "SWAPFAULT_", 10) == 0 ||
		    strncmp(word, "LD_PRELOAD=", 11) == 0)
			return scenario_refuse(reader, node,
					       "env: '%s', must be NAME=VALUE, and the name not "
					       "LD_PRELOAD or SWAPFAULT_*",
					       word);
	return 0;
}

/* Refuse the first of @names that is a key of @node. */
static int refuse_any(struct scenario_reader *reader, const struct yaml_node *node,
		      const char *const *names, const char *with)
{
	for (; *names; names++) {
		const struct yaml_node *value = yaml_node_member(node, *names);

		if (value)
			return scenario_refuse(reader, value, "%s: goes with %s only", *names,
					       with);
	}
	return 0;
}

static int check_outputs(struct scenario_reader *reader, const struct yaml_node *root)
{
	const struct program_expectation *expect = &reader->scenario->expect.program;
	const struct yaml_node *list = yaml_node_member(yaml_node_member(root, "expect"), "files");

	for (unsigned i = 0; i < expect->outputs_count; i++) {
		const struct program_output *output = &expect->outputs[i];
		const struct yaml_node *node = list->items[i];

		if (output->absent && node->count > 2)
			return scenario_refuse(reader, node,
					       "absent: says all that there is to say of %s",
					       output->name);
		if (strcmp(output->same_as, output->name) == 0)
			return scenario_refuse(reader, node, "same_as: '%s' is that file itself",
					       output->name);
	}
	return 0;
}

static int check_program(struct scenario_reader *reader, const struct yaml_node *root)
{
	static const char *const of_swap[] = {"handle", "limits", "arm", "aftermath", "core", NULL};
	static const char *const of_requests[] = {"error", "cause",    "tensor", "message",
						  "data",  "failures", "stats",	 NULL};
	const struct yaml_node *expect = yaml_node_member(root, "expect");
	const struct expectation *expected = &reader->scenario->expect;

	if (yaml_node_member(root, "swap"))
		return scenario_refuse(reader, yaml_node_member(root, "program"),
				       "program: and swap cannot both be what runs");
	if (refuse_any(reader, root, of_swap, "swap") < 0 ||
	    refuse_any(reader, expect, of_requests, "swap") < 0)
		return -EINVAL;
	if (expected->result == EXPECT_REFUSED)
		return scenario_refuse(reader, yaml_node_member(expect, "result"),
				       "result: a program succeeds or fails: ok or error");
	if (expected->result != EXPECT_FROM_EFFECT &&
	    expected->program.status != PROGRAM_STATUS_UNSET)
		return scenario_refuse(reader, yaml_node_member(expect, "status"),
				       "status: says it, result must not say it, too");
	return check_outputs(reader, root);
}

int scenario_check_program(struct scenario_reader *reader, const struct yaml_node *root)
{
	static const char *const of_programs[] = {"status", "stdout", "files", NULL};

	if (reader->scenario->program.argv.count)
		return check_program(reader, root);
	return refuse_any(reader, yaml_node_member(root, "expect"), of_programs, "program");
}
