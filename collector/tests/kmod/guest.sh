# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Runs in the virtual machine (busybox sh). Each test prints "ok ..." or
# "FAILED ..."; run.sh counts. Variables from /settings: PARTS, LOADS.
. /settings
ok() { echo "ok $*"; }
bad() { echo "FAILED $*"; }
# value of a name in the last ktrace/check line of a file
get() { tr ' ' '\n' < "$2" | grep -A1 -x "$1" | tail -n 1; }
load() { insmod /memtrace.ko || bad "insmod"; }
unload() { rmmod memtrace || bad "rmmod"; }
# the kernel's complaints since the last call, see log.awk
clean() {
	dmesg -c > /tmp/dmesg
	rm -f /tmp/others
	awk -v others=/tmp/others -f /log.awk /tmp/dmesg > /tmp/splats
	[ ! -s /tmp/others ] || echo "note: $(cat /tmp/others) data races of the kernel without the module, after $*"
	if [ -s /tmp/splats ]; then bad "kernel log after $*"; head -n 40 /tmp/splats; fi
}
# what nobody points to any more; of a kernel that looks for it
leaks() {
	[ -w /sys/kernel/debug/kmemleak ] || return
	sleep 6		# younger objects are not told
	echo scan > /sys/kernel/debug/kmemleak
	echo scan > /sys/kernel/debug/kmemleak
	cat /sys/kernel/debug/kmemleak > /tmp/leaks
	echo clear > /sys/kernel/debug/kmemleak
	if [ -s /tmp/leaks ]; then bad "memory is lost after $*"; head -n 60 /tmp/leaks; else ok "no memory is lost after $*"; fi
	dmesg -c > /dev/null
}
# truth NAME INTERVAL KTRACE-OPTIONS -- truth options: every page in its interval
truth() {
	name="$1 at $2 ms"; ms=$2; shift 2; opts=; while [ "$1" != -- ]; do opts="$opts $1"; shift; done; shift
	rm -f /tmp/raw /tmp/truth.log
	load
	if ktrace -i "$ms" -f $opts -o /tmp/raw truth -o /tmp/truth.log "$@" > /tmp/run.log 2>&1 &&
	   check /tmp/raw /tmp/truth.log > /tmp/check.log 2>&1 &&
	   [ "$(get pairs /tmp/check.log)" -gt 300 ] && [ -z "$(get dropped /tmp/run.log)" ]; then
		ok "$name: $(tail -n 1 /tmp/check.log)"
	else
		bad "$name"; cat /tmp/run.log /tmp/check.log
	fi
	grep -q '^truth overflow' /tmp/run.log && echo "note: $(grep '^truth overflow' /tmp/run.log)"
	unload
	clean "$name"
}
# until the program runs, at most 120 s
running() { n=0; until pidof "$1" > /dev/null; do n=$((n + 1)); [ $n -gt 1200 ] && return 1; usleep 100000; done; }
at_least() { # NAME FILE LIMIT WHAT
	v=$(get "$1" "$2"); v=${v%\%}
	if awk "BEGIN { exit !($v >= $3) }"; then ok "$4: $1 $v"; else bad "$4: $1 $v, expected at least $3"; fi
}

dmesg -c > /dev/null
[ ! -w /sys/kernel/debug/kcsan ] || { echo on > /sys/kernel/debug/kcsan; echo "note: the kernel looks for data races"; }
[ ! -w /sys/kernel/debug/kmemleak ] || { echo scan=off > /sys/kernel/debug/kmemleak; echo scan > /sys/kernel/debug/kmemleak; echo clear > /sys/kernel/debug/kmemleak; }
part() { case " $PARTS " in *" $1 "*) echo "-- $1, $(cut -d. -f1 /proc/uptime) s"; return 0;; esac; return 1; }

if part interface; then
	load
	set -- $(ls -l /dev/memtrace)
	[ "$1" = crw------- ] && ok "device is root's: $1" || bad "device mode $1"
	if exact > /tmp/exact.log 2>&1; then ok "$(tail -n 1 /tmp/exact.log)"; else bad exact; cat /tmp/exact.log; fi
	unload
	clean interface
	leaks interface
