/* SPDX-License-Identifier: MIT */
/*
 * program_inputs.c - the files that a program finds when it starts.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "pattern.h"
#include "program.h"

#define CHUNK_BYTES (64 * 1024)

static int fill(int fd, const struct pattern *pattern, uint64_t bytes)
{
	static char chunk[CHUNK_BYTES];

	for (uint64_t at = 0; at < bytes;) {
		size_t want = bytes - at < sizeof(chunk) ? (size_t)(bytes - at) : sizeof(chunk);
		ssize_t done;

		pattern_fill(pattern, at, chunk, want);
		done = write(fd, chunk, want);
		if (done < 0 && errno != EINTR)
			return -errno;
		at += done < 0 ? 0 : (uint64_t)done; /* a cut chunk is made again from there */
	}
	return 0;
}

static int make_input(int directory, const struct program_input *input,
		      const struct pattern *pattern)
{
	int fd = openat(directory, input->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int result;

	if (fd < 0)
		return -errno;
	result = fill(fd, pattern, input->bytes);
	if (close(fd) < 0 && result == 0)
		result = -errno;
	return result;
}

int program_make_inputs(const struct program *program, const char *work_dir, uint64_t seed)
{
	int directory = open(work_dir, O_DIRECTORY | O_RDONLY | O_CLOEXEC), result = 0;

	if (directory < 0)
		return -errno;
	for (unsigned i = 0; i < program->inputs_count && result == 0; i++) {
		struct pattern pattern = {.seed = seed, .tensor = i, .generation = 1};

		result = make_input(directory, &program->inputs[i], &pattern);
	}
	close(directory);
	return result;
}

int program_drop_inputs(const struct program *program, const char *work_dir)
{
	int directory = open(work_dir, O_DIRECTORY | O_RDONLY | O_CLOEXEC), error = 0;

	if (directory < 0)
		return -errno;
	for (unsigned i = 0; i < program->inputs_count && error == 0; i++) {
		int fd = openat(directory, program->inputs[i].name, O_RDONLY | O_CLOEXEC);

		error = fd < 0 ? -errno : -posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		if (fd >= 0)
			close(fd);
	}
	close(directory);
	return error;
}
