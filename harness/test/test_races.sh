#!/bin/sh
# SPDX-License-Identifier: MIT
# test_races.sh - a data race of the core is a finding under helgrind and under ThreadSanitizer, with
# its place; without a tool the same core passes, and so does the real core with one.
set -eu

real=$SRC/scenarios/lifecycle/submit-while-another-waits.yaml
racing=$TMPDIR/racing.yaml
sed 's/^contract:/core: counts-without-a-lock\n&/' "$real" >"$racing"

# ends STATUS TARGET SCENARIO [OPTION...]
ends() {
	expected=$1 target=$2 scenario=$3
	shift 3
	status=0
	"$BUILD/bin/swaptorture" run "$scenario" --target "$target" --case workers=2 \
		--work-dir "$TMPDIR" "$@" >"$TMPDIR/out" 2>&1 || status=$?
	if [ "$status" -ne "$expected" ]; then
		echo "$scenario on $target $*: status $status, expected $expected:"
		cat "$TMPDIR/out"
		exit 1
	fi
}

# says CLASS TEXT: what the last run found
says() {
	if ! grep -q "^FAIL ($1)" "$TMPDIR/out" || ! grep -q "$2" "$TMPDIR/out"; then
		echo "expected FAIL ($1) and '$2':"
		cat "$TMPDIR/out"
		exit 1
	fi
}

# hands_over STATUS TARGET [race]: a stranger that goes through each means that orders threads
hands_over() {
	expected=$1 target=$2
	shift 2
	status=0
	"$BUILD/bin/swaptorture" exec --target "$target" --under helgrind -- \
		"$BUILD/test/prog_handover" "$@" >"$TMPDIR/out" 2>&1 || status=$?
	if [ "$status" -ne "$expected" ] ||
		{ [ "$status" -ne 0 ] && ! grep -q 'Possible data race' "$TMPDIR/out"; }; then
		echo "prog_handover $* on $target: status $status, expected $expected:"
		cat "$TMPDIR/out"
		exit 1
	fi
}

ran=0
ends 0 sim "$racing"
if command -v valgrind >/dev/null; then
	ends 1 sim "$racing" --under helgrind
	says contract 'helgrind: Possible data race .* in swapio_submit (counts-without-a-lock.c:'
	if grep -q 'helgrind: Thread #[0-9]* was created' "$TMPDIR/out"; then
		echo 'the introduction of a thread is taken for an error:'
		cat "$TMPDIR/out"
		exit 1
	fi
	ends 0 sim "$real" --under helgrind
	for target in sim host; do
		hands_over 0 "$target"
		hands_over 1 "$target" race
	done
	ran=1
fi
if [ -x "$BUILD/tsan/bin/swaptorture-worker" ]; then
	for target in sim host; do
		ends 1 "$target" "$racing" --under tsan
		says contract 'sanitizer: ThreadSanitizer: data race .*counts-without-a-lock.c:'
		ends 0 "$target" "$real" --under tsan
	done
	ran=1
fi
rm -rf "$racing" "$TMPDIR/out" "$TMPDIR"/swaptorture-*
[ "$ran" -eq 1 ] || { echo 'neither valgrind nor build-tsan is here' && exit 77; }