fi

if part brief; then	# of the oldest kernel: where it differs from the others
	truth "file" 50 -w -- -w file -s 1.5
	at_least writes_found /tmp/check.log 99 "write tracking, shared file"
	truth "fork" 20 -- -w fork -s 3
	load
	if ktrace -i 20 -w stress paths 1 > /tmp/stress.log 2>&1; then ok "paths of the kernel: $(tail -n 1 /tmp/stress.log | cut -c1-300)"
	else bad "paths"; cat /tmp/stress.log; fi
	unload
	clean brief
fi

if part truth; then
	truth "private linear" 50 -- -w linear -s 1.5
	truth "private linear, write tracking" 20 -w -- -w linear -s 1.5
	at_least writes_found /tmp/check.log 99 "write tracking"
	truth "shared random" 50 -w -- -w random -s 1.5
	truth "shared random" 20 -- -w random -s 1.5
	truth "neighbour" 50 -- -w neighbour -s 1.5
	truth "read then write" 50 -w -- -w readwrite -s 1.5
	at_least writes_found /tmp/check.log 99 "write tracking"
	truth "fork" 20 -- -w fork -s 4
	truth "mremap" 20 -- -w mremap -s 4
	truth "file" 50 -w -- -w file -s 1.5
	at_least writes_found /tmp/check.log 99 "write tracking, shared file"
	truth "sparse" 50 -- -w sparse -s 1.5
	truth "shared, 5 subphases" 50 -s 5 -- -w shared -p 256 -s 2
	cp /tmp/check.log /tmp/check5.log
	truth "shared, 1 subphase" 50 -- -w shared -p 256 -s 2
	one=$(get threads /tmp/check.log) five=$(get threads /tmp/check5.log)
	if awk "BEGIN { exit !(${five%\%} > ${one%\%}) }"; then ok "subphases see more threads: $one, then $five"
	else bad "subphases: threads seen $one with one, $five with five"; fi
	# subphases that spare pages: the other threads are seen as before, and a thread's own pages cost less
	truth "shared, 5 sparing subphases" 50 -s 5 -a -- -w shared -p 256 -s 2
	spare=$(get threads /tmp/check.log)
	if awk "BEGIN { exit !(${spare%\%} > ${one%\%}) }"; then ok "sparing subphases see more threads than one: $one, then $spare, all of them $five"
	else bad "sparing subphases: threads seen $one with one, $spare with five"; fi
	truth "private linear, 5 sparing subphases, write tracking" 50 -s 5 -w -a -- -w linear -s 1.5
	at_least writes_found /tmp/check.log 99 "write tracking, sparing"
	at_least spared /tmp/run.log 1000 "pages spared"
fi

swap() {
	grep -q ram0 /proc/swaps && return
	[ -e /brd.ko ] && insmod /brd.ko rd_nr=1 rd_size=131072
	[ -e /dev/ram0 ] && mkswap /dev/ram0 > /dev/null && swapon /dev/ram0 && ok "swap is on"
}

