/* SPDX-License-Identifier: MIT */
/*
 * signal_names.c - names of signals, without SIG in front. sigabbrev_np() is younger than the
 * oldest libc that we run on, and knows no real-time signals.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "names.h"
#include "points.h"

/* clang-format off */
#define N(name) [SIG##name] = #name,
/* The kernel's 32 and 33 belong to libc, which so begins with the real-time signals at 34. */
#define R(number, name) [number] = name,
static const char *const by_number[] = {
	N(HUP) N(INT) N(QUIT) N(ILL) N(TRAP) N(ABRT) N(BUS) N(FPE) N(KILL) N(USR1) N(SEGV) N(USR2)
	N(PIPE) N(ALRM) N(TERM) N(STKFLT) N(CHLD) N(CONT) N(STOP) N(TSTP) N(TTIN) N(TTOU) N(URG)
	N(XCPU) N(XFSZ) N(VTALRM) N(PROF) N(WINCH) N(IO) N(PWR) N(SYS)
	R(34, "RTMIN") R(35, "RTMIN+1") R(36, "RTMIN+2") R(37, "RTMIN+3") R(38, "RTMIN+4")
	R(39, "RTMIN+5") R(40, "RTMIN+6") R(41, "RTMIN+7") R(42, "RTMIN+8") R(43, "RTMIN+9")
	R(44, "RTMIN+10") R(45, "RTMIN+11") R(46, "RTMIN+12") R(47, "RTMIN+13") R(48, "RTMIN+14")
	R(49, "RTMIN+15") R(50, "RTMIN+16") R(51, "RTMIN+17") R(52, "RTMIN+18") R(53, "RTMIN+19")
	R(54, "RTMIN+20") R(55, "RTMIN+21") R(56, "RTMIN+22") R(57, "RTMIN+23") R(58, "RTMIN+24")
	R(59, "RTMIN+25") R(60, "RTMIN+26") R(61, "RTMIN+27") R(62, "RTMIN+28") R(63, "RTMIN+29")
	R(64, "RTMAX")
};
#undef N
#undef R
/* clang-format on */

static const struct names_alias aliases[] = {
	{"IOT", SIGIOT},
	{"POLL", SIGPOLL},
	{"CLD", SIGCLD},
	{NULL, 0},
};

static const struct names names = {
	by_number,
	(int)(sizeof(by_number) / sizeof(by_number[0])),
	aliases,
};

int signal_find(const char *name, int *ret_signal)
{
	if (strncmp(name, "SIG", 3) == 0)
		name += 3;
	return names_find(&names, name, ret_signal);
}

const char *signal_name(int number)
{
	return names_get(&names, number);
}
