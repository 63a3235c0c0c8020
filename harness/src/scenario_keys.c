/* SPDX-License-Identifier: MIT */
/*
 * scenario_keys.c - the table: every key that a scenario file may hold.
 */
#include <string.h>

#include "presets.h"
#include "scenario_schema.h"

/* A key in two or three lines reads as a table. */
/* clang-format off */
#define FIELD(container, member)                                                                   \
	.offset = offsetof(struct container, member),                                              \
	.bytes = sizeof(((struct container *)0)->member)
#define LIST(container, member, member_count)                                                      \
	.offset = offsetof(struct container, member),                                              \
	.bytes = sizeof(((struct container *)0)->member[0]),                                       \
	.count_offset = offsetof(struct container, member_count)
#define RANGE(from, to) .least = (from), .most = (to)
#define CHOICES(...) .choices = (const char *const[]){__VA_ARGS__, NULL}

#define OFFSET_MAX (1ull << 46)
#define INPUT_MAX (1ull << 30)
#define HOUR_NS 3600000000000ull
#define NAME_PATTERN "^[a-z0-9][a-z0-9-]*$"
#define NAME_ALLOWED "small letters, digits and hyphens"
#define ERRNO_PATTERN "^(any|ok|E[A-Z0-9]+)$"

/* In the order of enum dtype. */
#define DTYPES                                                                                     \
	CHOICES("u8", "fp16", "bf16", "fp32", "fp64", "i32", "i64", "i8", "i16", "u16", "u32",     \
		"u64", "bool", "fp8-e4m3", "fp8-e5m2")

const struct scenario_key handle_keys[] = {
	{.name = "block_size", .type = KEY_BYTES, FIELD(handle_options, block_bytes),
	 RANGE(512, 0x7ffff000), .multiple = 512, .fallback = "1M",
	 .doc = "a request is cut into blocks of this size"},
	{.name = "queue_depth", .type = KEY_COUNT, FIELD(handle_options, queue_depth),
	 RANGE(1, 4096), .fallback = "32", .doc = "blocks in flight in each queue"},
	{.name = "workers", .type = KEY_COUNT, FIELD(handle_options, workers), RANGE(0, 64),
	 .fallback = "1", .doc = "threads that drive queues; 0: the caller does, inside its calls"},
	{.name = "requests_max", .type = KEY_COUNT, FIELD(handle_options, requests_max),
	 RANGE(1, 65536), .fallback = "1024", .doc = "requests that may be pending at once"},
	{.name = "single_submit", .type = KEY_BOOL, FIELD(handle_options, single_submit),
	 .fallback = "false", .doc = "one io_submit for each block instead of for each batch"},
	{.name = "overlap_events", .type = KEY_BOOL, FIELD(handle_options, overlap_events),
	 .fallback = "true", .doc = "refill the queue as completions come, not batch by batch"},
	{.name = "unaligned", .type = KEY_CHOICE, FIELD(handle_options, unaligned),
	 CHOICES("reject", "bounce"), .fallback = "reject",
	 .doc = "what to do with a buffer pointer that is not aligned"},
	{.name = "alignment", .type = KEY_BYTES, FIELD(handle_options, alignment_bytes),
	 RANGE(0, 2097152), .power_of_two = true, .fallback = "0",
	 .doc = "multiple that buffer pointers must have; 0: the page size"},
	{.name = "bounce_slots", .type = KEY_COUNT, FIELD(handle_options, bounce_slots),
	 RANGE(1, 256), .fallback = "4", .doc = "bounce buffers of each queue"},
	{.name = "direct", .type = KEY_CHOICE, FIELD(handle_options, direct),
	 CHOICES("prefer", "require"), .fallback = "prefer",
	 .doc = "what to do where a file system has no O_DIRECT"},
	{0},
};