if part reclaim; then	# the working set stays in memory, with a recording as without
	swap
	mkdir -p /tmp/cgroup
	mount -t cgroup2 cgroup2 /tmp/cgroup 2> /dev/null
	echo +memory > /tmp/cgroup/cgroup.subtree_control
	mkdir -p /tmp/cgroup/small
	echo $((12 << 20)) > /tmp/cgroup/small/memory.max
	confined() { sh -c 'echo $$ > /tmp/cgroup/small/cgroup.procs; exec "$@"' sh "$@"; }
	load
	native=0
	# the memory of a session is the cgroup's: more than it may have is refused, nobody is killed for it
	if confined ktrace -b 4096 true > /tmp/reclaim.log 2>&1 || ! grep -q 'configure (Cannot allocate memory)' /tmp/reclaim.log; then
		bad "16 MiB of records in a cgroup of 12"; cat /tmp/reclaim.log
	else ok "16 MiB of records in a cgroup of 12 are refused"; fi
	[ "$(sed -n 's/^oom_kill //p' /tmp/cgroup/small/memory.events)" = 0 ] || bad "somebody was killed for the memory of a session"
	# the accessed bits, which reclaim, DAMON and idle page tracking read: as the program set them
	for how in "reclaim referenced" "ktrace -i 20 -s 2 -w reclaim referenced recorded" "ktrace -i 20 reclaim referenced recorded"; do
		$how > /tmp/reclaim.log 2>&1
		if grep -q '^referenced: pages 1024 touched 1024 cleared 0 again 512$' /tmp/reclaim.log; then
			ok "accessed bits, $how: $(grep ^referenced: /tmp/reclaim.log)"
		else bad "accessed bits, $how"; cat /tmp/reclaim.log; fi
	done
	# A working set beside a stream, in little memory: the data stay right. How often the
	# working set is read from swap is a note: the same accesses in the same order give 1,284
	# to 4,540 major faults natively, 649 to 4,965 recorded (6.12, multi-generational LRU).
	# What a session needs comes on top, so that the program has the same memory in both.
	now=/tmp/cgroup/small/memory.current
	session=$(($(confined ktrace -i 50 -s 2 -w -b 512 cat $now 2> /dev/null | head -n 1) - $(confined cat $now)))
	for how in native "ktrace -i 50 -s 2 -w -b 512"; do
		[ "$how" = native ] || echo $(((12 << 20) + session)) > /tmp/cgroup/small/memory.max
		if confined $([ "$how" = native ] || echo $how) reclaim 4 16 4 > /tmp/reclaim.log 2>&1 &&
		   [ "$(get cold_major /tmp/reclaim.log)" -gt 1000 ]; then
			ok "data under pressure, $how"
			echo "note: $(grep ^reclaim: /tmp/reclaim.log)"
		else bad "data under pressure, $how"; cat /tmp/reclaim.log; fi
	done
	unload
	clean reclaim
fi

if part stress; then
	swap
	echo 1 > /sys/kernel/mm/ksm/run; echo 1000 > /sys/kernel/mm/ksm/pages_to_scan; echo 20 > /sys/kernel/mm/ksm/sleep_millisecs
	load
	for mode in "-i 20 -w" "-i 20 -s 4"; do
		if ktrace $mode stress paths 1 > /tmp/stress.log 2>&1; then ok "paths of the kernel, $mode: $(tail -n 1 /tmp/stress.log | cut -c1-600)"
		else bad "paths, $mode"; cat /tmp/stress.log; fi
		if ktrace $mode stress storm 4 > /tmp/stress.log 2>&1; then ok "storm of mappings, $mode: $(head -n 1 /tmp/stress.log)"
		else bad "storm, $mode"; cat /tmp/stress.log; fi
	done
	clean "paths and storm"
	if ktrace -i 20 stress processes 150 > /tmp/stress.log 2>&1 && [ -z "$(get dropped /tmp/stress.log)" ]; then ok "150 processes"
	else bad "150 processes"; cat /tmp/stress.log; fi
	if ktrace -i 20 -b 6 stress alive 2 > /tmp/stress.log 2>&1 && [ "$(get dropped /tmp/stress.log)" -gt 0 ]; then
		ok "a pool of 6 blocks: $(get dropped /tmp/stress.log) dropped, the program is right"
	else bad "pool of 6 blocks"; cat /tmp/stress.log; fi
	unload
	clean "processes and pool"
	grep -E '^pswp' /proc/vmstat | tr '\n' ' '; echo
fi

