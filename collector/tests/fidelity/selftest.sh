#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Tests the comparison itself: a made-up log of visits and the trace that a
# perfect collector would have written must pass; each way of spoiling the
# trace must be noticed. No program is recorded here.
#
# usage: selftest.sh FIDELITY-BINARY

set -u
export LC_ALL=C
fidelity=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

# 40 intervals of 10000 ns; closing a page takes place in the first 200 ns of
# the next one. Visits take 20 ns. Pages 1..30 private to threads 101..103
# (10 each), 31..50 shared, 51 touched by the kernel only. Every third page is
# only read. A visit in a window belongs to the earlier interval if the number of
# its page is even: both are allowed.
make_trace() {
	local dir=$1/p0000
	mkdir -p "$dir"
	echo '{"index": 0, "pid": 7, "start_ns": 100000}' > "$dir/image.json"
	awk -v dir="$dir" -v log_="$1.log" 'BEGIN {
		seed = 12345; n = 40; length_ = 10000; window = 200; base = 100000
		print "Interval,Start,End,Subphases,TargetNs,Faults,Records,Unattributed,LostRing,LostTable,Resident,ScanNs,ZapNs,MonitorCpuNs,ProgramCpuNs,Event" > (dir "/intervals.csv")
		for (i = 0; i < n; i++)
			printf "%d,%d,%d,1,%d,0,0,0,0,0,0,%d,%d,0,0,\n", i, base + i * length_, base + (i + 1) * length_, length_, 50, 200 > (dir "/intervals.csv")
		print "# memtrace visits 1 pid=7 generation=0 start=100000" > log_
		print "Address,T0,T1,Kind,Class,TaskId" > log_
		for (v = 0; v < 12000; v++) {
			t = base + v * 33 + 5
			seed = (seed * 1103515245 + 12345) % 2147483648
			r = int(seed / 65536)
			thread = 101 + r % 3
			if (r % 7 < 3) { page = 1 + (thread - 101) * 10 + int(r / 21) % 10; class = "p" }
			else { page = 31 + int(r / 21) % 20; class = "s" }
			kind = page % 3 == 0 || int(r / 500) % 2 ? "r" : "w"
			if (v % 50 == 0) { page = 51; kind = "R"; class = "v" }
			if (t + 20 >= base + n * length_) break
			printf "%x010,%d,%d,%s,%s,%d\n", 4096 + page, t, t + 20, kind, class, thread > log_
			k = int((t - base) / length_)
			if (t - base - k * length_ <= window && k > 0 && page % 2 == 0) k--
			tid = kind == "R" ? -1 : thread
			key = sprintf("%03d %05d %d", k, 4096 + page, tid)
			reads[key] += kind != "w"; writes[key] += kind == "w"
		}
		for (key in reads) {
			split(key, f, " ")
			printf "%x008,0,%d,%d,3,%d,%d,%d,0,-1,%d\n", f[2], reads[key], writes[key],
				base + f[1] * length_, base + (f[1] + 1) * length_, f[3], f[3] < 0 ? 3 : 0
		}
	}' | sort -t, -k6,6n -k1,1 -k8,8n > "$dir/rows"
	{
		echo "@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags"
		cat "$dir/rows"
	} > "$dir/accesses-000000.csv"
	rm "$dir/rows"
}

