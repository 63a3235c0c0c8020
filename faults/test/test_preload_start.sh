#!/bin/sh
# SPDX-License-Identifier: MIT
# How a case begins from the environment, in this process and in its children; and that what cannot
# begin ends the program with a sentence instead of running it untortured.
set -u
. "$SRC/faults/test/victim.sh"

CHILD=$PROGS/prog_child

# refused MESSAGE VARIABLE=VALUE...
refused() {
	message=$1
	shift
	env LD_PRELOAD="$PRELOAD" "$@" "$PROGS/prog_calls" run open > "$OUT" 2>&1
	status=$?
	[ $status -eq 127 ] || fail "$*: status $status, not refused: $(cat "$OUT")"
	grep -q -e "$message" "$OUT" || fail "$*: expected '$message', got: $(cat "$OUT")"
	grep -q '^open' "$OUT" && fail "$*: the program ran"
}

refused "SWAPFAULT_SCHEDULE:1:15: .*EWRONG.*allowed.*EMFILE" 'SWAPFAULT_SCHEDULE=open => error:EWRONG'
refused 'SWAPFAULT_SCHEDULE: no/such/file: No such file' SWAPFAULT_SCHEDULE=@no/such/file
refused "SWAPFAULT_BACKEND: 'real', must be kernel or sim" SWAPFAULT_BACKEND=real
refused "SWAPFAULT_SEED: '12x', must be a number" SWAPFAULT_BACKEND=sim SWAPFAULT_SEED=12x
refused "SWAPFAULT_SEED: '-1', must be a number" SWAPFAULT_BACKEND=sim SWAPFAULT_SEED=-1
refused "SWAPFAULT_SEED: '', must be a number" SWAPFAULT_BACKEND=sim SWAPFAULT_SEED=
refused 'SWAPFAULT_SECTOR_BYTES: 1000, must be 512 or 4096' SWAPFAULT_BACKEND=sim \
	SWAPFAULT_SECTOR_BYTES=1000
refused 'SWAPFAULT_SECTOR_BYTES: 4294967808, must be at most' SWAPFAULT_BACKEND=sim \
	SWAPFAULT_SECTOR_BYTES=4294967808
refused 'SWAPFAULT_MEMORY_ALIGN_BYTES: 3, must be a power of two' SWAPFAULT_BACKEND=sim \
	SWAPFAULT_MEMORY_ALIGN_BYTES=3
refused "SWAPFAULT_WORK_DIR: 'here', must be an absolute path" SWAPFAULT_BACKEND=sim \
	SWAPFAULT_WORK_DIR=here
refused "SWAPFAULT_WORK_DIR: '/no/such': No such file" SWAPFAULT_BACKEND=sim \
	SWAPFAULT_WORK_DIR=/no/such
refused "SWAPFAULT_ARM: 'never', must be start or open" SWAPFAULT_BACKEND=sim SWAPFAULT_ARM=never
refused "SWAPFAULT_PUMP: 'yes', must be 0 or 1" SWAPFAULT_BACKEND=sim SWAPFAULT_PUMP=yes
refused "SWAPFAULT_FOLLOW_EXEC: 'yes', must be 0 or 1" SWAPFAULT_BACKEND=sim \
	SWAPFAULT_FOLLOW_EXEC=yes
refused 'SWAPFAULT_LOG: /no/such/log: No such file' SWAPFAULT_LOG=/no/such/log
refused 'SWAPFAULT_SCHEDUL: no such variable' 'SWAPFAULT_SCHEDUL=open => error'
echo 'this is no event log' > garbage
refused 'SWAPFAULT_LOG: ' SWAPFAULT_LOG=garbage

# A schedule from a file; where no work directory is named it is where the program starts.
printf '# two faults\npread#1 => error:EIO\n\npread#2 => error:EINTR\n' > schedule
env LD_PRELOAD="$PRELOAD" SWAPFAULT_SCHEDULE=@schedule "$PROGS/prog_calls" run pread pread64 > "$OUT"
expect_out 'pread -1 EIO same'
expect_out 'pread64 -1 EINTR same'

# The log tells who ran and where.
victim sim '' "$PROGS/prog_calls" run pread
"$PROGS/prog_eventlog" header "$LOG" | grep -q '^handshake=1 backend=2 .*overflow=0' ||
	fail "header: $("$PROGS/prog_eventlog" header "$LOG")"

# Counting from the first open below the directory.
export SWAPFAULT_ARM=open
victim kernel 'mmap#1 => error' "$PROGS/prog_calls" run mmap open mmap64
expect_out 'mmap 1 0 same'
expect_out 'mmap64 -1 ENOMEM same'
unset SWAPFAULT_ARM

printf 0123456789abcdef > file
# fork: one log, one schedule, each process with a number of its own.
victim kernel 'pread#* proc=3 => error:EIO' "$CHILD" fork 3
printf 'parent 16 \nchild 16 \nchild -1 Input/output error\nchild 16 \n' | diff - "$OUT" || fail 'fork'
expect_count 4 '^call pread '
expect_count 1 '^inject pread .* result=-5'

# exec: the next program runs untouched, unless it is to be followed.
victim kernel 'pread#* => error:EIO' "$CHILD" exec "$CHILD" fork
printf 'parent -1 Input/output error\nparent 16 \nchild 16 \n' | diff - "$OUT" || fail 'exec'
export SWAPFAULT_FOLLOW_EXEC=1
victim kernel 'pread#* => error:EIO' "$CHILD" exec "$CHILD" fork
grep -v -x -e '\(parent\|child\) -1 Input/output error' "$OUT" && fail 'exec, followed'
expect_count 3 '^inject pread '
unset SWAPFAULT_FOLLOW_EXEC

# Where a preload cannot reach there is no handshake, hence no log: never a pass.
victim kernel 'pread => error' "$PROGS/prog_static" || fail 'a static program does not run'
[ -e "$LOG" ] && fail 'a static program shook hands'
if [ "$(id -u)" -eq 0 ] && command -v setpriv > /dev/null; then
	chmod 777 "$WORK" && cp "$PROGS/prog_calls" suid && chmod 4755 suid || exit 1
	setpriv --reuid=65534 --clear-groups env LD_PRELOAD="$PRELOAD" SWAPFAULT_LOG="$LOG" \
		SWAPFAULT_SCHEDULE='pread => error' ./suid list > "$OUT" 2>&1 ||
		fail "a setuid program does not run: $(cat "$OUT")"
	[ -e "$LOG" ] && fail 'a setuid program shook hands'
fi
exit 0
