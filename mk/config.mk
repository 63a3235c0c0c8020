# SPDX-License-Identifier: MIT
# config.mk - runs configure when its result is missing or old, and reads it.

UNCONFIGURED_GOALS := clean distclean help deps format

ifneq ($(filter-out $(UNCONFIGURED_GOALS),$(or $(MAKECMDGOALS),all)),)
-include $(O)/config.mk

$(O)/config.mk: configure
	@CC='$(if $(filter default,$(origin CC)),,$(CC))' ./configure '$(O)'
endif
