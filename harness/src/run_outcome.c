/* SPDX-License-Identifier: MIT */
/*
 * run_outcome.c - reads the lines of a worker's outcome. One table says which line goes where.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_outcome.h"

const char *const outcome_count_names[OUTCOME_COUNTS] = {"fds",	   "threads", "contexts",
							 "locked", "mapped",  "heap"};

const char *const outcome_stat_names[OUTCOME_STATS] = {
	"requests", "blocks",  "submits", "waits", "interrupts",      "short_waits",
	"resumes",  "retries", "bounces", "rmws",  "spurious_events", "wait_fallbacks",
};

static int64_t number_of(const json_t *line, const char *name)
{
	return json_integer_value(json_object_get(line, name));
}

static void copy_text(char *to, size_t room, const json_t *line, const char *name)
{
	const char *text = json_string_value(json_object_get(line, name));

	snprintf(to, room, "%s", text ? text : "");
}

/* Room for one more element of @bytes in a list that doubles. */
static int grow(void *list, unsigned count, unsigned *room, size_t bytes)
{
	void *bigger;

	if (count < *room)
		return 0;
	memcpy(&bigger, list, sizeof(bigger));
	bigger = realloc(bigger, (*room ? *room * 2 : 16) * bytes);
	if (!bigger)
		return -ENOMEM;
	memcpy(list, &bigger, sizeof(bigger));
	*room = *room ? *room * 2 : 16;
	return 0;
}

static enum outcome_stage stage_of(const json_t *line)
{
	const char *stage = json_string_value(json_object_get(line, "stage"));

	if (!stage || strcmp(stage, "submit") == 0)
		return STAGE_SUBMIT;
	return strcmp(stage, "wait") == 0 ? STAGE_WAIT : STAGE_DONE;
}

static int read_request(struct outcome *outcome, const json_t *line)
{
	struct outcome_request *request;

	if (grow(&outcome->requests, outcome->requests_count, &outcome->requests_room,
		 sizeof(*request)) < 0)
		return -ENOMEM;
	request = &outcome->requests[outcome->requests_count++];
	*request = (struct outcome_request){
		.step = (unsigned)number_of(line, "step"),
		.tensor = (unsigned)number_of(line, "tensor"),
		.write = number_of(line, "write"),
		.synchronous = number_of(line, "sync"),
		.buffered = number_of(line, "buffered"),
		.stage = stage_of(line),
		.error = (int)number_of(line, "error"),
		.length = (uint64_t)number_of(line, "length"),
		.bytes = (uint64_t)number_of(line, "bytes"),
		.fail_offset = (uint64_t)number_of(line, "fail_offset"),
		.fail_length = (uint64_t)number_of(line, "fail_length"),
		.generation = (uint32_t)number_of(line, "generation"),
		.size_before = number_of(line, "size_before"),
	};
	copy_text(request->cause, sizeof(request->cause), line, "cause");
	copy_text(request->text, sizeof(request->text), line, "text");
	request->swap = number_of(line, "swap");
	request->unnamed = request->swap && !number_of(line, "named");
	request->tensors = (uint64_t)number_of(line, "tensors");
	request->stored = (uint64_t)number_of(line, "stored");
	request->staged = (uint64_t)number_of(line, "staged");
	copy_text(request->place, sizeof(request->place), line, "place");
	return 0;
}

static int read_call(struct outcome *outcome, const json_t *line)
{
	struct outcome_call *call;

	if (grow(&outcome->calls, outcome->calls_count, &outcome->calls_room, sizeof(*call)) < 0)
		return -ENOMEM;
	call = &outcome->calls[outcome->calls_count++];
	call->step = (unsigned)number_of(line, "step");
	call->error = (int)number_of(line, "error");
	copy_text(call->call, sizeof(call->call), line, "call");
	copy_text(call->text, sizeof(call->text), line, "text");
	return 0;
}

static int read_damage(struct outcome *outcome, const json_t *line)
{
	struct outcome_damage *damage;

	if (grow(&outcome->damages, outcome->damages_count, &outcome->damages_room,
		 sizeof(*damage)) < 0)
		return -ENOMEM;
	damage = &outcome->damages[outcome->damages_count++];
	damage->named = number_of(line, "named");
	damage->offset = (uint64_t)number_of(line, "offset");
	damage->length = (uint64_t)number_of(line, "length");
	damage->error = (int)number_of(line, "error");
	copy_text(damage->group, sizeof(damage->group), line, "group");
	copy_text(damage->tensor, sizeof(damage->tensor), line, "name");
	copy_text(damage->text, sizeof(damage->text), line, "text");
	return 0;
}

