# SPDX-License-Identifier: MIT
# core.mk - libswapio, shared and static, and its examples.

CORE_SRC := $(wildcard core/src/*.c)
CORE_SO := $(O)/lib/libswapio.so
CORE_A := $(O)/lib/libswapio.a
CORE_LIBS := -laio -lxxhash -lpthread -ldl
EXAMPLES := $(patsubst core/examples/%.c,$(O)/examples/%,$(wildcard core/examples/*.c))

ifneq ($(CORE_SRC),)
ALL += $(CORE_SO) $(CORE_A) $(EXAMPLES)
endif

$(CORE_A): $(call objects,$(CORE_SRC))

$(CORE_SO): $(call objects,$(CORE_SRC)) core/libswapio.map
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link) -shared -Wl,-soname,libswapio.so.$(SOVERSION) \
		-Wl,--version-script=core/libswapio.map $(if $(SAN),,-Wl,-z,defs) \
		-o $@.$(VERSION) $(filter %.o,$^) $(CORE_LIBS)
	$(Q)ln -sf libswapio.so.$(VERSION) $@.$(SOVERSION)
	$(Q)ln -sf libswapio.so.$(VERSION) $@
	@touch -h $@

$(O)/examples/%: $(O)/obj/core/examples/%.o $(CORE_SO)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link) -o $@ $< -L$(O)/lib -lswapio '-Wl,-rpath,$$ORIGIN/../lib'

core: $(if $(CORE_SRC),$(CORE_SO) $(CORE_A) $(EXAMPLES)) ## only libswapio
.PHONY: core
