#!/bin/sh
# SPDX-License-Identifier: MIT
# fio with --verify=crc32c: disarmed it must not complain, of a flipped bit it must; it resumes
# honest short completions, reports errors, and survives signals. With processes and with threads.
set -u
# shellcheck source=/dev/null
. "$SRC/faults/test/fio.sh"

for kind in --thread=0 --thread=1; do
	passes '' $kind --rw=write --verify=crc32c
	expect_count 0 '^inject'
	expect_count 1024 '^deliver'
	expect_count 0 '^check'

	complains 'io_event#100 op=write => flip:1000' $kind --rw=write --verify=crc32c
	expect_count 1 '^inject.*flip'
	grep -q 'verify' "$OUT" || fail "it is not the verification that failed: $(tail -5 "$OUT")"

	passes 'io_getevents#1..+3 => signal:USR2' $kind --rw=write --verify=crc32c
	[ "$(count '^inject.*result=-4 ')" -gt 100 ] || fail "few signals: $(count '^inject')"
done

complains 'io_event#100 op=read => flip:1000' --rw=write --verify=crc32c
complains 'io_event#100 op=read => misdirect:8K' --rw=write --verify=crc32c
rm -f data # what fio writes again is the same
complains 'io_event#100 op=write => lost' --rw=write --verify=crc32c
complains 'io_event#100 => res:EIO' --rw=write --verify=crc32c
grep -q 'Input/output error' "$OUT" || fail "fio reports another error: $(tail -5 "$OUT")"

# Not the rests of 512 bytes: none of their bytes would be left, which is the end of a file for fio.
passes 'io_event#5..400+7 op=read length=1024.. => short:512; io_submit#5..50+5 => error:EAGAIN' \
	--rw=write --verify=crc32c
expect_count 57 '^inject.*short'
expect_count 10 '^inject io_submit'

# A short write is resumed where it ended: no hole is left behind. (fio counts the bytes that it
# submits twice, so that it stops a little before the end of the file.)
rm -f data
passes 'io_event#5..200+7 op=write length=1024.. => short:512' --rw=write --buffer_pattern=0x5a5a5a5a
expect_count 28 '^inject.*short'
head -c 1M /dev/zero | tr '\0' 'Z' | cmp -n 1048576 - data || fail "short writes left a hole"

# Several jobs, each with a context of its own.
passes 'io_event#* => reorder:5' --rw=write --verify=crc32c --numjobs=3 --thread=1 \
	--offset_increment=2M
passes '' --rw=write --verify=crc32c --numjobs=3 --offset_increment=2M
expect_count 3072 '^deliver'
