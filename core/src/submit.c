/* SPDX-License-Identifier: MIT */
/*
 * submit.c - checks a transfer, opens its file, and makes it a request.
 */
#include <errno.h>
#include <inttypes.h>

#include "error.h"
#include "fork.h"
#include "handle.h"

static int check_io(const struct swapio_io *io, struct swapio_error *error)
{
	if (io->size_bytes != sizeof(*io))
		return swapioi_error(error, -EINVAL,
				     "size_bytes of the transfer is %zu, allowed: %zu",
				     io->size_bytes, sizeof(*io));
	if (io->op != SWAPIO_READ && io->op != SWAPIO_WRITE)
		return swapioi_error(error, -EINVAL, "op is %u, allowed: 0 (read) and 1 (write)",
				     (unsigned)io->op);
	if (io->offset_bytes > INT64_MAX || io->length_bytes > INT64_MAX - io->offset_bytes)
		return swapioi_error(error, -EINVAL,
				     "offset %" PRIu64 " and length %" PRIu64 " end past %" PRId64
				     ", the last offset there is",
				     io->offset_bytes, io->length_bytes, INT64_MAX);
	if (io->length_bytes > PTRDIFF_MAX)
		return swapioi_error(error, -EINVAL,
				     "length %" PRIu64 " is more than memory can hold",
				     io->length_bytes);
	if (!io->buf && io->length_bytes)
		return swapioi_error(error, -EINVAL, "buf is NULL, with %" PRIu64 " bytes to move",
				     io->length_bytes);
	return 0;
}

/*
 * Under REJECT the base pointer must fit; what odd offsets make of it inside is ours to solve, and
 * device memory goes through slots anyway.
 */
static int check_pointer(const struct swapio *handle, const struct swapio_io *io,
			 const struct file *file, struct swapio_error *error)
{
	uint64_t need = handle->alignment_bytes;

	if (file->align.mem > need)
		need = file->align.mem;
	if (handle->options.unaligned == SWAPIO_UNALIGNED_BOUNCE || !io->length_bytes ||
	    is_multiple((uintptr_t)io->buf, need) || !accel_is_host(handle->accel, io->buf))
		return 0;
	return swapioi_error(error, -EINVAL,
			     "%s%s: buffer %p is not a multiple of %" PRIu64
			     " bytes: align it (swapio_buffer_alloc), or open the handle with "
			     "unaligned BOUNCE",
			     io->path ? "" : "descriptor", io->path ? io->path : "", io->buf, need);
}

/* Bounce slots must be able to hold a sector; larger ones than that are not known to exist. */
static int check_sector(const struct swapio *handle, const struct file *file,
			struct swapio_error *error)
{
	uint32_t need = file->align.offset > file->align.mem ? file->align.offset : file->align.mem;

	if (need <= handle->sector_bytes_max)
		return 0;
	return swapioi_error(error, -EINVAL,
			     "the file's direct I/O needs multiples of %" PRIu32
			     " bytes, and the handle is made for %zu: raise alignment_bytes",
			     need, handle->sector_bytes_max);
}

static int check_with_file(const struct swapio *handle, const struct swapio_io *io,
			   const struct file *file, struct swapio_error *error)
{
	int ret = check_pointer(handle, io, file, error);

	if (ret == 0)
		ret = check_sector(handle, file, error);
	if (ret == 0 && io->op == SWAPIO_WRITE)
		ret = swapioi_file_check_rmw(file, io->offset_bytes,
					     io->offset_bytes + io->length_bytes, error);
	return ret;
}

/* A request, and either a file in use already (@ret_shared) or an empty one to be opened. */
static int reserve(struct swapio *handle, const struct swapio_io *io, struct request **ret_request,
		   struct file **ret_file, bool *ret_shared, struct swapio_error *error)
{
	struct request *request;
	struct file *file = NULL;

	pthread_mutex_lock(&handle->lock);
	if (handle->closing) {
		pthread_mutex_unlock(&handle->lock);
		return swapioi_error(error, -ESHUTDOWN, "the handle is being closed");
	}
	request = swapioi_request_reserve(handle);
	if (request) {
		if (!io->path)
			file = swapioi_file_find(handle, io->fd);
		*ret_shared = file;
		*ret_file = file ? file : swapioi_file_take(handle);
	}
	pthread_mutex_unlock(&handle->lock);
	if (!request)
		return swapioi_error(
			error, -EAGAIN,
			"%u requests are pending, as many as requests_max allows: fetch "
			"results first",
			handle->options.requests_max);
	*ret_request = request;
	return 0;
}

/* Undo reserve(), and the opening if there was one. */
static void unreserve(struct swapio *handle, struct request *request, struct file *file)
{
	bool last;

	pthread_mutex_lock(&handle->lock);
	last = --file->users == 0;
	if (last)
		list_remove(&file->link);
	pthread_mutex_unlock(&handle->lock);
	if (last)
		swapioi_file_close(file);
	pthread_mutex_lock(&handle->lock);
	if (last)
		swapioi_file_free(handle, file);
	swapioi_request_free(handle, request);
	pthread_mutex_unlock(&handle->lock);
}

/* From here on the request belongs to the queues. */
static swapio_id activate(struct swapio *handle, struct request *request, bool share)
{
	struct list over;
	swapio_id id;
	bool more;

	list_init(&over);
	pthread_mutex_lock(&handle->lock);
	id = swapioi_request_id(handle, request);
	request->state = REQUEST_ACTIVE;
	if (!request->unlisted)
		handle->pending++;
	handle->active++;
	handle->requests_accepted++;
	if (share)
		swapioi_file_share(handle, request->file);
	more = swapioi_request_has_more(request);
	if (more) {
		list_append(&handle->ready, &request->link);
		swapioi_poke_locked(handle, request->end - request->start > request->block_bytes);
	} else {
		list_append(&over, &request->link);
	}
	pthread_mutex_unlock(&handle->lock);
	swapioi_requests_finish(handle, &over);
	return id;
}

static int submit(struct swapio *handle, const struct swapio_io *io, bool unlisted,
		  struct swapio_error *error, swapio_id *ret_id)
{
	struct request *request = NULL;
	struct file *file = NULL;
	bool shared = false;
	int ret;

	if (swapioi_fork_passed(handle->epoch))
		return swapioi_error(error, -ECHILD,
				     "the handle was opened before fork(), in the parent");
	ret = check_io(io, error);
	if (ret < 0)
		return ret;
	ret = reserve(handle, io, &request, &file, &shared, error);
	if (ret < 0)
		return ret;
	ret = shared ? swapioi_file_check_access(file, io->op, error)
		     : swapioi_file_open(file, io, handle->options.direct, error);
	if (ret == 0)
		ret = check_with_file(handle, io, file, error);
	if (ret < 0) {
		unreserve(handle, request, file);
		return ret;
	}
	swapioi_request_start(request, io, file, &handle->cut_sizes,
			      accel_is_host(handle->accel, io->buf));
	request->unlisted = unlisted;
	*ret_id = activate(handle, request, !shared && !io->path);
	return 0;
}

int swapio_submit(struct swapio *handle, const struct swapio_io *io, struct swapio_error *error,
		  swapio_id *ret_id)
{
	return submit(handle, io, false, error, ret_id);
}

int swapioi_submit_unlisted(struct swapio *handle, const struct swapio_io *io,
			    struct swapio_error *error, swapio_id *ret_id)
{
	return submit(handle, io, true, error, ret_id);
}
