/* SPDX-License-Identifier: MIT */
/*
 * test_schedule_errors.c - what cannot be is refused, with the place, the value and what is
 * allowed.
 */
#undef NDEBUG
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "schedule.h"

struct refusal {
	const char *text;
	unsigned line, column;
	const char *says;    /* occurs in the error */
	const char *allowed; /* occurs, too; NULL: nothing more */
};

static const struct refusal refusals[] = {
	/* the point */
	{"io_submt#3 => error", 1, 1, "no point 'io_submt' (did you mean io_submit?",
	 "allowed: io_setup, io_submit"},
	{"nonsense => error", 1, 1, "no point 'nonsense' (allowed: ", "pthread_create"},
	{"io_event => dup\n\n  io_evnt => dup", 3, 3, "did you mean io_event?", NULL},
	{"io_event => dup; io_evnt => dup", 1, 18, "did you mean io_event?", NULL},
	{"io_event => dup; # why", 1, 18, "a comment has a line of its own", NULL},
	{"=> dup", 1, 1, "no point ''", NULL},
	{"\001\377\n => dup", 1, 1, "no point '?", NULL},
	/* WHEN */
	{"io_event# => dup", 1, 10, "when: '' is not understood", "N..M+S"},
	{"io_event#x => dup", 1, 10, "when: 'x' is not a number", NULL},
	{"io_event#0 => dup", 1, 10, "when: 0 is out of range", "(1 to "},
	{"io_event#-1 => dup", 1, 10, "when: '-1' is not a number", NULL},
	{"io_event#5..3 => dup", 1, 10, "when: 5..3 is empty", NULL},
	{"io_event#5..9+0 => dup", 1, 15, "step: 0 is out of range", NULL},
	{"io_event#5..9+ => dup", 1, 15, "step: '' is not a number", NULL},
	{"io_event#5+2 => dup", 1, 10, "when: '5+2' is not understood", "N..+S"},
	{"io_event#5...9 => dup", 1, 13, "when: '' is not a number", NULL},
	{"io_event#5..9..11 => dup", 1, 10, "is not understood", NULL},
	{"io_event#1K => dup", 1, 10, "when: '1K' is not a number (decimal digits)", NULL},
	{"io_event#18446744073709551615 => dup", 1, 10, "out of range", NULL},
	{"io_event#18446744073709551616 => dup", 1, 10, "out of range", NULL},
	{"io_event#99999999999999999999999 => dup", 1, 10, "out of range", NULL},
	/* conditions */
	{"io_event fdd=3 => dup", 1, 10, "unknown condition 'fdd'", "did you mean fd?"},
	{"io_event fd => dup", 1, 12, "expected fd=VALUE", NULL},
	{"io_event fd=3 fd=4 => dup", 1, 15, "condition 'fd' is given twice", NULL},
	{"io_event fd=-1 => dup", 1, 13, "fd: '-1' is not a number", NULL},
	{"io_event fd=2147483648 => dup", 1, 13, "fd: 2147483648 is out of range",
	 "0 to 2147483647"},
	{"io_event op=reed => dup", 1, 13, "op: 'reed' is unknown", "allowed: read, write"},
	{"io_event ctx=0 => dup", 1, 14, "ctx: 0 is out of range", NULL},
	{"io_event thread=0 => dup", 1, 17, "thread: 0 is out of range", NULL},
	{"io_event proc=4294967296 => dup", 1, 15, "proc: 4294967296 is out of range", NULL},
	{"io_event image=0 => dup", 1, 16, "image: 0 is out of range", "1 to 64"},
	{"io_event image=65 => dup", 1, 16, "image: 65 is out of range", "1 to 64"},
	{"io_event depth=0 => dup", 1, 16, "depth: 0 is out of range", NULL},
	{"io_event path= => dup", 1, 15, "path: no pattern given", NULL},
	{"io_event path=/tmp/* => dup", 1, 15, "relative to the work directory", NULL},
	{"io_event offset=4K => dup", 1, 17, "offset: '4K' is not a range", "A..B"},
	{"io_event offset=.. => dup", 1, 17, "offset: '..' is not a range", NULL},
	{"io_event offset=2M..1M => dup", 1, 17, "offset: 2M..1M is empty", NULL},
	{"io_event offset=2M..2M => dup", 1, 17, "offset: 2M..2M is empty", NULL},
	{"io_event length=..0 => dup", 1, 17, "length: ..0 is empty", NULL},
	{"io_event offset=1X.. => dup", 1, 17, "'1X' is not a number", "K M G allowed"},
	{"io_event offset=99999999999G.. => dup", 1, 17, "99999999999G is out of range", NULL},
	{"io_event ready=2 => dup", 1, 10, "no such condition 'ready' at point io_event",
	 "op, fd, path, offset, length, depth, ctx, thread, proc, image"},
	{"io_submit ready=2 => error", 1, 11, "no such condition 'ready'", NULL},
	{"fsync ready=2 => error", 1, 7, "no such condition 'ready'",
	 "fd, path, thread, proc, image"},
	{"io_setup op=read => error", 1, 10, "no such condition 'op' at point io_setup",
	 "allowed: thread, proc, image"},
	{"pread op=read => error", 1, 7, "no such condition 'op'", NULL},
	{"mmap path=x => error", 1, 6, "no such condition 'path'", NULL},
	{"open fd=3 => error", 1, 6, "no such condition 'fd'", NULL},
	{"io_pgetevents call=io_getevents => error", 1, 15, "no such condition 'call'", NULL},
	{"io_getevents call=io_wait => stop", 1, 19, "call: 'io_wait' is unknown",
	 "io_getevents, io_pgetevents"},
	/* the arrow */
	{"io_event", 1, 9, "expected => KIND", NULL},
	{"io_event op=read", 1, 17, "expected => KIND", NULL},
	{"io_event = dup", 1, 10, "unknown condition ''", NULL},
	/* the kind */
	{"io_event =>", 1, 12, "point io_event has no kind ''", "allowed: short, zero, lie"},
	{"io_event => drp", 1, 13, "has no kind 'drp' (did you mean drop?", NULL},
	{"io_submit => short:512", 1, 14, "point io_submit has no kind 'short'",
	 "allowed: error, accept"},
	{"io_event => dup:2", 1, 17, "dup takes no argument", NULL},
	{"io_event => dup dup", 1, 17, "unexpected 'dup': io_event dup takes no option", NULL},
	{"fsync => kill:9", 1, 15, "kill takes no argument", NULL},
	/* errnos */
	{"io_submit => error:EAGIN", 1, 20, "'EAGIN' is no error name (did you mean EAGAIN?",
	 "allowed: EAGAIN, EBADF"},
	{"io_submit => error:EIO", 1, 20, "io_submit: the real call never returns EIO",
	 "EAGAIN, EBADF, EINVAL, EFAULT, ENOSYS, EPERM, ENOMEM)"},
	{"io_submit => error:5", 1, 20, "'5' is no error name", NULL},
	{"io_submit => error:", 1, 20, "'' is no error name", NULL},
	{"io_event op=read => res:ENOSPC", 1, 10, "a read never fails with ENOSPC", "op=write"},
	{"open => error:EAGAIN", 1, 15, "open: the real call never returns EAGAIN", NULL},
	/* signals */
	{"io_getevents => signal:KILL", 1, 24, "KILL cannot be caught", NULL},
	{"io_getevents => signal:SIGSTOP", 1, 24, "STOP cannot be caught", "write the kind stop"},
	{"io_getevents => signal:USR3", 1, 24, "'USR3' is no signal name (did you mean USR1?",
	 NULL},
	{"io_getevents => signal:10", 1, 24, "'10' is no signal name", "HUP, INT"},
	{"io_getevents => signal:USR1 maskd", 1, 29, "no option 'maskd' (did you mean masked?",
	 "masked, ignored, restart"},
	{"io_getevents => signal:USR1 masked ignored", 1, 36, "one option is all", NULL},
	{"io_getevents ready=2 => error:EINTR", 1, 14, "ready: error needs no state",
	 "allowed with: signal, stop, attach"},
	{"io_getevents ready=2 => few:1", 1, 14, "ready: few needs no state", NULL},
	{"io_pgetevents ready=0 => error", 1, 15, "no such condition 'ready'", NULL},
	/* numbers */
	{"io_event => short:0", 1, 19, "short: 0 is out of range", "1 to 2147479552"},
	{"io_event => short:-1", 1, 19, "short: '-1' is not a number", NULL},
	{"io_event => lie:0", 1, 17, "lie: 0 is out of range", NULL},
	{"io_event => lie:-0", 1, 18, "lie: 0 is out of range", NULL},
	{"io_event => lie:--5", 1, 18, "lie: '-5' is not a number", NULL},
	{"io_event => flip:2G", 1, 18, "flip: 2G is out of range", NULL},
	{"io_event => misdirect:0", 1, 23, "misdirect: 0 is out of range", NULL},
	{"io_event => misdirect:9G9", 1, 23, "'9G9' is not a number", NULL},
	{"io_event => reorder:9223372036854775808", 1, 21, "reorder: 9223372036854775808 is out",
	 NULL},
	{"io_submit => accept:one", 1, 21, "accept: 'one' is not a number", NULL},
	/* options on the wrong kind */
	{"io_event => short:512 after", 1, 23, "io_event short takes no option", NULL},
	{"io_submit => error:EAGAIN direct", 1, 27, "io_submit error takes no option", NULL},
	{"open => error:EINVAL dirct", 1, 22, "did you mean direct?", NULL},
	/* holds */
	{"io_event#5 => hold:7", 1, 20, "hold: '7' says not until when", "until=io_event#N"},
	{"io_event#5 => hold:until=io_event#0", 1, 35, "until: 0 is out of range", NULL},
	{"io_event#5 => hold:until=io_event#", 1, 35, "until: '' is not a number", NULL},
	{"io_event#5 => hold:until=io_event#5", 1, 1, "io_event#5 is held itself", "until=never"},
	{"io_event#* => hold:until=io_event#9", 1, 1, "io_event#9 is held itself", NULL},
	{"io_event#5 => dup; io_event#2..6 => hold:until=io_event#4", 1, 20, "held itself", NULL},
	{"io_event#1 => hold:until=io_event#2\nio_event#2 => hold:until=io_event#1", 1, 1,
	 "io_event#2 is held itself", NULL},
	{"io_event#1 ctx=3 => hold:until=io_event#1", 1, 1, "held itself", NULL},
	{"io_event#5 => hold:until=nvme.read#7", 1, 20, "says not until when", "until=io_event#N"},
	{"io_event#5 => hold:for=5s", 1, 20, "says not until when", "until=wait#N, until=never)"},
	/* the device of a guest */
	{"nvme.raed => error", 1, 1, "did you mean nvme.read?", NULL},
	{"nvme => error", 1, 1, "no point 'nvme'", "nvme.read, nvme.write, nvme.flush"},
	{"nvme_read => error", 1, 1, "no point 'nvme_read'", NULL},
	{"nvme.read => torn", 1, 14, "torn", "allowed: error, hold, limit, iops, flip, stale"},
	{"nvme.flush offset=1K.. => error", 1, 12, "no such condition 'offset'", "allowed: depth"},
	{"nvme.read thread=1 => error", 1, 11, "no such condition 'thread' at point nvme.read",
	 "allowed: offset, length, depth"},
	{"nvme.write path=x => error", 1, 12, "no such condition 'path'", NULL},
	{"nvme.read => error:ENODATA", 1, 20, "ENODATA", "EIO"},
	{"nvme.read => remove", 1, 10, "pulled out once", "#N"},
	{"nvme.read#2.. => remove", 1, 10, "pulled out once", "#N"},
	{"nvme.read#1 => remove:gently", 1, 23, "'gently' is no way", "surprise, orderly"},
	{"nvme.read => iops:0", 1, 19, "0 would answer nothing", "hold:until=never"},
	{"nvme.write => limit:0", 1, 21, "limit: 0 is out of range", NULL},
	{"nvme.read#5 => hold:until=io_event#7", 1, 21, "says not until when",
	 "until=nvme.read#N, until=nvme.write#N, until=nvme.flush#N, until=never, for=5s"},
	{"nvme.read#5 => hold:until=nvme.raed#7", 1, 21, "says not until when", NULL},
	{"nvme.read#5 => hold:until=nvme.read#0", 1, 37, "until: 0 is out of range", NULL},
	{"nvme.read#5 => hold:for=5", 1, 25, "for: '5' is no time", "5s, 200ms"},
	{"nvme.read#5 => hold:for=s", 1, 25, "for: 's' is no time", NULL},
	{"nvme.read#5 => hold:for=0s", 1, 25, "for: 0 is out of range", NULL},
	{"nvme.read#5 => hold:for=3601s", 1, 25, "for: 3601s is too long", "an hour"},
	{"nvme.read#5 => hold:until=nvme.read#5", 1, 1, "nvme.read#5 is held itself",
	 "until=never"},
	{"nvme.read#1 => hold:until=nvme.write#2\nnvme.write#2 => hold:until=nvme.read#1", 1, 1,
	 "nvme.write#2 is held itself", NULL},
	/* parts that do not go together */
	{"io_event op=write => stale", 1, 10, "stale is about reads only", "op=read"},
	{"io_event op=read => lost", 1, 10, "lost is about writes only", "op=write"},
	{"io_pgetevents#2 => missing", 1, 14, "a symbol is there or it is not", NULL},
	{"io_pgetevents ctx=1 => missing", 1, 15, "no condition applies", NULL},
};

