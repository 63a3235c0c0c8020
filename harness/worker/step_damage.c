/* SPDX-License-Identifier: MIT */
/*
 * step_damage.c - what happens to a store outside of the library: bytes flipped, volumes cut,
 * removed, and replaced by those of another store or another time. The independent reader says
 * where the bytes lie.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "raw.h"
#include "store_reader.h"
#include "swap.h"

#define PIECE_BYTES 65536u
#define PATH_BYTES 512

static const char *place_now(void)
{
	return kept.place[0] ? kept.place : WORKLOAD_STORE_PLACE;
}

static struct store_group *find_group(const char *what)
{
	struct store_place place = {.path = place_now()};
	struct store_group *group = NULL;
	char text[STORE_TEXT_BYTES];

	if (store_group_open(&place, worker.workload.store.group, &group, text) < 0)
		tell_broken("%s: %s", what, text);
	return group;
}

/* Make what was changed durable, so that direct reads see it, and tell what went wrong. */
static void finish_file(const char *what, const char *path, int fd, long error)
{
	if (error >= 0 && syscall(SYS_fdatasync, fd) < 0)
		error = -errno;
	if (error < 0)
		tell_broken("%s %s: %s", what, path, strerror((int)-error));
	if (fd >= 0)
		raw_close(fd);
}

static long flip(int fd, uint64_t offset)
{
	char byte;
	long moved = raw_pread(fd, &byte, 1, offset);

	if (moved == 1) {
		byte ^= 1;
		moved = raw_pwrite(fd, &byte, 1, offset);
	}
	return moved == 1 ? 0 : moved < 0 ? moved : -ENODATA;
}

static void flip_in(const char *path, uint64_t offset)
{
	int fd = raw_open(path, O_RDWR, 0);

	finish_file("corrupt", path, fd, fd < 0 ? fd : flip(fd, offset));
}

static void flip_tensors(const struct step *step, const struct store_group *group)
{
	for (unsigned i = 0; i < worker.workload.tensors_count; i++) {
		const char *name = worker.workload.tensors[i].name;
		int index = step_has(step, i) ? store_group_find(group, name) : -ENOENT;

		if (index >= 0)
			flip_in(group->path,
				store_group_tensor_offset(group, (unsigned)index) + step->bytes);
		else if (step_has(step, i))
			tell_broken("corrupt: no tensor %s is stored", name);
	}
}

static void record_path(char path[PATH_BYTES])
{
	snprintf(path, PATH_BYTES, "%s/swapio.store", place_now());
}

void step_store_corrupt(const struct step *step)
{
	struct store_group *group;
	char path[PATH_BYTES];

	if (step->part == STORE_PART_RECORD) {
		record_path(path);
		flip_in(path, step->bytes);
		return;
	}
	group = find_group("corrupt");
	if (!group)
		return;
	if (step->part == STORE_PART_DATA)
		flip_tensors(step, group);
	else if (step->part == STORE_PART_MANIFEST)
		flip_in(group->path, store_group_slot_offset(group, group->slot) + step->bytes);
	else
		flip_in(group->path, group->base + step->bytes);
	store_group_close(group);
}

/* The volume ends with byte @bytes of the first tensor that is named, or of itself. */
void step_store_truncate(const struct step *step)
{
	struct store_group *group = find_group("truncate");
	uint64_t end = step->bytes;
	int fd;

	if (!group)
		return;
	for (unsigned i = 0; step->tensors && i < worker.workload.tensors_count; i++) {
		int index = step_has(step, i)
				    ? store_group_find(group, worker.workload.tensors[i].name)
				    : -ENOENT;

		if (index < 0)
			continue;
		end = store_group_tensor_offset(group, (unsigned)index) + step->bytes;
		break;
	}
	fd = raw_open(group->path, O_RDWR, 0);
	finish_file("truncate", group->path, fd, fd < 0 ? fd : raw_truncate(fd, end));
	store_group_close(group);
}

static void clear_manifest(const struct store_group *group)
{
	static const char zeros[4096];
	int fd = raw_open(group->path, O_RDWR, 0);
	uint64_t at = store_group_slot_offset(group, group->slot);
	long error = fd;

	for (uint64_t done = 0; error >= 0 && done < group->slot_bytes; done += sizeof(zeros))
		error = raw_pwrite(fd, zeros, sizeof(zeros), at + done);
	finish_file("remove", group->path, fd, error);
}

static void unlink_path(const char *path)
{
	int error = raw_unlink(path);

	if (error < 0)
		tell_broken("remove %s: %s", path, strerror(-error));
}

void step_store_remove(const struct step *step)
{
	struct store_group *group;
	char path[PATH_BYTES];

	if (step->part == STORE_PART_RECORD) {
		record_path(path);
		unlink_path(path);
		return;
	}
	group = find_group("remove");
	if (!group)
		return;
	if (step->part == STORE_PART_MANIFEST)
		clear_manifest(group);
	else
		unlink_path(group->path);
	store_group_close(group);
}

static long copy_bytes(int from, int to)
{
	static char piece[PIECE_BYTES];
	uint64_t at = 0;
	long moved;

	while ((moved = raw_pread(from, piece, sizeof(piece), at)) > 0) {
		long put = raw_pwrite(to, piece, (size_t)moved, at);

		if (put != moved)
			return put < 0 ? put : -EIO;
		at += (uint64_t)moved;
	}
	return moved;
}

static void copy_file(const char *from, const char *to)
{
	int source = raw_open(from, O_RDONLY, 0);
	int target = raw_open(to, O_RDWR | O_CREAT | O_TRUNC, 0666);
	long error = source < 0 ? source : target;

	if (error >= 0)
		error = copy_bytes(source, target);
	finish_file("copy-volume", to, target, error);
	if (source >= 0)
		raw_close(source);
}

/* Call @each for every volume of the group in a directory. */
static unsigned each_volume(const char *place, const char *to,
			    void (*each)(const char *path, const char *to))
{
	const char *group = worker.workload.store.group;
	char prefix[32], path[PATH_BYTES], target[PATH_BYTES];
	DIR *directory = opendir(place);
	struct dirent *entry;
	unsigned count = 0;

	snprintf(prefix, sizeof(prefix), "%016" PRIx64 "-", store_record_sum(group, strlen(group)));
	while (directory && (entry = readdir(directory))) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%.200s", place, entry->d_name);
		snprintf(target, sizeof(target), "%s/%.200s", to, entry->d_name);
		each(path, target);
		count++;
	}
	if (directory)
		closedir(directory);
	return count;
}

static void drop_file(const char *path, const char *to)
{
	(void)to;
	unlink_path(path);
}

void step_copy_volume(const struct step *step)
{
	if (syscall(SYS_mkdirat, AT_FDCWD, step->to, 0777) < 0 && errno != EEXIST)
		tell_broken("copy-volume: %s: %s", step->to, strerror(errno));
	each_volume(step->to, step->to, drop_file);
	if (each_volume(step->from, step->to, copy_file) == 0)
		tell_broken("copy-volume: there is no volume in %s", step->from);
}
