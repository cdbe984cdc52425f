#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# What recording costs: CPU time (user + system, all threads, the monitor and
# the recorder included) of each example, native against traced, runs
# interleaved, median of RUNS; trace size per access; cost per fault. Writes
# a markdown table to stdout, progress to stderr.
#
# usage: bench/record.sh [-r RUNS] [-q] [-g BUDGET] [EXAMPLE...] > table.md
#   -r RUNS  runs of each configuration (5)
#   -q       quick: 50 ms and 1 and 5 subphases only
#   -g X     overhead budget (--max-overhead); 0, the default here, switches the governor off
#
# Intervals are wall time: on a busy machine a program gets more of them for the
# same work, and the ratio grows. Run it on an idle machine (about 6 minutes on two cores).
#
# With the governor off the table shows the whole price.

set -u
export LC_ALL=C OMP_WAIT_POLICY=passive
top=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$top/build}
MEMTRACE=${MEMTRACE:-$BUILD/collector/memtrace}
runs=5 intervals="20 50 100" budget=0
while getopts r:qg:h o; do
	case $o in
	r) runs=$OPTARG ;;
	q) intervals=50 ;;
	g) budget=$OPTARG ;;
	*) sed -n '5,20s/^# \{0,1\}//p' "$0"; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
make -s -C "$top/collector" >&2 && make -s -C "$top/examples" >&2 || exit 1

# name|program and arguments: sizes such that a native run takes about 0.7 to 1.5 s of CPU time
all="matmul naive|matmul naive -n 768
matmul blocked|matmul blocked -n 1536
bucketsort dynamic|bucketsort dynamic -i 150
stencil serial|stencil serial -s 400
falsesharing packed|falsesharing packed -m 300
listwalk random|listwalk random -p 4"
. "$top/bench/cpu.sh"
choose "$@"

# numbers of a trace: faults, records, bytes of the accesses, intervals, losses
trace_numbers() {
	awk -F, 'FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ n++; faults += $at["Faults"]; records += $at["Records"]; lost += $at["LostRing"] + $at["LostTable"] }
		END { printf "%d %d %d %d ", faults, records, n, lost }' "$1"/p*/intervals.csv
	find "$1" -name 'accesses-*' -printf '%s\n' | awk '{ s += $1 } END { print s + 0 }'
}

commit=$(git -C "$top" rev-parse --short HEAD 2>/dev/null || echo unknown)
cat <<END
Machine: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $(nproc) CPUs, $(awk '/MemTotal/ { printf "%.0f GiB", $2 / 1048576 }' /proc/meminfo),
kernel $(uname -r), $(gcc --version | head -1), commit $commit, $(date -u +%F). CPU time is user + system of the program with all
its threads, the monitor and the recorder; median of $runs interleaved runs; 4 threads; --max-overhead $budget; load average at the beginning $(cut -d' ' -f1 /proc/loadavg).

| program | native CPU, s | interval, ms | subphases | CPU traced : native | faults | records | bytes per record | cost per fault, us | lost |
|---|---|---|---|---|---|---|---|---|---|
END

while IFS='|' read -r name command; do
	read -r -a args <<< "$command"
	program=$BUILD/examples/${args[0]}
	configurations=()
	for interval in $intervals; do
		for subphases in 1 5; do
			configurations+=("$interval $subphases")
		done
	done
	key=$work/${name// /-}
	for ((run = 1; run <= runs; run++)); do
		echo "bench: $name, run $run of $runs" >&2
		cpu_ms "$key.native" "$program" "${args[@]:1}"
		for c in "${configurations[@]}"; do
			read -r interval subphases <<< "$c"
			out=$key.$interval.$subphases
			rm -rf "$work/trace"
			cpu_ms "$out" "$MEMTRACE" record --quiet --max-overhead "$budget" --interval "${interval}ms" \
				--subphases "$subphases" -o "$work/trace" -- "$program" "${args[@]:1}"
			if ! cmp -s "$key.native.out" "$out.out"; then
				echo "bench: $name at $interval ms: the output differs from the native run" >&2
				exit 1
			fi
			trace_numbers "$work/trace" >> "$out.numbers"
		done
	done
	native=$(median "$key.native" 1)
	for c in "${configurations[@]}"; do
		read -r interval subphases <<< "$c"
		out=$key.$interval.$subphases
		traced=$(median "$out" 1)
		faults=$(median "$out.numbers" 1) records=$(median "$out.numbers" 2)
		lost=$(median "$out.numbers" 4) bytes=$(median "$out.numbers" 5)
		awk -v name="$name" -v native="$native" -v i="$interval" -v s="$subphases" -v traced="$traced" \
			-v faults="$faults" -v records="$records" -v bytes="$bytes" -v lost="$lost" 'BEGIN {
			printf "| %s | %.2f | %d | %d | %.2f | %d | %d | %.0f | %s | %d |\n", name, native / 1000, i, s,
				traced / native, faults, records, records ? bytes / records : 0,
				# with few faults the difference is noise
				faults >= 100000 ? sprintf("%.1f", (traced - native) * 1000 / faults) : "-", lost }'
	done
done <<< "$all"