#define MEMORY_KEYS(container)                                                                     \
	{.name = "memory", .type = KEY_CHOICE, FIELD(container, memory),                           \
	 CHOICES("aligned", "pinned", "heap", "slot"), .fallback = "aligned",                      \
	 .doc = "whose memory: a buffer of the library, a pinned one, the program's own, or a "    \
		"slot that a store lends for each swap-in"},                                       \
	{.name = "pointer_offset", .type = KEY_BYTES, FIELD(container, pointer_offset_bytes),      \
	 RANGE(0, 65536), .fallback = "0",                                                         \
	 .doc = "added to the page-aligned pointer; only with memory: heap"}
#define SHAPE_KEY(container)                                                                       \
	{.name = "shape", .type = KEY_COUNTS,                                                      \
	 .offset = offsetof(struct container, shape),                                              \
	 .count_offset = offsetof(struct container, dims), RANGE(0, WORKLOAD_DIMS_MAX),            \
	 .doc = "elements in each dimension; their product is numel"}

const struct scenario_key tensor_keys[] = {
	{.name = "name", .type = KEY_TEXT, .required = true, FIELD(tensor, name),
	 .pattern = "^[A-Za-z0-9_][A-Za-z0-9_.-]*$",
	 .allowed = "letters, digits, and _ . - inside", .doc = "what messages call it"},
	{.name = "numel", .type = KEY_COUNT, FIELD(tensor, numel), RANGE(0, SCENARIO_NUMEL_MAX),
	 .fallback = "what the shape holds; one of the two is required",
	 .doc = "number of elements"},
	SHAPE_KEY(tensor),
	{.name = "dtype", .type = KEY_CHOICE, FIELD(tensor, dtype), DTYPES, .fallback = "fp32",
	 .doc = "element type"},
	{.name = "file", .type = KEY_TEXT, FIELD(tensor, file),
	 .pattern = "^([^/.][^/]*|\\.[^/.][^/]*|\\.\\.[^/]+)$",
	 .allowed = "a file name in the work directory, without / and not . or ..",
	 .fallback = "NAME.swp",
	 .doc = "where it is stored; several tensors may share a file; not with a store"},
	{.name = "file_offset", .type = KEY_BYTES, FIELD(tensor, file_offset_bytes),
	 RANGE(0, OFFSET_MAX), .fallback = "0",
	 .doc = "where in the file it begins; not with a store"},
	MEMORY_KEYS(tensor),
	{0},
};

const struct scenario_key preset_keys[] = {
	{.name = "preset", .type = KEY_TEXT, .required = true, FIELD(preset_asked, name),
	 .choices = preset_names, .doc = "whose states, see swaptorture list --presets"},
	{.name = "numel", .type = KEY_COUNT, FIELD(preset_asked, numel),
	 RANGE(1, SCENARIO_NUMEL_MAX), .fallback = "what the shape holds",
	 .doc = "elements of the parameter"},
	SHAPE_KEY(preset_asked),
	{.name = "block", .type = KEY_COUNT, FIELD(preset_asked, block), RANGE(16, 65536),
	 .power_of_two = true, .fallback = "256",
	 .doc = "of 8-bit states, elements that share a maximum"},
	{.name = "parameters", .type = KEY_COUNT, FIELD(preset_asked, parameters),
	 RANGE(1, WORKLOAD_TENSORS_MAX), .fallback = "1",
	 .doc = "how many such parameters; their states are named 0.exp_avg, 1.exp_avg ..."},
	MEMORY_KEYS(preset_asked),
	{0},
};

const struct scenario_key checkpoint_keys[] = {
	{.name = "safetensors", .type = KEY_TEXT, .required = true, FIELD(checkpoint_asked, file),
	 .doc = "file of a checkpoint, relative to the scenario; only its header is read"},
	{.name = "first", .type = KEY_COUNT, FIELD(checkpoint_asked, first), RANGE(0, 1000000),
	 .fallback = "0", .doc = "number of its first tensor that is taken, from 0"},
	{.name = "count", .type = KEY_COUNT, FIELD(checkpoint_asked, count),
	 RANGE(1, WORKLOAD_TENSORS_MAX), .fallback = "all of them", .doc = "how many are taken"},
	MEMORY_KEYS(checkpoint_asked),
	{0},
};

static void fresh_input(void *item)
{
	memset(item, 0, sizeof(struct program_input));
}

