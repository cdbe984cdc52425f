#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# The way of a user to the module: a machine with headers and a compiler but
# without the module; `memtrace record --backend kmod` builds it, loads it,
# records, unloads it. What is said when something is missing; DKMS; the device
# rule; lockdown.
#   user.sh [--quick] [SERIES] [WORK]      (6.1, else 6.12; build/kmod)
# --quick builds nothing in the machine: 45 s instead of 5 min.
# The machine boots Debian's kernel with the root file system of this one,
# which it cannot change (9p, read only, below a file system in memory), and
# without network. dkms and udev are unpacked, not installed. Needs the
# packages of run.sh. The last line is "N passed, N failed".
{ # read as a whole: the script may be edited while it runs
set -eu -o pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
parts=all
[ "${1:-}" != --quick ] || { parts=quick; shift; }
series=${1:-6.1 6.12} work=${2:-$top/build/kmod}
mkdir -p "$work/debs" "$work/user"
work=$(cd "$work" && pwd)
kind=user
. "$here/kernels.sh"

# each Debian release has its own kernels
find_kernel() {
	for s in $series; do
		v=$(newest "$s")
		[ -z "$v" ] || return 0
	done
}
find_kernel
[ -n "$v" ] || { apt-get update -q > /dev/null 2>&1 || true; find_kernel; }
[ -n "$v" ] || { echo "user.sh: no kernel of series $series in the package lists" >&2; exit 2; }
alone fetch "$v"

# dkms and udev, with what this machine may lack of them
tools=$work/user/tools
if [ ! -e "$tools/.complete" ]; then
	rm -rf "$tools" "$work/user/raw"
	mkdir -p "$tools/usr" "$work/user/raw"
	more=
	! apt-cache show libsystemd-shared > /dev/null 2>&1 || more=libsystemd-shared	# Debian 13
	mkdir -p "$work/user/debs"
	(cd "$work/user/debs" && apt-get download -q $more dkms udev libkmod2 libudev1 libacl1 libblkid1 kmod > download.log 2>&1) || { cat "$work/user/debs/download.log" >&2; exit 1; }
	for p in "$work"/user/debs/*.deb; do dpkg-deb -x "$p" "$work/user/raw"; done
	rm -f "$work"/user/debs/*.deb
	# the root file system has /bin, /lib and /sbin as links into /usr
	for d in bin sbin lib; do
		[ ! -d "$work/user/raw/$d" ] || { mkdir -p "$work/user/raw/usr/$d"; cp -a "$work/user/raw/$d/." "$work/user/raw/usr/$d/"; rm -r "$work/user/raw/$d"; }
	done
	cp -a "$work/user/raw/." "$tools/"
	touch "$tools/.complete"
fi

# the product, as `make install` leaves it; a module of another version of the interface
alone nice make -s -C "$top/collector"
alone nice make -s -C "$top/examples"
stage=$work/user/stage
rm -rf "$stage" "$work/user/other" "$work/user/installed"
make -s -C "$top/collector" install DESTDIR="$stage"
make -s -C "$top/collector/module" sources TO="$work/user/other"
sed -i 's/^#define MEMTRACE_ABI_MAJOR.*/#define MEMTRACE_ABI_MAJOR 99/' "$work/user/other/include/memtrace/abi.h"
sed -i 's/^PACKAGE_VERSION="[0-9]*\./PACKAGE_VERSION="99./' "$work/user/other/dkms.conf"
build() { # ARGUMENTS of make
	nice make -s -j2 "$@" KDIR="$work/$v/usr/src/linux-headers-$v-amd64" > "$work/user/build.log" 2>&1 || { cat "$work/user/build.log" >&2; exit 1; }
}
build -C "$work/user/other"
alone build -C "$top/collector/module" BUILD="$work/build-$v"		# run.sh has it already
mkdir -p "$work/user/installed" "$work/user/deb"
[ $parts != all ] || "$top/releng/deb.sh" -o "$work/user/deb" memtrace-dkms
cp "$work/build-$v/memtrace.ko" "$work/user/installed/"

root=$work/user/root
rm -rf "$root"
host_modules "$root" "$v" virtio_pci 9pnet_virtio 9p overlay
cat > "$root/start.sh" <<GUEST
for m in \$(cat /modules/order); do insmod /modules/\$m.ko; done
for d in host stage tools; do
	mkdir -p /\$d
	mount -t 9p -o ro,trans=virtio,version=9p2000.L,cache=loose,msize=512000 \$d /\$d || echo "FAILED the file system \$d"
done
mkdir -p /upper /new
mount -t tmpfs -o size=80% upper /upper
mkdir -p /upper/data /upper/work
mount -t overlay -o lowerdir=/stage:/tools:/host,upperdir=/upper/data,workdir=/upper/work root /new || echo "FAILED the root file system"
for d in proc sys dev; do mount --rbind /\$d /new/\$d; done
mount -t securityfs security /new/sys/kernel/security
mount -t tmpfs tmpfs /new/run
exec 3>&1
WORK='$work' TOP='$top' V='$v' PARTS=$parts chroot /new /bin/bash '$here/user-guest.sh'
GUEST
log=$work/user/log
prepare_machines
shares="-nic none"
for d in host=/ stage="$stage" tools="$tools"; do
	shares+=" -virtfs local,path=${d#*=},mount_tag=${d%%=*},security_model=none,readonly=on,multidevs=remap"
done
VM_ARGS=$shares VM_CPUS=2 VM_MEMORY=3072 \
	VM_SECONDS=${VM_SECONDS:-1800} boot "$log" "$work/$v/boot/vmlinuz-$v-amd64" "$root" /start.sh
passed=$(grep -a -c '^ok ' "$log" || true) failed=$(grep -a -c '^FAILED ' "$log" || true)
grep -a -q '^VM-END' "$log" || { echo "FAILED the machine did not reach the end"; failed=$((failed + 1)); }
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
exit
}
