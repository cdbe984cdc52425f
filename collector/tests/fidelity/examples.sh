#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# The examples show what their READMEs promise: the owners of the pages of
# their structures, by name. Run by ../run.sh fidelity.

tests=$(cd "$(dirname "$0")/.." && pwd)
. "$tests/lib.sh"
need_memtrace
need_programs fidelity
make -s -C "$tests/../../examples" || exit 2

# facts TRACE names: the owners in a recorded trace of testdata
facts() {
	local dir=$tests/../../testdata/traces/$1/p0000
	owners=$(awk -f "$tests/fidelity/owners.awk" -v names="$2" "$dir/structures.csv" "$dir/threads.csv" \
		"$dir/accesses-000000.csv")
}

for trace in "$tests"/../../testdata/traces/*/ "$tests/../../testdata/format-example/"; do
	[ -e "$trace/manifest.json" ] || continue
	if "$bin/fidelity" --format "$trace" > "$work/format" 2>&1; then
		pass "$(basename "$trace") follows the format"
	else
		fail "$(basename "$trace") does not follow the format"
		sed 's/^/    /' "$work/format"
	fi
done

if ! perf_works; then
	skip "the owners of pages: perf events are refused here"
	summary examples
	exit
fi

# example NAME names command...: records and fills $owners
example() {
	local names=$1
	shift
	rm -rf "$work/trace"
	if ! timeout -k 5 900 "$MEMTRACE" record --quiet --max-overhead 0 --interval 20ms --subphases 5 \
		-o "$work/trace" -- "$BUILD/examples/$1" "${@:2}" > "$work/out" 2>&1; then
		fail "$*: the program or the recorder failed: $(tail -1 "$work/out")"
		return 1
	fi
	owners=$(awk -f "$tests/fidelity/owners.awk" -v names="$names" "$work/trace/p0000/structures.csv" \
		"$work/trace/p0000/threads.csv" "$work"/trace/p0000/accesses-*.csv)
	[ -z "${VERBOSE:-}" ] || echo "$owners" | sed 's/^/    /'
}

# value STRUCTURE KEY [K]: a number of $owners; with K the pages with K threads
value() {
	awk -v name="$1" -v key="$2" -v k="${3-}" '$1 == name {
		for (i = 2; i <= NF; i++) {
			split($i, kv, "=")
			if (kv[1] != key)
				continue
			if (k == "") { print kv[2] + 0; exit }
			n = split(kv[2], part, ",")
			for (j = 1; j <= n; j++) {
				split(part[j], pair, ":")
				if (pair[1] == k) { print pair[2]; exit }
			}
			print 0; exit
		}
	}' <<< "$owners"
}

# at_least WHAT GOT PERCENT OF
at_least() {
	if [ -n "$2" ] && [ $(($2 * 100)) -ge $(($3 * $4)) ] && [ "$4" -gt 0 ]; then
		pass "$1"
	else
		fail "$1: ${2:-nothing} pages of $4, expected $3 %"
		echo "$owners" | sed 's/^/    /'
	fi
}

if [ -d "$tests/../../testdata/traces/matmul-naive" ]; then
	facts matmul-naive A,B,C
	at_least "testdata matmul-naive: the main thread initialises" "$(($(value A first_main) + $(value B first_main) + $(value C first_main)))" 100 150
	at_least "testdata matmul-naive: B is shared by all" "$(value B workers 4)" 100 50
	at_least "testdata matmul-naive: A is private" "$(value A workers 1)" 96 50
	at_least "testdata matmul-naive: C is private" "$(value C writers 1)" 96 50
	facts stencil-serial old_grid
	at_least "testdata stencil-serial: the main thread initialises" "$(value old_grid first_main)" 100 64
	facts stencil-parallel old_grid
	at_least "testdata stencil-parallel: others initialise" "$((64 - $(value old_grid first_main)))" 60 64
	facts bucketsort-fair key_buff1
	at_least "testdata bucketsort-fair: key_buff1 is private" "$(($(value key_buff1 workers 0) + $(value key_buff1 workers 1)))" 100 32
	facts bucketsort-dynamic key_buff1
	at_least "testdata bucketsort-dynamic: key_buff1 is shared" "$(value key_buff1 workers 3)" 100 32
else
	fail "testdata/traces is missing"
fi

# Rows that a worker finishes before the pages are taken from it for the first
# time show no owner. A row of n = 512 takes 0.25 ms, so that 3 % of them can be
# done in that time; one of n = 1024 takes 14 times as long.
p=$((1024 * 1024 * 8 / 4096))
if example A,B,C matmul naive -n 1024; then
	for m in A B C; do
		at_least "matmul naive: every page of $m is seen" "$(value $m pages)" 100 $p
		at_least "matmul naive: the main thread initialises $m" "$(value $m first_main)" 100 $p
	done
	at_least "matmul naive: A is private to one thread" "$(value A workers 1)" 99 $p
	at_least "matmul naive: B is shared by all four threads" "$(value B workers 4)" 99 $p
	at_least "matmul naive: B is shared at one time" "$(value B shared_now)" 95 $p
	at_least "matmul naive: B is not written by the threads" "$(value B writers 0)" 99 $p
	at_least "matmul naive: C is private to one thread" "$(value C workers 1)" 99 $p
	at_least "matmul naive: C is written by its thread" "$(value C writers 1)" 99 $p
fi
if example A,B,C matmul blocked -n 1024; then
	for m in A B C; do
		at_least "matmul blocked: the main thread initialises $m" "$(value $m first_main)" 100 $p
	done
	at_least "matmul blocked: A is private to one thread" "$(value A workers 1)" 99 $p
	at_least "matmul blocked: B is shared" "$(($(value B workers 4) + $(value B workers 3) + $(value B workers 2)))" 90 $p
	at_least "matmul blocked: C is private to one thread" "$(value C workers 1)" 99 $p
fi
if example A,C matmul modulo -n 1024; then
	at_least "matmul modulo: A is shared" "$(($(value A workers 4) + $(value A workers 3) + $(value A workers 2)))" 90 $p
	at_least "matmul modulo: C is written by several" "$((p - $(value C writers 0) - $(value C writers 1)))" 90 $p
fi
p=$((128 * 128 * 128 * 8 / 4096))
if example old_grid,new_grid stencil serial -s 100; then
	at_least "stencil serial: the main thread initialises" "$(value old_grid first_main)" 100 $p
	# six planes of 32 pages are read by two threads
	at_least "stencil serial: private bands" "$(value old_grid workers 1)" 60 $p
fi
if example old_grid,new_grid stencil parallel -s 100; then
	# a quarter of the planes is the main thread's own
	at_least "stencil parallel: others initialise their planes" "$((p - $(value old_grid first_main)))" 70 $p
fi
q=$(((1 << 22) * 4 / 4096))
if example key_array,key_buff1,key_buff2 bucketsort fair -i 60; then
	at_least "bucketsort: every page of key_array is seen" "$(value key_array pages)" 100 $q
	at_least "bucketsort: key_array is private" "$(($(value key_array workers 1) + $(value key_array workers 0)))" 99 $q
	at_least "bucketsort fair: key_buff1 is private" "$(($(value key_buff1 workers 1) + $(value key_buff1 workers 0)))" 98 512
fi
if example key_buff1 bucketsort dynamic -i 60; then
	at_least "bucketsort dynamic: key_buff1 is used by several" "$((512 - $(value key_buff1 workers 1) - $(value key_buff1 workers 0)))" 90 512
fi
c=$((32768 * 8 * 4 / 4096))
if example counters falsesharing packed -m 150; then
	at_least "falsesharing packed: all pages written by all" "$(value counters writers 4)" 99 $c
fi
if example counters falsesharing page -m 150; then
	at_least "falsesharing page: private" "$(value counters writers 1)" 99 $c
fi
p=$(((1 << 18) * 64 / 4096))
if example pool listwalk random -p 3; then
	at_least "listwalk random: used by all" "$(value pool workers 4)" 95 $p
fi
if example pool listwalk ordered -p 3; then
	at_least "listwalk ordered: private" "$(value pool workers 1)" 99 $p
fi
summary examples
