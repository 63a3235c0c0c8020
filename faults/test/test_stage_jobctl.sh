#!/bin/sh
# SPDX-License-Identifier: MIT
# Job control and a debugger in the middle of a wait, with no handler at all: io_getevents answers
# -EINTR, io_pgetevents is restarted, and both return what is there, if anything is.
set -u
# shellcheck source=/dev/null
. "$SRC/faults/test/victim.sh"

dd if=/dev/urandom of=file bs=4096 count=4 status=none || exit 1

# stopped SCHEDULE EXPECTED CALL
stopped() {
	rm -f "$LOG"
	timeout 60 "$PROGS/prog_jobctl" "$LOG" env LD_PRELOAD="$PRELOAD" SWAPFAULT_LOG="$LOG" \
		SWAPFAULT_SCHEDULE="$1" "$PROGS/prog_signals" file 10 4 "$3" > "$OUT" 2>&1 ||
		fail "$1: $(cat "$OUT")"
	expect_out "$2"
	expect_count 0 '^missed'
	expect_count 10 '^inject'
	simulated "$@"
}

# The same in sim, where nobody has to be asked.
simulated() {
	victim sim "$1" "$PROGS/prog_signals" file 10 4 "$3" || fail "sim: $1: $(cat "$OUT")"
	expect_out "$2"
	expect_count 10 '^inject'
}

for kind in stop attach; do
	stopped "io_getevents#1..+2 ready=0 => $kind" \
		'handled=0 eintr=10 short=0 events=40 bad=0 err=0' io_getevents
	stopped "io_getevents#1..+2 ready=2 => $kind" \
		'handled=0 eintr=0 short=10 events=40 bad=0 err=0' io_getevents
	stopped "io_getevents#1..+2 ready=2 => $kind" \
		'handled=0 eintr=0 short=10 events=40 bad=0 err=0' io_pgetevents
	stopped "io_getevents#* ready=0 => $kind" \
		'handled=0 eintr=0 short=0 events=40 bad=0 err=0' io_pgetevents
done

# Nobody serves the channel: that is said, and the program goes on.
victim kernel 'io_getevents#1 => stop' "$PROGS/prog_signals" file 3 4 io_getevents ||
	fail "$(cat "$OUT")"
expect_out 'handled=0 eintr=0 short=0 events=12 bad=0 err=0'
expect_count 1 '^missed.*nobody answered'
