#!/bin/sh
# SPDX-License-Identifier: MIT
# test_run.sh - what a run does when things around it are not as they should be: work directories that
# cannot be used; and that nothing stays behind.
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

end_test 'work directories are refused and emptied as they must'
