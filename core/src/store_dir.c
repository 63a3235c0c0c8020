/* SPDX-License-Identifier: MIT */
/*
 * store_dir.c - the medium that is a directory: each volume is a file.
 */
#include "store_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "align.h"
#include "error.h"
#include "handle.h"
#include "store_place.h"

#define DIRECTORY_MODE 0777

static void new_name(const struct medium_entry *entry, char name[VOLUME_NEW_NAME_BYTES])
{
	char whole[VOLUME_NAME_BYTES];

	swapioi_volume_name(entry, whole);
	snprintf(name, VOLUME_NEW_NAME_BYTES, "%s" VOLUME_NEW_SUFFIX, whole);
}

bool swapioi_dir_name_is_new(const char *name)
{
	char whole[VOLUME_NEW_NAME_BYTES];
	struct medium_entry entry;
	size_t bytes = strlen(name), suffix = sizeof(VOLUME_NEW_SUFFIX) - 1;

	if (bytes <= suffix || bytes >= sizeof(whole) ||
	    strcmp(name + bytes - suffix, VOLUME_NEW_SUFFIX) != 0)
		return false;
	memcpy(whole, name, bytes - suffix);
	whole[bytes - suffix] = 0;
	return swapioi_volume_name_parse(whole, &entry);
}

DIR *swapioi_dir_list(int dir_fd)
{
	int fd = swapioi_place_open(dir_fd, ".", O_RDONLY | O_DIRECTORY);
	DIR *dir;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	dir = fdopendir(fd);
	if (!dir)
		close(fd);
	return dir;
}

static int open_directory(struct swapio_store *store, struct swapio_error *error)
{
	int flags = O_RDONLY | O_DIRECTORY;
	int fd = swapioi_place_open(AT_FDCWD, store->path, flags);

	if (fd == -ENOENT && store->options.create && !store->options.read_only) {
		if (mkdir(store->path, DIRECTORY_MODE) < 0 && errno != EEXIST)
			return swapioi_place_error(store, -errno, "make the directory", error);
		fd = swapioi_place_open(AT_FDCWD, store->path, flags);
	}
	if (fd == -ENOENT)
		return swapioi_error(error, -ENOENT, "%s: no store is there", store->path);
	if (fd == -ENOTDIR)
		return swapioi_error(error, -ENOTDIR, "%s: neither a directory nor a block device",
				     store->path);
	if (fd < 0)
		return swapioi_place_error(store, fd, "open the directory", error);
	store->medium.place_fd = fd;
	return 0;
}

/* Volumes that were never whole are nobody's. */
static int note_name(struct swapio_store *store, const char *name)
{
	struct medium_entry entry;

	if (swapioi_volume_name_parse(name, &entry))
		return swapioi_index_add(&store->medium.index, &entry);
	if (!store->options.read_only && swapioi_dir_name_is_new(name))
		unlinkat(store->medium.place_fd, name, 0);
	return 0;
}

static int read_index(struct swapio_store *store, struct swapio_error *error)
{
	DIR *dir = swapioi_dir_list(store->medium.place_fd);
	struct dirent *entry;
	int ret = 0;

	if (!dir)
		return swapioi_place_error(store, -errno, "list it", error);
	while (ret == 0 && (errno = 0, entry = readdir(dir)))
		ret = note_name(store, entry->d_name);
	if (ret == 0 && errno)
		ret = -errno;
	closedir(dir);
	return ret < 0 ? swapioi_place_error(store, ret, "list it", error) : 0;
}

static void dir_close(struct swapio_store *store, bool forked)
{
	struct medium *medium = &store->medium;

	swapioi_index_fini(&medium->index);
	if (medium->lock_fd >= 0)
		swapioi_place_unlock(medium->lock_fd, forked);
	if (medium->place_fd >= 0)
		close(medium->place_fd);
	medium->lock_fd = medium->place_fd = -1;
}

static int dir_open(struct swapio_store *store, struct swapio_error *error)
{
	int ret = open_directory(store, error);

	if (ret == 0)
		ret = swapioi_dir_record(store, error);
	if (ret == 0)
		ret = read_index(store, error);
	if (ret < 0)
		dir_close(store, false);
	return ret;
}

/* A sentence that names the file. */
static int volume_error(const struct swapio_store *store, const char *name, int code,
			const char *what, struct swapio_error *error)
{
	char text[ERRNO_TEXT_BYTES];

	return swapioi_error(error, code, "%s/%s: %s: %s", store->path, name, what,
			     swapioi_errno_text(-code, text));
}

