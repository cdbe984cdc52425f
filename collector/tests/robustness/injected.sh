#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# System calls that the recorder makes in a program fail, one in each run: what the program writes and how it ends must be as alone.
# Run by ../run.sh robustness. EVERY=1 tries each place (thousands of runs), 31 (the default) each 31st, from one on that SEED chooses.
# CALLS=NAMES tries these only, COPIES=full or none what fork does, FORM=process or thread what the monitor is.

tests=$(cd "$(dirname "$0")/.." && pwd)
. "$tests/lib.sh"
need_memtrace
need_programs inject ways
lib=$(dirname "$MEMTRACE")/libmemtrace-preload.so
every=${EVERY:-31}
seed=${SEED:-$RANDOM}
first=$((seed % every + 1))

"$bin/inject" mkdir 1 12 true > "$work/out" 2>&1
if [ $? = 126 ]; then
	skip "injected errors: $(head -1 "$work/out")"
	summary "injected errors"
	exit
fi
# What the launcher tells the library of who takes orphans here (image.h); the orphan is one that there never was.
sh -c "(sh -c 'sleep 0.3; cut -d\" \" -f4 /proc/\$\$/stat > $work/reaper' &)"
await test -s "$work/reaper"
beside=$(cat "$work/reaper"):$(stat -Lc %i /proc/self/ns/pid):2147483647:0
for copies in ${COPIES:-full none}; do
	settings=(MEMTRACE_INTERVAL_NS=20000000 MEMTRACE_MIN_PROCESS=0 MEMTRACE_BACKEND=zap MEMTRACE_RING_PAGES=8
		MEMTRACE_MAX_OVERHEAD_PPM=0 MEMTRACE_SUBPHASES=1)
	[ $copies = full ] || settings+=(MEMTRACE_FORK_COPY_MAX=0)
	# the monitor beside the program, and as its thread
	form=${FORM:-$([ $copies = full ] && echo process || echo thread)}
	[ $form = thread ] || settings+=(MEMTRACE_MONITOR=$beside)
	want=$("$bin/ways" 2>&1; echo "status $?")
	tried=0
	for call in ${CALLS:-$("$bin/inject" -l)}; do
		case $call in
		openat|memfd_create|userfaultfd|perf_event_open|fcntl|dup3|getdents64) error=24 ;;	# EMFILE
		*) error=12 ;;									# ENOMEM
		esac
		bad=
		for ((n = first; ; n += every, tried++)); do
			rm -rf "$work/trace"
			mkdir "$work/trace" || exit 2
			got=$(timeout 20 "$bin/inject" $call $n $error env "${settings[@]}" MEMTRACE_DIR="$work/trace" \
				MEMTRACE_PARENT_IMAGE=-000000001 LD_PRELOAD="$lib" "$bin/ways" 2>&1; echo "status $?")
			# there were fewer
			[ "${got##*$'\n'}" != "status 125" ] || break
			[ "$got" = "$want" ] || { bad="$bad $n"; diff <(echo "$want") <(echo "$got") | head -4 | sed "s/^/    $call $n: /"; }
		done
		if [ -n "$bad" ]; then
			fail "copies: $copies, monitor: $form, $call fails, of $first to $((n - 1)) by $every:$bad (SEED=$seed)"
		else
			pass "copies: $copies, monitor: $form, $call fails, of $first to $((n - 1)) by $every"
		fi
	done
	[ -n "${CALLS:-}" ] || [ $tried -ge $((600 / every)) ] || fail "copies: $copies: only $tried calls came at all"
done
summary "injected errors"
