#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# DKMS of a distribution with the kernels of that distribution: a small system of each suite (debootstrap, so as root), in
# which the package memtrace-dkms is installed as an administrator would do it, looked at, and purged. By hand.
#   dkms.sh [SUITE...]      (bookworm trixie; the systems are kept in build/kmod/dkms-SUITE)
# The last line is "N passed, N failed".
{ # read as a whole: the script may be edited while it runs
set -eu -o pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
work=$top/build/kmod
[ "$(id -u)" = 0 ] || { echo "dkms.sh: debootstrap needs root" >&2; exit 2; }
command -v debootstrap > /dev/null || { echo "dkms.sh: debootstrap is not installed" >&2; exit 2; }
. "$here/mirror.sh"
mirror=$(debian_mirror)
[ $# -gt 0 ] || set -- bookworm trixie
passed=0 failed=0
ok() { echo "ok $*"; passed=$((passed + 1)); }
bad() { echo "FAILED $*"; failed=$((failed + 1)); }
mkdir -p "$work/dkms-deb"
"$top/releng/deb.sh" -o "$work/dkms-deb" memtrace-dkms > /dev/null
deb=$(ls -t "$work"/dkms-deb/memtrace-dkms_*.deb | head -n 1)
for suite; do
	system=$work/dkms-$suite
	mkdir -p "$work"
	if [ ! -e "$system/.complete" ]; then
		rm -rf "$system"
		debootstrap --variant=minbase "$suite" "$system" "$mirror" > "$work/dkms-$suite.log" 2>&1 ||
			{ tail -n 5 "$work/dkms-$suite.log" >&2; exit 1; }
		cp /etc/resolv.conf "$system/etc/" 2> /dev/null || true
		for f in /etc/apt/apt.conf.d/*proxy*; do [ ! -e "$f" ] || cp "$f" "$system/etc/apt/apt.conf.d/"; done
		mount -t proc proc "$system/proc"
		trap 'umount "$system/proc"' EXIT
		chroot "$system" sh -c 'apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends dkms linux-headers-amd64 kmod openssl' \
			>> "$work/dkms-$suite.log" 2>&1 || { tail -n 5 "$work/dkms-$suite.log" >&2; exit 1; }
		touch "$system/.complete"
	else
		mount -t proc proc "$system/proc"
		trap 'umount "$system/proc"' EXIT
	fi
	kernel=$(cd "$system/lib/modules" && ls | sort -V | tail -n 1)
	tool=$(chroot "$system" dpkg-query -W -f '${Version}' dkms)
	what="$suite, DKMS $tool, kernel $kernel"
	chroot "$system" dpkg --purge memtrace-dkms > /dev/null 2>&1 || true
	cp "$deb" "$system/memtrace-dkms.deb"
	log=$work/dkms-$suite.install
	if chroot "$system" env DEBIAN_FRONTEND=noninteractive dpkg -i /memtrace-dkms.deb > "$log" 2>&1 < /dev/null &&
	   { chroot "$system" dkms status memtrace | grep -q "$kernel.*installed" ||	# the running kernel is another one
	     chroot "$system" dkms install "$(chroot "$system" dkms status memtrace | sed 's/[:,].*//' | head -n 1)" -k "$kernel" >> "$log" 2>&1; } &&
	   chroot "$system" dkms status memtrace | grep -q "$kernel.*installed" && ! grep -q -i 'bad exit\|warning:' "$log"; then
		ok "$what: $(chroot "$system" dkms status memtrace | tail -n 1)"
	else bad "$what"; tail -n 30 "$log"; cat "$system"/var/lib/dkms/memtrace/*/build/make.log 2> /dev/null | tail -n 20; fi
	ko=$(find "$system/lib/modules/$kernel/" -name 'memtrace.ko*' | head -n 1)
	info=$(modinfo "${ko:-none}" 2> /dev/null | grep -E '^(version|author|license|signer):' | tr -s ' ' | tr '\n' ';')
	case $info in
	*version:*author:*|*author:*version:*) ok "$suite, modinfo: $info" ;;
	*) bad "$suite, modinfo: $info" ;;
	esac
	case $info in
	*signer:*) ok "$suite: DKMS has signed it with a key of its own" ;;
	*) bad "$suite: no signature" ;;
	esac
	if chroot "$system" env DEBIAN_FRONTEND=noninteractive dpkg --purge memtrace-dkms > "$log" 2>&1 < /dev/null &&
	   [ -z "$(find "$system/lib/modules" "$system/usr/src" "$system/var/lib/dkms" -name 'memtrace*')" ] && ! grep -q -i 'bad exit' "$log"; then
		ok "$suite: purging the package leaves nothing"
	else bad "$suite: purging"; cat "$log"; find "$system/lib/modules" "$system/usr/src" "$system/var/lib/dkms" -name 'memtrace*'; fi
	umount "$system/proc"
	trap - EXIT
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
exit
}
