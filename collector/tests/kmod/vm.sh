#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# vm.sh KERNEL_IMAGE DIRECTORY SCRIPT [TAG]: boots the kernel with DIRECTORY as
# its root file system (in memory) and runs SCRIPT (a path in DIRECTORY) there.
# Software emulation only. Standard output: what the machine printed. What the
# machine sends to /dev/ttyS1 lands in the file $VM_PORT, if that is set.
#   VM_CPUS, VM_MEMORY (MiB), VM_SECONDS, VM_ARGS (qemu), VM_APPEND (kernel)
#   VM_ARCH (x86_64, arm64), VM_BUSYBOX: one for that architecture
#   QEMU: another qemu-system-x86_64 than the one of the system
set -eu -o pipefail
kernel=$1 root=$2 script=$3
rm -f "$root/init"
mkdir -p "$root"/{proc,dev,sys,tmp,bin}
cp "${VM_BUSYBOX:-/bin/busybox}" "$root/bin/busybox"
cat > "$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
# a checkout below /tmp has its sources there
mv /tmp /tmp.image; mkdir /tmp
mount -t tmpfs -o size=75% tmp /tmp
cp -a /tmp.image/. /tmp/
mount -t debugfs debug /sys/kernel/debug 2>/dev/null
echo 5 > /proc/sys/kernel/printk
export PATH=/bin:/sbin:/usr/bin HOME=/tmp LC_ALL=C
echo "BOOTED $(uname -r), $(nproc) CPUs, clock $(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)"
. "@SCRIPT@"
echo VM-END
[ -d /sys/firmware/acpi ] || reboot -f	# without ACPI nobody can switch off
poweroff -f
INIT
sed -i "s,@SCRIPT@,$script," "$root/init"
chmod +x "$root/init"
initrd=$(mktemp)
trap 'rm -f "$initrd"' EXIT
(cd "$root" && find . | LC_ALL=C sort | cpio -o -H newc -R 0:0 2>/dev/null | gzip -1) > "$initrd"
# The virtual TSC is the host's. On a busy host the kernel's own calibration can be wrong
# by factors; every clock in the machine would be. And its test of the timer can fail
# ("IO-APIC + timer doesn't work"), when a virtual processor waits too long: no_timer_check.
# For the same reason a processor counts as locked after two minutes, not after 20 s: on a
# busy host one stood still for 65 s in its idle loop.
khz=${VM_TSC_KHZ:-}
port=(-serial null)
[ -z "${VM_PORT:-}" ] || port=(-serial "file:$VM_PORT")
case ${VM_ARCH:-x86_64} in
x86_64)
	machine=("${QEMU:-qemu-system-x86_64}" -machine pc -cpu "${VM_CPU:-max}")
	append="console=ttyS0 tsc=reliable no_timer_check ${khz:+tsc_early_khz=$khz}"
	;;
arm64)	# the real algorithm of pointer authentication takes most of the time
	machine=(qemu-system-aarch64 -machine virt,gic-version=3 -cpu "${VM_CPU:-max,pauth-impdef=on}")
	append="console=ttyAMA0"
	port=()
	;;
esac
timeout "${VM_SECONDS:-240}" nice "${machine[@]}" -accel "${VM_ACCEL:-tcg,thread=multi}" \
	-smp "${VM_CPUS:-2}" -m "${VM_MEMORY:-2048}" -kernel "$kernel" -initrd "$initrd" \
	-append "$append quiet panic=-1 watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=240 ${VM_APPEND:-}" \
	-display none -monitor none -serial stdio "${port[@]}" -no-reboot ${VM_ARGS:-} < /dev/null 2>&1 |
	sed -u -e 's/\r//g' -e 's/\x1b[^a-zA-Z]*[a-zA-Z]//g' -e '/^\(SeaBIOS\|iPXE\|Booting\)/d' -e '/^$/d'
