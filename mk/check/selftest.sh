#!/bin/sh
# SPDX-License-Identifier: MIT
# selftest.sh BUILD - prove of each lint that it finds what it is there to find: plant one violation
# at a time in a copy of the tree and ask for the complaint. (That the lints pass on the tree as it
# is, is what the lints themselves say.)
set -eu

build=$(cd "$1" && pwd)
src=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
planted=0
missed=0

# fresh: a copy of the tree to plant in
fresh() {
	rm -rf "$work/tree"
	mkdir "$work/tree"
	cd "$src"
	cp -r core faults harness scenarios bench mk docs configure .clang-format "$work/tree"
	[ ! -d .ci ] || cp -r .ci "$work/tree"
	cd "$work/tree"
}

# finds COMPLAINT LINT...: the lint fails, and its complaint matches
finds() {
	complaint=$1
	shift
	planted=$((planted + 1))
	if "$@" >"$work/out" 2>&1; then
		echo "not found by $1: $complaint"
		missed=1
	elif ! grep -qE "$complaint" "$work/out"; then
		echo "$1 says something else than: $complaint"
		head -5 "$work/out"
		missed=1
	fi
}

layers() {
	mk/check/layers.sh <"$build/layers"
}

# after TEXT FILE: append a line
after() {
	printf '%s\n' "$1" >>"$2"
}

fresh
after '#include "swapfault.h"' core/src/log.c
finds 'core/src/log.c: "swapfault.h" is nothing that core/src may know' layers
after '#include "../../faults/include/swapfault.h"' core/src/slab.c
finds 'core/src/slab.c: .* which core/src may not know' layers
after '#include <libaio.h>' core/src/log.c
finds 'core: 2 files include <libaio.h>' layers
after '#include "swapio/io.h"' faults/src/real.c
finds 'faults/src/real.c: .*nothing that faults/src may know' layers
after '#include "swapio/io.h"' harness/common/diag.c
finds 'harness/common/diag.c: .*nothing that' layers
after '#include "../worker/worker.h"' harness/src/plan.c
finds 'harness/src/plan.c: ' layers
after '#include <swapio/io.h>' faults/src/files.c
finds 'is a header of ours' layers
after '#include "run.h"' harness/src/report_planted.c
finds 'report_planted.c: may not include run.h' layers
after '#include "jobctl.h"' harness/src/oracle_planted.c
finds 'oracle_planted.c: may not include jobctl.h' layers
after '' faults/planted.c
finds 'faults/planted.c: lies in no layer' layers

fresh
after 'struct planted { size_t missing; };' core/include/swapio/error.h
finds 'error.h: does not compile alone as c$' mk/check/headers.sh
after 'int new(int delete);' faults/include/swapfault.h
finds 'swapfault.h: does not compile alone as c\+\+' mk/check/headers.sh

fresh
sed -i '/swapio_close;/d' core/libswapio.map
finds 'swapio_close: exported, but not mapped' mk/check/abi.sh "$build"
fresh
sed -i 's/^ \* swapio_close() - .*/ * closes/' core/include/swapio/handle.h
finds 'swapio_close: exported, but not documented' mk/check/abi.sh "$build"
fresh
after 'int swapio_planted(void);' core/include/swapio/io.h
finds 'swapio_planted: declared, but not exported' mk/check/abi.sh "$build"
fresh
find core/test -type f -exec sed -i 's/swapio_abort\b/swapio_close/g' {} +
finds 'swapio_abort: exported, but no unit test' mk/check/abi.sh "$build"
fresh
sed -i '0,/^ \* Since:/s/^ \* Since:.*/ */' core/include/swapio/handle.h
finds 'does not say "Since:"' mk/check/abi.sh "$build"

fresh
after 'KIND(io_setup, planted, NONE, "", "", TRANSPARENT, "C10", "planted")' faults/points.def
finds 'no scenario uses io_setup => planted' mk/check/points.sh
after 'io_submit => accept because it was used' mk/check/allow/points
finds 'io_submit => accept is used now' mk/check/points.sh
after 'POINT(io_planted, "planted")' faults/points.def
finds 'io_planted has no kind' mk/check/points.sh
after 'NVME_POINT(planted, "planted")' faults/points.def
finds 'nvme.planted has no kind' mk/check/points.sh
after 'NVME_KIND(read, planted, NONE, "", "", TRANSPARENT, "C4", "planted")' faults/points.def
finds 'no scenario uses nvme.read => planted' mk/check/points.sh

fresh
sed -i 's/^contract:.*/contract: C99/' scenarios/signal/two-of-four-ready.yaml
finds 'contract row C99 does not exist' mk/check/contract.sh
fresh
sed -i "s/^contract: C6$/contract: C1/; s/C6, //" scenarios/*/sectors-of-4096-bytes.yaml
finds 'row C6 has no scenario' mk/check/contract.sh
fresh
sed -i '/^contract:/d' scenarios/signal/two-of-four-ready.yaml
finds 'two-of-four-ready.yaml: serves no row' mk/check/contract.sh
fresh
echo 'contract: C3' >>scenarios/partial/copy-goes-on-after-a-short-write.yaml
finds 'a program serves no row' mk/check/contract.sh
fresh
sed -i 's/signal.two-of-four-ready/signal\/planted/' docs/CONTRACT.md
finds 'the scenarios say otherwise' mk/check/contract.sh

fresh
after 'void planted(char *s) { strcpy(s, "x"); }' core/src/log.c
finds 'core/src/log.c: strcpy is banned' mk/check/banned.sh
after 'void planted(void) { sleep(1); }' harness/common/diag.c
finds 'harness/common/diag.c: sleep is banned' mk/check/banned.sh
after 'void planted(void) { srand(time(NULL)); }' harness/common/workload.c
finds 'harness/common/workload.c: time\(NULL\) is banned' mk/check/banned.sh
nap='sleep' # or this script would complain of itself
after "$nap 2" bench/core_vs_fio.sh
finds 'bench/core_vs_fio.sh: sleep is banned' mk/check/banned.sh
after 'core/src/pin.c atoi because it was there' mk/check/allow/banned
finds 'not there \(any more\): core/src/pin.c atoi' mk/check/banned.sh
after "/* $(printf '%0100d' 0) */" core/src/pin.c
finds 'core/src/pin.c:[0-9]*: longer than 100' mk/check/banned.sh
sed -i 1d core/src/table.c
finds 'core/src/table.c: no SPDX line' mk/check/banned.sh

fresh
after 'int   planted( void ) ;' core/src/log.c
if mk/check/format.sh >"$work/out" 2>&1 || [ $? -ne 77 ]; then
	finds 'core/src/log.c:.*clang-formatted' mk/check/format.sh
fi
after 'for planted in $(ls); do :; done' bench/core_vs_fio.sh
finds 'SC2045' mk/check/shell.sh
mkdir -p docs/man
printf '.Dd planted\n.Sh NAME\n.Bogus\n' >docs/man/planted.1
finds 'planted.1' mk/check/man.sh

[ $missed -eq 0 ] || exit 1
echo "$planted planted, $planted found"
