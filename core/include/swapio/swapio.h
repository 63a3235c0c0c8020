/* SPDX-License-Identifier: MIT */
/*
 * swapio.h - the whole library in one include.
 *
 * Threads: see each header.
 */
#ifndef SWAPIO_SWAPIO_H
#define SWAPIO_SWAPIO_H

#include "swapio/buffer.h"
#include "swapio/error.h"
#include "swapio/handle.h"
#include "swapio/io.h"
#include "swapio/store.h"
#include "swapio/swap.h"

#define SWAPIO_VERSION_MAJOR 0
#define SWAPIO_VERSION_MINOR 1
#define SWAPIO_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/**
 * swapio_version() - the version of the library that is loaded
 *
 * Return: static string, "MAJOR.MINOR.PATCH"
 * Since:  0.1
 */
const char *swapio_version(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif /* SWAPIO_SWAPIO_H */
