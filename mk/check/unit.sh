#!/bin/sh
# SPDX-License-Identifier: MIT
# unit.sh [TOOL...] PROGRAM - run a cmocka program and count its cases. One that cannot run here
# says why in its last line, "1..0 # SKIP REASON", and ends with 77, as this does then.
set -eu

CMOCKA_MESSAGE_OUTPUT=TAP
export CMOCKA_MESSAGE_OUTPUT
status=0
output=$("$@" 2>&1) || status=$?
printf '%s\n' "$output"
reason=$(printf '%s\n' "$output" | sed -n '$s/^1\.\.0 # SKIP //p')
if [ $status -eq 77 ] && [ -n "$reason" ]; then
	printf '%s\n' "$reason"
	exit 77
fi
printf '%s\n' "$output" | awk -v status=$status '
	/^ok .*# SKIP/ || /^not ok .*# SKIP/ { skipped++; next }
	/^ok / { passed++ }
	/^not ok / { failed++ }
	END {
		if (status != 0 && failed == 0)
			failed = 1 # crashed, or a tool objected
		if (passed + failed + skipped == 0) {
			print "no case ran"
			failed = 1
		}
		printf "# count %d %d %d\n", passed, failed, skipped
		exit failed > 0
	}'
