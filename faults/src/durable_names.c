/* SPDX-License-Identifier: MIT */
/*
 * durable_names.c - effects on the names of files and directories: made, moved, exchanged, removed.
 * A name is durable when its directory was synced since; syncing the file does not do it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>

#include "durable_internal.h"
#include "paths.h"
#include "runtime.h"

/* The call on its way; guarded by the journal's lock, which is held until it is over. */
static struct {
	unsigned flags;
	char path[2][PATH_MAX];
	bool there[2];
	struct stat status[2];
	uint32_t replaced; /* what stands for the (last) name before */
} now;

static void look_at(unsigned index, int dirfd, const char *path)
{
	now.there[index] = false;
	now.path[index][0] = '\0';
	if (!path || paths_absolute(dirfd, path, now.path[index]) < 0)
		return;
	now.there[index] = raw_call(SYS_newfstatat, AT_FDCWD, now.path[index], &now.status[index],
				    AT_SYMLINK_NOFOLLOW) == 0;
}

/* What will lose its name is held, to be put back. */
static void hold_replaced(unsigned index)
{
	long fd;

	now.replaced = DURABLE_NO_FILE;
	if (!now.there[index])
		return;
	if (!S_ISREG(now.status[index].st_mode)) {
		durable_give_up("a name of something else than a file");
		return;
	}
	fd = raw_call(SYS_openat, AT_FDCWD, now.path[index], O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	now.replaced = durable_file_at((int)fd);
	raw_call(SYS_close, fd);
}

static bool directory_of(const char *path, struct durable_directory *ret_directory)
{
	char directory[PATH_MAX];
	const char *slash = strrchr(path, '/');
	struct stat status;
	size_t bytes = slash && slash > path ? (size_t)(slash - path) : 1;

	memcpy(directory, path, bytes);
	directory[bytes] = '\0';
	if (raw_call(SYS_newfstatat, AT_FDCWD, directory, &status, 0) < 0)
		return false;
	*ret_directory = (struct durable_directory){status.st_dev, status.st_ino};
	return true;
}

static void keep_names(enum durable_kind kind, unsigned count)
{
	size_t first = strlen(now.path[0]) + 1, second = count > 1 ? strlen(now.path[1]) + 1 : 0;
	struct durable_record *record =
		durable_append(kind, now.replaced, sizeof(struct durable_names) + first + second);
	struct durable_names *names;

	if (!record)
		return;
	names = durable_names_of(record);
	names->count = count;
	names->at[0] = 0;
	names->at[1] = (unsigned)first;
	memcpy(names->text, now.path[0], first);
	memcpy(names->text + first, now.path[1], second);
	record->pending = count > 1 ? 3 : 1;
	for (unsigned i = 0; i < count; i++)
		if (!directory_of(now.path[i], &names->directory[i]))
			durable_give_up("the directory of a name cannot be told");
}

static bool same_file(void)
{
	return now.there[0] && now.there[1] && now.status[0].st_dev == now.status[1].st_dev &&
	       now.status[0].st_ino == now.status[1].st_ino;
}

/* What O_TRUNC is going to throw away. */
static void keep_truncated(void)
{
	long fd;

	if (!now.there[0] || !S_ISREG(now.status[0].st_mode) || now.status[0].st_size == 0)
		return;
	fd = raw_call(SYS_openat, AT_FDCWD, now.path[0], O_PATH | O_CLOEXEC);
	if (fd < 0)
		return;
	durable_keep_cut((int)fd, 0, (uint64_t)now.status[0].st_size);
	raw_call(SYS_close, fd);
}

/* Symbolic links are followed: it is the file behind that is made or cut. */
static void follow_link(void)
{
	if (now.there[0] && S_ISLNK(now.status[0].st_mode))
		now.there[0] =
			raw_call(SYS_newfstatat, AT_FDCWD, now.path[0], &now.status[0], 0) == 0;
}

void durable_open_begin(struct durable_step *step, int dirfd, const char *path, int flags)
{
	step->tracked = false;
	if (!(flags & (O_CREAT | O_TRUNC)) || (flags & O_TMPFILE) == O_TMPFILE)
		return;
	if (!durable_step_enter(step, DURABLE_ACT_OPEN))
		return;
	now.flags = (unsigned)flags;
	now.replaced = DURABLE_NO_FILE;
	look_at(0, dirfd, path);
	follow_link();
	if ((flags & O_TRUNC) && !(flags & O_EXCL && flags & O_CREAT))
		keep_truncated();
	/* A fifo may block: nobody waits for it with the journal locked. */
	if (now.there[0] && !S_ISREG(now.status[0].st_mode)) {
		step->tracked = false;
		durable_unlock(&step->guard);
	}
}

void durable_rename_begin(struct durable_step *step, int from_dir, const char *from, int to_dir,
			  const char *to, unsigned flags)
{
	if (!durable_step_enter(step, DURABLE_ACT_RENAME))
		return;
	now.flags = flags;
	now.replaced = DURABLE_NO_FILE;
	look_at(0, from_dir, from);
	look_at(1, to_dir, to);
	if (!(flags & (RENAME_EXCHANGE | RENAME_NOREPLACE)) && !same_file())
		hold_replaced(1);
}

void durable_unlink_begin(struct durable_step *step, int dirfd, const char *path)
{
	if (!durable_step_enter(step, DURABLE_ACT_UNLINK))
		return;
	look_at(0, dirfd, path);
	hold_replaced(0);
}

void durable_mkdir_begin(struct durable_step *step, int dirfd, const char *path)
{
	if (!durable_step_enter(step, DURABLE_ACT_MKDIR))
		return;
	now.replaced = DURABLE_NO_FILE;
	look_at(0, dirfd, path);
}

void durable_names_end(const struct durable_step *step, bool succeeded)
{
	if (!succeeded || durable_journal->broken[0])
		return;
	switch (step->act) {
	case DURABLE_ACT_OPEN:
		if (!now.there[0] && (now.flags & O_CREAT))
			keep_names(DURABLE_CREATE, 1);
		break;
	case DURABLE_ACT_RENAME:
		if (!same_file())
			keep_names(now.flags & RENAME_EXCHANGE ? DURABLE_EXCHANGE : DURABLE_RENAME,
				   2);
		break;
	case DURABLE_ACT_UNLINK:
		keep_names(DURABLE_UNLINK, 1);
		break;
	case DURABLE_ACT_MKDIR:
		keep_names(DURABLE_MKDIR, 1);
		break;
	}
}

static void name_synced(struct durable_record *record, const struct stat *status)
{
	const struct durable_names *names = durable_names_of(record);

	for (unsigned i = 0; i < names->count; i++)
		if (names->directory[i].device == status->st_dev &&
		    names->directory[i].inode == status->st_ino)
			record->pending &= (uint8_t) ~(1u << i);
	if (!record->pending)
		record->live = false;
}

void durable_directory_synced(const struct stat *status)
{
	for (struct durable_record *record = durable_first(); record; record = durable_next(record))
		if (durable_is_name(record))
			name_synced(record, status);
}

void durable_names_forget(void)
{
	memset(&now, 0, sizeof(now));
}
