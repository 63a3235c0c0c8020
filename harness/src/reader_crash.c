/* SPDX-License-Identifier: MIT */
/*
 * reader_crash.c - reads what a loss of power left, or a kill. Each sector may hold any write that
 * was begun since the last one that was made durable, or that one; where nothing was, also what was
 * there before: zeros, the end of the file, no file. Anything else was lost.
 *
 * A store promises more: it can be read, and holds one generation, whole. That a group was removed
 * is a generation of its own, which nothing holds but a store without the group.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "pattern.h"
#include "reader.h"
#include "store_reader.h"

#define SECTOR_BYTES 512u
#define CHUNK_BYTES ((size_t)128 * SECTOR_BYTES)
#define NOTHING 0u /* generation of what was there before the first write */

struct view { /* of one tensor in its file */
	const struct reader_job *job;
	struct case_result *result;
	unsigned tensor;
	bool found, mixed, lost;
	uint32_t generation; /* of the first bytes */
	uint32_t other;	     /* where it is mixed: the next one, and where it begins */
	uint64_t other_at;
	struct pattern_finding finding; /* end 0: nothing is lost so far */
};

static const struct tensor *tensor_of(const struct view *view)
{
	return &view->job->workload->tensors[view->tensor];
}

/* The next write of the tensor that is long enough to have byte @at, from *@index on; also what
 * made an end of all bytes. */
static const struct outcome_write *next_write(const struct view *view, uint64_t at, unsigned *index)
{
	const struct outcome *outcome = view->job->outcome;

	while (*index < outcome->writes_count) {
		const struct outcome_write *write = &outcome->writes[(*index)++];

		if (write->tensor == view->tensor && (write->gone || write->length > at))
			return write;
	}
	return NULL;
}

/* The oldest write that byte @at may hold; NULL: what was there before them all. */
static const struct outcome_write *promise_at(const struct view *view, uint64_t at)
{
	const struct outcome_write *write, *promise = NULL;
	unsigned index = 0;

	while ((write = next_write(view, at, &index)))
		if (write->durable && (!promise || write->generation > promise->generation))
			promise = write;
	return promise;
}

static uint32_t promised_at(const struct view *view, uint64_t at)
{
	const struct outcome_write *promise = promise_at(view, at);

	return promise ? promise->generation : NOTHING;
}

/* May there be nothing at all? */
static bool may_be_nothing(const struct view *view, uint64_t at)
{
	uint32_t promised = promised_at(view, at);
	const struct outcome_write *write;
	bool may = promised == NOTHING;
	unsigned index = 0;

	while (!may && (write = next_write(view, at, &index)))
		may = write->gone && write->generation >= promised;
	return may;
}

/* Where the writes that may have byte @at stop being the same: the end of one, or of a sector. */
static uint64_t piece_end(const struct view *view, uint64_t at)
{
	uint64_t in_file = tensor_of(view)->file_offset_bytes + at;
	uint64_t end = at + SECTOR_BYTES - in_file % SECTOR_BYTES;
	uint64_t cell = at + PATTERN_CELL_BYTES - at % PATTERN_CELL_BYTES;
	const struct outcome_write *write;
	unsigned index = 0;

	end = cell < end ? cell : end;
	while ((write = next_write(view, at, &index)))
		end = !write->gone && write->length < end ? write->length : end;
	return end;
}

static uint64_t longest(const struct view *view)
{
	const struct outcome_write *write;
	uint64_t bytes = 0;
	unsigned index = 0;

	while ((write = next_write(view, bytes, &index)))
		bytes = write->gone ? bytes : write->length;
	return bytes;
}

static bool holds(const struct view *view, uint32_t generation, uint64_t at, const char *seen,
		  size_t bytes)
{
	struct pattern pattern = {view->job->seed, view->tensor, generation};
	struct pattern_finding finding;

	return !pattern_check(&pattern, at, seen, bytes, NULL, 0, &finding);
}

