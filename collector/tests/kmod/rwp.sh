#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# The backend rwp on the newest kernel that Debian offers, which must be Linux 7.3 or newer: programs that log their own accesses
# are recorded in a virtual machine and compared. By hand.
#   rwp.sh [--suite trixie-backports] [--parts "check fidelity odd semantics"] [--work DIR]
# The machine boots with the root file system of this one (9p, read only). Needs the packages of run.sh, and no root. The part
# cost compares with the backend zap: one CPU whose clock counts instructions (-icount). The last line is "N passed, N failed".
{ # read as a whole: the script may be edited while it runs
set -eu -o pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
suite=trixie-backports parts="check fidelity odd semantics" work=$top/build/kmod
while [ $# -gt 0 ]; do
	case $1 in
	--suite) suite=$2; shift 2 ;;
	--parts) parts=$2; shift 2 ;;
	--work) work=$2; shift 2 ;;
	*) echo "usage: rwp.sh [--suite SUITE] [--parts LIST] [--work DIR]" >&2; exit 2 ;;
	esac
done
mkdir -p "$work/rwp/debs" "$work/rwp/lists/partial" "$work/rwp/cache/archives/partial"
work=$(cd "$work" && pwd)
kind=rwp
. "$here/kernels.sh"
dir=$work/rwp

echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(debian_mirror) $suite main" > "$dir/sources.list"
apt=(-o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$dir/lists"
	-o Dir::Cache="$dir/cache" -o Dir::State::status=/dev/null -o Debug::NoLocking=1)
[ -e "$dir/version" ] || {
	apt-get "${apt[@]}" update -q > "$dir/apt.log" 2>&1 || { cat "$dir/apt.log" >&2; exit 1; }
	apt-cache "${apt[@]}" search --names-only '^linux-binary-unsigned-[0-9].*-amd64$' | cut -d' ' -f1 | grep -v -E -e '-(cloud|rt)-amd64$' |
		sed -e 's/^linux-binary-unsigned-//' -e 's/-amd64$//' | sort -V | tail -n 1 > "$dir/version"
}
v=$(cat "$dir/version")
[ -n "$v" ] && [ "$(printf '7.3\n%s\n' "$v" | sort -V | head -n 1)" = 7.3 ] || {
	rm -f "$dir/version"
	echo "rwp.sh: no Linux 7.3 or newer in $suite" >&2
	exit 2
}
[ -e "$work/$v/.rwp" ] || {
	mkdir -p "$work/$v"
	packages=("linux-binary-unsigned-$v-amd64" "linux-modules-$v-amd64" "linux-base-$v-amd64")
	(cd "$dir/debs" && apt-get "${apt[@]}" download -q "${packages[@]}") > "$dir/apt.log" 2>&1 ||
		{ cat "$dir/apt.log" >&2; exit 1; }
	for p in "$dir"/debs/*.deb; do nice dpkg-deb -x "$p" "$work/$v"; done
	rm -f "$dir"/debs/*.deb
	[ -e "$work/$v/lib" ] || ln -s usr/lib "$work/$v/lib"
	touch "$work/$v/.rwp"
}
echo "== kernel $v"
nice make -s -C "$top/collector"
nice make -s -C "$top/collector/tests"
(cd "$top/collector" && nice make -s ../build/collector/semantics)
nice gcc -O1 -Wall -Wextra -Werror -std=gnu11 -D_GNU_SOURCE -o "$dir/odd" "$here/rwp-odd.c" -lpthread
root=$dir/root log=$dir/log
host_guest "$root" "$v" "exec 3>&1
	TOP='$top' ODD='$dir/odd' PARTS='$parts' chroot /new /bin/bash '$here/rwp-guest.sh'"
prepare_machines
args=$HOST_ARGS cpus=2
case " $parts " in *" cost "*) args="$args -icount shift=0,sleep=off" cpus=1 VM_ACCEL=tcg ;; esac
VM_ACCEL=${VM_ACCEL:-tcg,thread=multi} VM_ARGS=$args VM_CPUS=$cpus VM_MEMORY=${VM_MEMORY:-2048} VM_SECONDS=${VM_SECONDS:-1800} \
	boot "$log" "$(find "$work/$v" -name 'vmlinuz*' -type f | head -n 1)" "$root" /start.sh
passed=$(grep -a -c '^ok ' "$log" || true) failed=$(grep -a -c '^FAILED ' "$log" || true)
grep -a -q '^VM-END' "$log" || { echo "FAILED the machine did not reach the end"; failed=$((failed + 1)); }
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
exit
}