if part kill; then
	load
	# the program is killed
	for i in 1 2 3; do
		ktrace -i 20 -w stress alive 30 > /tmp/k.log 2>&1 & k=$!
		running stress; usleep ${i}00000; sleep 1; kill -9 $(pidof stress) 2> /dev/null; wait $k; rc=$?
		[ $rc = 137 ] && ok "SIGKILL of the program" || { bad "SIGKILL of the program: status $rc"; cat /tmp/k.log; }
	done
	ktrace -i 20 stress storm 30 > /tmp/k.log 2>&1 & k=$!
	running stress; sleep 2; kill -9 $(pidof stress); wait $k
	ok "SIGKILL in a storm"
	# the tracer is killed: the program goes on, everything visible again
	for i in 1 2 3; do
		rm -f /tmp/stress.stop
		ktrace -i 20 -w stress alive 60 > /tmp/k.log 2>&1 & k=$!
		running stress; usleep ${i}50000
		rmmod memtrace 2> /dev/null && bad "rmmod with an open session" || ok "rmmod refused while a session is open"
		kill -9 $k; wait $k 2> /dev/null
		n=0; until rmmod memtrace 2> /dev/null; do n=$((n + 1)); [ $n -gt 600 ] && break; usleep 100000; done
		[ $n -le 600 ] && ok "module unloaded while the program runs" || bad "module stays after SIGKILL of the tracer"
		sleep 1		# all pages once without us
		touch /tmp/stress.stop
		while pidof stress > /dev/null; do usleep 100000; done
		if [ "$(grep -c ' 0 failures' /tmp/k.log)" = 1 ] && [ "$(sed -n 's/^alive: faults of the last round //p' /tmp/k.log)" -lt 20 ]; then
			ok "the program ended well: $(head -n 1 /tmp/k.log)"
		else bad "program after SIGKILL of the tracer"; cat /tmp/k.log; dmesg | tail -n 5; fi
		load
	done
	# attach to a running process, leave it alone again
	rm -f /tmp/stress.stop
	echo always > /sys/kernel/mm/transparent_hugepage/enabled
	stress alive 300 > /tmp/a.log 2>&1 & a=$!
	sleep 1
	huge() { awk '/^AnonHugePages/ { s += $2 } END { print s + 0 }' /proc/$a/smaps; }
	before=$(huge)
	if ktrace -i 20 -p $a -d 2 > /tmp/k.log 2>&1 && [ "$(get hidden /tmp/k.log)" -gt 5000 ]; then
		ok "attached to a process: $(get records /tmp/k.log) records"; else bad "attach"; cat /tmp/k.log; fi
	after=$(huge)
	# one that somebody holds for a whole second stays, and is told
	skipped=$(get huge_skipped /tmp/k.log)
	if [ "$before" -gt 0 ] && { [ "$after" = 0 ] || [ "${skipped:-0}" -gt 0 ]; }; then ok "its huge pages were split: $before kB, $after kB left, told ${skipped:-0} times"
	else bad "huge pages: $before kB before, $after kB after the attach"; fi
	unload
	sleep 1
	touch /tmp/stress.stop
	wait $a && ok "the process ended well: $(head -n 1 /tmp/a.log)" || { bad "process after detach"; cat /tmp/a.log; }
	[ "$(sed -n 's/^alive: faults of the last round //p' /tmp/a.log)" -lt 20 ] || bad "hidden pages left after detach"
	clean kill
fi

if part hostile; then	# what users might try against the kernel, each other and recorded programs
	[ -e /fuse.ko ] && insmod /fuse.ko
	for m in $(cat /modules/order 2> /dev/null); do insmod /modules/$m.ko; done
	cp /bin/hostile /tmp/hostile.copy
	load
	/bin/hostile all 2>&1
	unload
	clean hostile
	leaks hostile
fi

if part calls; then	# the interface with random arguments and orders; where the kernel can make memory fail it does
	for f in failslab fail_page_alloc; do
		[ -d /sys/kernel/debug/$f ] && echo 0 > /sys/kernel/debug/$f/verbose
	done
	[ -d /sys/kernel/debug/failslab ] && echo N > /sys/kernel/debug/failslab/ignore-gfp-wait
	load
	calls -n $CALLS -d $CALLS_SECONDS ${SEED:+-s $SEED} 2>&1
	unload
	clean calls
	leaks calls
