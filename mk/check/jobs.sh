#!/bin/sh
# SPDX-License-Identifier: MIT
# jobs.sh BUILD SUITE... - print the jobs of these suites for runner.sh, "NAME COMMAND" a line. With
# T=scenarios/... in the environment the suite of scenarios is just these.
# Sanitized builds lie below BUILD; make builds them before it asks for their jobs.
set -eu

build=$(cd "$1" && pwd)
shift
src=$(pwd)

# Leaks are LeakSanitizer's: it does not mistake a child that ends in mid-test for one.
MEMCHECK='valgrind -q --fair-sched=try --error-exitcode=99'
HELGRIND="valgrind -q --fair-sched=try --tool=helgrind --error-exitcode=99"
HELGRIND="$HELGRIND --suppressions=$build/lib/swaptorture.supp"

# using BUILD COMMAND: with what a test may count on in its environment
using() {
	echo "BUILD=$1 SRC=$src $2"
}

# units PREFIX BUILD TOOL PART...: the cmocka programs of these parts
units() {
	prefix=$1 dir=$2 tool=$3
	shift 3
	for part in "$@"; do
		for source in "$part"/test/test_*.c; do
			[ -e "$source" ] || continue
			module=$(basename "$source" .c)
			echo "$prefix/$part/${module#test_}" \
				"$(using "$dir" "mk/check/unit.sh $tool $dir/test/$part/$module")"
		done
	done
}

shells() {
	for script in core/test/test_*.sh faults/test/test_*.sh harness/test/test_*.sh; do
		[ -e "$script" ] || continue
		module=$(basename "$script" .sh)
		echo "shell/${script%%/*}/${module#test_}" "$(using "$build" "sh $script")"
	done
}

# scenarios PREFIX BUILD TARGET OPTIONS GROUP...: a job for each group of scenarios on a target
scenarios() {
	prefix=$1 dir=$2 target=$3 options=$4
	shift 4
	[ -e harness/src/main.c ] || return 0
	for group in "$@"; do
		echo "$prefix/$target/$group" \
			"$(using "$dir" "mk/check/scenarios.sh $target $options scenarios/$group")"
	done
}

# guests: the scenarios of all groups in guests: the one that takes as long as a share of its own,
# the others in seven shares of all groups. A guest boots for each job, and none takes long.
guests() {
	alone=scenarios/lifecycle/ten-thousand-operations.yaml
	all=$(for group in $groups; do ls scenarios/"$group"/*.yaml; done)
	deal 1 "$alone"
	for share in 2 3 4 5 6 7 8; do
		deal $share "$(echo "$all" | grep -vxF "$alone" |
			awk -v share="$share" 'NR % 7 == share % 7')"
	done
}

# deal SHARE PATHS: a job of these scenarios, one a line
deal() {
	# shellcheck disable=SC2116,SC2086 # one line
	echo "guests/$1-of-8" "$(using "$build" "mk/check/scenarios.sh nvme $(echo $2)")"
}

# named PATH...: a job for each of these scenarios, on every target that it has
named() {
	for path in "$@"; do
		if [ ! -e "$path" ]; then
			echo "jobs.sh: $path: no such scenario" >&2
			exit 2
		fi
		echo "scenario/${path#scenarios/}" \
			"$(using "$build" "mk/check/scenarios.sh all $path")"
	done
}

groups=$(cd scenarios && find . -mindepth 1 -maxdepth 1 -type d ! -name meta ! -name bugs \
	! -name soak |
	sed 's|^\./||' | sort)

# Groups where cases of sim can be chosen by their number of workers: not those that only run
# programs, or only in guests.
has_workers() {
	grep -q '^  workers:' "$1" && ! grep '^targets:' "$1" | grep -qv sim
}
with_workers=$(cd scenarios && for group in $groups; do
	for file in "$group"/*.yaml; do
		if has_workers "$file"; then
			echo "$group"
			break
		fi
	done
done)

# What is about threads: of one worker beside the caller, and of several on one file.
threaded='lifecycle/cancel-in-flight.yaml lifecycle/close-with-a-held-completion.yaml
	lifecycle/error-then-reuse.yaml lifecycle/event-twice-or-unknown.yaml
	lifecycle/fork-with-an-open-handle.yaml lifecycle/held-completion-comes-late.yaml'
crowded='lifecycle/submit-while-another-waits.yaml align/neighbours-share-a-sector.yaml'

for suite in "$@"; do
	# shellcheck disable=SC2086 # lists of groups
	case $suite in
	guests) guests ;;
	unit) units unit "$build" '' core faults harness ;;
	shell) shells ;;
	scenarios)
		case ${T:-} in
		scenarios/*) named $T ;;
		*)
			scenarios scenario "$build" host '' $groups
			scenarios scenario "$build" sim '' $groups
			;;
		esac
		;;
	asan)
		units asan "$build/asan" '' core faults harness
		scenarios asan "$build/asan" sim '' $groups
		;;
	tsan)
		units tsan "$build/tsan" '' core
		scenarios tsan "$build" sim '--under tsan --case workers=1' $with_workers
		scenarios tsan "$build" sim '--under tsan --case workers=2' $crowded
		scenarios tsan "$build" host '--under tsan --case workers=2' $crowded
		;;
	ndebug)
		units ndebug "$build/ndebug" '' core
		;;
	memcheck)
		scenarios memcheck "$build" sim '--under memcheck --case workers=0' $with_workers
		;;
	memcheck-units)
		units memcheck "$build" "$MEMCHECK" core faults harness
		scenarios memcheck/threads "$build" sim '--under memcheck --case workers=1' \
			$threaded
		;;
	helgrind-core)
		units helgrind "$build" "$HELGRIND" core
		;;
	helgrind)
		scenarios helgrind "$build" sim '--under helgrind --case workers=1' signal $threaded
		scenarios helgrind "$build" sim '--under helgrind --case workers=2' $crowded
		;;
	lint)
		echo "lint/layers mk/check/layers.sh $build <$build/layers"
		echo "lint/abi mk/check/abi.sh $build"
		echo "lint/selftest mk/check/selftest.sh $build"
		for lint in format headers points contract banned shell man; do
			echo "lint/$lint mk/check/$lint.sh"
		done
		;;
	fuzz)
		for source in core/test/fuzz_*.c faults/test/fuzz_*.c harness/test/fuzz_*.c; do
			[ -e "$source" ] || continue
			name=$(basename "$source" .c)
			run="mk/check/fuzz.sh $build/fuzz/fuzz/$name ${source%%/*}"
			echo "fuzz/${name#fuzz_} $(using "$build" "$run")"
		done
		;;
	*)
		echo "jobs.sh: no suite $suite" >&2
		exit 2
		;;
	esac
done
