# SPDX-License-Identifier: MIT
# guest.sh - what tests of cases in guests share: . "$SRC/harness/test/guest.sh"
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # variables are for who sources this, and from lib.sh

# shellcheck source=/dev/null
. "$SRC/harness/test/lib.sh"
cd "$TMPDIR" || exit 1
mkdir work

# A scenario for target nvme, with a queue of that depth: NAME STEPS EXPECTATION [MORE]
depth=8
scenario() {
	cat >"$1.yaml" <<END
title: A case for the tests of guests
contract: [C3, C17]
targets: [nvme]
device: {mdts: 4}
swap:
  tensors:
    - {name: exp_avg, numel: 65536, dtype: fp32}
  steps: $2
handle: {block_size: 64K, queue_depth: $depth, workers: 0}
${4:-}
expect: $3
END
}

# run STATUS PATTERN ARGUMENT...
run() {
	status=$1 pattern=$2
	shift 2
	expect "$status" "$pattern" run --work-dir work "$@"
}

# skip_without_guests ARGUMENT...: where there can be none, which that run tells, the test ends; with
# NEED_GUEST=1 it fails. What the run prints stays in the file out.
skip_without_guests() {
	"$swaptorture" run --work-dir work "$@" >out 2>&1
	if [ $? -eq 77 ] && grep -Eq 'qemu-system-x86_64|no kernel for a guest' out; then
		sed -n 's/^skipped: //p' out
		[ "${NEED_GUEST:-}" = 1 ] && exit 1
		exit 77
	fi
}
