/* SPDX-License-Identifier: MIT */
/*
 * scenario.c - loading a scenario: the file as a tree, the tree as data, and the faults in it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "matrix.h"
#include "scenario_schema.h"

#define DEADLINE_DEFAULT_NS 5000000000
#define DEVICE_DEFAULT_BYTES (UINT64_C(1) << 30) /* what is not written takes no room */

const char *target_name(enum target target)
{
	switch (target) {
	case TARGET_SIM:
		return "sim";
	case TARGET_HOST:
		return "host";
	case TARGET_NVME:
		return "nvme";
	case TARGET_COUNT:
		break;
	}
	return "none";
}

const char *file_system_name(enum scenario_file_system file_system)
{
	return file_system == FILE_SYSTEM_EXT4 ? "ext4" : "none";
}

/* Point into the fault's text, where the parser points. */
static int refuse_fault(struct scenario_reader *reader, const struct yaml_node *node,
			const struct schedule_error *error)
{
	struct yaml_node place = {.line = node->line, .column = node->column};

	if (error->column)
		place.column += error->column - 1 + (node->quoted ? 1 : 0);
	return scenario_refuse(reader, &place, "fault '%s': %s", node->text, error->text);
}

static int check_fault(struct scenario_reader *reader, const struct yaml_node *node,
		       struct schedule *schedule)
{
	struct schedule_error error = {0};
	const char *text;

	if (scenario_read_text(reader, node, "faults", &text) < 0)
		return -EINVAL;
	if (schedule_parse(text, schedule, &error) < 0)
		return refuse_fault(reader, node, &error);
	if (schedule->count == 0)
		return scenario_refuse(reader, node, "faults: '%s' holds no fault", text);
	return 0;
}

static int append_line(char **text, const char *line)
{
	size_t used = *text ? strlen(*text) : 0, length = strlen(line);
	char *grown = realloc(*text, used + length + 2);

	if (!grown)
		return -ENOMEM;
	memcpy(grown + used, line, length);
	memcpy(grown + used + length, "\n", 2);
	*text = grown;
	return 0;
}

static int read_fault(struct scenario_reader *reader, const struct yaml_node *node, unsigned *count)
{
	struct schedule *schedule = calloc(1, sizeof(*schedule));
	int result;

	if (!schedule)
		return -ENOMEM;
	result = check_fault(reader, node, schedule);
	*count += schedule->count;
	free(schedule);
	if (result < 0)
		return result;
	if (*count > SCHEDULE_FAULTS_MAX)
		return scenario_refuse(reader, node, "faults: more than %d", SCHEDULE_FAULTS_MAX);
	return append_line(&reader->scenario->schedule_text, node->text);
}

int scenario_read_faults(struct scenario_reader *reader, const struct yaml_node *node)
{
	unsigned count = 0;

	if (node->kind == YAML_KIND_MAP)
		return scenario_refuse(reader, node, "faults: %s, must be a list of faults",
				       yaml_kind_name(node->kind));
	if (node->kind == YAML_KIND_SCALAR)
		return read_fault(reader, node, &count);
	for (unsigned i = 0; i < node->count; i++) {
		int result = read_fault(reader, node->items[i], &count);

		if (result < 0)
			return result;
	}
	return 0;
}

static void scenario_defaults(struct scenario *scenario)
{
	memset(scenario, 0, sizeof(*scenario));
	workload_defaults(&scenario->workload);
	scenario->targets = 1u << TARGET_SIM | 1u << TARGET_HOST;
	scenario->expect.data = EXPECT_DATA_EXACT;
	scenario->expect.deadline_ns = DEADLINE_DEFAULT_NS;
	scenario->expect.program.status = PROGRAM_STATUS_UNSET;
	scenario->device = (struct scenario_device){
		.sector_bytes = 512,
		.memory_align_bytes = 512,
		.size_bytes = DEVICE_DEFAULT_BYTES,
		.mdts = 7,
		.queues = 8,
	};
}

static void scenario_fini(struct scenario *scenario)
{
	free(scenario->schedule_text);
	yaml_node_free(scenario->root);
	scenario->schedule_text = NULL;
	scenario->root = NULL;
}

int scenario_decode(const struct yaml_node *root, const char *path, const char *cell,
		    struct scenario *scenario, struct diag *diag)
{
	struct scenario_reader reader = {
		.path = path,
		.cell = cell,
		.diag = diag,
		.scenario = scenario,
	};
	int result;

	scenario_defaults(scenario);
	strncpy(scenario->path, path, sizeof(scenario->path) - 1);
	/* What steps take depends on it. */
	scenario->workload.store.used = yaml_node_member(root, "store");
	result = scenario_read_map(&reader, scenario_keys, root, scenario, "the scenario");
	if (result == 0)
		result = scenario_check(&reader, root);
	return result;
}

/* One cell shows whether the keys of the matrix exist; the plan reads the others. */
static int check_matrix(const struct scenario *scenario, struct diag *diag)
{
	unsigned first[SCENARIO_MATRIX_KEYS_MAX] = {0};
	struct scenario *cell = calloc(1, sizeof(*cell));
	int result = cell ? matrix_decode(scenario, first, cell, diag) : -ENOMEM;

	scenario_free(cell);
	return result;
}

/* Takes @root over. */
static int scenario_create(struct yaml_node *root, const char *path, struct scenario **ret_scenario,
			   struct diag *diag)
{
	struct scenario *scenario = calloc(1, sizeof(*scenario));
	int result = scenario ? scenario_decode(root, path, "", scenario, diag) : -ENOMEM;

	if (scenario)
		scenario->root = root;
	else
		yaml_node_free(root);
	if (result == 0)
		result = check_matrix(scenario, diag);
	if (result < 0)
		scenario_free(scenario);
	else
		*ret_scenario = scenario;
	return result;
}

int scenario_load(const char *path, struct scenario **ret_scenario, struct diag *diag)
{
	struct yaml_node *root = NULL;
	int result;

	if (strlen(path) >= DIAG_FILE_BYTES)
		return diag_set(diag, path, 0, 0, "the path is longer than %d bytes",
				DIAG_FILE_BYTES - 1);
	result = yaml_tree_load(path, &root, diag);
	return result < 0 ? result : scenario_create(root, path, ret_scenario, diag);
}

int scenario_parse(const char *text, size_t bytes, const char *path, struct scenario **ret_scenario,
		   struct diag *diag)
{
	struct yaml_node *root = NULL;
	int result = yaml_tree_parse(text, bytes, path, &root, diag);

	return result < 0 ? result : scenario_create(root, path, ret_scenario, diag);
}

void scenario_free(struct scenario *scenario)
{
	if (!scenario)
		return;
	scenario_fini(scenario);
	free(scenario);
}
