/* SPDX-License-Identifier: MIT */
/*
 * error.c - sentences for failures and for results.
 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "swapio/swapio.h"

int swapioi_error(struct swapio_error *error, int code, const char *format, ...)
{
	va_list args;

	if (!error)
		return code;
	error->code = code;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return code;
}

const char *swapioi_errno_text(int number, char text[ERRNO_TEXT_BYTES])
{
	return strerror_r(number, text, ERRNO_TEXT_BYTES);
}

const char *swapio_cause_name(enum swapio_cause cause)
{
	switch (cause) {
	case SWAPIO_CAUSE_NONE:
		return "none";
	case SWAPIO_CAUSE_DEVICE:
		return "device";
	case SWAPIO_CAUSE_SUBMIT:
		return "submit";
	case SWAPIO_CAUSE_EOF:
		return "eof";
	case SWAPIO_CAUSE_NO_PROGRESS:
		return "no-progress";
	case SWAPIO_CAUSE_PROTOCOL:
		return "protocol";
	case SWAPIO_CAUSE_CANCELLED:
		return "cancelled";
	case SWAPIO_CAUSE_FILE:
		return "file";
	case SWAPIO_CAUSE_WAIT:
		return "wait";
	}
	return "unknown";
}

/* What the stage means to somebody who does not know the library. */
static const char *cause_sentence(enum swapio_cause cause)
{
	switch (cause) {
	case SWAPIO_CAUSE_NONE:
		return "no failure";
	case SWAPIO_CAUSE_DEVICE:
		return "the device or file system failed it";
	case SWAPIO_CAUSE_SUBMIT:
		return "the kernel did not accept it";
	case SWAPIO_CAUSE_EOF:
		return "the file ends before";
	case SWAPIO_CAUSE_NO_PROGRESS:
		return "completions moved no byte";
	case SWAPIO_CAUSE_PROTOCOL:
		return "a completion reported more bytes than were asked for";
	case SWAPIO_CAUSE_CANCELLED:
		return "cancelled before it was submitted";
	case SWAPIO_CAUSE_FILE:
		return "the size of the file could not be read or set";
	case SWAPIO_CAUSE_WAIT:
		return "waiting for completions failed for good, so what moved is not known";
	}
	return "unknown cause";
}

int swapio_result_text(const struct swapio_result *result, char *text, size_t text_bytes)
{
	char errno_text[ERRNO_TEXT_BYTES];

	if (!result->error)
		return snprintf(text, text_bytes, "request %llu: ok, %llu bytes%s",
				(unsigned long long)result->id, (unsigned long long)result->bytes,
				result->buffered ? ", buffered" : "");
	return snprintf(text, text_bytes,
			"request %llu: %s at offset %llu, %llu bytes not moved, %llu moved: "
			"%s (%s, status %lld)",
			(unsigned long long)result->id,
			swapioi_errno_text(-result->error, errno_text),
			(unsigned long long)result->fail_offset_bytes,
			(unsigned long long)result->fail_length_bytes,
			(unsigned long long)result->bytes, cause_sentence(result->cause),
			swapio_cause_name(result->cause), (long long)result->raw_status);
}

const char *swapio_version(void)
{
#define TEXT(x) #x
#define VERSION(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)
	return VERSION(SWAPIO_VERSION_MAJOR, SWAPIO_VERSION_MINOR, SWAPIO_VERSION_PATCH);
}
