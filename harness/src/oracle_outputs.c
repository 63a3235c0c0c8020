/* SPDX-License-Identifier: MIT */
/*
 * oracle_outputs.c - what a program left: its files, read by a process that did not write them, and
 * its words.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "oracle.h"

struct mapped {
	char *bytes; /* NULL: there is none */
	size_t count;
};

/* 0, -errno; a directory or a device is no file. */
static int map_fd(int fd, struct mapped *ret_mapped)
{
	struct stat status;

	*ret_mapped = (struct mapped){0};
	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode))
		return -EINVAL;
	ret_mapped->count = (size_t)status.st_size;
	if (!ret_mapped->count)
		return 0;
	ret_mapped->bytes = mmap(NULL, ret_mapped->count, PROT_READ, MAP_PRIVATE, fd, 0);
	return ret_mapped->bytes == MAP_FAILED ? -errno : 0;
}

static void unmap(const struct mapped *mapped)
{
	if (mapped->count)
		munmap(mapped->bytes, mapped->count);
}

/* O_NONBLOCK: what the program made may be a fifo. */
static int map_file(int directory, const char *name, struct mapped *ret_mapped)
{
	int fd = openat(directory, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC), result;

	if (fd < 0)
		return -errno;
	result = map_fd(fd, ret_mapped);
	close(fd);
	return result;
}

static bool holds(const struct mapped *mapped, const char *text)
{
	return mapped->count && memmem(mapped->bytes, mapped->count, text, strlen(text));
}

#define WRONG(result, output, format, ...)                                                         \
	result_add(result, "data", CLASS_CORRUPTION, "file %s " format, (output)->name, __VA_ARGS__)

static void tell_difference(const struct program_output *output, const struct mapped *ours,
			    const struct mapped *other, struct case_result *result)
{
	size_t count = ours->count < other->count ? ours->count : other->count;
	size_t first = count, bad = 0;

	for (size_t i = count; i-- > 0;)
		if (ours->bytes[i] != other->bytes[i]) {
			first = i;
			bad++;
		}
	if (ours->count != other->count)
		WRONG(result, output, "has %zu bytes, %s has %zu", ours->count, output->same_as,
		      other->count);
	if (bad)
		WRONG(result, output, "differs from %s from byte %zu on, %zu bytes are wrong",
		      output->same_as, first, bad);
}

static void check_same(int directory, const struct program_output *output,
		       const struct mapped *ours, struct case_result *result)
{
	struct mapped other;
	int error = map_file(directory, output->same_as, &other);

	if (error < 0) {
		WRONG(result, output, "must be as %s: %s", output->same_as, strerror(-error));
		return;
	}
	tell_difference(output, ours, &other, result);
	unmap(&other);
}

static void check_content(int directory, const struct program_output *output,
			  const struct mapped *mapped, struct case_result *result)
{
	if (output->bytes != UINT64_MAX && output->bytes != mapped->count)
		WRONG(result, output, "has %zu bytes, must have %" PRIu64, mapped->count,
		      output->bytes);
	if (output->holds[0] && !holds(mapped, output->holds))
		WRONG(result, output, "does not hold '%s'", output->holds);
	if (output->same_as[0])
		check_same(directory, output, mapped, result);
}

static void check_output(int directory, const struct program_output *output,
			 struct case_result *result)
{
	struct stat status;
	struct mapped mapped;
	int error;

	if (output->absent) {
		if (fstatat(directory, output->name, &status, AT_SYMLINK_NOFOLLOW) == 0)
			WRONG(result, output, "is there, %s", "and must not be");
		return;
	}
	error = map_file(directory, output->name, &mapped);
	if (error < 0) {
		WRONG(result, output, "cannot be read: %s", strerror(-error));
		return;
	}
	check_content(directory, output, &mapped, result);
	unmap(&mapped);
}

static void check_words(const struct program_expectation *expect, int stdout_fd,
			struct case_result *result)
{
	struct mapped mapped;
	int error = map_fd(stdout_fd, &mapped);

	for (unsigned i = 0; i < expect->texts_count; i++)
		if (error < 0 || !holds(&mapped, expect->texts[i]))
			result_add(result, "output", CLASS_CONTRACT,
				   "the program's standard output does not hold '%s'",
				   expect->texts[i]);
	if (error == 0)
		unmap(&mapped);
}

void oracle_outputs(const struct program_expectation *expect, const char *work_dir, int stdout_fd,
		    struct case_result *result)
{
	int directory;

	if (expect->texts_count)
		check_words(expect, stdout_fd, result);
	if (!expect->outputs_count)
		return;
	directory = open(work_dir, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (directory < 0) {
		result_add(result, "data", CLASS_CORRUPTION, "the work directory: %s",
			   strerror(errno));
		return;
	}
	for (unsigned i = 0; i < expect->outputs_count; i++)
		check_output(directory, &expect->outputs[i], result);
	close(directory);
}
