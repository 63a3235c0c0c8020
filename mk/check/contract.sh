#!/bin/sh
# SPDX-License-Identifier: MIT
# contract.sh [--update] - the scenario column of docs/CONTRACT.md is what the scenarios say of
# themselves (`contract:`): every row of this release has one, every scenario of the core serves a
# row that exists. Scenarios of other programs serve none. --update rewrites the column.
set -eu

table=docs/CONTRACT.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "ROW group/name" for each scenario that says so. Scenarios in meta/ test the harness, not a core.
find scenarios -name '*.yaml' ! -path 'scenarios/meta/*' | sort >"$work/files"
# shellcheck disable=SC2046 # names without spaces
awk '
	function name_of(file) {
		sub(/^scenarios\//, "", file)
		sub(/\.yaml$/, "", file)
		return file
	}
	function finish() {
		if (last != "" && !said && !foreign)
			print "! " last ": serves no row of the contract"
		if (said && foreign)
			print "! " last ": the contract is the core'"'"'s, a program serves no row"
	}
	FNR == 1 { finish(); last = FILENAME; said = foreign = 0 }
	/^program:/ { foreign = 1 }
	/^contract:/ {
		said = 1
		gsub(/^contract:|[][,]/, " ")
		for (i = 1; i <= NF; i++)
			print $i, name_of(FILENAME)
	}
	END { finish() }
' $(cat "$work/files") >"$work/said"
if sed -n 's/^! //p' "$work/said" | grep .; then
	exit 1
fi

# Rows marked with a dagger belong to a later release.
awk -F ' *[|] *' -v OFS=' | ' '
	FNR == NR {
		split($0, part, " ")
		names[part[1]] = names[part[1]] (names[part[1]] == "" ? "" : ", ") part[2]
		next
	}
	/^\| C[0-9]+/ {
		row = $2
		later = sub(/†/, "", row)
		seen[row] = 1
		if (names[row] == "" && !later) {
			print "row " row " has no scenario" >"/dev/stderr"
			bad = 1
		}
		print "| " $2, $3, $4, (names[row] == "" ? "—" : names[row]), $6 " |"
		next
	}
	{ print }
	END {
		for (row in names)
			if (!(row in seen)) {
				print names[row] ": contract row " row " does not exist" \
					>"/dev/stderr"
				bad = 1
			}
		exit bad
	}' "$work/said" "$table" >"$work/table"

if [ "${1:-}" = --update ]; then
	cat "$work/table" >"$table"
elif ! diff -u "$table" "$work/table" >"$work/diff"; then
	cat "$work/diff"
	echo "$table: the scenarios say otherwise; 'make bless' renews the column"
	exit 1
fi
