#!/bin/sh
# SPDX-License-Identifier: MIT
# Every injected signal interrupts the wait that it was meant for, in the state that was asked for:
# as many handlers run as waits are ended, and no event is lost by it.
set -u
# shellcheck source=/dev/null
. "$SRC/faults/test/victim.sh"

dd if=/dev/urandom of=file bs=4096 count=4 status=none || exit 1

# signals BACKEND SCHEDULE EXPECTED ROUNDS BATCH CALL [MODE]
signals() {
	backend=$1 schedule=$2 expected=$3
	shift 3
	victim "$backend" "$schedule" "$PROGS/prog_signals" file "$@" ||
		fail "$backend: $schedule: $(cat "$OUT")"
	expect_out "$expected"
	expect_count 0 '^missed'
}

# Nothing ready: -EINTR, 20,000 of 20,000.
signals kernel 'io_getevents#1..+2 ready=0 => signal:USR1' \
	'handled=20000 eintr=20000 short=0 events=20000 bad=0 err=0' 20000 1 io_getevents
expect_count 20000 '^inject.* result=-4 '
signals kernel 'io_getevents#1..+2 => signal:USR1' \
	'handled=2000 eintr=2000 short=0 events=2000 bad=0 err=0' 2000 1 io_pgetevents

# Two of four ready: a short success.
for call in io_getevents io_pgetevents; do
	for backend in kernel sim; do
		signals "$backend" 'io_getevents#1..+2 ready=2 => signal:USR1' \
			'handled=500 eintr=0 short=500 events=2000 bad=0 err=0' 500 4 $call
		expect_count 500 '^inject.* result=2 '
		signals "$backend" 'io_getevents#1..+2 ready=0 => signal:USR1' \
			'handled=500 eintr=500 short=0 events=2000 bad=0 err=0' 500 4 $call
	done
done

# SA_RESTART does not help.
for backend in kernel sim; do
	signals "$backend" 'io_getevents#1..+2 => signal:USR1 restart' \
		'handled=100 eintr=100 short=0 events=400 bad=0 err=0' 100 4 io_getevents
	# A signal that is masked in the wait, or ignored, ends nothing.
	signals "$backend" 'io_getevents#* => signal:USR1 masked' \
		'handled=100 eintr=0 short=0 events=400 bad=0 err=0' 100 4 io_pgetevents
	signals "$backend" 'io_getevents#* => signal:USR1 ignored' \
		'handled=0 eintr=0 short=0 events=400 bad=0 err=0' 100 4 io_getevents
	# Without a handler of the program's own the default action would be its death.
	signals "$backend" 'io_getevents#1..+2 => signal:USR2' \
		'handled=0 eintr=100 short=0 events=400 bad=0 err=0' 100 4 io_getevents
	signals "$backend" 'io_getevents#1..+2 => signal:USR2 masked' \
		'handled=0 eintr=0 short=0 events=400 bad=0 err=0' 100 4 io_getevents
done
expect_count 50 '^note.*default action'

# No io_pgetevents at all: the thread is watched until it is in the wait.
signals kernel 'io_getevents#1..+2 ready=2 => signal:USR1' \
	'handled=200 eintr=0 short=200 events=800 bad=0 err=0' 200 4 io_getevents without-pgetevents
signals kernel 'io_getevents#1..+2 => signal:USR1' \
	'handled=200 eintr=200 short=0 events=200 bad=0 err=0' 200 1 io_getevents without-pgetevents

# A thread that blocks the signal cannot be interrupted by it: missed, never pretended.
victim kernel 'io_getevents#* => signal:USR1' "$PROGS/prog_signals" file 10 1 io_getevents \
	blocked ||
	fail "$(cat "$OUT")"
expect_out 'handled=0 eintr=0 short=0 events=10 bad=0 err=0'
expect_count 10 '^missed.*the thread blocks the signal'

# A state that cannot be: five of four, or a wait that asks for no more than what is there.
victim kernel 'io_getevents#* ready=5 => signal:USR1' \
	"$PROGS/prog_signals" file 10 4 io_getevents ||
	fail "$(cat "$OUT")"
expect_count 10 '^missed.*asks for no more'
expect_count 0 '^inject'
