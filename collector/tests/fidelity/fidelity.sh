#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Records programs that log their own accesses and compares. What is asserted
# stands in fidelity.c. Run by ../run.sh fidelity.

tests=$(cd "$(dirname "$0")/.." && pwd)
. "$tests/lib.sh"
need_memtrace
need_programs fidelity visits deny

as=() budget=0 program=("$bin/visits")
# fidelity NAME comparison-options -- record-options -- options of visits
# Records "visits" and compares every image that wrote a log.
fidelity() {
	local name=$1 compare=() record=() dir=$work/$1 attempt status
	[[ -z "${ONLY:-}" || $1 == $ONLY ]] || return 0
	shift
	while [ "$1" != -- ]; do compare+=("$1"); shift; done; shift
	while [ "$1" != -- ]; do record+=("$1"); shift; done; shift
	perf_works || compare+=(--no-threads --written 0 --wrong 100)
	# what depends on the scheduling of the threads (status 3: who is seen sharing, and how many
	# visits there were) may have bad luck on a busy machine; pages, directions and threads may not
	for attempt in 1 2 3; do
		rm -rf "$dir"
		mkdir "$dir"
		# "as" is a command that runs the rest with less rights
		[ ${#as[@]} = 0 ] || chmod 777 "$dir"
		if ! timeout -k 5 900 "${as[@]}" "$MEMTRACE" record --quiet --max-overhead "$budget" -o "$dir/trace" \
			"${record[@]}" -- "${program[@]}" "$@" "$dir/log" > "$dir/out" 2>&1; then
			fail "$name: the program or the recorder failed"
			sed 's/^/    /' "$dir/out"
			return 1
		fi
		"$bin/fidelity" "${compare[@]}" "$dir/trace" "$dir"/log.* > "$dir/report" 2>&1
		status=$?
		[ $status = 3 ] || break
		echo "note: fidelity $name, attempt $attempt: $(grep FAILED "$dir/report" | head -1 | tr -s ' ')"
	done
	if [ $status = 0 ]; then
		pass "$name"
		[ -n "${VERBOSE:-}" ] || echo "ok: $name"
		grep -E 'intervals of|found|flagged|kernel|seen as shared' "$dir/report" | sed "s|^$dir/trace/|  |; s/^/    /"
	elif [ $status = 3 ] && { busy || disturbed "$dir"; }; then
		not_judged "$name: who shares, at load $(cut -d' ' -f1 /proc/loadavg), or $(disturbed "$dir")"
	else
		fail "$name"
		sed "s|^|    |" "$dir/report"
		return 1
	fi
}

# more than three threads per CPU want to run
busy() {
	awk -v n="$(nproc)" '{ exit !($1 > 3 * n) }' /proc/loadavg
}

# The machine stood still: one interval in ten took half as long again as it should
disturbed() {
	cat "$1"/trace/p*/intervals.csv | awk -F, '$5 ~ /^[0-9]+$/ { n++; late += $3 - $2 > 1.5 * $5 }
		END { printf "%d of %d intervals took too long", late, n; exit !(late * 10 > n) }'
}

if [ -n "${ONLY:-}" ]; then
	:
elif "$tests/fidelity/selftest.sh" "$bin/fidelity"; then
	pass "the comparison itself"
else
	fail "the comparison itself"
fi

perf_works || skip "threads and directions: perf events are refused here (sysctl kernel.perf_event_paranoid=2)"

fidelity plain -- --interval 50ms --subphases 1 -- -d 1500 -p 300
# sharing: 95 to 99.8 % on a quiet machine; two threads that never run in the same subphase of a busy one are not seen as sharing
fidelity subphases --shared 85 -- --interval 100ms --subphases 5 -- -d 2000 -p 100
fidelity short-intervals -- --interval 20ms --subphases 1 -- -d 1000 -p 300
fidelity system-calls -- --interval 50ms --subphases 1 -- -d 1200 -p 300 -y 25
fidelity kernel-only -- --interval 50ms --subphases 1 -- -d 800 -p 500 -y 100
fidelity mappings -- --interval 50ms --subphases 1 -- -d 1500 -p 100 -m churn,mremap,madvise,brk
fidelity read-mostly -- --interval 50ms --subphases 2 -- -d 1200 -p 300 -w 3
fidelity asleep -- --interval 20ms --subphases 1 -- -d 2000 -p 200 -z 35,100
fidelity fork-exec -- --interval 30ms --subphases 2 -- -d 1500 -p 300 -m fork,exec
# started by a shell: recorded from the moment at which it asks for memory, and complete from then on
program=(sh -c '"$@"; exit $?' sh "$bin/visits")
fidelity not-at-once -- --interval 30ms --subphases 2 -- -d 1000 -p 300 -m fork,exec
program=("$bin/visits")
fidelity many-threads -- --interval 50ms --subphases 1 -- -t 24 -d 1200 -p 2000 -P 60
fidelity one-thread -- --interval 50ms --subphases 1 -- -t 1 -d 1000 -p 100
# With a budget that suffices the governor decides how often an interval looks at the pages: once
# while one thread works, as often as was asked for while several do. Visits of all threads in all intervals.
budget=100
fidelity governed --shared 50 -- --interval 50ms --subphases 5 -- -d 1500 -p 300
fidelity governed-alone -- --interval 50ms --subphases 5 -- -t 1 -d 1500 -p 300
budget=0
# subphases NAME CONDITION: does a condition on s hold for most intervals of the visits?
subphases() {
	[ -d "$work/$1" ] || return 0
	if cat "$work/$1"/trace/p*/intervals.csv | awk -F, -v name="$1" '$4 ~ /^[0-9]+$/ { n++; s = $4; ok += '"$2"' }
		END { if (ok * 2 < n || !n) { print "    " ok + 0 " of " n + 0 " intervals"; exit 1 } }'; then
		pass "$1: intervals with $2 subphases"
	else
		fail "$1: too few intervals with $2 subphases"
	fi
}
subphases governed 's>1'
subphases governed-alone 's==1'
# memory that is shared with other processes by its nature
for kind in anonymous memfd posix sysv file; do
	fidelity shared-$kind -- --interval 50ms --subphases 1 -- -d 1000 -p 300 -B 32 -M $kind
done
# what may only be read: files, in shared and private mappings, and a view of shared memory
for kind in file-read file-private posix-read; do
	fidelity $kind -- --interval 50ms --subphases 1 -- -d 1000 -p 300 -B 32 -M $kind
done
fidelity file-read-fork -- --interval 30ms --subphases 2 -- -d 1500 -p 300 -y 10 -m fork,exec,churn -M file-read
fidelity shared-fork -- --interval 30ms --subphases 2 -- -d 1500 -p 300 -m fork,exec -M anonymous
# More faults than the rings can hold: threads are lost and told, pages are not. How long
# 500 threads take to end an interval, and with it the share of visits that belong to one
# only, is a matter of the machine; how many pairs are compared is what the test needs.
as=(env MEMTRACE_RING_PAGES=8)
overload=(--lossy 100 --compared 1000)
fidelity overload "${overload[@]}" -- --interval 20ms --subphases 1 -- -t 8 -d 1500 -n 400000 -r 1 -m churn,madvise,mremap
fidelity overload-64 "${overload[@]}" -- --interval 100ms --subphases 5 -- -t 64 -d 1500 -n 40000 -r 1 -m churn,madvise
fidelity overload-500 "${overload[@]}" -- --interval 100ms --subphases 1 -- -t 500 -d 1500 -n 40000 -P 500 -r 1
as=()
if [ -d "$work/overload-64" ] && "$MEMTRACE" info "$work/overload-64/trace" | grep -q '^Losses *none'; then
	fail "overload-64: nothing was lost, so that nothing was tried"
fi
fidelity compressed -- --interval 20ms --subphases 1 --compress -- -d 800 -p 300
for dir in "$work"/compressed/trace/p*; do
	[ -d "$work/compressed" ] || continue
	if ls "$dir"/accesses-*.csv > /dev/null 2>&1 || ! ls "$dir"/accesses-*.csv.zst > /dev/null 2>&1; then
		fail "compressed: $(basename "$dir") has chunks that are not compressed, or none"
	else
		pass "compressed chunks in $(basename "$dir")"
	fi
done

# As on kernels before 5.19, 5.18, 6.7 and 5.9: reads in groups of pages, marked as such; the page set stays complete.
# Without soft-dirty tracking of the kernel a write after a read is not seen, so that "written" is no promise then.
old="env MEMTRACE_WITHOUT=userfaultfd,pagemap_scan,dontneed_locked,close_range"
around=(--around)
case $($old "$MEMTRACE" check | grep '^ *faults') in *"after a read of the same page does not fault"*) around+=(--written 0) ;; esac
as=($old)
fidelity old-kernel "${around[@]}" -- --interval 50ms --subphases 1 -- -d 1500 -p 300
fidelity old-kernel-subphases "${around[@]}" -- --interval 100ms --subphases 5 -- -d 2000 -p 100
fidelity old-kernel-mappings "${around[@]}" -- --interval 50ms --subphases 1 -- -d 1500 -p 100 -y 10 -m churn,mremap,madvise,brk
fidelity old-kernel-fork "${around[@]}" -- --interval 30ms --subphases 2 -- -d 1500 -p 300 -m fork,exec -M anonymous
fidelity old-kernel-file "${around[@]}" -- --interval 50ms --subphases 1 -- -d 1000 -p 300 -B 32 -M file
# Nothing of what is younger than Linux 4.18 is answered: for libc, the program and the recorder. And fork() is followed as
# in the C library of RHEL 8, which has no _Fork.
as=(env MEMTRACE_WITHOUT=_Fork "$bin/deny" -o)
fidelity linux-4.18 "${around[@]}" -- --interval 50ms --subphases 2 -- -d 1000 -p 100 -m churn,mremap,madvise,brk
fidelity linux-4.18-fork "${around[@]}" -- --interval 30ms --subphases 2 -- -d 1000 -p 300 -m fork,exec -M anonymous
as=()
if [ -d "$work/old-kernel" ]; then
	"$MEMTRACE" info --json "$work/old-kernel/trace" > "$work/old-kernel/info"
	if grep -q '"read_group_bytes"' "$work/old-kernel/info" && grep -q 'a read stands for a group of' "$work/old-kernel/trace/p0000/image.json"; then
		pass "the granularity is told"
	else
		fail "the granularity is not told"
	fi
fi

# With less rights: what is promised then is the set of pages; threads and directions
# where perf events are allowed.
if [ "$(id -u)" = 0 ] && command -v setpriv > /dev/null && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ] &&
	setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$MEMTRACE"; then
	chmod 711 "$work"
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	fidelity unprivileged -- --interval 50ms --subphases 1 -- -d 1500 -p 300
	fidelity unprivileged-system-calls -- --interval 50ms --subphases 1 -- -d 1200 -p 300 -y 15 -m churn,madvise
	as=()
