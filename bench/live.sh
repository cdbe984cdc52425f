#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# What `memtrace live` costs a program that is recorded: CPU time (user + system, all threads, the monitor and the recorder included)
# of each example, recorded alone and with the reader beside it, runs interleaved in changing order, medians of RUNS and the median of
# the differences of pairs. The CPU time of the reader stands beside it. Writes a markdown table to stdout, progress to stderr.
#
# usage: bench/live.sh [-r RUNS] [-g BUDGET] [EXAMPLE...] > table.md
#   -r RUNS  runs of each configuration (7)
#   -g X     overhead budget (--max-overhead); 0 switches the governor off; default: that of record
#
# The reader looks every 500 ms. Run it on an idle machine: intervals are wall time, and a program that waits for a CPU has more of them
# for the same work.

set -u
export LC_ALL=C OMP_WAIT_POLICY=passive
top=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$top/build}
MEMTRACE=${MEMTRACE:-$BUILD/collector/memtrace}
# the Java commands: those of the build, or classes of releng/dev-compile.sh
LIVE=${LIVE:-$MEMTRACE live}
runs=7
budget=()
while getopts r:g:h o; do
	case $o in
	r) runs=$OPTARG ;;
	g) budget=(--max-overhead "$OPTARG") ;;
	*) sed -n '5,16s/^# \{0,1\}//p' "$0"; exit 2 ;;
	esac
done
shift $((OPTIND - 1))

# name|program and arguments
all="matmul naive|matmul naive -n 1200
stencil serial|stencil serial -s 800
bucketsort dynamic|bucketsort dynamic -i 300
listwalk random|listwalk random -p 8"
. "$top/bench/cpu.sh"
choose "$@"

run() { # alone|with NAME program...
	local how=$1 name=$2 reader=
	shift 2
	rm -rf "$work/t.memtrace"
	if [ "$how" = with ]; then
		# shellcheck disable=SC2086,SC2016
		cpu_ms "$work/reader" bash -c 'while [ ! -s "$0/p0000/intervals.csv" ]; do sleep 0.02; done
			exec script -qec "$* $0" /dev/null < /dev/null' "$work/t.memtrace" $LIVE &
		reader=$!
	fi
	cpu_ms "$work/$how" "$MEMTRACE" record -q -i 50ms "${budget[@]}" -o "$work/t.memtrace" -- "$BUILD/examples/$@"
	[ -z "$reader" ] || wait "$reader"
}

echo "| program | recorded, ms of CPU | with live, ms | difference of pairs | reader, ms of CPU |"
echo "|---|---|---|---|---|"
while IFS='|' read -r name command; do
	rm -f "$work"/alone "$work"/with "$work"/reader
	for ((i = 0; i < runs; i++)); do
		echo "$name $((i + 1))/$runs" >&2
		order="alone with"
		[ $((i % 2)) = 0 ] || order="with alone"
		for how in $order; do
			# shellcheck disable=SC2086
			run "$how" "$name" $command
		done
	done
	paste "$work/alone" "$work/with" | awk '{ print ($3 - $1) / $1 * 100 }' > "$work/pairs"
	printf '| %s | %s | %s | %+.1f %% | %s |\n' "$name" "$(median "$work/alone" 1)" "$(median "$work/with" 1)" "$(median "$work/pairs" 1)" \
		"$(median "$work/reader" 1)"
done <<< "$all"
