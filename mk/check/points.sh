#!/bin/sh
# SPDX-License-Identifier: MIT
# points.sh - every kind of every fault point in faults/points.def is used by a scenario. Kinds that
# cannot be yet stand with a reason in mk/check/allow/points, which may not go stale.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# As they are called in schedules: what is NVME_KIND(read, ...) here belongs to nvme.read.
sed -n -e 's/^KIND(\([a-z_]*\), *\([a-z]*\),.*/\1 \2/p' \
	-e 's/^NVME_KIND(\([a-z_]*\), *\([a-z]*\),.*/nvme.\1 \2/p' faults/points.def |
	sort >"$work/kinds"
sed -n -e 's/^POINT(\([a-z_]*\),.*/\1/p' -e 's/^NVME_POINT(\([a-z_]*\),.*/nvme.\1/p' \
	faults/points.def | sort >"$work/points"
sed -n 's/^\([a-z_.]*\) *=> *\([a-z]*\)  *[^ ].*/\1 \2/p' mk/check/allow/points | sort \
	>"$work/allowed"

# A fault in a scenario: POINT[#WHEN] {CONDITION} => KIND[:ARGUMENT] | KIND...
find scenarios -name '*.yaml' -exec sed 's/^ *#.*//' {} + | awk '
	{
		line = $0
		while (match(line, /[a-z_.]+(#[0-9.*+]+)?( +[a-z]+=[^ ]+)* *=> *[a-z]+/)) {
			fault = substr(line, RSTART, RLENGTH)
			line = substr(line, RSTART + RLENGTH)
			point = fault
			sub(/[^a-z_.].*/, "", point)
			kind = fault
			sub(/.*=> */, "", kind)
			print point, kind
		}
	}' | sort -u >"$work/used"

status=0
comm -23 "$work/kinds" "$work/used" | comm -23 - "$work/allowed" >"$work/unused"
if [ -s "$work/unused" ]; then
	sed 's/\(.*\) \(.*\)/faults\/points.def: no scenario uses \1 => \2/' "$work/unused"
	status=1
fi
comm -12 "$work/used" "$work/allowed" >"$work/stale"
comm -13 "$work/kinds" "$work/allowed" >>"$work/stale"
if [ -s "$work/stale" ]; then
	sed 's/\(.*\) \(.*\)/mk\/check\/allow\/points: \1 => \2 is used now, or is no kind/' \
		"$work/stale"
	status=1
fi
while read -r point; do
	grep -q "^$point " "$work/kinds" || {
		echo "faults/points.def: $point has no kind"
		status=1
	}
done <"$work/points"
exit $status
