#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# record --zoom: a program whose words are known. Run by ../run.sh zoom. The program goes on until the trace has enough
# samples of each thread, so that nothing depends on the speed of the machine.

tests=$(cd "$(dirname "$0")/.." && pwd)
. "$tests/lib.sh"
need_memtrace
need_programs fidelity words
cd "$work" || exit 2
ENOUGH=10	# samples of each of the three threads

# samples TRACE: how many of the three threads have ENOUGH samples
samples() {
	cat "$1"/p*/zoom.csv 2> /dev/null | awk -F, -v enough=$ENOUGH 'NF == 6 && $4 ~ /w/ { n[$2]++ }
		END { for (t in n) done += n[t] >= enough; print done + 0 }'
}

# words TRACE: the different byte offsets from the third line of the counters' page, without number for each thread, and of the
# lines those that several threads used
words() {
	awk -F, 'FNR > 1 { page = substr($3, length($3) - 2); at = 0
			for (i = 1; i <= 3; i++) at = at * 16 + index("0123456789abcdef", substr(page, i, 1)) - 1
			word[at " " $2]; line = int(at / 64) }
		END { for (w in word) { split(w, f, " "); users[f[1]]++; threads[f[2]]++; if (!((l = int(f[1] / 64)) in first)) first[l] = f[2]
			else if (first[l] != f[2]) shared[l] }
			for (u in users) text = text u ":" users[u] "\n"; for (t in threads) if (threads[t] > 1) many++
			for (l in shared) lines++; printf "%s", text | "sort -n"; close("sort -n")
			print "threads with several words: " many + 0 ", lines of several threads: " lines + 0 }' "$1"/p*/zoom.csv
}

# zoomed NAME SUSPECT WORDS...: records until there is enough
zoomed() {
	local name=$1 suspect=$2 pid rc
	shift 2
	rm -f stop
	"$MEMTRACE" record -o "$name" --zoom "$suspect" -- "$@" stop > "$name.out" 2> "$name.err" &
	pid=$!
	for ((i = 0; i < 6000; i++)); do
		[ "$(samples "$name")" -lt 3 ] || break
		kill -0 $pid 2> /dev/null || break
		sleep 0.1
	done
	touch stop
	wait $pid
	rc=$?
	if [ $rc != 0 ]; then
		fail "$name: exit code $rc"
		sed 's/^/    /' "$name.err" | head -5
		return 1
	fi
	if ! "$bin/fidelity" --format "$name" > "$name.format" 2>&1; then
		fail "$name: the trace does not follow the format"
		head -5 "$name.format" | sed 's/^/    /'
		return 1
	fi
	grep -q 'close look at .* samples on ' "$name.err" || fail "$name: record does not say what it saw"
	"$MEMTRACE" info "$name" 2>&1 | grep -q '^Zoom *close look at .* samples on ' || fail "$name: info does not say what it saw"
}

# expect NAME LINE...: the words of a trace
expect() {
	local name=$1 got want
	shift
	want=$(printf '%s\n' "$@")
	got=$(words "$name")
	if [ "$got" = "$want" ]; then
		pass "$name"
	else
		fail "$name: other words"
		diff <(printf '%s\n' "$want") <(printf '%s\n' "$got") | sed 's/^/    /'
	fi
}

one="threads with several words: 0, lines of several threads: 1"
none="threads with several words: 0, lines of several threads: 0"

zoomed packed table "$bin/words" static 8 && expect packed 128:1 136:1 144:1 "$one"
zoomed padded table "$bin/words" static 64 && expect padded 128:1 192:1 256:1 "$none"
touch stop
"$MEMTRACE" record --quiet -o before -- "$bin/words" heap 8 stop || fail "before: exit code"
zoomed earlier before:table "$bin/words" static 8 && expect earlier 128:1 136:1 144:1 "$one"
zoomed file "$bin/words:table" "$bin/words" static 8 && expect file 128:1 136:1 144:1 "$one"
# blocks of one place that live shortly, named by an earlier run; each block has threads of its own
if zoomed block before:block "$bin/words" heap 8; then
	got=$(words block | sed 's/:.*//' | tr '\n' ' ')
	[ "${got% threads*}" = "128 136 144" ] && pass block || fail "block: other words: $got"
fi

# what cannot be found is said before the program starts
for wrong in nothing before:nothing 0x20-0x10 before:99; do
	"$MEMTRACE" record -o wrong --zoom "$wrong" -- touch ran > wrong.out 2>&1
	rc=$?
	if [ $rc = 2 ] && [ ! -e ran ] && [ ! -e wrong ]; then pass "$wrong"; else fail "--zoom $wrong: exit code $rc"; fi
	rm -rf ran wrong
	[ "$wrong" != before:nothing ] || command -v java > /dev/null || break	# findings need Java
done
"$MEMTRACE" record -o absent --zoom 0x10000-0x20000 -- "$bin/words" static 8 stop 2> absent.err
grep -q 'close look at 0x10000-0x20000: 0 samples' absent.err && pass absent || fail "absent: $(grep close absent.err)"
"$MEMTRACE" record -o other --backend none --zoom table -- "$bin/words" static 8 stop > /dev/null 2>&1
[ $? = 2 ] && pass "another backend" || fail "another backend is not refused"

summary zoom
