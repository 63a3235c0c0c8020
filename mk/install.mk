# SPDX-License-Identifier: MIT
# install.mk - install and uninstall with the GNU meaning of DESTDIR and the directory variables.

prefix ?= /usr/local
exec_prefix ?= $(prefix)
bindir ?= $(exec_prefix)/bin
libdir ?= $(exec_prefix)/lib
includedir ?= $(prefix)/include
datadir ?= $(prefix)/share
mandir ?= $(datadir)/man
pkgconfigdir ?= $(libdir)/pkgconfig
scenariodir ?= $(datadir)/swaptorture/scenarios
# What only the program swaptorture uses: its worker, the tool for stores, the first program of guests
# and the script that finds their kernel, the preload, the faulty cores of meta/. It looks for them in ../lib/swaptorture beside its own directory.
pkglibdir ?= $(exec_prefix)/lib/swaptorture
INSTALL ?= install

to = $(DESTDIR)$(1)
MAN_PAGES := $(wildcard docs/man/*.[1-8])
# And the files that scenarios name; sources of faulty cores are none.
SCENARIOS := $(shell find scenarios -type f ! -path '*/cores/*' 2>/dev/null)
HEADERS := $(wildcard core/include/swapio/*.h)

# Everything that install puts down, for uninstall.
INSTALLED = $(HEADERS:core/include/%=$(includedir)/%) $(includedir)/swapfault.h \
	$(libdir)/libswapio.a $(libdir)/libswapio.so $(libdir)/libswapio.so.$(SOVERSION) \
	$(libdir)/libswapio.so.$(VERSION) $(pkgconfigdir)/swapio.pc \
	$(bindir)/swaptorture $(pkglibdir)/swaptorture-worker \
	$(pkglibdir)/swaptorture-store $(pkglibdir)/libswapfault.so \
	$(pkglibdir)/swaptorture-guest-init $(pkglibdir)/swaptorture-guest-kernel \
	$(pkglibdir)/swaptorture.supp \
	$(META_CORES:$(O)/lib/%=$(pkglibdir)/%) $(SCENARIOS:scenarios/%=$(scenariodir)/%) \
	$(foreach page,$(MAN_PAGES),$(mandir)/man$(patsubst .%,%,$(suffix $(page)))/$(notdir $(page)))

# What nobody else has anything in.
OWN_DIRECTORIES = $(includedir)/swapio $(pkglibdir) $(datadir)/swaptorture

$(O)/swapio.pc: core/swapio.pc.in $(O)/config.mk
	$(Q)sed -e 's|@prefix@|$(prefix)|' -e 's|@libdir@|$(libdir)|' \
		-e 's|@includedir@|$(includedir)|' -e 's|@version@|$(VERSION)|' $< >$@

install: all $(O)/swapio.pc ## install library, headers, preload, programs, pages, scenarios
	$(Q)$(INSTALL) -d $(sort $(dir $(addprefix $(DESTDIR),$(INSTALLED))))
	$(Q)$(INSTALL) -m 644 $(HEADERS) $(call to,$(includedir)/swapio)
	$(Q)$(INSTALL) -m 644 faults/include/swapfault.h $(call to,$(includedir))
	$(Q)$(INSTALL) -m 644 $(CORE_A) $(call to,$(libdir))
	$(Q)$(INSTALL) -m 755 $(CORE_SO).$(VERSION) $(call to,$(libdir))
	$(Q)ln -sf libswapio.so.$(VERSION) $(call to,$(libdir)/libswapio.so.$(SOVERSION))
	$(Q)ln -sf libswapio.so.$(VERSION) $(call to,$(libdir)/libswapio.so)
	$(Q)$(INSTALL) -m 644 $(O)/swapio.pc $(call to,$(pkgconfigdir))
	$(Q)$(INSTALL) -m 755 $(HARNESS_BIN) $(call to,$(bindir))
	$(Q)$(INSTALL) -m 755 $(WORKER_BIN) $(STORE_BIN) $(GUEST_INIT) $(GUEST_KERNEL) \
		$(FAULTS_SO) $(call to,$(pkglibdir))
	$(Q)$(INSTALL) -m 644 $(SUPPRESSIONS) $(call to,$(pkglibdir))
	$(if $(META_CORES),$(Q)$(INSTALL) -m 755 $(META_CORES) $(call to,$(pkglibdir)/meta))
	$(Q)set -e; for file in $(SCENARIOS:scenarios/%=%); do \
		$(INSTALL) -m 644 "scenarios/$$file" "$(call to,$(scenariodir))/$$file"; done
	$(Q)set -e; for page in $(MAN_PAGES); do \
		$(INSTALL) -m 644 "$$page" "$(call to,$(mandir))/man$${page##*.}"; done
	$(if $(DESTDIR),,@echo 'Where $(libdir) is new to the loader, run ldconfig before the first use of libswapio.')

uninstall: ## remove what install put down
	$(Q)rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	$(Q)for directory in $(OWN_DIRECTORIES:%='$(DESTDIR)%'); do \
		[ ! -d "$$directory" ] || find "$$directory" -depth -type d -empty -delete; done

.PHONY: install uninstall
