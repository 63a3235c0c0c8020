#!/bin/sh
# SPDX-License-Identifier: MIT
# test_server_dies.sh - a fork server that is killed takes its running cases with it, which are broken
# and never failed, and is started again for all others.
# shellcheck disable=SC2317 # functions are called through until_true
set -u

. "$SRC/harness/test/lib.sh"
cd "$TMPDIR" || exit 1
mkdir work

# start JOBS SCENARIO OPTION...
start() {
	rm -f log
	"$swaptorture" run --jobs "$@" --work-dir work --report ndjson:log >out 2>&1 &
	run=$!
}

server() {
	children_of "$run" | head -n 1
}

verdicts() {
	grep -c '"type":"case".*"verdict":"'"$1"'"' log
}

# In the middle of a case, which is long enough to be met.
write_scenario six.yaml '[swap-out, swap-in]' 60s
sed '/^matrix/,/^  queue_depth: \[/d; s/steps: .*/steps: [swap-out, swap-in, {repeat: {count: 1000000}}]/' \
	six.yaml >long.yaml
start 1 long.yaml six.yaml
until_true has_children "$run" 2 || fail 'no case was started'
kill -KILL "$(server)"
wait "$run"
status=$?
[ "$status" -eq 3 ] || fail "after the fork server died: status $status, must be 3"
[ "$(verdicts broken)" -eq 1 ] || fail 'not one case is broken'
[ "$(verdicts pass)" -eq 6 ] || fail 'the other six did not pass'
grep -q 'fork server died' log || fail 'nobody said that the fork server died'

sed 's/targets: .*/targets: sim/
	s/^  queue_depth: .*/  queue_depth: ['"$(seq -s, 1 32)"']\
  block_size: [4K, 8K, 16K]\
  overlap_events: [true, false]\
  single_submit: [true, false]/' six.yaml >many.yaml
# More cases at once than the socket of the fork server holds.
expect 0 '^384 passed' run --jobs 256 --work-dir work many.yaml

# Between two cases, so that the next one is sent to a server that is dead: the run is held in its
# report, a pipe that nobody reads for a while.
mkfifo pipe
exec 3<>pipe
held() {
	grep -q pipe_write /proc/"$1"/wchan
}
start 1 many.yaml --report ndjson:pipe
until_true held "$run" || fail 'the pipe does not fill'
kill -KILL "$(server)"
cat <&3 >/dev/null &
drain=$!
wait "$run"
status=$?
kill "$drain"
exec 3>&-
[ "$status" -eq 0 ] || fail "a server died between two cases: status $status: $(tail -3 out)"

# At any moment.
start 1 many.yaml
killed=0
until_true has_children "$run" 1 || fail 'no fork server'
judged=0
while [ -e /proc/"$run"/exe ] && [ "$killed" -lt 40 ]; do
	pid=$(server)
	now=$(cat log 2>/dev/null | wc -l)
	if [ "$now" -gt "$judged" ] && kill -KILL "$pid" 2>/dev/null; then
		killed=$((killed + 1))
		judged=$now
	fi
done
wait "$run"
status=$?
[ "$status" -eq 3 ] || [ "$status" -eq 0 ] || fail "fork servers died: status $status: $(tail -3 out)"
[ "$(verdicts broken)" -le "$killed" ] ||
	fail "$(verdicts broken) cases are broken by $killed dead fork servers"
[ "$(($(verdicts pass) + $(verdicts broken)))" -eq 384 ] || fail "not every case was judged: $(tail -3 out)"

end_test "cases outlive $killed dead fork servers"
