#!/bin/sh
# SPDX-License-Identifier: MIT
# test_guest_run.sh - target nvme: cases run in a guest, what came of them is told here, faults of the
# device strike there, its power goes and another guest looks at what is left, and neither a guest that
# dies nor a run that is killed leaves anything behind.
# shellcheck disable=SC2317 # functions are called through until_true
set -u

. "$SRC/harness/test/guest.sh"

steps='[prepare, swap-in]'

# Without QEMU: an error for who asked for guests by name, else a skip that says why.
scenario good "$steps" '{result: ok}'
mkdir empty
printf '#!/bin/sh\nPATH=%s exec %s "$@"\n' "$TMPDIR/empty" "$swaptorture" >bare
chmod +x bare
swaptorture=./bare
run 2 'target nvme: no qemu-system-x86_64' --target nvme good.yaml
run 77 'skipped: .*no qemu-system-x86_64' good.yaml
swaptorture=$BUILD/bin/swaptorture
[ -z "$(ls -A work)" ] || fail "left by runs without QEMU: $(ls work)"

skip_without_guests good.yaml

# What passes, fails, is broken there, is so here; of what did not pass is kept what there is.
run 0 '1 passed' --report ndjson:log good.yaml
grep -q '"type":"case","name":"good@nvme".*"verdict":"pass".*"wait_call":"io_' log ||
	fail "good: $(cat log)"
scenario wrong "$steps" '{result: error}'
run 1 'FAIL (contract)' wrong.yaml
kept=$(sed -n 's/^ *kept: *//p' out)
for file in case.txt events.txt outcome.ndjson console.txt; do
	[ -e "$kept/$file" ] || fail "wrong: $file is not kept"
done
grep -q 'io_submit' "$kept/events.txt" || fail 'wrong: its events are not there'
again=$(sed -n 's/^ *again: [^ ]* //p' out)
eval "expect 1 'FAIL (contract)' $again"
rm -rf work/*

# Faults of the device: one that strikes, one that nothing runs into, one in place of others.
scenario medium "$steps" '{result: error, error: ENODATA, cause: device, failures: 1}' \
	'faults: ["nvme.read#3 => error"]'
run 0 '1 passed' medium.yaml
run 3 'did not fire' --fault 'nvme.read#900 => error' medium.yaml
run 0 '1 passed' --fault 'nvme.read#1 => hold:until=nvme.read#4' good.yaml
rm -rf work/*

# An answer that never comes is a hang, told after the case's own deadline; the next case runs.
scenario stuck "$steps" '{result: ok, deadline: 1s}' 'faults: ["nvme.read#2 => hold:until=never"]'
run 1 'FAIL (hang)' stuck.yaml good.yaml
grep -q '1 passed, 1 failed' out || fail "stuck: $(tail -1 out)"
rm -rf work/*

# The power goes: a second guest finds what was promised, and what a core never synced is missed. A cut
# that nothing runs into shows nothing; one that nobody could see the outcome of is refused.
cuts=$SRC/scenarios/device/power-that-goes-in-a-swap-in.yaml
run 0 '1 passed' --case 'faults=nvme.read#1 => powercut:1' "$cuts"
run 3 'did not fire' --fault 'nvme.write#900 => powercut:1' "$cuts"
run 2 'powercut: nobody reads what is left' --fault 'nvme.read#1 => powercut:1' good.yaml
for sync in data manifest; do
	run 1 'FAIL (corruption)' "$SRC/scenarios/meta/power-goes-before-the-$sync-sync.yaml"
	grep -q 'after the power cut: .*generation . was made durable' out || fail "$sync: $(cat out)"
	grep -q 'nvme.*powercut.*INJECTED' out || fail "$sync: $(cat out)"
done
rm -rf work/*

# What the harness that has the guest started: QEMU, and a process for each device.
qemu_of() {
	children_of "$1" | while read -r pid; do
		[ "$(cat /proc/"$pid"/comm 2>/dev/null)" != qemu-system-x86 ] || echo "$pid"
	done
}
has_qemu() {
	[ -n "$(qemu_of "$1")" ]
}
start() {
	perl -e '$SIG{INT} = "DEFAULT"; setpgrp; exec @ARGV' \
		"$swaptorture" run --work-dir work "$@" >out 2>&1 &
	run=$!
	until_true has_qemu "$run" || fail "no guest was started: $(cat out)"
	children=$(children_of "$run")
}

# A guest that is killed makes its case broken, and another one runs the next.
scenario long "$steps" '{result: ok, deadline: 30s}' 'faults: ["nvme.read#2 => hold:until=never"]'
start long.yaml good.yaml
until_true grep -q '2 cases' out || fail "killed guest: $(cat out)"
# The device is there when the guest is up.
has_device() {
	[ "$(children_of "$run" | wc -l)" -ge 3 ]
}
until_true has_device || fail 'no device was made'
kill -KILL "$(qemu_of "$run")"
wait "$run"
status=$?
[ $status -eq 3 ] || fail "killed guest: status $status: $(tail -3 out)"
grep -q 'the guest died' out || fail "killed guest: $(cat out)"
grep -q '1 passed, 1 broken' out || fail "killed guest: $(tail -1 out)"
rm -rf work/*

# Ctrl-C and SIGKILL.
for signal in INT KILL; do
	start long.yaml
	kill -$signal "$run"
	wait "$run"
	status=$?
	[ $signal = KILL ] || [ $status -eq 130 ] || fail "$signal: status $status"
	until_true all_gone "$children" || fail "$signal: $children are left"
done
rm -rf work/*
end_test 'guests: run, strike, die, are replaced, leave nothing'
