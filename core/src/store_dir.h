/* SPDX-License-Identifier: MIT */
/*
 * store_dir.h - names in the directory of a store, and what its two files share.
 */
#ifndef SWAPIOI_STORE_DIR_H
#define SWAPIOI_STORE_DIR_H

#include <dirent.h>

#include "store.h"

#define RECORD_NAME "swapio.store"
#define RECORD_NAME_NEW "swapio.store.new"

/* A volume is called so until it is whole. */
#define VOLUME_NEW_SUFFIX ".new"
#define VOLUME_NEW_NAME_BYTES (VOLUME_NAME_BYTES + sizeof(VOLUME_NEW_SUFFIX))

/* Open, lock and read the record of the directory store->medium.place_fd; make it if asked to. */
int swapioi_dir_record(struct swapio_store *store, struct swapio_error *error);

/* Is it still there, and the same? medium_ops.check */
int swapioi_dir_record_check(struct swapio_store *store, struct swapio_error *error);

/* List a directory from its start, whatever was read from @dir_fd; NULL and errno. */
DIR *swapioi_dir_list(int dir_fd);

/* Is it the name of a volume that is not whole? */
bool swapioi_dir_name_is_new(const char *name);

#endif /* SWAPIOI_STORE_DIR_H */
