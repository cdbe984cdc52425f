#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# measure.sh [SERIES] [WORK]: costs of the kernel module in instructions. The
# machine counts them: one virtual CPU, -icount shift=0, so that one ns of its
# clock is one instruction, whatever the host does meanwhile. It knows no
# caches, no pipelines and no real TLB: see docs/measured/kernel-module.md.
# PARTS="costs latency sustained": some of it.
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
series=${1:-6.1} work=${2:-$top/build/kmod}
# builds everything and boots once
"$here/run.sh" --series "$series" --parts "interface" --work "$work"
v=$(cd "$work" && ls -d root-"$series".*-interface | sort -V | tail -n 1)
v=${v#root-}
v=${v%-interface}
root=$work/root-$v-interface
nice gcc -O2 -Wall -Wextra -Werror -std=gnu11 -D_GNU_SOURCE -I"$top/collector/common" -static -o "$root/bin/cost" "$here/cost.c" -lpthread
# the recorder's part needs no module: it is counted here, without a machine
if command -v valgrind > /dev/null; then
	sources=$(sed -n 's,^// uses: ,,p' "$top/collector/tests/unit/test_kmod_drain.c")
	(cd "$top/collector" && nice gcc -O2 -g -Wall -Wextra -Werror -std=gnu11 -D_GNU_SOURCE -I. -Icommon -I../org.memtrace.cli/commands \
		-o "$work/drain" tests/kmod/drain.c $sources $(sed -n 's/^CLI_LIBS := //p' Makefile))
	valgrind --tool=callgrind --callgrind-out-file="$work/drain.callgrind" --toggle-collect=mt_kmod_drain_feed "$work/drain" 20000 2>&1 |
		awk '/Collected/ { printf "cost: a record written by the recorder, in user space: %.0f\n", $NF / 20480 }'
fi
part() { case " ${PARTS:-costs latency sustained} " in *" $1 "*) ;; *) return 1 ;; esac; }
counted() { # SCRIPT: in a machine that counts instructions
	VM_ACCEL=tcg,thread=single VM_CPUS=1 VM_ARGS="-icount shift=0,sleep=off" VM_TSC_KHZ= VM_SECONDS=${VM_SECONDS:-1800} \
		VM_APPEND="mitigations=off nopti clearcpuid=erms,fsrm,fsrs" "$here/vm.sh" "$work/$v/boot/vmlinuz-$v-amd64" "$root" "$1"
}
cat > "$root/measure.sh" <<'GUEST'
cost real 4096 5
cost mapped 4096 5
insmod /memtrace.ko
echo "loaded, no session: $(cost real 4096 5)"
cost hidden 4096 5
cost write 4096 5
cost sweep 16384 5
cost read 4096 5
run() { # NAME ktrace options...: CPU seconds of the program
	name=$1; shift
	for w in triad gups shared; do
		s=$({ time -f %U,%S "$@" truth -w $w -t 2 -p 4096 -N $([ $w = shared ] && echo 7000 || { [ $w = triad ] && echo 150 || echo 10000; }) > /tmp/o 2>&1; } 2>&1)
		echo "slowdown $name $w: $(sed -n 's/^truth: .*, //p' /tmp/o) elapsed $(tr ' ' '\n' < /tmp/o | grep -A1 -x hidden | tail -n 1) hidden faults"
	done
}
run "untraced"
run "50ms" ktrace -i 50 -L 50 -l 0
run "50ms,writes" ktrace -i 50 -L 50 -l 0 -w
run "20ms" ktrace -i 20 -L 50 -l 0
run "20ms,writes" ktrace -i 20 -L 50 -l 0 -w
# program, monitor and reader on one processor: 3 s of the clock are 3e9 instructions
for p in 4096 16384 49152; do
	ktrace -i 150 -L 150 -l 0 -b 16384 truth -w shared -t 1 -p $p -s 3 -n > /tmp/o 2>&1
	awk -v p=$p '/^ktrace/ { for (i = 2; i < NF; i += 2) v[$i] = $(i + 1) } END {
		printf "sustained, one processor: %d pages, %d records, %d faults in 3e9 instructions, %d dropped, pool low %d\n",
			p, v["records"], v["faults"], v["dropped"], v["pool_low"] }' /tmp/o
done
rmmod memtrace
GUEST
# 3 ns of the clock are three instructions: intervals of 150 and 60 ms are the 50 and 20 ms of a processor with 3e9 instructions/s
sed -i -e 's/-i 50 /-i 150 /' -e 's/-i 20 /-i 60 /' "$root/measure.sh"
! part costs || counted /measure.sh

cat > "$root/latency.sh" <<'GUEST'
insmod /memtrace.ko
damon=; [ ! -e /sys/kernel/mm/damon/admin ] || damon=damon
for ms in 0 20 $damon; do	# 700 MiB and 400 MiB
	cost latency 179200 $ms
	cost fork 102400 $ms
	cost latency 2097152 $ms alias		# 8 GiB of entries
	cost latency 26214400 $ms sparse	# 100 GiB of addresses
done
rmmod memtrace
GUEST
! part latency || counted /latency.sh

# What a reader keeps up with, in emulation on whatever the host has left; wall clock.
cat > "$root/sustained.sh" <<'GUEST'
insmod /memtrace.ko
for p in 4096 16384 49152; do
	ktrace -i 50 -L 100 -l 0 -b 16384 truth -w shared -t 2 -p $p -s 20 -n > /tmp/o 2>&1
	awk -v p=$p '/^ktrace/ { for (i = 2; i < NF; i += 2) v[$i] = $(i + 1) } END {
		printf "sustained: %d pages per interval, %d records, %d faults in 20 s, %d dropped, pool low %d, longest end of interval %d us\n",
			p, v["records"], v["faults"], v["dropped"], v["pool_low"], v["longest_us"] }' /tmp/o
done
GUEST
part sustained || exit 0
VM_TSC_KHZ=$("$work/tsckhz") VM_SECONDS=${VM_SECONDS:-900} "$here/vm.sh" "$work/$v/boot/vmlinuz-$v-amd64" "$root" /sustained.sh
