#!/bin/sh
# SPDX-License-Identifier: MIT
# sim_cases.sh - how many standard cases a second the harness runs in sim, all oracles on: three tensors
# of at most 64 KiB, swapped out and in, under a signal; in buffers of the library, which are mapped and
# unmapped for each case, and in the program's own memory, which stays. The goal is 2,000 on two cores.
# Beside it, because machines are shared: how many processes this one starts and ends a second just then,
# and what a page costs to map, touch and unmap.
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

# scenario MEMORY: one file.
scenario() {
	cat >"$work/$1.yaml" <<END
title: The standard case, in $1 memory
origin: https://github.com/axboe/fio/pull/1556
contract: C1
targets: [sim]
swap:
  tensors:
    - {name: step, numel: 1, dtype: fp32, memory: $1}
    - {name: exp_avg, numel: 8192, dtype: fp32, memory: $1}
    - {name: exp_avg_sq, numel: 8191, dtype: fp32, memory: $1}
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
}

# measure ROUND MEMORY
measure() {
	"$build/bin/swaptorture" run "$work/$2.yaml" --target sim --report "ndjson:$work/log" \
		>"$work/out" 2>&1 || {
		cat "$work/out"
		exit 1
	}
	sed -n 's/.*"type":"summary".*"duration_ns":\([0-9]*\).*"pass":\([0-9]*\).*/\1 \2/p' \
		"$work/log" | awk -v round="$1" -v memory="$2" -v now="$("$build/bench/machine")" \
		'{printf "round %d, %-7s memory: %d cases in %.2f s: %.0f cases/s (%s)\n",
			round, memory, $2, $1 / 1e9, $2 * 1e9 / $1, now}'
}

for memory in aligned heap; do
	scenario $memory
done
for round in $(seq "$rounds"); do
	for memory in aligned heap; do
		measure "$round" $memory
	done
done
