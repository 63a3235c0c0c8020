# SPDX-License-Identifier: MIT
# Makefile - what one can ask for; how each part is made stands in mk/.
#
#   make            libraries, programs, examples      make run     the scenarios, from nothing
#   make check      the tests, from nothing            make help    every target
#
# Variables: O=DIR (build directory), V=1 (show commands), WERROR=1, SAN=address,undefined,
# CC, CFLAGS, LDFLAGS, prefix, DESTDIR, T=PATTERN (select tests).

VERSION := 0.1.0
SOVERSION := 0
O ?= build

all:

include mk/config.mk
include mk/layers.mk
include mk/compile.mk
include mk/core.mk
include mk/faults.mk
include mk/harness.mk
include mk/tests.mk
include mk/lint.mk
include mk/fuzz.mk
include mk/check.mk
include mk/install.mk
include mk/dist.mk

all: $(ALL) ## libraries, programs and examples (the default)

clean: ## remove the build directory
	$(Q)rm -rf '$(O)'

help: ## this list
	$(Q)sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1	\2/p' $(MAKEFILE_LIST) | sort | expand -t 20

.PHONY: all clean help
.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
