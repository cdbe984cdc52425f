#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Tests of the kernel module in virtual machines, in software emulation (no KVM).
#   run.sh --short
#   run.sh [--series "5.10 6.1 6.12"] [--parts "interface truth reclaim stress kill reload hostile calls record"] [--work DIR]
# --short builds and loads the module on the newest kernel that is here, and tries its interface.
# Unless parts are named, 6.12 gets all of them and a second machine with two NUMA nodes, 6.1
# all but "record" (user.sh records on it) and "reclaim" (two minutes), 5.10 "interface brief". KMOD_JOBS (2) machines run at once.
# --parts calls makes CALLS (100,000) random calls for at most CALLS_SECONDS (600) from SEED, not by default.
# --parts numa is a machine of its own, with two NUMA nodes; --parts probes switches
# probes on and off for two minutes; --parts cpus is a machine of 66 processors, three
# of which run. Not by default: probes, cpus. QEMU: the emulator to take; see emulator in kernels.sh.
# Kernels and headers are Debian packages, fetched by `apt-get download` and
# unpacked in the work directory; nothing is installed. Needs the packages of
# releng/packages.txt. The last line is "N passed, N failed".
set -eu -o pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
series="5.10 6.1 6.12" parts= work=$top/build/kmod
short=
[ "${1:-}" != --short ] || { short=yes; shift; }
. "$here/options.sh"
options "$@"
named=$parts
all="interface truth reclaim stress kill reload record"
[ -z "$short" ] || all="interface brief"
# machines_of VERSION: the parts of each machine with that kernel, one per line
machines_of() {
	if [ -n "$named" ]; then echo "$named"; return; fi
	if [ -n "$short" ]; then echo "$all"; return; fi
	case $1 in
	5.10.*) echo "interface brief" ;;
	6.1.*) echo "interface truth stress kill reload hostile" ;;
	*) echo "$all"; echo numa ;;
	esac
}
needs kmod "${QEMU:-qemu-system-x86_64}" /bin/busybox cpio xz make gcc python3 apt-get dpkg-deb
mkdir -p "$work/debs" "$work/bin"
work=$(cd "$work" && pwd)

. "$here/kernels.sh"

for p in ktrace truth check exact stress probes reclaim hostile calls; do
	nice gcc -O2 -Wall -Wextra -Werror -std=gnu11 -D_GNU_SOURCE -I"$top/collector" -I"$top/collector/common" -static \
		-o "$work/bin/$p" "$here/$p.c" -lpthread
done

prepare_machines
case " ${named:-$all} " in
*" record "* | *" cpus "*)
	alone nice make -s -C "$top/collector"
	alone nice make -s -C "$top/examples"
	;;
esac

passed=0 failed=0 tested=0 loads=${LOADS:-100} draw=draw	# once is enough
bad() { echo "FAILED $*"; failed=$((failed + 1)); }
count() { # output of a machine
	passed=$((passed + $(grep -a -c '^ok ' "$1" || true)))
	failed=$((failed + $(grep -a -c '^FAILED ' "$1" || true)))
	grep -a -q '^VM-END' "$1" || bad "the machine did not reach the end"
}

