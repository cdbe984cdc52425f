#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# The collector on arm64, from nothing: libraries and kernels of Debian's packages for arm64 are unpacked in a folder, everything
# is cross-compiled, unit tests run under qemu-aarch64, and programs are recorded in emulated machines with pages of 4 and of
# 16 KiB; the traces are compared here with what the programs logged. Run by hand: 15 minutes, on a busy machine an hour.
#   arm64.sh [--parts "build unit decoder record"] [--series "6.12 6.12-16k 6.12-64k"] [--work DIR]
# A series with "-16k" is Debian's kernel with pages of 16 KiB. One with "-64k" is built here from Debian's source, with the few parts
# of arm64-64k.config: not by default, since it takes a quarter of an hour more. One of 6.1 has no userfaultfd with write protection.
# Needs the packages of the groups "native", "kmod" and "kmod-arm64" of releng/packages.txt.
# The last line is "N passed, N failed".
{ # read as a whole: the script may be edited while it runs
set -u -o pipefail
export LC_ALL=C
tests=$(cd "$(dirname "$0")" && pwd)
here=$tests/kmod
top=$(cd "$tests/../.." && pwd)
parts="build unit decoder record" series="6.12 6.12-16k" work=$top/build/arm64
. "$here/options.sh"
. "$here/mirror.sh"
. "$here/source.sh"
options "$@"
needs "native, kmod and kmod-arm64" qemu-aarch64 qemu-system-aarch64 aarch64-linux-gnu-gcc cpio make apt-get dpkg-deb depmod
mkdir -p "$work"
work=$(cd "$work" && pwd)
passed=0 failed=0
pass() { echo "ok $*"; passed=$((passed + 1)); }
fail() { echo "FAILED $*"; failed=$((failed + 1)); }
part() { case " $parts " in *" $1 "*) ;; *) return 1 ;; esac; }

# ---- packages for arm64, unpacked; apt's state of this machine is not touched
foreign=(-q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::Lists="$work/apt/lists" -o Dir::Cache="$work/apt/cache"
	-o Dir::State::status=/dev/null -o Debug::NoLocking=1 -o Dir::Etc::SourceList="$work/apt/sources.list" -o Dir::Etc::SourceParts=/dev/null)
suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
packages() {
	[ ! -e "$work/sysroot/.complete" ] || return 0
	rm -rf "$work/apt" "$work/sysroot"
	mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/sysroot"
	printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s main\n' \
		"$(debian_mirror) $suite" "$(debian_mirror -security) $suite-security" > "$work/apt/sources.list"
	apt-get "${foreign[@]}" update &&
		apt-get "${foreign[@]}" install -y --no-install-recommends --download-only libc6-dev libcapstone-dev libdw-dev libelf-dev libiberty-dev libjansson-dev \
			libhwloc-dev libzstd-dev zlib1g-dev libgomp1 libgcc-s1 libstdc++6 busybox-static || return 1
	for deb in "$work"/apt/cache/archives/*.deb; do nice dpkg-deb -x "$deb" "$work/sysroot" || return 1; done
	rm -f "$work"/apt/cache/archives/*.deb
	touch "$work/sysroot/.complete"
}
packages > "$work/packages.log" 2>&1 || { tail -5 "$work/packages.log" >&2; echo "arm64.sh: the packages for arm64 cannot be had" >&2; exit 2; }
sysroot=$work/sysroot
cc="aarch64-linux-gnu-gcc --sysroot=$sysroot"
collector=(make -s -j2 -C "$top/collector" BUILD="$work/collector" CC="$cc" AR=aarch64-linux-gnu-ar)

if part build; then
	if "${collector[@]}" && make -s -C "$top/examples" BUILD="$work/examples" CC="$cc"; then pass "the collector and the examples build"
	else fail "the collector or the examples do not build"; fi
	make -s -C "$top/collector" && make -s -C "$tests" || fail "the collector of this machine does not build"
fi

# ---- unit tests. Left out: what user-mode emulation does not have (perf events, userfaultfd, filters of system calls, page tables; it
# adds a thread of its own to the lists of tasks), test_count, which steps by the trap flag of x86-64, and test_stacks, whose
# stacks are no longer than what is taken for a descriptor on arm64.
not_emulated="test_count test_stacks test_patch test_rawdir test_processes test_faultprobe test_perfring test_monitor test_fork test_sandbox
	test_quiet test_exec test_scan test_space"
if part unit; then
	for source in "$top"/collector/tests/unit/test_*.c; do
		name=$(basename "$source" .c)
		case " $(echo $not_emulated) " in *" $name "*) continue ;; esac
		if ! "${collector[@]}" "$work/collector/unit/$name" > "$work/unit.log" 2>&1; then
			fail "$name does not build"
			tail -5 "$work/unit.log"
		elif (cd "$top/collector" && timeout 300 nice qemu-aarch64 -L "$sysroot" "$work/collector/unit/$name") > "$work/unit.log" 2>&1; then
			pass "$name"
		else
			fail "$name"
			tail -5 "$work/unit.log"
		fi
	done
fi

if part decoder; then
	if gcc -std=gnu11 -O2 -shared -fPIC -o "$work/arm64rw.so" "$top/collector/preload/faults/arm64rw.c" &&
		python3 -B "$tests/decoder/arm64.py" --objdump aarch64-linux-gnu-objdump "$work/arm64rw.so" \
			"$sysroot"/lib/aarch64-linux-gnu/lib{c,m}.so.6 "$sysroot"/usr/lib/aarch64-linux-gnu/libstdc++.so.6; then pass "decoder"
	else fail "decoder"; fi
fi

# ---- emulated machines

# built SERIES: a kernel with pages of 64 KiB, which no package has; it needs no modules
built() {
	local dir=$work/$1-64k
	kernel_source "$1" "$dir" "${foreign[@]}" || return 1
	local make=(nice make -s -j2 -C "$dir/source" O="$dir/build" ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-)
	"${make[@]}" KCONFIG_ALLCONFIG="$here/arm64-64k.config" allnoconfig > /dev/null && grep -q '^CONFIG_ARM64_64K_PAGES=y' "$dir/build/.config" &&
		"${make[@]}" Image > "$dir/build.log" 2>&1 || { tail -n 5 "$dir/build.log" >&2; return 1; }
	kernel=$dir/build/arch/arm64/boot/Image modules= release=$1-64k
}

# kernel SERIES: unpacks the newest one; sets kernel (the image), modules (their root; empty: all is built in) and release
kernel() {
	local flavour=arm64 series=$1 name dir
	case $series in *-64k) built "${series%-64k}"; return ;; esac
	case $series in *-16k) flavour=arm64-16k series=${series%-16k} ;; esac
	name=$(apt-cache "${foreign[@]}" search --names-only "^linux-image-${series//./\\.}\\.[0-9][.+0-9a-z-]*-$flavour-unsigned$" |
		cut -d' ' -f1 | sed -E "/-(cloud|rt)-/d" | sort -V | tail -n 1)
	[ -n "$name" ] || return 1
	release=${name#linux-image-} release=${release%-unsigned} dir=$work/$release
	if [ ! -e "$dir/.complete" ]; then
		rm -rf "$dir"
		mkdir -p "$dir"
		(cd "$work" && apt-get "${foreign[@]}" download "$name") > "$work/kernel.log" 2>&1 || return 1
		nice dpkg-deb -x "$(ls "$work/${name}"_*.deb)" "$dir" || return 1
		rm -f "$work/${name}"_*.deb
		[ -e "$dir/lib" ] || ln -s usr/lib "$dir/lib"
		depmod -b "$dir" "$release"
		touch "$dir/.complete"
	fi
	kernel=$dir/boot/vmlinuz-$release modules=$dir
}

# libraries ROOT FILE...: the shared libraries that programs need, below a root file system
libraries() {
	local root=$1 f l seen=" "
	shift
	mkdir -p "$root/lib"
	cp -L "$sysroot/lib/ld-linux-aarch64.so.1" "$root/lib/"
	while [ $# -gt 0 ]; do
		f=$1
		shift
		while read -r l; do
			case $seen in *" $l "*) continue ;; esac
			seen="$seen$l "
			for dir in lib/aarch64-linux-gnu usr/lib/aarch64-linux-gnu lib; do
				[ -e "$sysroot/$dir/$l" ] || continue
				mkdir -p "$root/$dir"
				cp -L "$sysroot/$dir/$l" "$root/$dir/$l"
				set -- "$@" "$sysroot/$dir/$l"
				break
			done
		done < <(aarch64-linux-gnu-readelf -d "$f" 2> /dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
	done
}

# compare NAME OPTION...: what was recorded against what the program logged
compare() {
	local dir=$out/$1 name=$1
	shift
	if [ ! -e "$dir/trace/manifest.json" ]; then fail "$release $name: there is no trace"; return; fi
	if "$top/build/collector/tests/fidelity" "$@" "$dir/trace" "$dir"/log.* > "$dir/report" 2>&1; then pass "$release $name"
	else fail "$release $name"; fi
	grep -E 'intervals of|found|flagged|kernel|seen as shared|FAILED' "$dir/report" | sed 's/^/    /'
}

# a machine of one CPU and 1 GiB; what it records comes out through a shared folder
machine() {
	local series=$1 root=$work/root-$1 page=4096 cpu=max,pauth-impdef=on m f
	out=$work/out-$series
	kernel "$series" || { fail "there is no kernel $series for arm64"; return; }
	# QEMU 7.2 cannot start kernels with pages of 16 KiB on a processor with addresses of 52 bits
	case $series in *-16k) page=16384 cpu=max,pauth-impdef=on,lpa2=off ;; *-64k) page=65536 ;; esac
	make -s -C "$tests" BUILD="$work/tests-$page" CC="$cc -DPAGE=${page}UL" "$work/tests-$page/visits" "$work/tests-$page/deny" ||
		{ fail "the test programs do not build"; return; }
	rm -rf "$root" "$out"
	mkdir -p "$root"/{mt,bin,modules,examples,host} "$out"
	: > "$root/modules/order"
	for m in ${modules:+virtio_pci 9pnet_virtio 9p}; do modprobe -d "$modules" -S "$release" --show-depends "$m"; done |
		sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++' > "$root/modules/files"
	while read -r f; do
		m=$(basename "$f")
		m=${m%%.*}
		case $f in *.xz) xz -dc "$f" > "$root/modules/$m.ko" ;; *) cp "$f" "$root/modules/$m.ko" ;; esac
		echo "$m" >> "$root/modules/order"
	done < "$root/modules/files"
	cp "$work/collector/memtrace" "$work/collector/libmemtrace-preload.so" "$work/tests-$page"/{visits,deny} "$root/mt/"
	aarch64-linux-gnu-strip -g "$root"/mt/memtrace "$root"/mt/*.so
	cp "$work"/examples/* "$root/examples/"
	libraries "$root" "$root"/mt/* "$root"/examples/*
	cp "$tests/arm64-guest.sh" "$root/guest.sh"
	echo "VISITS='${VISITS:-}'" > "$root/settings"
	VM_ARCH=arm64 VM_CPU=$cpu VM_CPUS=${VM_CPUS:-1} VM_MEMORY=1024 VM_SECONDS=${VM_SECONDS:-1800} VM_BUSYBOX=$sysroot/bin/busybox \
		VM_ARGS="-virtfs local,path=$out,mount_tag=out,security_model=none,multidevs=remap" \
		"$here/vm.sh" "$kernel" "$root" /guest.sh < /dev/null | tee "$out/console" | sed -u 's/^/    /'
	passed=$((passed + $(grep -a -c '^ok ' "$out/console" || true)))
	failed=$((failed + $(grep -a -c '^FAILED ' "$out/console" || true)))
	grep -a -q '^VM-END' "$out/console" || fail "$release: the machine did not reach its end"
	grep -q "\"page_size_bytes\": $page" "$out/plain/trace/manifest.json" 2> /dev/null && pass "$release: pages of $page bytes" ||
		fail "$release: pages of $page bytes are not told"
	if grep -q 'userfaultfd *yes' "$out/check"; then around=(); else around=(--around --written 0); fi
	compare plain "${around[@]}"
	compare subphases "${around[@]}" --shared 20
	compare system-calls "${around[@]}"
	compare mappings "${around[@]}"
	compare fork-exec "${around[@]}"
	for f in matmul stencil bucketsort falsesharing listwalk; do
		if "$top/build/collector/tests/fidelity" --format "$out/$f/trace" > "$out/$f/report" 2>&1; then pass "$release $f"
		else fail "$release $f"; tail -3 "$out/$f/report" | sed 's/^/    /'; fi
		"$top/build/collector/memtrace" info "$out/$f/trace" > "$out/$f/info" 2>&1 || fail "$release $f: info"
	done
}
if part record; then for s in $series; do machine "$s"; done; fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
exit
}
