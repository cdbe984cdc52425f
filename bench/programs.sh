#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# What recording costs programs that packages give: CPU time (user + system of the
# program with all its processes, the monitor, and record with its start and its
# finish), native against traced, in turns, median of RUNS. Programs that are not
# installed are left out. Writes a markdown table to stdout.
#
# usage: bench/programs.sh [-r RUNS] [-o MEMTRACE] [-a "OPTIONS"] [PROGRAM...] > table.md
#   -r RUNS      runs of each (3)
#   -o MEMTRACE  another build to compare with, taken in turns with this one
#   -a OPTIONS   options of record; without, the defaults
#   PROGRAM      numpy sqlite3 g++ node java perl sort xz pigz convert mpirun matmul stencil bucketsort listwalk; many small processes: true300 subshells make
#
# PYTHON names a python that has numpy. Intervals are wall time: on a busy machine
# a program gets more of them for the same work, where the governor is off.

set -u
export LC_ALL=C OMP_WAIT_POLICY=passive OMP_NUM_THREADS=4 OPENBLAS_NUM_THREADS=2
top=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$top/build}
MEMTRACE=${MEMTRACE:-$BUILD/collector/memtrace}
PYTHON=${PYTHON:-python3}
runs=3 other= options=
while getopts r:o:a:h o; do
	case $o in
	r) runs=$OPTARG ;;
	o) other=$OPTARG ;;
	a) options=$OPTARG ;;
	*) sed -n '5,21s/^# \{0,1\}//p' "$0"; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
make -s -C "$top/examples" >&2 || exit 1
[ -x "$MEMTRACE" ] || make -s -C "$top/collector" >&2 || exit 1

. "$top/bench/cpu.sh"
here=$top/bench/programs
awk 'BEGIN { srand(1); for (i = 0; i < 600000; i++) printf "%d %s\n", rand() * 1e9, substr("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 1, rand() * 30) }' > "$work/lines"

# command NAME: sets c, or says that it is not there
command_of() {
	local x=$BUILD/examples
	case $1 in
	numpy) c=("$PYTHON" "$here/arrays.py"); "$PYTHON" -c 'import numpy' 2> /dev/null ;;
	sqlite3) c=(sqlite3 :memory: ".read $here/rows.sql") ;;
	g++) c=(g++ -O2 -c -o /dev/null "$here/stl.cpp") ;;
	node) c=(node "$here/maps.js") ;;
	java) c=(java -Xmx512m -cp "$work" Maps); [ -e "$work/Maps.class" ] || javac -d "$work" "$here/Maps.java" ;;
	perl) c=(perl -e 'my %h; $h{$_ * 7919 % 1000003} .= "x$_" for 1 .. 250000; my $n = 0; $n += length for values %h; print "$n\n"') ;;
	sort) c=(sort --parallel=2 -S 64M -o /dev/null "$work/lines") ;;
	xz) c=(xz -0 -T2 -k -c "$work/lines") ;;
	pigz) c=(pigz -n -p 2 -c "$work/lines") ;;
	convert) c=(convert -size 1200x900 gradient:red-blue -blur 0x3 -resize 50% rgb:-) ;;
	mpirun)
		c=(mpirun --oversubscribe -n 2 "$x/matmul" blocked -n 512)
		[ "$(id -u)" != 0 ] || c=(mpirun --allow-run-as-root "${c[@]:1}")
		;;
	matmul) c=("$x/matmul" blocked -n 1024) ;;
	stencil) c=("$x/stencil" serial -s 400) ;;
	bucketsort) c=("$x/bucketsort" dynamic -i 100) ;;
	listwalk) c=("$x/listwalk" random -p 3) ;;
	true300) c=(sh -c 'i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done') ;;
	subshells) c=(bash -c 'for i in $(seq 40); do v=$(echo "$v$i" | sed s/1/2/); w=$(basename "/a/$i"); done; python3 -c "print(sum(range(300000)))"') ;;
	make)
		c=(make -B -s -j2 -C "$work/make")
		mkdir -p "$work/make"
		printf 'all: %s\n%%.o: %%.c\n\tgcc -O1 -c -o $@ $<\n' "$(printf 'f%d.o ' {1..8})" > "$work/make/Makefile"
		for n in {1..8}; do echo "#include <stdio.h>
int f$n(int x) { return printf(\"%d\", x * $n); }" > "$work/make/f$n.c"; done
		;;
	*) echo "programs.sh: no program $1" >&2; exit 2 ;;
	esac && command -v "${c[0]}" > /dev/null
}

# of a trace: intervals, faults, lost accesses, the most intervals of one process
numbers() {
	cat "$1"/p*/intervals.csv 2> /dev/null | awk -F, '$1 == "Interval" { for (i = 1; i <= NF; i++) at[$i] = i; k = 0; next }
		{ n++; faults += $at["Faults"]; lost += $at["LostRing"] + $at["LostTable"] + $at["LostRegion"] }
		END { printf "%d %d %d\n", n, faults, lost }'
}

builds=(this)
[ -z "$other" ] || builds=(other this)
echo "| program | native CPU, s |$([ -z "$other" ] || echo ' other build : native |') this build : native | intervals | faults | lost |"
echo "|---|---|$([ -z "$other" ] || echo '---|')---|---|---|---|"
[ $# -gt 0 ] || set -- numpy sqlite3 g++ node java perl sort xz pigz convert mpirun matmul stencil bucketsort listwalk
for name; do
	if ! command_of "$name"; then
		echo "programs.sh: $name is not installed" >&2
		continue
	fi
	key=$work/$name
	for ((run = 1; run <= runs; run++)); do
		cpu_ms "$key.native" "${c[@]}"
		# who comes first finds other caches
		[ $((run % 2)) = 1 ] && order=("${builds[@]}") || order=(this ${other:+other})
		for b in "${order[@]}"; do
			rm -rf "$work/trace"
			m=$MEMTRACE
			[ $b = this ] || m=$other
			# shellcheck disable=SC2086
			cpu_ms "$key.$b" "$m" record --quiet $options -o "$work/trace" -- "${c[@]}"
			if ! cmp -s "$key.native.out" "$key.$b.out"; then
				echo "programs.sh: $name: the output differs from the native run" >&2
				exit 1
			fi
			[ $b != this ] || numbers "$work/trace" >> "$key.numbers"
		done
	done
	native=$(median "$key.native" 1)
	line="| $name | $(awk -v n="$native" 'BEGIN { printf "%.3f", n / 1000 }') |"
	for b in "${builds[@]}"; do
		ratio=$(awk -v t="$(median "$key.$b" 1)" -v n="$native" 'BEGIN { printf "%.2f", t / n }')
		echo "$ratio" >> "$work/ratios.$b"
		line+=" $ratio |"
	done
	echo "$line $(sort -n "$key.numbers" | awk '{ v[NR] = " " $1 " | " $2 " |"; lost += $3 } END { print v[int((NR + 1) / 2)] " " lost }') |"
done
echo
for b in "${builds[@]}"; do
	[ -e "$work/ratios.$b" ] || continue
	echo "$b build: median $(median "$work/ratios.$b" 1), worst $(sort -n "$work/ratios.$b" | tail -n 1); load $(cut -d' ' -f1-3 /proc/loadavg)"
done
