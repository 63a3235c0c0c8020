#!/bin/sh
# SPDX-License-Identifier: MIT
# test_determinism.sh - a sim case that the caller drives is the same, record for record, a hundred times
# over; with threads of the library it has at least one verdict.
set -eu

program=$BUILD/bin/swaptorture
runs=100
scenario=$TMPDIR/determinism.yaml

# write_scenario WORKERS FAULT
write_scenario() {
	cat >"$scenario" <<END
title: Faults of several kinds, in an order drawn from the seed
origin: https://github.com/axboe/fio/pull/1556
contract: [C1, C3, C9]
targets: [sim]
swap:
  tensors:
    - {name: step, numel: 1, dtype: fp32}
    - {name: exp_avg, numel: 8191, dtype: fp32, file_offset: 513}
    - {name: exp_avg_sq, numel: 8192, dtype: fp32}
  steps: [swap-out, swap-in, swap-out, swap-in]
handle: {block_size: 4K, queue_depth: 8, workers: $1}
faults:
  - $2
  - io_event#5 => short:700
  - io_event#* => reorder:7
  - io_getevents#1..9+2 => few:0
expect: {result: ok, data: exact, deadline: 10s}
END
}

# several WORKERS RUNS FIELD FAULT: the different values of a field over all runs.
several() {
	write_scenario "$1" "$4"
	rm -f "$TMPDIR/log"
	for run in $(seq "$2"); do
		timeout 60 "$program" run "$scenario" --target sim --work-dir "$TMPDIR" --seed 5 \
			--report "ndjson:$TMPDIR/one" >"$TMPDIR/out" 2>&1 || {
			cat "$TMPDIR/out" >&2
			echo "FAIL: run $run with workers: $1" >&2
			exit 1
		}
		grep '"type":"case"' "$TMPDIR/one" >>"$TMPDIR/log"
	done
	sed -n 's/.*"'"$3"'":"\([^"]*\)".*/\1/p' "$TMPDIR/log" | sort -u
}

hashes=$(several 0 "$runs" log_hash 'io_submit#2 => accept:1')
# How threads share the blocks among their batches is theirs: a batch of one cannot be cut.
verdicts=$(several 2 20 verdict 'io_submit#2 => error:EAGAIN')
echo "workers 0, $runs runs: $hashes"
echo "workers 2, 20 runs: $verdicts"
[ "$(printf '%s\n' "$hashes" | wc -l)" -eq 1 ] || {
	echo "FAIL: the event log differs between runs"
	exit 1
}
[ -n "$hashes" ] && [ "$verdicts" = pass ] && rm -rf "${TMPDIR:?}"/*
