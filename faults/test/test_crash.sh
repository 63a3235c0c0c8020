#!/bin/sh
# SPDX-License-Identifier: MIT
# test_crash.sh - the power goes at every step of a store that commits by the book: what is left is
# the old state or the new one. Take out any of its fsyncs, and some crash shows it. The same seed
# leaves the same behind; the kernel back end and what cannot be kept are refused.
set -u
# shellcheck source=/dev/null
. "$SRC/faults/test/victim.sh"

[ -d /dev/shm ] && [ -w /dev/shm ] && PLACE=$(mktemp -d /dev/shm/crash.XXXXXX) || PLACE=$WORK/store
mkdir -p "$PLACE"
trap 'rm -rf "$WORK" "$PLACE"' EXIT
SEEDS=100

# crash OPTION... SEEDS PLACE POINT...: a line for each point, in $OUT.
crash() {
	LD_PRELOAD=$PRELOAD timeout -k 1 200 "$PROGS/prog_crash_store" "$@" > "$OUT" 2>&1 ||
		fail "prog_crash_store $*: $(cat "$OUT")"
}

# Every line: each case crashed, and each found a whole generation that it should.
expect_consistent() {
	awk -v seeds="$1" '!/ mixed=0 lost=0 / || $2 != "crashed=" seeds { bad = 1; print }
		END { exit bad || !NR }' "$OUT" || fail "${2:-by the book} is not consistent"
}

# expect_seen WORD: some case of some point shows it.
expect_seen() {
	grep -q " $1=[1-9]" "$OUT" || fail "no crash shows '$1': $(cat "$OUT")"
}

crash $SEEDS "$PLACE" 'unlink#1' 'open#1' 'ftruncate#1' 'pwrite#1' 'pwrite#2' 'fsync#1' 'rename#1' \
	'fsync#2' 'unlink#2' 'fsync#3' 'rename#2' 'fsync#4' 'unlink#3'
expect_consistent $SEEDS
expect_seen old
expect_seen new
crash aio 25 "$PLACE" 'io_submit#1' 'io_event#1' 'io_event#2' 'fsync#1' 'fsync#2'
expect_consistent 25 aio
crash without=file write-through 50 "$PLACE" 'pwrite#2' 'rename#1' 'fsync#1' 'fsync#2'
expect_consistent 50 write-through

# Between a rename and the sync of its directory stands the one that the file needed.
crash without=file 50 "$PLACE" 'fsync#1' 'unlink#3'
expect_seen mixed
crash aio without=file 25 "$PLACE" 'fsync#1'
expect_seen mixed
crash without=dir 50 "$PLACE" 'unlink#2' 'unlink#3'
expect_seen lost

crash 20 "$PLACE" 'pwrite#2' 'fsync#2'
cp "$OUT" "$WORK/first"
crash 20 "$PLACE" 'pwrite#2' 'fsync#2'
cmp -s "$OUT" "$WORK/first" || fail "the same seeds left something else: $(cat "$WORK/first" "$OUT")"
crash 1 "$PLACE" 'fsync#9'
grep -q 'crashed=0 finished=1' "$OUT" || fail "a crash that is never reached: $(cat "$OUT")"

# Strangers, through the environment: told in the log, ended with a status of its own.
victim sim 'pwrite#2 => crash:3' "$PROGS/prog_crash_writer" > /dev/null
status=$?
[ $status -eq 113 ] || fail "status $status, expected 113: $(cat "$OUT")"
expect_count 1 'inject.*posix/pwrite/crash'
expect_count 1 'note.*effects not durable are lost'
victim kernel 'pwrite#2 => crash:3' "$PROGS/prog_crash_writer" || fail "kernel: status $?"
expect_count 0 inject
expect_count 1 'missed.*only sim can lose what is not durable'

# A directory has its name from its parent's sync; without it all goes, synced files and all.
# made_survives MODE: $survived is how many of ten crashes leave the directory, which is whole then.
made_survives() {
	survived=0
	for seed in 1 2 3 4 5 6 7 8 9 10; do
		rm -rf made written
		victim sim "pwrite#3 => crash:$seed" "$PROGS/prog_crash_writer" "$1" > /dev/null
		[ -d made ] || continue
		survived=$((survived + 1))
		[ -s made/one ] && [ -s made/inside/two ] || fail "$1: seed $seed: not whole"
	done
}
made_survives synced-directory
[ "$survived" -eq 10 ] || fail "a directory that was synced survives $survived of 10 crashes"
made_survives directory
[ "$survived" -gt 0 ] && [ "$survived" -lt 10 ] ||
	fail "a directory that was not synced survives $survived of 10 crashes"

# A kill ends the process on both back ends, and takes nothing back: of four writes the first is there.
for backend in kernel sim; do
	rm -f written
	victim "$backend" 'pwrite#2 => kill' "$PROGS/prog_crash_writer" > /dev/null
	status=$?
	[ $status -eq 137 ] || fail "$backend: status $status, expected 137: $(cat "$OUT")"
	expect_count 1 'inject.*posix/pwrite/kill'
	[ "$(wc -c < written)" -eq 1024 ] || fail "$backend: $(wc -c < written) bytes are left"
done

# More than can be kept is said, not forgotten.
victim sim 'fsync#1 => crash:3' "$PROGS/prog_crash_writer" big || fail "too much: status $?"
expect_count 0 inject
expect_count 1 'missed.*too much is not durable to be kept'

# Children are not covered, and that is said.
victim sim 'fsync#1 => crash:3' "$PROGS/prog_crash_writer" fork
expect_count 0 inject
exit 0