static void fresh_output(void *item)
{
	memset(item, 0, sizeof(struct program_output));
	((struct program_output *)item)->bytes = UINT64_MAX;
}

static const struct scenario_key swap_keys[] = {
	{.name = "tensors", .type = KEY_SPECIAL, .required = true, .read = scenario_read_tensors,
	 .keys = tensor_keys, RANGE(1, WORKLOAD_TENSORS_MAX),
	 .doc = "what is swapped: a list, the states of an optimizer (preset: NAME), or the "
		"tensors of a checkpoint (safetensors: FILE)"},
	{.name = "steps", .type = KEY_SPECIAL, .required = true, .read = scenario_read_steps,
	 RANGE(1, WORKLOAD_STEPS_MAX), .doc = "what is done with it, in this order"},
	{0},
};

const struct scenario_key step_keys[] = {
	{.name = "tensors", .type = KEY_SPECIAL, RANGE(1, WORKLOAD_TENSORS_MAX),
	 .fallback = "all", .doc = "names of the tensors that take part"},
	{.name = "op", .type = KEY_CHOICE, FIELD(step, write), CHOICES("read", "write"),
	 .fallback = "read", .doc = "which way it goes"},
	{.name = "by", .type = KEY_CHOICE, FIELD(step, by_fd), CHOICES("path", "fd"),
	 .fallback = "path", .doc = "name files by path, or give open descriptors"},
	{.name = "buffered", .type = KEY_BOOL, FIELD(step, buffered_fd), .fallback = "false",
	 .doc = "with by: fd, open without O_DIRECT"},
	{.name = "threads", .type = KEY_COUNT, FIELD(step, threads), RANGE(1, 16), .fallback = "1",
	 .doc = "split the tensors over so many threads"},
	{.name = "own_handles", .type = KEY_BOOL, FIELD(step, own_handles), .fallback = "false",
	 .doc = "with threads, a handle for each"},
	{.name = "numel", .type = KEY_COUNT, FIELD(step, numel), RANGE(0, SCENARIO_NUMEL_MAX),
	 .fallback = "of the tensor", .doc = "transfer so many elements instead"},
	{.name = "dtype", .type = KEY_CHOICE, FIELD(step, dtype), DTYPES,
	 .fallback = "of the tensor", .doc = "transfer elements of this type instead"},
	{.name = "timeout", .type = KEY_DURATION, FIELD(step, timeout_ns), RANGE(0, HOUR_NS),
	 .fallback = "none", .doc = "give up after that time; 0: at once"},
	{.name = "bytes", .type = KEY_BYTES, FIELD(step, bytes), RANGE(0, OFFSET_MAX),
	 .doc = "the size that the file gets"},
	{.name = "offset", .type = KEY_BYTES, FIELD(step, bytes), RANGE(0, OFFSET_MAX),
	 .doc = "which byte of the tensor is changed"},
	{.name = "count", .type = KEY_COUNT, FIELD(step, count), RANGE(2, 1000000),
	 .doc = "how many times in all"},
	{.name = "as", .type = KEY_SPECIAL, RANGE(1, WORKLOAD_TENSORS_MAX), .keys = tensor_keys,
	 .fallback = "the tensors of swap",
	 .doc = "open the group with these tensors instead: a list, a preset or a checkpoint"},
	{.name = "generation", .type = KEY_COUNT, FIELD(step, generation), RANGE(1, 1000000),
	 .fallback = "any", .doc = "the generation that must be stored"},
	{.name = "slot_timeout", .type = KEY_DURATION, FIELD(step, slot_timeout_ns),
	 RANGE(0, HOUR_NS), .fallback = "none",
	 .doc = "give up when no slot of the pool came free in that time; 0: at once"},
	{.name = "keep", .type = KEY_BOOL, FIELD(step, keep), .fallback = "false",
	 .doc = "slots that were lent stay lent until a step release"},
	{.name = "part", .type = KEY_CHOICE, FIELD(step, part),
	 CHOICES("data", "manifest", "head", "record"), .fallback = "data",
	 .doc = "of a store: bytes of the tensors, the newest manifest, the volume's head, or "
		"the record of the store itself"},
	{.name = "from", .type = KEY_TEXT, FIELD(step, from), .pattern = NAME_PATTERN,
	 .allowed = NAME_ALLOWED, .fallback = WORKLOAD_STORE_PLACE,
	 .doc = "directory of a store, or one that copy-volume made"},
	{.name = "to", .type = KEY_TEXT, FIELD(step, to), .pattern = NAME_PATTERN,
	 .allowed = NAME_ALLOWED, .fallback = WORKLOAD_STORE_PLACE,
	 .doc = "directory of a store, or a new one"},
	{.name = "at", .type = KEY_TEXT, FIELD(step, to), .pattern = NAME_PATTERN,
	 .allowed = NAME_ALLOWED, .fallback = WORKLOAD_STORE_PLACE,
	 .doc = "directory of the store, made if missing"},
	{.name = "read_only", .type = KEY_BOOL, FIELD(step, read_only), .fallback = "false",
	 .doc = "open the store for swap-ins only"},
	{.name = "directory", .type = KEY_BOOL, FIELD(step, directory), .fallback = "true",
	 .doc = "sync the directory, too"},
	{.name = "expect", .type = KEY_TEXT, FIELD(step, expect_error), .pattern = ERRNO_PATTERN,
	 .allowed = "ok, any or an errno name such as EIO", .fallback = "as the file's expect says",
	 .doc = "what this step must end with"},
	{0},
};

