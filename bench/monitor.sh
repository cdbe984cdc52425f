#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# How often monitors can be read: the time between two samples without a period (-i 0), as the trace that is written tells
# it, in ns: least, quartiles, mean, most. Writes a markdown table to stdout.
#
# usage: bench/monitor.sh [-n SAMPLES] [-o MEMTRACE] > table.md
#   -n SAMPLES   samples of each line (40000)
#   -o MEMTRACE  another build
set -eu
export LC_ALL=C
top=$(cd "$(dirname "$0")/.." && pwd)
memtrace=${MEMTRACE:-$top/build/collector/memtrace}
samples=40000
while getopts n:o:h o; do
	case $o in
	n) samples=$OPTARG ;;
	o) memtrace=$OPTARG ;;
	*) sed -n '5,10s/^# \{0,1\}//p' "$0"; exit 2 ;;
	esac
done
[ -x "$memtrace" ] || make -s -C "$top/collector" >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# line TITLE DEFINITION [TOPOLOGY]: the first monitor must be called m
line() {
	printf '%s\n' "$2" > "$work/m.mon"
	rm -f "$work"/out*
	if [ $# -gt 2 ]; then
		HWLOC_SYNTHETIC=$3 "$memtrace" monitor -q -f "$work/m.mon" -i 0 --samples "$samples" -o "$work/out.txt" --text none 2> "$work/err"
	else
		"$memtrace" monitor -q -f "$work/m.mon" -i 0 --samples "$samples" -o "$work/out.txt" --text none 2> "$work/err"
	fi || { echo "$1: $(head -n 1 "$work/err")" >&2; return 0; }
	# with one definition there is one file
	f=$work/out.m.txt
	[ -f "$f" ] || f=$work/out.txt
	awk '$1 !~ /^(#|Obj)/ { if (p == "") p = $1; if ($1 == p) { if (t != "") print $2 - t; t = $2 } }' "$f" | sort -n > "$work/ns"
	awk -v title="$1" '
		# as R does it (type 7): between the two nearest
		function at(q,  h, i) { h = (NR - 1) * q; i = int(h); return v[i + 1] + (h - i) * (v[i + 2 > NR ? NR : i + 2] - v[i + 1]) }
		{ v[NR] = $1; sum += $1 }
		END { printf "| %s | %d | %.0f | %.0f | %.0f | %.0f | %.0f | %d |\n", title, v[1], at(0.25), at(0.5), sum / NR, at(0.75), v[NR], NR + 1 }
	' "$work/ns"
}

sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1 > "$work/cpu"
printf 'Machine: %s, %s CPUs, kernel %s, commit %s, %s. Load average at the beginning %s.\n\n' "$(cat "$work/cpu")" "$(nproc)" \
	"$(uname -r)" "$(git -C "$top" rev-parse --short HEAD 2> /dev/null || echo unknown)" "$(date +%F)" "$(cut -d ' ' -f 1 /proc/loadavg)"
echo '| monitors | least | 1st quartile | median | mean | 3rd quartile | most | samples |'
echo '|---|---|---|---|---|---|---|---|'
line 'one empty monitor on the machine' 'm { OBJ:=Machine; PERF_LIB:=fake; EVSET:=one; REDUCTION:=v=$0; }'
line 'an empty monitor on each PU' 'm { OBJ:=PU; PERF_LIB:=fake; EVSET:=one; REDUCTION:=v=$0; }'
line '… on each of 64 PUs that do not exist' 'm { OBJ:=PU; PERF_LIB:=fake; EVSET:=one; REDUCTION:=v=$0; }' \
	'pack:2 [numa] l3:1 core:16 pu:2'
line '… summed on each core, package and the machine' 'm { OBJ:=PU; PERF_LIB:=fake; EVSET:=one; REDUCTION:=v=$0; }
core { OBJ:=Core; PERF_LIB:=accumulate; EVSET:=m; REDUCTION:=v=$0; }
pack { OBJ:=Package; PERF_LIB:=accumulate; EVSET:=m; REDUCTION:=v=$0; }
all { OBJ:=Machine; PERF_LIB:=accumulate; EVSET:=m; REDUCTION:=v=$0; }' 'pack:2 [numa] l3:1 core:16 pu:2'
line '`perf`: page faults and time of each PU' 'm { OBJ:=PU; PERF_LIB:=perf; EVSET:=page-faults, cpu-clock; REDUCTION:=v=$0; }'
line '`proc`: load of each PU' 'm { OBJ:=PU; PERF_LIB:=proc; EVSET:=cpuload; REDUCTION:=v=$0; }'
line '`proc`: memory of each NUMA node' 'm { OBJ:=NUMANode; PERF_LIB:=proc; EVSET:=memused; REDUCTION:=v=$0; }'
