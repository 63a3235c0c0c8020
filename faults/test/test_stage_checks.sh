#!/bin/sh
# SPDX-License-Identifier: MIT
# What a correct program does not do is noticed, on both back ends, and nothing else is.
set -u
# shellcheck source=/dev/null
. "$SRC/faults/test/victim.sh"

dd if=/dev/urandom of=file bs=4096 count=4 status=none || exit 1

# noticed MISUSE PATTERN COUNT
noticed() {
	for backend in kernel sim; do
		victim "$backend" '' "$PROGS/prog_misuse" file "$1" || fail "$1: $(cat "$OUT")"
		expect_out 'done'
		expect_count "$3" '^check'
		expect_count "$3" "^check.*$2"
	done
}

noticed nothing 'anything' 0
noticed overlap 'reads in flight share memory' 1
noticed change 'write buffer changed in flight' 1
noticed unmap 'memory unmapped or freed in flight' 1
noticed leak 'context left at exit' 1

victim sim '' "$PROGS/prog_misuse" file leak-in-flight || fail "leak: $(cat "$OUT")"
expect_count 1 '^check.*context left at exit with I/O in flight'

# A completion that is held keeps the memory in the kernel's hands.
victim kernel 'io_event#1 => hold:until=io_event#2' "$PROGS/prog_misuse" file unmap ||
	fail "unmap: $(cat "$OUT")"
expect_count 1 '^check.*memory unmapped or freed in flight'

# Held for ever, and the program ends all the same.
victim kernel 'io_event#* => hold' "$PROGS/prog_misuse" file leak-in-flight || fail "$(cat "$OUT")"
expect_out 'done'

# overask HOW COUNT PATTERN [SCHEDULE]
overask() {
	for backend in kernel sim; do
		victim "$backend" "${4:-}" "$PROGS/prog_overask" file "$1" ||
			fail "$1: $(cat "$OUT")"
		expect_out 'done'
		expect_count "$2" "$3"
	done
}

# Who waits for more than is in flight is told so before he waits.
overask timed 1 '^check io_getevents ctx=1 #1 .*result=3 .*timed wait for 3, more than the 2 in flight'
overask forever 1 '^check io_getevents ctx=1 #1 .*result=2 .* wait for 3, more than the 2 in flight' \
	'io_getevents#1 => few:2'
# Held back or dropped is in flight still; taken is not; what was submitted in vain never was.
overask exact 0 '^check' 'io_event#1 => hold:until=io_event#2'
overask timed 1 '^check' 'io_event#1 => hold:until=wait#1'
overask timed 1 '^check' 'io_event#2 => dup
io_getevents#1 => few:2'
victim sim 'io_event#1 => drop' "$PROGS/prog_overask" file exact
expect_count 0 '^check.*more than'
# It may be right, or it does not wait.
overask exact 0 '^check'
overask poll 0 '^check'
overask shared 0 '^check'
overask reaper 0 '^check'
