#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Makes the small traces of this directory anew: copies the sources of the last
# commit to a place whose name says nothing about the machine, builds and records
# there with an empty environment, and moves the traces here. The goldens that
# were made from the old traces must be made anew, too.
#
# usage: record.sh [DIRECTORY [NAME]]     the place, /home/user/memtrace by default; only this trace

set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
tree=${1:-/home/user/memtrace}
only=${2:-}
[ ! -e "$tree" ] || { echo "record.sh: $tree exists" >&2; exit 1; }
mkdir -p "$tree"
trap 'rm -rf "$tree"' EXIT
git -C "$top" archive HEAD collector examples org.memtrace.cli/commands pom.xml | tar -x -C "$tree"
cd "$tree"
make -s -C collector
# small and slow: a few intervals, a few hundred pages
make -s -C examples OPT=-O0 matmul stencil
gcc -std=gnu11 -g -O0 -pthread -o reuse collector/tests/workloads/reuse.c
make -s -C examples OPT="-O0 -DLOG2_KEYS=15 -DLOG2_MAX_KEY=15 -DLOG2_BUCKETS=5" bucketsort

# record NAME INTERVAL PURPOSE program arguments...
# On a busy machine a run takes longer and its trace gets big: again, then.
record() {
	local name=$1 interval=$2 purpose=$3 size used
	shift 3
	[ -z "$only" ] || [ "$only" = "$name" ] || return 0
	for ((attempt = 1; attempt <= 30; attempt++)); do
		rm -rf "${tree:?}/$name"
		env -i PATH=/usr/bin:/bin LC_ALL=C OMP_WAIT_POLICY=passive build/collector/memtrace record --quiet \
			--max-overhead 0 --interval "$interval" --subphases 4 --name "$name" --purpose "$purpose" \
			-o "$tree/$name" -- "$@" > /dev/null 2>&1
		size=$(du -sb "$tree/$name" | cut -f1)
		used=$(awk -F, 'NR > 1 && $7 > 20' "$tree/$name/p0000/intervals.csv" | wc -l)
		if [ "$size" -le 150000 ] && [ "$used" -ge 5 ]; then
			rm -rf "${here:?}/$name"
			mv "$tree/$name" "$here/$name"
			echo "$name: $size bytes, $used intervals with accesses"
			return 0
		fi
	done
	echo "record.sh: $name: no run of the right size ($size bytes, $used intervals)" >&2
	exit 1
}

record matmul-naive 3ms "all of B shared, A and C private, the main thread initialises everything" \
	build/examples/matmul naive -n 160
record matmul-blocked 2ms "B is walked from top to bottom once" \
	build/examples/matmul blocked -n 160
record stencil-serial 10ms "the main thread touches everything first" \
	build/examples/stencil serial -n 32 -s 400
record stencil-parallel 10ms "each thread touches its own planes first" \
	build/examples/stencil parallel -n 32 -s 400
record bucketsort-dynamic 10ms "key_buff1 has no owner" \
	build/examples/bucketsort dynamic -i 120
record bucketsort-fair 10ms "key_buff1 is private in bands" \
	build/examples/bucketsort fair -i 120
record heap-reuse 60ms "the memory of a freed buffer goes to another thread" \
	./reuse
