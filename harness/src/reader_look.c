/* SPDX-License-Identifier: MIT */
/*
 * reader_look.c - reads a store as it is when the library verifies it: the damage that
 * docs/STORE.md says is there, and a sum of every file of the case, which verifying must not
 * change.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "reader.h"
#include "store_reader.h"

#define PIECE_BYTES ((size_t)256 * 1024)
#define DEPTH_MAX 8u

static void sum_text(XXH64_state_t *sum, const char *text)
{
	XXH64_update(sum, text, strlen(text) + 1);
}

/* That it cannot be read is part of what it is. */
static void sum_file(XXH64_state_t *sum, const char *path, const struct reader_job *job)
{
	static char piece[PIECE_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0) {
		XXH64_update(sum, &errno, sizeof(errno));
		return;
	}
	if (job->from_medium)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	do {
		got = read(fd, piece, sizeof(piece));
		if (got > 0)
			XXH64_update(sum, piece, (size_t)got);
	} while (got > 0 || (got < 0 && errno == EINTR));
	close(fd);
}

static bool is_itself(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static void sum_directory(XXH64_state_t *sum, const char *path, const struct reader_job *job,
			  unsigned depth)
{
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, NULL, alphasort);

	for (int i = 0; i < count; i++) {
		char below[STORE_PATH_BYTES];
		struct stat status;

		snprintf(below, sizeof(below), "%s/%s", path, entries[i]->d_name);
		if (!is_itself(entries[i]->d_name) && lstat(below, &status) == 0) {
			sum_text(sum, below);
			XXH64_update(sum, &status.st_mode, sizeof(status.st_mode));
			XXH64_update(sum, &status.st_size, sizeof(status.st_size));
			if (S_ISREG(status.st_mode))
				sum_file(sum, below, job);
			else if (S_ISDIR(status.st_mode) && depth < DEPTH_MAX)
				sum_directory(sum, below, job, depth + 1);
		}
		free(entries[i]);
	}
	free(entries);
}

/* All files of the case, and not of the store alone: verifying makes none either. */
static uint64_t sum_files(const struct reader_job *job)
{
	XXH64_state_t *sum = XXH64_createState();
	uint64_t value;

	if (!sum)
		return 0;
	XXH64_reset(sum, 0);
	sum_directory(sum, job->work_dir, job, 0);
	value = XXH64_digest(sum);
	XXH64_freeState(sum);
	return value;
}

/* Padding holds nothing that was stored. */
static void take_damage(void *arg, unsigned tensor, uint64_t offset, uint64_t length,
			const char *what)
{
	struct store_look *look = arg;
	struct look_range *last = look->ranges_count ? &look->ranges[look->ranges_count - 1] : NULL;

	(void)what;
	if (offset >= look->tensors[tensor].bytes)
		return;
	if (last && last->tensor == tensor && last->offset + last->length == offset) {
		last->length += length;
		return;
	}
	if (look->ranges_count == LOOK_RANGES_MAX) {
		look->cut = true;
		return;
	}
	look->ranges[look->ranges_count++] = (struct look_range){tensor, offset, length};
}

static void look_at_tensor(struct store_look *look, const struct store_group *group, unsigned index)
{
	const struct store_tensor *stored = &group->manifest->tensors[index];
	struct look_tensor *tensor = &look->tensors[look->tensors_count++];
	uint64_t begin = store_group_tensor_offset(group, index);

	*tensor = (struct look_tensor){
		.bytes = stored->bytes,
		.begin = begin,
		.end = begin + store_padded(stored->bytes),
	};
	snprintf(tensor->name, sizeof(tensor->name), "%s", stored->name);
	if (store_group_check(group, index, take_damage, look) < 0)
		look->error = -ENOMEM;
}

static void look_at_group(struct store_look *look, const struct store_group *group)
{
	const struct store_manifest *manifest = group->manifest;

	look->chunk_bytes = manifest->chunk_bytes;
	for (unsigned i = 0; i < manifest->count; i++) {
		if (look->tensors_count == WORKLOAD_TENSORS_MAX) {
			look->cut = true;
			return;
		}
		look_at_tensor(look, group, i);
	}
}

/* What was open has a record, whether or not anything is stored. */
static bool has_record(const char *store)
{
	char path[STORE_PATH_BYTES + 16];

	snprintf(path, sizeof(path), "%s/swapio.store", store);
	return access(path, F_OK) == 0;
}

/* The library says which store it verified: the one that is open. */
static void look_at_store(const struct reader_job *job, struct store_look *look)
{
	const struct outcome_verify *verify = &job->outcome->verifies[look->verify];
	const char *name = job->workload->store.group;
	struct store_group *group = NULL;
	char path[STORE_PATH_BYTES];
	struct store_place place = {.path = path};

	snprintf(path, sizeof(path), "%s/%s", job->work_dir, verify->place);
	look->volume_sum = store_record_sum(name, strlen(name));
	look->error = store_group_open(&place, name, &group, look->text);
	if (look->error == -ENOENT && !has_record(path))
		look->error = -EBADMSG;
	if (look->error == 0 && job->from_medium)
		posix_fadvise(group->fd, 0, 0, POSIX_FADV_DONTNEED);
	if (look->error == 0)
		look_at_group(look, group);
	store_group_close(group);
}

void reader_look(const struct reader_job *job)
{
	struct store_look *look = job->look;

	if (job->before) {
		look->sum_before = sum_files(job);
		return;
	}
	look->sum_after = sum_files(job);
	if (job->outcome->verifies_count == 0)
		return; /* it could not, which is told */
	look->verify = job->outcome->verifies_count - 1;
	look_at_store(job, look);
}

int looks_add(struct store_looks *looks, const struct store_look *look)
{
	if (looks->count == looks->room) {
		unsigned room = looks->room ? looks->room * 2 : 4;
		struct store_look *items = realloc(looks->items, room * sizeof(*items));

		if (!items)
			return -ENOMEM;
		looks->items = items;
		looks->room = room;
	}
	looks->items[looks->count++] = *look;
	return 0;
}

void looks_free(struct store_looks *looks)
{
	free(looks->items);
	*looks = (struct store_looks){0};
}
