#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# What a user waits for after a recording: whole processes, wall clock, median
# of RUNS. Writes a markdown table to stdout.
#
# usage: bench/first-picture.sh [RUNS] > table.md       (5)

set -eu
export LC_ALL=C TZ=UTC
top=$(cd "$(dirname "$0")/.." && pwd)
runs=${1:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MEMTRACE_HOME=$work/catalogue
cd "$top"
./memtrace list > /dev/null 2>&1		# builds what is missing
make -s -C examples
memtrace=build/collector/memtrace
$memtrace record --quiet --interval 20ms -o "$work/matmul" -- build/examples/matmul naive > /dev/null 2>&1
small=testdata/traces/matmul-naive
$memtrace import --quiet -o "$work/small.db" $small > /dev/null
$memtrace import --quiet -o "$work/matmul.db" "$work/matmul" > /dev/null

# row NAME PREPARE COMMAND...: median wall time of RUNS after one run that is not counted
row() {
	local name=$1 prepare=$2 i
	shift 2
	for ((i = 0; i <= runs; i++)); do
		sh -c "$prepare"
		TIMEFORMAT=%R
		{ time "$@" > "$work/out" 2>&1; } 2> "$work/time"
		[ $i = 0 ] || cat "$work/time"
	done | sort -n | awk -v name="$name" '{ v[NR] = $1 } END { printf "| %s | %.2f | %.2f to %.2f |\n", name, v[int((NR + 1) / 2)], v[1], v[NR] }'
}

cat <<END
Machine: $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $(nproc) CPUs, kernel $(uname -r), commit $(git rev-parse --short HEAD), $(date -u +%F), load
average at the beginning $(cut -d' ' -f1 /proc/loadavg). Wall clock of whole processes, median of $runs after one that is not counted. The large trace has
$(cat "$work"/matmul/p*/accesses-* | grep -vc '^@') access records, the small one $(cat $small/p*/accesses-* | grep -vc '^@').

| what | seconds | from to |
|---|---|---|
END
row "memtrace --help" : $memtrace --help
row "aggregate, small trace" : $memtrace aggregate "$work/small.db"
row "import, large trace" "rm -f $work/new.db" $memtrace import --quiet -o "$work/new.db" "$work/matmul"
row "render to SVG, large trace" : $memtrace render --quiet -o "$work/a.svg" "$work/matmul.db"
row "render to PNG, large trace" : $memtrace render --quiet -o "$work/a.png" "$work/matmul.db"
row "summary, large trace" : $memtrace summary --quiet "$work/matmul.db"
row "trace directory to first picture (import and render)" "rm -rf $MEMTRACE_HOME" $memtrace render --quiet -o "$work/b.svg" "$work/matmul"