static bool all_zero(const char *seen, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (seen[i])
			return false;
	return true;
}

/* Which generation that may be there is: *@ret_generation. False: none. */
static bool find_generation(const struct view *view, uint64_t at, const char *seen, size_t bytes,
			    uint32_t *ret_generation)
{
	uint32_t promised = promised_at(view, at);
	const struct outcome_write *write;
	unsigned index = 0;

	while ((write = next_write(view, at, &index))) {
		if (write->gone || write->generation < promised ||
		    !holds(view, write->generation, at, seen, bytes))
			continue;
		*ret_generation = write->generation;
		return true;
	}
	*ret_generation = NOTHING;
	return promised == NOTHING && all_zero(seen, bytes);
}

static void enter(struct view *view, uint64_t at, uint32_t generation)
{
	if (!view->found)
		view->generation = generation;
	if (view->found && !view->mixed && generation != view->generation) {
		view->mixed = true;
		view->other = generation;
		view->other_at = at;
	}
	view->found = true;
}

#define LOST(view, format, ...)                                                                    \
	result_add((view)->result, "data", CLASS_CORRUPTION, "after %s: tensor %s" format,         \
		   (view)->job->after, tensor_of(view)->name, __VA_ARGS__)

/* A run of bytes that hold nothing that may be there: what they hold instead is looked at once. */
static void begin_lost(struct view *view, uint64_t at, const char *seen, size_t bytes)
{
	uint32_t promised = promised_at(view, at);
	struct pattern pattern = {view->job->seed, view->tensor, promised ? promised : 1};
	const char *names[WORKLOAD_TENSORS_MAX];

	for (unsigned i = 0; i < view->job->workload->tensors_count; i++)
		names[i] = view->job->workload->tensors[i].name;
	pattern_check(&pattern, at, seen, bytes, names, view->job->workload->tensors_count,
		      &view->finding);
	view->finding.begin = at;
}

/* Only the first run is told. */
static void end_lost(struct view *view)
{
	const struct pattern_finding *finding = &view->finding;
	const struct outcome_write *promise = promise_at(view, finding->begin);

	if (!finding->end || view->lost)
		return;
	view->lost = true;
	if (promise && promise->gone)
		LOST(view, ", bytes %" PRIu64 "-%" PRIu64 " %s; group %s was removed for good",
		     finding->begin, finding->end - 1, finding->story,
		     view->job->workload->store.group);
	else if (promise)
		LOST(view, ", bytes %" PRIu64 "-%" PRIu64 " %s; generation %u was made durable",
		     finding->begin, finding->end - 1, finding->story, promise->generation);
	else
		LOST(view, ", bytes %" PRIu64 "-%" PRIu64 " %s; no such write was begun",
		     finding->begin, finding->end - 1, finding->story);
}

static void look_at_piece(struct view *view, uint64_t at, const char *seen, size_t bytes)
{
	uint32_t generation;

	if (find_generation(view, at, seen, bytes, &generation)) {
		end_lost(view);
		enter(view, at, generation);
		return;
	}
	if (!view->finding.end)
		begin_lost(view, at, seen, bytes);
	view->finding.end = at + bytes;
}

static void look_at_chunk(struct view *view, uint64_t begin, const char *chunk, size_t bytes)
{
	uint64_t chunk_end = begin + bytes, at = begin;

	while (at < chunk_end && !view->lost) {
		uint64_t end = piece_end(view, at);

		end = end < chunk_end ? end : chunk_end;
		look_at_piece(view, at, chunk + (at - begin), (size_t)(end - at));
		at = end;
	}
}

/* A tensor of a store ends with the generation that it holds, however long others were. */
static bool ends_with_its_generation(const struct view *view, uint64_t at)
{
	const struct outcome *outcome = view->job->outcome;

	if (!view->job->workload->store.used || !view->found || view->mixed)
		return false;
	for (unsigned i = 0; i < outcome->writes_count; i++)
		if (outcome->writes[i].tensor == view->tensor &&
		    outcome->writes[i].generation == view->generation &&
		    outcome->writes[i].length == at)
			return true;
	return false;
}

