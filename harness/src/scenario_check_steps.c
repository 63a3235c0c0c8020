/* SPDX-License-Identifier: MIT */
/*
 * scenario_check_steps.c - steps that contradict themselves or each other.
 */
#include <errno.h>
#include <string.h>

#include "points.h"
#include "scenario_schema.h"

static bool names_errno(const char *text)
{
	int number;

	return errno_find(text, &number) == 0;
}

static const struct yaml_node *step_key_node(const struct yaml_node *node, const char *name)
{
	const struct yaml_node *options = node->kind == YAML_KIND_MAP ? node->items[0] : NULL;
	const struct yaml_node *value = yaml_node_member(options, name);

	return value ? value : node;
}

static int check_options(struct scenario_reader *reader, const struct step *step,
			 const struct yaml_node *node)
{
	const char *expected = step->expect_error;

	if (step->buffered_fd && !step->by_fd)
		return scenario_refuse(reader, step_key_node(node, "buffered"),
				       "buffered: goes with by: fd only");
	if (step->own_handles && step->threads < 2)
		return scenario_refuse(reader, step_key_node(node, "own_handles"),
				       "own_handles: goes with threads: 2 or more only");
	if (expected[0] == 'E' && !names_errno(expected))
		return scenario_refuse(reader, step_key_node(node, "expect"),
				       "expect: '%s' is no errno name that is known here",
				       expected);
	return 0;
}

/* A key that a step cannot do without. */
static int check_needed(struct scenario_reader *reader, const struct step *step,
			const struct yaml_node *node)
{
	const struct yaml_node *options = node->kind == YAML_KIND_MAP ? node->items[0] : NULL;
	const char *needed = step->kind == STEP_TRUNCATE  ? "bytes"
			     : step->kind == STEP_CORRUPT ? "offset"
			     : step->kind == STEP_REPEAT  ? "count"
							  : NULL;

	if (needed && !yaml_node_member(options, needed))
		return scenario_refuse(reader, node, "key '%s' is missing in %s", needed,
				       step_name(step->kind));
	return 0;
}

/* Other tensors of a step: a list of their own, and not with names of the usual ones. */
static int check_as(struct scenario_reader *reader, const struct step *step,
		    const struct yaml_node *node)
{
	const struct tensor *first = &reader->scenario->workload.tensors[step->as_first];

	if (step->as_count && step->tensors)
		return scenario_refuse(reader, step_key_node(node, "tensors"),
				       "tensors: does not go with as, which takes all of its own");
	for (unsigned i = 0; i < step->as_count; i++)
		for (unsigned k = 0; k < i; k++)
			if (strcmp(first[i].name, first[k].name) == 0)
				return scenario_refuse(reader, step_key_node(node, "as"),
						       "as: tensor '%s' is given twice",
						       first[i].name);
	return 0;
}

static int check_corrupt(struct scenario_reader *reader, const struct step *step,
			 const struct yaml_node *node)
{
	const struct workload *workload = &reader->scenario->workload;

	if (step->kind != STEP_CORRUPT || step->part != STORE_PART_DATA)
		return 0;
	for (unsigned i = 0; i < workload->tensors_count; i++) {
		const struct tensor *tensor = &workload->tensors[i];
		unsigned long long bytes = tensor_bytes(tensor);

		if (step->tensors && !(step->tensors & (1ull << i)))
			continue;
		if (step->bytes >= bytes)
			return scenario_refuse(reader, step_key_node(node, "offset"),
					       "offset: %llu, tensor %s has %llu bytes",
					       (unsigned long long)step->bytes, tensor->name,
					       bytes);
	}
	return 0;
}

