#!/bin/sh
# SPDX-License-Identifier: MIT
# test_cli_exec.sh - `swaptorture exec`: strangers under a schedule, and every verdict they can come to.
set -u

. "$SRC/harness/test/lib.sh"
cd "$TMPDIR" || exit 1

# expect_exec STATUS PATTERN ARGUMENT...: as expect, of exec
expect_exec() {
	wanted=$1 told=$2
	shift 2
	expect "$wanted" "$told" exec "$@"
}

compile() {
	printf '%s\n' "$2" >"$1.c"
	# shellcheck disable=SC2086 # flags are words
	${CC:-cc} $3 -o "$1" "$1.c" 2>/dev/null
}

# Options that cannot be.
expect_exec 2 'the program is missing: -- PROGRAM'
expect_exec 2 'nosuchprogram: No such file' -- nosuchprogram
expect_exec 2 '/etc/passwd: Permission denied' -- /etc/passwd
expect_exec 2 '/tmp: Is a directory' -- /tmp
expect_exec 2 'nvme.read is a point of the device under a guest, which exec does not have' \
	--fault 'nvme.read => error' -- true
expect_exec 2 "column 1: no point 'io_sumbit' (did you mean io_submit" --fault 'io_sumbit => dup' -- true
expect_exec 2 'must be host or sim' --target nvme -- true
expect_exec 2 'must be start or open' --arm later -- true
expect_exec 2 'must be success or failure' --expect luck -- true
expect_exec 2 'must be memcheck or helgrind' --under gdb -- true
expect_exec 2 'must be a duration' --deadline 5 -- true
expect_exec 2 "--path '/nowhere': No such file" --path /nowhere -- true
expect_exec 2 'nowhere.txt: No such file' --schedule nowhere.txt -- true
printf '# two faults\nio_submit#1 => error:EAGAIN\nio_event#1 => resx:EIO\n' >schedule
expect_exec 2 'schedule:3:15: ' --schedule schedule -- true
printf 'io_submit#1 => error:EAGAIN\000\n' >schedule
expect_exec 2 'NUL' --schedule schedule -- true

# A crash is the fault, not the program's failure; only sim can make one.
expect_exec 0 'pass: the power was cut' --target sim --fault 'fsync#1 => crash:7' -- \
	"$BUILD/test/prog_crash_writer"
expect_exec 3 'only sim can lose what is not durable' --fault 'fsync#1 => crash:7' -- \
	"$BUILD/test/prog_crash_writer"
expect_exec 1 'ended with status 113' -- sh -c 'exit 113'

# The program's own words and status.
expect_exec 0 '^swaptorture: pass' -- true
expect_exec 1 'fail (contract): the program ended with status 7, host' -- sh -c 'exit 7'
[ "$(grep -c 'status 7' out)" -eq 1 ] || fail "one finding, told twice: $(cat out)"
expect_exec 1 'fail (crash): the program was killed by signal 11' -- sh -c 'kill -SEGV $$'
expect_exec 1 'fail (hang): the program did not end in time' --deadline 100ms -- sleep 60
expect_exec 0 'pass; the program ended with status 7' --expect failure -- sh -c 'exit 7'
expect_exec 1 'ended with status 0, it should have failed' --expect failure -- true
[ "$("$swaptorture" exec -- echo its own words 2>/dev/null)" = 'its own words' ] ||
	fail 'standard output is not the program'\''s'
[ "$(echo through | "$swaptorture" exec -- cat 2>/dev/null)" = through ] ||
	fail 'standard input is not the program'\''s'
"$swaptorture" exec -- env 2>/dev/null | grep -q '^SWAPFAULT_' && fail 'children see SWAPFAULT_*'

# Beyond reach is never a pass.
if compile static 'int main(void) { return 0; }' -static; then
	expect_exec 3 'broken: no handshake from the preload: it is linked statically' -- ./static
fi
if compile narrow 'int main(void) { return 0; }' -m32; then
	expect_exec 3 'broken: .*32-bit' -- ./narrow
fi
compile uring '#include <unistd.h>
	int main(void) { char p[256] = {0}; syscall(425, 4, p); return 0; }' '' || fail 'no compiler'
expect_exec 3 'vacuous: the program uses io_uring' -- ./uring
expect_exec 3 'vacuous: 1 of 1 fault took no effect' --fault 'io_event#1 => dup' -- true
[ "$(grep -c 'io_event#1 => dup' out)" -eq 1 ] || fail "a fault that did not fire, told twice: $(cat out)"

# Faults of files: here, below --path, and in what the program executes.
echo data >data
expect_exec 1 'took effect 1 time (INJECTED)' --fault 'open#1 path=data => error:EMFILE' -- cat data
grep -q 'cat: data: Too many open files' out || fail 'cat did not see EMFILE'
grep -q 'ended with status 1; if it must fail.*--expect failure' out || fail "no hint: $(cat out)"
expect_exec 3 'vacuous: 1 of 2 faults took no effect' --fault 'open#1 path=data => error:EMFILE' \
	--fault 'io_event#1 => dup' --expect failure -- cat data
