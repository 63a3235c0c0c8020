#!/bin/sh
# SPDX-License-Identifier: MIT
# kernel.sh [PACKAGE | --cache] - find a kernel that boots in a guest, fetch it if there is none:
# prints "kernel PATH", "modules DIRECTORY" (if it has any), "version WORDS" and "cache DIRECTORY" (for
# what is to be known the next time), or one sentence on standard error. --cache prints only the last.
#
# In this order: the newest in the cache that is what was put there; the distribution's package,
# downloaded and unpacked (nothing is installed); the kernel that runs here. Of a PACKAGE, such as
# linux-image-amd64, that one's, which is kept in a directory of its own; no other is an answer.
# CACHE/NAME_VERSION/ holds vmlinuz, modules/ and SHA256SUMS of them. It is complete: it was moved
# there whole.
set -eu
LC_ALL=C
export LC_ALL

# depmod lies where not everybody looks.
PATH=$PATH:/usr/sbin:/sbin

# The directory for kernels, made if need be: never one that ends with a test or a session.
choose_cache() {
	home=${HOME:-$(getent passwd "$(id -u)" | cut -d : -f 6)}
	for cache in "${SWAPTORTURE_KERNELS:-}" "${XDG_CACHE_HOME:+$XDG_CACHE_HOME/swaptorture}" \
		"${home:+$home/.cache/swaptorture}" "/var/tmp/swaptorture-kernels-$(id -u)"; do
		[ -n "$cache" ] || continue
		if ! mkdir -p "$cache" 2>/dev/null || ! [ -w "$cache" ]; then
			[ "$cache" != "${SWAPTORTURE_KERNELS:-}" ] || break
			continue
		fi
		# Somebody else may have made it, for us to run what he likes.
		[ -O "$cache" ] || continue
		cache=$cache${asked:+/$asked}
		! mkdir -p "$cache" 2>/dev/null || return 0
	done
	echo "$cache: a directory for kernels cannot be made, or belongs to somebody else" >&2
	exit 1
}

tell() {
	echo "kernel $1"
	[ ! -d "$2" ] || echo "modules $2"
	echo "version $3"
	echo "cache $cache"
}

# What is damaged is removed, so that it is fetched again.
from_cache() {
	for name in $(cd "$cache" && find . -mindepth 1 -maxdepth 1 -type d -name '*_*' |
		sed 's|^\./||' | sort -rV); do
		if (cd "$cache/$name" && [ -s vmlinuz ] &&
			sha256sum --check --strict --status SHA256SUMS) 2>/dev/null; then
			tell "$cache/$name/vmlinuz" "$cache/$name/modules" "$name"
			return 0
		fi
		rm -rf "${cache:?}/$name"
		damaged="$cache/$name was damaged, and is removed; "
	done
	return 1
}

dependencies() {
	apt-cache depends --no-recommends --no-suggests --no-conflicts --no-breaks \
		--no-replaces --no-enhances "$1" 2>/dev/null | sed -n 's/^ *Depends: //p'
}

# kernel_packages META: what holds its kernel and modules. Some releases split them into packages.
kernel_packages() {
	found=
	queue=$1
	while [ -n "$queue" ]; do
		# shellcheck disable=SC2086 # a list of names
		set -- $queue
		next=$1
		shift
		queue=$*
		for name in $(dependencies "$next"); do
			case $name in
			linux-image-[0-9]* | linux-binary-[0-9]* | linux-modules-[0-9]*)
				case " $found " in
				*" $name "*) ;;
				*)
					found="$found $name"
					queue="$queue $name"
					;;
				esac
				;;
			esac
		done
	done
	echo "$found"
}

# Packages that are checked twice: by apt against the signed list, and here against what apt says
# of the version, because what is unpacked is run.
download() {
	for name in "$@"; do
		expected=$(apt-get --print-uris download "$name" 2>/dev/null |
			sed -n 's/.*SHA256:\([0-9a-f]*\).*/\1/p')
		if ! apt-get -q download "$name" >log 2>&1; then
			why=$(sed -n 's/^E: //p' log | head -n 1)
			echo "cannot download $name: ${why:-apt-get failed}" >&2
			return 1
		fi
		set -- "$name"_*.deb
		if ! echo "$expected  $1" | sha256sum --check --strict --status 2>/dev/null; then
			echo "$name: what was downloaded is not what apt's list says" >&2
			return 1
		fi
		if ! dpkg-deb -x "$1" x 2>log; then
			echo "cannot unpack $name: $(tail -n 1 log)" >&2
			return 1
		fi
		rm -f "$1"
	done
}

