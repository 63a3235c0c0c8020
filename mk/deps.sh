#!/bin/sh
# SPDX-License-Identifier: MIT
# deps.sh --install|--offer|--tell|--verify [PACKAGE...] - the distribution's packages that are
# missing: install them when we may, or say the one line that does. --offer is for what one can do
# without.
# deps.sh --kernel [PACKAGE...] - have the kernels of guests in the cache, unless these are missing:
# the one that is used, and for tests one of which NVMe is a module.
set -eu

action=$1
shift
[ $# -gt 0 ] || [ "$action" = --kernel ] || exit 0

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

install() {
	may_install || return 2
	echo "Installing: $*"
	as_root apt-get -q update && as_root apt-get -q install -y --no-install-recommends "$@"
}

no_guests() {
	echo "No emulated NVMe here, and what needs a guest is skipped: $*" >&2
}

# Lists that were never fetched, or are too old for what the archive holds, are fetched once.
fetch_kernel() {
	tool=harness/guest/kernel.sh
	! $tool >/dev/null 2>&1 || return 0
	! may_install || as_root apt-get -q update || :
	why=$($tool 2>&1 >/dev/null) || no_guests "$why"
}

fetch_modular() {
	why='no package of a kernel is known here'
	for package in $(apt-cache pkgnames linux-image- 2>/dev/null |
		grep -Ex 'linux-image-(amd64|generic)'); do
		! why=$(harness/guest/kernel.sh "$package" 2>&1 >/dev/null) || return 0
	done
	echo "No kernel of modules here, and its test is skipped: $why" >&2
}

case $action in
--tell)
	tell "$@"
	;;
--install)
	status=0
	install "$@" || status=$?
	[ $status -ne 2 ] || tell "$@"
	exit $status
	;;
--offer)
	install "$@" || {
		no_guests "packages are missing"
		tell "$@"
	}
	;;
--verify)
	echo "Installed, but still not usable here: $*" >&2
	exit 2
	;;
--kernel)
	[ "$(uname -m)" != x86_64 ] || [ $# -gt 0 ] || {
		fetch_kernel
		fetch_modular
	}
	;;
*)
	echo "usage: deps.sh --install|--offer|--tell|--verify|--kernel [PACKAGE...]" >&2
	exit 2
	;;
esac
