#!/bin/sh
# SPDX-License-Identifier: MIT
# A program that asks for everything that the kernel refuses gets the same answers from the stage,
# on both back ends, armed without faults.
set -u
# shellcheck source=/dev/null
. "$SRC/faults/test/victim.sh"

mkdir native kernel sim
timeout 20 "$PROGS/prog_abi" native > native.out 2>&1 ||
	skip "no direct I/O here: $(tail -1 native.out)"
for backend in kernel sim; do
	victim "$backend" '' "$PROGS/prog_abi" $backend || fail "$backend: $(tail -3 "$OUT")"
	diff native.out "$OUT" || fail "$backend answers otherwise than the kernel"
	expect_count 0 '^inject'
done
