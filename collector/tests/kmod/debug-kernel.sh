#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# debug-kernel.sh [WORK]: builds a kernel with KASAN, lockdep and page-table
# checks from Debian's source package and runs the tests of the module on it.
# 15 to 60 minutes on two processors; for a change of the locking or of page
# tables, not for every commit. Needs the packages of releng/packages.txt.
set -eu -o pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
work=${1:-$top/build/kmod}
series=${SERIES:-6.12}
mkdir -p "$work/debug"
work=$(cd "$work" && pwd)
cd "$work/debug"
. "$here/source.sh"
kernel_source "$series" "$work/debug"
mkdir -p build
nice -n 19 make -s -C source O="$work/debug/build" KCONFIG_ALLCONFIG="$here/debug.config" allnoconfig > /dev/null
for o in KASAN PROVE_LOCKING DEBUG_ATOMIC_SLEEP DEBUG_VM PAGE_TABLE_CHECK_ENFORCED NUMA_BALANCING KPROBES; do
	grep -q "^CONFIG_$o=y" build/.config || { echo "debug-kernel.sh: CONFIG_$o did not get into the configuration" >&2; exit 1; }
done
nice -n 19 make -s -j "$(nproc)" -C build bzImage modules_prepare > build.log 2>&1 || { tail -n 20 build.log; exit 1; }
# exported symbols, for the module
[ -e build/Module.symvers ] || cp build/vmlinux.symvers build/Module.symvers
rm -f build/vmlinux.unstripped
KMOD_IMAGE=$work/debug/build/arch/x86/boot/bzImage KMOD_HEADERS=$work/debug/build \
	"$here/run.sh" --series debug --parts "${PARTS:-interface truth stress kill}" --work "$work"
