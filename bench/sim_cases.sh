#!/bin/sh
# SPDX-License-Identifier: MIT
# sim_cases.sh - how many standard cases a second the harness runs in sim, all oracles on: three tensors
# of at most 64 KiB, swapped out and in, under a signal. The goal is 2,000 on two cores. Beside it,
# because machines are shared: how many processes this machine starts and ends a second, just then.
#
# usage: sim_cases.sh [ROUNDS], with BUILD the build directory
set -eu

build=${BUILD:-$(dirname "$0")/../build}
rounds=${1:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

list() {
	seq -s ', ' "$1" "$2"
}

cat >"$work/standard.yaml" <<END
title: The standard case
origin: https://github.com/axboe/fio/pull/1556
contract: C1
targets: [sim]
swap:
  tensors:
    - {name: step, numel: 1, dtype: fp32}
    - {name: exp_avg, numel: 8192, dtype: fp32}
    - {name: exp_avg_sq, numel: 8191, dtype: fp32}
  steps: [swap-out, swap-in]
handle: {block_size: 16K, workers: 0}
matrix:
  overlap_events: [true, false]
  queue_depth: [$(list 4 35)]
  requests_max: [$(list 32 47)]
faults:
  - io_getevents#1 ready=0 => signal:USR1
expect: {result: ok, data: exact, deadline: 5s}
END

for round in $(seq "$rounds"); do
	"$build/bin/swaptorture" run "$work/standard.yaml" --target sim \
		--report "ndjson:$work/log" >"$work/out" 2>&1 || {
		cat "$work/out"
		exit 1
	}
	forks=$("$build/bench/forks" 2>/dev/null || echo '?')
	sed -n 's/.*"type":"summary".*"duration_ns":\([0-9]*\).*"pass":\([0-9]*\).*/\1 \2/p' \
		"$work/log" | awk -v forks="$forks" -v round="$round" \
		'{printf "round %d: %d cases in %.2f s: %.0f cases/s (forks/s now: %s)\n",
			round, $2, $1 / 1e9, $2 * 1e9 / $1, forks}'
done
