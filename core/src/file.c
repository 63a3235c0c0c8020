/* SPDX-License-Identifier: MIT */
/*
 * file.c - opens files by path, looks at borrowed descriptors, and falls back where a file system
 * has no direct I/O.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"

_Static_assert(sizeof(off_t) == 8, "build with _FILE_OFFSET_BITS=64");

#define CREATE_MODE 0666
#define NAME_BYTES 300
#define OPEN_TRIES 100

/* Path, or a name for a descriptor, for sentences. */
static const char *name_of(const struct swapio_io *io, char buf[NAME_BYTES])
{
	if (io->path)
		snprintf(buf, NAME_BYTES, "%s", io->path);
	else
		snprintf(buf, NAME_BYTES, "descriptor %d", io->fd);
	return buf;
}

static int fail(const struct swapio_io *io, int code, const char *what, struct swapio_error *error)
{
	char name[NAME_BYTES], text[ERRNO_TEXT_BYTES];

	return swapioi_error(error, code, "%s: %s: %s", name_of(io, name), what,
			     swapioi_errno_text(-code, text));
}

static int open_retrying(const char *path, int flags)
{
	int fd, tries = 0;

	do
		fd = open(path, flags, CREATE_MODE);
	while (fd < 0 && errno == EINTR && ++tries < OPEN_TRIES);
	return fd < 0 ? -errno : fd;
}

/* O_NONBLOCK: opening a fifo by mistake must not hang; files do not care. */
#define OPEN_FLAGS (O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/*
 * Writes open for reading too, because a shared sector has to be read first; a file that may only
 * be written is opened so, and swapioi_file_check_rmw() decides. A file that is made here stays
 * when the write is refused: whoever opened it meanwhile may have written to it.
 */
static int open_access(struct file *file, const struct swapio_io *io, int direct_flag)
{
	int flags = OPEN_FLAGS | direct_flag, fd;

	file->readable = true;
	file->writable = io->op == SWAPIO_WRITE;
	if (io->op == SWAPIO_READ)
		return open_retrying(io->path, flags | O_RDONLY);
	fd = open_retrying(io->path, flags | O_RDWR | O_CREAT);
	if (fd != -EACCES)
		return fd;
	file->readable = false;
	return open_retrying(io->path, flags | O_WRONLY | O_CREAT);
}

static int open_path(struct file *file, const struct swapio_io *io, enum swapio_direct policy,
		     struct swapio_error *error)
{
	int fd = open_access(file, io, O_DIRECT);

	file->owned = true;
	file->direct = true;
	if (fd == -EINVAL && policy == SWAPIO_DIRECT_REQUIRE)
		return swapioi_error(error, -EOPNOTSUPP,
				     "%s: its file system has no O_DIRECT, and direct is REQUIRE",
				     io->path);
	if (fd == -EINVAL) {
		file->direct = false;
		fd = open_access(file, io, 0);
	}
	if (fd < 0)
		return fail(io, fd, io->op == SWAPIO_READ ? "open for reading" : "open for writing",
			    error);
	file->fd = fd;
	return 0;
}

static int look_at_descriptor(struct file *file, const struct swapio_io *io,
			      struct swapio_error *error)
{
	int flags = fcntl(io->fd, F_GETFL), access;

	if (flags < 0)
		return fail(io, -errno, "not an open descriptor", error);
	if (flags & O_APPEND)
		return swapioi_error(error, -EINVAL,
				     "descriptor %d is open with O_APPEND, which ignores offsets",
				     io->fd);
	access = flags & O_ACCMODE;
	file->fd = io->fd;
	file->owned = false;
	file->direct = flags & O_DIRECT;
	file->readable = access != O_WRONLY && !(flags & O_PATH);
	file->writable = access != O_RDONLY && !(flags & O_PATH);
	return swapioi_file_check_access(file, io->op, error);
}

int swapioi_file_check_access(const struct file *file, enum swapio_op op,
			      struct swapio_error *error)
{
	if (op == SWAPIO_READ ? file->readable : file->writable)
		return 0;
	return swapioi_error(error, -EBADF, "descriptor %d is not open for %s", file->fd,
			     op == SWAPIO_READ ? "reading" : "writing");
}

