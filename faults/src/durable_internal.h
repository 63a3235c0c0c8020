/* SPDX-License-Identifier: MIT */
/*
 * durable_internal.h - the journal of effects that are not durable yet, as its files share it. It
 * lies in memory that forked children share, and in a file of the harness's where a later process
 * of the case goes on with it; who looks at it holds its lock.
 *
 * Threads: any process and thread of the case, under the lock.
 */
#ifndef SWAPFAULT_DURABLE_INTERNAL_H
#define SWAPFAULT_DURABLE_INTERNAL_H

#include <sys/stat.h>

#include "durable.h"

#define DURABLE_RECORDS_BYTES ((size_t)256 << 20) /* reserved, not taken until used */
#define DURABLE_FILES_MAX 1024u
#define DURABLE_NO_FILE UINT32_MAX
#define DURABLE_NOBODY (-1) /* holds a file that an earlier process did */

enum durable_kind {
	DURABLE_SECTOR,	  /* the contents of one sector */
	DURABLE_GROW,	  /* a file became larger */
	DURABLE_CUT,	  /* a file became smaller, or its end was moved */
	DURABLE_CREATE,	  /* a name appeared */
	DURABLE_RENAME,	  /* a name was moved, perhaps over another */
	DURABLE_EXCHANGE, /* two names changed places */
	DURABLE_UNLINK,	  /* a name went away */
	DURABLE_MKDIR,	  /* a directory appeared, and with it all that is in it */
};

struct durable_record {
	uint64_t bytes;	 /* all of it, a multiple of 8 */
	uint8_t kind;	 /* enum durable_kind */
	bool live;	 /* not durable yet */
	bool dropped;	 /* the crash takes it back */
	uint8_t pending; /* names: bit i: the directory of names[i] was not synced since */
	uint32_t file;	 /* whose data; names: what the (last) name stood for, or DURABLE_NO_FILE */
	uint64_t offset_bytes; /* where the old contents begin */
	uint64_t size_bytes;   /* GROW, CUT: of the file before */
	uint64_t old_bytes;    /* length of the old contents */
	char payload[];	       /* old contents, or struct durable_names */
};

struct durable_directory {
	uint64_t device, inode;
};

struct durable_names {
	unsigned count;
	unsigned at[2]; /* of each absolute path in text */
	struct durable_directory directory[2];
	char text[];
};

/* A file with effects, kept open so that it stays what it was whatever becomes of its name. */
struct durable_file {
	uint64_t device, inode;
	mode_t mode;
	int pid, fd; /* whose descriptor; pid 0: the place is free */
};

struct durable_journal {
	_Atomic uint32_t lock;
	char broken[64]; /* why it is not complete; "": it is */
	uint64_t used_bytes;
	struct durable_file files[DURABLE_FILES_MAX];
	_Alignas(8) char records[];
};

extern struct durable_journal *durable_journal;

/* durable.c */
struct simlock_guard durable_lock(void);
void durable_unlock(const struct simlock_guard *guard);
bool durable_step_enter(struct durable_step *step, uint8_t act);
/* From here on no crash can be shown: what is kept is not all. */
void durable_give_up(const char *why);

/* durable_journal.c: NULL: no room, and the journal has given up. */
struct durable_record *durable_append(enum durable_kind kind, uint32_t file, size_t payload_bytes);
struct durable_record *durable_first(void);
struct durable_record *durable_next(struct durable_record *record);
static inline bool durable_is_name(const struct durable_record *record)
{
	return record->kind >= DURABLE_CREATE;
}
static inline struct durable_names *durable_names_of(struct durable_record *record)
{
	return (struct durable_names *)(void *)record->payload;
}

/* durable_files.c */
uint32_t durable_file_at(int fd); /* of any kind of descriptor, O_PATH too; DURABLE_NO_FILE */
uint32_t durable_file_known(const struct stat *status); /* without taking hold of it */
uint32_t durable_file_hold(uint32_t place, int fd, const struct stat *status);
int durable_file_open(uint32_t file); /* to read and write, whoever holds it; -errno */
void durable_files_forget(void);      /* those without effects */
void durable_files_release(void);     /* hold none of them any more */

/* durable_adopt.c: go on with what an earlier process left in the journal. */
void durable_adopt(void);

/* durable_data.c */
void durable_keep_cut(int fd, uint64_t from_bytes, uint64_t size_bytes);
void durable_data_end(const struct durable_step *step, bool succeeded);

/* durable_names.c */
void durable_names_end(const struct durable_step *step, bool succeeded);
void durable_names_forget(void);
void durable_directory_synced(const struct stat *status);

/* durable_draw.c: choose what is dropped; how much that is. */
struct durable_count {
	unsigned dropped, live;
};
struct durable_count durable_draw(uint64_t seed);

/* durable_undo.c: 0, -errno */
int durable_undo_all(void);

/* durable_tree.c: a directory goes, with all that is in it. 0 when it is not there, too; -errno. */
int durable_tree_remove(const char *path);
/* Call @visit for everything below @path but directories, until it returns less than 0; that. */
typedef int durable_visit(int at, const char *name);
int durable_tree_visit(const char *path, durable_visit *visit);

enum durable_act {
	DURABLE_ACT_WRITE,
	DURABLE_ACT_RESIZE,
	DURABLE_ACT_SYNC,
	DURABLE_ACT_OPEN,
	DURABLE_ACT_RENAME,
	DURABLE_ACT_UNLINK,
	DURABLE_ACT_MKDIR,
};

#endif /* SWAPFAULT_DURABLE_INTERNAL_H */
