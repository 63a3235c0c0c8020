/* SPDX-License-Identifier: MIT */
/*
 * schedule_effect.c - what a correct program must do about one fault as it is configured.
 * points.def says it of the kind; here is where the argument or the persistence changes that.
 */
#include <errno.h>

#include "schedule.h"

/* It never ends, whatever the program does: trying again cannot help. */
static bool persists(const struct fault *fault)
{
	return fault->when.last == SCHEDULE_ANY && fault->when.step == 1 &&
	       fault->depth == SCHEDULE_ANY;
}

/* Trying again cures what passes; nothing cures what stays. */
static enum effect unless_persistent(const struct fault *fault, enum effect otherwise)
{
	return persists(fault) ? otherwise : EFFECT_TRANSPARENT;
}

/* EAGAIN: a smaller queue may be had. */
static enum effect setup_error(const struct fault *fault)
{
	return fault->value == EAGAIN ? unless_persistent(fault, EFFECT_FAILS_ALL)
				      : EFFECT_FAILS_ALL;
}

/* EAGAIN: reap and retry. Others are about the first request of the batch, each time anew. */
static enum effect submit_error(const struct fault *fault)
{
	if (fault->value == EAGAIN)
		return unless_persistent(fault, EFFECT_FAILS_ALL);
	return persists(fault) ? EFFECT_FAILS_ALL : EFFECT_FAILS_ONE;
}

/* Of the two wait calls one is left to fall back on, when one call only is hit. */
static enum effect wait_error(const struct fault *fault)
{
	bool one_hit = fault->call != FAULT_CALL_ANY || fault->when.first == fault->when.last ||
		       fault->point == POINT_io_pgetevents;

	switch (fault->value) {
	case EINTR:
		return unless_persistent(fault, EFFECT_FAILS_ALL);
	case ENOSYS:
	case EPERM:
		return one_hit ? EFFECT_TRANSPARENT : EFFECT_FAILS_ALL;
	}
	return EFFECT_FAILS_ALL;
}

/* With nothing ready in any wait, which is what is meant where nothing is said, no event ever
 * comes. A signal that does not interrupt lets them through. */
static enum effect wait_interrupted(const struct fault *fault)
{
	bool some_ready = fault->ready != SCHEDULE_ANY && fault->ready > 0;

	if (some_ready || fault->masked || fault->ignored)
		return EFFECT_TRANSPARENT;
	return unless_persistent(fault, EFFECT_FAILS_ALL);
}

/* Resumed until done, unless every attempt reports nothing. */
static enum effect fewer_bytes(const struct fault *fault)
{
	if (fault->value < 0)
		return EFFECT_FAILS_ONE;
	if (fault->length.begin > (uint64_t)fault->value)
		return EFFECT_TRANSPARENT;
	return unless_persistent(fault, EFFECT_FAILS_ONE);
}

/* Direct I/O that is refused is done without; calls that were interrupted are called again. */
static enum effect file_error(const struct fault *fault)
{
	if (fault->direct && (fault->value == EINVAL || fault->value == EOPNOTSUPP))
		return EFFECT_TRANSPARENT;
	if (fault->value == EINTR)
		return unless_persistent(fault, EFFECT_FAILS_ONE);
	return kind_info(fault->kind)->effect;
}

