# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# victim.sh - sourced by the shell tests: run a program under the preload and look at its event log.

PRELOAD=$BUILD/lib/libswapfault.so
PROGS=$BUILD/test
WORK=$(mktemp -d "${TMPDIR:-/tmp}/stage.XXXXXX") || exit 1
LOG=$WORK/log
OUT=$WORK/out
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" || exit 1

fail() {
	echo "FAIL: $*"
	exit 1
}

skip() {
	echo "$*"
	exit 77
}

# victim BACKEND SCHEDULE PROGRAM [ARGUMENT...]: its output is in $OUT, the log in $LOG.
victim() {
	backend=$1 schedule=$2
	shift 2
	rm -f "$LOG"
	timeout -k 1 "${PATIENCE:-60}" env LD_PRELOAD="$PRELOAD" SWAPFAULT_LOG="$LOG" \
		SWAPFAULT_WORK_DIR="$WORK" SWAPFAULT_BACKEND="$backend" \
		SWAPFAULT_SCHEDULE="$schedule" \
		SWAPFAULT_SEED="${SEED:-1}" SWAPFAULT_PUMP="${PUMP:-0}" "$@" > "$OUT" 2>&1
}

records() {
	"$PROGS/prog_eventlog" print "$LOG"
}

# count PATTERN: records that match.
count() {
	records | grep -c -e "$1"
}

# expect_count NUMBER PATTERN
expect_count() {
	found=$(count "$2")
	[ "$found" -eq "$1" ] || fail "$found records '$2', expected $1: $(records | tail -20)"
}

expect_out() {
	grep -q -x -e "$1" "$OUT" || fail "expected '$1', got: $(cat "$OUT")"
}
