/* SPDX-License-Identifier: MIT */
/*
 * store_dir_record.c - swapio.store: finds it or makes it, and locks it.
 *
 * The lock is on the file, and the file gets its name when it is whole and locked already. Whoever
 * locked a file looks whether it still has its name: another process may have been quicker.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "store_dir.h"
#include "store_place.h"

#define OPEN_ROUNDS 100

/* What one round found out beside 0 and -errno: another process was quicker. */
#define AGAIN 1

static int has_name(int dir_fd, const char *name, int fd)
{
	struct stat by_fd, by_name;

	if (fstat(fd, &by_fd) < 0)
		return -errno;
	if (fstatat(dir_fd, name, &by_name, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	return by_fd.st_dev == by_name.st_dev && by_fd.st_ino == by_name.st_ino;
}

static int read_record(const struct swapio_store *store, int fd,
		       unsigned char id[SWAPIO_STORE_ID_BYTES], struct swapio_error *error)
{
	unsigned char unit[STORE_UNIT];
	struct store_record record;
	struct swapio_error why = {.code = 0};
	struct stat st;
	int ret;

	if (fstat(fd, &st) < 0)
		return swapioi_place_error(store, -errno, "look at " RECORD_NAME, error);
	if (!S_ISREG(st.st_mode) || st.st_size != STORE_UNIT)
		return swapioi_error(error, -EBADMSG,
				     "%s: " RECORD_NAME " is damaged: no file of %u bytes",
				     store->path, STORE_UNIT);
	ret = swapioi_place_read(fd, unit, sizeof(unit), 0);
	if (ret < 0)
		return swapioi_place_error(store, ret, "read " RECORD_NAME, error);
	ret = swapioi_store_record_decode(unit, &record, &why);
	if (ret == 0 && record.length_bytes)
		ret = swapioi_error(&why, -EBADMSG, "the store's record is that of a range");
	if (ret < 0)
		return swapioi_error(error, ret == -ENOENT ? -EBADMSG : ret,
				     "%s: " RECORD_NAME ": %s", store->path, why.text);
	memcpy(id, record.id, SWAPIO_STORE_ID_BYTES);
	return 0;
}

/* 0, AGAIN, or -errno; the descriptor is locked on success, and else closed. */
static int take_record(struct swapio_store *store, int fd, struct swapio_error *error)
{
	int ret = swapioi_place_lock(store, fd, error);

	if (ret == 0) {
		ret = has_name(store->medium.place_fd, RECORD_NAME, fd);
		if (ret < 0)
			swapioi_place_error(store, ret, "look for " RECORD_NAME, error);
		else
			ret = ret ? read_record(store, fd, store->id, error) : AGAIN;
	}
	if (ret == 0)
		store->medium.lock_fd = fd;
	else
		swapioi_place_unlock(fd, false);
	return ret;
}

/* A record that was never finished is no other file. */
static int check_empty(struct swapio_store *store, struct swapio_error *error)
{
	DIR *dir = swapioi_dir_list(store->medium.place_fd);
	struct dirent *entry;
	int ret = 0;

	if (!dir)
		return swapioi_place_error(store, -errno, "list it", error);
	while (ret == 0 && (errno = 0, entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    strcmp(entry->d_name, RECORD_NAME_NEW) != 0 &&
		    strcmp(entry->d_name, RECORD_NAME) != 0)
			ret = swapioi_error(error, -ENOTEMPTY,
					    "%s: not a store, and not empty: it holds %.120s",
					    store->path, entry->d_name);
	if (ret == 0 && errno)
		ret = swapioi_place_error(store, -errno, "list it", error);
	closedir(dir);
	return ret;
}

static int sync_parent(const struct swapio_store *store)
{
	char *copy = strdup(store->path);
	int fd, ret;

	if (!copy)
		return -ENOMEM;
	fd = swapioi_place_open(AT_FDCWD, dirname(copy), O_RDONLY | O_DIRECTORY);
	free(copy);
	if (fd < 0)
		return fd;
	ret = fsync(fd) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

/* The parent first: a store that can be found is one whose directory can be found. */
static int write_record(struct swapio_store *store, int fd, struct swapio_error *error)
{
	unsigned char unit[STORE_UNIT];
	struct store_record record = {.length_bytes = 0};
	int dir_fd = store->medium.place_fd;
	int ret = swapioi_place_draw_id(record.id);

	if (ret < 0)
		return swapioi_place_error(store, ret, "draw an identity", error);
	swapioi_store_record_encode(&record, unit);
	ret = ftruncate(fd, 0) < 0 ? -errno : swapioi_place_write(fd, unit, sizeof(unit), 0);
	if (ret == 0)
		ret = fsync(fd) < 0 ? -errno : 0;
	if (ret < 0)
		return swapioi_place_error(store, ret, "write " RECORD_NAME_NEW, error);
	ret = sync_parent(store);
	if (ret < 0)
		return swapioi_place_error(store, ret, "sync the directory that it is in", error);
	if (renameat(dir_fd, RECORD_NAME_NEW, dir_fd, RECORD_NAME) < 0)
		return swapioi_place_error(store, -errno, "name its record " RECORD_NAME, error);
	memcpy(store->id, record.id, sizeof(store->id));
	return 0;
}

/* With the lock: does somebody else's record have the name already? Then ours is in vain. */
static int is_first(struct swapio_store *store, int fd)
{
	int dir_fd = store->medium.place_fd, ret = has_name(dir_fd, RECORD_NAME_NEW, fd);

	if (ret <= 0 || faccessat(dir_fd, RECORD_NAME, F_OK, 0) < 0)
		return ret;
	unlinkat(dir_fd, RECORD_NAME_NEW, 0);
	return 0;
}

static int make_record(struct swapio_store *store, struct swapio_error *error)
{
	int fd, ret = check_empty(store, error);

	if (ret < 0)
		return ret;
	fd = swapioi_place_open(store->medium.place_fd, RECORD_NAME_NEW,
				O_RDWR | O_CREAT | O_NOFOLLOW);
	if (fd < 0)
		return swapioi_place_error(store, fd, "make " RECORD_NAME_NEW, error);
	ret = swapioi_place_lock(store, fd, error);
	if (ret == 0) {
		ret = is_first(store, fd);
		if (ret < 0)
			swapioi_place_error(store, ret, "look for " RECORD_NAME_NEW, error);
		else
			ret = ret ? write_record(store, fd, error) : AGAIN;
	}
	if (ret == 0)
		store->medium.lock_fd = fd;
	else
		swapioi_place_unlock(fd, false);
	return ret;
}

static int try_record(struct swapio_store *store, struct swapio_error *error)
{
	int fd = swapioi_place_open(store->medium.place_fd, RECORD_NAME,
				    (store->options.read_only ? O_RDONLY : O_RDWR) | O_NOFOLLOW);

	if (fd >= 0)
		return take_record(store, fd, error);
	if (fd != -ENOENT)
		return swapioi_place_error(store, fd, "open " RECORD_NAME, error);
	if (!store->options.create || store->options.read_only)
		return swapioi_error(error, -ENOENT, "%s: no store is there", store->path);
	return make_record(store, error);
}

/*
 * Volumes may get durable names from now on, and without the record's they would be no store, but a
 * directory that is not empty. Whoever named the record may have been killed before it did this.
 */
static int sync_names(const struct swapio_store *store, struct swapio_error *error)
{
	if (store->options.read_only || fsync(store->medium.place_fd) == 0)
		return 0;
	return swapioi_place_error(store, -errno, "sync it", error);
}

int swapioi_dir_record(struct swapio_store *store, struct swapio_error *error)
{
	int ret = AGAIN;

	for (unsigned round = 0; ret == AGAIN && round < OPEN_ROUNDS; round++)
		ret = try_record(store, error);
	if (ret == AGAIN)
		return swapioi_error(error, -EBUSY, "%s: others make and remove stores there",
				     store->path);
	return ret < 0 ? ret : sync_names(store, error);
}

int swapioi_dir_record_check(struct swapio_store *store, struct swapio_error *error)
{
	unsigned char id[SWAPIO_STORE_ID_BYTES];
	int fd = swapioi_place_open(store->medium.place_fd, RECORD_NAME, O_RDONLY | O_NOFOLLOW),
	    ret;

	if (fd == -ENOENT)
		return swapioi_error(error, -EBADMSG, "%s: " RECORD_NAME " is gone", store->path);
	if (fd < 0)
		return swapioi_place_error(store, fd, "open " RECORD_NAME, error);
	ret = read_record(store, fd, id, error);
	close(fd);
	if (ret == 0 && memcmp(id, store->id, sizeof(id)) != 0)
		ret = swapioi_error(error, -EXDEV, "%s: " RECORD_NAME " is that of another store",
				    store->path);
	return ret;
}
