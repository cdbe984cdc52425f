#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# What recording costs whole programs, in instructions of everything that runs while the program runs:
# program, kernel, monitor and recorder, without what the processor is idle. By hand.
#   programs.sh [--series SERIES] [--work DIR] [--parts "PROGRAM ..."]     (6.12, build/kmod, all)
# The scheduler's clock of what tasks have run (rq_cpu_time of /proc/schedstat) counts them, to the instruction.
# As in measure.sh the machine has one virtual processor and counts: one ns of its clock is one
# instruction, so "50 ms" are 50 million instructions, the third of what a processor of 3e9
# instructions per second does in that time: ratios are on the dear side. No caches, no TLB.
# Each program is recorded with the backends none and kmod, with the module loaded and the governor
# off. The last lines are a table in markdown.
set -eu -o pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
series=6.12 work=$top/build/kmod parts=
. "$here/options.sh"
options "$@"
mkdir -p "$work/debs"
work=$(cd "$work" && pwd)
. "$here/kernels.sh"
v=$(newest_or_exit "$series")
fetch "$v"
nice make -s -C "$top/collector/module" BUILD="$work/build-$v" KDIR="$work/$v/usr/src/linux-headers-$v-amd64" > "$work/build-$v.log" 2>&1 ||
	{ cat "$work/build-$v.log"; exit 1; }
nice make -s -C "$top/collector"
nice make -s -C "$top/examples"
root=$work/root-programs
rm -rf "$root"
mkdir -p "$root/bin"
cp "$work/build-$v/memtrace.ko" "$root/"
strip -g "$root/memtrace.ko"
install_record "$root" "$v"
# what tasks have run since the machine began, in instructions
cat > "$root/bin/busy" <<'BUSY'
#!/bin/busybox sh
awk '/^cpu0 / { print $8 }' /proc/schedstat
BUSY
# a program that tells when another one begins and ends
cat > "$root/bin/within" <<'WITHIN'
#!/bin/busybox sh
busy > /tmp/begins
"$@" &
p=$!
if [ -e /tmp/damon ]; then	# samples of 5 ms, sums of 50 ms, 10 to 1000 regions: its defaults but for the sums
	d=/sys/kernel/mm/damon/admin/kdamonds
	echo 1 > $d/nr_kdamonds
	echo 1 > $d/0/contexts/nr_contexts
	echo vaddr > $d/0/contexts/0/operations
	echo 50000 > $d/0/contexts/0/monitoring_attrs/intervals/aggr_us
	echo 1 > $d/0/contexts/0/targets/nr_targets
	echo $p > $d/0/contexts/0/targets/0/pid_target
	echo on > $d/0/state && touch /tmp/damon.on
fi
wait $p
[ ! -e /tmp/damon ] || echo off > $d/0/state
busy > /tmp/ends
WITHIN
chmod +x "$root/bin/within" "$root/bin/busy"
cat > "$root/list" <<'LIST'
stencil stencil parallel -n 128 -s 12 -t 2
falsesharing falsesharing packed -b 65536 -m 20 -t 2
listwalk listwalk random -n 65536 -t 2 -p 2
bucketsort bucketsort fair -t 2 -i 4
naive matmul naive -n 400 -t 2
blocked matmul blocked -n 512 -t 2
LIST
cat > "$root/programs.sh" <<GUEST
parts="$parts"
GUEST
cat >> "$root/programs.sh" <<'GUEST'
export PATH=$PATH:/mt
insmod /memtrace.ko
# the first one reads the files
memtrace record --backend none -o /tmp/trace -- /bin/true > /dev/null 2>&1
# record OPTIONS -- PROGRAM...: "WHILE-IT-RUNS ALL"
record() {
	rm -rf /tmp/trace
	begin=$(busy)
	memtrace record --max-overhead 0 -i 50ms -o /tmp/trace "$@" > /tmp/out 2> /tmp/err < /dev/null || { echo "FAILED $*"; cat /tmp/err; }
	echo $(($(cat /tmp/ends) - $(cat /tmp/begins))) $(($(busy) - begin))
}
while read -r name program arguments; do
	[ -z "$parts" ] || case " $parts " in *" $name "*) ;; *) continue ;; esac
	# memory that nobody has used before costs more (stencil 762, 575, 497, 497 million): until two runs are the same within 1 %
	before=0
	for try in 1 2 3 4 5 6; do
		none=$(record --backend none -- /bin/within /examples/$program $arguments)
		now=${none%% *}
		[ $((now * 100)) -ge $((before * 99)) ] && [ $((before * 100)) -ge $((now * 99)) ] && break
		before=$now
	done
	damon="- -"
	if [ -e /sys/kernel/mm/damon/admin ]; then
		rm -f /tmp/damon.on
		touch /tmp/damon
		damon=$(record --backend none -- /bin/within /examples/$program $arguments)
		[ -e /tmp/damon.on ] || damon="- -"
		rm /tmp/damon
	fi
	one=$(record --backend kmod --subphases 1 -- /bin/within /examples/$program $arguments)
	records=$(cat /tmp/trace/p*/accesses-*.csv | wc -l)
	five=$(record --backend kmod -- /bin/within /examples/$program $arguments)
	echo "cost: $name $none $one $five damon $damon records $records $(cat /tmp/trace/p*/accesses-*.csv | wc -l), intervals $(cat /tmp/trace/p0000/intervals.csv | wc -l)"
done < /list
rmmod memtrace
GUEST
log=$work/log-programs
VM_ACCEL=tcg,thread=single VM_CPUS=1 VM_ARGS="-icount shift=0,sleep=off" VM_TSC_KHZ= VM_SECONDS=${VM_SECONDS:-3600} \
	VM_APPEND="mitigations=off nopti" "$here/vm.sh" "$work/$v/boot/vmlinuz-$v-amd64" "$root" /programs.sh | tee "$log"
awk 'BEGIN { print "| program | million instructions, not recorded | 1 subphase | the default, 5 | with the start and the end of the recording | DAMON |"; print "|---|---|---|---|---|---|" }
	function more(a, b) { return sprintf("%+.1f %%", 100 * (a / b - 1)) }
	/^cost:/ { printf "| %s | %.0f | %s | %s | %s, %s | %s |\n", $2, $3 / 1e6, more($5, $3), more($7, $3), more($6, $4), more($8, $4),
		$10 == "-" ? "" : more($10, $3) }' "$log"
