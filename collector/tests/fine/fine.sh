#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# record --fine: programs that note each page that they use (uses.c), and what the bins of the trace say of it (compare.py). Run by ../run.sh fine.
# LIST=1 names the cases, ONLY=NAME runs one. Work is CPU time of the program, bins are, too: nothing depends on the speed of the machine.

tests=$(cd "$(dirname "$0")/.." && pwd)
. "$tests/lib.sh"
need_memtrace
need_programs uses
if [ -z "${LIST:-}" ] && ! perf_works; then
	skip "record --fine: no events of page faults here"
	summary fine
	exit
fi

# fine PLAN OPTIONS...: records; the program prints what it prints alone, and the trace keeps all rules
fine() {
	local plan=$1 rc
	shift
	"$MEMTRACE" record -o "$work/trace" --fine 50ms "$@" -- "$bin/uses" "$work/notes" 1500 "$plan" > "$work/out" 2> "$work/err"
	rc=$?
	if [ $rc != 0 ] || ! grep -q '^uses: [0-9]* [0-9]*$' "$work/out"; then
		fail "$plan: exit code $rc"
		head -5 "$work/err"
		return 1
	fi
	if ! python3 "$tests/fine/compare.py" "$work/trace/p0000" "$work/notes" > "$work/said"; then
		fail "$plan: the trace breaks a rule of docs/reference/trace-fine.md"
		head -5 "$work/said"
		return 1
	fi
	echo "note: $plan $*: $(cat "$work/said")"
}

# at_most WORD LIMIT WHAT: the number behind the word in what compare.py says
at_most() {
	awk -v word="$1" -v limit="$2" '{ for (i = 1; i < NF; i++) if ($i == word && $(i + 1) + 0 <= limit) yes = 1 } END { exit !yes }' "$work/said" ||
		fail "$3: $(cat "$work/said")"
}

# close PLAN ERROR: nearly all bins are samples. In the mean 0 to 2.3 % were measured, 7 % for the set that wanders; a page that is in use when its
# thread is interrupted may be told of the next bin, so the limits are wide
close() {
	fine "$1" --interval 10s --subphases 1 || return
	at_most error "$2" "$1: pages in use"
	at_most written "$((2 * $2))" "$1: pages written"
	awk '{ for (i = 1; i < NF; i++) if ($i == "held") { split($(i + 1), a, " "); exit !($(i + 4) + 0 < 10 || $(i + 1) + 0 >= 80) } }' "$work/said" ||
		fail "$1: the interval of 95 %: $(cat "$work/said")"
	pass "$1"
}

cases fine "$0"

## phases: two arrays that are swept, a shared table, and one that is used at times
close phases 8

## wander: a set that wanders over the memory
close wander 20

## bursts: half of the memory is used a fifth of the time
close bursts 8

## hash: random pages by both threads
close hash 8

## blocks: blocks that come and go
close blocks 8

## looks: bins among complete looks, as the defaults have them
fine phases && at_most error 8 "phases among complete looks" && pass "among complete looks"

## lost: rings of a page lose events: those bins are not known, and nothing is told of them
MEMTRACE_RING_PAGES=1 fine phases --fine-pages 1024 && pass "lost events"

## none: without the option there is no file of it
"$MEMTRACE" record -o "$work/trace" -- "$bin/uses" "$work/notes" 100 hash > /dev/null 2>&1 || fail "recording"
for f in bins strata panel fine-000000 finethreads-000000; do
	[ ! -e "$work/trace/p0000/$f.csv" ] || fail "$f.csv without --fine"
done
pass "none"
