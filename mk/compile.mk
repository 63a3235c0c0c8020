# SPDX-License-Identifier: MIT
# compile.mk - flags and the rules that turn C into objects. Each part adds its own include paths.

comma := ,
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-8s%s\n' '$(1)' '$(2)')

ifeq ($(origin CC),default)
CC := $(or $(CONFIG_CC),cc)
endif
AR ?= ar
CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef \
	-Wformat=2 -Wcast-qual -Wswitch-enum -Wimplicit-fallthrough

SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
SAN_FLAGS += $(if $(filter 1,$(COVERAGE)),--coverage)
# Position independent throughout: every object may end up in a shared library or in a preload.
BASE_CFLAGS = -std=gnu11 -D_GNU_SOURCE -fPIC -fvisibility=hidden -pthread $(WARNINGS) \
	$(if $(filter 1,$(WERROR)),-Werror) $(SAN_FLAGS)
BASE_LDFLAGS = -pthread $(SAN_FLAGS)

# Include paths follow from mk/layers.mk: what a directory may not know it cannot include.
define layer_includes
$(O)/obj/$(1)/%.o $(O)/plain/$(1)/%.o: INCLUDES = $$(addprefix -I,$(1) $(layer/$(1)))
endef
$(foreach layer,$(LAYERS),$(eval $(call layer_includes,$(layer))))

objects = $(patsubst %.c,$(O)/obj/%.o,$(1))
compile = $(CC) $(BASE_CFLAGS) $(INCLUDES) $(CPPFLAGS) $(CFLAGS)
link = $(CC) $(BASE_LDFLAGS) $(CFLAGS) $(LDFLAGS)
# A test or bench source may say what it needs beyond its part: "/* build: src/a.c src/b.c */" or
# "/* link: -static */" on a line of its own.
noted = $(shell sed -n 's|^/\* $(1): \(.*\) \*/$$|\1|p' $(2))

# Other flags, other objects: the stamp is touched when they change.
flags_now = $(CC) $(BASE_CFLAGS) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS)
$(O)/flags: flags-look
	@mkdir -p $(@D)
	@echo '$(flags_now)' | cmp -s - $@ || echo '$(flags_now)' >$@
.PHONY: flags-look

$(O)/obj/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(compile) -MMD -MP -c $< -o $@

# Without sanitizer, whatever the rest of the build has.
$(O)/plain/%.o: SAN_FLAGS =
$(O)/plain/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(compile) -MMD -MP -c $< -o $@

$(O)/lib/%.a:
	@mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

-include $(shell find $(O)/obj $(O)/plain -name '*.d' 2>/dev/null)
