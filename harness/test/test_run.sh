#!/bin/sh
# SPDX-License-Identifier: MIT
# test_run.sh - what a run does when things around it are not as they should be: work directories that
# cannot be used, Ctrl-C once and twice, a fork server that is killed; and that nothing stays behind.
# shellcheck disable=SC2317 # functions are called through until_true
set -eu

program=$BUILD/bin/swaptorture
failed=0

fail() {
	echo "FAIL: $*"
	failed=1
}

scenario() {
	cat >"$TMPDIR/$1.yaml" <<END
title: A case for the test of runs
origin: https://github.com/linux-blktests/blktests
contract: C17
targets: [host]
swap:
  tensors:
    - {name: exp_avg, numel: 16384, dtype: fp32}
  steps: $2
handle: {block_size: 16K, queue_depth: 4, workers: 0}
matrix:
  queue_depth: [4, 5, 6, 7, 8, 9]
$3
expect: {deadline: $4}
END
}

scenario quick '[swap-out, swap-in]' '' 5s
scenario stuck '[prepare, swap-in]' 'faults: [io_event#2 => drop]' 60s

# refused DIR WORDS: the run refuses DIR, says so with its path and WORDS, and leaves nothing there.
refused() {
	status=0
	timeout 30 "$program" run "$TMPDIR/quick.yaml" --target host --work-dir "$1" \
		>"$TMPDIR/out" 2>&1 || status=$?
	[ "$status" -eq 2 ] || fail "work directory $1: status $status, must be 2"
	grep -q "$1.*$2" "$TMPDIR/out" || fail "work directory $1: $(cat "$TMPDIR/out")"
}

refused "$TMPDIR/nowhere" 'No such file or directory'
: >"$TMPDIR/file"
refused "$TMPDIR/file" 'Not a directory'
if [ "$(id -u)" -eq 0 ] && mkdir -p "$TMPDIR/small" &&
	mount -t tmpfs -o size=8k tmpfs "$TMPDIR/small" 2>/dev/null; then
	refused "$TMPDIR/small" '[:]'
	[ -z "$(ls -A "$TMPDIR/small")" ] || fail "something was left in a full directory"
	mount -o remount,ro "$TMPDIR/small"
	refused "$TMPDIR/small" 'Read-only file system'
	umount "$TMPDIR/small"
fi

# In order: all passed, nothing left behind.
mkdir -p "$TMPDIR/work"
timeout 60 "$program" run "$TMPDIR/quick.yaml" --target host --work-dir "$TMPDIR/work" \
	>"$TMPDIR/out" 2>&1 || fail "a plain run: $(cat "$TMPDIR/out")"
[ -z "$(ls -A "$TMPDIR/work")" ] || fail "a plain run left $(ls "$TMPDIR/work")"

# workers_of PID: the processes that PID started, directly or not.
workers_of() {
	cat /proc/"$1"/task/*/children 2>/dev/null | tr ' ' '\n' | while read -r child; do
		echo "$child"
		workers_of "$child"
	done
}

# until_true COMMAND...: within ten seconds.
until_true() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ "$tries" -lt 100 ] || return 1
		sleep 0.1
	done
}

has_cases() {
	[ "$(workers_of "$1" | wc -l)" -ge 3 ]
}

all_gone() {
	for pid in $1; do
		# A zombie waits for its parent; it runs no more.
		case $(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' /proc/"$pid"/status 2>/dev/null) in
		'' | Z) ;;
		*) return 1 ;;
		esac
	done
}

# interrupted SIGNAL STATUS [AGAIN]: a run of stuck cases is told to stop.
interrupted() {
	rm -f "$TMPDIR/log"
	"$program" run "$TMPDIR/stuck.yaml" --target host --work-dir "$TMPDIR/work" \
		--report "ndjson:$TMPDIR/log" >"$TMPDIR/out" 2>&1 &
	run=$!
	until_true has_cases "$run" || fail "no case was started"
	children=$(workers_of "$run")
	kill -"$1" "$run"
	status=0
	wait "$run" || status=$?
	[ "$status" -eq "$2" ] || fail "after SIG$1: status $status, must be $2"
	until_true all_gone "$children" || fail "after SIG$1 workers are left: $children"
}

# A background job of a shell ignores SIGINT from the start; the run sets its own handler.
interrupted INT 130
grep -q '"interrupted":true' "$TMPDIR/log" || fail "no report of an interrupted run"
[ -z "$(ls -A "$TMPDIR/work")" ] || fail "an interrupted run left $(ls "$TMPDIR/work")"
interrupted TERM 130
interrupted KILL 137
rm -rf "$TMPDIR/work"/*

# A fork server that dies takes its cases with it, and is started again for the others.
scenario slow '[swap-out, swap-in, {repeat: {count: 200}}]' '' 60s
"$program" run "$TMPDIR/slow.yaml" --target host --work-dir "$TMPDIR/work" --jobs 1 \
	--report "ndjson:$TMPDIR/log" >"$TMPDIR/out" 2>&1 &
run=$!
has_one_case() {
	[ "$(workers_of "$1" | wc -l)" -ge 2 ]
}
until_true has_one_case "$run" || fail "no case was started"
kill -KILL "$(workers_of "$run" | head -n 1)"
status=0
wait "$run" || status=$?
[ "$status" -eq 3 ] || fail "after the fork server died: status $status, must be 3"
[ "$(grep -c '"verdict":"broken"' "$TMPDIR/log")" -eq 1 ] || fail "not one case is broken"
[ "$(grep -c '"verdict":"pass"' "$TMPDIR/log")" -eq 5 ] || fail "the other five did not pass"
grep -q 'fork server died' "$TMPDIR/log" || fail "nobody said that the fork server died"

[ "$failed" -eq 0 ] && rm -rf "${TMPDIR:?}"/* && echo "runs end as they must"
exit "$failed"
