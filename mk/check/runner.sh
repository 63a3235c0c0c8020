#!/bin/sh
# SPDX-License-Identifier: MIT
# runner.sh DIR JOBS < LIST - run a list of checks, JOBS at a time, and add up what they said.
# Those whose names end in _cost measure time: they run first, one by one, with nothing beside them.
#
# A line of LIST is "NAME COMMAND". T=PATTERN in the environment selects names. Every check gets a
# TMPDIR of its own, which it must leave empty when it passes, and a log in DIR; the log of a check
# that fails is shown. A check passes with 0 and skips with 77 (last line: the reason). It may print
# "# count PASSED FAILED SKIPPED" where it stands for several. What was skipped whole is told
# once more at the end, and the last line of all says "N passed, N failed, N skipped"; exit status 1
# if anything failed, 2 if there was nothing to run.
set -eu

dir=$1
jobs=$2
rm -rf "$dir"
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

case ${T:-} in
'' | scenarios/*) pattern='*' ;; # jobs.sh has chosen by the path
*) pattern=$T ;;
esac
while read -r name command; do
	# shellcheck disable=SC2254 # it is a pattern
	case $name in
	$pattern) printf '%s\n%s\n' "$name" "$command" ;;
	esac
done >"$dir/list"

# run AT_ONCE: the checks that are read, a name and a command on lines of their own. Names and
# commands hold no quotes; NUL keeps xargs from splitting them.
run() {
	tr '\n' '\0' | xargs -0 -r -n 2 -P "$1" mk/check/one.sh "$dir" || :
}

paste - - <"$dir/list" | grep '^[^	]*_cost	' | tr '\t' '\n' | run 1
paste - - <"$dir/list" | grep -v '^[^	]*_cost	' | tr '\t' '\n' | run "$jobs"

cat "$dir"/*.skip 2>/dev/null | sed 's/^/not run here: /'
cat "$dir"/*.count 2>/dev/null | awk -v expected="$(($(wc -l <"$dir/list") / 2))" '
	{ passed += $1; failed += $2; skipped += $3; seen++ }
	END {
		if (seen < expected)
			failed += expected - seen # a check that was killed
		printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
		exit expected == 0 ? 2 : failed > 0
	}'