mkdir -p below
echo data >below/data
expect_exec 1 'took effect' --path below --fault 'open#1 => error:EACCES' -- cat below/data
expect_exec 3 'did not fire' --path below --fault 'open#1 => error:EACCES' -- cat data
expect_exec 3 'did not fire' --fault 'open#1 path=data => error:EIO' -- sh -c 'cat data; exit 0'
expect_exec 0 'took effect' --follow-exec --fault 'open#1 path=data => error:EIO' -- \
	sh -c 'cat data; exit 0'

# Waits: signals, job control, a debugger, on either back end.
head -c 65536 /dev/zero >reads
for target in host sim; do
	expect_exec 0 'pass' --target $target -- "$BUILD/test/prog_signals" reads 2 4 io_getevents
	grep -q 'eintr=0 short=0' out || fail "disarmed: $(head -1 out)"
	expect_exec 0 'took effect 1 time' --target $target --fault 'io_getevents#1 ready=0 => stop' -- \
		"$BUILD/test/prog_signals" reads 2 4 io_getevents
	grep -q 'eintr=1 short=0' out || fail "stop, nothing ready, $target: $(head -1 out)"
	expect_exec 0 'took effect 1 time' --target $target --fault 'io_getevents#1 ready=2 => attach' -- \
		"$BUILD/test/prog_signals" reads 2 4 io_getevents
	grep -q 'eintr=0 short=1' out || fail "attach, two ready, $target: $(head -1 out)"
	expect_exec 0 'took effect 1 time' --target $target -f 'io_getevents#1 ready=2 => signal:USR1' -- \
		"$BUILD/test/prog_signals" reads 2 4 io_pgetevents
	grep -q 'handled=1 eintr=0 short=1' out || fail "signal, two ready, $target: $(head -1 out)"
done

# Waiting for more than is in flight is wrong where nothing ends the wait; a hang is worse, and is told
# with what led to it.
for target in host sim; do
	expect_exec 1 'fail (contract): context 1: wait for 3, more than the 2 in flight' --target $target \
		--fault 'io_getevents#1 => few:2' -- "$BUILD/test/prog_overask" reads forever
	expect_exec 0 'pass' --target $target -- "$BUILD/test/prog_overask" reads timed
done
expect_exec 1 'fail (hang): the program hangs' --target sim -- "$BUILD/test/prog_overask" reads forever
grep -q 'ledger: context 1: wait for 3, more than the 2 in flight' out || fail 'no word of why it hangs'

# fio must notice a flipped bit, and must not complain without one.
job='--name=w --filename=fio.dat --rw=write --size=1m --bs=16k --iodepth=8 --ioengine=libaio
	--direct=1 --verify=crc32c --verify_state_save=0 --thread'
if command -v fio >/dev/null; then
	# shellcheck disable=SC2086
	expect_exec 1 'ended with status .*--expect failure' --fault 'io_event#7 op=read => flip:777' -- \
		fio $job
	# shellcheck disable=SC2086 # the job is words
	expect_exec 0 'pass' -- fio $job
	# shellcheck disable=SC2086
	expect_exec 0 'took effect 1 time' --expect failure --fault 'io_event#7 op=read => flip:777' -- \
		fio $job
	grep -q 'verify failed' out || fail 'fio did not notice the flipped bit'
fi

# Under valgrind its findings are failures.
if command -v valgrind >/dev/null; then
	compile overrun '#include <stdlib.h>
		int main(void) { char *p = malloc(4); p[4] = 1; free(p); return 0; }' -g
	expect_exec 1 'memcheck found errors' --under memcheck -- ./overrun
	expect_exec 0 'took effect 1 time' --under memcheck --fault 'io_event#2 op=write => short:512' -- \
		"$BUILD/test/prog_rounds" rounds 4 4096 direct
	printf '#!/bin/sh\n' >script
	chmod +x script
	expect_exec 2 'must be a dynamically linked 64-bit program' --under memcheck -- ./script
fi

# Being told to end ends the program, what it started, and us.
"$swaptorture" exec --deadline 10s -- sh -c 'sleep 60 & echo $! >pid; wait' >out 2>&1 &
ours=$!
until_true test -s pid || fail 'the program was not started'
kill -TERM "$ours"
wait "$ours"
[ $? -eq 130 ] || fail "interrupted exec did not end with 130: $(cat out)"

# What is ignored from the start stays ignored.
perl -e '$SIG{HUP} = "IGNORE"; exec @ARGV' "$swaptorture" exec -- \
	sh -c 'kill -HUP $PPID; echo told >told' >out 2>&1 ||
	fail "an ignored SIGHUP interrupts exec: $(cat out)"
[ -s told ] || fail 'nobody sent SIGHUP'

until_true all_gone "$(cat pid)" || fail 'a child of an interrupted program lives on'

end_test 'exec tells what became of strangers'
