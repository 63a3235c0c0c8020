/* SPDX-License-Identifier: MIT */
/*
 * cpio.c - the headers of newc (Documentation/driver-api/early-userspace/buffer-format.rst of the
 * kernel), padding, and the bytes between.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpio.h"

#define PAD_BYTES 4u

struct entry {
	const char *path;
	mode_t mode; /* with the type */
	uint64_t bytes;
	unsigned major, minor;
};

void cpio_init(struct cpio *cpio, int fd)
{
	*cpio = (struct cpio){.fd = fd};
}

static void put(struct cpio *cpio, const void *data, size_t bytes)
{
	const char *from = data;

	while (bytes > 0 && !cpio->error) {
		ssize_t written = write(cpio->fd, from, bytes);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			cpio->error = written < 0 ? -errno : -EIO;
			return;
		}
		from += written;
		bytes -= (size_t)written;
		cpio->bytes += (size_t)written;
	}
}

static void pad(struct cpio *cpio)
{
	static const char zeros[PAD_BYTES];

	put(cpio, zeros, -cpio->bytes % PAD_BYTES);
}

static void put_header(struct cpio *cpio, const struct entry *entry)
{
	char header[6 + 13 * 8 + 1];
	size_t name_bytes = strlen(entry->path) + 1;

	/* magic, inode, mode, uid, gid, links, mtime, size, device of the file, device it is,
	 * bytes of the name, no checksum */
	snprintf(header, sizeof(header),
		 "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", ++cpio->inode,
		 (unsigned)entry->mode, 0u, 0u, 1u, 0u, (unsigned)entry->bytes, 0u, 0u,
		 entry->major, entry->minor, (unsigned)name_bytes, 0u);
	put(cpio, header, sizeof(header) - 1);
	put(cpio, entry->path, name_bytes);
	pad(cpio);
}

void cpio_directory(struct cpio *cpio, const char *path, mode_t mode)
{
	put_header(cpio, &(struct entry){.path = path, .mode = S_IFDIR | mode});
}

void cpio_symlink(struct cpio *cpio, const char *path, const char *to)
{
	put_header(cpio, &(struct entry){path, S_IFLNK | 0777, strlen(to), 0, 0});
	put(cpio, to, strlen(to));
	pad(cpio);
}

void cpio_device(struct cpio *cpio, const char *path, mode_t mode, unsigned major, unsigned minor)
{
	put_header(cpio, &(struct entry){path, mode, 0, major, minor});
}

void cpio_text(struct cpio *cpio, const char *path, const char *text)
{
	put_header(cpio, &(struct entry){path, S_IFREG | 0644, strlen(text), 0, 0});
	put(cpio, text, strlen(text));
	pad(cpio);
}

/* What became shorter in the meantime would shift everything behind it: zeros take its place. */
static int copy(struct cpio *cpio, int from, uint64_t bytes)
{
	char buffer[32 * 1024];
	int error = 0;

	while (bytes > 0 && !cpio->error) {
		size_t wanted = bytes < sizeof(buffer) ? (size_t)bytes : sizeof(buffer);
		ssize_t got = error ? 0 : read(from, buffer, wanted);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			error = got < 0 ? -errno : -EIO;
			memset(buffer, 0, wanted);
			got = (ssize_t)wanted;
		}
		put(cpio, buffer, (size_t)got);
		bytes -= (uint64_t)got;
	}
	pad(cpio);
	return error;
}

int cpio_file(struct cpio *cpio, const char *path, mode_t mode, const char *source)
{
	int fd = open(source, O_RDONLY | O_CLOEXEC), error = 0;
	struct stat status;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) < 0)
		error = -errno;
	else if (!S_ISREG(status.st_mode))
		error = -EISDIR;
	else if (status.st_size > INT32_MAX)
		error = -EFBIG;
	if (error == 0) {
		put_header(cpio,
			   &(struct entry){path, S_IFREG | mode, (uint64_t)status.st_size, 0, 0});
		error = copy(cpio, fd, (uint64_t)status.st_size);
	}
	close(fd);
	return error;
}

int cpio_finish(struct cpio *cpio)
{
	put_header(cpio, &(struct entry){.path = "TRAILER!!!"});
	return cpio->error;
}