#define TRANSFER_KEYS "tensors by buffered threads own_handles numel dtype timeout expect"

const struct step_rule step_rules[STEP_COUNT] = {
	[STEP_SWAP_OUT] = {TRANSFER_KEYS, "tensors as slot_timeout timeout expect",
			   "write fresh data, all at once; another process checks the files"},
	[STEP_SWAP_IN] = {TRANSFER_KEYS,
			  "tensors as generation slot_timeout keep timeout expect",
			  "poison the memory, read all at once, check the data"},
	[STEP_WRITE] = {TRANSFER_KEYS, NULL, "write the same data, one tensor after the other"},
	[STEP_READ] = {TRANSFER_KEYS, NULL,
		       "poison and read, one tensor after the other, check the data"},
	[STEP_START] = {"tensors op by buffered numel dtype expect",
			"tensors op generation slot_timeout keep expect",
			"submit and go on; wait or cancel comes later"},
	[STEP_WAIT] = {"timeout expect", "timeout expect",
		       "wait for everything that was started"},
	[STEP_CANCEL] = {"expect", "tensors expect", "cancel everything that was started"},
	[STEP_TRUNCATE] = {"tensors bytes", "tensors bytes",
			   "set the size of the files, outside of the library; with a store its "
			   "volume ends with that byte of the tensor, or of the volume"},
	[STEP_CORRUPT] = {"tensors offset", "tensors part offset",
			  "change one byte of the files, outside of the library"},
	[STEP_PREPARE] = {"tensors", "tensors",
			  "write the files, buffered, outside of the library; with a store that "
			  "is closed, a whole store without checksums, of which the tensors that "
			  "are not named stay hollow"},
	[STEP_REMOVE] = {"tensors", "part",
			 "unlink the files, outside of the library; with a store its volume or "
			 "its record, or the manifest is overwritten with zeros"},
	[STEP_CLOSE] = {"timeout expect", "timeout expect", "close the handle"},
	[STEP_ABORT] = {"", NULL, "destroy the handle, whatever is in flight"},
	[STEP_OPEN] = {"expect", "expect", "open the handle again; the first step finds it open"},
	[STEP_FORK] = {"", "", "fork; the child must be refused, the parent goes on"},
	[STEP_IS_PINNED] = {"tensors", "tensors",
			    "ask which memory is pinned, and check the answers"},
	[STEP_STORE_OPEN] = {NULL, "at read_only expect",
			     "open a store again, or another one; the first step finds one open"},
	[STEP_STORE_CLOSE] = {NULL, "timeout expect", "close the group and the store"},
	[STEP_COPY_VOLUME] = {NULL, "from to",
			      "copy the group's volumes over those of another directory, outside "
			      "of the library"},
	[STEP_RELEASE] = {NULL, "tensors expect", "give back slots that were kept"},
	[STEP_VERIFY] = {NULL, "expect",
			 "have the library read the whole store and report what is damaged; "
			 "another process says whether it is right"},
	[STEP_STORE_REMOVE] = {NULL, "expect",
			       "have the library remove the group; another process looks whether "
			       "it is gone"},
	[STEP_SYNC] = {"tensors directory expect", NULL,
		       "fsync the files and their directory, outside of the library"},
	[STEP_REPLACE] = {"tensors timeout expect", NULL,
			  "write fresh data into new files, sync, and rename them over the old"},
	[STEP_DEVICE_RETURN] = {"", "",
				"put the device back that a fault pulled out, and mount its file "
				"system anew; what was open on it is dead; target nvme only"},
	[STEP_RESTART] = {"", "",
			  "end the process, or skip to here when a crash, a kill or a power cut "
			  "ended it; the next steps run in a fresh one, with the faults of its "
			  "image"},
	[STEP_REPEAT] = {"count", "count",
			 "the steps before, since the last repeat or restart, again"},
};

