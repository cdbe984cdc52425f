# shellcheck shell=bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Kernels and headers from Debian's packages, unpacked in $work; nothing is
# installed. Source it with $work (exists) and $here set. ARCH (amd64 unless
# given) is Debian's name; the host is amd64.

# one test of a kind (the script's $kind, or none) at a time in a work directory
exec 9> "$work/.lock${kind:+-$kind}"
flock -n 9 || { echo "note: another test runs in $work; waiting for it"; flock 9; }

. "$here/mirror.sh"

# alone COMMAND...: what tests of all kinds share, packages and builds, is made by one of them at a time
alone() {
	(flock 8 && "$@" 8>&-) 8> "$work/.shared"
}

# apt's options for the package lists of an architecture or of an older suite, which are fetched when missing
foreign=()
lists() { # ARCH [SERIES]
	local suite= mirror= dir
	foreign=()
	case ${2:-} in 5.10*) suite=bullseye-security mirror=$(debian_mirror -security) ;; esac
	[ "$1" != amd64 ] || [ -n "$suite" ] || return 0
	dir=$work/apt-$1${suite:+-$suite}
	foreign=(-o APT::Architecture="$1" -o APT::Architectures="$1" -o Dir::State::Lists="$dir/lists"
		-o Dir::Cache="$dir/cache" -o Dir::State::status=/dev/null -o Debug::NoLocking=1)
	[ -z "$suite" ] || foreign+=(-o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null)
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	[ -z "$suite" ] || echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" > "$dir/sources.list"
	[ -e "$dir/.complete" ] || apt-get "${foreign[@]}" update -q > "$dir/log" 2>&1 || { cat "$dir/log" >&2; return 1; }
	touch "$dir/.complete"
}

# newest SERIES [ARCH]: version string of the newest Debian kernel of a series
newest() {
	local arch=${2:-amd64}
	lists "$arch" "$1"
	apt-cache "${foreign[@]}" search --names-only "^linux-headers-${1//./\\.}\\.[0-9][.+0-9a-z-]*-$arch$" | cut -d' ' -f1 |
		sed -E -e "/-(cloud|rt|16k)-$arch$/d" -e 's/^linux-headers-//' -e "s/-$arch$//" | sort -V | tail -n 1
}

# newest_or_exit SERIES: the same; without one it ends the script
newest_or_exit() {
	local v
	v=$(newest "$1")
	[ -n "$v" ] || { echo "${0##*/}: no kernel of series $1 in the package lists" >&2; exit 2; }
	echo "$v"
}

# tree VERSION [ARCH]: where fetch puts it
tree() {
	[ "${2:-amd64}" = amd64 ] && echo "$work/$1" || echo "$work/$1-$2"
}

# fetch VERSION [ARCH]: unpacks kernel and headers
fetch() {
	local v=$1 arch=${2:-amd64} dir kbuild=linux-kbuild-$1 tools=() p
	dir=$(tree "$v" "$arch")
	[ -e "$dir/.complete" ] && return
	rm -rf "$dir"
	mkdir -p "$dir" "$work/debs"
	lists "$arch" "$v"
	# the tools of the headers run here, whatever they build for
	[ "$arch" != amd64 ] || tools=("${foreign[@]}")
	apt-cache "${tools[@]}" show "$kbuild" > /dev/null 2>&1 || kbuild=linux-kbuild-${v%%.*}.$(echo "$v" | cut -d. -f2)
	(cd "$work/debs" && apt-get "${foreign[@]}" download -q "linux-image-$v-$arch-unsigned" "linux-headers-$v-$arch" &&
		apt-get "${tools[@]}" download -q "linux-headers-$v-common" "$kbuild") > "$work/debs/download.log" 2>&1 || { cat "$work/debs/download.log" >&2; return 1; }
	for p in "linux-image-$v-$arch-unsigned" "linux-headers-$v-$arch" "linux-headers-$v-common" "$kbuild"; do
		nice dpkg-deb -x "$(ls -t "$work/debs/${p}"_*.deb | head -n 1)" "$dir"
	done
	rm -f "$work"/debs/*.deb
	[ -e "$dir/lib" ] || ln -s usr/lib "$dir/lib"	# Debian 13
	# the headers expect to be installed; and a vmlinux beside them asks for pahole
	sed -i "s,^include /usr/src/,include $dir/usr/src/," "$dir/usr/src/linux-headers-$v-$arch/Makefile"
	rm -f "$dir/usr/src/linux-headers-$v-$arch/vmlinux"
	touch "$dir/.complete"
}

# host_modules ROOT VERSION MODULE...: the modules and what they need, unpacked in ROOT/modules; their names
# stand in ROOT/modules/order, in the order in which they depend on each other
host_modules() {
	local root=$1 v=$2 m f
	shift 2
	mkdir -p "$root/modules"
	depmod -b "$work/$v" "$v-amd64"
	for m; do
		modprobe -d "$work/$v" -S "$v-amd64" --show-depends "$m"
	done | sed -n 's/^insmod \([^ ]*\).*/\1/p' | awk '!seen[$0]++' > "$root/modules/files"
	while read -r f; do
		m=${f##*/}
		m=${m%%.*}
		case $f in
		*.xz) xz -dc "$f" > "$root/modules/$m.ko" ;;
		*) cp "$f" "$root/modules/$m.ko" ;;
		esac
		echo "$m" >> "$root/modules/order"
	done < "$root/modules/files"
}