# machine VERSION PARTS IMAGE: what a machine is and boots; its output goes to $work/log-VERSION-FIRST-PART
machine() {
	local v=$1 parts=$2 image=$3 m ko root
	local name=$v-${parts%% *}
	root=$work/root-$name
	rm -rf "$root"
	mkdir -p "$root/bin"
	cp "$work"/bin/* "$root/bin/"
	cp "$work/build-$v/memtrace.ko" "$root/"
	strip -g "$root/memtrace.ko"
	for m in brd fuse; do
		ko=$(find "$work/$v/lib/modules" -name "$m.ko*" 2> /dev/null | head -n 1 || true)
		case $ko in
		*.xz) xz -dc "$ko" > "$root/$m.ko" ;;
		*.ko) cp "$ko" "$root/$m.ko" ;;
		esac
	done
	cp "$here/guest.sh" "$here/log.awk" "$root/"
	# the emulated processor has SVM: virtual machines in the virtual machine
	case " $parts " in *" hostile "*) [ ! -e "$work/$v/.complete" ] || host_modules "$root" "$v" kvm-amd ;; esac
	# LOADS=1000 for the whole thousand: two minutes
	{ echo "PARTS='$parts'"; echo "LOADS=$loads CALLS=${CALLS:-100000} CALLS_SECONDS=${CALLS_SECONDS:-600} SEED=${SEED:-}"; } > "$root/settings"
	case " $parts " in *" record "* | *" cpus "*) install_record "$root" "$v" ;; esac
	case "$parts" in
	numa)
		export VM_ARGS="-object memory-backend-ram,id=m0,size=1G -object memory-backend-ram,id=m1,size=1G
			-numa node,memdev=m0,cpus=0 -numa node,memdev=m1,cpus=1"
		;;
	cpus) export VM_CPUS=66 VM_APPEND="maxcpus=2" ;;
	esac
	export VM_PORT=$work/port-$name
	rm -f "$VM_PORT"
	VM_SECONDS=${VM_SECONDS:-1800} boot "$work/log-$name" "$image" "$root" /guest.sh
}

# ended VERSION PARTS: what the machine said, counted
ended() {
	local v=$1 parts=$2
	local name=$v-${parts%% *}
	local log=$work/log-$name
	echo "== kernel $v: $parts"
	cat "$work/out-$name"
	count "$log"
	case " $parts " in
	*" record "*)
		rm -rf "$work/traces-$v"
		mkdir -p "$work/traces-$v"
		if [ "$(head -c 5 "$work/port-$name")" = BEGIN ] && tail -c +16 "$work/port-$name" | tar -C "$work/traces-$v" --warning=no-timestamp -xzf -; then
			python3 "$here/picture.py" "$work/traces-$v" "$top/build" "$here/examples.txt" $draw | tee "$log.picture" || true
			draw=
			passed=$((passed + $(grep -c '^ok ' "$log.picture" || true)))
			failed=$((failed + $(grep -c '^FAILED ' "$log.picture" || true)))
		else
			bad "the traces did not come out of the machine"
		fi
		;;
	esac
}

test_series() {
	local s v image headers cc parts i running=0
	local versions=() lists=() pids=()
	# how the machines judge a kernel's log
	"$here/log-test.sh" > "$work/log-test" 2>&1 || bad "log-test.sh"
	cat "$work/log-test"
	passed=$((passed + $(grep -c '^ok ' "$work/log-test" || true)))
	failed=$((failed + $(grep -c '^FAILED ' "$work/log-test" || true)))
	# the newest first: it has the most to do
	for s in $(for s in $series; do echo "$s"; done | sort -rV); do
		[ -z "$short" ] || [ "$tested" = 0 ] || break
		if [ -n "${KMOD_IMAGE:-}" ]; then	# a kernel that was built by hand
			v=$s image=$KMOD_IMAGE headers=$KMOD_HEADERS
		else
			v=$(newest "$s")
			[ -n "$v" ] || { apt-get update -q > /dev/null 2>&1 || true; v=$(newest "$s"); }
			# each Debian release has its own kernels; one series is enough, none is not
			[ -n "$v" ] || { echo "SKIPPED: kernel $s: none in the package lists"; continue; }
			alone fetch "$v" || { bad "packages of kernel $v"; continue; }
			image=$work/$v/boot/vmlinuz-$v-amd64 headers=$work/$v/usr/src/linux-headers-$v-amd64
		fi
		tested=$((tested + 1))
		cc=()	# the compiler that an older release has built its kernel with is not here
		case $v in 5.10.*) cc=(CC=gcc) ;; esac
		alone nice make -s -C "$top/collector/module" BUILD="$work/build-$v" "${cc[@]}" \
			KDIR="$headers" EXTRA_CFLAGS=-Werror > "$work/build-$v.log" 2>&1 || {
			cat "$work/build-$v.log"
			bad "the module does not build for $v"
			continue
		}
		echo "ok the module builds without warnings for $v"
		passed=$((passed + 1))
		if [ "$tested" = 1 ] && [ -z "$named" ]; then
			if nice sh "$top/collector/module/report.sh" "$headers" > "$work/report" 2>&1 &&
			   grep -q '^declared:.*handle_mm_fault(.*struct pt_regs' "$work/report" && grep -q '^probed: #define' "$work/report"; then
				echo "ok the report on these headers: $(tail -n 1 "$work/report")"
				passed=$((passed + 1))
			else bad "the report on these headers"; cat "$work/report"; fi
		fi
		while read -r parts; do
			[ "$running" -lt "${KMOD_JOBS:-2}" ] || { wait -n || true; running=$((running - 1)); }
			echo "note: a machine with $v begins: $parts"
			machine "$v" "$parts" "$image" > "$work/out-$v-${parts%% *}" 2>&1 9>&- < /dev/null &
			pids+=($!) versions+=("$v") lists+=("$parts")
			running=$((running + 1))
		done < <(machines_of "$v")
	done
	for i in "${!pids[@]}"; do
		wait "${pids[i]}" || true
		ended "${versions[i]}" "${lists[i]}"
	done
}

# a function: the script may be edited while it runs
finish() {
	[ "$tested" -gt 0 ] || bad "no kernel was tested"
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
	exit
}
test_series; finish
