/* SPDX-License-Identifier: MIT */
/*
 * scenario_schema.h - the types of the one table that says what a scenario file may hold.
 *
 * From the table come the checks (scenario_read.c), the JSON schema for editors (scenario_json.c)
 * and the list of keys in the man page (scenario_man.c), so that the three cannot disagree.
 *
 * Threads: read-only tables.
 */
#ifndef SCENARIO_SCHEMA_H
#define SCENARIO_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scenario.h"
#include "yaml_tree.h"

enum key_type {
	KEY_BOOL,     /* bool */
	KEY_COUNT,    /* plain number: unsigned or uint64_t */
	KEY_COUNTS,   /* list of those: array of uint64_t, and their number */
	KEY_BYTES,    /* with K M G T: unsigned or uint64_t */
	KEY_DURATION, /* with a unit: int64_t */
	KEY_TEXT,     /* char array */
	KEY_CHOICE,   /* index in choices: bool, int or enum */
	KEY_SET,      /* list of choices: unsigned, bit per choice */
	KEY_WORDS,    /* one word or a list: array of char arrays, and their number */
	KEY_MAP,      /* struct, with keys of its own */
	KEY_MAPS,     /* list of those: array of structs, and their number */
	KEY_SPECIAL,  /* read by a function of its own, which also has a name for the schema */
};

struct scenario_reader {
	const char *path;
	const char *cell; /* "workers=0,faults=...", "" when no cell is applied */
	struct diag *diag;
	struct scenario *scenario;
};

typedef int key_read_fn(struct scenario_reader *reader, const struct yaml_node *node);
typedef void key_defaults_fn(void *item);

struct scenario_key {
	const char *name;
	enum key_type type;
	bool required;
	size_t offset, bytes;	    /* of the field in its container; WORDS, MAPS: of one item */
	size_t count_offset;	    /* COUNTS, WORDS, MAPS */
	uint64_t least, most;	    /* numbers: range; COUNTS, WORDS, MAPS: how many */
	uint64_t multiple;	    /* numbers: must be one of this; 0 any */
	bool power_of_two;	    /* numbers: or 0 */
	const char *const *choices; /* CHOICE, SET, and TEXT, WORDS, COUNT that allow few values */
	const char *pattern;	    /* TEXT, WORDS: extended regular expression */
	const char *allowed;	    /* the pattern in words */
	const struct scenario_key *keys; /* MAP, MAPS; SPECIAL: for the schema */
	key_defaults_fn *defaults;	 /* MAPS: fill a fresh item */
	key_read_fn *read;		 /* SPECIAL */
	const char *fallback;		 /* default, in words */
	const char *doc;		 /* one sentence without a full stop */
};

/* The keys of the file itself; ended by a key without a name. */
extern const struct scenario_key scenario_keys[];
extern const struct scenario_key handle_keys[];
extern const struct scenario_key step_keys[];
extern const struct scenario_key tensor_keys[];
extern const struct scenario_key preset_keys[];	    /* of struct preset_asked */
extern const struct scenario_key checkpoint_keys[]; /* of struct checkpoint_asked */

/* Most elements of a tensor. */
#define SCENARIO_NUMEL_MAX (UINT64_C(1) << 40)

/* Which tensors of a checkpoint. */
struct checkpoint_asked {
	char file[SCENARIO_VALUE_BYTES];
	unsigned first, count; /* in the order of their bytes; 0: all that are left */
	enum memory_kind memory;
	uint32_t pointer_offset_bytes;
};

/* Which keys of step_keys a step takes: names separated by blanks, and what it does. */
struct step_rule {
	const char *keys;	/* NULL: goes with a store only */
	const char *store_keys; /* when there is a store; NULL: goes without one only */
	const char *doc;
};
extern const struct step_rule step_rules[STEP_COUNT];
/* Is @word one of the words of @list? */
bool scenario_step_takes(const char *list, const char *word);

/* Refuse what stands at @node; the cell is named, too. Returns -EINVAL. */
int scenario_refuse(const struct scenario_reader *reader, const struct yaml_node *node,
		    const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Read the keys of @node into @container. @what: "handle", for messages. */
int scenario_read_map(struct scenario_reader *reader, const struct scenario_key *keys,
		      const struct yaml_node *node, void *container, const char *what);
/* Read one value. */
int scenario_read_key(struct scenario_reader *reader, const struct scenario_key *key,
		      const struct yaml_node *node, void *container);
/* Refuse a key that is not one of @keys, with the nearest or all that are. */
int scenario_refuse_key(struct scenario_reader *reader, const struct yaml_node *name,
			const struct scenario_key *keys, const char *what);
/* A plain or quoted scalar that is not empty. */
int scenario_read_text(struct scenario_reader *reader, const struct yaml_node *node,
		       const char *name, const char **ret_text);

/* The special ones. */
key_read_fn scenario_read_steps, scenario_read_faults, scenario_read_matrix;
key_read_fn scenario_read_argv, scenario_read_env, scenario_read_tensors;

/* Tensors as a list, a preset or a checkpoint, into @tensors that has @room. */
int scenario_read_tensor_list(struct scenario_reader *reader, const struct yaml_node *node,
			      struct tensor *tensors, unsigned room, unsigned *ret_count);

/* What no single key can tell: contradictions, and names that must exist. */
int scenario_check(struct scenario_reader *reader, const struct yaml_node *root);
int scenario_check_program(struct scenario_reader *reader, const struct yaml_node *root);
int scenario_check_steps(struct scenario_reader *reader, const struct yaml_node *root);

/* Read a whole tree, with a cell already applied, into @scenario, which is overwritten; the caller
 * ends it with scenario_free(), also when this fails. It does not take @root over. */
int scenario_decode(const struct yaml_node *root, const char *path, const char *cell,
		    struct scenario *scenario, struct diag *diag);

#endif /* SCENARIO_SCHEMA_H */
