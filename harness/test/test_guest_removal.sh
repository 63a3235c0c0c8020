#!/bin/sh
# SPDX-License-Identifier: MIT
# test_guest_removal.sh - a device that is pulled out of a guest: that it comes back, what does not
# count as a removal, and that one that stays away does no harm to the next case.
set -u

. "$SRC/harness/test/guest.sh"
depth=1

scenario back '[prepare, swap-in, device-return, swap-in]' \
	'{result: error, error: EIO, failures: 1, deadline: 30s}'
skip_without_guests --fault 'nvme.read#2 length=64K.. => remove' back.yaml
grep -q '1 passed' out || fail "back: $(cat out)"
run 0 '1 passed' --fault 'nvme.read#2 length=64K.. => remove:orderly' back.yaml

# Nothing ran into it: nothing was shown.
run 3 'did not fire' --fault 'nvme.read#900 => remove' back.yaml

# Who expects nothing to fail is told what did, and in which step.
scenario well '[prepare, swap-in, device-return, swap-in]' '{result: ok, deadline: 30s}' \
	"faults: ['nvme.read#2 length=64K.. => remove']"
run 1 'step 2: tensor exp_avg fails with EIO' well.yaml

# It strikes what the harness reads behind a swap-out: that says nothing of the program.
scenario reader '[swap-out, device-return, swap-in]' '{result: ok, deadline: 30s}' \
	"faults: ['nvme.read#1 length=16K.. => remove']"
run 3 'it was the harness that read it' reader.yaml

# It stays away: the guest is replaced, and the next case finds a whole one.
scenario away '[prepare, swap-in, swap-in]' \
	'{result: error, error: EIO, failures: 2, deadline: 30s}' \
	"faults: ['nvme.read#2 length=64K.. => remove']
aftermath: false"
scenario good '[prepare, swap-in]' '{result: ok, deadline: 30s}'
run 0 '2 passed' away.yaml good.yaml
sed -i 's/=> remove/=> remove:orderly/' away.yaml
run 0 '2 passed' away.yaml good.yaml

# What was not synced may be lost with it, what was synced may not.
scenario synced '[swap-out, sync, swap-in, device-return, swap-in]' \
	'{result: error, error: EIO, failures: 1, deadline: 30s}' \
	"faults: ['nvme.read#6 length=64K.. => remove']"
run 0 '1 passed' synced.yaml
rm -rf work/*
end_test 'removals: back, away, in order, by surprise'
