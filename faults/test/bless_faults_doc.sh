#!/bin/sh
# SPDX-License-Identifier: MIT
# bless_faults_doc.sh - renew the tables of docs/FAULTS.md.
set -eu

make -s -C "$SRC" O="$BUILD" "$BUILD/test/prog_schedule"
sh "$SRC/faults/test/test_faults_doc.sh" --update
