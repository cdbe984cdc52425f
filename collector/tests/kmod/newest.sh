#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Tests of the kernel module on the newest kernel that Debian offers: the module
# is built in a small system of that suite (debootstrap, so as root), since
# headers and compiler of a newer suite do not run here, and run as by run.sh.
#   newest.sh [--suite trixie-backports] [--series 7] [--parts "interface truth stress kill"] [--work DIR]
# The last line is "N passed, N failed".
{ # read as a whole: the script may be edited while it runs
set -eu -o pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
suite=trixie-backports series= parts="interface truth stress kill" work=$top/build/kmod
while [ $# -gt 0 ]; do
	case $1 in
	--suite) suite=$2; shift 2 ;;
	--series) series=$2; shift 2 ;;
	--parts) parts=$2; shift 2 ;;
	--work) work=$2; shift 2 ;;
	*) echo "usage: newest.sh [--suite SUITE] [--series N] [--parts LIST] [--work DIR]" >&2; exit 2 ;;
	esac
done
[ "$(id -u)" = 0 ] || { echo "newest.sh: debootstrap needs root" >&2; exit 2; }
command -v debootstrap > /dev/null || { echo "newest.sh: debootstrap is not installed" >&2; exit 2; }
dir=$work/newest-$suite
mkdir -p "$dir/debs" "$work/bin"
work=$(cd "$work" && pwd)
dir=$work/newest-$suite
. "$here/kernels.sh"
mirror=$(debian_mirror)

# the package lists of that suite, beside those of the system
mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
echo "deb $mirror $suite main" > "$dir/sources.list"
apt=(-o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$dir/lists"
	-o Dir::Cache="$dir/cache" -o Dir::State::status=/dev/null -o Debug::NoLocking=1)
apt-get "${apt[@]}" update -q > "$dir/apt.log" 2>&1 || { cat "$dir/apt.log" >&2; exit 1; }
v=$(apt-cache "${apt[@]}" search --names-only "^linux-headers-${series:-[0-9]}[.0-9].*-amd64$" | cut -d' ' -f1 |
	grep -v -E -e '-(cloud|rt)-amd64$' | sed -e 's/^linux-headers-//' -e 's/-amd64$//' | sort -V | tail -n 1)
[ -n "$v" ] || { echo "newest.sh: no kernel in $suite" >&2; exit 2; }

system=$dir/system
[ -e "$system/.complete" ] || {
	rm -rf "$system"
	nice debootstrap --variant=minbase --include=gcc,make,libelf1t64 "${suite%-backports}" "$system" "$mirror" > "$dir/debootstrap.log" 2>&1 ||
		{ tail -n 5 "$dir/debootstrap.log" >&2; exit 1; }
	touch "$system/.complete"
}
tree=$dir/$v
[ -e "$tree/.complete" ] || {
	rm -rf "$tree"
	mkdir -p "$tree"
	# until 7.2 image and modules are one package
	image=linux-image-$v-amd64-unsigned modules=
	apt-cache "${apt[@]}" show "$image" > /dev/null 2>&1 || image=linux-binary-unsigned-$v-amd64 modules=linux-modules-$v-amd64
	(cd "$dir/debs" && apt-get "${apt[@]}" download -q "linux-headers-$v-amd64" "linux-headers-$v-common" "linux-kbuild-$v" $image $modules) \
		> "$dir/apt.log" 2>&1 || { cat "$dir/apt.log" >&2; exit 1; }
	for p in "$dir"/debs/linux-headers-*.deb "$dir"/debs/linux-kbuild-*.deb; do nice dpkg-deb -x "$p" "$system"; done
	for p in "$dir"/debs/linux-[bim]*.deb; do nice dpkg-deb -x "$p" "$tree"; done
	rm -f "$dir"/debs/*.deb "$system/usr/src/linux-headers-$v-amd64/vmlinux"
	touch "$tree/.complete"
}

echo "== kernel $v"
passed=0 failed=0
rm -rf "$system/module"
make -s -C "$top/collector/module" sources TO="$system/module"
mountpoint -q "$system/proc" || mount -t proc proc "$system/proc"
trap 'umount "$system/proc"' EXIT
if nice chroot "$system" make -s -j2 -C /module KDIR="/usr/src/linux-headers-$v-amd64" EXTRA_CFLAGS=-Werror > "$dir/build.log" 2>&1; then
	echo "ok the module builds without warnings"
	passed=1
else
	cat "$dir/build.log"
	echo "FAILED the module does not build"
	echo "0 passed, 1 failed"
	exit 1
fi
for p in ktrace truth check exact stress probes reclaim; do
	nice gcc -O2 -Wall -Wextra -Werror -std=gnu11 -D_GNU_SOURCE -I"$top/collector" -I"$top/collector/common" -static \
		-o "$work/bin/$p" "$here/$p.c" -lpthread
done
root=$dir/root
rm -rf "$root"
mkdir -p "$root/bin"
cp "$work"/bin/* "$root/bin/"
cp "$system/module/memtrace.ko" "$here/guest.sh" "$here/log.awk" "$root/"
strip -g "$root/memtrace.ko"
brd=$(find "$tree" -name 'brd.ko*' | head -n 1)
case $brd in
*.xz) xz -dc "$brd" > "$root/brd.ko" ;;
*.ko) cp "$brd" "$root/brd.ko" ;;
esac
{ echo "PARTS='$parts'"; echo "LOADS=${LOADS:-100}"; } > "$root/settings"
prepare_machines
log=$dir/log
VM_SECONDS=${VM_SECONDS:-900} boot "$log" "$(find "$tree" -name 'vmlinuz*' -type f | head -n 1)" "$root" /guest.sh
passed=$((passed + $(grep -a -c '^ok ' "$log" || true)))
failed=$((failed + $(grep -a -c '^FAILED ' "$log" || true)))
grep -a -q '^VM-END' "$log" || { echo "FAILED the machine did not reach the end"; failed=$((failed + 1)); }
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
exit
}
