#!/bin/sh
# SPDX-License-Identifier: MIT
# man.sh - every manual page is clean mdoc or man.
set -eu

set -- docs/man/*.[1-8]
if [ ! -e "$1" ]; then
	echo 'there is no page in docs/man'
	exit 1
fi
mandoc -T lint -W warning "$@"
