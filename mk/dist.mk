# SPDX-License-Identifier: MIT
# dist.mk - the source archive of what is committed, and the proof that it is whole.

DIST := swaptorture-$(VERSION)

dist: ## source archive of HEAD
	@mkdir -p '$(O)'
	$(Q)git archive --format=tar.gz --prefix='$(DIST)/' -o '$(O)/$(DIST).tar.gz' HEAD
	@echo '$(O)/$(DIST).tar.gz'

# Unpack, build, test, install, use what was installed, uninstall: nothing may be left.
distcheck: dist ## unpack, build, check, install, uninstall, compare
	$(Q)mk/check/distcheck.sh '$(O)/$(DIST).tar.gz' '$(DIST)'

.PHONY: dist distcheck
