# SPDX-License-Identifier: MIT
# fuzz.mk - fuzz targets, X/test/fuzz_*.c with LLVMFuzzerTestOneInput(): libFuzzer where clang has
# it, else ASan and a plain driver of ours that mutates the seeds.

FUZZ_SRC := $(wildcard core/test/fuzz_*.c faults/test/fuzz_*.c harness/test/fuzz_*.c)
FUZZ_O := $(O)/fuzz
FUZZERS := $(foreach source,$(FUZZ_SRC),$(O)/fuzz/$(basename $(notdir $(source))))
FUZZ_DRIVER := $(if $(findstring fuzzer,$(SAN)),,$(O)/obj/mk/check/fuzz_driver.o)
FUZZ_VARIANT := $(if $(filter y,$(HAVE_FUZZER)),CC=clang SAN=address$(comma)undefined$(comma)fuzzer-no-link,\
	SAN=address$(comma)undefined)

define fuzz_rule
$(O)/fuzz/$(basename $(notdir $(1))): $(call objects,$(1)) $(FUZZ_DRIVER) $(UNIT_LIBS_$(2))
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(Q)$$(link) $(if $(FUZZ_DRIVER),,-fsanitize=fuzzer) -o $$@ \
		$$(filter %.o,$$^) $$(filter %.a,$$^) $(UNIT_LINK_$(2))
endef
$(foreach source,$(FUZZ_SRC),$(eval $(call fuzz_rule,$(source),$(call part,$(source)))))

fuzzers: $(FUZZERS)

build-fuzz:
	$(if $(FUZZ_SRC),+$(Q)$(MAKE) --no-print-directory O='$(FUZZ_O)' $(FUZZ_VARIANT) CFLAGS='-O1 -g' fuzzers)

.PHONY: fuzzers build-fuzz