/* Nothing is there from @at to @end, which is right where nothing was promised. */
static void look_at_end(struct view *view, uint64_t at, uint64_t end, const char *why)
{
	uint64_t bad = at;

	end_lost(view);
	if (ends_with_its_generation(view, at))
		return;
	while (bad < end && may_be_nothing(view, bad))
		bad = piece_end(view, bad);
	if (bad < end && !view->lost) {
		LOST(view,
		     ", bytes %" PRIu64 "-%" PRIu64 " are not there: %s %s: %s; generation %u "
		     "was made durable",
		     bad, end - 1, view->job->workload->store.used ? "group" : "file",
		     view->job->workload->store.used ? view->job->workload->store.group
						     : tensor_of(view)->file,
		     why, promised_at(view, bad));
		view->lost = true;
	}
	if (at < end)
		enter(view, at, NOTHING);
}

/* Where the bytes of a tensor are read: a file, or a group of a store. */
struct source {
	int fd;
	const struct store_group *group; /* NULL: fd, from file_offset_bytes on */
	unsigned index;			 /* in the group */
};

/* As pread. */
static ssize_t read_source(const struct view *view, const struct source *source, uint64_t at,
			   char *chunk, size_t wanted)
{
	uint64_t stored;
	int error;

	if (!source->group)
		return pread(source->fd, chunk, wanted,
			     (off_t)(tensor_of(view)->file_offset_bytes + at));
	stored = source->group->manifest->tensors[source->index].bytes;
	if (at >= stored)
		return 0;
	wanted = stored - at < wanted ? (size_t)(stored - at) : wanted;
	error = store_group_read(source->group, source->index, at, chunk, wanted);
	errno = -error;
	return error < 0 ? -1 : (ssize_t)wanted;
}

static void look_at_source(struct view *view, const struct source *source)
{
	static char chunk[CHUNK_BYTES];
	uint64_t end = longest(view), at = 0;

	while (at < end && !view->lost) {
		size_t wanted = end - at < CHUNK_BYTES ? end - at : CHUNK_BYTES;
		ssize_t got = read_source(view, source, at, chunk, wanted);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			look_at_end(view, at, end, got ? strerror(errno) : "end of file");
			return;
		}
		look_at_chunk(view, at, chunk, (size_t)got);
		at += (uint64_t)got;
	}
	end_lost(view);
}

static void look_at_file(struct view *view)
{
	struct source source = {.group = NULL};
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", view->job->work_dir, tensor_of(view)->file);
	source.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (source.fd < 0) {
		look_at_end(view, 0, longest(view), strerror(errno));
		return;
	}
	look_at_source(view, &source);
	close(source.fd);
}

static void take_damage(void *arg, unsigned tensor, uint64_t offset, uint64_t length,
			const char *what)
{
	struct view *view = arg;

	(void)tensor;
	view->lost = true;
	result_add(view->result, "medium", CLASS_CORRUPTION,
		   "after %s: tensor %s, bytes %" PRIu64 "-%" PRIu64 " of the store: %s",
		   view->job->after, tensor_of(view)->name, offset, offset + length - 1, what);
}

/* What its checksums say comes after what its bytes say. */
static void look_at_group(struct view *view, const struct store_group *group)
{
	int index = store_group_find(group, tensor_of(view)->name);
	struct source source = {.group = group, .index = (unsigned)index};

	if (index < 0) {
		look_at_end(view, 0, longest(view), "the group has no such tensor");
		return;
	}
	look_at_source(view, &source);
	if (!view->lost)
		store_group_check(group, source.index, take_damage, view);
}

static void check_whole(const struct view *view)
{
	if (view->mixed && !view->lost)
		LOST(view,
		     " is a mixture: generation %u, and from byte %" PRIu64
		     " on generation %u (0: none was written)",
		     view->generation, view->other_at, view->other);
}

