#!/bin/sh
# SPDX-License-Identifier: MIT
# test_jobs.sh - what T selects for `make check`: jobs by a pattern of their names, scenarios by path.
set -u

. "$SRC/harness/test/lib.sh"
cd "$SRC" || exit 1

# lists T SUITE PATTERN COUNT: the suite's jobs under T, and how many of them fit
lists() {
	got=$(T=$1 mk/check/jobs.sh "$BUILD" "$2" | grep -c -e "$3")
	[ "$got" -eq "$4" ] || fail "T=$1: $got jobs of $2 like '$3', must be $4"
}

lists '' scenarios '^scenario/sim/signal .*scenarios.sh sim  *scenarios/signal$' 1
lists 'scenarios/signal/two-of-four-ready.yaml' scenarios . 1
lists 'scenarios/signal/two-of-four-ready.yaml' scenarios \
	'^scenario/signal/two-of-four-ready.yaml .*sh all scenarios/signal/two-of-four-ready.yaml$' 1
lists 'scenarios/signal' scenarios '^scenario/signal ' 1
lists 'scenarios/*/e*.yaml' scenarios '^scenario/[a-z]*/e[a-z-]*.yaml ' \
	"$(find scenarios/*/ -maxdepth 1 -name 'e*.yaml' | wc -l)"
T=scenarios/nowhere mk/check/jobs.sh "$BUILD" scenarios >"$TMPDIR/out" 2>&1 &&
	fail 'a scenario that is not there is no error'
grep -q 'scenarios/nowhere: no such scenario' "$TMPDIR/out" || fail "$(cat "$TMPDIR/out")"

# Every scenario has one guest, and every guest its share, but for the one of the longest scenario.
mk/check/jobs.sh "$BUILD" guests >"$TMPDIR/guests"
grep -o 'scenarios/[^/ ]*/[^ ]*\.yaml' "$TMPDIR/guests" | sort >"$TMPDIR/dealt"
find scenarios/*/ -maxdepth 1 -name '*.yaml' ! -path 'scenarios/meta/*' ! -path 'scenarios/soak/*' \
	! -path 'scenarios/bugs/*' | sort >"$TMPDIR/all"
[ -s "$TMPDIR/all" ] && cmp -s "$TMPDIR/dealt" "$TMPDIR/all" || fail "$(cat "$TMPDIR/guests")"
alone=$(grep -v ' .*scenarios/device/' "$TMPDIR/guests")
[ "$(echo "$alone" | grep -c 'nvme scenarios/lifecycle/ten-thousand-operations.yaml$')" -eq 1 ] &&
	[ "$(echo "$alone" | wc -l)" -eq 1 ] ||
	fail "a guest without a scenario of scenarios/device: $(echo "$alone" | cut -c 1-60)"

# ran T LINE: the runner's last line for two jobs
ran() {
	last=$(printf 'a/one true\nb/two true\n' | T=$1 mk/check/runner.sh "$TMPDIR/run" 1 | tail -1)
	[ "$last" = "$2" ] || fail "T=$1: $last"
}

ran '' '2 passed, 0 failed, 0 skipped'
ran 'a/*' '1 passed, 0 failed, 0 skipped'
ran 'scenarios/signal' '2 passed, 0 failed, 0 skipped'

end_test 'T selects jobs and scenarios'
