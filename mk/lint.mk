# SPDX-License-Identifier: MIT
# lint.mk - what a machine can check without judging style. Each lint is a script in mk/check/, and
# mk/check/selftest.sh proves of each that it finds what it is there to find.

CXX ?= c++
export CC CXX

# The declaration of mk/layers.mk as layers.sh reads it, in a file of its own.
LAYERS_DECLARED := $(O)/layers

$(LAYERS_DECLARED): mk/layers.mk mk/lint.mk
	@mkdir -p $(@D)
	$(Q)printf '%s\n' $(foreach layer,$(LAYERS),'layer $(layer): $(layer/$(layer))') \
		$(LAYER_ONE_FILE:%='one %') $(LAYER_DENIED:%='deny %') \
		$(LAYER_UNLINKED:%='unlinked %') >$@

check-layers: $(LAYERS_DECLARED) ## who may know whom (mk/layers.mk)
	$(Q)mk/check/layers.sh '$(O)' <$<

check-headers: ## every public header compiles alone, as C and as C++
	$(Q)mk/check/headers.sh

check-abi: $(CORE_SO) ## exported, mapped, documented and tested symbols are the same
	$(Q)mk/check/abi.sh '$(O)'

format: ## lay the C sources out with clang-format (FILES= for some)
	$(Q)FILES='$(FILES)' mk/check/format.sh --fix

format-check: ## is everything laid out?
	$(Q)mk/check/format.sh

docs: ## the manual pages as HTML, in build/docs
	$(Q)mkdir -p '$(O)/docs'
	$(Q)set -e; for page in $(wildcard docs/man/*.[1-8]); do \
		mandoc -T html "$$page" >"$(O)/docs/$${page##*/}.html"; done
	@echo '$(O)/docs'

man: ## lint the manual pages
	$(Q)mk/check/man.sh

bless: $(if $(wildcard */test/bless*.sh),all) ## renew generated text and golden files; review them as code
	$(Q)mk/check/contract.sh --update
	$(Q)set -e; for script in $(wildcard */test/bless*.sh); do \
		BUILD='$(abspath $(O))' SRC='$(CURDIR)' sh $$script; done

.PHONY: check-layers check-headers check-abi format format-check docs man bless
