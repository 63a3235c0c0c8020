# SPDX-License-Identifier: MIT
# lib.sh - what shell tests of the program swaptorture share: . "$SRC/harness/test/lib.sh"
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2317 # variables and functions are for who sources this

swaptorture=$BUILD/bin/swaptorture
failures=0

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

# expect STATUS PATTERN ARGUMENT...: exit status of swaptorture, and a pattern in what it prints,
# which stays in the file out of the current directory.
expect() {
	status=$1 pattern=$2
	shift 2
	"$swaptorture" "$@" >out 2>&1
	got=$?
	[ "$got" -eq "$status" ] || fail "'$*' ended with $got instead of $status: $(tail -3 out)"
	grep -q -e "$pattern" out || fail "'$*' did not print '$pattern': $(tail -3 out)"
}

# field NAME LINE: the value of a text member of one NDJSON line.
field() {
	printf '%s\n' "$2" | sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p'
}

# wanted KEY FILE: what `meta: {verdict: V, class: C}` of a scenario says.
wanted() {
	sed -n 's/^meta:.*[{ ]'"$1"': *\([a-z]*\).*/\1/p' "$SRC/$2"
}

check_meta_case() {
	scenario=$(field scenario "$1")
	verdict=$(field verdict "$1")
	class=$(printf '%s\n' "$1" | sed 's/"findings":.*//' |
		sed -n 's/.*"class":"\([^"]*\)".*/\1/p')
	want_verdict=$(wanted verdict "$scenario")
	want_class=$(wanted class "$scenario")
	checked=$((checked + 1))
	if [ "$verdict" != "$want_verdict" ] || [ "$class" != "${want_class:-none}" ]; then
		fail "$(field name "$1"): $verdict $class, must be $want_verdict ${want_class:-}"
	fi
}

# check_meta LOG: the cases of scenarios/meta, run in $SRC, came to what they must; $checked of them.
check_meta() {
	checked=0
	grep '"type":"case"' "$1" >"$1.cases"
	while IFS= read -r line; do
		check_meta_case "$line"
	done <"$1.cases"
	rm -f "$1.cases"
}

# end_test WORDS: the last line of a test; leaves TMPDIR empty if all went well.
end_test() {
	[ "$failures" -eq 0 ] || {
		echo "$failures failures"
		exit 1
	}
	cd / && rm -rf "${TMPDIR:?}"/*
	echo "$*"
}

# until_true COMMAND...: within a minute.
until_true() {
	tries=0
	until "$@"; do
		tries=$((tries + 1))
		[ "$tries" -lt 600 ] || return 1
		sleep 0.1
	done
}

# children_of PID: the processes that PID started, directly or not; the fork server comes first.
children_of() {
	cat /proc/"$1"/task/*/children 2>/dev/null | tr ' ' '\n' | while read -r child; do
		echo "$child"
		children_of "$child"
	done
}

# has_children PID COUNT
has_children() {
	[ "$(children_of "$1" | wc -l)" -ge "$2" ]
}

# all_gone "PID...": a zombie waits for its parent; it runs no more.
all_gone() {
	for pid in $1; do
		case $(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' /proc/"$pid"/status 2>/dev/null) in
		'' | Z) ;;
		*) return 1 ;;
		esac
	done
}

# write_scenario FILE STEPS DEADLINE [FAULTS]: six cases on the host, one for each queue depth
write_scenario() {
	cat >"$1" <<END
title: A case for the tests of runs
origin: https://github.com/linux-blktests/blktests
contract: C17
targets: [host]
swap:
  tensors:
    - {name: exp_avg, numel: 16384, dtype: fp32}
  steps: $2
handle: {block_size: 16K, queue_depth: 4, workers: 0}
matrix:
  queue_depth: [4, 5, 6, 7, 8, 9]
${4:-}
expect: {deadline: $3}
END
}
