#!/bin/sh
# SPDX-License-Identifier: MIT
# test_program.sh - scenarios that run a program in place of the workload: what it is given, what is
# said of one that cannot run, what is kept of one that failed, and that an interrupt ends it.
set -u
# shellcheck disable=SC2317 # functions are called through until_true
. "$SRC/harness/test/lib.sh"
cd "$TMPDIR" || exit 1
mkdir work

# scenario NAME: what follows the title, from standard input
scenario() {
	{
		echo "title: a program"
		cat
	} >"$1.yaml"
}

# run STATUS PATTERN NAME [ARGUMENT...]
run() {
	status=$1 pattern=$2 name=$3
	shift 3
	expect "$status" "$pattern" run "$name.yaml" --work-dir work "$@"
}

# It runs in the work directory, with its words, its environment, its input, and nothing to read.
scenario given <<'END'
program:
  argv: [sh, -c, 'pwd; echo $1 $SEED "$TWICE"; echo ${{x:-b}; cat; wc -c <in', -, "{work_dir}/f"]
  env: ["SEED={seed}", TWICE=a, TWICE=b b]
  inputs:
    - {name: in, bytes: 100001}
expect:
  stdout: ["/f 77 b b", 100001]
END
for target in sim host; do
	echo unread | run 0 '1 passed' given --target "$target" --seed 77
done

# Inputs are drawn from the seed.
scenario seeded <<'END'
program:
  argv: [sh, -c, cat in; exit 1]
  inputs:
    - {name: in, bytes: 70000}
END
for seed in 1 1 2; do
	run 1 'fail' seeded --target host --seed "$seed"
	kept=$(sed -n 's/^ *kept: *//p' out)
	cmp "$kept/in" "$kept/stdout.txt" || fail 'what it said was not kept'
	cksum <"$kept/in" >>sums
done
[ "$(sort -u sums | wc -l)" -eq 2 ] || fail "inputs of seeds 1, 1 and 2: $(cat sums)"

# The line that runs it again does; what it complained of is kept.
scenario complains <<'END'
program:
  argv: [dd, if=in, of=out, bs=4K, status=none]
  inputs:
    - {name: in, bytes: 16K}
faults:
  - pwrite#2 path=out => error:ENOSPC
expect: {status: 0}
END
run 1 'status: the program ended with status 1' complains --target host
grep -q 'No space left on device' "$(sed -n 's/^ *kept: *//p' out)/stderr.txt" || fail 'no complaint'
again=$(sed -n 's/^ *again: *//p' out)
sh -c "$again --work-dir work" >out 2>&1
[ $? -eq 1 ] || fail "not again: $again"
# Other faults have their own effects: dd notices, and what it leaves is not looked at.
run 0 '1 passed' complains --target host --fault 'pread#1 path=in => error:EIO'
run 0 '1 passed' complains --target host --fault 'pwrite#1 path=out => short:100'
run 3 '1 vacuous' complains --target host --fault 'fsync#1 => error:EIO'

# Programs that cannot run are refused with place, name and reason, before anything runs.
echo '#!/bin/sh' >script
for words in './script: Permission denied' 'no-such-program: No such file' '/: Is a directory'; do
	scenario absent <<END
program:
  argv: ["${words%%:*}"]
END
	run 2 "absent.yaml:3:9: argv: program '${words%%:*}':${words#*:}" absent
done
# Unless they may be missing: then it is a skip, with the same reason.
scenario needed <<'END'
needs: [program-no-such-program]
program:
  argv: [no-such-program]
END
run 77 'program no-such-program: No such file' needed
# A path is one from here, wherever the program runs.
chmod +x script
scenario here <<'END'
program:
  argv: [./script]
END
run 0 '2 passed' here

# Out of the preload's reach is never a pass.
if printf 'int main(void) { return 0; }\n' >static.c &&
	${CC:-cc} -static -o static static.c 2>/dev/null; then
	scenario static <<'END'
program:
  argv: [./static]
END
	run 3 'no handshake from the preload: it is linked statically' static
fi

# No tools: a skip that says where they are.
if command -v valgrind >/dev/null; then
	run 77 'see swaptorture exec --under' given --under memcheck --target sim
fi

# What a power cut leaves has to be read by somebody.
scenario cut <<'END'
targets: sim
program:
  argv: [dd, if=in, of=out, bs=4K, conv=fsync, status=none]
  inputs:
    - {name: in, bytes: 16K}
faults:
  - fsync#1 => crash:7
END
run 3 'no expected file is read afterwards' cut
cat >>cut.yaml <<'END'
expect: {files: [{name: in, bytes: 16K}]}
END
run 0 '1 passed' cut
sed -i 's/bytes: 16K}\]/bytes: 15K}]/' cut.yaml
run 1 'file in has 16384 bytes, must have 15360' cut

# Told to end, it ends the program and what that started.
scenario waits <<'END'
program:
  argv: [sh, -c, 'sleep 600 & echo $! >pid; wait']
expect: {deadline: 10m}
END
"$swaptorture" run waits.yaml --target host --work-dir work >out 2>&1 &
ours=$!
pid_of_sleep() {
	cat work/*/*/pid 2>/dev/null | grep .
}
until_true pid_of_sleep >/dev/null || fail "it did not start: $(cat out)"
pid=$(pid_of_sleep)
kill -TERM "$ours"
wait "$ours"
[ $? -eq 130 ] || fail "interrupted run did not end with 130: $(cat out)"
until_true all_gone "$pid" || fail 'a child of an interrupted program lives on'

end_test "programs run as their scenarios say"