static const struct scenario_key device_keys[] = {
	{.name = "sector", .type = KEY_COUNT, FIELD(scenario_device, sector_bytes),
	 RANGE(512, 4096), CHOICES("512", "4096"), .fallback = "512",
	 .doc = "logical block size in bytes"},
	{.name = "memory_align", .type = KEY_BYTES, FIELD(scenario_device, memory_align_bytes),
	 RANGE(1, 4096), .power_of_two = true, .fallback = "512",
	 .doc = "alignment that direct I/O demands of memory; sim only"},
	{.name = "size", .type = KEY_BYTES, FIELD(scenario_device, size_bytes),
	 RANGE(16 << 20, UINT64_C(1) << 40), .multiple = 1 << 20, .fallback = "1G",
	 .doc = "of the namespace; nvme only, as all that follow"},
	{.name = "mdts", .type = KEY_COUNT, FIELD(scenario_device, mdts), RANGE(0, 10),
	 .fallback = "7", .doc = "longest transfer, 4096 bytes times 2 to the power of it; 0: any"},
	{.name = "queues", .type = KEY_COUNT, FIELD(scenario_device, queues), RANGE(1, 64),
	 .fallback = "8", .doc = "pairs of I/O queues of the controller"},
	{.name = "write_cache", .type = KEY_BOOL, FIELD(scenario_device, write_cache),
	 .fallback = "false", .doc = "a volatile write cache, lost when the power is cut"},
	{.name = "read_only", .type = KEY_BOOL, FIELD(scenario_device, read_only),
	 .fallback = "false", .doc = "every write is refused; for swaptorture guest only"},
	{.name = "file_system", .type = KEY_CHOICE, FIELD(scenario_device, file_system),
	 CHOICES("ext4", "none"), .fallback = "ext4",
	 .doc = "what is on the namespace; none, a bare device: for swaptorture guest only"},
	{0},
};

static const struct scenario_key store_keys[] = {
	{.name = "group", .type = KEY_TEXT, FIELD(store_options, group), .fallback = "optimizer",
	 .doc = "name of the group that the tensors are"},
	{.name = "checksum", .type = KEY_CHOICE, FIELD(store_options, checksum),
	 CHOICES("default", "none", "xxh64", "xxh3"), .fallback = "default",
	 .doc = "how the bytes of tensors are summed"},
	{.name = "durable", .type = KEY_BOOL, FIELD(store_options, durable), .fallback = "true",
	 .doc = "sync before and after each commit; without, a crash proves nothing"},
	{.name = "chunk_size", .type = KEY_BYTES, FIELD(store_options, chunk_bytes),
	 RANGE(4096, 1073741824), .multiple = 4096, .fallback = "1M",
	 .doc = "bytes under one checksum, and of one request"},
	{.name = "slot_size", .type = KEY_BYTES, FIELD(store_options, slot_bytes),
	 RANGE(4096, 1073741824), .multiple = 4096, .fallback = "1M",
	 .doc = "bytes of a slot of the pinned pool"},
	{.name = "slots", .type = KEY_COUNT, FIELD(store_options, slots), RANGE(2, 65536),
	 .fallback = "32", .doc = "slots in the pool"},
	{.name = "threads", .type = KEY_COUNT, FIELD(store_options, threads), RANGE(0, 16),
	 .fallback = "2",
	 .doc = "threads that carry out swaps; 0: the caller does, while it waits"},
	{0},
};

