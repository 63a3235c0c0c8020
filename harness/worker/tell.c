/* SPDX-License-Identifier: MIT */
/*
 * tell.c - the outcome: lines of JSON in a file that is mapped by both sides, so that nothing is
 * lost in a crash and no system call is made on the way.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "raw.h"
#include "swap.h"

#define LINE_BYTES 4096u

struct line {
	size_t used;
	char text[LINE_BYTES];
};

static struct wire_outcome *outcome;
static size_t file_bytes;
static int outcome_fd;

/*
 * Only what the file has is open: beyond its end every page is a SIGBUS, and memcheck, which looks
 * for leaks wherever memory may be read, would take one for each of the 65536.
 */
static int open_up_to(size_t bytes)
{
	long error = syscall(SYS_mprotect, outcome, bytes, PROT_READ | PROT_WRITE);

	if (error < 0)
		return -errno;
	file_bytes = bytes;
	return 0;
}

int tell_open(int fd)
{
	int error;

	outcome = mmap(NULL, WIRE_OUTCOME_BYTES_MAX, PROT_NONE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (outcome == MAP_FAILED)
		return -errno;
	outcome_fd = fd;
	error = open_up_to(WIRE_OUTCOME_BYTES_STEP);
	/* An earlier process of the case may have told more than that. */
	while (error == 0 && sizeof(*outcome) + outcome->used > file_bytes)
		error = open_up_to(file_bytes + WIRE_OUTCOME_BYTES_STEP);
	return error;
}

static __attribute__((format(printf, 2, 3))) void add(struct line *line, const char *format, ...)
{
	size_t room = sizeof(line->text) - line->used;
	va_list arguments;
	int count;

	va_start(arguments, format);
	count = vsnprintf(line->text + line->used, room, format, arguments);
	va_end(arguments);
	if (count > 0)
		line->used += (size_t)count < room ? (size_t)count : room - 1;
}

static void begin(struct line *line, const char *kind)
{
	line->used = 0;
	add(line, "{\"k\":\"%s\",\"step\":%u", kind, worker.step);
}

static void add_number(struct line *line, const char *name, int64_t value)
{
	add(line, ",\"%s\":%" PRId64, name, value);
}

static void add_text(struct line *line, const char *name, const char *text)
{
	add(line, ",\"%s\":\"", name);
	for (; *text && line->used < sizeof(line->text) - 16; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte == '"' || byte == '\\')
			add(line, "\\%c", byte);
		else if (byte < 0x20 || byte >= 0x7f)
			add(line, "\\u%04x", byte);
		else
			line->text[line->used++] = *text;
	}
	add(line, "\"");
}

static bool has_room(size_t end)
{
	if (end <= file_bytes)
		return true;
	if (end > WIRE_OUTCOME_BYTES_MAX ||
	    raw_truncate(outcome_fd, file_bytes + WIRE_OUTCOME_BYTES_STEP) < 0)
		return false;
	return open_up_to(file_bytes + WIRE_OUTCOME_BYTES_STEP) == 0;
}

static void end(struct line *line)
{
	uint64_t used = outcome->used;

	add(line, "}\n");
	if (!has_room(sizeof(*outcome) + used + line->used)) {
		outcome->full = 1;
		return;
	}
	memcpy(outcome->text + used, line->text, line->used);
	__atomic_store_n(&outcome->used, used + line->used, __ATOMIC_RELEASE);
}

void tell_step(void)
{
	struct line line;

	begin(&line, "step");
	end(&line);
}

void tell_transfer(unsigned tensor, const struct transfer *transfer)
{
	const struct swapio_result *result = &transfer->result;
	struct line line;

	begin(&line, "request");
	add_number(&line, "tensor", tensor);
	add_number(&line, "write", transfer->op == SWAPIO_WRITE);
	add_number(&line, "length", (int64_t)transfer->length_bytes);
	add_number(&line, "generation", transfer->generation);
	add_number(&line, "size_before", transfer->size_before);
	add_number(&line, "sync", transfer->synchronous);
	if (!transfer->submitted || transfer->error) {
		add_text(&line, "stage", transfer->submitted ? "wait" : "submit");
		add_number(&line, "error", -transfer->error);
		add_text(&line, "text", transfer->sentence.text);
	} else {
		add_text(&line, "stage", "done");
		add_number(&line, "error", -result->error);
		add_number(&line, "bytes", (int64_t)result->bytes);
		add_number(&line, "buffered", result->buffered);
		add_text(&line, "cause", swapio_cause_name(result->cause));
	}
	if (transfer->submitted && !transfer->error && result->error) {
		add_number(&line, "fail_offset", (int64_t)result->fail_offset_bytes);
		add_number(&line, "fail_length", (int64_t)result->fail_length_bytes);
		add_text(&line, "text", transfer->sentence.text);
	}
	end(&line);
}