# What the emulator needs for host_guest.
HOST_ARGS="-nic none -virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"

# host_guest ROOT VERSION COMMANDS: makes a root file system whose /start.sh mounts the one of this machine at
# /new (9p, read only, with its own /tmp and /run) and goes on with COMMANDS, of busybox
host_guest() {
	rm -rf "$1"
	host_modules "$1" "$2" virtio_pci 9pnet_virtio 9p
	cat > "$1/start.sh" <<-GUEST
		for m in \$(cat /modules/order); do insmod /modules/\$m.ko; done
		mkdir -p /new
		mount -t 9p -o ro,trans=virtio,version=9p2000.L,cache=loose,msize=512000 host /new || echo "FAILED the file system"
		for d in proc sys dev; do mount --rbind /\$d /new/\$d; done
		mount -t tmpfs -o size=50% tmpfs /new/tmp
		mount -t tmpfs tmpfs /new/run
		$3
	GUEST
}

# install_record ROOT VERSION: the command with all that it needs, the examples and the module memtrace.ko
# of ROOT as if it had been built, below a root file system. Needs $top.
install_record() {
	local root=$1 f
	nice gcc -O1 -g -Wall -Wextra -Werror -std=gnu11 -D_GNU_SOURCE -o "$work/tree" "$here/tree.c"
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

# what vm.sh needs for x86-64: sets VM_TSC_KHZ and QEMU
prepare_machines() {
	emulator
	nice gcc -O1 -Wall -Wextra -Werror -o "$work/tsckhz" "$here/tsckhz.c"
	VM_TSC_KHZ=$("$work/tsckhz")
	export VM_TSC_KHZ
}

# QEMU before 8.1 often executes a breakpoint that is in memory no more, see stale_breakpoint. On Debian 12, which has
# 7.2, newer_emulator unpacks that of its backports in $work/qemu; it takes the libraries of the one that is installed.
newer_emulator() {
	local dir=$work/qemu apt deb
	[ ! -e "$dir/.complete" ] || return 0
	rm -rf "$dir"
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	printf "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $(debian_mirror) %s main\n" \
		bookworm bookworm-backports > "$dir/sources.list"
	apt=(-q -o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$dir/lists"
		-o Dir::Cache="$dir/cache" -o Debug::NoLocking=1)
	{ apt-get "${apt[@]}" update && apt-get "${apt[@]}" install -y --no-install-recommends --download-only \
		-t bookworm-backports qemu-system-x86; } > "$dir/log" 2>&1 || return 1
	for deb in "$dir"/cache/archives/*.deb; do nice dpkg-deb -x "$deb" "$dir" || return 1; done
	rm -rf "$dir/cache" "$dir/lists"
	cat > "$dir/qemu" <<-END
		#!/bin/sh
		exec "$dir/usr/bin/qemu-system-x86_64" -L "$dir/usr/share/qemu" -L "$dir/usr/share/seabios" -L /usr/lib/ipxe/qemu -audio none "\$@"
	END
	chmod +x "$dir/qemu"
	"$dir/qemu" --version >> "$dir/log" 2>&1 && touch "$dir/.complete"
}

# emulator: sets QEMU, unless it is given, to one that is new enough if it can be had
emulator() {
	[ -z "${QEMU:-}" ] || return 0
	export QEMU=qemu-system-x86_64
	old_emulator && grep -q '^VERSION_CODENAME=bookworm' /etc/os-release || return 0
	if alone newer_emulator; then QEMU=$work/qemu/qemu
	else echo "note: QEMU stays $("$QEMU" --version | head -n 1): $(tail -n 1 "$work/qemu/log")"; fi
}

# Is it older than 8.1?
old_emulator() {
	[ "$(printf '8.1\n%s\n' "$("$QEMU" --version | sed -n 's/.*version \([0-9.]*\).*/\1/p')" | sort -V | tail -n 1)" = 8.1 ]
}

# Did the machine die of a breakpoint that is in its memory no more? QEMU can translate an
# instruction while another virtual processor writes it, and keep what it has read: the
# breakpoint that text_poke() puts for a moment where a probe or a branch of the kernel is
# switched on or off (docs/how/collector-kernel.md). Without a probe there the kernel says
# "int3: 0000" and prints the code, in which there is no breakpoint: seen with 7.2 and, rarely,
# 10.0.2. With a probe there, before 8.1, it takes the breakpoint for the one of a kprobe; those
# of ftrace have no copy of the instruction, so setup_singlestep() switches interrupts off and
# jumps to address 0, called by a caller of a probed function. Nothing else is taken for that.
stale_breakpoint() {
	# of handle_mm_fault, exit_mmap, filemap_map_pages and __get_user_pages, as inlined in 5.10, 6.1 or 6.12
	local callers=" do_user_addr_fault faultin_page fixup_user_fault __mmput mmput do_fault do_read_fault do_fault_around
		__get_user_pages __get_user_pages_locked __get_user_pages_remote get_user_pages_remote get_user_pages
		get_user_pages_unlocked __gup_longterm_locked populate_vma_page_range __mm_populate faultin_page_range
		faultin_vma_page_range get_dump_page "

	if grep -a -q 'int3: 0000' "$1"; then
		# the byte before the one in brackets was executed; cc is a breakpoint
		awk '/int3: 0000/ { died = 1 }
			died && /Code: / { for (i = 2; i <= NF; i++) if ($i ~ /^<..>$/ && $(i - 1) ~ /^..$/) stale = $(i - 1) != "cc"; exit }
			END { exit !stale }' "$1"
		return
	fi
	old_emulator || return 1
	sed -e 's/^\[ *[0-9.]*\] *//' "$1" | awk -v callers="$(echo "$callers" | tr -s '\n\t' '  ')" '
		/^(BUG:|Oops:|general protection|kernel BUG)/ && !oops++ { first = /^BUG: kernel NULL pointer dereference, address: 0000000000000000$/ }
		!first || known { next }
		/^#PF:/ && /supervisor instruction fetch in kernel mode$/ { fetch = 1 }
		/^RIP: / && !rip { rip = /^RIP: 0010:0x0$/ ? 1 : 2 }
		# the third digit from the right has the interrupt flag, 2
		/^RSP: .* EFLAGS: / && !flags { flags = $NF ~ /[014589cd][0-9a-f][0-9a-f]$/ ? 1 : 2 }
		/^Call Trace:/ { trace = 1; next }
		trace && !/^[<?]/ {
			known = 1
			sub(/(\.(constprop|isra|part|cold)[.0-9]*)*\+0x.*/, "", $1)
			caller = index(callers, " " $1 " ")
		}
		END { exit !(fetch && rip == 1 && flags == 1 && caller) }'
}

# boot LOG KERNEL_IMAGE DIRECTORY SCRIPT: vm.sh, its output also in LOG. A machine
# with a stale breakpoint says nothing about the module: once more.
boot() {
	local log=$1 try
	shift
	for try in 1 2; do
		"$here/vm.sh" "$@" < /dev/null | tee "$log" || true
		[ "$try" = 1 ] && stale_breakpoint "$log" || return 0
		echo "note: a stale breakpoint of QEMU; once more"
	done
}
