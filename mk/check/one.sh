#!/bin/sh
# SPDX-License-Identifier: MIT
# one.sh DIR NAME COMMAND - run one check for runner.sh: log, verdict line, counts.
set -eu

dir=$1
name=$2
command=$3
file=$(echo "$name" | tr '/' '+')
log=$dir/$file.log
limit=${CHECK_TIMEOUT:-300}

TMPDIR=$dir/tmp/$file
export TMPDIR
mkdir -p "$TMPDIR"
begin=$(date +%s.%N)
status=0
timeout -k 10 "$limit" sh -c "$command" >"$log" 2>&1 </dev/null || status=$?
seconds=$(echo "$begin $(date +%s.%N)" | awk '{ printf "%.1f", $2 - $1 }')

if [ $status -eq 124 ] || [ $status -eq 137 ]; then
	echo "timed out after $limit s" >>"$log"
elif [ $status -eq 0 ] && [ -n "$(ls -A "$TMPDIR")" ]; then
	{
		echo 'passed, but left files behind:'
		find "$TMPDIR" | head -20
	} >>"$log"
	status=1
fi
count=$(sed -n 's/^# count \([0-9]* [0-9]* [0-9]*\)$/\1/p' "$log" | tail -1)
# shellcheck disable=SC2086 # three numbers
if [ $status -eq 0 ] && [ -n "$count" ] && [ "$(set -- $count && echo "$2")" -gt 0 ]; then
	status=1
fi
[ $status -ne 0 ] || rm -rf "$TMPDIR"
case $status in
0) verdict=ok count=${count:-1 0 0} ;;
77)
	verdict=skip count=${count:-0 0 1}
	printf '%s: %s\n' "$name" "$(tail -1 "$log")" >"$dir/$file.skip"
	;;
*)
	verdict=FAIL
	# A failure counts, whatever the parts said before it.
	count=$(echo "${count:-0 0 0}" | awk '{ print $1, ($2 > 0 ? $2 : 1), $3 }')
	;;
esac
echo "$count" >"$dir/$file.count"

tell() {
	printf '%-5s %-44s %6s s' "$verdict" "$name" "$seconds"
	case $verdict in
	skip) printf '  %s' "$(tail -1 "$log")" ;;
	*) [ "${count%% *}" -le 1 ] || printf '  %s passed' "${count%% *}" ;;
	esac
	printf '\n'
	if [ $verdict = FAIL ]; then
		sed 's/^/      | /' "$log" | tail -60
		printf '      the whole log: %s\n' "$log"
	fi
}
# One write, so that checks which run at the same time do not mix their lines.
text=$(tell)
printf '%s\n' "$text"
