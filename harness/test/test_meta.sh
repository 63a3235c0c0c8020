#!/bin/sh
# SPDX-License-Identifier: MIT
# test_meta.sh - the harness against cores and cases that are wrong on purpose: each must come to the
# verdict and class that its scenario demands under `meta:`, in sim and on the host. And a failure's
# reproduction line, pasted into a shell, must fail the same way.
set -eu

. "$SRC/harness/test/lib.sh"
log=$TMPDIR/meta.ndjson

cd "$SRC"
status=0
timeout 120 "$swaptorture" run scenarios/meta --target sim,host --work-dir "$TMPDIR" \
	--report "ndjson:$log" >"$TMPDIR/out" 2>&1 || status=$?
[ "$status" -eq 1 ] || fail "the run ended with status $status, must be 1"

grep '"type":"case"' "$log" >"$TMPDIR/cases"
check_meta "$log"
planned=$(sed -n 's/^targets: *\[\(.*\)\].*/\1/p' scenarios/meta/*.yaml | tr -s ', ' '\n' |
	grep -c -x -e sim -e host)
[ "$checked" -eq "$planned" ] || fail "$checked cases, the scenarios name $planned on both targets"

# The line that reproduces a failure, as a user would paste it.
for target in sim host; do
	line=$(grep '"name":"meta/success-on-error' "$TMPDIR/cases" | grep "@$target")
	repro=$(field repro "$line")
	status=0
	timeout 60 sh -c "$repro --work-dir $TMPDIR --report ndjson:$TMPDIR/again" \
		>"$TMPDIR/out" 2>&1 || status=$?
	[ "$status" -eq 1 ] || fail "reproduced with status $status: $repro"
	again=$(grep '"type":"case"' "$TMPDIR/again")
	[ "$(field reason "$again")" = "$(field reason "$line")" ] ||
		fail "reproduced otherwise: $(field reason "$again")"
done

end_test "$checked meta cases came out as they must"
