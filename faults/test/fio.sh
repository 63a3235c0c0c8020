# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# fio.sh - sourced by the tests that run fio, a program that knows nothing of us, under the preload.

# shellcheck source=/dev/null
. "$SRC/faults/test/victim.sh"

command -v fio > /dev/null || skip "fio is not installed"

fio --name=probe --filename="$WORK/data" --size=64k --bs=4k --ioengine=libaio --direct=1 \
	--rw=write > probe.out 2>&1 || skip "fio cannot do direct I/O here: $(tail -1 probe.out)"

# under SCHEDULE [OPTION...]: its exit status; output in $OUT, log in $LOG.
under() {
	fio_schedule=$1
	shift
	victim kernel "$fio_schedule" fio --name=job --filename="$WORK/data" --size=2M --bs=4k \
		--ioengine=libaio --direct=1 --iodepth=8 --verify_state_save=0 "$@"
}

passes() {
	under "$@" || fail "fio fails under '$*': $(tail -5 "$OUT")"
}

complains() {
	! under "$@" || fail "fio does not notice '$*': $(records | grep -e inject -e missed | head)"
	[ "$(count '^inject')" -gt 0 ] || fail "nothing was injected by '$*'"
}