else
	skip "unprivileged: no setpriv, not root, or perf_event_paranoid > 2"
fi
as=("$bin/deny" perf_event_open)
fidelity perf-refused --no-threads --written 0 --wrong 100 -- --interval 50ms --subphases 1 -- -d 800 -p 200
fidelity perf-refused-mappings --no-threads --written 0 --wrong 100 -- --interval 50ms --subphases 1 \
	-- -d 1000 -p 200 -m churn,mremap,madvise,brk
as=("$bin/deny" setpriority,move_pages)
fidelity no-priority -- --interval 50ms --subphases 1 -- -d 1000 -p 200
as=()

# The comparison must fail on a real trace, too, when one record is dropped.
source=$work/plain
if [ -n "${ONLY:-}" ] && [ ! -d "$source" ]; then
	:
elif [ -d "$source/trace/p0000" ] && [ -e "$source/trace/p0000/accesses-000000.csv" ]; then
	"$bin/fidelity" --list-definite "$source/trace" "$source"/log.* | awk '$1 == "definite"' > "$work/definite"
	for part in 10 50 90; do
		at=$(($(wc -l < "$work/definite") * part / 100))
		read -r _ start page < <(sed -n "${at}p" "$work/definite")
		[ -n "${page:-}" ] || { fail "dropping record $at: too few definite pages"; continue; }
		rm -rf "$work/spoilt"
		cp -r "$source/trace" "$work/spoilt"
		prefix=${page%000}
		awk -F, -v start="$start" -v prefix="$prefix" \
			'!($6 == start && substr($1, 1, length($1) - 3) == prefix)' \
			"$source/trace/p0000/accesses-000000.csv" > "$work/spoilt/p0000/accesses-000000.csv"
		if cmp -s "$source/trace/p0000/accesses-000000.csv" "$work/spoilt/p0000/accesses-000000.csv"; then
			fail "dropping record $at changed nothing"
		elif "$bin/fidelity" "$work/spoilt" "$source"/log.* > /dev/null 2>&1; then
			fail "a dropped record ($page in $start) was not noticed"
		else
			pass "a dropped record is noticed"
		fi
	done
else
	fail "no trace to spoil"
fi
summary fidelity