static const struct scenario_key limits_keys[] = {
	{.name = "memlock", .type = KEY_BYTES, FIELD(limits, memlock_bytes), RANGE(0, OFFSET_MAX),
	 .doc = "RLIMIT_MEMLOCK"},
	{.name = "nofile", .type = KEY_COUNT, FIELD(limits, nofile), RANGE(16, 65536),
	 .doc = "RLIMIT_NOFILE"},
	{.name = "fsize", .type = KEY_BYTES, FIELD(limits, fsize_bytes), RANGE(0, OFFSET_MAX),
	 .doc = "RLIMIT_FSIZE"},
	{.name = "address_space", .type = KEY_BYTES, FIELD(limits, address_space_bytes),
	 RANGE(1 << 20, OFFSET_MAX), .doc = "RLIMIT_AS"},
	{0},
};

#define FILE_PATTERN "^[A-Za-z0-9_][A-Za-z0-9_.-]*$"
#define FILE_ALLOWED "a file name in the work directory: letters, digits, and _ . - inside"

static const struct scenario_key input_keys[] = {
	{.name = "name", .type = KEY_TEXT, .required = true, FIELD(program_input, name),
	 .pattern = FILE_PATTERN, .allowed = FILE_ALLOWED, .doc = "the file that it finds"},
	{.name = "bytes", .type = KEY_BYTES, .required = true, FIELD(program_input, bytes),
	 RANGE(0, INPUT_MAX), .doc = "its size; what it holds is drawn from the seed"},
	{0},
};

static const struct scenario_key program_keys[] = {
	{.name = "argv", .type = KEY_SPECIAL, .required = true, .read = scenario_read_argv,
	 RANGE(1, PROGRAM_WORDS_MAX),
	 .doc = "the program and its arguments; it is searched for as a shell does, and runs in "
		"the work directory"},
	{.name = "env", .type = KEY_SPECIAL, .read = scenario_read_env, RANGE(1, PROGRAM_WORDS_MAX),
	 .doc = "NAME=VALUE each, beside the environment of swaptorture"},
	{.name = "inputs", .type = KEY_MAPS, LIST(program, inputs, inputs_count),
	 RANGE(1, PROGRAM_FILES_MAX), .keys = input_keys, .defaults = fresh_input,
	 .doc = "files that lie in the work directory when it starts"},
	{.name = "count_from", .type = KEY_CHOICE, FIELD(program, arm_at_start),
	 CHOICES("open", "start"), .fallback = "open",
	 .doc = "calls count from its first open in the work directory, or from its start"},
	{.name = "follow_exec", .type = KEY_BOOL, FIELD(program, follow_exec), .fallback = "false",
	 .doc = "programs that it executes are under the schedule, too"},
	{0},
};

static const struct scenario_key output_keys[] = {
	{.name = "name", .type = KEY_TEXT, .required = true, FIELD(program_output, name),
	 .pattern = FILE_PATTERN, .allowed = FILE_ALLOWED, .doc = "a file that must be there"},
	{.name = "bytes", .type = KEY_BYTES, FIELD(program_output, bytes), RANGE(0, OFFSET_MAX),
	 .fallback = "any", .doc = "its size"},
	{.name = "same_as", .type = KEY_TEXT, FIELD(program_output, same_as),
	 .pattern = FILE_PATTERN, .allowed = FILE_ALLOWED,
	 .doc = "another file in the work directory with the same bytes"},
	{.name = "holds", .type = KEY_TEXT, FIELD(program_output, holds),
	 .doc = "text that occurs in it"},
	{.name = "absent", .type = KEY_BOOL, FIELD(program_output, absent), .fallback = "false",
	 .doc = "it must not be there"},
	{0},
};