/* The tensors of a swap, and which of them failed. */
static void add_tensors(struct line *line, const struct swap *swap)
{
	bool named = swap->done ? swap->result.tensor != UINT32_MAX : swap->count == 1;
	unsigned failed = swap->done ? kept.group_first + swap->result.tensor : swap->first;
	uint64_t bytes = 0, all = 0;

	if (named && (failed < swap->first || failed >= swap->first + swap->count)) {
		tell_wrong("a swap fails with tensor %u, which it does not have",
			   swap->result.tensor);
		named = false;
	}
	for (unsigned i = swap->first; i < swap->first + swap->count; i++) {
		bytes += tensor_bytes(&worker.workload.tensors[i]);
		all |= UINT64_C(1) << i;
	}
	add_number(line, "tensor", named ? failed : swap->first);
	add_number(line, "named", named);
	add_number(line, "tensors", (int64_t)all);
	add_number(line, "length", (int64_t)bytes);
}

void tell_swap(const struct swap *swap)
{
	const struct swapio_swap_result *result = &swap->result;
	struct line line;

	begin(&line, "request");
	add_number(&line, "swap", 1);
	add_tensors(&line, swap);
	add_number(&line, "write", swap->op == SWAPIO_SWAP_OUT);
	add_number(&line, "generation", swap->generation);
	add_text(&line, "place", kept.place);
	if (!swap->started || swap->error) {
		add_text(&line, "stage", swap->started ? "wait" : "submit");
		add_number(&line, "error", -swap->error);
		add_text(&line, "text", swap->sentence.text);
	} else {
		add_text(&line, "stage", "done");
		add_number(&line, "error", -result->error);
		add_number(&line, "bytes", (int64_t)result->bytes);
		add_number(&line, "staged", (int64_t)result->staged_bytes);
		add_number(&line, "stored", (int64_t)result->generation);
		add_text(&line, "cause", swapio_swap_cause_name(result->cause));
		add_number(&line, "fail_offset", (int64_t)result->fail_offset_bytes);
		add_number(&line, "fail_length", (int64_t)result->fail_length_bytes);
		add_text(&line, "text", result->text);
	}
	end(&line);
}

void tell_call(const char *call, int error, const char *text)
{
	struct line line;

	begin(&line, "call");
	add_text(&line, "call", call);
	add_number(&line, "error", -error);
	add_text(&line, "text", text ? text : "");
	end(&line);
}

/* Of a verify that is not over: what it said of the store comes behind. */
void tell_damage(const struct swapio_damage *damage)
{
	struct line line;

	begin(&line, "damage");
	add_text(&line, "group", damage->group);
	add_number(&line, "named", damage->tensor != NULL);
	add_text(&line, "name", damage->tensor ? damage->tensor : "");
	add_number(&line, "offset", (int64_t)damage->offset_bytes);
	add_number(&line, "length", (int64_t)damage->length_bytes);
	add_number(&line, "error", -damage->error);
	add_text(&line, "text", damage->text ? damage->text : "");
	end(&line);
}

/* A call that is about the whole store. */
static void tell_of_store(const char *kind, const char *call, int error, const char *text)
{
	struct line line;

	begin(&line, kind);
	add_text(&line, "call", call);
	add_text(&line, "place", kept.place);
	add_number(&line, "error", -error);
	add_text(&line, "text", text);
	end(&line);
}

void tell_verify(int error, const char *text)
{
	tell_of_store("verify", "verify", error, text);
}

void tell_removal(int error, const char *text)
{
	tell_of_store("removal", "store-remove", error, text);
}

