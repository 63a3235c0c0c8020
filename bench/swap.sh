#!/bin/sh
# SPDX-License-Identifier: MIT
# swap.sh - swaps of many tensors against one transfer, what copies and checksums cost, overlap with
# computing, pinned memory. The figures are bench/swap.c's.
set -eu

# usage: swap.sh [PAIRS]; DIRECTORY is where stores and files lie, BUILD the build directory
swap=${BUILD:-$(dirname "$0")/../build}/bench/swap
scratch=$(mktemp -d "${DIRECTORY:-${TMPDIR:-/var/tmp}}/swap.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
echo "swaps of tensor groups, ${1:-9} pairs, $(uname -r), $(nproc) cores"
"$swap" "$scratch" "${1:-9}"
