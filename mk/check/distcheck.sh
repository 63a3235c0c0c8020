#!/bin/sh
# SPDX-License-Identifier: MIT
# distcheck.sh ARCHIVE NAME - does the source archive build, pass its tests, install, serve a
# program of a user who knows pkg-config only, and uninstall without a trace?
set -eu

archive=$(realpath "$1")
name=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
CC=${CC:-cc}

cd "$work"
tar xf "$archive"
cd "$name"
make check
mkdir "$root"
make install DESTDIR="$root" prefix=/usr

# What a package manager would ship, used from where it lies.
cp core/examples/*.c "$work"
cd "$work"
flags=$(PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$root/usr/lib/pkgconfig \
	pkg-config --cflags --libs swapio)
for example in *.c; do
	# shellcheck disable=SC2086 # flags
	"$CC" -std=gnu11 -D_GNU_SOURCE "$example" $flags -o "${example%.c}"
	LD_LIBRARY_PATH=$root/usr/lib "./${example%.c}" || {
		echo "distcheck: $example does not run with the installed library" >&2
		exit 1
	}
done
"$root/usr/bin/swaptorture" list >/dev/null
"$root/usr/bin/swaptorture" run --target sim --work-dir "$work"

cd "$work/$name"
make uninstall DESTDIR="$root" prefix=/usr
left=$(find "$root" ! -type d)
if [ -n "$left" ]; then
	echo "distcheck: left behind by uninstall:" "$left" >&2
	exit 1
fi
echo "$name: builds, passes, installs, serves, uninstalls"
