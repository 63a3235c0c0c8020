#!/bin/sh
# SPDX-License-Identifier: MIT
# test_guest_modular.sh - guests on a kernel of which NVMe and ext4 are modules, as the distribution's
# generic one has them: scenarios run there on either size of sector, with a second guest behind a
# power cut and with a device that is taken out; modules that are missing, damaged or packed.
set -u

. "$SRC/harness/test/guest.sh"

scenario any '[prepare, swap-in]' '{result: ok}'
skip_without_guests any.yaml

tool=$BUILD/bin/swaptorture-guest-kernel
for package in linux-image-amd64 linux-image-generic; do
	! "$tool" $package >found 2>why || break
	: >found
done
kernel=$(sed -n 's/^kernel //p' found)
if [ -z "$kernel" ]; then
	why=$(tail -1 why)
	rm -rf "${TMPDIR:?}"/*
	echo "no kernel of modules: $why"
	[ "${NEED_GUEST:-}" = 1 ] && exit 1
	exit 77
fi
modules=$(sed -n 's/^modules //p' found)
grep -q '/nvme\.ko' "$modules/modules.dep" || fail "$kernel: NVMe is built in: this shows nothing"

# The same kernel with modules of its own, which it finds beside it.
mkdir copy
cp "$kernel" copy/vmlinuz
fresh_modules() {
	rm -rf copy/modules
	cp -r "$modules" copy/modules
	nvme=copy/modules/$(sed -n 's|^\([^:]*/nvme\.ko[^:]*\):.*|\1|p' copy/modules/modules.dep)
}

# Sectors of 512 and 4096 bytes, a device that is taken out, one that loses its power.
run 0 '6 passed' --kernel "$kernel" any.yaml "$SRC/scenarios/device/sectors-of-4096-bytes.yaml" \
	"$SRC/scenarios/device/taken-out-in-order.yaml" \
	"$SRC/scenarios/device/power-that-goes-in-a-swap-in.yaml"

# What did not pass says which kernel it needs, to be run again.
scenario wrong '[prepare, swap-in]' '{result: error}'
run 1 "again:.* --kernel $kernel" --kernel "$kernel" wrong.yaml
rm -rf work/*

# Packed anew, another way.
fresh_modules
case $nvme in
*.ko) gzip "$nvme" && sed -i 's|/nvme\.ko\([: ]\)|/nvme.ko.gz\1|' copy/modules/modules.dep ;;
esac
run 0 '1 passed' --kernel copy/vmlinuz any.yaml

# What the kernel does not take, and what is not there, is named; nothing is passed over in silence.
echo nonsense >"$TMPDIR/nonsense"
fresh_modules
case $nvme in
*.ko) cp nonsense "$nvme" ;;
*.xz) xz <nonsense >"$nvme" ;;
*.zst) zstd -q <nonsense >"$nvme" ;;
*.gz) gzip <nonsense >"$nvme" ;;
esac
run 2 'the kernel does not take its module nvme.ko: Exec format error' \
	--kernel copy/vmlinuz any.yaml
rm "$nvme"
run 2 "module .*${nvme##*/}: No such file" --kernel copy/vmlinuz any.yaml
fresh_modules
head -c 20000 "$modules/modules.dep" >copy/modules/modules.dep
run 2 'no module nvme\|modules.dep: ' --kernel copy/vmlinuz any.yaml
rm -r copy/modules
run 2 'no driver for NVMe.*no directory of modules was found' --kernel copy/vmlinuz any.yaml
rm -rf work/*
end_test 'guests on a kernel of modules: run, lose power and devices, say what is missing'
