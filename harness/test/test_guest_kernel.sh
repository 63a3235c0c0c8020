#!/bin/sh
# SPDX-License-Identifier: MIT
# test_guest_kernel.sh - what finds and fetches a guest's kernel, with an apt of our own: good and bad
# packages, a cache that is damaged, systems without apt. Nothing but whole kernels is left behind.
set -eu

tool=$BUILD/bin/swaptorture-guest-kernel
work=$(mktemp -d "$TMPDIR/kernel XXXXXX")
trap 'rm -rf "$work"' EXIT
SWAPTORTURE_KERNELS=$work/cache
export SWAPTORTURE_KERNELS
mkdir "$work/bin" "$work/archive"
PATH=$work/bin:$PATH

fail() {
	echo "$*"
	[ ! -s "$work/out" ] || sed 's/^/  out: /' "$work/out"
	[ ! -s "$work/err" ] || sed 's/^/  err: /' "$work/err"
	exit 1
}

for needed in dpkg-deb sha256sum flock; do
	if ! command -v $needed >/dev/null; then
		echo "$needed is not here"
		exit 77
	fi
done

# package NAME VERSION WORDS: one that holds a kernel of these words, and a module
package() {
	rm -rf "$work/root"
	modules=$work/root/lib/modules/$2
	mkdir -p "$work/root/DEBIAN" "$work/root/boot" "$modules/kernel/drivers/nvme/host" \
		"$modules/kernel/block" "$modules/kernel/net"
	echo "$3" >"$work/root/boot/vmlinuz-$2"
	for module in drivers/nvme/host/nvme block/t10-pi net/tls; do
		echo module >"$modules/kernel/$module.ko"
	done
	echo 'kernel/drivers/nvme/host/nvme.ko: kernel/block/t10-pi.ko' >"$modules/modules.dep"
	echo 'kernel/net/tls.ko: kernel/net/none.ko' >>"$modules/modules.dep"
	echo kernel/fs/ext4/ext4.ko >"$modules/modules.builtin"
	printf 'Package: %s\nVersion: %s\nArchitecture: amd64\nMaintainer: nobody <n@n>\nDescription: x\n' \
		"$1" "$2" >"$work/root/DEBIAN/control"
	dpkg-deb --build "$work/root" "$work/archive/$1_$2_amd64.deb" >/dev/null
	echo "$1 $2 $(sha256sum "$work/archive/$1_$2_amd64.deb" | cut -d ' ' -f 1)" >"$work/archive/list"
}

# One package behind the meta package, as far as the tool asks.
cat >"$work/bin/apt-cache" <<SCRIPT
#!/bin/sh
read -r name version sum <'$work/archive/list' || exit 100
case "\$1 \$*" in
depends*linux-image-cloud-amd64 | depends*linux-image-amd64)
	printf 'linux-image\n  Depends: %s\n' "\$name"
	;;
policy*) printf '%s:\n  Candidate: %s\n' "\$name" "\$version" ;;
esac
SCRIPT
cat >"$work/bin/apt-get" <<SCRIPT
#!/bin/sh
read -r name version sum <'$work/archive/list' || exit 100
echo "\$*" >>'$work/asked'
case "\$*" in
--print-uris*) echo "'http://nowhere/x.deb' \${name}_\${version}_amd64.deb 1 SHA256:\$sum" ;;
*download*)
	[ ! -e '$work/unreachable' ] || { echo 'E: Could not resolve nowhere' >&2; exit 100; }
	cp '$work/archive/'"\${name}_\${version}_amd64.deb" .
	;;
esac
SCRIPT
chmod +x "$work/bin/apt-cache" "$work/bin/apt-get"

# An own depmod would ask for modules that the kernel takes.
printf '#!/bin/sh\n' >"$work/bin/depmod"
chmod +x "$work/bin/depmod"

# find STATUS [ARGUMENT...]: run the tool
find_kernel() {
	wanted=$1
	shift
	status=0
	"$tool" "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
	[ $status = "$wanted" ] || fail "status $status, not $wanted"
	[ "$wanted" = 0 ] || [ "$(wc -l <"$work/err")" = 1 ] || fail 'not one sentence'
}

# Nothing but these lies in the cache.
expect_cache() {
	(cd "$work/cache" && ls) >"$work/is"
	for name in "$@" lock; do echo "$name"; done | sort >"$work/should"
	sort "$work/is" | cmp -s - "$work/should" || fail "in the cache: $(tr '\n' ' ' <"$work/is")"
}

kernel_path() {
	sed -n 's/^kernel //p' "$work/out"
}

host_kernel=n
[ ! -r "/boot/vmlinuz-$(uname -r)" ] || host_kernel=y

# fetched, then taken from the cache without a question
package linux-image-1.0-cloud-amd64 1.0 one
find_kernel 0
[ "$(cat "$(kernel_path)")" = one ] || fail 'another kernel'
modules=$(sed -n 's/^modules //p' "$work/out")
[ -e "$modules/kernel/drivers/nvme/host/nvme.ko" ] || fail 'no module'
[ -e "$modules/kernel/block/t10-pi.ko" ] || fail 'what a module needs is not kept'
[ ! -e "$modules/kernel/net" ] || fail 'what nobody needs is kept'
[ "$(sed -n 's/^cache //p' "$work/out")" = "$work/cache" ] || fail 'another cache'
expect_cache linux-image-1.0-cloud-amd64_1.0
rm "$work/asked"
find_kernel 0
[ ! -e "$work/asked" ] || fail 'asked though it was there'

