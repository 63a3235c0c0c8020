#!/bin/sh
# SPDX-License-Identifier: MIT
# scenarios.sh TARGET|all [OPTION|PATH...] - run scenarios on one target, or on each that they have,
# and count the cases.
set -eu

target=$1
shift
if [ "$target" = nvme ]; then
	why=
	if ! command -v qemu-system-x86_64 >/dev/null; then
		why='qemu-system-x86_64 is not installed'
	elif ! "$BUILD/bin/swaptorture-guest-kernel" >/dev/null 2>"$TMPDIR/kernel"; then
		why=$(tail -1 "$TMPDIR/kernel")
	fi
	rm -f "$TMPDIR/kernel"
	if [ -n "$why" ]; then
		echo "$why"
		[ "${NEED_GUEST:-}" = 1 ] && exit 1
		exit 77
	fi
fi
status=0
[ "$target" = all ] || set -- --target "$target" "$@"
"$BUILD/bin/swaptorture" run --report "tap:$TMPDIR/report.tap" "$@" || status=$?
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
