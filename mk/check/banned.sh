#!/bin/sh
# SPDX-License-Identifier: MIT
# banned.sh - calls that this project does not make, lines that are too long, files without an SPDX
# line. Exceptions stand as "FILE CALL REASON" in mk/check/allow/banned, which may not go stale.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

find configure core faults harness scenarios bench mk -type f \
	\( -name '*.[ch]' -o -name '*.def' -o -name '*.sh' -o -name configure \) \
	-exec awk -f mk/check/banned.awk {} + >"$work/found"
if sed -n 's/^! //p' "$work/found" | grep .; then
	status=1
fi
sed '/^!/d' "$work/found" | sort -u >"$work/calls"

awk '/^[^#]/ { if (NF < 3) print "! no reason:", $0; else print $1, $2 }' mk/check/allow/banned |
	sort -u >"$work/allowed"
comm -23 "$work/calls" "$work/allowed" >"$work/bad"
if [ -s "$work/bad" ]; then
	sed 's/\(.*\) \(.*\)/\1: \2 is banned/' "$work/bad"
	status=1
fi
comm -13 "$work/calls" "$work/allowed" >"$work/stale"
if [ -s "$work/stale" ]; then
	sed 's/^/mk\/check\/allow\/banned: not there (any more): /' "$work/stale"
	status=1
fi
exit $status
