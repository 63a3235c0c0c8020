#!/bin/sh
# SPDX-License-Identifier: MIT
# scenarios.sh TARGET [OPTION|PATH...] - run scenarios on one target and count the cases.
set -eu

target=$1
shift
status=0
"$BUILD/bin/swaptorture" run --target "$target" --report "tap:$TMPDIR/report.tap" "$@" ||
	status=$?
if [ ! -s "$TMPDIR/report.tap" ]; then
	echo "swaptorture exited with $status and wrote no report"
	exit 1
fi
awk '
	/^ok .*# *[Ss][Kk][Ii][Pp]/ { skipped++; next }
	/^ok / { passed++ }
	/^not ok / { failed++ }
	END { printf "# count %d %d %d\n", passed, failed, skipped }
' "$TMPDIR/report.tap"
rm -f "$TMPDIR/report.tap"
exit "$status"
