/* SPDX-License-Identifier: MIT */
/*
 * posix_call.c - what all intercepted posix calls have in common.
 */
#include "posix_call.h"

#include <errno.h>
#include <string.h>

#include "ending.h"
#include "files.h"
#include "paths.h"

static void fill(struct posix_call *call, enum point_id point, int fd, const char *path)
{
	memset(call, 0, sizeof(*call));
	call->call = (struct fault_call){
		.point = point,
		.fd = fd,
		.path = path,
		.offset = SCHEDULE_ANY,
		.length = SCHEDULE_ANY,
		.depth = SCHEDULE_ANY,
		.ctx = SCHEDULE_ANY,
		.thread = SCHEDULE_ANY,
		.proc = SCHEDULE_ANY,
	};
}

bool posix_call_start_fd(struct posix_call *call, enum point_id point, int fd)
{
	const char *path = runtime_inside() ? NULL : files_path(fd);

	if (!path)
		return false;
	fill(call, point, fd, path);
	return true;
}

bool posix_call_start_path(struct path_call *call, enum point_id point, int dirfd, const char *path)
{
	const char *below;

	if (runtime_inside() || !path || paths_absolute(dirfd, path, call->path) < 0)
		return false;
	below = paths_below(call->path);
	if (!below)
		return false;
	fill(&call->posix, point, -1, below);
	return true;
}

bool posix_call_start_plain(struct posix_call *call, enum point_id point, uint64_t length)
{
	if (runtime_inside())
		return false;
	fill(call, point, -1, NULL);
	call->call.length = length;
	return true;
}

void posix_call_decide(struct posix_call *call)
{
	int kept_errno = errno;

	runtime_decide(&call->call, &call->firing);
	call->number = runtime_call_number(call->call.point);
	ending_of(&call->firing, &call->call, call->number);
	errno = kept_errno;
}

struct fault *posix_call_fault(const struct posix_call *call, enum kind_id kind)
{
	for (unsigned i = 0; i < call->firing.count; i++)
		if (call->firing.faults[i]->kind == kind)
			return call->firing.faults[i];
	return NULL;
}

static struct fault *find_error(const struct posix_call *call)
{
	for (unsigned i = 0; i < call->firing.count; i++) {
		struct fault *fault = call->firing.faults[i];

		if (kind_info(fault->kind)->argument != ARGUMENT_ERRNO)
			continue;
		if (!fault->direct || call->call.direct)
			return fault;
	}
	return NULL;
}

int posix_call_error(struct posix_call *call)
{
	struct fault *fault;

	posix_call_decide(call);
	fault = find_error(call);
	if (!fault)
		return 0;
	posix_call_end_injected(call, fault, -fault->value);
	return (int)fault->value;
}

bool posix_call_fails(struct posix_call *call)
{
	int error = posix_call_error(call);

	if (error)
		errno = error;
	return error != 0;
}

int64_t posix_call_end(struct posix_call *call, int64_t result)
{
	runtime_log_call(&call->call, call->number, result == -1 ? -errno : result, false);
	return result;
}

void posix_call_end_plain(struct posix_call *call, int64_t result)
{
	runtime_log_call(&call->call, call->number, result, false);
}

int64_t posix_call_end_injected(struct posix_call *call, const struct fault *fault, int64_t result)
{
	runtime_log_inject(fault, &call->call, call->number, result);
	runtime_log_call(&call->call, call->number, result, true);
	return result;
}