static const char *wait_call_name(enum swapio_wait_call call)
{
	switch (call) {
	case SWAPIO_WAIT_IO_PGETEVENTS:
		return "io_pgetevents";
	case SWAPIO_WAIT_IO_GETEVENTS:
		return "io_getevents";
	case SWAPIO_WAIT_RAW_GETEVENTS:
		return "SYS_io_getevents";
	}
	return "unknown";
}

void tell_opened(struct swapio *handle)
{
	struct swapio_info info = {.size_bytes = sizeof(info)};
	struct line line;

	if (swapio_info_get(handle, &info) < 0)
		return;
	begin(&line, "opened");
	add_number(&line, "depth", info.queue_depth);
	add_number(&line, "queues", info.queues);
	add_number(&line, "alignment", (int64_t)info.alignment_bytes);
	add_text(&line, "wait_call", wait_call_name(info.wait_call));
	end(&line);
}

void tell_data(unsigned tensor, const struct pattern_finding *finding)
{
	struct line line;

	worker.told_wrong = true;
	begin(&line, "data");
	add_number(&line, "tensor", tensor);
	add_number(&line, "begin", (int64_t)finding->begin);
	add_number(&line, "end", (int64_t)finding->end);
	add_number(&line, "bad", (int64_t)finding->bad_bytes);
	add_text(&line, "text", finding->story);
	end(&line);
}

static __attribute__((format(printf, 2, 0))) void tell_words(const char *kind, const char *format,
							     va_list arguments)
{
	char text[1024];
	struct line line;

	worker.told_wrong = true;
	vsnprintf(text, sizeof(text), format, arguments);
	begin(&line, kind);
	add_text(&line, "text", text);
	end(&line);
}

void tell_wrong(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tell_words("wrong", format, arguments);
	va_end(arguments);
}

void tell_broken(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tell_words("broken", format, arguments);
	va_end(arguments);
}

/* "begun": may be in the file from now on; "durable": must be. */
void tell_write(const char *kind, unsigned tensor, uint32_t generation, uint64_t length_bytes)
{
	struct line line;

	begin(&line, kind);
	add_number(&line, "tensor", tensor);
	add_number(&line, "generation", generation);
	add_number(&line, "length", (int64_t)length_bytes);
	end(&line);
}

void tell_kept(unsigned tensor)
{
	struct line line;

	begin(&line, "kept");
	add_number(&line, "tensor", tensor);
	add_number(&line, "drawn", worker.tensors[tensor].generation);
	add_number(&line, "stored", worker.tensors[tensor].stored);
	add_number(&line, "bytes", (int64_t)worker.tensors[tensor].stored_bytes);
	end(&line);
}

void tell_stats(struct swapio *handle)
{
	struct swapio_stats stats = {.size_bytes = sizeof(stats)};
	struct line line;

	if (swapio_stats_get(handle, &stats) < 0)
		return;
	begin(&line, "stats");
	add_number(&line, "requests", (int64_t)stats.requests);
	add_number(&line, "blocks", (int64_t)stats.blocks);
	add_number(&line, "submits", (int64_t)stats.submits);
	add_number(&line, "waits", (int64_t)stats.waits);
	add_number(&line, "interrupts", (int64_t)stats.interrupts);
	add_number(&line, "short_waits", (int64_t)stats.short_waits);
	add_number(&line, "resumes", (int64_t)stats.resumes);
	add_number(&line, "retries", (int64_t)stats.retries);
	add_number(&line, "bounces", (int64_t)stats.bounces);
	add_number(&line, "rmws", (int64_t)stats.rmws);
	add_number(&line, "spurious_events", (int64_t)stats.spurious_events);
	add_number(&line, "wait_fallbacks", (int64_t)stats.wait_fallbacks);
	end(&line);
}

void tell_aborted(unsigned count)
{
	struct line line;

	begin(&line, "aborted");
	add_number(&line, "count", count);
	end(&line);
}

void tell_counts(const char *when, const int64_t *values, const char *const *names, unsigned count)
{
	struct line line;

	begin(&line, when);
	for (unsigned i = 0; i < count; i++)
		if (values[i] != COUNT_ABSENT)
			add_number(&line, names[i], values[i]);
	end(&line);
}

void tell_end(void)
{
	struct line line;

	begin(&line, "end");
	end(&line);
}