/* A tensor alone is whole; all of them together have to be one generation. */
static void check_together(const struct view *first, const struct view *view)
{
	if (first->mixed || view->mixed || first->lost || view->lost ||
	    first->generation == view->generation)
		return;
	LOST(view, " holds generation %u, and tensor %s generation %u (0: none was written)",
	     view->generation, tensor_of(first)->name, first->generation);
}

/* What a later process may take for granted. */
static uint32_t known_of(const struct view *view)
{
	return view->found && !view->mixed && !view->lost ? view->generation : 0;
}

static uint64_t all_with_bytes(const struct workload *workload)
{
	uint64_t tensors = 0;

	for (unsigned t = 0; t < workload->tensors_count; t++)
		if (tensor_bytes(&workload->tensors[t]))
			tensors |= UINT64_C(1) << t;
	return tensors;
}

/* Tensors that were written one by one may be of different generations. What is told of one write
 * of all of them is told in one go. */
static bool written_together(const struct reader_job *job)
{
	const struct outcome_write *write = job->outcome->writes;
	const struct outcome_write *end = write + job->outcome->writes_count;
	uint64_t all = all_with_bytes(job->workload);

	while (write < end) {
		uint32_t generation = write->generation;
		uint64_t tensors = 0;

		for (; write < end && write->generation == generation; write++)
			tensors |= UINT64_C(1) << write->tensor;
		if (all & ~tensors)
			return false;
	}
	return true;
}

struct crash {
	const struct reader_job *job;
	struct case_result *result;
	struct wire_kept *kept;
	bool whole, together; /* each tensor is one generation, all are the same */
	const struct store_group *group;
	const char *no_group; /* why there is none */
	struct view first;
};

static void check_tensor(struct crash *crash, unsigned tensor)
{
	struct view view = {.job = crash->job, .result = crash->result, .tensor = tensor};

	if (!longest(&view))
		return;
	if (crash->group)
		look_at_group(&view, crash->group);
	else if (crash->no_group)
		look_at_end(&view, 0, longest(&view), crash->no_group);
	else
		look_at_file(&view);
	crash->kept[tensor].stored = known_of(&view);
	crash->kept[tensor].stored_bytes = longest(&view);
	if (crash->whole)
		check_whole(&view);
	if (crash->together && crash->first.job)
		check_together(&crash->first, &view);
	else
		crash->first = view;
}

static void check_tensors(struct crash *crash)
{
	for (unsigned i = 0; i < crash->job->workload->tensors_count; i++)
		check_tensor(crash, i);
}

/* A store that is not there was never made durable; one that cannot be read is damaged. */
static void check_store(struct crash *crash)
{
	struct store_group *group = NULL;
	char path[4096], text[STORE_TEXT_BYTES];
	struct store_place place = {.path = path};
	int error;

	snprintf(path, sizeof(path), "%s/%s", crash->job->work_dir, WORKLOAD_STORE_PLACE);
	error = store_group_open(&place, crash->job->workload->store.group, &group, text);
	crash->group = group;
	crash->no_group = error < 0 ? text : NULL;
	if (error < 0 && error != -ENOENT)
		result_add(crash->result, "medium", CLASS_CORRUPTION, "after %s: %s",
			   crash->job->after, text);
	check_tensors(crash);
	store_group_close(group);
}

void reader_check_crash(const struct reader_job *job, enum expect_data expect,
			struct wire_kept *kept, struct case_result *result)
{
	bool in_store = job->workload->store.used, one = expect == EXPECT_DATA_OLD_OR_NEW;
	struct crash crash = {
		.job = job,
		.result = result,
		.kept = kept,
		.whole = in_store || one,
		.together = in_store ? written_together(job) : one,
	};

	if (in_store)
		check_store(&crash);
	else
		check_tensors(&crash);
}