static void check_refusal(const struct refusal *refusal)
{
	static struct schedule schedule;
	struct schedule_error error = {0};

	memset(&schedule, 0x5a, sizeof(schedule));
	if (schedule_parse(refusal->text, &schedule, &error) != -EINVAL)
		fail_msg("'%s' is accepted", refusal->text);
	if (!strstr(error.text, refusal->says) ||
	    (refusal->allowed && !strstr(error.text, refusal->allowed)))
		fail_msg("'%s': says '%s'", refusal->text, error.text);
	if (error.line != refusal->line || error.column != refusal->column)
		fail_msg("'%s': at %u:%u instead of %u:%u", refusal->text, error.line, error.column,
			 refusal->line, refusal->column);
	for (size_t i = 0; i < sizeof(schedule); i++)
		assert_int_equal(((unsigned char *)&schedule)[i], 0x5a);
}

static void what_cannot_be_is_refused_where_it_stands(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		check_refusal(&refusals[i]);
}

static void a_sixty_fifth_fault_is_refused(void **state)
{
	char text[(SCHEDULE_FAULTS_MAX + 1) * 32];
	struct refusal refusal = {text, SCHEDULE_FAULTS_MAX + 1, 1, "one fault too many",
				  "at most 64"};
	size_t length = 0;

	(void)state;
	for (unsigned i = 1; i <= SCHEDULE_FAULTS_MAX + 1; i++)
		length += (size_t)snprintf(&text[length], sizeof(text) - length,
					   "io_event#%u => dup\n", i);
	check_refusal(&refusal);
}

static void a_path_of_128_bytes_is_refused(void **state)
{
	char text[256], path[SCHEDULE_PATH_BYTES + 1];
	struct refusal refusal = {text, 1, 11, "path: the pattern has 128 bytes", "at most 127"};

	(void)state;
	memset(path, 'p', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	snprintf(text, sizeof(text), "open path=%s => error", path);
	check_refusal(&refusal);
}

static void a_value_without_end_is_quoted_in_part(void **state)
{
	char text[4096];
	struct refusal refusal = {text, 1, 1, "...'", "pthread_create"};

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	check_refusal(&refusal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_cannot_be_is_refused_where_it_stands),
		cmocka_unit_test(a_sixty_fifth_fault_is_refused),
		cmocka_unit_test(a_path_of_128_bytes_is_refused),
		cmocka_unit_test(a_value_without_end_is_quoted_in_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
