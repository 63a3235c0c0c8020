# SPDX-License-Identifier: MIT
# harness.mk - the program swaptorture, its worker, and the faulty cores that test the harness.
# The program never links libswapio: only the worker does, so that a crash there is a result.

COMMON_SRC := $(wildcard harness/common/*.c)
DEVICE_SRC := $(wildcard harness/device/*.c)
HARNESS_SRC := $(wildcard harness/src/*.c)
GUEST_SRC := $(wildcard harness/guest/*.c)
WORKER_SRC := $(wildcard harness/worker/*.c)
STORE_SRC := $(wildcard harness/store/*.c)
HARNESS_A := $(O)/lib/libharness.a
HARNESS_BIN := $(O)/bin/swaptorture
WORKER_BIN := $(O)/bin/swaptorture-worker
STORE_BIN := $(O)/bin/swaptorture-store
# The first program in a guest, and the script that finds a kernel for it.
GUEST_INIT := $(O)/bin/swaptorture-guest-init
GUEST_KERNEL := $(O)/bin/swaptorture-guest-kernel
HARNESS_LIBS := -lyaml -ljansson -lxxhash -lpthread -ldl
# One file for valgrind of what preload and core say for themselves.
SUPPRESSIONS := $(O)/lib/swaptorture.supp
META_CORES := $(patsubst scenarios/meta/cores/%.c,$(O)/lib/meta/%.so,\
	$(wildcard scenarios/meta/cores/*.c))

$(O)/obj/harness/src/%.o: CPPFLAGS += -DSWAPTORTURE_VERSION='"$(VERSION)"'

ifneq ($(HARNESS_SRC),)
ALL += $(HARNESS_BIN)
endif
ifneq ($(WORKER_SRC),)
ALL += $(WORKER_BIN)
endif
ifneq ($(STORE_SRC),)
ALL += $(STORE_BIN)
endif
ALL += $(META_CORES) $(SUPPRESSIONS) $(GUEST_INIT) $(GUEST_KERNEL)

# Everything but main(), so that unit tests link what they name and nothing else.
$(HARNESS_A): $(call objects,$(filter-out %/main.c,$(HARNESS_SRC)) $(COMMON_SRC) $(GUEST_SRC) \
	$(DEVICE_SRC))

$(HARNESS_BIN): $(call objects,$(HARNESS_SRC) $(COMMON_SRC) $(GUEST_SRC) $(DEVICE_SRC)) $(SCHEDULE_A)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link) -o $@ $^ $(HARNESS_LIBS)

# Beside the program when built, in ../lib/swaptorture when installed: see mk/install.mk.
$(WORKER_BIN): $(call objects,$(WORKER_SRC) $(COMMON_SRC)) $(SCHEDULE_A) $(CORE_SO)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link) -rdynamic -o $@ $(filter %.o %.a,$^) -L$(O)/lib -lswapio \
		'-Wl,-rpath,$$ORIGIN/../lib:$$ORIGIN/..' -ljansson -lxxhash -lpthread -ldl

$(STORE_BIN): $(call objects,$(STORE_SRC)) $(HARNESS_A) $(SCHEDULE_A) $(CORE_SO)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link) -o $@ $(filter %.o %.a,$^) -L$(O)/lib -lswapio \
		'-Wl,-rpath,$$ORIGIN/../lib:$$ORIGIN/..' $(HARNESS_LIBS)

# Plain: a sanitizer has no use for the first process of a machine.
$(GUEST_INIT): $(patsubst %.c,$(O)/plain/%.o,$(wildcard harness/guest/init/*.c))
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^

$(GUEST_KERNEL): harness/guest/kernel.sh
	@mkdir -p $(@D)
	$(Q)install -m 755 $< $@

$(O)/lib/meta/%.so: $(O)/obj/scenarios/meta/cores/%.o
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link) -shared -o $@ $< -lpthread -ldl

$(SUPPRESSIONS): faults/libswapfault.supp core/libswapio.supp
	@mkdir -p $(@D)
	$(Q)cat $^ >$@

worker: $(WORKER_BIN) $(META_CORES) ## only what runs the cases
harness: $(HARNESS_BIN) $(WORKER_BIN) $(STORE_BIN) $(META_CORES) $(SUPPRESSIONS) $(GUEST_INIT) \
	$(GUEST_KERNEL) ## only the programs
.PHONY: harness worker
