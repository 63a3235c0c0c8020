#!/bin/sh
# SPDX-License-Identifier: MIT
# test_memory.sh - what memcheck and AddressSanitizer find in the process of a case is a finding,
# with its place; a core without fault has none.
set -eu

scenario() { # CORE: a scenario with this faulty core
	sed "s/^core: .*/core: $1/; /^meta:/d" "$SRC/scenarios/meta/leaks-memory.yaml" \
		>"$TMPDIR/$1.yaml"
}

# finds BUILD OPTIONS CORE CLASS TEXT: the run fails, of this class, and says so
finds() {
	scenario "$3"
	status=0
	# shellcheck disable=SC2086 # options are words
	"$1/bin/swaptorture" run "$TMPDIR/$3.yaml" --target sim $2 --work-dir "$TMPDIR" \
		>"$TMPDIR/out" 2>&1 || status=$?
	if [ "$status" -ne 1 ] || ! grep -q "^FAIL ($4)" "$TMPDIR/out" ||
		! grep -q "$5" "$TMPDIR/out"; then
		echo "$3 $2: status $status, expected FAIL ($4) and '$5':"
		cat "$TMPDIR/out"
		exit 1
	fi
}

# passes BUILD OPTIONS: nothing is found where nothing is
passes() {
	# shellcheck disable=SC2086 # options are words
	"$1/bin/swaptorture" run "$SRC/scenarios/partial/zero-bytes-in-mid-file.yaml" --target sim \
		$2 --work-dir "$TMPDIR" >"$TMPDIR/out" 2>&1 || { cat "$TMPDIR/out" && exit 1; }
}

ran=0
if command -v valgrind >/dev/null; then
	finds "$BUILD" '--under memcheck' reads-freed-memory corruption \
		'memcheck: Invalid read of size 1 in .*reads-freed-memory.c'
	finds "$BUILD" '--under memcheck' writes-behind-its-note corruption \
		'memcheck: Invalid write of size 1 in .*writes-behind-its-note.c'
	finds "$BUILD" '--under memcheck' leaks-memory leak \
		'memcheck: .* definitely lost .* in .*leaks-memory.c'
	passes "$BUILD" '--under memcheck'
	ran=1
fi
if [ -x "$BUILD/asan/bin/swaptorture" ]; then
	finds "$BUILD/asan" '' reads-freed-memory crash \
		'sanitizer: AddressSanitizer: heap-use-after-free .*reads-freed-memory.c'
	finds "$BUILD/asan" '' writes-behind-its-note crash \
		'sanitizer: AddressSanitizer: heap-buffer-overflow .*writes-behind-its-note.c'
	finds "$BUILD/asan" '' leaks-memory leak \
		'sanitizer: AddressSanitizer: .* leaked in .*leaks-memory.c'
	passes "$BUILD/asan" ''
	finds "$BUILD" '--under asan' writes-behind-its-note crash \
		'sanitizer: AddressSanitizer: heap-buffer-overflow .*writes-behind-its-note.c'
	ran=1
fi
rm -rf "$TMPDIR"/*.yaml "$TMPDIR/out" "$TMPDIR"/swaptorture-*
[ "$ran" -eq 1 ] || { echo "neither valgrind nor a sanitized build is here" && exit 77; }
