#!/bin/sh
# SPDX-License-Identifier: MIT
# Every name of every posix call is its one point: each legal errno reaches the program, nothing of the
# call happens, and the log says so, once for each. Without a fault nothing is changed.
set -u
. "$SRC/faults/test/victim.sh"

POSIX=$WORK/posix
"$PROGS/prog_points" | grep '^posix .* error ' > "$POSIX"
"$PROGS/prog_calls" list > names || exit 1

# The preload defines every name.
nm -D --defined-only "$PRELOAD" | awk '{print $3}' | sort > defined
awk '{print $1}' names | sort | comm -23 - defined > undefined
[ -s undefined ] && fail "not defined: $(cat undefined)"

# Nothing else than names on purpose is exported.
for name in dlsym dlvsym syscall io_setup io_submit io_getevents io_pgetevents io_cancel io_destroy \
	io_queue_init io_queue_release io_queue_run io_queue_wait swapfault_begin swapfault_arm \
	swapfault_disarm; do
	grep -q -x "$name" defined || fail "not defined: $name"
done
grep -E '^(stage|runtime|files|paths|schedule|eventlog|fiu|sim|posix_call|rw)_' defined &&
	fail "internal names are exported"

# Passive, staged without a fault, and in sim: as without the preload.
"$PROGS/prog_calls" run > plain || fail "the victim fails by itself"
LD_PRELOAD=$PRELOAD "$PROGS/prog_calls" run > passive
diff plain passive || fail "loaded and passive, calls behave differently"
for backend in kernel sim; do
	victim $backend '' "$PROGS/prog_calls" run
	diff plain "$OUT" || fail "$backend without faults: calls behave differently"
	expect_count 0 '^inject'
	awk '{print $2}' names | sort | uniq -c > expected
	records | awk '$1 == "call" {print $2}' | sort | uniq -c | diff expected - ||
		fail "$backend: calls are not logged as their points"
done

# The N-th errno of every point at once; points with fewer begin again.
schedule_of() {
	awk -v n="$1" '{ count = NF - 4; print $2 "#* => error:" $(5 + n % count) }' "$POSIX"
}

# What each name must then have said. A failing close() has closed all the same.
expected_of() {
	schedule_of "$1" | sed 's/#\* => error:/ /' | awk '
		NR == FNR { error[$1] = $2; next }
		{ print $1, -1, error[$2], "same" }' - names
}

round=0
rounds=$(awk '{ if (NF - 4 > most) most = NF - 4 } END { print most }' "$POSIX")
while [ "$round" -lt "$rounds" ]; do
	victim kernel "$(schedule_of "$round")" "$PROGS/prog_calls" run
	expected_of "$round" | diff - "$OUT" || fail "errno $round of each point"
	expect_count "$(wc -l < names)" '^inject.* injected'
	round=$((round + 1))
done

# A count that is not reached changes nothing, and a condition filters first.
victim kernel 'pread#2 => error:EIO' "$PROGS/prog_calls" run pread pread64 preadv
expect_out 'pread 1024 0 same'
expect_out 'pread64 -1 EIO same'
expect_out 'preadv 1024 0 same'
victim kernel 'pwrite#1 path=other => error:EIO; pwrite#2 path=fi* offset=1K..2K => error:EIO' \
	"$PROGS/prog_calls" run write pwrite pwritev
expect_out 'write 1024 0 changed'
expect_out 'pwrite 1024 0 changed'
expect_out 'pwritev -1 EIO same'

# Honest short transfers.
victim kernel 'pread#* => short:100; pwrite#* => short:1000' "$PROGS/prog_calls" run read preadv2 \
	writev pwrite
expect_out 'read 924 0 same'
expect_out 'preadv2 924 0 same'
expect_out 'writev 24 0 changed'
expect_out 'pwrite 24 0 changed'
expect_count 4 '^inject.* injected'
victim kernel 'pread#* => short:1024' "$PROGS/prog_calls" run read
expect_out 'read 1024 0 same'
expect_count 1 '^missed'

# Files elsewhere are none of ours.
mkdir below
for backend in kernel sim; do
	timeout 60 env LD_PRELOAD="$PRELOAD" SWAPFAULT_WORK_DIR="$WORK/below" \
		SWAPFAULT_BACKEND=$backend SWAPFAULT_SCHEDULE='open => error;pread => error' \
		"$PROGS/prog_calls" run open pread stat > outside
	grep -E '^(open|pread|stat) ' plain | grep -E '^(open|pread|stat) ' | sort > expected
	sort outside | diff expected - || fail "$backend: a file outside of the work directory"
done
