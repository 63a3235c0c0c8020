/* SPDX-License-Identifier: MIT */
/*
 * tool_text.c - names of groups and tensors may be any bytes: what of them a terminal and JSON are
 * given.
 */
#include <stdio.h>
#include <string.h>

#include "points.h"
#include "tool.h"

#define NAME_ROOM (4 * SWAPIO_NAME_BYTES_MAX + 1)

/* Bytes of the character that begins here, 0 if it is none. */
static size_t character_bytes(const char *at)
{
	static const unsigned char masks[] = {0, 0x80, 0xe0, 0xf0, 0xf8};
	unsigned char first = (unsigned char)*at;
	size_t bytes = first < 0x80   ? 1
		       : first < 0xc2 ? 0
		       : first < 0xe0 ? 2
		       : first < 0xf0 ? 3
				      : 4;
	char text[5] = "";
	json_t *string;

	if (!bytes || (bytes == 4 && (first & masks[4]) != 0xf0))
		return 0;
	snprintf(text, bytes + 1, "%s", at);
	string = json_string(text);
	json_decref(string);
	return string && strlen(text) == bytes ? bytes : 0;
}

const char *tool_name(const char *name)
{
	static char text[NAME_ROOM];
	size_t at = 0;

	while (*name && at + 5 < sizeof(text)) {
		size_t bytes = character_bytes(name);

		if (bytes == 0 || (unsigned char)*name < 0x20 || *name == 0x7f) {
			at += (size_t)snprintf(text + at, sizeof(text) - at, "\\x%02x",
					       (unsigned char)*name++);
			continue;
		}
		memcpy(text + at, name, bytes);
		at += bytes;
		name += bytes;
	}
	text[at] = '\0';
	return text;
}

json_t *tool_json_name(const char *name)
{
	json_t *string = json_string(name);

	return string ? string : json_string(tool_name(name));
}

json_t *tool_json_error(int error)
{
	const char *name = errno_name(-error);

	return name ? json_string(name) : json_null();
}

void tool_json_print(json_t *object)
{
	json_dumpf(object, stdout, JSON_COMPACT | JSON_PRESERVE_ORDER);
	putchar('\n');
	json_decref(object);
}
