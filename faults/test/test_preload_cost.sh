#!/bin/sh
# SPDX-License-Identifier: MIT
# A disarmed preload costs less than 100 ns a call, with 1, 2 and 8 threads. (`make bench` measures
# longer. CPU time counts, and the least of all rounds; what a busy machine adds to a system call all the
# same does not come three times in a row.)
set -u
for _ in 1 2 3; do
	"$BUILD/bench/disarmed" 7 100 && exit 0
done
exit 1