/* It is a call of the library like others, too. */
static int read_verify(struct outcome *outcome, const json_t *line)
{
	struct outcome_verify *verify;

	if (read_call(outcome, line) < 0 || grow(&outcome->verifies, outcome->verifies_count,
						 &outcome->verifies_room, sizeof(*verify)) < 0)
		return -ENOMEM;
	verify = &outcome->verifies[outcome->verifies_count++];
	verify->step = (unsigned)number_of(line, "step");
	verify->error = (int)number_of(line, "error");
	verify->damages_first = outcome->damages_told;
	verify->damages_count = outcome->damages_count - outcome->damages_told;
	outcome->damages_told = outcome->damages_count;
	copy_text(verify->place, sizeof(verify->place), line, "place");
	copy_text(verify->text, sizeof(verify->text), line, "text");
	return 0;
}

static int read_removal(struct outcome *outcome, const json_t *line)
{
	struct outcome_removal *removal;

	if (read_call(outcome, line) < 0 || grow(&outcome->removals, outcome->removals_count,
						 &outcome->removals_room, sizeof(*removal)) < 0)
		return -ENOMEM;
	removal = &outcome->removals[outcome->removals_count++];
	removal->step = (unsigned)number_of(line, "step");
	removal->requests_before = outcome->requests_count;
	removal->error = (int)number_of(line, "error");
	copy_text(removal->place, sizeof(removal->place), line, "place");
	return 0;
}

static int read_remark(struct outcome_remark **list, unsigned *count, unsigned *room,
		       const json_t *line)
{
	struct outcome_remark *remark;

	if (grow(list, *count, room, sizeof(*remark)) < 0)
		return -ENOMEM;
	remark = &(*list)[(*count)++];
	remark->step = (unsigned)number_of(line, "step");
	remark->tensor = (unsigned)number_of(line, "tensor");
	remark->begin = (uint64_t)number_of(line, "begin");
	remark->end = (uint64_t)number_of(line, "end");
	remark->bad = (uint64_t)number_of(line, "bad");
	copy_text(remark->text, sizeof(remark->text), line, "text");
	return 0;
}

static int read_data(struct outcome *outcome, const json_t *line)
{
	return read_remark(&outcome->data, &outcome->data_count, &outcome->data_room, line);
}

static int read_wrong(struct outcome *outcome, const json_t *line)
{
	return read_remark(&outcome->wrong, &outcome->wrong_count, &outcome->wrong_room, line);
}

static int add_write(struct outcome *outcome, const struct outcome_write *write)
{
	if (grow(&outcome->writes, outcome->writes_count, &outcome->writes_room, sizeof(*write)) <
	    0)
		return -ENOMEM;
	outcome->writes[outcome->writes_count++] = *write;
	return 0;
}

static int read_write(struct outcome *outcome, const json_t *line, bool gone, bool durable)
{
	struct outcome_write write = {
		.tensor = (unsigned)number_of(line, "tensor"),
		.generation = (uint32_t)number_of(line, "generation"),
		.length = (uint64_t)number_of(line, "length"),
		.gone = gone,
		.durable = durable,
	};
	struct wire_kept *kept = &outcome->kept[write.tensor];

	if (write.generation > kept->drawn)
		*kept = (struct wire_kept){.drawn = write.generation};
	return add_write(outcome, &write);
}

static int read_begun(struct outcome *outcome, const json_t *line)
{
	return read_write(outcome, line, false, false);
}

static int read_durable(struct outcome *outcome, const json_t *line)
{
	return read_write(outcome, line, false, true);
}

static int read_removing(struct outcome *outcome, const json_t *line)
{
	return read_write(outcome, line, true, false);
}

static int read_removed(struct outcome *outcome, const json_t *line)
{
	return read_write(outcome, line, true, true);
}

static int read_kept(struct outcome *outcome, const json_t *line)
{
	outcome->kept[number_of(line, "tensor")] = (struct wire_kept){
		.drawn = (uint32_t)number_of(line, "drawn"),
		.stored = (uint32_t)number_of(line, "stored"),
		.stored_bytes = (uint64_t)number_of(line, "bytes"),
	};
	return 0;
}

static int read_counts(struct outcome_counts *counts, const json_t *line)
{
	/* Absent: not measured, which is 0 before and after. */
	for (unsigned i = 0; i < OUTCOME_COUNTS; i++)
		counts->values[i] = number_of(line, outcome_count_names[i]);
	counts->known = true;
	return 0;
}

static int read_before(struct outcome *outcome, const json_t *line)
{
	return read_counts(&outcome->before, line);
}

static int read_after(struct outcome *outcome, const json_t *line)
{
	return read_counts(&outcome->after, line);
}

static int read_stats(struct outcome *outcome, const json_t *line)
{
	for (unsigned i = 0; i < OUTCOME_STATS; i++)
		outcome->stats[i] += number_of(line, outcome_stat_names[i]);
	return 0;
}

