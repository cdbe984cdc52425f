#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# run.sh LIBRARY PROGRAM: each case of the program untraced and traced must say the same
# and end with the same status, under several settings; and the trace must be well formed.
# The last line is "N passed, N failed".
lib=$1 prog=$2
passed=0 failed=0
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
LC_ALL=C
export LC_ALL

# Per image: intervals follow each other, and every access lies in one of them.
well_formed() {
	for d in "$1"/p*; do
		[ -f "$d/image.json" ] || { echo "$d: no image.json"; return 1; }
		[ -f "$d/accesses-000000.csv" ] || continue
		awk -F, '
			FILENAME ~ /intervals/ {
				if (FNR == 1) next
				if ($3 <= $2 || (end != "" && $2 != end)) { print FILENAME ": " $0; bad = 1 }
				end = $3; known[$2 "," $3] = 1
				next
			}
			FNR > 1 && $11 !~ /[13579bdf]/ && (($3 > 0) != ($12 != "") || ($4 > 0) != ($13 != "")) {
				print FILENAME ": " $0; bad = 1
			}
			# the first access: not in what was found in the page tables; in the interval, or while it was closed
			FNR > 1 && (($11 ~ /[13579bdf]/) != ($14 == "") || $14 > 1e9 + $7 - $6) {
				print FILENAME ": " $0; bad = 1
			}
			FNR > 1 && (NF != 14 || !(($6 "," $7) in known) || $3 + $4 == 0) {
				print FILENAME ": " $0; bad = 1
			}
			END { exit bad }' "$d/intervals.csv" "$d"/accesses-*.csv || return 1
	done
}

# check LABEL RECORDED SETTING...: RECORDED says whether these settings record accesses, in whatever cases
check() {
	label=$1 recorded=$2 lines=0
	shift 2
	for c in $cases; do
		want=$(timeout 300 "$prog" "$c" 2>&1)
		want="$want / $?"
		rm -rf "$tmp/trace"
		mkdir "$tmp/trace"
		got=$(env MEMTRACE_MIN_PROCESS=0 MEMTRACE_MAX_OVERHEAD_PPM=0 MEMTRACE_SUBPHASES=1 "$@" MEMTRACE_DIR="$tmp/trace" MEMTRACE_PARENT_IMAGE=-000000001 \
			LD_PRELOAD="$lib" timeout 300 "$prog" "$c" 2>&1)
		got="$got / $?"
		if [ "$got" != "$want" ]; then
			echo "FAILED  $label $c: untraced '$want', traced '$got'"
			failed=$((failed + 1))
		elif ! wrong=$(well_formed "$tmp/trace"); then
			echo "FAILED  $label $c: $wrong" | head -n 3
			failed=$((failed + 1))
		else
			passed=$((passed + 1))
		fi
		lines=$((lines + $(cat "$tmp"/trace/p*/accesses-*.csv 2> /dev/null | wc -l)))
	done
	case $recorded in
	yes) [ $lines -gt 1000 ] ;;
	no) [ $lines = 0 ] ;;
	esac || {
		echo "FAILED  $label $lines lines of accesses in all cases"
		failed=$((failed + 1))
	}
}

# without a program, without its cases or without the library nothing would be tried, and nothing would fail
if ! { lib=$(realpath -e "$lib") && cases=$("$prog") && [ -n "$cases" ]; }; then
	echo "FAILED  no cases of '$prog' with '$lib'"
	echo "0 passed, 1 failed"
	exit 1
fi
check "50 ms:" yes MEMTRACE_INTERVAL_NS=50000000
check "3 ms, 3 subphases:" yes MEMTRACE_INTERVAL_NS=3000000 MEMTRACE_SUBPHASES=3 MEMTRACE_RING_PAGES=8
# all memory is looked at closely, 64 pages at a time
check "zoom, 20 ms:" yes MEMTRACE_INTERVAL_NS=20000000 MEMTRACE_ZOOM='range 1000 7ffffffff000' MEMTRACE_ZOOM_SHARE_PPM=1000000
check "as before Linux 5.9, 3 ms, 3 subphases:" yes MEMTRACE_INTERVAL_NS=3000000 MEMTRACE_SUBPHASES=3 \
	MEMTRACE_WITHOUT=userfaultfd,pagemap_scan,dontneed_locked,close_range
# glibc before 2.34: the system call in the middle of its fork
check "without _Fork:" yes MEMTRACE_INTERVAL_NS=50000000 MEMTRACE_WITHOUT=_Fork
check "fork without a copy:" yes MEMTRACE_FORK_COPY_MAX=0
check "no backend:" no MEMTRACE_BACKEND=none MEMTRACE_LIBRARY=no-accesses

# after an execve() that failed: 200 ms in intervals of 3 ms
rm -rf "$tmp/trace"
mkdir "$tmp/trace"
MEMTRACE_INTERVAL_NS=3000000 MEMTRACE_MIN_PROCESS=0 MEMTRACE_MAX_OVERHEAD_PPM=0 MEMTRACE_DIR="$tmp/trace" MEMTRACE_PARENT_IMAGE=-000000001 \
	LD_PRELOAD="$lib" "$prog" failed_exec > "$tmp/out" 2>&1
after=$(awk -F, 'seen { n++ } $16 ~ /exec/ { seen = 1 } END { print n + 0 }' "$tmp/trace/p0000/intervals.csv")
if [ "$after" -ge 5 ]; then
	passed=$((passed + 1))
else
	echo "FAILED  $after intervals after an execve() that failed: $(cat "$tmp/out")"
	failed=$((failed + 1))
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
