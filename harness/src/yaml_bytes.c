/* SPDX-License-Identifier: MIT */
/*
 * yaml_bytes.c - reading a file of bounded size, and the check of its bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "yaml_bytes.h"

/* Bytes of the UTF-8 character at @text, 0 if it is none (overlong, surrogate, cut off). */
static size_t utf8_length(const unsigned char *text, size_t bytes)
{
	static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length = text[0] < 0x80	 ? 1
			: text[0] < 0xc2 ? 0
			: text[0] < 0xe0 ? 2
			: text[0] < 0xf0 ? 3
			: text[0] < 0xf5 ? 4
					 : 0;
	uint32_t character;

	if (length <= 1)
		return length;
	if (length > bytes)
		return 0;
	character = text[0] & (0x7fu >> length);
	for (size_t i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		character = character << 6 | (text[i] & 0x3fu);
	}
	if (character < least[length] || character > 0x10ffff ||
	    (character >= 0xd800 && character < 0xe000))
		return 0;
	return length;
}

static bool is_control(unsigned char byte)
{
	return (byte < 0x20 && byte != '\n' && byte != '\r') || byte == 0x7f;
}

int yaml_bytes_check(const char *text, size_t bytes, const char *path, struct diag *diag)
{
	const unsigned char *rest = (const unsigned char *)text;
	unsigned line = 1, column = 1;

	for (size_t at = 0; at < bytes;) {
		size_t length = utf8_length(rest + at, bytes - at);

		if (!length)
			return diag_set(diag, path, line, column, "byte 0x%02x is no UTF-8",
					rest[at]);
		if (rest[at] == '\t')
			return diag_set(diag, path, line, column, "tab: use spaces");
		if (is_control(rest[at]))
			return diag_set(diag, path, line, column,
					"control character 0x%02x is not allowed", rest[at]);
		column++;
		if (rest[at] == '\n') {
			line++;
			column = 1;
		}
		at += length;
	}
	return 0;
}

static int refuse_file(const char *path, int error, struct diag *diag)
{
	diag_set(diag, path, 0, 0, "%s", strerror(error));
	return -error;
}

static int read_all(int fd, char *text, size_t bytes_max, size_t *ret_bytes)
{
	size_t bytes = 0;

	while (bytes < bytes_max) {
		ssize_t count = read(fd, text + bytes, bytes_max - bytes);

		if (count < 0 && errno == EINTR)
			continue;
		if (count < 0)
			return -errno;
		if (count == 0)
			break;
		bytes += (size_t)count;
	}
	*ret_bytes = bytes;
	return 0;
}

static int read_open_file(int fd, const char *path, size_t bytes_max, char **ret_text,
			  size_t *ret_bytes, struct diag *diag)
{
	struct stat status;
	char *text;
	int result;

	if (fstat(fd, &status) < 0)
		return refuse_file(path, errno, diag);
	if (!S_ISREG(status.st_mode))
		return diag_set(diag, path, 0, 0, "must be a regular file");
	text = malloc(bytes_max + 2);
	if (!text)
		return refuse_file(path, ENOMEM, diag);
	result = read_all(fd, text, bytes_max + 1, ret_bytes);
	if (result < 0)
		refuse_file(path, -result, diag);
	else if (*ret_bytes > bytes_max)
		result = diag_set(diag, path, 0, 0, "longer than %zu bytes", bytes_max);
	if (result < 0) {
		free(text);
		return result;
	}
	text[*ret_bytes] = '\0';
	*ret_text = text;
	return 0;
}

int yaml_bytes_read(const char *path, size_t bytes_max, char **ret_text, size_t *ret_bytes,
		    struct diag *diag)
{
	/* Non-blocking, so that a FIFO without a writer is refused instead of waited for. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int result;

	if (fd < 0)
		return refuse_file(path, errno, diag);
	result = read_open_file(fd, path, bytes_max, ret_text, ret_bytes, diag);
	close(fd);
	return result;
}