static int no_direct(const struct swapio_store *store, const char *name, struct swapio_error *error)
{
	return swapioi_error(error, -EOPNOTSUPP,
			     "%s/%s: its file system has no O_DIRECT, and direct of the handle is "
			     "REQUIRE",
			     store->path, name);
}

/* Some file systems take O_DIRECT and say through statx that they have none. */
static int check_direct(struct swapio_store *store, const char *name, int fd,
			struct swapio_error *error)
{
	struct file_facts facts;
	int flags, ret = swapioi_file_facts(fd, &facts);

	if (ret == 0 && !S_ISREG(facts.mode))
		return swapioi_error(error, -EBADMSG, "%s/%s: not a regular file", store->path,
				     name);
	if (ret == 0 && !facts.direct_refused)
		return 0;
	if (ret == 0 && store->handle->options.direct == SWAPIO_DIRECT_REQUIRE)
		return no_direct(store, name, error);
	flags = ret < 0 ? -1 : fcntl(fd, F_GETFL);
	if (ret == 0 && (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_DIRECT) < 0))
		ret = -errno;
	return ret < 0 ? volume_error(store, name, ret, "look at it", error) : 0;
}

static int open_file(struct swapio_store *store, const char *name, int flags, int *ret_fd,
		     struct swapio_error *error)
{
	int fd = swapioi_place_open(store->medium.place_fd, name, flags | O_DIRECT | O_NOFOLLOW);
	int ret;

	if (fd == -EINVAL) {
		if (store->handle->options.direct == SWAPIO_DIRECT_REQUIRE)
			return no_direct(store, name, error);
		/* The failed call may have made the file. */
		fd = swapioi_place_open(store->medium.place_fd, name,
					(flags & ~O_EXCL) | O_NOFOLLOW);
	}
	if (fd < 0)
		return volume_error(store, name, fd, "open", error);
	ret = check_direct(store, name, fd, error);
	if (ret < 0)
		close(fd);
	else
		*ret_fd = fd;
	return ret;
}

static int dir_length_now(struct swapio_store *store, const struct medium_entry *entry, int fd,
			  uint64_t *ret_length)
{
	(void)store, (void)entry;
	return swapioi_file_size(fd, false, ret_length);
}

static int dir_open_volume(struct swapio_store *store, const struct medium_entry *entry,
			   int *ret_fd, uint64_t *ret_length, struct swapio_error *error)
{
	char name[VOLUME_NAME_BYTES];
	int fd, ret;

	swapioi_volume_name(entry, name);
	ret = open_file(store, name, store->options.read_only ? O_RDONLY : O_RDWR, &fd, error);
	if (ret < 0)
		return ret;
	ret = swapioi_file_size(fd, false, ret_length);
	if (ret < 0) {
		close(fd);
		return volume_error(store, name, ret, "ask for its size", error);
	}
	*ret_fd = fd;
	return 0;
}

static void dir_close_volume(struct swapio_store *store, int fd)
{
	(void)store;
	close(fd);
}

/* Room that is taken now cannot run out later; a file system that cannot do it is given a length.
 */
static int allocate(int fd, uint64_t bytes)
{
	int ret;

	do
		ret = fallocate(fd, 0, 0, (off_t)bytes) < 0 ? -errno : 0;
	while (ret == -EINTR);
	if (ret == -EOPNOTSUPP || ret == -ENOSYS)
		ret = ftruncate(fd, (off_t)bytes) < 0 ? -errno : 0;
	return ret;
}

static int dir_create_volume(struct swapio_store *store, struct medium_entry *entry, int *ret_fd,
			     struct swapio_error *error)
{
	char name[VOLUME_NEW_NAME_BYTES], what[64];
	int fd, ret;

	new_name(entry, name);
	ret = open_file(store, name, O_RDWR | O_CREAT | O_EXCL, &fd, error);
	if (ret < 0)
		return ret;
	ret = allocate(fd, entry->length_bytes);
	if (ret < 0) {
		snprintf(what, sizeof(what), "take %" PRIu64 " bytes of room", entry->length_bytes);
		volume_error(store, name, ret, what, error);
		goto remove;
	}
	entry->base = 0;
	entry->published = false;
	pthread_mutex_lock(&store->lock);
	ret = swapioi_index_add(&store->medium.index, entry);
	pthread_mutex_unlock(&store->lock);
	if (ret == 0) {
		*ret_fd = fd;
		return 0;
	}
	volume_error(store, name, ret, "note it", error);
remove:
	close(fd);
	unlinkat(store->medium.place_fd, name, 0);
	return ret;
}

