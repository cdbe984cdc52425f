# shellcheck shell=bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Runs in the machine of rwp.sh: root, bash, the tools of the host. TOP: the checkout. PARTS: what is tested.
ok() { echo "ok $*"; }
bad() { echo "FAILED $*"; }
now() { cut -d. -f1 /proc/uptime; }
part() { [[ " $PARTS " = *" $1 "* ]]; }
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C
[ -e /dev/fd ] || ln -s /proc/self/fd /dev/fd
memtrace=$TOP/build/collector/memtrace bin=$TOP/build/collector/tests
cd /tmp || exit

# fidelity NAME comparison-options -- record-options -- options of visits; "as": with these rights
as=()
fidelity() {
	local name=$1 compare=() record=() t
	shift
	while [ "$1" != -- ]; do compare+=("$1"); shift; done; shift
	while [ "$1" != -- ]; do record+=("$1"); shift; done; shift
	rm -rf t
	mkdir -m 777 t
	t=$(now)
	# the machine is slow: what depends on the scheduling of threads (status 3) is not judged
	if ! timeout 240 "${as[@]}" "$memtrace" record --backend rwp --quiet --max-overhead 0 -o t/trace "${record[@]}" -- \
		"$bin/visits" "$@" t/log > out 2>&1; then
		bad "$name: the program or the recorder failed"
		cat out t/trace/p0000/image.json
		return
	fi
	grep -q '"backend": "rwp"' t/trace/p0000/image.json || { bad "$name: not recorded"; cat t/trace/p0000/image.json; }
	"$bin/fidelity" "${compare[@]}" t/trace t/log.* > report 2>&1
	case $? in
	0 | 3) ok "$name, $(($(now) - t)) s" ;;
	*) bad "$name" ;;
	esac
	cat report
}

part check && {
	automatic() { "$memtrace" check --json | grep '"auto"'; }
	"$memtrace" check | sed -n '/^rwp/,/^kmod/p'
	"$memtrace" check | grep -q '^rwp *yes' && ok check || bad check
	automatic | grep -q '"rwp"' && ok "auto takes it" || bad "auto takes it: $(automatic)"
	"$memtrace" record --quiet -o auto -- /bin/ls / > /dev/null 2>&1
	"$memtrace" info auto | grep -q '^Backend *rwp' && ok "record takes it" || bad "record takes it: $("$memtrace" info auto)"
	MEMTRACE_WITHOUT=soft_dirty automatic | grep -q '"zap"' && ok "zap where it sees more" || bad "zap where it sees more"
	MEMTRACE_WITHOUT=userfaultfd "$memtrace" check | grep -q '^rwp *no' && ok "check without userfaultfd" || bad "check without userfaultfd"
}
part fidelity && {
	fidelity plain --written 99 -- --interval 200ms --subphases 1 -- -d 3000 -p 200 -n 20000
	fidelity subphases --written 99 -- --interval 500ms --subphases 5 -- -d 3000 -p 200 -n 20000
	fidelity read-mostly --written 99 -- --interval 200ms --subphases 2 -- -d 3000 -p 200 -n 20000 -w 3
	fidelity mappings --written 95 -- --interval 200ms --subphases 1 -- -d 3000 -p 100 -n 20000 -y 10 -m churn,mremap,madvise,brk
	fidelity fork --written 99 -- --interval 200ms --subphases 2 -- -d 3000 -p 200 -n 20000 -m fork,exec -M anonymous
	MEMTRACE_WITHOUT=soft_dirty fidelity first-writes --written 20 -- --interval 200ms --subphases 1 -- -d 3000 -p 200 -n 20000
	MEMTRACE_WITHOUT=pagemap_scan fidelity without-pagemap-scan --written 99 -- --interval 200ms --subphases 1 -- -d 3000 -p 200 -n 20000
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	echo 2 > /proc/sys/kernel/perf_event_paranoid
	fidelity unprivileged --written 90 -- --interval 200ms --subphases 1 -- -d 3000 -p 200 -n 20000
	as=()
}
# odd CASE: what the program says that it touched, or did not, against the records of these pages
odd() {
	rm -rf t
	if ! timeout 240 "$memtrace" record --backend rwp --quiet --max-overhead 0 --interval 100ms --subphases 1 -o t -- \
		"$ODD" "$1" > out 2>&1; then
		bad "$1: the program or the recorder failed"
		cat out
		return
	fi
	python3 - "$1" <<-'COMPARE'
		import csv, glob, sys
		records = [(int(r["@Virt"], 16) >> 12, int(r["Start"]), int(r["End"]))
		    for f in glob.glob("t/p0000/accesses-*.csv") for r in csv.DictReader(open(f))]
		stretches = [l.split() for l in open("out") if l.startswith(("touched ", "untouched "))]
		wrong = [] if stretches else ["no stretch"]
		for what, start, end, first, pages in stretches:
		    start, end, first, pages = int(start), int(end), int(first), int(pages)
		    near = [r for r in records if first <= r[0] < first + pages]
		    met = len({p for p, s, e in near if e >= start and s <= end})
		    inside = len({p for p, s, e in near if s >= start and e <= end})
		    if what == "touched" and met < pages or what == "untouched" and inside:
		        wrong.append(f"{what}, of {pages} pages {met} met it, {inside} lie inside")
		print(f"FAILED {sys.argv[1]}: {'; '.join(wrong)}" if wrong else f"ok {sys.argv[1]}")
	COMPARE
}
part odd && for c in $("$ODD"); do odd "$c"; done

