#!/bin/sh
# SPDX-License-Identifier: MIT
# test_restart.sh - a step restart: the next steps run in a fresh process, with the faults that are for it; what an
# injected crash or kill cut off is skipped, any other death ends the case; each process is judged for itself; and a
# case replays.
set -u
. "$SRC/harness/test/lib.sh"
cd "$TMPDIR" || exit 1

# write_case STEPS [LINE...]
write_case() {
	cat >case.yaml <<END
title: A case for the tests of restart
origin: https://github.com/linux-blktests/blktests
contract: C15
targets: [sim, host]
swap:
  tensors:
    - {name: exp_avg, numel: 16384, dtype: fp32}
  steps: $1
handle: {block_size: 16K, queue_depth: 4, workers: 0}
END
	shift
	for line; do
		echo "$line" >>case.yaml
	done
}

# run_case STATUS PATTERN [OPTION...]
run_case() {
	status=$1 pattern=$2
	shift 2
	expect "$status" "$pattern" run case.yaml --work-dir . --report ndjson:log "$@"
}

two_processes='[swap-out, sync, swap-out, restart, swap-in]'

write_case "$two_processes"
run_case 0 '2 passed'

# Four writes, all of them wrong; behind the restart nothing is injected any more.
write_case '[{swap-out: {expect: EIO}}, restart, swap-out, swap-in]' \
	'faults: ["io_event#* => res:EIO"]' 'expect: {result: error, failures: 1}'
run_case 0 '2 passed'

# The steps that the crash cut off are skipped, and nobody misses their answers.
write_case '[swap-out, sync, swap-out, {close: {expect: EBUSY}}, restart, swap-in]' \
	'faults: ["io_event#6 => crash:5"]'
run_case 0 '1 passed' --target sim
run_case 3 'only sim can lose what is not durable' --target host

# Without a crash the close has to answer what the step expects of it.
write_case '[swap-out, {cancel: {expect: EBUSY}}, restart, swap-in]'
run_case 1 'step 2 (cancel) does not answer EBUSY' --target sim

# A crash that nobody looks behind, and one that does not come.
write_case '[swap-out, swap-in]' 'faults: ["io_event#2 => crash:1"]'
run_case 3 'no step restart follows' --target sim
write_case "$two_processes" 'faults: ["io_event#99 => crash:1"]'
run_case 3 'did not fire' --target sim

# A kill cuts off steps likewise, on both targets; what it leaves is read, and may be lost only when
# the power goes in a later process.
write_case '[swap-out, sync, swap-out, {close: {expect: EBUSY}}, restart, swap-in]' \
	'faults: ["io_submit#2 => kill"]'
run_case 0 '2 passed'
write_case '[swap-out, swap-in]' 'faults: ["io_submit#2 => kill"]'
run_case 3 'the process was killed as scheduled, and nobody reads what it left'
write_case "$two_processes" 'faults: ["io_submit#99 => kill"]'
run_case 3 'did not fire'

# What image=2 says is of the second process alone, and its calls are counted from one.
later='[swap-out, sync, restart, swap-out, swap-out, restart, swap-in]'
write_case "$later" 'faults: ["io_event#6 image=2 => res:EIO"]'
run_case 0 '2 passed'
write_case "$later" 'faults: ["io_event#6 => res:EIO"]'
run_case 3 'did not fire'
write_case "$later" 'faults: ["io_event#6 image=2 => crash:5"]'
run_case 0 '1 passed' --target sim
write_case "$later" 'faults: ["io_event#6 image=3 => crash:5"]'
run_case 3 'did not fire' --target sim
write_case "$later" 'faults: ["io_event#2 image=3 => crash:5"]'
run_case 3 'no step restart follows' --target sim
write_case "$later" 'faults: ["io_event#6 image=4 => crash:5"]'
expect 2 'faults: image=4: the case has 3 processes' run case.yaml
write_case '[swap-out, restart, truncate: {bytes: 4096}, swap-out, restart, swap-in]' \
	'faults: ["io_event#2 image=2 => crash:5"]'
expect 2 'image=2: step 3 (truncate) must stand behind the restart that follows it' run case.yaml
write_case '[swap-out, restart, truncate: {bytes: 4096}, swap-out, restart, swap-in]' \
	'faults: ["io_event#2 image=2 => kill"]'
run_case 0 '1 passed' --target sim