# check NAME expected-status [options]
check() {
	local name=$1 want=$2 got
	shift 2
	"$fidelity" "$@" "$work/t" "$work/t.log" > "$work/out" 2>&1
	got=$?
	if [ $got = "$want" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $name: status $got instead of $want"
		sed 's/^/    /' "$work/out"
	fi
}

# spoil NAME FILE awk-program: a fresh copy of the trace, one change
spoil() {
	local name=$1 file=$work/t/p0000/$2 program=$3
	rm -rf "$work/t"
	cp -r "$work/good" "$work/t"
	awk -F, -v OFS=, "$program" "$file" > "$file.new"
	if cmp -s "$file" "$file.new"; then
		echo "FAILED: $name changed nothing"
		failed=$((failed + 1))
	fi
	mv "$file.new" "$file"
}

make_trace "$work/good"
cp -r "$work/good" "$work/t"
cp "$work/good.log" "$work/t.log"
check "a perfect trace" 0 --shared 100 --alone 100 --foreign 0 --lossless
rows=$(wc -l < "$work/good/p0000/accesses-000000.csv")
definite=$("$fidelity" --list-definite "$work/t" "$work/t.log" | awk '$1 == "definite"' | wc -l)
check "as many pairs as wanted" 0 --compared "$definite"
check "fewer pairs than wanted" 3 --compared $((definite + 1))
[ "$definite" -gt 500 ] || { echo "FAILED: only $definite definite pages"; failed=$((failed + 1)); }

a=accesses-000000.csv
# every tenth definite (interval, page), one at a time
"$fidelity" --list-definite "$work/t" "$work/t.log" | awk '$1 == "definite" && NR % 100 == 7' > "$work/list"
while read -r _ start page; do
	spoil "dropped page $page of $start" $a "!(\$6 == $start && substr(\$1, 1, 4) == substr(\"$page\", 1, 4))"
	check "dropped page $page of $start" 1
done < "$work/list"

spoil "losses told for that interval" intervals.csv '$1 == 5 { $9 = 1 } { print }'
awk -F, '$6 != 150000 || NR % 2' "$work/good/p0000/$a" > "$work/t/p0000/$a"
check "records missing where losses are told" 0
check "losses although none expected" 1 --lossless
spoil "writes recorded as reads" $a 'NR > 1 && NR % 10 == 0 && $4 { $3 += $4; $4 = 0 } { print }'
check "writes recorded as reads" 1
spoil "reads recorded as writes" $a 'NR > 1 && NR % 10 == 0 && !$4 { $4 = 1 } { print }'
check "reads recorded as writes" 1
spoil "one thread missing everywhere" $a '$8 != 103'
check "one thread missing everywhere" 1 --pages 0
spoil "all attributed to one thread" $a 'NR > 1 && $8 != -1 { $8 = 101; if (seen[$1 $6]++) next } { print }'
check "all attributed to one thread" 1
check "all attributed to one thread, but directions right" 1 --written 0
check "all attributed to one thread, each its own not asked for" 1 --written 0 --alone 0
check "all attributed to one thread, others not asked for, but sharing" 3 --written 0 --alone 0 --foreign 100 --shared 95
check "all attributed to one thread, threads not promised" 0 --no-threads --written 0 --foreign 100
spoil "every tenth record of a thread is another's" $a 'NR > 1 && NR % 10 == 0 && $8 == 103 { $8 = 104 } { print }'
check "every tenth record of a thread is another's" 1 --alone 0
check "every tenth record of a thread is another's, found by those that are missing" 1 --foreign 100
spoil "an invented page" $a '{ print } NR > 1 && $6 == 150000 && !done++ { for (i = 0; i < 30; i++) printf "1001000,0,1,0,1,%d,%d,%d,0,-1,0\n", $6, $7, 200 + i }'
awk -F, 'NR < 3 || !($2 >= 145000 && $2 < 165000 && $1 ~ /^1001/)' "$work/good.log" > "$work/t.log"
check "an invented page" 1
cp "$work/good.log" "$work/t.log"
spoil "a line twice" $a '{ print } NR == 50'
check "a line twice" 1
spoil "end of an interval" $a 'NR == 60 { $7++ } { print }'
check "end of an interval" 1
spoil "no accesses in a record" $a 'NR == 60 { $3 = $4 = 0 } { print }'
check "no accesses in a record" 1
spoil "order" $a 'NR == 60 { keep = $0; next } { print } NR == 300 { print keep }'
check "order" 1
spoil "upper case" $a 'NR == 60 { sub(/8$/, "F", $1) } { print }'
check "upper case" 1
spoil "a gap between intervals" intervals.csv '$1 == 5 { $2++ } { print }'
check "a gap between intervals" 1
spoil "a missing column" $a '{ $8 = "x" $8 } NR == 1 { print } NR > 1 { print }'
check "a missing column" 2
spoil "recording began late" intervals.csv '$1 != 0 && $1 != 1'
check "recording began late" 1
rm -rf "$work/t"; cp -r "$work/good" "$work/t"
printf '10010' >> "$work/t/p0000/$a"
check "an incomplete last line" 0
rm -rf "$work/t"; cp -r "$work/good" "$work/t"
if zstd -q --rm "$work/t/p0000/$a" 2>/dev/null; then
	check "a compressed chunk" 0
else
	echo "SKIPPED: a compressed chunk (there is no zstd)"
fi

echo "comparison: $rows lines, $definite definite pages: $passed passed, $failed failed"
[ $failed = 0 ]
