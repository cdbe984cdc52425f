#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# record --io with Debian's kernels, in a virtual machine (software emulation, ext4 on a disk of its own). By hand.
#   io.sh [SERIES...]      (6.12)      environment: WORK (build/kmod)
# The programs are those of this machine (9p, read only). ../io/io.sh records there and checks here. Needs the packages of run.sh, fio,
# the collector and the headless Java. The last line is "N passed, N failed".
{ # read as a whole: the script may be edited while it runs
set -eu -o pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
work=${WORK:-$top/build/kmod}
[ $# -gt 0 ] || set -- 6.12
mkdir -p "$work/io"
work=$(cd "$work" && pwd)
. "$here/kernels.sh"
nice make -s -C "$top/collector"
prepare_machines
passed=0 failed=0
for series; do
	v=$(newest_or_exit "$series")
	fetch "$v"
	out=$work/io/$v root=$work/io/root
	rm -rf "$out"
	mkdir -p "$out"
	truncate -s 256M "$work/io/disk"
	PATH=$PATH:/usr/sbin:/sbin mke2fs -q -F -t ext4 "$work/io/disk"
	host_guest "$root" "$v" "mkdir -p /new/run/out /new/run/disk
		for m in \$(cat /modules/order.disk); do insmod /modules/\$m.ko 2>/dev/null; done
		mount -t 9p -o trans=virtio,version=9p2000.L,msize=512000 out /new/run/out || echo 'FAILED the results'
		mount -t ext4 /dev/vda /new/run/disk || echo 'FAILED the disk'
		[ -e /new/dev/fd ] || ln -s /proc/self/fd /new/dev/fd
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp IO_FOLDER=/run/disk VERBOSE=1 \
			MEMTRACE='$top/build/collector/memtrace' chroot /new /bin/bash '$top/collector/tests/io/io.sh' record /tmp/io
		cp -r /new/tmp/io/. /new/run/out/ || echo 'FAILED the copy'"
	mv "$root/modules/order" "$root/modules/order.host"
	host_modules "$root" "$v" ext4 virtio_blk
	mv "$root/modules/order" "$root/modules/order.disk"
	mv "$root/modules/order.host" "$root/modules/order"
	VM_ARGS="$HOST_ARGS -virtfs local,path=$out,mount_tag=out,security_model=none -drive file=$work/io/disk,format=raw,if=virtio" \
		VM_CPUS=2 VM_MEMORY=2048 VM_SECONDS=${VM_SECONDS:-900} boot "$work/io/log-$v" "$work/$v/boot/vmlinuz-$v-amd64" "$root" /start.sh
	grep -a -q '^VM-END' "$work/io/log-$v" || { echo "FAILED the machine did not reach the end"; failed=$((failed + 1)); }
	failed=$((failed + $(grep -a -c '^FAILED' "$work/io/log-$v" || true)))
	VERBOSE=1 "$top/collector/tests/io/io.sh" check "$out" | tee "$work/io/check-$v" || true
	passed=$((passed + $(grep -c '^ok' "$work/io/check-$v" || true)))
	failed=$((failed + $(grep -c '^FAILED' "$work/io/check-$v" || true)))
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
exit
}
