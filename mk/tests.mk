# SPDX-License-Identifier: MIT
# tests.mk - unit tests (cmocka), the small victim programs, and the bench programs.

UNIT_SRC := $(wildcard core/test/test_*.c faults/test/test_*.c harness/test/test_*.c)
SHELL_TESTS := $(wildcard core/test/test_*.sh faults/test/test_*.sh harness/test/test_*.sh)
VICTIM_SRC := $(wildcard faults/test/prog_*.c)
PLUGIN_SRC := $(wildcard faults/test/plugin_*.c)
BENCH_SRC := $(wildcard bench/*.c)

# core/test/test_queue.c -> build/test/core/test_queue
unit_program = $(O)/test/$(firstword $(subst /, ,$(1)))/$(notdir $(basename $(1)))
UNIT_TESTS := $(foreach source,$(UNIT_SRC),$(call unit_program,$(source)))
VICTIMS := $(patsubst faults/test/%.c,$(O)/test/%,$(VICTIM_SRC))
PLUGINS := $(patsubst faults/test/%.c,$(O)/test/%.so,$(PLUGIN_SRC))
BENCHES := $(patsubst bench/%.c,$(O)/bench/%,$(BENCH_SRC))

UNIT_LIBS_core := $(CORE_A)
UNIT_LIBS_faults := $(SCHEDULE_A)
UNIT_LIBS_harness := $(HARNESS_A) $(SCHEDULE_A)
UNIT_LINK_core := $(CORE_LIBS)
UNIT_LINK_faults := $(FAULTS_LIBS)
UNIT_LINK_harness := $(HARNESS_LIBS)

# unit_rule SOURCE, PART, NAMED: the test's object, the objects it names, its part's libraries;
# the library under test only where the test names sources of the worker.
define unit_rule
$(call unit_program,$(1)): $(call objects,$(1) $(addprefix $(2)/,$(3))) $(UNIT_LIBS_$(2)) \
	$(if $(filter worker/%,$(3)),$(CORE_A))
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(Q)$$(link) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) -lcmocka \
		$(call noted,link,$(1)) $(UNIT_LINK_$(2)) $(if $(filter worker/%,$(3)),$(CORE_LIBS))
endef
part = $(firstword $(subst /, ,$(1)))
$(foreach source,$(UNIT_SRC),\
	$(eval $(call unit_rule,$(source),$(call part,$(source)),$(call noted,build,$(source)))))

$(VICTIMS): $(O)/test/%: $(O)/obj/faults/test/%.o $(SCHEDULE_A)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link) -o $@ $^ $(or $(call noted,link,faults/test/$*.c),-laio -lpthread -ldl)

$(PLUGINS): $(O)/test/%.so: $(O)/obj/faults/test/%.o
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link) -shared -o $@ $< $(or $(call noted,link,faults/test/$*.c),-laio)

bench: all $(BENCHES) ## run every measurement in bench/ and print its table (needs a quiet machine)
	$(Q)set -e; for script in $(wildcard bench/*.sh); do \
		echo "== $$script"; BUILD='$(abspath $(O))' SRC='$(CURDIR)' sh $$script; done

$(BENCHES): $(O)/bench/%: $(O)/obj/bench/%.o $(CORE_SO)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(link) -o $@ $< -L$(O)/lib -lswapio '-Wl,-rpath,$$ORIGIN/../lib' -laio -lpthread -ldl

tests: tests-unit $(VICTIMS) $(PLUGINS) $(BENCHES) ## every test and bench program
tests-unit: $(UNIT_TESTS)
tests-core: $(filter $(O)/test/core/%,$(UNIT_TESTS))
.PHONY: tests tests-unit tests-core bench
