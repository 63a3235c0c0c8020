/* SPDX-License-Identifier: MIT */
/*
 * error.h - what a failed call says in words.
 *
 * Threads: a struct swapio_error belongs to one caller; nothing here is shared.
 */
#ifndef SWAPIO_ERROR_H
#define SWAPIO_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes in swapio_error.text, the terminating NUL included. */
#define SWAPIO_ERROR_TEXT_BYTES 512

/**
 * struct swapio_error - the sentence behind a negative return value
 * @code: the same -errno that the call returned, 0 if nothing failed
 * @text: one sentence without a full stop that names the option or the path, its
 *        value and what is allowed; NUL-terminated, cut at the array's end
 *
 * Caller storage. Every function that takes one accepts NULL instead. Written only
 * when the call fails.
 */
struct swapio_error {
	int code;
	char text[SWAPIO_ERROR_TEXT_BYTES];
};

#ifdef __cplusplus
}
#endif
#endif /* SWAPIO_ERROR_H */
