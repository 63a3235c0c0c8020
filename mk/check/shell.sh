#!/bin/sh
# SPDX-License-Identifier: MIT
# shell.sh - shellcheck over every script, warnings and errors.
set -eu

find configure .ci/run core faults harness bench mk -type f \
	\( -name '*.sh' -o -name configure -o -name run \) -exec shellcheck -S warning {} +
