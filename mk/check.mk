# SPDX-License-Identifier: MIT
# check.mk - the suites: what has to be built, and which jobs of mk/check/jobs.sh run then, JOBS of
# them at a time: half as many again as there are processors, because the kernel lets whoever
# destroys an AIO context wait. T=PATTERN selects jobs by name (make check T='unit/*'),
# T=scenarios/... scenarios.

JOBS ?= $(shell echo $$((($$(nproc 2>/dev/null || echo 2) * 3 + 1) / 2)))
ASAN_O := $(O)/asan
TSAN_O := $(O)/tsan
COVERAGE_O := $(O)/coverage

export ASAN_OPTIONS ?= verify_asan_link_order=0:detect_stack_use_after_return=1
export UBSAN_OPTIONS ?= print_stacktrace=1
export T

run_suites = $(Q)mk/check/jobs.sh '$(O)' $(1) | mk/check/runner.sh '$(O)/check' $(JOBS)
# variant DIR,SANITIZERS,CFLAGS,GOALS. What is only run to be looked at is not optimized for long.
variant = +$(Q)$(MAKE) --no-print-directory O='$(1)' SAN='$(2)' CFLAGS='$(3)' $(4)

build-asan:
	$(call variant,$(ASAN_O),address$(comma)undefined,-O0 -g,all tests-unit)

# Behaviour must not depend on NDEBUG (contract row C22).
build-ndebug:
	+$(Q)$(MAKE) --no-print-directory O='$(O)/ndebug' CPPFLAGS=-DNDEBUG CFLAGS='-O1 -g' core tests-core

build-tsan:
	$(call variant,$(TSAN_O),thread,-O1 -g,worker tests-core)

check-unit: all tests ## unit tests and shell tests
	$(call run_suites,unit shell)

check-scenarios: all ## the scenarios on sim and host; with T=scenarios/... these
	$(call run_suites,scenarios)

check-guests: all ## the scenarios in guests, on emulated NVMe
	$(call run_suites,guests)

check-asan check-ubsan: build-asan ## unit tests and scenarios under ASan and UBSan
	$(call run_suites,asan)

check-tsan: all build-tsan ## the core's tests and scenarios under TSan
	$(call run_suites,tsan)

check-valgrind: all tests ## unit tests and scenarios under memcheck and helgrind
	$(call run_suites,memcheck memcheck-units helgrind helgrind-core)

check-tidy: all tests $(LAYERS_DECLARED) ## every lint
	$(call run_suites,lint)

fuzz-smoke: build-fuzz ## every parser for some seconds
	$(call run_suites,fuzz)

# The preload is not measured but by its unit tests, and neither is a case's process, which ends
# without a word to gcov.
check-coverage: ## unit tests and tests of the programs, and how many lines they reach
	+$(Q)$(MAKE) --no-print-directory O='$(COVERAGE_O)' COVERAGE=1 CFLAGS='-O0 -g' all tests
	$(Q)find '$(COVERAGE_O)' -name '*.gcda' -delete
	$(Q)mk/check/jobs.sh '$(COVERAGE_O)' unit shell | grep -v ^shell/faults/ | \
		mk/check/runner.sh '$(COVERAGE_O)/check' $(JOBS); status=$$?; \
		mk/check/coverage.sh '$(COVERAGE_O)' && exit $$status

ifneq ($(filter scenarios/%,$(T)),)
check-now: check-scenarios
else
# Under valgrind only what the sanitizers do not see: the rest is check-valgrind's. The long jobs first.
check-now: all tests build-asan build-tsan build-ndebug build-fuzz $(LAYERS_DECLARED)
	$(call run_suites,shell guests scenarios asan memcheck tsan ndebug unit fuzz lint)
endif

new-scenario: all ## a scenario to start from: NAME=GROUP/WHAT-HAPPENS-WHEN
	$(Q)'$(O)/bin/swaptorture' new '$(NAME)'

run-now: all
	$(Q)'$(O)/bin/swaptorture' run scenarios --report 'ndjson:$(O)/report.ndjson'

# What is left behind is counted after each boot. BOOTS=N for another number.
BOOTS ?= 200
soak: all tests ## the long runs: transfers past 4 GiB, BOOTS=200 guests one after the other
	$(Q)'$(O)/bin/swaptorture' run scenarios/soak --report 'ndjson:$(O)/soak.ndjson'
	+$(Q)$(MAKE) --no-print-directory soak-guest

soak-guest: all tests ## only the guests of soak
	$(Q)BOOTS='$(BOOTS)' '$(O)/test/harness/test_guest_soak'

# From nothing: what is missing is installed first, then make starts again and looks anew, for the
# compiler, too.
again = +$(Q)env $(if $(CC_ASKED),CC='$(CC_ASKED)',-u CC) $(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(JOBS)) $(1)

check: deps ## the tests, from nothing: sets up, builds, runs every suite
	$(call again,check-now)

run: deps ## the main job, from nothing: sets up, builds, runs the scenarios, writes a report
	$(call again,run-now)

.PHONY: build-asan build-tsan build-ndebug check-unit check-scenarios check-asan check-ubsan check-tsan \
	check-guests check-valgrind check-tidy check-coverage new-scenario fuzz-smoke check-now run-now check run \
	soak soak-guest