# damaged: fetched again
for damage in 'echo x >>vmlinuz' 'rm vmlinuz' ': >SHA256SUMS' 'rm SHA256SUMS' \
	'rm modules/modules.builtin'; do
	(cd "$work/cache/linux-image-1.0-cloud-amd64_1.0" && sh -c "$damage")
	find_kernel 0
	[ "$(cat "$(kernel_path)")" = one ] || fail "$damage: another kernel"
	expect_cache linux-image-1.0-cloud-amd64_1.0
done

# what a fetch that was killed left is removed, and a newer kernel is taken
mkdir "$work/cache/fetch.abcdef"
cp -r "$work/cache/linux-image-1.0-cloud-amd64_1.0" "$work/cache/linux-image-1.10-cloud-amd64_1.10"
cp -r "$work/cache/linux-image-1.0-cloud-amd64_1.0" "$work/cache/linux-image-1.9-cloud-amd64_1.9"
find_kernel 0
grep -q '^version linux-image-1.10-' "$work/out" || fail 'not the newest'
expect_cache linux-image-1.0-cloud-amd64_1.0 linux-image-1.10-cloud-amd64_1.10 \
	linux-image-1.9-cloud-amd64_1.9

# That of a package that is asked for lies in a directory of its own, and no other one is an answer.
package linux-image-1.0-amd64 1.0 modular
find_kernel 0 linux-image-amd64
[ "$(cat "$(kernel_path)")" = modular ] || fail 'another kernel than was asked for'
case $(kernel_path) in
"$work/cache/linux-image-amd64/linux-image-1.0-amd64_1.0/vmlinuz") ;;
*) fail 'another place' ;;
esac
rm "$work/asked"
find_kernel 0 linux-image-amd64
[ ! -e "$work/asked" ] || fail 'asked though it was there'
find_kernel 0
grep -q '^version linux-image-1.10-' "$work/out" || fail 'not the newest of all'
find_kernel 1 linux-image-none
grep -q 'apt knows no package of a kernel named linux-image-none' "$work/err" ||
	fail 'another reason'
rm -r "$work/cache/linux-image-amd64" "$work/cache/linux-image-none"
package linux-image-1.0-cloud-amd64 1.0 one

# the place alone, and what is no question
find_kernel 0 --cache
[ "$(cat "$work/out")" = "cache $work/cache" ] || fail 'not the place'
for wrong in nonsense linux-image-a/b --; do
	find_kernel 2 $wrong
	grep -q '^usage: ' "$work/err" || fail "$wrong: no usage"
done
find_kernel 2 --cache more

# refused SENTENCE [CACHED]: no kernel for that reason, unless this machine's can be had
refused() {
	if [ $host_kernel = y ]; then
		find_kernel 0
		grep -q 'of this machine$' "$work/out" || fail "a kernel in spite of: $1"
	else
		find_kernel 1
		grep -q "$1" "$work/err" || fail "not told: $1"
	fi
	expect_cache
}

# damaged, and nowhere to fetch from
: >"$work/unreachable"
for kernel in "$work"/cache/linux-*; do
	echo x >>"$kernel/vmlinuz"
done
refused 'was damaged, and is removed; cannot download .*Could not resolve nowhere'
rm "$work/unreachable"

# what comes is not what the list says, is no package, has no kernel in it
sed -i 's/ [^ ]*$/ 0123/' "$work/archive/list"
refused 'what was downloaded is not what apt'
echo 'no package' >"$work/archive/linux-image-1.0-cloud-amd64_1.0_amd64.deb"
echo "linux-image-1.0-cloud-amd64 1.0 $(sha256sum "$work/archive/linux-image-1.0-cloud-amd64_1.0_amd64.deb" |
	cut -d ' ' -f 1)" >"$work/archive/list"
refused 'cannot unpack linux-image-1.0-cloud-amd64: '
package linux-image-1.0-cloud-amd64 1.0 one
rm "$work/root/boot/vmlinuz-1.0"
dpkg-deb --build "$work/root" "$work/archive/linux-image-1.0-cloud-amd64_1.0_amd64.deb" >/dev/null
echo "linux-image-1.0-cloud-amd64 1.0 $(sha256sum "$work/archive/linux-image-1.0-cloud-amd64_1.0_amd64.deb" |
	cut -d ' ' -f 1)" >"$work/archive/list"
refused 'linux-image-1.0-cloud-amd64 holds no kernel'

# apt knows nothing; there is no apt
: >"$work/archive/list"
refused 'apt knows no package of a kernel'
mkdir "$work/alone"
for program in sh find sed sort grep cut mkdir rm mv cp head tail tr id getent uname flock mktemp \
	sha256sum cat; do
	ln -s "$(command -v $program)" "$work/alone/"
done
# shellcheck disable=SC2016 # the tool appends to its PATH
sed 's|^PATH=\$PATH:.*||' "$tool" >"$work/alone/tool"
chmod +x "$work/alone/tool"
tool=$work/alone/tool
status=0
PATH="$work/alone" "$tool" >"$work/out" 2>"$work/err" || status=$?
[ $host_kernel = y ] || [ $status = 1 ] || fail 'a kernel from nowhere'
[ $host_kernel = y ] || grep -q 'has no apt' "$work/err" || fail 'the reason is not told'

# no place for a cache: told, and nothing is made elsewhere
SWAPTORTURE_KERNELS=/proc/version/cache
tool=$BUILD/bin/swaptorture-guest-kernel
find_kernel 1
grep -q '^/proc/version/cache: a directory for kernels cannot be made' "$work/err" ||
	fail 'another reason'
