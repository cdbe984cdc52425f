#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Tests of the kernel module on arm64: cross-compiled, run in qemu-system-aarch64.
#   arm64.sh [--series "6.1 6.12"] [--parts "interface truth stress kill reload"] [--work DIR]
# The parts are those of run.sh without the command, which is for x86-64 only.
# Needs the packages "kmod" and "kmod-arm64" of releng/packages.txt.
# The last line is "N passed, N failed".
{ # read as a whole: the script may be edited while it runs
set -eu -o pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
series="6.1 6.12" parts="interface truth stress kill reload" work=$top/build/kmod
. "$here/options.sh"
options "$@"
needs "kmod and kmod-arm64" qemu-system-aarch64 aarch64-linux-gnu-gcc cpio make apt-get dpkg-deb
mkdir -p "$work/debs" "$work/arm64/bin"
work=$(cd "$work" && pwd)
. "$here/kernels.sh"

cross=aarch64-linux-gnu-
for p in ktrace truth check exact stress; do
	nice ${cross}gcc -O2 -Wall -Wextra -Werror -std=gnu11 -D_GNU_SOURCE -I"$top/collector" -I"$top/collector/common" -static \
		-o "$work/arm64/bin/$p" "$here/$p.c" -lpthread
done
if [ ! -e "$work/arm64/busybox" ]; then
	lists arm64
	(cd "$work/debs" && apt-get "${foreign[@]}" download -q busybox-static > download.log 2>&1) || { cat "$work/debs/download.log" >&2; exit 1; }
	dpkg-deb -x "$work"/debs/busybox-static_*_arm64.deb "$work/arm64/unpacked"
	install -m 755 "$(find "$work/arm64/unpacked" -path "*bin/busybox" -type f | head -n 1)" "$work/arm64/busybox"
	rm -rf "$work"/debs/busybox-static_*.deb "$work/arm64/unpacked"
fi

passed=0 failed=0
for s in $series; do
	v=$(newest "$s" arm64)
	[ -n "$v" ] || { echo "FAILED no kernel of series $s in the package lists"; failed=$((failed + 1)); continue; }
	fetch "$v" arm64 || { echo "FAILED packages of kernel $v"; failed=$((failed + 1)); continue; }
	t=$(tree "$v" arm64)
	echo "== kernel $v, arm64"
	nice make -s -j2 -C "$top/collector/module" BUILD="$work/build-arm64-$v" KDIR="$t/usr/src/linux-headers-$v-arm64" \
		ARCH=arm64 CROSS_COMPILE=$cross EXTRA_CFLAGS=-Werror > "$work/build-arm64-$v.log" 2>&1 ||
		{ cat "$work/build-arm64-$v.log"; echo "FAILED the module does not build"; failed=$((failed + 1)); continue; }
	echo "ok the module builds without warnings"
	passed=$((passed + 1))
	root=$work/root-arm64-$v
	rm -rf "$root"
	mkdir -p "$root/bin"
	cp "$work"/arm64/bin/* "$root/bin/"
	cp "$work/build-arm64-$v/memtrace.ko" "$here/guest.sh" "$here/log.awk" "$root/"
	${cross}strip -g "$root/memtrace.ko"
	brd=$(find "$t/lib/modules" -name 'brd.ko*' | head -n 1)
	case $brd in
	*.xz) xz -dc "$brd" > "$root/brd.ko" ;;
	*.ko) cp "$brd" "$root/brd.ko" ;;
	esac
	{ echo "PARTS='$parts'"; echo "LOADS=${LOADS:-100}"; } > "$root/settings"
	log=$work/log-arm64-$v
	VM_ARCH=arm64 VM_BUSYBOX=$work/arm64/busybox VM_SECONDS=${VM_SECONDS:-900} \
		"$here/vm.sh" "$t/boot/vmlinuz-$v-arm64" "$root" /guest.sh < /dev/null | tee "$log" || true
	passed=$((passed + $(grep -a -c '^ok ' "$log" || true)))
	failed=$((failed + $(grep -a -c '^FAILED ' "$log" || true)))
	grep -a -q '^VM-END' "$log" || { echo "FAILED the machine did not reach the end"; failed=$((failed + 1)); }
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
exit
}
