#!/bin/sh
# SPDX-License-Identifier: MIT
# What a disarmed preload costs a call with 1, 2 and 8 threads; the aim is less than 100 ns.
set -eu
BUILD=${BUILD:-$(dirname "$0")/../build}
exec "$BUILD/bench/disarmed" "${ROUNDS:-9}"
