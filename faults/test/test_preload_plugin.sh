#!/bin/sh
# SPDX-License-Identifier: MIT
# A plugin opened RTLD_LOCAL is reached however it gets at AIO; and a look-up finds what it would find
# without us, no more and no less.
set -u
. "$SRC/faults/test/victim.sh"

PLUGIN=$PROGS/plugin_aio.so

plugin() {
	victim "$1" "$2" "$PROGS/prog_plugin" "$PLUGIN" write "$3" file || fail "$*: $(cat "$OUT")"
}

for backend in kernel sim; do
	for how in linked looked-up number; do
		plugin $backend '' $how
		expect_out 'setup=0 submit=1 getevents=1 res=4096 destroy=0'
		expect_count 1 '^submit '
		expect_count 1 '^deliver .* result=4096'
		plugin $backend 'io_event#1 => res:EIO' $how
		expect_out 'setup=0 submit=1 getevents=1 res=-5 destroy=0'
		expect_count 1 '^inject io_event .* injected'
	done
	plugin $backend 'io_submit#1 => error:EAGAIN' number
	grep -q 'submit=-1 ' "$OUT" || fail "by number, an error is -1 and errno: $(cat "$OUT")"
done

look_up() {
	victim kernel "$1" "$PROGS/prog_plugin" "$PLUGIN" look-up || fail "$*: $(cat "$OUT")"
}

"$PROGS/prog_plugin" "$PLUGIN" look-up > plain || fail 'the victim fails by itself'
LD_PRELOAD=$PRELOAD "$PROGS/prog_plugin" "$PLUGIN" look-up | diff plain - ||
	fail 'loaded and passive, look-ups find something else'
look_up ''
diff plain "$OUT" || fail 'in a case, look-ups find something else'
expect_out 'own symbol by RTLD_DEFAULT: found'
expect_out 'libaio by RTLD_DEFAULT: missing'

# Taken away: not to be found by anybody, with a reason.
look_up 'io_pgetevents => missing'
expect_out 'own libaio by RTLD_DEFAULT: missing'
expect_out 'own libaio by handle: missing'
expect_out 'own libaio by version: missing'
expect_out 'libc by RTLD_NEXT: found'
expect_count 1 '^inject io_pgetevents .*missing'
