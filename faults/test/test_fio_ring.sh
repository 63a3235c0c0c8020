#!/bin/sh
# SPDX-License-Identifier: MIT
# fio with userspace_reap reads completions out of the ring in memory and makes no wait: the ring is
# ours, so it sees our events there.
set -u
export PUMP=1
# shellcheck source=/dev/null
. "$SRC/faults/test/fio.sh"

reap() {
	action=$1 schedule=$2
	shift 2
	$action "$schedule" --userspace_reap=1 --iodepth_batch_complete_min=0 --rw=write "$@"
}

for kind in --thread=0 --thread=1; do
	reap passes '' $kind --verify=crc32c
	expect_count 1024 '^deliver'
	"$PROGS/prog_eventlog" header "$LOG" | grep -q 'getevents=0 ' ||
		skip "this fio calls io_getevents all the same"
	reap complains 'io_event#100 op=write => flip:1000' $kind --verify=crc32c
	reap passes 'io_event#* => reorder:3' $kind --verify=crc32c
done
reap complains 'io_event#100 op=read => flip:1000' --verify=crc32c
reap complains 'io_event#100 => res:EIO' --verify=crc32c
