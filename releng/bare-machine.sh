#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Runs a command of this checkout on a bare Debian: a root file system with
# nothing but the base packages, made once by debootstrap, under an overlay that
# is thrown away. For "does it work on a machine with nothing installed".
#
#   releng/bare-machine.sh [--jdk DIR] [--with DIR] [--keep] SUITE [COMMAND...]
#
#   SUITE      bookworm, trixie
#   COMMAND    default: ./memtrace demo --yes
#   --jdk DIR  a JDK that the machine has already, below /usr/lib/jvm
#   --with DIR a folder that the machine finds as /with, read only
#   --keep     go on in what the last run of this suite left
#
# Needs root and debootstrap. MIRROR: the Debian mirror. WORK: where the root
# file systems are, default /var/tmp/memtrace-bare. What is committed is tested.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=${WORK:-/var/tmp/memtrace-bare}
jdk= keep=no with=
while :; do
	case ${1:-} in
	--jdk) jdk=$2 && shift 2 ;;
	--with) with=$(readlink -f "$2") && shift 2 ;;
	--keep) keep=yes && shift ;;
	*) break ;;
	esac
done
suite=${1:?a suite is missing: bookworm or trixie}
shift
[ $# -gt 0 ] || set -- ./memtrace demo --yes
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
	echo "bare-machine: needs root and debootstrap (apt-get install debootstrap)" >&2
	exit 4
fi

base=$work/$suite
if [ ! -e "$base.complete" ]; then
	rm -rf "$base"
	mkdir -p "$base"
	# the mirror that this machine uses
	mirror=${MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' | grep -v security | sort | uniq -c | sort -rn | awk 'NR == 1 { print $2 }')}
	debootstrap --variant=minbase "$suite" "$base" "$mirror" >"$base.log" ||
		{ tail "$base.log" >&2; exit 1; }
	touch "$base.complete"
fi
run=$work/run-$suite
[ $keep = yes ] || rm -rf "$run"
mkdir -p "$run/upper" "$run/work" "$run/root"
rm -rf "$run/source"
git clone -q "$root" "$run/source"

export base run jdk with
exec unshare --mount --pid --fork bash -ec '
	r=$run/root
	mount -t overlay overlay -o "lowerdir=$base,upperdir=$run/upper,workdir=$run/work" "$r"
	mount -t proc proc "$r/proc"
	mount --rbind /sys "$r/sys"
	mount --rbind /dev "$r/dev"
	cp /etc/resolv.conf "$r/etc/"
	# the way to the network is that of this machine
	for f in /usr/local/share/ca-certificates /etc/apt/apt.conf.d/*proxy* /etc/apt/apt.conf.d/*registry*; do
		[ ! -e "$f" ] || { mkdir -p "$r${f%/*}" && cp -r "$f" "$r${f%/*}/"; }
	done
	if [ -n "$jdk" ]; then
		mkdir -p "$r/usr/lib/jvm/given"
		mount --bind "$jdk" "$r/usr/lib/jvm/given"
	fi
	if [ -n "$with" ]; then
		mkdir -p "$r/with"
		mount --bind -o ro "$with" "$r/with"
	fi
	rm -rf "$r/root/memtrace"
	cp -a "$run/source" "$r/root/memtrace"
	exec chroot "$r" /usr/bin/env -i HOME=/root TERM=dumb CI="${CI:-}" \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		/bin/sh -c "cd /root/memtrace && exec \"\$@\"" sh "$@" </dev/null' bash "$@"
