#!/bin/sh
# SPDX-License-Identifier: MIT
# coverage.sh BUILD - how many lines of each source file the tests reached, from what a build with
# COVERAGE=1 wrote when they ran. Each file, then each part, then all.
set -eu

build=$1
gcov=${GCOV:-gcov}
parts='core/src faults/schedule faults/src harness/common harness/src'

for part in $parts; do
	for source in "$part"/*.c; do
		object=$build/obj/${source%.c}.o
		[ -e "${object%.o}.gcno" ] || continue
		# The line behind the file's own name; without data nothing ran, and it says 0.00 %.
		"$gcov" -n "$object" 2>/dev/null |
			sed -n "\\|^File '$source'|{n;s|^Lines executed:|$part $source |p;q;}" |
			sed 's/% of / /'
	done
done | awk '
	function line(name, reached, lines) {
		printf "%-44s %6.1f %%  %6d of %6d lines\n", name,
			100 * reached / lines, reached, lines
	}
	{
		reached = int($3 * $4 / 100 + 0.5)
		line($2, reached, $4)
		if (!($1 in lines))
			order[++parts] = $1
		lines[$1] += $4; hit[$1] += reached
		all += $4; all_hit += reached
	}
	END {
		if (!all) {
			print "no data: nothing ran, or gcov is of another compiler"
			exit 1
		}
		print ""
		for (i = 1; i <= parts; i++)
			line(order[i], hit[order[i]], lines[order[i]])
		line("all", all_hit, all)
	}'
