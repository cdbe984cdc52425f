#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# What recording costs a pair of malloc and free, without accesses (--backend none): CPU time in ns, in the main thread and
# in a further one, untraced and traced in turns, the smallest of RUNS. Writes a markdown table to stdout.
#
# usage: bench/allocations.sh [-r RUNS] [-o MEMTRACE] > table.md
#   -r RUNS      runs of each (5)
#   -o MEMTRACE  another build to compare with, taken in turns with this one
set -eu
export LC_ALL=C
top=$(cd "$(dirname "$0")/.." && pwd)
memtrace=${MEMTRACE:-$top/build/collector/memtrace}
runs=5 other=
while getopts r:o:h o; do
	case $o in
	r) runs=$OPTARG ;;
	o) other=$OPTARG ;;
	*) sed -n '5,11s/^# \{0,1\}//p' "$0"; exit 2 ;;
	esac
done
[ -x "$memtrace" ] || make -s -C "$top/collector" >&2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cat > "$work/pairs.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static size_t bytes;
static long pairs;

/* 64 blocks live, as in a program; the CPU time of this thread */
static void *work(void *unused)
{
	void *volatile block[64] = { 0 };
	struct timespec from, to;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	for (long i = 0; i < pairs; i++) {
		free(block[i & 63]);
		block[i & 63] = malloc(bytes);
	}
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	printf("%.2f\n", ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / (double)pairs);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t t;

	bytes = strtoul(argv[1], NULL, 0);
	pairs = atol(argv[2]);
	if (argc == 3)
		return work(NULL) != NULL;
	return pthread_create(&t, NULL, work, NULL) || pthread_join(t, NULL);
}
END
gcc -O2 -pthread -o "$work/pairs" "$work/pairs.c"

# traced MEMTRACE DEPTH ARGUMENTS...
traced() {
	local m=$1 depth=$2
	shift 2
	rm -rf "$work/trace"
	"$m" record -q --backend none --stack-depth "$depth" -o "$work/trace" -- "$work/pairs" "$@"
}

least() { sort -n "$1" | head -n 1; }
echo "| malloc and free | untraced | ${other:+before | }recorded | ${other:+16 frames, before | }16 frames |"
echo "|---|---:|${other:+---:|}---:|${other:+---:|}---:|"
while read -r title bytes pairs further; do
	rm -f "$work"/ns.*
	for ((i = 0; i < runs; i++)); do
		"$work/pairs" "$bytes" "$pairs" $further >> "$work/ns.native"
		for depth in 0 16; do
			[ -z "$other" ] || traced "$other" $depth "$bytes" "$pairs" $further >> "$work/ns.other$depth"
			traced "$memtrace" $depth "$bytes" "$pairs" $further >> "$work/ns.$depth"
		done
	done
	printf '| %s | %s |' "${title//_/ }" "$(least "$work/ns.native")"
	for depth in 0 16; do
		[ -z "$other" ] || printf ' %s |' "$(least "$work/ns.other$depth")"
		printf ' %s |' "$(least "$work/ns.$depth")"
	done
	echo
done <<'END'
64_bytes_(counted_only) 64 20000000
64_bytes,_further_thread 64 20000000 further
4600_bytes_(recorded) 4600 300000
4600_bytes,_further_thread 4600 300000 further
END
