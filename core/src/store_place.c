/* SPDX-License-Identifier: MIT */
/*
 * store_place.c - system calls on the place of a store, repeated where they have to be.
 */
#include "store_place.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "error.h"

#define CREATE_MODE 0666
#define OPEN_TRIES 100

int swapioi_place_error(const struct swapio_store *store, int code, const char *what,
			struct swapio_error *error)
{
	char text[ERRNO_TEXT_BYTES];

	return swapioi_error(error, code, "%s: %s: %s", store->path, what,
			     swapioi_errno_text(-code, text));
}

int swapioi_place_open(int dir_fd, const char *name, int flags)
{
	int fd, tries = 0;

	/* O_NONBLOCK: opening a fifo by mistake must not hang. */
	do
		fd = openat(dir_fd, name, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, CREATE_MODE);
	while (fd < 0 && errno == EINTR && ++tries < OPEN_TRIES);
	return fd < 0 ? -errno : fd;
}

int swapioi_place_lock(const struct swapio_store *store, int fd, struct swapio_error *error)
{
	int how = store->options.read_only ? LOCK_SH : LOCK_EX, ret;

	do
		ret = flock(fd, how | LOCK_NB) < 0 ? -errno : 0;
	while (ret == -EINTR);
	if (ret == -EWOULDBLOCK)
		return swapioi_error(error, -EBUSY,
				     "%s: another process, or another store of this one, has it "
				     "open%s",
				     store->path, store->options.read_only ? " for writing" : "");
	return ret < 0 ? swapioi_place_error(store, ret, "lock it", error) : 0;
}

/* A child that still has the descriptor would hold on to the lock, so closing is not enough. */
void swapioi_place_unlock(int fd, bool forked)
{
	if (!forked)
		flock(fd, LOCK_UN);
	close(fd);
}

int swapioi_place_read(int fd, void *buf, size_t bytes, uint64_t offset)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t got = pread(fd, (char *)buf + done, bytes - done, (off_t)(offset + done));

		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == 0)
			return -EIO;
		done += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

int swapioi_place_write(int fd, const void *buf, size_t bytes, uint64_t offset)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t put =
			pwrite(fd, (const char *)buf + done, bytes - done, (off_t)(offset + done));

		if (put < 0 && errno != EINTR)
			return -errno;
		if (put == 0)
			return -EIO;
		done += put > 0 ? (size_t)put : 0;
	}
	return 0;
}

int swapioi_place_draw_id(unsigned char id[SWAPIO_STORE_ID_BYTES])
{
	for (size_t done = 0; done < SWAPIO_STORE_ID_BYTES;) {
		ssize_t got = getrandom(id + done, SWAPIO_STORE_ID_BYTES - done, 0);

		if (got < 0 && errno != EINTR)
			return -errno;
		done += got > 0 ? (size_t)got : 0;
	}
	return 0;
}
