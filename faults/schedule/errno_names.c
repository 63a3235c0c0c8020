/* SPDX-License-Identifier: MIT */
/*
 * errno_names.c - names of all error numbers of Linux. strerrorname_np() is younger than the oldest
 * libc that we run on, and this works in signal handlers.
 */
#include <errno.h>
#include <stddef.h>

#include "names.h"
#include "points.h"

/* clang-format off */
#define N(name) [name] = #name,
static const char *const by_number[] = {
	N(EPERM) N(ENOENT) N(ESRCH) N(EINTR) N(EIO) N(ENXIO) N(E2BIG) N(ENOEXEC) N(EBADF)
	N(ECHILD) N(EAGAIN) N(ENOMEM) N(EACCES) N(EFAULT) N(ENOTBLK) N(EBUSY) N(EEXIST) N(EXDEV)
	N(ENODEV) N(ENOTDIR) N(EISDIR) N(EINVAL) N(ENFILE) N(EMFILE) N(ENOTTY) N(ETXTBSY) N(EFBIG)
	N(ENOSPC) N(ESPIPE) N(EROFS) N(EMLINK) N(EPIPE) N(EDOM) N(ERANGE) N(EDEADLK)
	N(ENAMETOOLONG) N(ENOLCK) N(ENOSYS) N(ENOTEMPTY) N(ELOOP) N(ENOMSG) N(EIDRM) N(ECHRNG)
	N(EL2NSYNC) N(EL3HLT) N(EL3RST) N(ELNRNG) N(EUNATCH) N(ENOCSI) N(EL2HLT) N(EBADE) N(EBADR)
	N(EXFULL) N(ENOANO) N(EBADRQC) N(EBADSLT) N(EBFONT) N(ENOSTR) N(ENODATA) N(ETIME) N(ENOSR)
	N(ENONET) N(ENOPKG) N(EREMOTE) N(ENOLINK) N(EADV) N(ESRMNT) N(ECOMM) N(EPROTO)
	N(EMULTIHOP) N(EDOTDOT) N(EBADMSG) N(EOVERFLOW) N(ENOTUNIQ) N(EBADFD) N(EREMCHG)
	N(ELIBACC) N(ELIBBAD) N(ELIBSCN) N(ELIBMAX) N(ELIBEXEC) N(EILSEQ) N(ERESTART) N(ESTRPIPE)
	N(EUSERS) N(ENOTSOCK) N(EDESTADDRREQ) N(EMSGSIZE) N(EPROTOTYPE) N(ENOPROTOOPT)
	N(EPROTONOSUPPORT) N(ESOCKTNOSUPPORT) N(EOPNOTSUPP) N(EPFNOSUPPORT) N(EAFNOSUPPORT)
	N(EADDRINUSE) N(EADDRNOTAVAIL) N(ENETDOWN) N(ENETUNREACH) N(ENETRESET) N(ECONNABORTED)
	N(ECONNRESET) N(ENOBUFS) N(EISCONN) N(ENOTCONN) N(ESHUTDOWN) N(ETOOMANYREFS) N(ETIMEDOUT)
	N(ECONNREFUSED) N(EHOSTDOWN) N(EHOSTUNREACH) N(EALREADY) N(EINPROGRESS) N(ESTALE)
	N(EUCLEAN) N(ENOTNAM) N(ENAVAIL) N(EISNAM) N(EREMOTEIO) N(EDQUOT) N(ENOMEDIUM)
	N(EMEDIUMTYPE) N(ECANCELED) N(ENOKEY) N(EKEYEXPIRED) N(EKEYREVOKED) N(EKEYREJECTED)
	N(EOWNERDEAD) N(ENOTRECOVERABLE) N(ERFKILL) N(EHWPOISON)
};
#undef N
/* clang-format on */

static const struct names_alias aliases[] = {
	{"EWOULDBLOCK", EWOULDBLOCK},
	{"EDEADLOCK", EDEADLOCK},
	{"ENOTSUP", ENOTSUP},
	{NULL, 0},
};

static const struct names names = {
	by_number,
	(int)(sizeof(by_number) / sizeof(by_number[0])),
	aliases,
};

int errno_find(const char *name, int *ret_errno)
{
	return names_find(&names, name, ret_errno);
}

const char *errno_name(int number)
{
	return names_get(&names, number);
}
