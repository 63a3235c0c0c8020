#!/bin/sh
# SPDX-License-Identifier: MIT
# Every errno of every AIO call reaches the program, on both back ends, through libaio and through
# syscall(): once in the log, and the next try finds everything as it should be.
set -u
. "$SRC/faults/test/victim.sh"

aio() {
	victim "$1" "$2" "$PROGS/prog_aio" "$3" file || fail "$*: status $?: $(cat "$OUT")"
}

# What is to be seen without a fault: io_cancel() finds nothing to cancel.
cat > clean <<END
setup 0
submit 4
getevents 4
submit 4
pgetevents 4
cancel EINVAL
cancel EINVAL
destroy 0
END

# expected CALL ERRNO: the call fails first. A context that is destroyed is so whatever is said.
expected() {
	case $1 in
	cancel) awk -v e="$2" '$1 == "cancel" && !n++ { $2 = e } { print }' clean ;;
	destroy) sed "s/^destroy 0/destroy $2\ndestroy EINVAL/" clean ;;
	*) awk -v c="$1" -v e="$2" '$1 == c && !n++ { print c, e } { print }' clean ;;
	esac
}

LD_PRELOAD=$PRELOAD "$PROGS/prog_aio" name file | diff clean - || fail 'passive'
for how in name number queue; do
	"$PROGS/prog_aio" $how file | diff clean - || fail "$how without the preload"
	for backend in kernel sim; do
		aio $backend '' $how
		diff clean "$OUT" || fail "$backend, $how: without faults"
		expect_count 0 '^inject'
	done
done

# each HOW: one run for each errno of each call.
each() {
	"$PROGS/prog_points" | grep '^aio io_[a-z]* error ' | while read -r _ point _ _ errnos; do
		for errno in $errnos; do
			for backend in kernel sim; do
				aio $backend "$point#1 => error:$errno" "$1"
				expected "${point#io_}" "$errno" | diff - "$OUT" ||
					fail "$backend, $1: $point $errno"
				expect_count 1 "^inject $point .* injected"
			done
		done
	done
}
each name || exit 1
each number || exit 1

# Part of a batch, none of it; and a call that is not there.
for backend in kernel sim; do
	for how in name number; do
		aio $backend 'io_submit#1 => accept:1; io_submit#2 => accept:0' $how
		sed '2s/.*/submit 1\nsubmit 0\nsubmit 3/' clean | diff - "$OUT" ||
			fail "$backend, $how: accept"
		expect_count 2 '^inject io_submit '
		aio $backend 'io_getevents#1 => few:0' $how
		sed '3s/.*/getevents 0/' clean | head -3 > few
		head -3 "$OUT" | diff few - || fail "$backend, $how: few"
		aio $backend 'io_pgetevents => missing' $how
		sed 's/^pgetevents.*/pgetevents ENOSYS\npgetevents ENOSYS/' clean |
			diff - "$OUT" || fail "$backend, $how: missing"
	done
done
