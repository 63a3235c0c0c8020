/* SPDX-License-Identifier: MIT */
/*
 * guest_stand_in.h - what a test of guests is inside of one: called as `swaptorture serve`, it
 * answers every line with what it sees.
 *
 * Threads: one thread.
 */
#ifndef GUEST_STAND_IN_H
#define GUEST_STAND_IN_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

static inline long read_attribute(const char *name, const char *attribute)
{
	char path[300], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/block/%s/%s", name, attribute);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strtol(text, NULL, 10);
}

/* The bytes at the beginning of the device, as the caller put them there. */
static inline json_t *first_word(const char *name)
{
	char path[300], text[4097] = "";
	int fd;

	snprintf(path, sizeof(path), "/dev/%s", name);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	if (fd >= 0)
		close(fd);
	return json_string(text);
}

/* Bytes read or written straight from or to the first disk, or -errno. What is written is the
 * letter @fill. */
static inline json_t *move(const json_t *question)
{
	static char bytes[1 << 20] __attribute__((aligned(4096)));
	const char *what = "", *fill = "";
	int offset = 0, length = 0, fd = open("/dev/nvme0n1", O_RDWR | O_DIRECT);
	ssize_t moved = fd < 0 ? -1 : 0;

	if (fd < 0 && errno == EACCES) /* read-only */
		fd = open("/dev/nvme0n1", O_RDONLY | O_DIRECT);
	if (json_unpack((json_t *)(uintptr_t)question, "{s:s, s:i, s:i, s?s}", "move", &what,
			"offset", &offset, "length", &length, "fill", &fill) < 0 ||
	    length > (int)sizeof(bytes))
		return json_pack("{s:s}", "moved", "question");
	memset(bytes, *fill, sizeof(bytes));
	if (fd >= 0 && strcmp(what, "read") == 0)
		moved = pread(fd, bytes, (size_t)length, offset);
	else if (fd >= 0 && strcmp(what, "write") == 0)
		moved = pwrite(fd, bytes, (size_t)length, offset);
	else if (fd >= 0)
		moved = fsync(fd);
	if (moved < 0)
		moved = -errno;
	if (fd >= 0)
		close(fd);
	return json_pack("{s:i}", "moved", (int)moved);
}

static inline json_t *disks(void)
{
	json_t *all = json_array();
	DIR *directory = opendir("/sys/block");
	struct dirent *entry;

	while (directory && (entry = readdir(directory))) {
		if (strncmp(entry->d_name, "nvme", 4) != 0)
			continue;
		json_array_append_new(
			all,
			json_pack("{s:i, s:i, s:o}", "sectors",
				  (int)read_attribute(entry->d_name, "size"), "sector_bytes",
				  (int)read_attribute(entry->d_name, "queue/logical_block_size"),
				  "word", first_word(entry->d_name)));
	}
	if (directory)
		closedir(directory);
	return all;
}

static inline void say(FILE *channel, json_t *line)
{
	json_dumpf(line, channel, JSON_COMPACT);
	fputc('\n', channel);
	fflush(channel);
	json_decref(line);
}

/* {"end":1} ends it, {"disks":1} asks for all disks, {"move":"read"|"write"|"flush",...} does that
 * to the first one; all else is said again. */
static inline int stand_in(void)
{
	static char text[64 * 1024];
	FILE *channel = fdopen(3, "r+");

	say(channel, json_pack("{s:i, s:s}", "hello", 1, "version", "test"));
	while (fgets(text, sizeof(text), channel)) {
		json_t *line = json_loads(text, 0, NULL);

		if (json_object_get(line, "end")) {
			json_decref(line);
			fclose(channel);
			return 3;
		}
		if (json_object_get(line, "disks"))
			say(channel, disks());
		else if (json_object_get(line, "move"))
			say(channel, move(line));
		else
			say(channel, json_pack("{s:O?}", "echo", line));
		json_decref(line);
	}
	return 4;
}

#endif /* GUEST_STAND_IN_H */