fi

if part reload; then
	n=0
	while [ $n -lt $LOADS ]; do
		insmod /memtrace.ko && rmmod memtrace || break
		n=$((n + 1))
	done
	[ $n = $LOADS ] && ok "loaded and unloaded $n times" || bad "load number $n"
	load
	n=0
	while [ $n -lt 40 ]; do
		ktrace -i 5 -L 5 true > /tmp/k.log 2>&1 || break
		n=$((n + 1))
	done
	[ $n = 40 ] && ok "40 sessions" || { bad "session $n"; cat /tmp/k.log; }
	unload
	clean reload
fi
# record NAME ARGUMENTS of memtrace record: keeps the trace in /tmp/traces/NAME
record() {
	name=$1; shift
	mkdir -p /tmp/traces
	memtrace record --backend kmod --max-overhead 0 -o /tmp/traces/$name "$@" > /tmp/record.out 2> /tmp/record.err
}
# manifest NAME WORD...: the manifest has each of the texts
manifest() {
	name=$1; shift
	for w; do grep -q -F -e "$w" /tmp/traces/$name/manifest.json || { bad "manifest of $name lacks $w"; cat /tmp/traces/$name/manifest.json; return; }; done
	ok "manifest of $name"
}

if part record; then
	export PATH=$PATH:/mt
	memtrace check > /tmp/check.out
	grep -q '^kmod *yes' /tmp/check.out && ok "check: kmod works" || { bad "check"; cat /tmp/check.out; }
	[ -d /sys/module/memtrace ] && bad "check has loaded the module"
	while read -r name program arguments; do
		native=$(/examples/$program $arguments 2> /dev/null)
		if record $name -i 20ms --subphases 5 -- /examples/$program $arguments && [ -n "$native" ] && [ "$(cat /tmp/record.out)" = "$native" ]; then
			ok "$program $arguments recorded: $(grep records /tmp/record.err)"
		else bad "$program $arguments"; cat /tmp/record.out /tmp/record.err; fi
	done < /examples.txt
	[ -d /sys/module/memtrace ] && bad "the module is still loaded" || ok "the module was loaded and unloaded"
	manifest naive '"name": "kmod"' '"pages": "complete"' '"writes": "exact"' '"kernel_accesses": "attributed"' '"state": "complete"' '"exit_code": 0' '"total": 0'
	# two at once: one loads it, the other finds it loaded, goes on for longer, and unloads it
	memtrace record --backend kmod -o /tmp/traces/both1 -- /examples/matmul naive -n 128 -t 2 > /tmp/both.out 2>&1 & b=$!
	n=0; until [ -c /dev/memtrace ] || [ $n -gt 2000 ]; do n=$((n + 1)); usleep 50000; done
	record both2 -- /examples/matmul naive -n 192 -t 2; rc=$?
	wait $b && [ $rc = 0 ] && ok "two recordings at once" || { bad "two recordings at once"; cat /tmp/both.out /tmp/record.err; }
	[ -d /sys/module/memtrace ] && bad "the module is still loaded after two recordings" || ok "the last one has unloaded the module"
	load		# from here on it is loaded already, and stays so
	record twenty -i 20ms --write-tracking off -- /examples/matmul naive -n 128 -t 2 || { bad "with a loaded module"; cat /tmp/record.err; }
	[ -d /sys/module/memtrace ] && ok "a module that was loaded stays" || bad "the module was unloaded"
	record tree -- /mt/tree; rc=$?
	[ $rc = 7 ] && ok "exit code of the program" || { bad "exit code $rc"; cat /tmp/record.err; }
	n=$(ls -d /tmp/traces/tree/p[0-9]* | wc -l)
	empty=$(for d in /tmp/traces/tree/p[0-9]*; do [ "$(cat $d/accesses-*.csv | wc -l)" -gt 5 ] || echo $d; done)
	[ "$n" = 3 ] && [ -z "$empty" ] && ok "a fork and an exec are images of their own, with accesses" || { bad "images: $n, empty: $empty"; ls -lR /tmp/traces/tree; cat /tmp/traces/tree/p*/image.json; }
	if record static -- /bin/truth -w linear -s 0.5 -n && [ "$(cat /tmp/traces/static/p0000/accesses-*.csv | wc -l)" -gt 1000 ]; then ok "a static program: $(grep records /tmp/record.err)"
	else bad "static program"; cat /tmp/record.out /tmp/record.err; fi
	memtrace record --backend kmod --max-overhead 0 -o /tmp/traces/none -- /nothing 2> /dev/null; rc=$?
	[ $rc = 127 ] && [ ! -e /tmp/traces/none ] && ok "no program, no trace" || bad "record of nothing: $rc"
	# a process that runs
	rm -f /tmp/stress.stop
	stress alive 900 > /tmp/a.log 2>&1 & a=$!
	sleep 1
	if memtrace record --pid $a --duration 1s -i 20ms -o /tmp/traces/pid > /tmp/record.out 2> /tmp/record.err &&
	   [ "$(cat /tmp/traces/pid/p0000/accesses-*.csv | wc -l)" -gt 5000 ]; then ok "record --pid: $(grep records /tmp/record.err)"
		[ "$(grep -c ',stress,' /tmp/traces/pid/p0000/threads.csv)" = 4 ] && ok "its threads are known" || { bad "threads of the process"; cat /tmp/traces/pid/p0000/threads.csv; }
	else bad "record --pid"; cat /tmp/record.out /tmp/record.err; fi
	sleep 1
	touch /tmp/stress.stop
	wait $a && [ "$(sed -n 's/^alive: faults of the last round //p' /tmp/a.log)" -lt 20 ] && ok "the process went on: $(head -n 1 /tmp/a.log)" || { bad "process after record --pid"; cat /tmp/a.log; }
	# a server whose workers run already
	mkdir -p /tmp/other
	rm -f /tmp/stress.stop
	sh -c 'stress alive 900 > /tmp/w1.log 2>&1 & stress alive 900 > /tmp/w2.log 2>&1 & wait' & server=$!
	sleep 1
	memtrace record --pid $server --duration 100ms -o /tmp/other/alone > /tmp/record.out 2> /tmp/record.err
	grep -q '2 processes below run already and are not recorded; --tree' /tmp/record.err && ok "children that run already are told of" || { bad "children that run already"; cat /tmp/record.err; }
	memtrace record --pid $server --tree --duration 1s -i 20ms -o /tmp/other/tree > /tmp/record.out 2> /tmp/record.err
	n=0; for d in /tmp/other/tree/p[0-9]*; do [ "$(cat $d/accesses-*.csv | wc -l)" -gt 1000 ] && grep -q 'recorded while it ran' $d/image.json && n=$((n + 1)); done
	[ $n = 2 ] && grep -q 'recording 3 processes' /tmp/record.err && ok "record --pid --tree: $(grep records /tmp/record.err)" || { bad "record --tree: $n"; cat /tmp/record.err; }
	set -- $(pidof stress)
	memtrace record --pid $1 --pid $2 --duration 500ms -i 20ms -o /tmp/other/two > /tmp/record.out 2> /tmp/record.err
	[ "$(ls -d /tmp/other/two/p[0-9]* | wc -l)" = 2 ] && ok "two processes: $(grep records /tmp/record.err)" || { bad "two processes"; cat /tmp/record.err; }
	touch /tmp/stress.stop
	wait $server
	# root by sudo: the program is the user's, and so is the trace; the module needs root
	mkdir -m 777 /tmp/other/user
	if SUDO_UID=1000 SUDO_GID=1000 memtrace record --backend kmod -o /tmp/other/user/trace -- /bin/busybox id > /tmp/record.out 2> /tmp/record.err &&
	   grep -q '^uid=1000 gid=1000' /tmp/record.out && [ "$(cat /tmp/other/user/trace/p0000/accesses-*.csv | wc -l)" -gt 20 ] &&
	   [ -z "$(find /tmp/other/user/trace ! -user 1000)" ]; then ok "sudo: the program and its trace are the user's: $(grep records /tmp/record.err)"
	else bad "sudo"; cat /tmp/record.out /tmp/record.err; ls -lnR /tmp/other/user; fi
	# more than the machine can do is told
	memtrace record --backend kmod --max-overhead 0 -i 1ms --subphases 1 -o /tmp/other/late -- /examples/matmul naive -n 128 -t 2 > /tmp/record.out 2> /tmp/record.err
	if grep -q 'intervals took longer than they should' /tmp/record.err && memtrace info /tmp/other/late | grep -q 'took longer'; then ok "late intervals: $(grep 'took longer' /tmp/record.err)"
	else bad "late intervals"; cat /tmp/record.err; fi
	rm -rf /tmp/other
	# the recorder is killed
	memtrace record --backend kmod -i 20ms -o /tmp/traces/killed -- /examples/listwalk > /tmp/record.out 2>&1 & r=$!
	n=0; while [ "$(cat /tmp/traces/killed/p0000/accesses-000000.csv 2> /dev/null | wc -l)" -lt 500 ] && [ $n -lt 1200 ]; do usleep 100000; n=$((n + 1)); done
	kill -9 $r; wait $r 2> /dev/null
	while pidof listwalk > /dev/null; do usleep 100000; done
	memtrace info /tmp/traces/killed > /tmp/info.out 2>&1 && grep -q aborted /tmp/traces/killed/manifest.json && ok "the recorder killed: trace opens" || { bad "recorder killed"; cat /tmp/info.out; }
	grep -q -i sum /tmp/record.out && ok "the program came to its end without it: $(grep -i sum /tmp/record.out)" || { bad "program after the recorder"; cat /tmp/record.out; }
	unload
	clean record
	tar -C /tmp/traces -cf - . | gzip -1 > /tmp/traces.tar.gz
	stty -F /dev/ttyS1 raw -echo 2> /dev/null
	{ printf 'BEGIN%010d' "$(wc -c < /tmp/traces.tar.gz)"; cat /tmp/traces.tar.gz; } > /dev/ttyS1
	sleep 1
