#!/bin/sh
# SPDX-License-Identifier: MIT
# banned.sh - calls that this project does not make, lines that are too long, files without an
# SPDX line. Exceptions stand as "FILE CALL REASON" in mk/check/allow/banned, which may not go stale.
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
find core faults harness scenarios bench \( -name '*.[ch]' -o -name '*.def' \) >"$work/c"
{
	find core faults harness scenarios bench mk -name '*.sh'
	echo configure
} >"$work/sh"
: >"$work/found"

# Comments and strings are no calls.
while read -r file; do
	sed -e 's/"\([^"\\]\|\\.\)*"/""/g' -e 's|//.*||' -e 's|/\*.*\*/||' "$file" | awk -v file="$file" '
		/\/\*/ { comment = 1 }
		{
			line = comment ? "" : $0
			while (match(line, /[A-Za-z_][A-Za-z_0-9]* *\(/)) {
				call = substr(line, RSTART, RLENGTH)
				line = substr(line, RSTART + RLENGTH)
				sub(/ *\(/, "", call)
				if (call ~ /^(strcpy|strcat|sprintf|vsprintf|atoi|atol|rand|srand|gets|system|tmpnam|mktemp)$/)
					print file, call
				if (call ~ /^(sleep|usleep|nanosleep|clock_nanosleep|poll_sleep)$/)
					print file, call
				if (call == "time" && line ~ /^(NULL|0)\)/)
					print file, "time(NULL)"
			}
		}
		/\*\// { comment = 0 }'
done <"$work/c" | sort -u >"$work/found"
# A shell test may nap between two looks at what it waits for, but not hope that a second is enough.
while read -r file; do
	if grep -qE '^[^#]*\bsleep +[1-9]' "$file"; then
		echo "$file sleep"
	fi
done <"$work/sh" >>"$work/found"

status=0
sort -u "$work/found" -o "$work/found"
awk '/^[^#]/ { if (NF < 3) print "no reason: " $0; else print $1, $2 }' mk/check/allow/banned |
	sort -u >"$work/allowed"
comm -23 "$work/found" "$work/allowed" >"$work/bad"
if [ -s "$work/bad" ]; then
	sed 's/\(.*\) \(.*\)/\1: \2 is banned/' "$work/bad"
	status=1
fi
comm -13 "$work/found" "$work/allowed" >"$work/stale"
if [ -s "$work/stale" ]; then
	sed 's/^/mk\/check\/allow\/banned: not there (any more): /' "$work/stale"
	status=1
fi

# Tabs count as eight columns.
while read -r file; do
	head -3 "$file" | grep -q 'SPDX-License-Identifier: MIT' || {
		echo "$file: no SPDX line"
		status=1
	}
	case $file in
	*.def) continue ;;
	esac
	expand "$file" | awk -v file="$file" '
		length($0) > 100 { print file ":" NR ": longer than 100 columns"; bad = 1 }
		END { exit bad }' || status=1
done <<FILES
$(cat "$work/c" "$work/sh")
FILES
exit $status