/* Length, head and tensors first, and only then the name that makes them count. */
static int dir_publish_volume(struct swapio_store *store, struct medium_entry *entry, int fd,
			      struct swapio_error *error)
{
	char temporary[VOLUME_NEW_NAME_BYTES], name[VOLUME_NAME_BYTES];
	int dir_fd = store->medium.place_fd;

	new_name(entry, temporary);
	swapioi_volume_name(entry, name);
	if (store->options.durable && fsync(fd) < 0)
		return volume_error(store, temporary, -errno, "fsync", error);
	if (renameat(dir_fd, temporary, dir_fd, name) < 0)
		return volume_error(store, name, -errno, "name it so", error);
	swapioi_index_publish(store, entry);
	if (store->options.durable && fsync(dir_fd) < 0)
		return swapioi_place_error(store, -errno, "fsync of the directory", error);
	return 0;
}

static int dir_remove_volume(struct swapio_store *store, const struct medium_entry *entry,
			     bool sync, struct swapio_error *error)
{
	char name[VOLUME_NEW_NAME_BYTES];
	int dir_fd = store->medium.place_fd;

	if (entry->published)
		swapioi_volume_name(entry, name);
	else
		new_name(entry, name);
	if (unlinkat(dir_fd, name, 0) < 0 && errno != ENOENT)
		return volume_error(store, name, -errno, "remove it", error);
	pthread_mutex_lock(&store->lock);
	swapioi_index_remove(&store->medium.index, entry->group_sum, entry->number);
	pthread_mutex_unlock(&store->lock);
	if (sync && store->options.durable && fsync(dir_fd) < 0)
		return swapioi_place_error(store, -errno, "fsync of the directory", error);
	return 0;
}

static int dir_settle(struct swapio_store *store, struct swapio_error *error)
{
	if (store->options.durable && fsync(store->medium.place_fd) < 0)
		return swapioi_place_error(store, -errno, "fsync of the directory", error);
	return 0;
}

static int remove_name(struct swapio_store *store, const char *name, struct swapio_error *error)
{
	if (unlinkat(store->medium.place_fd, name, 0) < 0 && errno != ENOENT)
		return volume_error(store, name, -errno, "remove it", error);
	return 0;
}

/* The record last: as long as it is there, what is left can be destroyed again. */
static int destroy_files(struct swapio_store *store, struct swapio_error *error)
{
	const struct medium_index *index = &store->medium.index;
	char name[VOLUME_NAME_BYTES];
	int ret = 0;

	for (size_t i = 0; i < index->count && ret == 0; i++) {
		swapioi_volume_name(&index->entries[i], name);
		ret = remove_name(store, name, error);
	}
	if (ret == 0)
		ret = dir_settle(store, error);
	if (ret == 0)
		ret = remove_name(store, RECORD_NAME_NEW, error);
	if (ret == 0)
		ret = remove_name(store, RECORD_NAME, error);
	return ret == 0 ? dir_settle(store, error) : ret;
}

/* A directory with other files stays, and so does one that is mounted, or the current one. */
static bool stays(int number)
{
	return number == ENOTEMPTY || number == EEXIST || number == EBUSY || number == EINVAL;
}

static int dir_destroy(struct swapio_store *store, struct swapio_error *error)
{
	int ret = dir_open(store, error);

	if (ret < 0)
		return ret;
	ret = destroy_files(store, error);
	dir_close(store, false);
	if (ret == 0 && rmdir(store->path) < 0 && !stays(errno))
		return swapioi_place_error(store, -errno, "remove the directory", error);
	return ret;
}

static int dir_free_bytes(struct swapio_store *store, uint64_t *ret_bytes)
{
	struct statvfs st;

	if (fstatvfs(store->medium.place_fd, &st) < 0)
		return -errno;
	*ret_bytes = (uint64_t)st.f_bavail * st.f_frsize;
	return 0;
}

const struct medium_ops swapioi_medium_dir = {
	.block_device = false,
	.open = dir_open,
	.check = swapioi_dir_record_check,
	.close = dir_close,
	.open_volume = dir_open_volume,
	.close_volume = dir_close_volume,
	.length_now = dir_length_now,
	.create_volume = dir_create_volume,
	.publish_volume = dir_publish_volume,
	.remove_volume = dir_remove_volume,
	.settle = dir_settle,
	.destroy = dir_destroy,
	.free_bytes = dir_free_bytes,
};
