#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# debug-kernel.sh [WORK]: a kernel with KASAN, lockdep, the checks of RCU, of page tables, of sleeping, of SLUB (poison,
# red zones), of objects and of lost memory, and with memory that fails on demand, from Debian's source package; on it the
# interface, what users might try (hostile) and random calls (calls, whose seed is printed).
#   KIND=races                            a kernel with KCSAN instead, which looks for data races; on it truth and stress, too
#   PARTS="interface truth stress kill"   others
#   CALLS, CALLS_SECONDS, SEED            how many random calls (1,000,000), at most how long (900 s), and from which seed
# A kernel is built once and kept: 15 to 60 minutes on two processors; the tests take less than 40 minutes. By hand, for a
# change of locks or page tables, not for every commit. Needs the groups kmod and kmod-debug of releng/packages.txt.
set -eu -o pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
work=${1:-$top/build/kmod}
series=${SERIES:-6.12}
kind=${KIND:-debug} parts="interface hostile calls"
case $kind in
debug)	has="KASAN PROVE_LOCKING PROVE_RCU DEBUG_ATOMIC_SLEEP DEBUG_VM PAGE_TABLE_CHECK_ENFORCED DEBUG_KMEMLEAK SLUB_DEBUG_ON DEBUG_OBJECTS" ;;
races)	has="KCSAN KCSAN_REPORT_RACE_UNKNOWN_ORIGIN" parts="interface truth stress hostile calls" ;;
*)	echo "debug-kernel.sh: KIND=debug or KIND=races" >&2; exit 2 ;;
esac
mkdir -p "$work/debug" "$work/$kind/build"
work=$(cd "$work" && pwd)
. "$here/source.sh"
kernel_source "$series" "$work/debug"	# of both kinds
cd "$work/$kind"
cat "$here/small.config" "$here/$kind.config" > config
nice -n 19 make -s -C "$work/debug/source" O="$work/$kind/build" KCONFIG_ALLCONFIG="$work/$kind/config" allnoconfig > /dev/null
for o in $has FAILSLAB NUMA_BALANCING KPROBES; do
	grep -q "^CONFIG_$o=y" build/.config || { echo "debug-kernel.sh: CONFIG_$o did not get into the configuration" >&2; exit 1; }
done
nice -n 19 make -s -j "$(nproc)" -C build bzImage modules_prepare > build.log 2>&1 || { tail -n 20 build.log; exit 1; }
# exported symbols, for the module
[ -e build/Module.symvers ] || cp build/vmlinux.symvers build/Module.symvers
rm -f build/vmlinux.unstripped
# the tables of the MP specification have one processor of each socket
export CALLS=${CALLS:-1000000} CALLS_SECONDS=${CALLS_SECONDS:-900} VM_SECONDS=${VM_SECONDS:-3600} VM_CPUS=${VM_CPUS:-2,sockets=2}
KMOD_IMAGE=$work/$kind/build/arch/x86/boot/bzImage KMOD_HEADERS=$work/$kind/build \
	"$here/run.sh" --series "$kind" --parts "${PARTS:-$parts}" --work "$work"