fi
if part probes; then	# not with the others: what the emulation makes of code that changes
	echo 1 > /sys/kernel/rcu_expedited
	mount -t tracefs tracefs /sys/kernel/tracing 2> /dev/null
	[ ! -e /sys/kernel/tracing/kprobe_events ] || if probes kprobe 60 > /tmp/probes.log 2>&1; then ok "$(tail -n 1 /tmp/probes.log), without the module"
	else bad "probes without the module"; cat /tmp/probes.log; fi
	load
	if probes memtrace 60 > /tmp/probes.log 2>&1; then ok "$(tail -n 1 /tmp/probes.log)"; else bad "probes"; cat /tmp/probes.log; fi
	unload
	echo 0 > /sys/kernel/rcu_expedited
	clean probes
fi
if part cpus; then	# not with the others: needs a machine with 66 processors
	export PATH=$PATH:/mt
	echo 1 > /sys/devices/system/cpu/cpu65/online && ok "processor 65 runs: $(cat /sys/devices/system/cpu/online)" || bad "processor 65"
	# masks NAME: how many records there are with each mask of processors
	masks() { cat /tmp/traces/$1/p*/accesses-*.csv | awk -F, '$8 + 0 > 0 && $11 !~ /[13579bdf]/ { n[$5]++ } END { for (m in n) print m, n[m] }' | sort; }
	# what of it was before the program was on its processor is little
	for p in 0:1 1:2 65:20000000000000000; do
		if record on${p%:*} -- taskset -c ${p%:*} /examples/matmul naive -n 192 -t 2 &&
		   masks on${p%:*} | awk -v mask=${p#*:} '{ all += $2 } $1 == mask { its = $2 } END { exit !(its > 1000 && its > 0.8 * all) }'; then
			ok "a program on processor ${p%:*}: $(masks on${p%:*} | tr '\n' ' ')"
		else bad "a program on processor ${p%:*}"; cat /tmp/record.err; masks on${p%:*}; fi
	done
	record any -- /examples/matmul naive -n 192 -t 4
	if masks any | awk '$1 !~ /^[23]?0*[0123]?$/ { exit 1 } length($1) > 16 { high = 1 } END { exit !high }'; then
		ok "a program on processors 0, 1 and 65: $(masks any | tr '\n' ' ')"
	else bad "a program on processors 0, 1 and 65"; masks any; fi
	clean cpus
fi
if part numa; then	# not with the others: needs a machine with two nodes
	[ "$(ls -d /sys/devices/system/node/node[0-9]* | wc -l)" = 2 ] && ok "two NUMA nodes" || bad "no two NUMA nodes"
	load
	if exact > /tmp/exact.log 2>&1; then ok "two nodes: $(tail -n 1 /tmp/exact.log)"; else bad "exact on two nodes"; cat /tmp/exact.log; fi
	unload
	clean "exact on two nodes"
	counts() { grep '^numa_' /proc/vmstat; }
	for balancing in 0 1; do
		echo $balancing > /proc/sys/kernel/numa_balancing
		load
		counts > /tmp/before
		rm -f /tmp/raw /tmp/truth.log
		if ktrace -i 20 -w -f -o /tmp/raw truth -w shared -t 2 -p 2048 -s 4 -o /tmp/truth.log > /tmp/run.log 2>&1 && check /tmp/raw /tmp/truth.log > /tmp/check.log; then
			ok "numa_balancing=$balancing: $(cat /tmp/check.log)"
		else bad "numa_balancing=$balancing"; cat /tmp/run.log /tmp/check.log; fi
		counts > /tmp/after
		grown() { echo $(($(get $1 /tmp/after) - $(get $1 /tmp/before))); }
		# A hint of the kernel's is an entry that its balancer made; it skips hidden pages. While one
		# of the two threads takes a hint, the other may take it, too, so there are at most twice as
		# many hints as entries. Repaired by the kernel instead of the probe, hidden pages would be
		# hints that nobody made, by the hundred thousand. How many pages migrate is the balancer's
		# business: it grows with the time that the program takes.
		made=$(($(grown numa_pte_updates) + 512 * $(grown numa_huge_pte_updates))) hints=$(grown numa_hint_faults)
		migrated=$(grown numa_pages_migrated)
		what="numa_balancing=$balancing: $hints hints of $made that the balancer made, $migrated pages migrated"
		[ $hints -le $((2 * made + 50)) ] && [ $((balancing > 0 || migrated < 50)) = 1 ] && ok "$what" || bad "$what"
		if ktrace -i 20 -w stress storm 4 > /tmp/stress.log 2>&1 && ktrace -i 20 -w stress paths 1 >> /tmp/stress.log 2>&1; then ok "numa_balancing=$balancing: storm and paths"
		else bad "numa_balancing=$balancing: storm or paths"; cat /tmp/stress.log; fi
		unload
		clean "numa_balancing=$balancing"
	done
fi
if [ -e /proc/lockdep_stats ]; then	# a debug kernel: lockdep stops at its first report
	grep -q 'debug_locks: *1' /proc/lockdep_stats && ok "lockdep is still on" || { bad "lockdep has stopped"; grep debug_locks /proc/lockdep_stats; }
fi
if [ -r /sys/kernel/debug/kcsan ]; then	# a kernel that looks for data races: has it looked?
	n=$(sed -n 's/^setup_watchpoints: *//p' /sys/kernel/debug/kcsan)
	what="watchpoints set $n, data races $(sed -n 's/^data_races: *//p' /sys/kernel/debug/kcsan), assert failures $(sed -n 's/^assert_failures: *//p' /sys/kernel/debug/kcsan)"
	[ "${n:-0}" -gt 1000 ] && ok "data races were looked for: $what" || bad "data races were not looked for: $what"
fi
[ -e /extra.sh ] && . /extra.sh
:
