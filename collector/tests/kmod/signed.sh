#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# The module under Secure Boot: a machine with UEFI firmware whose only key is one of a test (the "snakeoil" of Debian's
# ovmf), a Debian kernel signed with it, and the module unsigned, signed with a key that nobody knows, and signed with that
# one, as DKMS signs with the key of a machine's owner. By hand.
#   signed.sh [SERIES] [WORK]      (6.1; build/kmod)
# Firmware and the tool that signs kernels are unpacked, not installed. Needs the packages of run.sh and openssl. The last
# line is "N passed, N failed".
{ # read as a whole: the script may be edited while it runs
set -eu -o pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
series=${1:-6.1} work=${2:-$top/build/kmod}
dir=$work/signed
mkdir -p "$dir/debs"
work=$(cd "$work" && pwd) dir=$(cd "$dir" && pwd)
kind=signed
. "$here/options.sh"
needs kmod openssl dpkg-deb
. "$here/kernels.sh"
v=$(newest_or_exit "$series")
alone fetch "$v"
if [ ! -e "$dir/tools/.complete" ]; then
	mkdir -p "$dir/tools"
	(cd "$dir/debs" && apt-get download -q ovmf sbsigntool > download.log 2>&1) || { cat "$dir/debs/download.log" >&2; exit 1; }
	for deb in "$dir"/debs/*.deb; do dpkg-deb -x "$deb" "$dir/tools"; done
	rm -f "$dir"/debs/*.deb
	touch "$dir/tools/.complete"
fi
share=$dir/tools/usr/share
build=$work/build-$v
alone nice make -s -C "$top/collector/module" BUILD="$build" KDIR="$work/$v/usr/src/linux-headers-$v-amd64" > "$dir/build.log" 2>&1 ||
	{ cat "$dir/build.log" >&2; exit 1; }
cp "$share/ovmf/PkKek-1-snakeoil.pem" "$dir/known.pem"
openssl rsa -passin pass:snakeoil -in "$share/ovmf/PkKek-1-snakeoil.key" -out "$dir/known.key" 2> /dev/null
[ -e "$dir/unknown.pem" ] || openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=nobody -days 36500 -keyout "$dir/unknown.key" -out "$dir/unknown.pem" 2> /dev/null
"$dir/tools/usr/bin/sbsign" --key "$dir/known.key" --cert "$dir/known.pem" --output "$dir/vmlinuz" "$work/$v/boot/vmlinuz-$v-amd64" > "$dir/sbsign.log" 2>&1 ||
	{ cat "$dir/sbsign.log" >&2; exit 1; }

root=$dir/root
rm -rf "$root"
mkdir -p "$root/bin"
for p in ktrace truth; do
	nice gcc -O2 -Wall -Wextra -Werror -std=gnu11 -D_GNU_SOURCE -I"$top/collector" -I"$top/collector/common" -static -o "$root/bin/$p" "$here/$p.c" -lpthread
done
strip -g -o "$root/unsigned.ko" "$build/memtrace.ko"
sign=$(find "$work/$v" -path '*/scripts/sign-file' | head -n 1)
for k in known unknown; do "$sign" sha256 "$dir/$k.key" "$dir/$k.pem" "$root/unsigned.ko" "$root/$k.ko"; done
cat > "$root/start.sh" <<'GUEST'
ok() { echo "ok $*"; }
bad() { echo "FAILED $*"; }
mount -t securityfs security /sys/kernel/security
if dmesg | grep -qi 'secure *boot enabled'; then ok "Secure Boot: $(dmesg | grep -i 'secure *boot enabled' | head -n 1)"
else bad "no Secure Boot"; dmesg | grep -i secure; fi
grep -q '\[integrity\]' /sys/kernel/security/lockdown && ok "lockdown: $(cat /sys/kernel/security/lockdown)" || bad "lockdown: $(cat /sys/kernel/security/lockdown)"
for k in unsigned unknown; do
	if insmod /$k.ko 2> /tmp/err; then bad "a module that is $k was loaded"; rmmod memtrace
	else ok "a module that is $k is refused: $(cat /tmp/err)"; fi
done
if insmod /known.ko 2> /tmp/err; then ok "a module signed with the machine's key is loaded: $(cat /sys/module/memtrace/version), taint $(cat /sys/module/memtrace/taint)"
else bad "a module signed with the machine's key: $(cat /tmp/err)"; dmesg | tail; fi
if ktrace -i 20 -o /tmp/raw truth -w linear -t 2 -s 1 -o /tmp/truth.log > /tmp/run.log 2>&1; then ok "and records: $(grep ^ktrace /tmp/run.log | cut -c1-200)"
else bad "recording"; cat /tmp/run.log; fi
rmmod memtrace || bad "rmmod"
GUEST
prepare_machines
cp "$share/OVMF/OVMF_VARS_4M.snakeoil.fd" "$dir/vars.fd"
log=$dir/log
VM_CPU=max,la57=off VM_CPUS=2 VM_SECONDS=${VM_SECONDS:-1800} \
	VM_ARGS="-machine q35,smm=on -nic none -global driver=cfi.pflash01,property=secure,value=on
	-drive if=pflash,format=raw,unit=0,readonly=on,file=$share/OVMF/OVMF_CODE_4M.secboot.fd
	-drive if=pflash,format=raw,unit=1,file=$dir/vars.fd" boot "$log" "$dir/vmlinuz" "$root" /start.sh
passed=$(grep -a -c '^ok ' "$log" || true) failed=$(grep -a -c '^FAILED ' "$log" || true)
grep -a -q '^VM-END' "$log" || { echo "FAILED the machine did not reach the end"; failed=$((failed + 1)); }
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
exit
}
