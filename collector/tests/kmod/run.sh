#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Tests of the kernel module in virtual machines, in software emulation (no KVM).
#   run.sh [--series "6.1 6.12"] [--parts "interface truth stress kill reload record"] [--work DIR]
# Kernels and headers are Debian packages, fetched by `apt-get download` and
# unpacked in the work directory; nothing is installed. Needs the packages of
# releng/packages-kmod.txt. The last line is "N passed, N failed".
set -eu -o pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
series="6.1 6.12" parts="interface truth stress kill reload record" work=$top/build/kmod
while [ $# -gt 0 ]; do
	case $1 in
	--series) series=$2; shift 2 ;;
	--parts) parts=$2; shift 2 ;;
	--work) work=$2; shift 2 ;;
	*) echo "usage: run.sh [--series LIST] [--parts LIST] [--work DIR]" >&2; exit 2 ;;
	esac
done
for tool in qemu-system-x86_64 /bin/busybox cpio xz make gcc apt-get dpkg-deb; do
	command -v $tool > /dev/null || { echo "run.sh: $tool is missing; install the packages of releng/packages-kmod.txt" >&2; exit 2; }
done
mkdir -p "$work/debs" "$work/bin"
work=$(cd "$work" && pwd)

# newest SERIES: version string of the newest Debian kernel of a series
newest() {
	apt-cache search --names-only "^linux-headers-${1//./\\.}\\.[0-9][.+0-9a-z-]*-amd64$" | cut -d' ' -f1 |
		grep -v -E -e '-(cloud|rt)-amd64$' |
		sed -e 's/^linux-headers-//' -e 's/-amd64$//' | sort -V | tail -n 1
}

# fetch VERSION: unpacks kernel and headers into $work/VERSION
fetch() {
	local v=$1 dir=$work/$1 kbuild=linux-kbuild-$1 p
	[ -e "$dir/.complete" ] && return
	apt-cache show "$kbuild" > /dev/null 2>&1 || kbuild=linux-kbuild-${v%%.*}.$(echo "$v" | cut -d. -f2)
	rm -rf "$dir"
	mkdir -p "$dir"
	(cd "$work/debs" && apt-get download -q "linux-image-$v-amd64-unsigned" "linux-headers-$v-amd64" \
		"linux-headers-$v-common" "$kbuild" > download.log 2>&1) || { cat "$work/debs/download.log" >&2; return 1; }
	for p in "linux-image-$v-amd64-unsigned" "linux-headers-$v-amd64" "linux-headers-$v-common" "$kbuild"; do
		nice dpkg-deb -x "$(ls -t "$work/debs/${p}"_*.deb | head -n 1)" "$dir"
	done
	rm -f "$work"/debs/*.deb
	# the headers expect to be installed; and a vmlinux beside them asks for pahole
	sed -i "s,^include /usr/src/,include $dir/usr/src/," "$dir/usr/src/linux-headers-$v-amd64/Makefile"
	rm -f "$dir/usr/src/linux-headers-$v-amd64/vmlinux"
	touch "$dir/.complete"
}

for p in ktrace truth check exact stress; do
	nice gcc -O2 -Wall -Wextra -Werror -std=gnu11 -D_GNU_SOURCE -I"$top/collector/include" -static \
		-o "$work/bin/$p" "$here/$p.c" -lpthread
done

passed=0 failed=0
count() { # output of a machine
	passed=$((passed + $(grep -a -c '^ok ' "$1" || true)))
	failed=$((failed + $(grep -a -c '^FAILED ' "$1" || true)))
	if ! grep -a -q '^VM-END' "$1"; then
		echo "FAILED the machine did not reach the end"
		failed=$((failed + 1))
	fi
}

for s in $series; do
	v=$(newest "$s")
	[ -n "$v" ] || { apt-get update -q > /dev/null 2>&1 || true; v=$(newest "$s"); }
	[ -n "$v" ] || { echo "FAILED no kernel of series $s in the package lists"; failed=$((failed + 1)); continue; }
	fetch "$v" || { echo "FAILED packages of kernel $v"; failed=$((failed + 1)); continue; }
	echo "== kernel $v"
	nice make -s -C "$top/collector/module" BUILD="$work/build-$v" \
		KDIR="$work/$v/usr/src/linux-headers-$v-amd64" EXTRA_CFLAGS=-Werror > "$work/build-$v.log" 2>&1 || {
		cat "$work/build-$v.log"
		echo "FAILED the module does not build"
		failed=$((failed + 1))
		continue
	}
	echo "ok the module builds without warnings"
	passed=$((passed + 1))
	root=$work/root-$v
	rm -rf "$root"
	mkdir -p "$root/bin"
	cp "$work"/bin/* "$root/bin/"
	cp "$work/build-$v/memtrace.ko" "$root/"
	strip -g "$root/memtrace.ko"
	brd=$(find "$work/$v/lib/modules" -name 'brd.ko*' | head -n 1)
	case $brd in
	*.xz) xz -dc "$brd" > "$root/brd.ko" ;;
	*.ko) cp "$brd" "$root/brd.ko" ;;
	esac
	cp "$here/guest.sh" "$root/guest.sh"
	echo "PARTS='$parts'" > "$root/settings"
	log=$work/log-$v
	VM_SECONDS=${VM_SECONDS:-300} "$here/vm.sh" "$work/$v/boot/vmlinuz-$v-amd64" "$root" /guest.sh < /dev/null | tee "$log" || true
	count "$log"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
