#!/bin/sh
# SPDX-License-Identifier: MIT
# The same program under the same schedule on kernel and sim: what the program sees, and what the
# event log says of each request, is the same.
set -u
# shellcheck source=/dev/null
. "$SRC/faults/test/victim.sh"

# The order of completion is no part of it, nor how many waits it took.
run() {
	victim "$1" "$2" "$PROGS/prog_rounds" file 8 4096 "$3" || fail "$1: $2: $(cat "$OUT")"
	grep -v '^waits=' "$OUT" > "$1.out"
	"$PROGS/prog_eventlog" requests "$LOG" | grep -v ' io_getevents ' | sort > "$1.log"
}

agree() {
	run kernel "$1" "$2"
	run sim "$1" "$2"
	diff kernel.out sim.out || fail "the program sees a difference: $1 ($2)"
	diff kernel.log sim.log || fail "the logs differ: $1 ($2)"
	grep -q -e '^inject' -e '^missed' kernel.log || waits_only "$1"
}

# Faults of waits are left out of the comparison, and must be there.
waits_only() {
	case $1 in
	io_getevents* | '') ;;
	*) fail "nothing happened: $1" ;;
	esac
}

while read -r schedule; do
	agree "$schedule" direct
done <<END

io_event#3 => short:512
io_event#3 => short:100
io_event#11 => short:4096
io_event#20 => short:3000
io_event#* => short:1
io_event#5..40+3 => short:1024
io_event#3 => zero
io_event#* op=read => zero
io_event#3 => lie:512
io_event#20 => lie:-512
io_event#3 => res:EIO
io_event#3 => res:ENOSPC after
io_event#* offset=8K..16K => res:EIO
io_event#20 => res:ENODATA
io_event#3 => hold:until=io_event#5
io_event#3 => hold:until=wait#2
io_event#3 => hold
io_event#3 => drop
io_event#3 => dup
io_event#20 => unknown
io_event#* => reorder:7
io_event#20 => flip:77
io_event#10 => flip:77
io_event#10 => torn:512
io_event#20 => torn:100
io_event#20 => stale
io_event#3 => stale
io_event#10 => lost
io_event#10 => misdirect:32K
io_event#18 => misdirect:4096
io_event#17 => misdirect:-4096
io_event#3 => res:EIO; io_event#3 => dup; io_event#4 => short:512
io_submit#1 => accept:3
io_submit#2 => accept:0
io_submit#1..3 => error:EAGAIN
io_submit#2 => error:ENOMEM
io_getevents#1 => few:2
io_getevents#1..4 => few:0
io_getevents#1..5 ready=3 => signal:USR1
io_getevents#1..3 => signal:USR1
io_getevents#1 => error:EINTR
END

# Without O_DIRECT parts of a sector need no detour through memory of the preload.
while read -r schedule; do
	agree "$schedule" buffered
done <<END
io_event#3 => short:100
io_event#20 => short:3000
io_event#* op=read => zero
io_event#20 => lie:-512
io_event#10 => flip:77
io_event#20 => torn:100
io_event#20 => stale
io_event#10 => misdirect:32K
END
