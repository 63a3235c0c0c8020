#!/bin/sh
# SPDX-License-Identifier: MIT
# fio in virtual time, with processes and with threads: its helper listens at a pipe for the whole
# run, and time goes on all the same. Disarmed it is content, of a flipped bit it complains.
set -u
# shellcheck disable=SC2034 # read by fio.sh
PATIENCE=30
# shellcheck source=/dev/null
. "$SRC/faults/test/fio.sh"

# in_sim SCHEDULE [OPTION...]: 124 or 137 when it did not end.
in_sim() {
	sim_schedule=$1
	shift
	victim sim "$sim_schedule" fio --name=job --filename="$WORK/data" \
		--size=2M --bs=4k --ioengine=libaio --direct=1 --iodepth=8 \
		--verify_state_save=0 --rw=write --verify=crc32c "$@"
}

for kind in --thread=0 --thread=1; do
	in_sim '' $kind || fail "$kind: status $?: $(tail -5 "$OUT")"
	expect_count 0 '^inject'
	expect_count 0 '^hang'
	expect_count 1024 '^deliver'

	in_sim 'io_event#100 op=write => flip:1000' $kind
	status=$?
	[ $status -ne 0 ] && [ $status -lt 124 ] || fail "$kind flip: status $status"
	expect_count 1 '^inject.*flip'
	grep -q 'verify' "$OUT" || fail "it is not the verification: $(tail -5 "$OUT")"
done
