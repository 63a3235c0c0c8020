#!/bin/sh
# SPDX-License-Identifier: MIT
# test_cli.sh - the command line: what it refuses and how, help, exit statuses, reports, repro lines.
set -u

. "$SRC/harness/test/lib.sh"
cd "$TMPDIR" || exit 1

mkdir -p scenarios/group scenarios/meta
cat >scenarios/group/good.yaml <<'YAML'
title: A read arrives
contract: C3
swap:
  tensors: [{name: a, numel: 4096}]
  steps: [prepare, swap-in]
handle: {block_size: 4K, queue_depth: 4}
matrix:
  workers: [0, 1]
expect: {result: ok}
YAML
cat >scenarios/group/odd.yaml <<'YAML'
title: A short read is resumed
targets: sim
swap:
  tensors: [{name: exp_avg, numel: 4096}]
  steps: [prepare, swap-in]
handle: {block_size: 4K, queue_depth: 4}
matrix:
  faults:
    - io_event#2 op=read => short:512
    - ["io_event#1 => short:1", "io_event#3 op=read => short:7"]
expect: {result: ok}
YAML
sed '/^handle/i targets: nvme\nfaults: nvme.write#1 => lost' scenarios/group/good.yaml >device.yaml
sed 's/^targets.*/targets: sim/' device.yaml >device-on-sim.yaml
sed 's/^contract.*/needs: [memory-999999G]/' scenarios/group/good.yaml >needy.yaml
sed 's/result: ok/result: error/' scenarios/group/good.yaml >failing.yaml
echo 'title: [' >scenarios/meta/bad.yaml
echo 'title: t' >bad.yaml

# Usage errors: status 2, and what is allowed.
expect 2 'Usage: .* COMMAND'
expect 0 'Usage: .* COMMAND' --help
expect 0 'swaptorture [0-9]' --version
expect 2 "unknown command 'lsit', did you mean 'list'" lsit
expect 2 "unknown option '--hlp'" --hlp
for command in run exec list points new schema; do
	expect 0 "Usage: .* $command" $command --help
	expect 2 'unknown option --nosuchthing' $command --nosuchthing
done
expect 2 'did you mean --target' run --targt sim
expect 2 'unknown option -z' run -z
expect 2 'needs an argument: TARGET' run --target
expect 2 'takes no argument' run --keep=yes
expect 2 "did you mean 'sim'" run --target sin
expect 2 'must be a number, 0 to' run --seed -1
expect 2 'must be a number, 1 to 256' run --jobs 0
expect 2 'must be memcheck, helgrind, asan or tsan' run --under strace
expect 2 'this version has host only' run --accel xpu
expect 2 "did you mean 'ndjson'" run --report njson:x scenarios/group
expect 2 'must be FORMAT:FILE' run --report tap scenarios/group
expect 2 'nowhere/x: No such file' run --report tap:nowhere/x scenarios/group
expect 2 'only one of them can be standard output' \
	run --report tap:- --report ndjson:- scenarios/group
expect 2 'nowhere: No such file or directory' run nowhere
expect 2 "bad.yaml:1:1: key 'swap' or 'program' is missing" run bad.yaml
expect 2 'scenarios/meta/bad.yaml:2:1: no YAML' list scenarios/meta
expect 2 "no matrix has the key 'wokers', did you mean 'workers'" run --case wokers=1
expect 2 'is one of 0, 1' run --case workers=2
expect 2 "no point 'io_sumbit'" run --fault 'io_sumbit => error:EIO'
expect 2 'no case is left' run --target nvme
expect 2 'nvme.read is a point of the device under a guest, and target sim has none' \
	run --target sim --fault 'nvme.read#1 => error' scenarios/group/good.yaml
expect 2 'and target host has none (target nvme has)' \
	run --target host --fault 'nvme.flush => lost' scenarios/group/good.yaml
expect 2 'device-on-sim.yaml: faults: nvme.write is a point of the device' run device-on-sim.yaml
expect 2 'powercut: nobody reads what is left: no step restart follows' \
	run --target nvme --fault 'nvme.read#1 => powercut' device.yaml
expect 2 'fault: remove: nothing puts the device back: a step device-return is due, or aftermath' \
	run --target nvme --fault 'nvme.read#1 => remove' device.yaml
expect 2 'nvme.read is a point of the device under a guest, and target sim has none' \
	run --target sim --fault 'nvme.read#1 => remove' scenarios/group/good.yaml
expect 2 "no point is named 'io_sumbit', did you mean 'io_submit'" points io_sumbit
expect 2 'no words are expected' schema x
expect 2 'work' run --work-dir /nowhere scenarios/group

# A sanitizer is found in a build beside the program, and missed where there is none.
mkdir -p alone/bin alone/lib
cp "$BUILD/bin/swaptorture" "$BUILD/bin/swaptorture-worker" alone/bin
cp "$BUILD/lib/libswapfault.so" "$BUILD/lib/swaptorture.supp" alone/lib
swaptorture=alone/bin/swaptorture
expect 2 '--under tsan: no such build here; make build-tsan makes it' \
	run --under tsan scenarios/group/good.yaml
