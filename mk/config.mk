# SPDX-License-Identifier: MIT
# config.mk - runs configure when its result is missing or old, and reads it.
#
# configure writes down which packages are missing. Goals that start from nothing (run, check,
# deps) install them first; the others stop here with the command that would.

FROM_NOTHING := run check deps
UNCONFIGURED := $(FROM_NOTHING) clean distclean help format
CC_ASKED := $(if $(filter default,$(origin CC)),,$(CC))
GOALS := $(or $(MAKECMDGOALS),all)

ifneq ($(filter-out $(UNCONFIGURED),$(GOALS)),)
-include $(O)/config.mk

MISSING := $(MISSING_BUILD) $(if $(filter check-% tests bench fuzz-smoke man soak%,$(GOALS)),$(MISSING_TEST))
ifneq ($(strip $(MISSING)),)
ifeq ($(MAKE_RESTARTS),)
# They may have been installed since: look again, once.
$(O)/config.mk: look-again
.PHONY: look-again
else
$(info $(shell mk/deps.sh --tell $(MISSING)))
$(error packages are missing)
endif
endif

$(O)/config.mk: configure
	@CC='$(or $(CC_ASKED),$(CHOSEN_CC))' ./configure '$(O)'
endif

# Here config.mk is not read: it may not be there yet.
configure_again = $(Q)CC="$(or $(CC_ASKED),$$(sed -n 's/^CHOSEN_CC := //p' '$(O)/config.mk' \
	2>/dev/null))" ./configure '$(O)'

missing = $$(sed -n 's/^MISSING_$(1) :=//p' '$(O)/config.mk')

deps: ## install the packages that are missing (apt), and fetch a kernel for guests
	$(configure_again)
	$(Q)mk/deps.sh --install $(call missing,BUILD) $(call missing,TEST)
	$(Q)mk/deps.sh --offer $(call missing,GUEST)
	$(configure_again)
	$(Q)mk/deps.sh --verify $(call missing,BUILD) $(call missing,TEST)
	$(Q)mk/deps.sh --kernel $(call missing,GUEST)

.PHONY: deps
