#!/bin/sh
# SPDX-License-Identifier: MIT
# A process may have case after case: each finds the preload as the first one did. What it does is the
# same, record for record, as in a process of its own; nothing of it is left in memory; and a case of
# which something lives on cannot end.
set -u
# shellcheck source=/dev/null
. "$SRC/faults/test/victim.sh"

anew() {
	timeout 120 env LD_PRELOAD="$PRELOAD" "$PROGS/prog_anew" "$@" >"$OUT" 2>&1 ||
		fail "prog_anew $*: $(cat "$OUT")"
}

# The one at 5 runs on the kernel: its order is the disk's.
for case in 0 1 2 3 4 6; do
	anew one "$case"
	cat "$OUT" >>alone
done
[ "$(cut -d' ' -f2 alone | sort -u | wc -l)" -eq 6 ] || fail "cases look alike: $(cat alone)"
anew one 0 1 2 3 4 6 5 6 4 3 5 2 1 0 0 3 3 1 6 2 4
while read -r case hash; do
	[ "$case" = 5 ] || grep -q -x "$case $hash" alone ||
		fail "case $case has hash $hash behind others: $(cat "$OUT") alone: $(cat alone)"
done <"$OUT"

anew memory
grep -q 'bytes are as they were' "$OUT" || fail "$(cat "$OUT")"

anew busy
expect_out 'before: -2'
expect_out 'context: -16 a context was not destroyed'
expect_out 'thread: -16 another thread is not done'
expect_out 'again: -114'
expect_out 'after: 0'
