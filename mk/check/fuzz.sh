#!/bin/sh
# SPDX-License-Identifier: MIT
# fuzz.sh PROGRAM PART - run a fuzz target for some seconds. Seeds: PART/test/seeds/NAME/, else the
# scenarios. SEED=, RUNS= and SECONDS_EACH= choose another run; a finding says how to repeat it.
set -eu

program=$1
part=$2
name=$(basename "$program")
seeds=$SRC/$part/test/seeds/${name#fuzz_}
seed=${SEED:-1}
runs=${RUNS:-20000}
limit=${SECONDS_EACH:-8}

corpus=$TMPDIR/corpus
mkdir "$corpus"
if [ -d "$seeds" ]; then
	cp "$seeds"/* "$corpus"
else
	find "$SRC/scenarios" -name '*.yaml' | while read -r file; do
		cp "$file" "$corpus/$(echo "${file#"$SRC/scenarios/"}" | tr / +)"
	done
fi
cd "$TMPDIR"
if grep -q 'libFuzzer: run interrupted' "$program"; then
	"$program" -seed="$seed" -runs="$runs" -max_total_time="$limit" -timeout=10 \
		-print_final_stats=1 "$corpus" 2>log || {
		tail -40 log
		exit 1
	}
	tail -12 log
else
	"$program" -seed="$seed" -runs="$runs" "$corpus"/*
fi
rm -rf "$corpus" log