static int check_kind(const struct swapio_io *io, unsigned mode, struct swapio_error *error)
{
	if (S_ISREG(mode) || S_ISBLK(mode))
		return 0;
	if (S_ISDIR(mode))
		return fail(io, -EISDIR, "a file is needed", error);
	return fail(io, -EINVAL, "neither a regular file nor a block device", error);
}

/* Some file systems take O_DIRECT at open and say through statx that they have none. */
static int drop_direct(struct file *file, const struct swapio_io *io, enum swapio_direct policy,
		       struct swapio_error *error)
{
	int flags = fcntl(file->fd, F_GETFL);

	if (policy == SWAPIO_DIRECT_REQUIRE)
		return swapioi_error(
			error, -EOPNOTSUPP,
			"%s: statx says that it has no direct I/O, and direct is REQUIRE",
			io->path);
	if (flags < 0 || fcntl(file->fd, F_SETFL, flags & ~O_DIRECT) < 0)
		return fail(io, -errno, "clear O_DIRECT", error);
	file->direct = false;
	return 0;
}

static int take_facts(struct file *file, const struct swapio_io *io, enum swapio_direct policy,
		      struct swapio_error *error)
{
	struct file_facts facts;
	int ret = swapioi_file_facts(file->fd, &facts);

	if (ret < 0)
		return fail(io, ret, "ask for its size and alignment", error);
	if (check_kind(io, facts.mode, error) < 0)
		return S_ISDIR(facts.mode) ? -EISDIR : -EINVAL;
	if (facts.direct_refused && file->direct && file->owned) {
		ret = drop_direct(file, io, policy, error);
		if (ret < 0)
			return ret;
	}
	file->align = file->direct ? facts.align : (struct alignment){1, 1};
	file->size_bytes = facts.size_bytes;
	file->block_device = facts.key.block_device;
	ret = swapioi_inode_get(&facts.key, &file->inode);
	return ret < 0 ? fail(io, ret, "enter it into the table of files", error) : 0;
}

/* A write-only descriptor may be a readable file all the same; -1 if not. */
static int open_for_reading(const struct file *file)
{
	char path[64];
	int fd;

	if (!file->direct || file->owned)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file->fd);
	fd = open_retrying(path, OPEN_FLAGS | O_RDONLY | O_DIRECT);
	return fd < 0 ? -1 : fd;
}

int swapioi_file_open(struct file *file, const struct swapio_io *io, enum swapio_direct policy,
		      struct swapio_error *error)
{
	int ret;

	file->fd = file->read_fd = -1;
	file->inode = NULL;
	ret = io->path ? open_path(file, io, policy, error) : look_at_descriptor(file, io, error);
	if (ret < 0)
		return ret;
	ret = take_facts(file, io, policy, error);
	if (ret < 0) {
		swapioi_file_close(file);
		return ret;
	}
	file->read_fd = file->readable ? file->fd : open_for_reading(file);
	return 0;
}

void swapioi_file_close(struct file *file)
{
	if (file->read_fd >= 0 && file->read_fd != file->fd)
		close(file->read_fd);
	if (file->owned && file->fd >= 0)
		close(file->fd);
	if (file->inode)
		swapioi_inode_put(file->inode);
	file->fd = file->read_fd = -1;
	file->inode = NULL;
}

/* Sectors wholly past the end hold nothing worth reading. */
static bool shares_sectors(const struct file *file, uint64_t start, uint64_t end)
{
	uint64_t sector = file->align.offset;

	return !is_multiple(start, sector) ||
	       (!is_multiple(end, sector) && round_down(end, sector) < file->size_bytes);
}

int swapioi_file_check_rmw(const struct file *file, uint64_t start, uint64_t end,
			   struct swapio_error *error)
{
	if (file->read_fd >= 0 || !shares_sectors(file, start, end))
		return 0;
	return swapioi_error(
		error, -EBADF,
		"descriptor %d is write-only and cannot be opened for reading, but the "
		"range is no multiple of %u bytes, so a sector must be read first",
		file->fd, file->align.offset);
}