static int read_opened(struct outcome *outcome, const json_t *line)
{
	outcome->opened = true;
	copy_text(outcome->wait_call, sizeof(outcome->wait_call), line, "wait_call");
	return 0;
}

static int read_broken(struct outcome *outcome, const json_t *line)
{
	copy_text(outcome->broken, sizeof(outcome->broken), line, "text");
	return 0;
}

static int read_aborted(struct outcome *outcome, const json_t *line)
{
	(void)line;
	outcome->aborted = true;
	return 0;
}

static int read_step(struct outcome *outcome, const json_t *line)
{
	outcome->last_step = (unsigned)number_of(line, "step");
	return 0;
}

static int read_end(struct outcome *outcome, const json_t *line)
{
	(void)line;
	outcome->ended = true;
	return 0;
}

static const struct line_kind {
	const char *name;
	int (*read)(struct outcome *outcome, const json_t *line);
} kinds[] = {
	{"request", read_request},   {"step", read_step},	{"call", read_call},
	{"data", read_data},	     {"wrong", read_wrong},	{"before", read_before},
	{"after", read_after},	     {"stats", read_stats},	{"opened", read_opened},
	{"begun", read_begun},	     {"durable", read_durable}, {"kept", read_kept},
	{"broken", read_broken},     {"aborted", read_aborted}, {"end", read_end},
	{"damage", read_damage},     {"verify", read_verify},	{"removal", read_removal},
	{"removing", read_removing}, {"removed", read_removed},
};

/* The worker may have gone mad: whoever reads these as an index must be safe. */
static bool is_sane(const json_t *line)
{
	int64_t step = number_of(line, "step"), tensor = number_of(line, "tensor");

	return step >= 0 && step < WORKLOAD_STEPS_MAX && tensor >= 0 &&
	       tensor < WORKLOAD_TENSORS_MAX;
}

static int read_line(struct outcome *outcome, const char *text, size_t bytes)
{
	json_t *line = json_loadb(text, bytes, 0, NULL);
	const char *kind = json_string_value(json_object_get(line, "k"));
	int result = -EBADMSG;

	for (unsigned i = 0; kind && is_sane(line) && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (strcmp(kinds[i].name, kind) == 0)
			result = kinds[i].read(outcome, line);
	json_decref(line);
	if (result == -EBADMSG)
		snprintf(outcome->broken, sizeof(outcome->broken), "the worker told nonsense: %.*s",
			 (int)(bytes < 100 ? bytes : 100), text);
	return result;
}

int outcome_read(struct outcome *outcome, const struct wire_outcome *file)
{
	uint64_t used = __atomic_load_n(&file->used, __ATOMIC_ACQUIRE);

	if (used > WIRE_OUTCOME_BYTES_MAX - sizeof(*file))
		return -EBADMSG;
	while (outcome->parsed < used) {
		const char *text = file->text + outcome->parsed;
		const char *end = memchr(text, '\n', used - outcome->parsed);
		int result;

		if (!end)
			return -EBADMSG;
		outcome->parsed += (size_t)(end - text) + 1;
		result = read_line(outcome, text, (size_t)(end - text));
		if (result < 0)
			return result;
	}
	if (file->full)
		snprintf(outcome->broken, sizeof(outcome->broken),
			 "the worker told more than fits");
	return 0;
}

void outcome_next_process(struct outcome *outcome)
{
	outcome->ended = outcome->aborted = false;
	outcome->damages_told = outcome->damages_count; /* it died before it said more */
	outcome->before.known = outcome->after.known = false;
}

void outcome_reset(struct outcome *outcome)
{
	struct outcome kept = *outcome;

	*outcome = (struct outcome){
		.requests = kept.requests,
		.calls = kept.calls,
		.data = kept.data,
		.wrong = kept.wrong,
		.writes = kept.writes,
		.damages = kept.damages,
		.verifies = kept.verifies,
		.removals = kept.removals,
		.requests_room = kept.requests_room,
		.calls_room = kept.calls_room,
		.data_room = kept.data_room,
		.wrong_room = kept.wrong_room,
		.writes_room = kept.writes_room,
		.damages_room = kept.damages_room,
		.verifies_room = kept.verifies_room,
		.removals_room = kept.removals_room,
	};
}

void outcome_free(struct outcome *outcome)
{
	free(outcome->requests);
	free(outcome->calls);
	free(outcome->data);
	free(outcome->wrong);
	free(outcome->writes);
	free(outcome->damages);
	free(outcome->verifies);
	free(outcome->removals);
	*outcome = (struct outcome){0};
}

bool outcome_is_commit(const struct outcome_request *request)
{
	return request->swap && request->write && request->stage == STAGE_DONE && !request->error;
}
