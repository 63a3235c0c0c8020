/* SPDX-License-Identifier: MIT */
/*
 * reader.c - reads what a step wrote, file by file, and compares bytes and sizes.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pattern.h"
#include "reader_store.h"

#define CHUNK_BYTES ((size_t)256 * 1024)

static bool starts_writes(const struct workload *workload)
{
	for (unsigned i = 0; i < workload->steps_count; i++)
		if (workload->steps[i].kind == STEP_START && workload->steps[i].write)
			return true;
	return false;
}

/* Does the step end with files that the library wrote? */
static bool is_read_behind(const struct workload *workload, unsigned step)
{
	enum step_kind kind = workload->steps[step].kind;

	return kind == STEP_SWAP_OUT || kind == STEP_WRITE || kind == STEP_REPLACE ||
	       kind == STEP_STORE_REMOVE || (kind == STEP_WAIT && starts_writes(workload));
}

static bool changes_files(const struct workload *workload, unsigned step)
{
	const struct step *it = &workload->steps[step];

	return is_read_behind(workload, step) || (it->kind == STEP_START && it->write) ||
	       it->kind == STEP_TRUNCATE || it->kind == STEP_CORRUPT || it->kind == STEP_PREPARE ||
	       it->kind == STEP_REMOVE || it->kind == STEP_COPY_VOLUME || it->kind == STEP_REPEAT ||
	       it->kind == STEP_DEVICE_RETURN;
}

/* By the same process: whatever a later one does, this one's files are read in between. */
static bool is_changed_later(const struct workload *workload, unsigned step)
{
	for (unsigned i = step + 1;
	     i < workload->steps_count && workload->steps[i].kind != STEP_RESTART; i++)
		if (changes_files(workload, i))
			return true;
	return false;
}

uint64_t reader_pause_steps(const struct workload *workload)
{
	uint64_t steps = 0;

	for (unsigned i = 0; i < workload->steps_count; i++)
		if (workload->steps[i].kind == STEP_VERIFY ||
		    (is_read_behind(workload, i) && is_changed_later(workload, i)))
			steps |= UINT64_C(1) << i;
	return steps;
}

int reader_last_step(const struct workload *workload, unsigned number)
{
	struct image image = workload_image(workload, number);

	for (unsigned i = image.end; i-- > image.first;)
		if (is_read_behind(workload, i) && !is_changed_later(workload, i))
			return (int)i;
	return -1;
}

static bool is_ours(const struct reader_job *job, const struct outcome_request *request)
{
	return request->write && request->step == job->step;
}

static bool is_whole(const struct outcome_request *request)
{
	return request->stage == STAGE_DONE && !request->error && request->length &&
	       request->generation;
}

uint64_t reader_bytes(const struct reader_job *job)
{
	uint64_t bytes = 0;

	if (job->look)
		return workload_file_bytes(job->workload);
	if (job->workload->store.used)
		return reader_store_bytes(job);
	for (unsigned i = job->request_first; i < job->outcome->requests_count; i++)
		if (is_ours(job, &job->outcome->requests[i]) &&
		    is_whole(&job->outcome->requests[i]))
			bytes += job->outcome->requests[i].length;
	return bytes;
}

static const struct tensor *tensor_of(const struct reader_job *job,
				      const struct outcome_request *request)
{
	return &job->workload->tensors[request->tensor];
}

#define WRONG(job, request, result, format, ...)                                                   \
	result_add(result, "data", CLASS_CORRUPTION,                                               \
		   "step %u, read by another process: tensor %s, " format, (request)->step + 1,    \
		   tensor_of(job, request)->name, __VA_ARGS__)

/* 0, or 1 once something wrong was told. */
static int compare_chunk(const struct reader_job *job, const struct outcome_request *request,
			 uint64_t offset, const char *chunk, size_t bytes,
			 struct case_result *result)
{
	struct pattern pattern = {job->seed, request->tensor, request->generation};
	const char *names[WORKLOAD_TENSORS_MAX];
	struct pattern_finding finding;

	for (unsigned i = 0; i < job->workload->tensors_count; i++)
		names[i] = job->workload->tensors[i].name;
	if (!pattern_check(&pattern, offset, chunk, bytes, names, job->workload->tensors_count,
			   &finding))
		return 0;
	WRONG(job, request, result, "bytes %" PRIu64 "-%" PRIu64 " %s", finding.begin,
	      finding.end - 1, finding.story);
	return 1;
}

static void compare_range(const struct reader_job *job, const struct outcome_request *request,
			  int fd, struct case_result *result)
{
	static char chunk[CHUNK_BYTES];
	uint64_t begin = tensor_of(job, request)->file_offset_bytes, done = 0;

	while (done < request->length) {
		uint64_t left = request->length - done;
		size_t wanted = left < CHUNK_BYTES ? left : CHUNK_BYTES;
		ssize_t got = pread(fd, chunk, wanted, (off_t)(begin + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			WRONG(job, request, result,
			      "bytes %" PRIu64 "-%" PRIu64 " are not there: %s", done,
			      request->length - 1, got ? strerror(errno) : "end of file");
			return;
		}
		if (compare_chunk(job, request, done, chunk, (size_t)got, result))
			return;
		done += (uint64_t)got;
	}
}

/* The file ends where it ended, or where the last write into it ends; only known if all went well.
 */
static bool size_wanted(const struct reader_job *job, const char *file, int64_t *ret_bytes)
{
	int64_t bytes = 0;

	for (unsigned i = job->request_first; i < job->outcome->requests_count; i++) {
		const struct outcome_request *request = &job->outcome->requests[i];
		const struct tensor *tensor;
		int64_t end;

		if (!is_ours(job, request))
			continue;
		tensor = tensor_of(job, request);
		if (strcmp(tensor->file, file) != 0)
			continue;
		if (request->stage != STAGE_DONE || request->error)
			return false;
		end = (int64_t)(tensor->file_offset_bytes + request->length);
		bytes = request->length && end > bytes ? end : bytes;
		bytes = request->size_before > bytes ? request->size_before : bytes;
	}
	*ret_bytes = bytes;
	return true;
}

static void compare_size(const struct reader_job *job, const struct outcome_request *request,
			 int fd, struct case_result *result)
{
	struct stat status;
	int64_t wanted;

	if (!size_wanted(job, tensor_of(job, request)->file, &wanted))
		return;
	if (fstat(fd, &status) < 0 || status.st_size == wanted)
		return;
	WRONG(job, request, result, "file %s has %" PRId64 " bytes, must have %" PRId64,
	      tensor_of(job, request)->file, (int64_t)status.st_size, wanted);
}

static void check_request(const struct reader_job *job, const struct outcome_request *request,
			  struct case_result *result)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", job->work_dir, tensor_of(job, request)->file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		WRONG(job, request, result, "file %s: %s", tensor_of(job, request)->file,
		      strerror(errno));
		return;
	}
	/* Direct writes went past the page cache; what lies there from before would prove nothing.
	 */
	if (job->from_medium && !request->buffered)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	compare_size(job, request, fd, result);
	compare_range(job, request, fd, result);
	close(fd);
}

void reader_check(const struct reader_job *job, struct case_result *result)
{
	if (job->look) {
		reader_look(job);
		return;
	}
	if (job->workload->store.used) {
		reader_store_check(job, result);
		return;
	}
	for (unsigned i = job->request_first; i < job->outcome->requests_count; i++) {
		const struct outcome_request *request = &job->outcome->requests[i];

		if (is_ours(job, request) && is_whole(request))
			check_request(job, request, result);
	}
}
