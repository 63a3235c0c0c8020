# SPDX-License-Identifier: MIT
# layers.mk - who may know whom, declared once. The compiler sees only the include paths derived
# from it, and `make check-layers` checks what a compiler cannot. Nothing is declared twice.
#
# layer/DIRECTORY := directories whose headers its files may include, besides its own.
# (faults/ itself holds points.def, the table of points, and nothing else to include.)

layer/core/include :=
layer/core/src := core/include
layer/core/test := core/include core/src
layer/core/examples := core/include

layer/faults/include :=
layer/faults/schedule := faults
layer/faults/src := faults/include faults faults/schedule
layer/faults/test := faults/include faults faults/schedule faults/src

layer/harness/common := faults faults/schedule
# What boots guests talks to QEMU and knows no scenario; what is first in a guest knows nothing.
layer/harness/guest := harness/common
layer/harness/guest/init :=
layer/harness/device := harness/common faults faults/schedule
layer/harness/src := harness/common harness/device harness/guest faults faults/schedule
layer/harness/worker := harness/common faults faults/schedule faults/include core/include
layer/harness/store := harness/common harness/src faults faults/schedule core/include
layer/harness/test := harness/common harness/device harness/guest harness/src harness/worker \
	faults faults/schedule faults/include core/include

layer/scenarios/meta/cores := core/include
layer/mk/check :=
layer/bench := core/include faults/include faults faults/schedule

LAYERS := $(sort $(patsubst layer/%,%,$(filter layer/%,$(.VARIABLES))))

# Headers of the system that exactly one file of a directory includes: DIRECTORY:HEADER
LAYER_ONE_FILE := core:libaio.h

# What files whose path begins like that may not include, though their directory may: FILES:HEADER
# Oracles judge what happened and do not know what was injected; reports never run anything.
LAYER_DENIED := \
	harness/src/oracle:swapfault.h harness/src/oracle:jobctl.h harness/src/oracle:run.h \
	harness/src/report:run.h harness/src/report:jobctl.h harness/src/report:swapfault.h

# What a built file must not be linked with or contain: FILE:PATTERN over its dynamic section
# and its symbols. The program outlives a crash of the library; the library that ships is the
# library that is tested.
LAYER_UNLINKED := bin/swaptorture:libswapio lib/libswapio.so:fiu_ lib/libswapio.so:swapfault \
	lib/libswapfault.so:libswapio
