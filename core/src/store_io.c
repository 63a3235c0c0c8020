/* SPDX-License-Identifier: MIT */
/*
 * store_io.c - transfers of a store's records, through the handle like those of tensors, and syncs.
 */
#include <errno.h>
#include <unistd.h>

#include "deadline.h"
#include "error.h"
#include "handle.h"
#include "store.h"

#define RESULT_TEXT_BYTES 256

int swapioi_store_io_start(struct swapio_store *store, const struct store_io *io,
			   swapio_id *ret_request, struct swapio_error *error)
{
	struct swapio_io transfer = {.size_bytes = sizeof(transfer),
				     .op = io->op,
				     .fd = io->fd,
				     .offset_bytes = io->offset_bytes,
				     .length_bytes = io->length_bytes,
				     .buf = io->buf};
	struct swapio_error why = {.code = 0};
	int ret = swapioi_submit_unlisted(store->handle, &transfer, &why, ret_request);

	return ret < 0 ? swapioi_error(error, ret, "%s: %s", io->what, why.text) : 0;
}

int swapioi_store_io_wait(struct swapio_store *store, const struct store_io *io, swapio_id request,
			  int64_t deadline_ns, struct swapio_error *error)
{
	struct swapio_result result;
	char text[RESULT_TEXT_BYTES];
	int ret = swapio_wait(store->handle, request, left_until(deadline_ns), &result);

	if (ret == -ETIMEDOUT)
		return STORE_IO_PENDING;
	if (ret < 0)
		return swapioi_error(error, ret, "%s: its transfer is gone", io->what);
	if (!result.error)
		return 0;
	swapio_result_text(&result, text, sizeof(text));
	return swapioi_error(error, result.error, "%s: %s", io->what, text);
}

int swapioi_store_io(struct swapio_store *store, const struct store_io *io,
		     struct swapio_error *error)
{
	swapio_id request;
	int ret = swapioi_store_io_start(store, io, &request, error);

	return ret < 0 ? ret : swapioi_store_io_wait(store, io, request, INT64_MAX, error);
}

int swapioi_store_sync(struct swapio_store *store, int fd, const char *what,
		       struct swapio_error *error)
{
	char text[ERRNO_TEXT_BYTES];
	int ret;

	if (!store->options.durable)
		return 0;
	ret = fdatasync(fd) < 0 ? -errno : 0;
	return ret < 0 ? swapioi_error(error, ret, "%s: fdatasync: %s", what,
				       swapioi_errno_text(-ret, text))
		       : 0;
}
