#!/bin/sh
# SPDX-License-Identifier: MIT
# In sim a case is a function of its schedule and its seed: a hundred runs have one hash of the
# event log, order included; another seed has another order.
set -u
# shellcheck source=/dev/null
. "$SRC/faults/test/victim.sh"

hash_of() {
	SEED=$1 victim sim "$2" "$PROGS/prog_rounds" file 16 4096 direct || fail "$2: $(cat "$OUT")"
	"$PROGS/prog_eventlog" hash "$LOG"
}

schedule='io_event#5..40+3 => short:1024; io_event#7 => dup
io_getevents#1..9+2 ready=3 => signal:USR1'
first=$(hash_of 1 "$schedule")
for run in $(seq 2 100); do
	[ "$(hash_of 1 "$schedule")" = "$first" ] || fail "run $run has another hash"
done

[ "$(hash_of 2 "$schedule")" != "$first" ] || fail "another seed has the same order"
[ "$(hash_of 1 '')" != "$first" ] || fail "another schedule has the same hash"
