#!/bin/sh
# SPDX-License-Identifier: MIT
# test_faults_doc.sh [--update] - docs/FAULTS.md has the points and kinds of points.def, and the
# schedules shown in it and in swaptorture-schedule(5) are schedules. --update rewrites the tables.
set -eu

doc=$SRC/docs/FAULTS.md
page=$SRC/docs/man/swaptorture-schedule.5
program=$BUILD/test/prog_schedule
work=$(mktemp -d "${TMPDIR:-/tmp}/faults-doc.XXXXXX")
trap 'rm -rf "$work"' EXIT

fail() {
	echo "FAIL: $*"
	exit 1
}

# The page with its tables made anew.
{
	sed '/^<!-- points:/q' "$doc"
	echo
	"$program" table
	sed -n '/^<!-- end of points/,$p' "$doc"
} >"$work/doc"
if [ "${1:-}" = --update ]; then
	cat "$work/doc" >"$doc"
elif ! diff -u "$doc" "$work/doc" >"$work/diff"; then
	sed 20q "$work/diff"
	fail "docs/FAULTS.md: points.def says otherwise; 'make bless' renews the tables"
fi

# parsed NAME: the schedule in $work/NAME is one of at least $2 faults.
parsed() {
	"$program" print <"$work/$1" >"$work/out" || fail "$1: $(cat "$work/out")"
	found=$(grep -c '=>' "$work/out")
	[ "$found" -ge "$2" ] || fail "$1: only $found faults were found in it"
}

sed -n '/^\.Bd -literal/,/^\.Ed/p' "$page" | sed '1d;$d' >"$work/page"
parsed page 13

# In the text of FAULTS.md, whatever stands in backquotes and has an arrow.
# shellcheck disable=SC2016
sed '/^<!-- points:/q' "$doc" | grep -o '`[a-z_.]*#*[^`]* => [^`]*`' | tr -d '`' >"$work/text"
parsed text 1

# The page names every point and every kind.
sed -n -e 's/^KIND(\([a-z_]*\), *\([a-z]*\),.*/\1\n\2/p' \
	-e 's/^NVME_KIND(\([a-z_]*\), *\([a-z]*\),.*/nvme.\1\n\2/p' "$SRC/faults/points.def" | sort -u |
	while read -r name; do
		grep -qw -e "$name" "$page" || fail "swaptorture-schedule(5) does not name $name"
	done
