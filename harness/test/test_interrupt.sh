#!/bin/sh
# SPDX-License-Identifier: MIT
# test_interrupt.sh - Ctrl-C at any moment of a run ends it in order, with what ran reported, nothing
# left behind and status 130; unless it was ignored from the start. A second one later ends it at once.
# shellcheck disable=SC2317 # functions are called through until_true
set -u

. "$SRC/harness/test/lib.sh"
cd "$TMPDIR" || exit 1
mkdir work
write_scenario quick.yaml '[swap-out, swap-in]' 5s
write_scenario stuck.yaml '[prepare, swap-in]' 60s 'faults: [io_event#2 => drop]'

# start OPTION...: a run in the background that does not ignore SIGINT, as a shell would have it, and
# that is the leader of a process group, as on a terminal.
start() {
	perl -e '$SIG{INT} = "DEFAULT"; setpgrp; exec @ARGV' \
		"$swaptorture" run --work-dir work "$@" >out 2>&1 &
	run=$!
}

# Is there a handler of SIGINT, which is bit 1?
catches() {
	grep -q '^SigCgt:.*[2367abef]$' /proc/"$1"/status
}

ended() {
	wait "$run"
	status=$?
	[ "$status" -eq "$2" ] || fail "$1: status $status, must be $2: $(tail -3 out)"
}

nothing_left() {
	[ -z "$(ls -A work)" ] || fail "$1: left $(ls work)"
}

# A run of stuck cases is told to stop, by one signal or several.
interrupted() {
	what=$1
	shift
	rm -f log
	start --target host --report ndjson:log stuck.yaml
	until_true has_children "$run" 3 || fail "$what: no case was started"
	children=$(children_of "$run")
	for signal in "$@"; do
		kill -"$signal" "$run"
	done
	ended "$what" 130
	until_true all_gone "$children" || fail "$what: workers are left: $children"
	grep -q '"interrupted":true' log || fail "$what: no report of an interrupted run"
	nothing_left "$what"
}

interrupted 'one SIGINT' INT
interrupted 'one SIGTERM' TERM
interrupted 'one SIGHUP' HUP
interrupted 'several at once' INT TERM INT TERM

# On a terminal everybody in the group is struck; workers are not in it.
start --target host --report ndjson:log stuck.yaml
until_true has_children "$run" 3 || fail 'no case was started'
kill -INT -"$run"
ended 'a terminal' 130
grep -q '"verdict"' log && fail "a terminal: cases were judged: $(grep '"verdict"' log | head -1)"
nothing_left 'a terminal'

# Before anything runs: here, where the report waits for its reader.
mkfifo pipe
start --report ndjson:pipe quick.yaml
until_true catches "$run" || fail 'no handler during planning'
kill -INT "$run"
ended 'planning' 130
nothing_left 'planning'

# While a worker starts, which may take a minute: this valgrind never does.
mkdir bin
printf '#!/bin/sh\nexec tail -f /dev/null\n' >bin/valgrind
chmod +x bin/valgrind
sed 's/targets: .*/targets: sim/' quick.yaml >simulated.yaml
PATH=$PWD/bin:$PATH start --under memcheck --report ndjson:log simulated.yaml
until_true has_children "$run" 1 || fail 'no worker was started'
children=$(children_of "$run")
kill -INT "$run"
ended 'a worker that does not start' 130
until_true all_gone "$children" || fail "a worker that did not start is left"
grep -q '"interrupted":true' log || fail 'a worker that does not start: no report'
nothing_left 'a worker that does not start'

# What is ignored from the start stays ignored.
perl -e '$SIG{INT} = "IGNORE"; exec @ARGV' \
	"$swaptorture" run --work-dir work --report ndjson:pipe quick.yaml >out 2>&1 &
run=$!
until_true grep -q swaptorture /proc/"$run"/comm || fail 'the run was not started'
kill -INT "$run"
grep -q '"interrupted":false' pipe || fail 'an ignored SIGINT interrupts'
ended 'an ignored SIGINT' 0

# A fork server that does not end keeps the run from ending; a second signal does not wait for it.
ends_by_term() {
	kill -TERM "$run"
	all_gone "$run"
}
start --target host stuck.yaml
until_true has_children "$run" 3 || fail 'no case was started'
children=$(children_of "$run")
kill -STOP "$(echo "$children" | head -n 1)"
until_true ends_by_term || fail 'a second SIGTERM does not end the run'
ended 'a second SIGTERM' 130
until_true all_gone "$children" || fail "after a second SIGTERM workers are left: $children"
rm -rf work/*

end_test 'interrupted runs end as they must'
