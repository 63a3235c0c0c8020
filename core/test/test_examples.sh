#!/bin/sh
# SPDX-License-Identifier: MIT
# test_examples.sh - the examples of stores do what their comments promise.
set -eu

fail() {
	echo "$*" >&2
	exit 1
}

# -> the output of the example, or its complaint
run() {
	LD_LIBRARY_PATH="$BUILD/lib" "$BUILD/examples/$1" "$2" ${3:+"$3"} 2>&1 || fail "$1 failed"
}

out=$(run store_roundtrip "$TMPDIR/store" 5000)
want="generation 1 of [1, 5000, 5000]: what was read is what was written
refused: group adam, tensor 0 (step): numel: stored is 1, asked for is 5000"
[ "$out" = "$want" ] || fail "store_roundtrip says: $out"

# Again in the same store: a second generation.
out=$(run store_roundtrip "$TMPDIR/store" 5000)
case $out in
"generation 2 of [1, 5000, 5000]: what was read is what was written"*) ;;
*) fail "store_roundtrip says the second time: $out" ;;
esac

out=$(run training_loop "$TMPDIR/model")
echo "$out" | grep -Eq '^swaps [0-9.]+ s, compute [0-9.]+ s, a step of both [0-9.]+ s$' ||
	fail "training_loop says: $out"
if "$BUILD/examples/training_loop" "$TMPDIR/store" >"$TMPDIR/out" 2>&1; then
	: # another group beside the first is no trouble
else
	fail "training_loop in a store with another group says: $(cat "$TMPDIR/out")"
fi
rm -rf "$TMPDIR/store" "$TMPDIR/model" "$TMPDIR/out"
