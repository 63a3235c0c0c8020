#!/bin/sh
# SPDX-License-Identifier: MIT
# Every kind is a libfiu point: fiu-run switches them on from the start, fiu-ctrl in a live process.
# (fiu-run sets LD_PRELOAD itself, so ours is added inside of it.)
set -u
. "$SRC/faults/test/victim.sh"

command -v fiu-run > /dev/null && command -v fiu-ctrl > /dev/null ||
	skip 'fiu-run and fiu-ctrl are not installed (fiu-utils)'

# libfiu makes and removes its pipes in the program's name: out of the work directory with them.
CONTROL=$(mktemp -d "${TMPDIR:-/tmp}/control.XXXXXX") || exit 1
trap 'rm -rf "$WORK" "$CONTROL"' EXIT

# preloaded OPTION... -- PROGRAM...: under fiu-run, with our preload next to its own.
preloaded() {
	rm -f "$LOG"
	set -- fiu-run -f "$CONTROL/ctrl" "$@"
	env PRELOAD="$PRELOAD" LOG="$LOG" timeout 60 "$@"
}
# shellcheck disable=SC2016
WITH_US='LD_PRELOAD="$LD_PRELOAD $PRELOAD" SWAPFAULT_LOG="$LOG" exec "$@"'

# The default kind, without conditions, at one point and no other.
preloaded -x -c 'enable name=posix/pread/error' sh -c "$WITH_US" sh \
	"$PROGS/prog_calls" run pread pread64 pwrite > "$OUT" 2>&1
expect_out 'pread -1 EIO same'
expect_out 'pread64 -1 EIO same'
expect_out 'pwrite 1024 0 changed'
expect_count 2 '^inject pread .*posix/pread/error'

# Every posix kind that has a default and fails its call.
while read -r layer point kind _ errnos; do
	[ "$layer/$kind" = posix/error ] || continue
	name=$("$PROGS/prog_calls" list | awk -v p="$point" '$2 == p { print $1; exit }')
	preloaded -c "enable name=$layer/$point/$kind" sh -c "$WITH_US" sh \
		"$PROGS/prog_calls" run "$name" > "$OUT" 2>&1
	grep -q -E "^$name -1 ($(echo "$errnos" | tr ' ' '|')) " "$OUT" ||
		fail "$layer/$point/$kind: $(cat "$OUT")"
	expect_count 1 "^inject $point .*$layer/$point/$kind"
done <<END
$("$PROGS/prog_points")
END

# AIO, where the stage asks: nothing of the batch is taken, a completion carries EIO, or is short.
aio() {
	preloaded -c "enable name=$1" sh -c "$WITH_US" sh "$PROGS/prog_plugin" \
		"$PROGS/plugin_aio.so" write linked file > "$OUT" 2>&1
	expect_out "$2"
	expect_count 1 "^inject.*$1"
}
aio aio/io_submit/error 'setup=0 submit=-11 res=0 destroy=0'
aio aio/io_event/res 'setup=0 submit=1 getevents=1 res=-5 destroy=0'
aio aio/io_event/short 'setup=0 submit=1 getevents=1 res=3584 destroy=0'
aio aio/io_destroy/error 'setup=0 submit=1 getevents=1 res=4096 destroy=-22'

# A probability at its ends, and wildcards.
preloaded -c 'enable_random name=posix/pread/*,probability=0' sh -c "$WITH_US" sh \
	"$PROGS/prog_calls" run pread > "$OUT" 2>&1
expect_out 'pread 1024 0 same'
preloaded -c 'enable_random name=posix/*,probability=1' sh -c "$WITH_US" sh \
	"$PROGS/prog_calls" run pread > "$OUT" 2>&1
expect_out 'pread -1 EIO same'

# In a live process: it reads and reads, and after fiu-ctrl it cannot.
printf 0123456789abcdef > file
preloaded sh -c "$WITH_US" sh "$PROGS/prog_child" loop > "$OUT" 2>&1 &
runner=$!
tries=0
while ! { grep -q started "$OUT" && set -- "$CONTROL"/ctrl-*.in && [ -e "$1" ]; }; do
	tries=$((tries + 1))
	[ $tries -lt 3000 ] || fail "no control: $(cat "$OUT")"
	kill -0 $runner 2> /dev/null || fail "it ended: $(cat "$OUT")"
done
pid=$(basename "$1" .in | sed 's/.*-//')
fiu-ctrl -f "$CONTROL/ctrl" -c 'enable name=posix/pread/error' "$pid" || fail 'fiu-ctrl'
wait $runner || fail "status $?: $(cat "$OUT")"
expect_out 'failed Input/output error'
expect_count 1 '^inject pread .*posix/pread/error'