/* What is renamed over a file takes all of it along. */
static int check_replace(struct scenario_reader *reader, const struct step *step,
			 const struct yaml_node *node)
{
	const struct workload *workload = &reader->scenario->workload;

	for (unsigned i = 0; step->tensors && i < workload->tensors_count; i++) {
		for (unsigned k = 0; k < workload->tensors_count; k++) {
			bool one = step->tensors & (1ull << i), other = step->tensors & (1ull << k);

			if (step->kind != STEP_REPLACE || !one || other ||
			    strcmp(workload->tensors[i].file, workload->tensors[k].file) != 0)
				continue;
			return scenario_refuse(
				reader, step_key_node(node, "tensors"),
				"tensors: %s lies in the file of %s, and would be lost",
				workload->tensors[k].name, workload->tensors[i].name);
		}
	}
	return 0;
}

static bool writes(const struct step *step)
{
	return step->kind == STEP_SWAP_OUT || step->kind == STEP_WRITE ||
	       step->kind == STEP_REPLACE || (step->kind == STEP_START && step->write);
}

/* Does a list of a step have a tensor of every name that the workload has? What a later generation
 * leaves out a reader would look for. */
static bool has_all_names(const struct workload *workload, const struct step *step)
{
	for (unsigned i = 0; i < workload->tensors_count; i++) {
		unsigned at = step->as_first, end = at + step->as_count;

		while (at < end &&
		       strcmp(workload->tensors[i].name, workload->tensors[at].name) != 0)
			at++;
		if (at == end)
			return false;
	}
	return true;
}

/* The step behind that one at which what is not durable may be gone; STEP_COUNT: none. */
static enum step_kind loss_behind(const struct workload *workload, unsigned index)
{
	for (unsigned i = index + 1; i < workload->steps_count; i++)
		if (workload->steps[i].kind == STEP_DEVICE_RETURN)
			return STEP_DEVICE_RETURN;
	if (workload_images(workload) > 1 && workload_image_of(workload, index) == 0)
		return STEP_RESTART;
	return STEP_COUNT;
}

/*
 * Before the first restart the power may be cut, and before a device returns it was pulled out,
 * which takes back what is not durable. What is done to the files outside of the library at that
 * time is durable at once, and nothing to take back may lie below it.
 */
static int check_before_loss(struct scenario_reader *reader, unsigned index,
			     const struct yaml_node *node)
{
	const struct workload *workload = &reader->scenario->workload;
	enum step_kind kind = workload->steps[index].kind, loss = loss_behind(workload, index);
	bool written = false;

	if (loss == STEP_COUNT)
		return 0;
	for (unsigned i = 0; i < index; i++)
		written |= writes(&workload->steps[i]);
	if (kind == STEP_TRUNCATE || kind == STEP_CORRUPT || kind == STEP_REMOVE ||
	    kind == STEP_COPY_VOLUME)
		return scenario_refuse(reader, node, "%s: must stand behind the %s",
				       step_name(kind), step_name(loss));
	if (workload->steps[index].as_count && !has_all_names(workload, &workload->steps[index]))
		return scenario_refuse(reader, step_key_node(node, "as"),
				       "as: must have every tensor of the scenario, or stand "
				       "behind the %s",
				       step_name(loss));
	if (kind == STEP_PREPARE && written)
		return scenario_refuse(reader, node,
				       "prepare: must stand before the first write, or behind the "
				       "%s",
				       step_name(loss));
	return 0;
}

/* Of the first process: later ones would begin on what is dead. */
static int check_return(struct scenario_reader *reader, unsigned index,
			const struct yaml_node *node, bool store_open)
{
	const struct workload *workload = &reader->scenario->workload;

	if (workload->steps[index].kind != STEP_DEVICE_RETURN)
		return 0;
	if (reader->scenario->targets != 1u << TARGET_NVME)
		return scenario_refuse(reader, node,
				       "device-return: only target nvme has a device that can "
				       "return, targets must be [nvme]");
	if (workload_image_of(workload, index) > 0)
		return scenario_refuse(reader, node,
				       "device-return: must stand before the restart");
	if (loss_behind(workload, index) == STEP_DEVICE_RETURN)
		return scenario_refuse(reader, node,
				       "device-return: a device is pulled out once, and returns "
				       "once");
	if (workload->store.used && store_open)
		return scenario_refuse(reader, node,
				       "device-return: the store is open, a step store-close is "
				       "due");
	return 0;
}

