#!/bin/sh
# SPDX-License-Identifier: MIT
# test_run.sh - what a run does when things around it are not as they should be: work directories that
# cannot be used, limits that are low; and that nothing stays behind.
set -u

. "$SRC/harness/test/lib.sh"
cd "$TMPDIR" || exit 1
write_scenario quick.yaml '[swap-out, swap-in]' 5s
sed 's/numel: 16384/numel: 1024/' quick.yaml >tiny.yaml

# refused DIR WORDS: the run refuses DIR, says so with its path and WORDS, and leaves nothing there.
refused() {
	status=0
	timeout 30 "$swaptorture" run tiny.yaml --work-dir "$1" >out 2>&1 || status=$?
	[ "$status" -eq 2 ] || fail "work directory $1: status $status, must be 2"
	grep -q "$1.*$2" out || fail "work directory $1: $(cat out)"
	[ "$(wc -l <out)" -eq 1 ] || fail "work directory $1: more than one line: $(cat out)"
}

refused "$TMPDIR/nowhere" 'No such file or directory'
: >file
refused "$TMPDIR/file" 'Not a directory'
mkdir small
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=8k tmpfs small 2>/dev/null; then
	refused "$TMPDIR/small" 'cannot be written to: No space left on device'
	expect 77 'skipped: .*disk space in small: 0 MiB free, 1 MiB needed' \
		run --work-dir small quick.yaml
	[ -z "$(ls -A small)" ] || fail "something was left in a full directory"
	# It fills while the run goes on: by the cases that fail, which are kept.
	mount -o remount,size=400k small
	sed 's/{deadline/{result: error, deadline/' quick.yaml >failing.yaml
	expect 1 'BROKEN' run --work-dir small --jobs 1 failing.yaml
	grep -q 'ENOSPC of .* in .*/small/swaptorture-.*: the disk is full, .*--work-dir' out ||
		fail "a disk that fills up: $(cat out)"
	grep -q '^0 passed, [1-5] failed, [1-5] broken' out || fail "a disk that fills up: $(tail -1 out)"
	rm -rf small/*
	mount -o remount,ro small
	refused "$TMPDIR/small" 'Read-only file system'
	umount small
fi

# A tensor that is larger than memory is skipped, not tried.
sed 's/numel: 16384/numel: 1099511627776/' quick.yaml >huge.yaml
expect 77 'skipped: .*memory: [0-9]* MiB available, 4194304 MiB needed' run --work-dir . huge.yaml

# In order: all passed, nothing left behind.
mkdir work
expect 0 '^6 passed' run --work-dir work quick.yaml
[ -z "$(ls -A work)" ] || fail "a plain run left $(ls work)"

# below LIMIT VALUE EXPECTATION...
below() {
	what="$1 $2"
	(
		failures=0
		# shellcheck disable=SC3045 # dash and bash have both limits
		ulimit "$1" "$2"
		shift 2
		expect "$@"
		exit "$failures"
	) || fail "below ulimit $what"
}

# Few descriptors: fewer cases at once, or the limit is named. A small stack is enough.
below -n 16 2 'RLIMIT_NOFILE (ulimit -n) is 16: this run needs at least [0-9][0-9]' \
	run --work-dir work quick.yaml
below -n 20 0 '^6 passed' run --work-dir work quick.yaml
sed 's/targets: .*/targets: sim/; s/{deadline/{result: error, deadline/' quick.yaml >failing.yaml
below -s 64 0 '^2 scenarios, 12 cases' list quick.yaml failing.yaml
below -s 64 1 'kept: ' run --work-dir work quick.yaml failing.yaml

# What is kept is as it was: holes, which sim's files have plenty of, take no room on the disk.
sed 's/steps: .*/steps: [prepare, {truncate: {bytes: 64M}}, swap-in]/' failing.yaml >sparse.yaml
rm -rf work/*
expect 1 'kept: ' run --work-dir work sparse.yaml
for file in work/*/0000-*/exp_avg.swp; do
	[ "$(stat -c %s "$file")" -eq 67108864 ] || fail "$file has $(stat -c %s "$file") bytes"
	[ "$(stat -c %b "$file")" -lt 1024 ] || fail "$file has $(stat -c %b "$file") blocks"
done

end_test 'work directories are refused and emptied as they must'
