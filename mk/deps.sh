#!/bin/sh
# SPDX-License-Identifier: MIT
# deps.sh --install|--tell|--verify [PACKAGE...] - the distribution's packages that are missing:
# install them when we may, or say the one line that does.
set -eu

action=$1
shift
[ $# -gt 0 ] || exit 0

apt_line() {
	echo "apt-get install -y --no-install-recommends $*"
}

tell() {
	echo "These packages are missing: $*" >&2
	if command -v apt-get >/dev/null 2>&1; then
		echo "Install them as root with:" >&2
		echo "  apt-get update && $(apt_line "$@")" >&2
	else
		echo "They are Debian's names; install what your distribution calls them." >&2
	fi
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		env DEBIAN_FRONTEND=noninteractive "$@"
	else
		sudo -n env DEBIAN_FRONTEND=noninteractive "$@"
	fi
}

may_install() {
	command -v apt-get >/dev/null 2>&1 || return 1
	[ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null
}

case $action in
--tell)
	tell "$@"
	;;
--install)
	if ! may_install; then
		tell "$@"
		exit 2
	fi
	echo "Installing: $*"
	as_root apt-get -q update
	as_root apt-get -q install -y --no-install-recommends "$@"
	;;
--verify)
	echo "Installed, but still not usable here: $*" >&2
	exit 2
	;;
*)
	echo "usage: deps.sh --install|--tell|--verify [PACKAGE...]" >&2
	exit 2
	;;
esac
