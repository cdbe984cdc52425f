#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Tests of the kernel module in virtual machines, in software emulation (no KVM).
#   run.sh [--series "5.10 6.1 6.12"] [--parts "interface truth reclaim stress kill reload record"] [--work DIR]
# Unless parts are named, 5.10 gets "interface brief" only.
# --parts numa is a machine of its own, with two NUMA nodes; --parts probes switches
# probes on and off for two minutes; --parts cpus is a machine of 66 processors, three
# of which run. Not by default. QEMU: another emulator, see vm.sh.
# Kernels and headers are Debian packages, fetched by `apt-get download` and
# unpacked in the work directory; nothing is installed. Needs the packages of
# releng/packages.txt. The last line is "N passed, N failed".
set -eu -o pipefail
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../../.." && pwd)
series="5.10 6.1 6.12" parts= work=$top/build/kmod
. "$here/options.sh"
options "$@"
brief="interface brief"
[ -z "$parts" ] || brief=$parts
parts=${parts:-interface truth reclaim stress kill reload record}
all=$parts
needs kmod "${QEMU:-qemu-system-x86_64}" /bin/busybox cpio xz make gcc python3 apt-get dpkg-deb
mkdir -p "$work/debs" "$work/bin"
work=$(cd "$work" && pwd)

. "$here/kernels.sh"

for p in ktrace truth check exact stress probes reclaim; do
	nice gcc -O2 -Wall -Wextra -Werror -std=gnu11 -D_GNU_SOURCE -I"$top/collector/include" -I"$top/collector/lib" -static \
		-o "$work/bin/$p" "$here/$p.c" -lpthread
done

tsc_khz
case " $parts " in
*" record "* | *" cpus "*)
	nice make -s -C "$top/collector"
	nice make -s -C "$top/examples"
	nice gcc -O1 -g -Wall -Wextra -Werror -std=gnu11 -D_GNU_SOURCE -o "$work/tree" "$here/tree.c"
	;;
esac

# The commands with all that they need, below a root file system.
install_record() {
	local root=$1 f
	mkdir -p "$root/mt" "$root/examples" "$root/var/cache/memtrace" "$root/var/cache/memtrace/$2-amd64"
	cp "$top/build/collector/memtrace" "$top/build/collector/libmemtrace-preload.so" "$work/tree" "$root/mt/"
	strip -g "$root"/mt/*
	cp "$top"/build/examples/{matmul,stencil,bucketsort,falsesharing,listwalk} "$root/examples/"
	cp "$here/examples.txt" "$root/"
	# the names of structures are read from the sources
	for f in "$top"/examples/*/*.[ch]; do
		mkdir -p "$root$(dirname "$f")"
		cp "$f" "$root$f"
	done
	cp "$root/memtrace.ko" "$root/var/cache/memtrace/$2-amd64/memtrace.ko"
	for f in "$root"/mt/* "$root"/examples/*; do
		ldd "$f" | grep -o '/[^ ]*' | grep -v -F "$top"
	done | sort -u | while read -r f; do
		mkdir -p "$root$(dirname "$f")"
		cp -L "$f" "$root$f"
	done
}

passed=0 failed=0 tested=0 loads=${LOADS:-100} draw=draw	# once is enough
count() { # output of a machine
	passed=$((passed + $(grep -a -c '^ok ' "$1" || true)))
	failed=$((failed + $(grep -a -c '^FAILED ' "$1" || true)))
	if ! grep -a -q '^VM-END' "$1"; then
		echo "FAILED the machine did not reach the end"
		failed=$((failed + 1))
	fi
}

test_series() {
	for s in $series; do
		if [ -n "${KMOD_IMAGE:-}" ]; then	# a kernel that was built by hand
			v=$s image=$KMOD_IMAGE headers=$KMOD_HEADERS
		else
			v=$(newest "$s")
			[ -n "$v" ] || { apt-get update -q > /dev/null 2>&1 || true; v=$(newest "$s"); }
			# each Debian release has its own kernels; one series is enough, none is not
			[ -n "$v" ] || { echo "note: no kernel of series $s in the package lists"; continue; }
			fetch "$v" || { echo "FAILED packages of kernel $v"; failed=$((failed + 1)); continue; }
			image=$work/$v/boot/vmlinuz-$v-amd64 headers=$work/$v/usr/src/linux-headers-$v-amd64
		fi
		case $v in 5.10.*) parts=$brief ;; *) parts=$all ;; esac
		echo "== kernel $v"
		tested=$((tested + 1))
		cc=()	# the compiler that an older release has built its kernel with is not here
		case $v in 5.10.*) cc=(CC=gcc) ;; esac
		nice make -s -C "$top/collector/module" BUILD="$work/build-$v" "${cc[@]}" \
			KDIR="$headers" EXTRA_CFLAGS=-Werror > "$work/build-$v.log" 2>&1 || {
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
		brd=$(find "$work/$v/lib/modules" -name 'brd.ko*' 2> /dev/null | head -n 1 || true)
		case $brd in
		*.xz) xz -dc "$brd" > "$root/brd.ko" ;;
		*.ko) cp "$brd" "$root/brd.ko" ;;
		esac
		cp "$here/guest.sh" "$root/guest.sh"
		# LOADS=1000 for the whole thousand: two minutes
		{ echo "PARTS='$parts'"; echo "LOADS=$loads"; } > "$root/settings"
		case " $parts " in *" record "* | *" cpus "*) install_record "$root" "$v" ;; esac
		case "$parts" in
		numa)
			export VM_ARGS="-object memory-backend-ram,id=m0,size=1G -object memory-backend-ram,id=m1,size=1G
				-numa node,memdev=m0,cpus=0 -numa node,memdev=m1,cpus=1"
			;;
		cpus) export VM_CPUS=66 VM_APPEND="maxcpus=2" ;;
		esac
		log=$work/log-$v
		export VM_PORT=$work/port-$v
		rm -f "$VM_PORT"
		VM_SECONDS=${VM_SECONDS:-1800} boot "$log" "$image" "$root" /guest.sh
		count "$log"
		case " $parts " in
		*" record "*)
			rm -rf "$work/traces-$v"
			mkdir -p "$work/traces-$v"
			if [ "$(head -c 5 "$VM_PORT")" = BEGIN ] && tail -c +16 "$VM_PORT" | tar -C "$work/traces-$v" --warning=no-timestamp -xzf -; then
				python3 "$here/picture.py" "$work/traces-$v" "$top/build" "$here/examples.txt" $draw | tee "$log.picture" || true
				draw=
				passed=$((passed + $(grep -c '^ok ' "$log.picture" || true)))
				failed=$((failed + $(grep -c '^FAILED ' "$log.picture" || true)))
			else
				echo "FAILED the traces did not come out of the machine"
				failed=$((failed + 1))
			fi
			;;
		esac
	done
}

# a function: the script may be edited while it runs
finish() {
	[ "$tested" -gt 0 ] || { echo "FAILED no kernel was tested"; failed=$((failed + 1)); }
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
	exit
}
test_series; finish
