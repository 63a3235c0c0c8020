#!/bin/sh
# SPDX-License-Identifier: MIT
# test_leftovers.sh - what a run leaves that had no time to tidy up is removed by the next one, on disk
# and in memory; but nothing of a run that lives, no case that was kept, and nothing of anybody else.
# shellcheck disable=SC2317 # functions are called through until_true
set -u

. "$SRC/harness/test/lib.sh"
cd "$TMPDIR" || exit 1
mkdir work
write_scenario quick.yaml '[swap-out, swap-in]' 5s
write_scenario stuck.yaml '[prepare, swap-in]' 60s 'faults: [io_event#2 => drop]'
sed 's/targets: .*/targets: sim/' quick.yaml >simulated.yaml
# One case fails and is kept, then the others hang.
write_scenario failing.yaml '[prepare, swap-in]' 60s 'expect: {result: error}'
sed -i '/^expect: {deadline/d; s/^  queue_depth: \[.*/  queue_depth: [4]/' failing.yaml

# start PATH...: a run in the background
start() {
	"$swaptorture" run --work-dir work "$@" >log 2>&1 &
	run=$!
}

# places_of PID: its directories, on disk and in memory
places_of() {
	grep -l "^$1\$" work/swaptorture-*/.swaptorture-owner \
		/dev/shm/swaptorture-*/.swaptorture-owner 2>/dev/null | sed 's|/[^/]*$||'
}

is_kept() {
	ls work/swaptorture-*/0000-failing-*/case.txt >/dev/null 2>&1
}

next_run() {
	expect 0 '^6 passed' run --work-dir work quick.yaml
}

start failing.yaml stuck.yaml simulated.yaml --jobs 3
until_true is_kept || fail "no case was kept: $(cat log)"
until_true has_children "$run" 3 || fail 'no case hangs'
places=$(places_of "$run")
[ "$(echo "$places" | wc -l)" -eq 2 ] || fail "not two places but: $places"
mkdir work/swaptorture-abcdef work/swaptorture-strange
touch work/swaptorture-abcdef/job0 # without a mark it is nobody's
ln -s "$TMPDIR" work/swaptorture-linked
echo 1 >work/swaptorture-strange/.swaptorture-owner
mkdir work/swaptorture-strange/job0 work/swaptorture-strange/0000-a-case

# It lives: not touched.
next_run
for place in $places; do
	[ -n "$(find "$place" -name 'job[0-9]*' -o -name 'sim[0-9]*')" ] ||
		fail "$place of a living run was emptied"
done

children=$(children_of "$run")
kill -KILL "$run"
wait "$run" 2>/dev/null
until_true all_gone "$children" || fail "workers outlive a killed run"
next_run
for place in $places; do
	case $place in
	/dev/shm/*) [ ! -e "$place" ] || fail "$place was not removed" ;;
	*) [ "$(ls -A "$place" | wc -l)" -eq 1 ] || fail "$place holds $(ls -A "$place")" ;;
	esac
done
is_kept || fail 'a kept case was removed'
next_run
is_kept || fail 'a kept case was removed, later'
[ -e work/swaptorture-abcdef/job0 ] || fail 'a directory without a mark was emptied'
[ -e quick.yaml ] || fail 'a link was followed'
[ "$(ls -A work/swaptorture-strange)" = 0000-a-case ] ||
	fail "a dead owner's directory holds $(ls -A work/swaptorture-strange)"

end_test 'a killed run is tidied up by the next one'
