#!/bin/sh
# SPDX-License-Identifier: MIT
# In sim a program's hours pass in no time, in the order that its threads wait for each other; and
# when all are blocked for ever, that is a hang, at once.
set -u
. "$SRC/faults/test/victim.sh"

# sim CASE: must succeed, long before the time that it thinks passes.
sim() {
	victim sim '' "$PROGS/prog_simtime" "$1" || fail "$1: status $?: $(cat "$OUT")"
	expect_count 0 '^hang'
}

hangs() {
	victim sim '' "$PROGS/prog_simtime" "$1"
	status=$?
	[ $status -eq 124 ] || fail "$1: status $status: $(cat "$OUT")"
	expect_count 1 "^hang.*$2"
}

export SWAPFAULT_DEADLINE_NS=10000000000000
sim sleeps
diff - "$OUT" <<END || fail 'sleeps'
sleep result=0 at=100
usleep result=0 at=105
nanosleep result=0 at=115
clock_nanosleep result=0 at=125
clock_nanosleep-until result=0 at=185
poll result=0 at=192
calendar time=1 gettimeofday=1
END

sim waits
diff - "$OUT" <<END || fail 'waits'
cond result=1 at=0
rwlock-timed result=1 at=10
rwlock result=0 at=60
mutex-timed result=1 at=70
mutex result=0 at=90
sem result=0 at=90
sem-timed result=1 at=93
join result=0 at=95
cond-timed result=1 at=3695
END

sim ends
diff - "$OUT" <<END || fail 'ends'
tryjoin result=1 at=0
timedjoin result=1 at=5
join result=0 at=20
detached result=0 at=60
END

sim handlers
diff - "$OUT" <<END || fail 'handlers'
interrupted handled=1 left=1
sem result=0 at=10
END

sim forks
expect_out 'child result=0 at=10'

sim spins
expect_out 'spun result=0 at=1'

hangs deadlock 'every thread is blocked'
hangs nobody 'every thread is blocked'
unset SWAPFAULT_DEADLINE_NS
hangs late 'the deadline'

# A child has a time of its own: while there is one, waiting for it is no hang.
sim shares
diff - "$OUT" <<END || fail 'shares'
alone result=1 at=5
shared result=0 at=5
child gone
END
