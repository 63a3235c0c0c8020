#!/bin/sh
# SPDX-License-Identifier: MIT
# test_guest_program.sh - programs of scenarios in guests: they are taken along with their libraries and
# judged there as here; faults of the device strike them; what cannot run there says why.
set -u

. "$SRC/harness/test/guest.sh"

# program NAME ARGV [MORE]: a scenario for host and nvme
program() {
	cat >"$1.yaml" <<END
title: A program for the tests of guests
contract: C4
targets: [host, nvme]
program:
  argv: $2
  inputs:
    - {name: in, bytes: 256K}
${3:-}
END
}

program copy '[dd, if=in, of=out, bs=64K, status=none]' 'expect: {files: [{name: out, same_as: in}]}'
skip_without_guests --target nvme copy.yaml

# One that has a library of its own, found from where the program lies, and a script beside it.
mkdir own own/lib
echo 'int says(void) { return 7; }' >libsays.c
cat >says.c <<'END'
#include <stdio.h>
int says(void);
int main(void) { return printf("%d bytes\n\377", says()) < 0; }
END
# shellcheck disable=SC2016 # the loader's own
${CC:-cc} -shared -fPIC -o own/lib/libsays.so libsays.c &&
	${CC:-cc} -o own/says says.c -Lown/lib -lsays '-Wl,-rpath,$ORIGIN/lib' || exit 1
# shellcheck disable=SC2016 # the script's own
printf '#!/bin/sh\necho "here: $(cat in | wc -c)"; exit 3\n' >own/script
chmod +x own/script

# What passes and fails here does so there; what failed is told with its words and its events.
program says '[own/says]' 'expect: {stdout: 7 bytes}'
program wrong '[own/says]' 'expect: {stdout: 8 bytes}'
program status '[own/script]' 'needs: [program-cat, program-wc]
expect: {status: 3, stdout: "here: 262144"}'
program other '[false]'
program crash '[sh, -c, kill -SEGV $$]'
program stuck '[sleep, 1000s]' 'expect: {deadline: 1s}'
sed -i 's/^program:/&\n  count_from: start/' stuck.yaml
program short '[dd, if=in, of=out, bs=64K, status=none]' 'faults: ["pwrite#2 path=out => short:512"]
expect: {files: [{name: out, same_as: in}]}'
program nothing '[dd, if=in, of=out, bs=64K, status=none]' 'faults: ["io_submit#1 => error:EAGAIN"]'
all='copy says wrong status other crash stuck short nothing'
yamls=
for name in $all; do yamls="$yamls $name.yaml"; done
# shellcheck disable=SC2086 # a list of files
run 1 '8 passed, 8 failed, 2 vacuous' --target host,nvme --report ndjson:log $yamls
# verdict_of NAME TARGET: with class and reason
verdict_of() {
	sed -n "s/.*\"name\":\"$1@$2\".*\(\"verdict\":\"[a-z]*\"\).*/\1 /p" log
	sed -n "s/.*\"name\":\"$1@$2\".*\(\"reason\":\"[^\"]*\"\).*/\1/p" log
}
for name in $all; do
	[ -n "$(verdict_of "$name" host)" ] || fail "$name: no result"
	[ "$(verdict_of "$name" host)" = "$(verdict_of "$name" nvme)" ] ||
		fail "$name: here $(verdict_of "$name" host), there $(verdict_of "$name" nvme)"
done
kept_of() {
	sed -n 's/^ *kept: *//p' out | grep "$1-nvme"
}
grep -q '^7 bytes' "$(kept_of wrong)/stdout.txt" || fail 'wrong: its words are not kept'
grep -q pwrite "$(kept_of nothing)/events.txt" || fail 'nothing: its events are not kept'
rm -rf work/*

# So it is with what the harness must not let pass.
status=0
(cd "$SRC" && "$swaptorture" run scenarios/meta/program-*.yaml --target nvme \
	--work-dir "$TMPDIR/work" --report "ndjson:$TMPDIR/meta.ndjson") >out 2>&1 || status=$?
[ $status -eq 1 ] || fail "meta: status $status: $(tail -3 out)"
check_meta "$TMPDIR/meta.ndjson"
# shellcheck disable=SC2154,SC2012 # of lib.sh; names without surprises
[ "$checked" -eq "$(ls "$SRC"/scenarios/meta/program-*.yaml | wc -l)" ] ||
	fail "meta: $checked cases: $(tail -3 out)"
rm -rf work/*

# Faults of the device, which count what the program does: it reads what was made for it.
program medium '[dd, if=in, of=out, bs=64K, iflag=direct, status=none]' \
	'faults: ["nvme.read#2 => error"]'
program flipped '[cmp, in, in2]' 'faults: ["nvme.read#1 => flip:100"]'
sed -i 's/^    - {name: in,.*/&\n    - {name: in2, bytes: 4K}/' flipped.yaml
sed -i 's/host, nvme/nvme/' medium.yaml flipped.yaml
run 0 '2 passed' medium.yaml flipped.yaml
run 3 '1 of 1 fault took no effect' --fault 'nvme.read#900 => error' medium.yaml
rm -rf work/*

# What cannot run there is skipped with the reason, and so is what is not here.
skipped() {
	run 77 "skipped: .*$1" --target nvme "$2"
}
printf '#!/usr/bin/perl\n' >own/perl
echo words >own/text
chmod +x own/perl own/text
program perl '[own/perl]'
program text '[own/text]'
program file '[cat, /etc/passwd]'
program gone '[no-such-program]' 'needs: [program-no-such-program]'
cp own/says own/lost
program lost '[own/lost]'
skipped 'perl is a script for perl' perl.yaml
skipped 'text is neither an ELF file nor a script' text.yaml
skipped "'/etc/passwd' names what lies on this machine" file.yaml
skipped 'program no-such-program: No such file' gone.yaml
mv own/lib/libsays.so own/lib/libgone.so
skipped 'libsays.so: cannot open shared object file' lost.yaml
program nowhere '[no-such-program]'
run 2 "nowhere.yaml:5:9: argv: program 'no-such-program': No such file" --target nvme nowhere.yaml

# Linked statically it runs, and shows nothing, as here.
echo 'int main(void) { return 0; }' >static.c
if ${CC:-cc} -static -o own/static static.c 2>/dev/null; then
	program static '[own/static]'
	run 3 'no handshake from the preload: it is linked statically' --target nvme static.yaml
fi
rm -rf work/*
end_test 'programs in guests: run with their libraries, are judged, struck and refused as they must be'
