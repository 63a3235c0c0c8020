#!/bin/sh
# SPDX-License-Identifier: MIT
# test_shared_process.sh - a process of sim has case after case: each leaves the same event log as in a
# process of its own, and what is not a pass is always told of a new process.
set -eu

program=$BUILD/bin/swaptorture

cat >"$TMPDIR/turns.yaml" <<END
title: The same four cases in turn
origin: https://github.com/axboe/fio/pull/1556
contract: [C1, C3]
targets: [sim]
swap:
  tensors:
    - {name: step, numel: 1, dtype: fp32}
    - {name: exp_avg, numel: 8191, dtype: fp32, file_offset: 513}
  steps: [swap-out, swap-in]
handle: {block_size: 4K, workers: 0}
matrix:
  requests_max: [$(seq -s ', ' 50 74)]
  queue_depth: [3, 4, 8, 9]
faults: ['io_event#5 => short:700', 'io_getevents#1 ready=0 => signal:USR1']
expect: {result: ok, data: exact, deadline: 10s}
END
sed -e 's/^title: .*/title: What must fail/' -e 's/result: ok/result: error/' \
	"$TMPDIR/turns.yaml" >"$TMPDIR/wrong.yaml"

# run_shared WORD...: their cases, as few processes as there are places.
run_shared() {
	timeout 60 "$program" run "$@" --target sim --work-dir "$TMPDIR" --seed 5 \
		--report "ndjson:$TMPDIR/one" >"$TMPDIR/out" 2>&1 || true
	grep '"type":"case"' "$TMPDIR/one" >"$TMPDIR/log"
}

# kinds: depth and hash of each case, without repetitions.
kinds() {
	sed -n 's/.*queue_depth=\([0-9]*\).*"log_hash":"\([^"]*\)".*/\1 \2/p' "$TMPDIR/log" | sort -u
}

for depth in 3 4 8 9; do
	run_shared "$TMPDIR/turns.yaml" --case "queue_depth=$depth" --case requests_max=50
	grep -q '"shared":false' "$TMPDIR/log" || exit 1
	kinds >>"$TMPDIR/alone"
done
run_shared "$TMPDIR/turns.yaml"
[ "$(grep -c '"verdict":"pass".*"shared":true' "$TMPDIR/log")" -ge 90 ] || {
	echo "FAIL: processes are not shared: $(cat "$TMPDIR/out")"
	exit 1
}
kinds >"$TMPDIR/together"
cmp "$TMPDIR/alone" "$TMPDIR/together" || {
	echo "FAIL: a case behind others has another event log:"
	cat "$TMPDIR/alone" "$TMPDIR/together"
	exit 1
}

run_shared "$TMPDIR/turns.yaml" "$TMPDIR/wrong.yaml"
[ "$(grep -c '"verdict":"fail".*"shared":false' "$TMPDIR/log")" -eq 100 ] || {
	echo "FAIL: a failure of a process that had other cases is told: $(tail -3 "$TMPDIR/out")"
	exit 1
}
rm -rf "${TMPDIR:?}"/*