static const struct scenario_key expect_keys[] = {
	{.name = "result", .type = KEY_CHOICE, FIELD(expectation, result),
	 CHOICES("effect", "ok", "error", "refused"), .fallback = "effect",
	 .doc = "every request succeeds, some fail, all is refused before anything is submitted, "
		"or what the faults' effects ask for"},
	{.name = "error", .type = KEY_TEXT, FIELD(expectation, error), .pattern = "^E[A-Z0-9]+$",
	 .allowed = "an errno name such as EIO", .fallback = "any",
	 .doc = "the errno of a failure"},
	{.name = "cause", .type = KEY_TEXT, FIELD(expectation, cause),
	 CHOICES("device", "submit", "eof", "no-progress", "protocol", "cancelled", "file",
		 "wait", "missing", "mismatch", "generation", "checksum", "manifest", "io", "space",
		 "sync", "copy"),
	 .fallback = "any", .doc = "the stage that a failure names"},
	{.name = "tensor", .type = KEY_TEXT, FIELD(expectation, tensor), .fallback = "any",
	 .doc = "the tensor that must fail"},
	{.name = "message", .type = KEY_TEXT, FIELD(expectation, message), .fallback = "any",
	 .doc = "words that the error's sentence must hold"},
	{.name = "data", .type = KEY_CHOICE, FIELD(expectation, data),
	 CHOICES("any", "exact", "old-or-new"), .fallback = "exact",
	 .doc = "whatever succeeded is exact, and after a crash whatever was made durable; or "
		"moreover all tensors hold one generation, the last that was made durable or a "
		"newer one; or nobody looks"},
	{.name = "deadline", .type = KEY_DURATION, FIELD(expectation, deadline_ns),
	 RANGE(1000000, HOUR_NS), .fallback = "5s",
	 .doc = "the case hangs when it takes longer; virtual time in sim"},
	{.name = "failures", .type = KEY_COUNT, FIELD(expectation, failures), RANGE(1, 1000000),
	 .fallback = "as the effects say", .doc = "exactly so many requests fail"},
	{.name = "stats", .type = KEY_WORDS, LIST(expectation, stats, stats_count), RANGE(1, 4),
	 .pattern = "^(requests|blocks|submits|waits|interrupts|short_waits|resumes|retries|"
		    "bounces|rmws|spurious_events|wait_fallbacks)(>=|<=|==)[0-9]+$",
	 .allowed = "a counter of swapio_stats, >= or <= or ==, and a number: interrupts>=1",
	 .doc = "what the library must have counted"},
	{.name = "status", .type = KEY_COUNT, FIELD(expectation, program.status), RANGE(0, 255),
	 .fallback = "0, or another one where the effects ask for an error",
	 .doc = "the exit status of the program"},
	{.name = "stdout", .type = KEY_WORDS,
	 LIST(expectation, program.texts, program.texts_count), RANGE(1, PROGRAM_TEXTS_MAX),
	 .doc = "text that must occur in the program's standard output"},
	{.name = "files", .type = KEY_MAPS,
	 LIST(expectation, program.outputs, program.outputs_count), RANGE(1, PROGRAM_FILES_MAX),
	 .keys = output_keys, .defaults = fresh_output,
	 .doc = "what the program must leave in the work directory"},
	{0},
};

static const struct scenario_key meta_keys[] = {
	{.name = "verdict", .type = KEY_TEXT, .required = true, FIELD(scenario, meta_verdict),
	 CHOICES("pass", "fail", "vacuous", "skip", "broken"), .doc = "the verdict to come to"},
	{.name = "class", .type = KEY_TEXT, FIELD(scenario, meta_class),
	 CHOICES("corruption", "hang", "crash", "leak", "contract"),
	 .doc = "the class of the failure to come to"},
	{0},
};

