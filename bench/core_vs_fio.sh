#!/bin/sh
# SPDX-License-Identifier: MIT
# core_vs_fio.sh - libswapio against fio's libaio engine: same file, block size, depth, memory backing.
#
# Runs are paired fio, core, core, fio. The ratio of a pair is fio's wall time over the core's, so
# above 1 the core is faster; fio against itself is the pair's first fio run against its second.
# CPU seconds are each side's own accounting of the transfer, without start-up. System calls per GiB
# are the difference between a 2 GiB and a 1 GiB run under strace, so that start-up cancels out.
set -eu

# usage: core_vs_fio.sh [PAIRS] [BYTES]; DIRECTORY is where the file lies, BUILD the build directory
swapbench=${BUILD:-$(dirname "$0")/../build}/bench/swapbench
directory=${DIRECTORY:-${TMPDIR:-/var/tmp}}
pairs=${1:-9}
bytes=${2:-2G}
[ -x "$swapbench" ] || {
	echo "$swapbench: not there; 'make bench' builds it" >&2
	exit 2
}
scratch=$(mktemp -d "$directory/core_vs_fio.XXXXXX")
file=$scratch/data
pages_before=$(cat /proc/sys/vm/nr_hugepages)

cleanup() {
	rm -rf "$scratch"
	[ "$(id -u)" != 0 ] || echo "$pages_before" >/proc/sys/vm/nr_hugepages
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# Huge pages on both sides where root may reserve them, small pages on both sides elsewhere.
fio_memory=mmap
core_memory=
if [ "$(id -u)" = 0 ]; then
	echo 160 >/proc/sys/vm/nr_hugepages
	if [ "$(awk '/HugePages_Free/ { print $2 }' /proc/meminfo)" -ge 130 ]; then
		fio_memory=mmaphuge
		core_memory=--huge
	fi
fi

# OPERATION BLOCK DEPTH BYTES -> a command line
fio_command() {
	echo "fio --name=bench --filename=$file --rw=$1 --bs=$2 --iodepth=$3 --ioengine=libaio" \
		"--direct=1 --size=1G --io_size=$4 --mem=$fio_memory --thread --fallocate=none" \
		"--output-format=terse --terse-version=3"
}

core_command() {
	[ "$1" = read ] || write=--write
	echo "$swapbench --file $file --block $2 --request $2 --depth $3 --bytes $4" \
		"--file-bytes 1G $core_memory ${write:-}"
}

# -> "WALL_SECONDS CPU_SECONDS"
run_fio() {
	eval "$(fio_command "$@")" | awk -F';' -v op="$1" '{
		seconds = (op == "read" ? $9 : $50) / 1000
		printf "%.6f %.6f\n", seconds, ($88 + $89) / 100 * seconds }'
}

run_core() {
	eval "$(core_command "$@")" | awk '{ print $2, $3 }'
}

count_calls() {
	# shellcheck disable=SC2086 # the command line is made of words
	strace -f -c -o "$scratch/calls" $1 >"$scratch/out"
	awk '$1 ~ /^[0-9.]+$/ && $NF != "total" { calls += $4 } END { print calls }' "$scratch/calls"
}

# SIDE OPERATION BLOCK DEPTH -> system calls per GiB
calls_per_gib() {
	side=$1
	shift
	one=$(count_calls "$("${side}_command" "$@" 1G)")
	two=$(count_calls "$("${side}_command" "$@" 2G)")
	echo $((two - one))
}

# Each input line: fio1 core1 core2 fio2 wall and cpu in turn. -> medians
medians() {
	awk -v gib="$1" '
	function median(values, n,   i, j, t) {
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && values[j - 1] > values[j]; j--) {
				t = values[j]; values[j] = values[j - 1]; values[j - 1] = t
			}
		return n % 2 ? values[(n + 1) / 2] : (values[n / 2] + values[n / 2 + 1]) / 2
	}
	{ ratio[NR] = ($1 + $7) / ($3 + $5); self[NR] = $7 / $1
	  fio[NR] = 2 * gib / ($1 + $7); core[NR] = 2 * gib / ($3 + $5)
	  cpu_fio[NR] = ($2 + $8) / 2 / gib; cpu_core[NR] = ($4 + $6) / 2 / gib
	  if ($4 + $6 > 0 && $2 + $8 > 0) cpu[NR] = ($4 + $6) / ($2 + $8) }
	END { printf "%.2f %.2f %.3f %.3f %.3f %.3f %.2f", median(fio, NR), median(core, NR),
		median(ratio, NR), median(self, NR), median(cpu_fio, NR), median(cpu_core, NR),
		median(cpu, NR) }' "$scratch/pairs"
}

# OPERATION BLOCK DEPTH -> a row of the table
row() {
	: >"$scratch/pairs"
	for _ in $(seq "$pairs"); do
		echo "$(run_fio "$@" "$bytes") $(run_core "$@" "$bytes")" \
			"$(run_core "$@" "$bytes") $(run_fio "$@" "$bytes")" >>"$scratch/pairs"
	done
	calls_fio=$(calls_per_gib fio "$@")
	calls_core=$(calls_per_gib core "$@")
	# shellcheck disable=SC2046 # words are the columns
	printf '%-5s %5s %5s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n' "$@" \
		$(medians "${bytes%G}") "$calls_fio" "$calls_core"
}

dd if=/dev/zero of="$file" bs=1M count=1024 oflag=direct status=none
echo "libswapio against $(fio --version), $pairs pairs of $bytes each, memory $fio_memory, $(uname -r)"
printf '%-5s %5s %5s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n' op block depth 'fio' 'core' \
	'core/fio' 'fio/fio' 'fio' 'core' 'core/fio' 'fio' 'core'
printf '%-5s %5s %5s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n' '' bytes '' GiB/s GiB/s speed speed \
	CPUs/GiB CPUs/GiB CPU calls/GiB calls/GiB
for operation in read write; do
	for block in 128K 1M; do
		for depth in 32 128; do
			row $operation $block $depth
		done
	done
done
