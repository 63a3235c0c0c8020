/* SPDX-License-Identifier: MIT */
/*
 * statx_call.c - statx() is the point `fstat`, too, and the one call that tells how direct I/O must
 * be aligned: in sim it tells of the modelled device, and under `nodio` of none.
 */
#include "interpose.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "files.h"
#include "posix_call.h"

#if defined(STATX_BASIC_STATS)

/* Linux 6.1 put these into a struct statx that always was 256 bytes; older headers lack the names.
 */
#define WANT_DIOALIGN 0x2000u
#define DIO_MEM_ALIGN_AT 152
#define DIO_OFFSET_ALIGN_AT 156

_Static_assert(sizeof(struct statx) == 256, "struct statx is kernel ABI");

REAL(statx)

static void set_word(struct statx *stx, size_t at, uint32_t value)
{
	memcpy((char *)stx + at, &value, sizeof(value));
}

static void forget_alignment(struct statx *stx)
{
	stx->stx_mask &= ~WANT_DIOALIGN;
	set_word(stx, DIO_MEM_ALIGN_AT, 0);
	set_word(stx, DIO_OFFSET_ALIGN_AT, 0);
}

static void tell_model(struct statx *stx, unsigned mask)
{
	if (!(mask & WANT_DIOALIGN) || !S_ISREG(stx->stx_mode))
		return;
	stx->stx_mask |= WANT_DIOALIGN;
	set_word(stx, DIO_MEM_ALIGN_AT, runtime_config()->memory_align_bytes);
	set_word(stx, DIO_OFFSET_ALIGN_AT, runtime_config()->sector_bytes);
}

static int statx_below(struct posix_call *call, int dirfd, const char *path, int flags,
		       unsigned mask, struct statx *ret_status)
{
	struct fault *nodio;
	int result;

	if (posix_call_fails(call))
		return -1;
	nodio = posix_call_fault(call, KIND_fstat_nodio);
	result = real_statx()(dirfd, path, flags, mask, ret_status);
	if (result == 0 && runtime_sim())
		tell_model(ret_status, mask);
	if (!nodio)
		return (int)posix_call_end(call, result);
	if (result < 0 || !(ret_status->stx_mask & WANT_DIOALIGN)) {
		runtime_log_missed(nodio, call->number, "the call did not tell the alignment");
		return (int)posix_call_end(call, result);
	}
	forget_alignment(ret_status);
	return (int)posix_call_end_injected(call, nodio, result);
}

/* Not armed, or outside of the work directory. */
static int statx_plainly(int dirfd, const char *path, int flags, unsigned mask,
			 struct statx *ret_status)
{
	int result = real_statx()(dirfd, path, flags, mask, ret_status);

	if (result == 0 && runtime_sim() && !runtime_inside())
		tell_model(ret_status, mask);
	return result;
}

EXPORT int statx(int dirfd, const char *restrict path, int flags, unsigned mask,
		 struct statx *restrict ret_status)
{
	bool by_fd = posix_call_is_about_fd(dirfd, path, flags);
	struct path_call call;

	if (by_fd ? posix_call_on_fd(&call.posix, POINT_fstat, dirfd)
		  : posix_call_on_path(&call, POINT_fstat, dirfd, path))
		return statx_below(&call.posix, dirfd, path, flags, mask, ret_status);
	return statx_plainly(dirfd, path, flags, mask, ret_status);
}

INTERPOSED(statx);

#endif