part semantics && {
	# as in tests/preload/run.sh: traced, the program must say the same and end with the same status
	prog=$TOP/build/collector/semantics lib=$TOP/build/collector/libmemtrace-preload.so
	for setting in MEMTRACE_INTERVAL_NS=50000000 "MEMTRACE_INTERVAL_NS=3000000 MEMTRACE_SUBPHASES=3 MEMTRACE_RING_PAGES=8"; do
		for c in $("$prog"); do
			want="$(timeout 300 "$prog" "$c" 2>&1) / $?"
			rm -rf t
			mkdir t
			# shellcheck disable=SC2086
			got="$(env MEMTRACE_BACKEND=rwp MEMTRACE_LIBRARY=hides MEMTRACE_MIN_PROCESS=0 MEMTRACE_MAX_OVERHEAD_PPM=0 MEMTRACE_SUBPHASES=1 $setting \
				MEMTRACE_DIR=/tmp/t MEMTRACE_PARENT_IMAGE=-000000001 \
				LD_PRELOAD="$lib" timeout 300 "$prog" "$c" 2>&1) / $?"
			if [ "$got" != "$want" ]; then bad "$c, $setting: untraced '$want', traced '$got'"
			elif ! grep -q '"backend": "rwp"' t/p0000/image.json; then bad "$c: not recorded: $(grep message t/p0000/image.json)"
			else ok "$c"; fi
		done
	done
}

# CPU time of the same run untraced, with zap and with rwp, in turn: one CPU, whose clock is its instructions
part cost && {
	seconds() { # COMMAND...: user and system
		local TIMEFORMAT='%U %S'
		{ time "$@" > /dev/null 2>&1; } 2>&1 | awk '{ print $1 + $2 }'
	}
	compare() { # NAME COMMAND...
		local name=$1 b line=
		shift
		for round in 1 2 3; do
			line="untraced $(seconds "$@")"
			for b in zap rwp; do
				rm -rf t
				line+=" $b $(seconds "$memtrace" record --backend "$b" --quiet --max-overhead 0 --interval 100ms --subphases 1 -o t -- "$@")"
				line+=" ($(tail -n +2 t/p0000/intervals.csv | wc -l) intervals, $(tail -n +2 -q t/p0000/accesses-*.csv | wc -l) records)"
			done
			echo "cost $name: $line"
		done
	}
	compare stencil "$TOP/build/examples/stencil" -n 100 -s 20 -t 2
	compare bucketsort "$TOP/build/examples/bucketsort" -t 2 -i 2
	compare python /usr/bin/python3 -c 'd = {}
for i in range(100000): d[i] = str(i)
print(sum(len(v) for v in d.values()))'
	compare fork "$ODD" forks
}
dmesg | grep -a -E 'BUG|WARNING|Bad (page|rss|swap)|rss-counter|Oops|RIP:|general protection' > splats
[ -s splats ] && { bad "kernel log"; cat splats; } || ok "kernel log"
echo "-- end, $(now) s"
