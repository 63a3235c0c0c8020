#!/bin/sh
# SPDX-License-Identifier: MIT
# headers.sh - every public header compiles alone, twice in a row, as C11 and as C++.
set -eu

CC=${CC:-cc}
CXX=${CXX:-c++}
status=0

# compile LANGUAGE COMMAND...
compile() {
	language=$1
	shift
	printf '#include "%s"\n#include "%s"\nint header_is_alone(void);\n' "$name" "$name" |
		"$@" -Wall -Wextra -Wundef -Werror -Icore/include -Ifaults/include \
			-fsyntax-only -x "$language" - || {
		echo "$header: does not compile alone as $language"
		status=1
	}
}

for header in core/include/swapio/*.h faults/include/*.h; do
	name=${header#*include/}
	compile c "$CC" -std=c11 -pedantic
	compile c++ "$CXX" -std=c++11 -pedantic
done
exit $status
