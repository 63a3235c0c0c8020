#!/bin/sh
# SPDX-License-Identifier: MIT
# layers.sh [BUILD] < DECLARATION - check who knows whom; the declaration stands in mk/layers.mk.
# Lines: "layer DIR: ALLOWED...", "one DIR:HEADER", "deny FILES:HEADER", "unlinked FILE:PATTERN"
# where FILES is the beginning of a path. With BUILD, what was built is looked at, too.
set -eu

build=${1:-}
declaration=$(cat)
status=0

# shellcheck disable=SC2046 # names without spaces
printf '%s\n' "$declaration" | awk -f mk/check/layers.awk - \
	$(find core faults harness scenarios bench mk -name '*.[ch]') || status=1

[ -z "$build" ] || printf '%s\n' "$declaration" | sed -n 's/^unlinked //p' | {
	while IFS=: read -r file pattern; do
		[ -e "$build/$file" ] || continue
		found=$({
			readelf -dW "$build/$file" | grep NEEDED
			nm -D "$build/$file"
		} | grep -m1 "$pattern") || continue
		echo "$file: knows $pattern: $found"
		status=1
	done
	exit $status
} || status=1
exit $status
