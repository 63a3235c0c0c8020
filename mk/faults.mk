# SPDX-License-Identifier: MIT
# faults.mk - the schedule language (one library for preload and harness) and the preload.

SCHEDULE_SRC := $(wildcard faults/schedule/*.c)
FAULTS_SRC := $(wildcard faults/src/*.c)
SCHEDULE_A := $(O)/lib/libschedule.a
FAULTS_SO := $(O)/lib/libswapfault.so
FAULTS_LIBS := -lfiu -ldl -lpthread

ifneq ($(SCHEDULE_SRC),)
ALL += $(SCHEDULE_A)
endif
ifneq ($(FAULTS_SRC),)
ALL += $(FAULTS_SO)
endif

$(SCHEDULE_A): $(call objects,$(SCHEDULE_SRC))

# The preload is in place before a sanitizer's own start, so it can never be instrumented itself; nor
# for coverage, which would open files at the end of strangers.
FAULTS_OBJ := $(patsubst %.c,$(O)/$(if $(SAN)$(COVERAGE),plain,obj)/%.o,$(FAULTS_SRC) $(SCHEDULE_SRC))

$(FAULTS_SO): SAN_FLAGS =
$(FAULTS_SO): $(FAULTS_OBJ)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link) -shared -Wl,-z,defs -o $@ $^ $(FAULTS_LIBS)

faults: $(SCHEDULE_A) $(FAULTS_SO) ## only the schedule language and the preload
.PHONY: faults