swaptorture=$BUILD/bin/swaptorture
rm -r alone

# Lists come without running anything.
expect 0 '^2 scenarios, 6 cases$' list
expect 0 '^group/good\[workers=1\]@host$' list --cases --target host
expect 0 'io_event (aio)' points io_event
# shellcheck disable=SC2016 # backquotes of Markdown
expect 0 '^| `io_submit` | `accept:COUNT` | transparent | C9 ' points --markdown
expect 0 '"effect": "fails-all"' points --json io_setup
expect 0 'nvme.read (nvme): .*target nvme only' points nvme.read
expect 0 '"libfiu": null' points --json nvme.read

# Runs: status, reports, several at once.
expect 0 '6 passed' run --report ndjson:r.ndjson --report tap:r.tap
[ "$(grep -c '"type":"case".*"verdict":"pass"' r.ndjson)" -eq 6 ] || fail 'r.ndjson lacks cases'
[ "$(grep -c '^ok ' r.tap)" -eq 6 ] || fail 'r.tap lacks cases'
expect 0 '^1\.\.6$' run --report tap:-
expect 3 'VACUOUS' run --target sim --case workers=0 --fault 'io_event#9 => dup'
expect 3 'did not fire' run --target sim --case workers=0 --fault 'io_event#9 => dup'
expect 77 'skipped: needy.yaml: memory: .* needed' run needy.yaml
expect 1 'FAIL (contract)' run --target sim failing.yaml
expect 2 'No space left on device' run --report ndjson:/dev/full
"$swaptorture" points >/dev/full 2>err && fail 'points onto a full disk ended with 0'
grep -q 'No space left on device' err || fail 'points onto a full disk did not say so'

# Who reads no further has seen enough: not a word of it, and no success.
mkfifo closed
{
	read -r _ <closed
	"$swaptorture" list 2>err
	echo $? >status
} | {
	exec <&-
	echo >closed
}
grep -q . err && fail "list into a closed pipe said $(cat err)"
[ "$(cat status)" -eq 2 ] || fail "list into a closed pipe ended with $(cat status)"

# A closed stream is an error, and nothing else gets its number; a limit on files kills nobody.
"$swaptorture" run --target sim --report ndjson:closed.ndjson <&- >&- 2>err
[ $? -eq 2 ] || fail 'a run onto a closed standard output did not end with 2'
grep -v -q '^{' closed.ndjson && fail 'a closed standard output got the number of the report'
(ulimit -f 0 && "$swaptorture" run --target host --work-dir . 2>&1) | cat >out
grep -q 'cannot be written to: File too large' out || fail "below ulimit -f 0: $(head -3 out)"

# Every repro line, pasted into a shell, runs just that case.
"$swaptorture" list --repro >lines || fail 'list --repro'
[ "$(wc -l <lines)" -eq 6 ] || fail 'list --repro lacks lines'
while read -r line; do
	sh -c "$line" >out 2>&1 || fail "$line: $(tail -3 out)"
	grep -q '^1 passed' out || fail "'$line' ran $(head -1 out)"
done <lines
"$swaptorture" run --target sim --seed 5 failing.yaml >out 2>&1
line=$(sed -n 's/^  again: //p' out | head -1)
sh -c "$line" >again 2>&1
[ "$(grep -c '^FAIL' again)" -eq 1 ] || fail "'$line' did not fail again"
grep -q '^0 passed, 1 failed' again || fail "'$line' ran more than one case"
grep -q 'seed 5$' again || fail "'$line' ran with another seed"

# A new scenario runs as it is, and is never overwritten.
expect 0 'fresh/first-try.yaml is made' new fresh/first-try
expect 2 'File exists, it is left as it is' new fresh/first-try
expect 0 '^4 passed' run --target sim scenarios/fresh/first-try.yaml
expect 2 'must be GROUP/NAME' new ../etc/passwd
expect 2 'must be GROUP/NAME' new Group/Name
expect 2 'must be GROUP/NAME' new justone
expect 2 'GROUP/NAME is missing' new
expect 2 'one name at a time' new a/b c/d

(cd / && "$swaptorture" new group/name) >out 2>&1
grep -q 'no directory scenarios here, --dir names one' out || fail "new where there are none: $(cat out)"

# The schema that ships is the one of this program, and so is the man page's list of keys.
"$swaptorture" list --presets >presets
grep -q '^torch-adam .*\[1, N, N\]' presets || fail "list --presets does not tell torch-adam"

"$swaptorture" schema >schema.json
cmp -s schema.json "$SRC/docs/scenario.schema.json" ||
	fail "docs/scenario.schema.json is old: make it anew with 'swaptorture schema'"
"$swaptorture" schema --mdoc >keys.mdoc
sed -n '/^\.Ss Keys of the file/,/^\.\\" end of the keys/p' "$SRC/docs/man/swaptorture-scenario.5" |
	sed '$d' >page.mdoc
cmp -s keys.mdoc page.mdoc ||
	fail "swaptorture-scenario.5 has old keys: see 'swaptorture schema --mdoc'"

end_test 'the command line answers as it must'
