#!/bin/sh
# SPDX-License-Identifier: MIT
# format.sh [--fix] - C sources are laid out as .clang-format says. Releases of clang-format differ
# in details; 14 is the one that counts, others are asked only to --fix.
set -eu

clang_format=${CLANG_FORMAT:-clang-format}
version=$("$clang_format" --version | sed -n 's/.*version \([0-9]*\).*/\1/p')
files=$(find core faults harness scenarios bench -name '*.[ch]' | sort)
if [ "${1:-}" = --fix ]; then
	# shellcheck disable=SC2086 # a list of files
	exec "$clang_format" -i ${FILES:-$files}
fi
if [ "$version" != 14 ]; then
	echo "clang-format is release $version here, the layout is that of 14"
	exit 77
fi
# shellcheck disable=SC2086
"$clang_format" --dry-run -Werror --ferror-limit=1 $files
