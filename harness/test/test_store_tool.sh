#!/bin/sh
# SPDX-License-Identifier: MIT
# test_store_tool.sh - swaptorture store: what it prints, what it refuses and with which status.
set -u

. "$SRC/harness/test/lib.sh"
cd "$TMPDIR" || exit 1

# store STATUS PATTERN ARGUMENT...: as expect, of swaptorture store
store() {
	status=$1 pattern=$2
	shift 2
	expect "$status" "$pattern" store "$@"
}

# quiet ARGUMENT...: succeeds and prints nothing
quiet() {
	"$swaptorture" store "$@" >out 2>&1 || fail "'store $*' ended with $?: $(head -3 out)"
	[ ! -s out ] || fail "'store $*' printed: $(head -3 out)"
}

# flip FILE OFFSET: another byte there
flip() {
	byte=$(od -An -tu1 -j"$2" -N1 "$1")
	# shellcheck disable=SC2059 # the octal number of the byte
	printf "\\$(printf %03o $((byte ^ 1)))" |
		dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

fill() {
	LD_LIBRARY_PATH="$BUILD/lib" "$BUILD/examples/store_roundtrip" "$1" 5000 >out 2>&1 ||
		fail "store_roundtrip: $(cat out)"
}

fill s
store 0 '^Usage: swaptorture store COMMAND' --help
store 2 '^Usage: swaptorture store COMMAND'
store 2 "unknown command 'lst', did you mean 'ls'" lst s
store 0 '^Usage: swaptorture store ls \[OPTION...\] STORE' ls --help
store 2 'the store is missing' ls
store 2 'one store at a time' ls s t
store 2 'unknown option --jsn' ls --jsn s
store 2 'must be OFFSET or OFFSET:LENGTH' ls --range 1Q s
store 2 'range_offset_bytes is 1, allowed: multiples of 4096' ls --range 1 s
store 2 'nowhere: no store is there' ls nowhere
store 2 'no group is named' rm s

store 0 '^         1        3          40004 .* adam$' ls s
store 0 '"group":"adam","generation":1,"tensors":3,"bytes":40004,.*"damage":null}$' ls --json s
store 0 '^nothing is damaged$' verify s
store 0 '^nothing is damaged$' verify s adam
store 2 'group eve: nothing is stored' verify s eve
quiet verify --json s

# The scalar step is the first tensor, behind head and two slots.
volume=$(echo s/*-1.vol)
flip "$volume" $((3 * 4096 + 1))
store 1 'damaged: group adam, tensor step, 4 bytes at 0: the checksum differs' verify s
store 1 '"tensor":"step","offset_bytes":0,"length_bytes":4,"error":"EBADMSG"' verify --json s
flip "$volume" $((3 * 4096 + 1))
flip "$volume" 4100
store 1 'generation 1 was committed, and its manifest is gone or damaged' verify s
store 0 'damaged  adam' ls s
store 0 '"damage":"EBADMSG"' ls --json s
quiet rm s adam
store 2 'no group adam is stored' rm s adam

# Somebody has it open: flock(1) stands for another process.
exec 9<s/swapio.store
flock -x 9
store 2 'another process, or another store of this one, has it open for writing' ls s
store 2 'has it open' verify s
store 2 'has it open' rm --all s
flock -u 9
flock -s 9
store 0 'generation' ls s
store 2 'has it open' rm s adam
exec 9<&-

touch s/other
store 2 'leaves no group to name' rm --all s adam
quiet rm --all s
[ "$(ls s)" = other ] || fail "rm --all left: $(ls s)"
store 2 'no store is there' rm --all s
mkdir empty
store 2 'no store is there' ls empty
[ -z "$(ls empty)" ] || fail "ls made something: $(ls empty)"
"$swaptorture" store ls --help >/dev/full 2>out && fail "a full standard output is no failure"

rm -rf s empty out
[ "$failures" -eq 0 ]