# keep_file MODULES PATH...: of one directory of modules into what is kept
keep_file() {
	modules=$1
	shift
	for path in "$@"; do
		[ -e "$modules/$path" ] || continue
		mkdir -p "kept/modules/$(dirname "$path")" &&
			cp -r "$modules/$path" "kept/modules/$(dirname "$path")/" || return 1
	done
}

# Paths of what the modules that are kept depend on, wherever it lies.
needed() {
	(cd kept/modules && find kernel -name '*.ko*') >have
	awk 'NR == FNR { have[$1 ":"] = 1; next }
		$1 in have { for (i = 2; i <= NF; i++) if (!(($i ":") in have)) print $i }' \
		have "$1/modules.dep" | sort -u
}

# Of the modules only the directories that could matter and what they need, so that the sums are
# quick to check.
keep() {
	set -- x/boot/vmlinuz-*
	if ! [ -s "$1" ]; then
		echo "${packages# } holds no kernel" >&2
		return 1
	fi
	mkdir kept && mv "$1" kept/vmlinuz || return 1
	for modules in x/lib/modules/* x/usr/lib/modules/*; do
		[ -d "$modules" ] || continue
		! command -v depmod >/dev/null ||
			depmod -b "${modules%/lib/modules/*}" "${modules##*/}" 2>/dev/null || true
		mkdir -p kept/modules/kernel || return 1
		keep_file "$modules" modules.builtin modules.dep modules.softdep modules.alias \
			kernel/crypto kernel/lib kernel/fs/ext4 kernel/fs/jbd2 \
			kernel/drivers/nvme/host kernel/drivers/tty/serial kernel/arch/x86/crypto \
			kernel/arch/x86/lib || return 1
		# shellcheck disable=SC2046 # a list of paths
		[ ! -e kept/modules/modules.dep ] ||
			keep_file "$modules" $(needed "$modules") || return 1
	done
	(cd kept && find . -type f ! -name SHA256SUMS -exec sha256sum {} + >SHA256SUMS)
}

# fetch META: into the cache, whole or not at all
fetch() {
	packages=$(kernel_packages "$1")
	[ -n "$packages" ] || return 2
	version=$(apt-cache policy "${packages##* }" | sed -n 's/^ *Candidate: //p')
	work=$(mktemp -d "$cache/fetch.XXXXXX") || return 1
	# shellcheck disable=SC2064,SC2086 # now, while its name is known; a list of names
	{
		trap "rm -rf '$work'" EXIT
		trap 'exit 1' HUP INT TERM
		cd "$work" && download $packages && keep
	} || return 1
	kept=$cache/$(echo "${packages## }" | cut -d ' ' -f 1)_$(echo "$version" | tr : +)
	rm -rf "$kept"
	mv "$work/kept" "$kept"
}

from_host() {
	release=$(uname -r)
	[ -r "/boot/vmlinuz-$release" ] || return 1
	tell "/boot/vmlinuz-$release" "/lib/modules/$release" "$release, of this machine"
}

usage() {
	echo "usage: kernel.sh [linux-image-NAME | --cache]" >&2
	exit 2
}

[ $# -le 1 ] || usage
case ${1:-} in
*/*) usage ;;
'' | --cache | linux-image-*) ;;
*) usage ;;
esac
asked=${1:-}
asked=${asked#--cache}
cache=
choose_cache
if [ "${1:-}" = --cache ]; then
	echo "cache $cache"
	exit 0
fi
damaged=
# One of several that want a kernel at once fetches it.
exec 9>"$cache/lock"
flock 9
# What a killed one left.
find "$cache" -mindepth 1 -maxdepth 1 -name 'fetch.*' -exec rm -rf {} +
! from_cache || exit 0

reason=
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
	reason='this system has no apt to take one from'
else
	for meta in ${asked:-linux-image-cloud-amd64 linux-image-virtual linux-image-generic
		linux-image-amd64}; do
		status=0
		(fetch "$meta") 2>"$cache/why" || status=$?
		if [ $status = 0 ]; then
			rm -f "$cache/why"
			from_cache
			exit 0
		fi
		[ $status = 2 ] || break
	done
	reason=$(tail -n 1 "$cache/why")
	rm -f "$cache/why"
	[ -n "$reason" ] || reason="apt knows no package of a kernel${asked:+ named $asked} (apt-get update?)"
fi
if [ -n "$asked" ]; then
	echo "$damaged$reason" >&2
	exit 1
fi
! from_host || exit 0
echo "$damaged$reason, and the one that runs here cannot be read; --kernel names another" >&2
exit 1
