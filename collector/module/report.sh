#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: GPL-2.0-only
# report.sh KDIR: what the headers in KDIR have of what the module needs, and whether it
# builds with them. For kernels of distributions that the tests do not reach: the output is to
# be sent. It has no names of users or machines. Exit code 0: it builds without a warning.
dir=${1:?usage: report.sh KDIR}
here=$(dirname "$(readlink -f "$0")")
[ -e "$dir/Makefile" ] || { echo "report.sh: no kernel headers in $dir" >&2; exit 2; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
echo "memtrace module report 1, sources $(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' "$here/dkms.conf")"
echo "kernel $(cat "$dir/include/config/kernel.release" 2> /dev/null || echo unknown)"
sed -n 's/^PRETTY_NAME=/system /p' /etc/os-release 2> /dev/null
config=$dir/.config
[ -e "$config" ] || config=$dir/include/config/auto.conf
for o in X86_64 ARM64 KPROBES KPROBES_ON_FTRACE TRACEPOINTS NUMA_BALANCING MODULES PREEMPT_RT PREEMPT_DYNAMIC PREEMPT_NONE \
	PREEMPT_VOLUNTARY PARAVIRT_XXL XEN_PV LRU_GEN PER_VMA_LOCK PAGE_TABLE_CHECK CFI_CLANG MODVERSIONS CC_VERSION_TEXT; do
	grep "^CONFIG_$o=" "$config" || echo "no CONFIG_$o"
done
# interfaces that have changed between kernels, as the headers have them
common=$(sed -n 's,^include \(.*\)/Makefile$,\1,p' "$dir/Makefile" | head -n 1)	# Debian and SUSE have two folders
for s in handle_mm_fault filemap_map_pages find_vma mmap_read_trylock; do
	for d in "$dir" "$dir/source" "$common"; do
		[ ! -d "$d/include/linux" ] || cat "$d"/include/linux/mm.h "$d"/include/linux/mmap_lock.h 2> /dev/null
	done | grep -A 4 -E "^[a-z].*[ *]$s\(" |
		awk -v s="$s" '{ gsub(/[ \t]+/, " "); text = text $0 } /[;{]/ { sub(/ ?[;{].*/, "", text); print "declared:" text; exit }'
done
make -s -C "$here" BUILD="$work/build" KDIR="$dir" EXTRA_CFLAGS=-Werror > "$work/log" 2>&1
status=$?
if [ -e "$work/build/probed.h" ]; then sed -e 's/^/probed: /' -e '1s/ [^ ]*gcc/ gcc/' "$work/build/probed.h"
else echo "probed: nothing"; fi
if [ $status = 0 ] && [ -e "$work/build/memtrace.ko" ]; then
	echo "build: without a warning"
else
	status=1
	echo "build: failed"
	sed -e "s,$work/build/,,g" -e "s,$dir/,,g" "$work/log" | grep -E -A 3 'error|Error|warning|undefined|memtrace:' | head -n 60
fi
exit $status