const struct scenario_key scenario_keys[] = {
	{.name = "title", .type = KEY_TEXT, .required = true, FIELD(scenario, title),
	 .doc = "what a correct program does here, in one sentence"},
	{.name = "origin", .type = KEY_TEXT, FIELD(scenario, origin), .pattern = "^https?://[^ ]+$",
	 .allowed = "an address that begins with https://",
	 .doc = "the public report that the scenario comes from"},
	{.name = "contract", .type = KEY_WORDS, LIST(scenario, contract, contract_count),
	 RANGE(1, 8), .pattern = "^C([1-9]|1[0-9]|2[0-4])$",
	 .allowed = "a row of the contract, C1 to C24",
	 .doc = "rows of the contract that it tests"},
	{.name = "targets", .type = KEY_SET, FIELD(scenario, targets), RANGE(1, TARGET_COUNT),
	 CHOICES("sim", "host", "nvme"), .fallback = "[sim, host]", .doc = "where it can run"},
	{.name = "needs", .type = KEY_WORDS, LIST(scenario, needs, needs_count), RANGE(0, 8),
	 .pattern = "^(signal-exact|ptrace|io_pgetevents|direct-io|dio-align|dio-align-512|root|"
		    "(disk|memory)-[1-9][0-9]*[MG]|program-[A-Za-z0-9_.+-]+)$",
	 .allowed = "signal-exact, ptrace, io_pgetevents, direct-io, dio-align, dio-align-512, "
		    "root, disk-512M, memory-1G, program-fio",
	 .doc = "what the machine must have; else the case is skipped with that reason"},
	{.name = "device", .type = KEY_MAP, .offset = offsetof(struct scenario, device),
	 .keys = device_keys, .doc = "the device below the files, in sim and in a guest"},
	{.name = "limits", .type = KEY_MAP, .offset = offsetof(struct scenario, workload.limits),
	 .keys = limits_keys, .doc = "resource limits of the process under test"},
	{.name = "arm", .type = KEY_CHOICE, FIELD(scenario, workload.arm_before_open),
	 CHOICES("after-open", "before-open"), .fallback = "after-open",
	 .doc = "when the counting of calls begins"},
	{.name = "aftermath", .type = KEY_BOOL, FIELD(scenario, workload.aftermath),
	 .fallback = "true", .doc = "after the steps, without faults, the handle must still work"},
	{.name = "store", .type = KEY_MAP, .offset = offsetof(struct scenario, workload.store),
	 .keys = store_keys, .doc = "keep the tensors in a store, as one group"},
	{.name = "swap", .type = KEY_MAP, .offset = offsetof(struct scenario, workload),
	 .keys = swap_keys, .doc = "the built-in workload"},
	{.name = "program", .type = KEY_MAP, .offset = offsetof(struct scenario, program),
	 .keys = program_keys, .doc = "a command line to run in place of the workload"},
	{.name = "handle", .type = KEY_MAP, .offset = offsetof(struct scenario, workload.handle),
	 .keys = handle_keys, .doc = "options of the swapio handle"},
	{.name = "matrix", .type = KEY_SPECIAL, .read = scenario_read_matrix,
	 RANGE(1, SCENARIO_MATRIX_KEYS_MAX),
	 .doc = "keys with a list of values each; every combination is a case"},
	{.name = "faults", .type = KEY_SPECIAL, .read = scenario_read_faults,
	 RANGE(0, SCHEDULE_FAULTS_MAX), .doc = "the schedule, a fault a line"},
	{.name = "expect", .type = KEY_MAP, .offset = offsetof(struct scenario, expect),
	 .keys = expect_keys, .doc = "what must happen"},
	{.name = "catches", .type = KEY_WORDS, LIST(scenario, catches, catches_count), RANGE(0, 8),
	 .pattern = NAME_PATTERN, .allowed = NAME_ALLOWED,
	 .doc = "seeded bugs that it must find"},
	{.name = "core", .type = KEY_TEXT, FIELD(scenario, core), .pattern = NAME_PATTERN,
	 .allowed = NAME_ALLOWED, .doc = "meta: the faulty core to run, build/lib/meta/NAME.so"},
	{.name = "meta", .type = KEY_MAP, .offset = 0, .keys = meta_keys,
	 .doc = "meta: what the harness itself must find"},
	{0},
};
