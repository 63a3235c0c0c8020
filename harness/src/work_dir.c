/* SPDX-License-Identifier: MIT */
/*
 * work_dir.c - makes, tries out, empties and keeps work directories.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machine.h"
#include "places.h"
#include "work_dir.h"
#include "work_owner.h"
#include "work_remove.h"

#define PROBE_NAME ".swaptorture-probe"
#define PROBE_BYTES ((size_t)65536)
#define PROBE_ALIGNMENT 4096
#define COPY_BYTES_MAX ((off_t)256 << 20)

static int refuse(struct diag *diag, const char *path, const char *what, int error)
{
	diag_set(diag, path, 0, 0, "%s: %s", what, strerror(-error));
	return error;
}

static int write_probe(int fd)
{
	void *memory;
	ssize_t put;
	int error = posix_memalign(&memory, PROBE_ALIGNMENT, PROBE_BYTES);

	if (error)
		return -error;
	memset(memory, 0, PROBE_BYTES);
	put = pwrite(fd, memory, PROBE_BYTES, 0);
	error = put == (ssize_t)PROBE_BYTES ? 0 : put < 0 ? -errno : -ENOSPC;
	free(memory);
	return error;
}

/* One aligned direct write: read-only, full and without O_DIRECT all show here and now. */
static int try_out(const char *path, bool direct, struct diag *diag)
{
	char name[WORK_DIR_BYTES + 32];
	int error, fd;

	snprintf(name, sizeof(name), "%s/" PROBE_NAME, path);
	fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | (direct ? O_DIRECT : 0), 0600);
	if (fd < 0) {
		error = -errno;
		unlink(name);
		return refuse(diag, path,
			      error == -EINVAL ? "no O_DIRECT on this file system" : "not writable",
			      error);
	}
	error = write_probe(fd);
	close(fd);
	unlink(name);
	return error < 0 ? refuse(diag, path, "cannot be written to", error) : 0;
}

static int make_below(const char *below, char path[WORK_DIR_BYTES], struct diag *diag)
{
	struct stat status;
	char *real = realpath(below, NULL);
	int error = real ? 0 : -errno;

	if (real && stat(real, &status) == 0 && !S_ISDIR(status.st_mode))
		error = -ENOTDIR;
	if (error == 0 && snprintf(path, WORK_DIR_BYTES, "%s/" WORK_DIR_PREFIX "XXXXXX", real) >=
				  WORK_DIR_BYTES - 128)
		error = -ENAMETOOLONG;
	free(real);
	if (error == 0 && !mkdtemp(path))
		error = -errno;
	return error < 0 ? refuse(diag, below, "work directory", error) : 0;
}

/* Best effort: where there is no memory for files the disk has to do. */
static void open_memory(struct work_root *root, uint64_t bytes)
{
	uint64_t available;

	work_owner_remove_dead(MACHINE_MEMORY_DIRECTORY);
	if (machine_disk(MACHINE_MEMORY_DIRECTORY, &available) < 0 || available < bytes ||
	    make_below(MACHINE_MEMORY_DIRECTORY, root->memory, NULL) < 0)
		root->memory[0] = '\0';
	else
		root->memory_mark = work_owner_mark(root->memory);
}

static int mark_disk(struct work_root *root, struct diag *diag)
{
	root->disk_mark = work_owner_mark(root->disk);
	return root->disk_mark < 0
		       ? refuse(diag, root->disk, "cannot be marked as ours", root->disk_mark)
		       : 0;
}

int work_root_open(struct work_root *root, const char *below, bool direct, uint64_t memory_bytes,
		   struct diag *diag)
{
	int error;

	*root = (struct work_root){.disk_mark = -1, .memory_mark = -1};
	if (!below)
		below = places_temporary();
	work_owner_remove_dead(below);
	error = make_below(below, root->disk, diag);
	if (error < 0)
		return error;
	error = try_out(root->disk, direct, diag);
	if (error == 0)
		error = mark_disk(root, diag);
	if (error < 0) {
		rmdir(root->disk);
		return error;
	}
	open_memory(root, memory_bytes);
	return 0;
}

void work_root_close(struct work_root *root)
{
	if (root->memory[0]) {
		work_owner_leave(root->memory, root->memory_mark);
		work_dir_remove(root->memory);
	}
	work_owner_leave(root->disk, root->disk_mark);
	if (root->kept)
		rmdir(root->disk); /* only if somebody emptied it */
	else
		work_dir_remove(root->disk);
}

int work_dir_make(const struct work_root *root, bool in_memory, unsigned number, char *path)
{
	const char *parent = in_memory && root->memory[0] ? root->memory : root->disk;

	snprintf(path, WORK_DIR_BYTES, "%.400s/%s%u", parent, in_memory ? "sim" : "job", number);
	if (mkdir(path, 0700) == 0)
		return 0;
	return errno == EEXIST ? work_dir_clean(path) : -errno;
}

int work_dir_clean(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? -errno : work_remove_inside(fd);
}

void work_dir_remove(const char *path)
{
	work_dir_clean(path);
	rmdir(path);
}

int work_dir_sync(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int error = fd < 0 || syncfs(fd) < 0 ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return error;
}

static bool is_zero(const char *bytes, size_t count)
{
	return !bytes[0] && memcmp(bytes, bytes + 1, count - 1) == 0;
}

/* Holes stay holes: what a sim case wrote may be sparse and look large. */
static int copy_file(int from, int to)
{
	char chunk[8192];
	off_t done = 0;
	ssize_t got;

	while (done < COPY_BYTES_MAX && (got = read(from, chunk, sizeof(chunk))) > 0) {
		if (!is_zero(chunk, (size_t)got) && pwrite(to, chunk, (size_t)got, done) != got)
			return -EIO;
		done += got;
	}
	return ftruncate(to, done) < 0 ? -errno : 0;
}

static int copy_entry(const char *from, const char *to, const char *name)
{
	char source[WORK_DIR_BYTES + 300], target[WORK_DIR_BYTES + 300];
	int in, out, error;

	snprintf(source, sizeof(source), "%s/%s", from, name);
	snprintf(target, sizeof(target), "%s/%s", to, name);
	in = open(source, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (in < 0)
		return -errno;
	out = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	error = out < 0 ? -errno : copy_file(in, out);
	close(in);
	if (out >= 0)
		close(out);
	return error;
}

static int copy_all(const char *from, const char *to)
{
	DIR *list = opendir(from);
	struct dirent *entry;
	int error = 0;

	if (!list)
		return -errno;
	while ((entry = readdir(list)))
		if (entry->d_type == DT_REG && error == 0)
			error = copy_entry(from, to, entry->d_name);
	closedir(list);
	return error;
}

int work_dir_keep(struct work_root *root, const char *path, const char *name, char *ret_path)
{
	int error = 0;

	snprintf(ret_path, WORK_DIR_BYTES, "%.380s/%.120s", root->disk, name);
	root->kept = true;
	if (rename(path, ret_path) == 0)
		return mkdir(path, 0700) < 0 ? -errno : 0;
	if (errno != EXDEV)
		return -errno;
	if (mkdir(ret_path, 0700) < 0)
		return -errno;
	error = copy_all(path, ret_path);
	work_dir_clean(path);
	return error;
}