static int check_restart(struct scenario_reader *reader, unsigned index,
			 const struct yaml_node *node, bool at_mark)
{
	const struct workload *workload = &reader->scenario->workload;

	if (workload->steps[index].kind != STEP_RESTART)
		return 0;
	if (at_mark && (index == 0 || workload->steps[index - 1].kind == STEP_RESTART))
		return scenario_refuse(reader, node, "restart: no step stands before it");
	if (index + 1 == workload->steps_count)
		return scenario_refuse(reader, node, "restart: no step stands behind it");
	return 0;
}

/* Follow the handle: a close that must answer an error leaves it open. */
static int check_handle(struct scenario_reader *reader, const struct step *step,
			const struct yaml_node *node, bool *open)
{
	if (step_needs_handle(step->kind) && !*open)
		return scenario_refuse(reader, node, "%s: the handle is closed, a step open is due",
				       step_name(step->kind));
	if (step->kind == STEP_OPEN && *open)
		return scenario_refuse(reader, node, "open: the handle is open already");
	if (step->kind == STEP_OPEN || step->kind == STEP_RESTART)
		*open = true;
	if (step->kind == STEP_ABORT || (step->kind == STEP_CLOSE && step->expect_error[0] != 'E'))
		*open = false;
	return 0;
}

/* Follow the store: steps that use it find it open, or say why it is not. */
static int check_store(struct scenario_reader *reader, const struct step *step,
		       const struct yaml_node *node, bool *open)
{
	bool fails = step->expect_error[0] == 'E';

	if (!reader->scenario->workload.store.used)
		return 0;
	if (step_needs_store(step->kind) && !*open)
		return scenario_refuse(reader, node,
				       "%s: the store is closed, a step store-open is due",
				       step_name(step->kind));
	if (step->kind == STEP_PREPARE && *open)
		return scenario_refuse(reader, node,
				       "prepare: the store is open, a step store-close is due");
	if (step->kind == STEP_STORE_OPEN && *open)
		return scenario_refuse(reader, node, "store-open: the store is open already");
	if (step->kind == STEP_OPEN || step->kind == STEP_RESTART ||
	    (step->kind == STEP_STORE_OPEN && !fails))
		*open = true;
	if ((step->kind == STEP_STORE_CLOSE || step->kind == STEP_CLOSE) && !fails)
		*open = false;
	return 0;
}

int scenario_check_steps(struct scenario_reader *reader, const struct yaml_node *root)
{
	const struct workload *workload = &reader->scenario->workload;
	const struct yaml_node *list = yaml_node_member(yaml_node_member(root, "swap"), "steps");
	bool open = true, store_open = true, at_mark = true;

	for (unsigned i = 0; i < workload->steps_count; i++) {
		const struct step *step = &workload->steps[i];
		const struct yaml_node *node = list->items[i];

		if (check_needed(reader, step, node) < 0 || check_options(reader, step, node) < 0 ||
		    check_as(reader, step, node) < 0 || check_corrupt(reader, step, node) < 0 ||
		    check_replace(reader, step, node) < 0 ||
		    check_before_loss(reader, i, node) < 0 ||
		    check_return(reader, i, node, store_open) < 0 ||
		    check_restart(reader, i, node, at_mark) < 0 ||
		    check_handle(reader, step, node, &open) < 0 ||
		    check_store(reader, step, node, &store_open) < 0)
			return -EINVAL;
		if (step->kind == STEP_REPEAT && at_mark)
			return scenario_refuse(reader, node, "repeat: there is no step to repeat");
		if (step->kind == STEP_REPEAT && !open)
			return scenario_refuse(reader, node,
					       "repeat: the handle is closed at the end");
		if (step->kind == STEP_REPEAT && !store_open)
			return scenario_refuse(reader, node,
					       "repeat: the store is closed at the end");
		at_mark = step->kind == STEP_REPEAT || step->kind == STEP_RESTART;
	}
	return 0;
}
