#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# What exact counts cost: CPU time (user + system of the program, and with it that of the monitor thread) of programs
# built with hooks, recorded and not recorded, against the same compiler without, two threads, runs interleaved,
# the smallest of RUNS. Writes a markdown table to stdout, progress to stderr.
#
# usage: [PROGRAMS=LINES] bench/exact/run.sh [-r RUNS] [-w WHEN] [-i] [COMPILER...] > table.md
#   -r RUNS   runs of each configuration (3)
#   -w WHEN   count in windows (record --windows), and link hooks that can be closed
#   -i        another column: with what each instruction accesses (record --instructions)
#   COMPILER  gcc, and clang if there is one, with calls and with the hooks inlined (clang+lto: with -flto);
#             gcc+valgrind, gcc+dynamorio: the program without hooks, counted by the tool of Valgrind, the client of DynamoRIO
#
# Ratios hold on a busy machine, too. About two minutes for each compiler.

set -u
export LC_ALL=C OMP_WAIT_POLICY=passive OMP_NUM_THREADS=2
top=$(cd "$(dirname "$0")/../.." && pwd)
BUILD=${BUILD:-$top/build}
MEMTRACE=${MEMTRACE:-$BUILD/collector/memtrace}
runs=3 windows= instructions=
while getopts r:w:ih o; do
	case $o in
	r) runs=$OPTARG ;;
	w) windows=$OPTARG; export MEMTRACE_WINDOWS=1 ;;
	i) instructions=1 ;;
	*) sed -n '5,18s/^# \{0,1\}//p' "$0"; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
clang=$(command -v clang || ls /usr/lib/llvm-*/bin/clang 2> /dev/null | tail -n 1)
[ $# -gt 0 ] || set -- gcc ${clang:+"$clang" "$clang+lto"}
make -s -C "$top/collector" >&2 || exit 1
work=$(mktemp -d "${TMPDIR:-/tmp}/memtrace-bench.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# name|source|arguments: about 0.5 to 2 s of CPU time without hooks, 2 threads
all=${PROGRAMS:-"matrix product 600|matmul|naive -n 600 -t 2
bucket sort|bucketsort|dynamic -i 60 -t 2
stencil|stencil|parallel -n 100 -s 200 -t 2
list walk|listwalk|random -p 4"}

# seconds of CPU of a command and its children
cpu() {
	python3 - "$@" <<-'END'
	import os, resource, subprocess, sys
	subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
	r = resource.getrusage(resource.RUSAGE_CHILDREN)
	print(r.ru_utime + r.ru_stime)
	END
}

echo "| compiler | program | native, s | with hooks, not recorded | recorded |${instructions:+ with instructions |} accesses/s of CPU |"
echo "|---|---|---|---|---|${instructions:+---|}---|"
for configuration; do
	compiler=${configuration%+*}
	while IFS='|' read -r name source arguments; do
		flags="-std=gnu11 -O2 -g -w -pthread"
		[ "${configuration#*+}" != lto ] || flags="$flags -flto"
		grep -q '#pragma omp' "$top/examples/$source/$source.c" && flags="$flags -fopenmp"
		c=$top/examples/$source/$source.c
		# Debian has OpenMP for clang in a package of its own
		"$compiler" $flags -o "$work/native" "$c" -lm 2> "$work/log" || { echo "$compiler $name: not built" >&2; continue; }
		exact=--exact=hooks
		if [ "${configuration#*+}" = valgrind ] || [ "${configuration#*+}" = dynamorio ]; then
			exact=--exact=${configuration#*+}
			cp "$work/native" "$work/hooks"
		else
			MEMTRACE_CC=$compiler "$MEMTRACE" cc $flags -o "$work/hooks" "$c" -lm || exit 1
		fi
		: > "$work/times"
		for ((i = 0; i < runs; i++)); do
			n=$(cpu "$work/native" $arguments) h=$(cpu "$work/hooks" $arguments)
			rm -rf "$work/t"
			r=$(cpu "$MEMTRACE" record --quiet $exact ${windows:+--windows "$windows"} -o "$work/t" "$work/hooks" $arguments)
			rm -rf "$work/i"
			s=0
			[ -z "$instructions" ] || s=$(cpu "$MEMTRACE" record --quiet $exact --instructions -o "$work/i" "$work/hooks" $arguments)
			echo "$n $h $r $s" >> "$work/times"
			echo "$configuration $name: $n $h $r $s" >&2
		done
		a=$(awk -F, 'FNR > 1 { n += $NF } END { print n }' "$work"/t/p*/intervals.csv)
		awk -v who="$(basename "$configuration")" -v name="$name" -v a="$a" -v instructions="$instructions" '
			NR == 1 || $1 < n { n = $1 } NR == 1 || $2 < h { h = $2 } NR == 1 || $3 < r { r = $3 } NR == 1 || $4 < s { s = $4 }
			END { printf "| %s | %s | %.2f | %.1f | %.1f |%s %.0f million |\n", who, name, n, h / n, r / n,
				instructions ? sprintf(" %.1f |", s / n) : "", a / r / 1e6 }' "$work/times"
	done <<< "$all"
done
