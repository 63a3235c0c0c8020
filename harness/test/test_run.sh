#!/bin/sh
# SPDX-License-Identifier: MIT
# test_run.sh - what a run does when things around it are not as they should be: work directories that
# cannot be used, limits that are low; and that nothing stays behind.
set -u

. "$SRC/harness/test/lib.sh"
cd "$TMPDIR" || exit 1
write_scenario quick.yaml '[swap-out, swap-in]' 5s

# refused DIR WORDS: the run refuses DIR, says so with its path and WORDS, and leaves nothing there.
refused() {
	status=0
	timeout 30 "$swaptorture" run "$TMPDIR/quick.yaml" --target host --work-dir "$1" \
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
timeout 60 "$swaptorture" run "$TMPDIR/quick.yaml" --target host --work-dir "$TMPDIR/work" \
	>"$TMPDIR/out" 2>&1 || fail "a plain run: $(cat "$TMPDIR/out")"
[ -z "$(ls -A "$TMPDIR/work")" ] || fail "a plain run left $(ls "$TMPDIR/work")"

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
