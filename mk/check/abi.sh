#!/bin/sh
# SPDX-License-Identifier: MIT
# abi.sh BUILD - the four lists of libswapio's functions are one: what the shared library exports,
# what the symbol map names, what the headers document, and what the unit tests call. Also: the
# soname, and that the library exports nothing else and knows nothing of faults.
set -eu

library=$1/lib/libswapio.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
	sort >"$work/exported"
sed -n 's/^[ \t]*\(swapio_[a-z_0-9]*\);$/\1/p' core/libswapio.map | sort >"$work/mapped"
# The first line of a doc comment: " * swapio_open() - create a handle"
sed -n 's/^ \* \(swapio_[a-z_0-9]*\)() - ..*$/\1/p' core/include/swapio/*.h | sort \
	>"$work/documented"
sed -n 's/^[a-z].*[ *]\(swapio_[a-z_0-9]*\)(.*$/\1/p' core/include/swapio/*.h |
	grep -v '_fn$' | sort >"$work/declared"

# same LIST OTHER: both hold the same names
same() {
	for name in $(comm -23 "$work/$1" "$work/$2"); do
		echo "$name: $1, but not $2"
		status=1
	done
	for name in $(comm -13 "$work/$1" "$work/$2"); do
		echo "$name: $2, but not $1"
		status=1
	done
}
same exported mapped
same exported declared
same exported documented

while read -r name; do
	if ! grep -qrw "$name" core/test --include='*.[ch]'; then
		echo "$name: exported, but no unit test calls it"
		status=1
	fi
done <"$work/exported"

# Every function says since when it exists, and what it returns unless it returns nothing.
awk '
	/^ \* swapio_[a-z_0-9]*\(\) - / { name = $2; since = 0; ret = 0 }
	/^ \* Since:/ { since = 1 }
	/^ \* Return:/ { ret = 1 }
	/^ \*\// && name != "" { ended = 1; next }
	ended && /^[a-z]/ {
		if (!since) { print FILENAME ": " name " does not say \"Since:\""; bad = 1 }
		if (!ret && $0 !~ /^(void|bool|size_t) [a-z]/) {
			print FILENAME ": " name " does not say \"Return:\""
			bad = 1
		}
		name = ""; ended = 0
	}
	END { exit bad }
' core/include/swapio/*.h || status=1

soname=$(readelf -dW "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
if [ "$soname" != libswapio.so.0 ]; then
	echo "$library: soname is $soname, not libswapio.so.0"
	status=1
fi
if nm "$library" | grep -E ' (fiu_|swapfault)'; then
	echo "$library: knows of faults"
	status=1
fi
exit $status