enum effect fault_effect(const struct fault *fault)
{
	switch ((unsigned)fault->kind) {
	case KIND_io_setup_error:
		return setup_error(fault);
	case KIND_io_submit_error:
		return submit_error(fault);
	case KIND_io_submit_accept:
	case KIND_io_getevents_few:
		return fault->value ? EFFECT_TRANSPARENT
				    : unless_persistent(fault, EFFECT_FAILS_ALL);
	case KIND_io_getevents_error:
	case KIND_io_pgetevents_error:
		return wait_error(fault);
	case KIND_io_getevents_signal:
	case KIND_io_getevents_stop:
	case KIND_io_getevents_attach:
		return wait_interrupted(fault);
	case KIND_io_event_short:
	case KIND_io_event_lie:
	case KIND_pread_short:
	case KIND_pwrite_short:
		return fewer_bytes(fault);
	case KIND_io_event_zero:
		return unless_persistent(fault, EFFECT_FAILS_ONE);
	case KIND_io_event_hold:
	case KIND_nvme_read_hold:
	case KIND_nvme_write_hold:
		return fault->until == FAULT_UNTIL_NEVER ? EFFECT_FAILS_ONE : EFFECT_TRANSPARENT;
	case KIND_nvme_flush_hold:
		return fault->until == FAULT_UNTIL_NEVER ? EFFECT_FAILS_ALL : EFFECT_TRANSPARENT;
	case KIND_open_error:
	case KIND_pread_error:
	case KIND_pwrite_error:
	case KIND_ftruncate_error:
	case KIND_fallocate_error:
	case KIND_fsync_error:
		return file_error(fault);
	}
	return kind_info(fault->kind)->effect;
}

bool fault_is_device(const struct fault *fault)
{
	return point_is_device(fault->point);
}

const struct fault *schedule_find_device(const struct schedule *schedule)
{
	for (unsigned i = 0; i < schedule->count; i++)
		if (fault_is_device(&schedule->faults[i]))
			return &schedule->faults[i];
	return NULL;
}

bool fault_removes(const struct fault *fault)
{
	return fault->kind == KIND_nvme_read_remove || fault->kind == KIND_nvme_write_remove ||
	       fault->kind == KIND_nvme_flush_remove;
}

const char *fault_removal_name(enum fault_removal way)
{
	static const char *const names[FAULT_REMOVALS] = {"surprise", "orderly"};

	return names[way];
}

const struct fault *schedule_find_removal(const struct schedule *schedule)
{
	for (unsigned i = 0; i < schedule->count; i++)
		if (fault_removes(&schedule->faults[i]))
			return &schedule->faults[i];
	return NULL;
}

bool fault_crashes(const struct fault *fault)
{
	switch ((unsigned)fault->kind) {
	case KIND_io_submit_crash:
	case KIND_io_event_crash:
	case KIND_open_crash:
	case KIND_pwrite_crash:
	case KIND_ftruncate_crash:
	case KIND_fsync_crash:
	case KIND_rename_crash:
	case KIND_unlink_crash:
		return true;
	}
	return false;
}

bool fault_kills(const struct fault *fault)
{
	switch ((unsigned)fault->kind) {
	case KIND_io_submit_kill:
	case KIND_io_event_kill:
	case KIND_open_kill:
	case KIND_pwrite_kill:
	case KIND_ftruncate_kill:
	case KIND_fsync_kill:
	case KIND_rename_kill:
	case KIND_unlink_kill:
		return true;
	}
	return false;
}

bool fault_cuts_power(const struct fault *fault)
{
	return fault->kind == KIND_nvme_read_powercut || fault->kind == KIND_nvme_write_powercut ||
	       fault->kind == KIND_nvme_flush_powercut;
}

bool schedule_cuts_power(const struct schedule *schedule)
{
	for (unsigned i = 0; i < schedule->count; i++)
		if (fault_cuts_power(&schedule->faults[i]))
			return true;
	return false;
}

bool fault_ends_process(const struct fault *fault)
{
	return fault_crashes(fault) || fault_kills(fault) || fault_cuts_power(fault);
}

unsigned fault_image(const struct fault *fault)
{
	return fault->image == SCHEDULE_ANY ? 1 : (unsigned)fault->image;
}

unsigned schedule_images(const struct schedule *schedule)
{
	unsigned images = 1;

	for (unsigned i = 0; i < schedule->count; i++)
		if (fault_image(&schedule->faults[i]) > images)
			images = fault_image(&schedule->faults[i]);
	return images;
}
