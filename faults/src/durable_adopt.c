/* SPDX-License-Identifier: MIT */
/*
 * durable_adopt.c - the journal of a process that is gone becomes ours: what it wrote and never
 * made durable can still be lost. The files that it held open are found again by their names; one
 * that has none any more cannot be, and then no crash can be shown.
 */
#include <fcntl.h>

#include "durable_internal.h"
#include "runtime.h"

/* Whoever held the lock is gone with the rest. */
static void disown(void)
{
	atomic_store(&durable_journal->lock, 0);
	for (uint32_t i = 0; i < DURABLE_FILES_MAX; i++)
		if (durable_journal->files[i].pid)
			durable_journal->files[i].pid = DURABLE_NOBODY;
	durable_files_forget();
}

static int take_if_known(int at, const char *name)
{
	struct stat status;
	uint32_t file;
	long fd;

	if (raw_call(SYS_newfstatat, at, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(status.st_mode))
		return 0;
	file = durable_file_known(&status);
	if (file == DURABLE_NO_FILE || durable_journal->files[file].pid != DURABLE_NOBODY)
		return 0;
	fd = raw_call(SYS_openat, at, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return (int)fd;
	durable_file_hold(file, (int)fd, &status);
	raw_call(SYS_close, fd);
	return 0;
}

void durable_adopt(void)
{
	disown();
	if (durable_journal->broken[0])
		return;
	if (durable_tree_visit(runtime_config()->work_dir, take_if_known) < 0)
		durable_give_up("the files of the process before cannot be looked for");
	for (uint32_t i = 0; i < DURABLE_FILES_MAX; i++)
		if (durable_journal->files[i].pid == DURABLE_NOBODY)
			durable_give_up("a file of the process before has no name any more");
}