# The first process wrote and did not sync; the power goes in the second, and takes that, too.
lost=0
for seed in 1 2 3 4 5 6 7 8; do
	write_case '[swap-out, restart, swap-out, restart, {swap-in: {expect: any}}, swap-out]' \
		"faults: [\"io_submit#1 image=2 => crash:$seed\"]"
	run_case 0 '1 passed' --target sim --keep
	grep -l 'ENODATA\|ENOENT\|"error":61\|"error":2[,}]' swaptorture-*/*/outcome.ndjson >found &&
		lost=$((lost + 1))
	rm -rf swaptorture-*
done
[ "$lost" -gt 0 ] || fail "what an earlier process wrote is never lost"

# A store that is not asked to be durable promises nothing, whatever a crash makes of it.
write_case '[swap-out, swap-out, restart, swap-out, swap-in]' 'store: {threads: 0, durable: false}' \
	'faults: ["io_event#9 => crash:1"]'
run_case 3 'nothing was promised then: the store is opened with durable: false' --target sim
write_case '[swap-out, swap-out, restart, swap-out, swap-in]' 'store: {threads: 0}' \
	'faults: ["io_event#9 => crash:1"]'
run_case 0 '1 passed' --target sim

# Any other death is a crash of the program, and no process follows.
write_case "$two_processes" 'core: crashes-on-error' 'faults: ["io_event#2 => res:EIO"]'
run_case 1 'FAIL (crash)' --target sim
grep -q 'in step 1 (swap-out)' out || fail "the crash was not in step 1: $(cat out)"

# What the first process leaks is found, although another one came after it.
write_case "$two_processes" 'core: leaks-descriptors'
run_case 1 'FAIL (leak)' --target sim

# A file that changes between two processes is no longer what was swapped out.
write_case '[swap-out, restart, corrupt: {offset: 77}, swap-in]'
run_case 1 'one bit of byte 77 flipped'
write_case '[swap-out, restart, truncate: {bytes: 4096}, {swap-in: {expect: ENODATA}}]' \
	'expect: {result: error}'
run_case 0 '2 passed'

# It replays, by its own line too.
meta=$SRC/scenarios/meta/synced-write-is-lost.yaml
expect 1 'generation 2 was made durable' run "$meta" --work-dir . --report ndjson:first
again=$(sed -n 's/^ *again: *//p' out)
for run in 1 2 3; do
	sh -c "$again --report ndjson:log" >out 2>&1
	for field in reason log_hash; do
		[ "$(sed -n 's/.*"'$field'":"\([^"]*\)".*/\1/p' first)" = \
			"$(sed -n 's/.*"'$field'":"\([^"]*\)".*/\1/p' log)" ] ||
			fail "run $run has another $field"
	done
done

# A promise that a rename renewed: of the second file, not of the first.
expect 1 'generation 2 was made durable' run "$SRC/scenarios/meta/replaced-file-is-a-mixture.yaml" \
	--work-dir .
expect 1 'are not what the file holds' run "$SRC/scenarios/meta/reads-another-file-after-a-crash.yaml" \
	--work-dir .

# A later process goes on counting generations: it can tell its own writes from those before.
write_case '[swap-out, swap-out, restart, swap-out, restart, swap-in]'
run_case 0 '1 passed' --target sim --keep
grep -h '"k":"request","step":3.*"write":1.*"generation":3' swaptorture-*/*/outcome.ndjson >out ||
	fail "the second process does not write generation 3"
grep -h '"k":"request","step":5.*"write":0.*"generation":3' swaptorture-*/*/outcome.ndjson >out ||
	fail "the third process does not know of generation 3"

# Steps that cannot be.
refuse() {
	write_case "$2"
	expect 2 "$1" run case.yaml
}
refuse 'restart: no step stands before it' '[restart, swap-in]'
refuse 'restart: no step stands before it' '[swap-out, restart, restart, swap-in]'
refuse 'restart: no step stands behind it' '[swap-out, restart]'
refuse 'corrupt: must stand behind the restart' '[swap-out, corrupt: {offset: 1}, restart, swap-in]'
refuse 'prepare: must stand before the first write' '[swap-out, prepare, restart, swap-in]'
refuse 'repeat: there is no step to repeat' '[swap-out, restart, repeat: {count: 2}]'
write_case '[swap-out, swap-in]' 'expect: {data: old-or-new}'
expect 2 'a step restart is due' run case.yaml

end_test "restart: processes follow one another, and replay"
