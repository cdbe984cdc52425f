# shellcheck shell=bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Kernels and headers from Debian's packages, unpacked in $work; nothing is
# installed. Source it with $work (exists) and $here set. ARCH (amd64 unless
# given) is Debian's name; the host is amd64.

# one test at a time in a work directory
exec 9> "$work/.lock"
flock -n 9 || { echo "note: another test runs in $work; waiting for it"; flock 9; }

# apt's options for the package lists of an architecture or of an older suite, which are fetched when missing
foreign=()
lists() { # ARCH [SERIES]
	local suite= mirror= dir
	foreign=()
	case ${2:-} in 5.10*) suite=bullseye-security mirror=http://deb.debian.org/debian-security ;; esac
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

# exports VM_TSC_KHZ, see vm.sh
tsc_khz() {
	nice gcc -O1 -Wall -Wextra -Werror -o "$work/tsckhz" "$here/tsckhz.c"
	VM_TSC_KHZ=$("$work/tsckhz")
	export VM_TSC_KHZ
}

# Did the machine die of a breakpoint that is in its memory no more? QEMU before 8.1 can
# translate an instruction while another virtual processor writes it, and keep what it has
# read: the breakpoint that text_poke() puts for a moment where a probe is switched on or off
# (docs/collector-kernel.md). Without a probe there the kernel says "int3: 0000". With one it
# takes the breakpoint for the one of a kprobe; those of ftrace have no copy of the instruction,
# so setup_singlestep() switches interrupts off and jumps to address 0, called by a caller
# of a probed function. Nothing else is taken for that.
stale_breakpoint() {
	grep -a -q 'int3: 0000' "$1" || sed -e 's/^\[ *[0-9.]*\] *//' "$1" | awk '
		/^(BUG:|Oops:|general protection|kernel BUG)/ && !oops++ { first = /^BUG: kernel NULL pointer dereference, address: 0000000000000000$/ }
		!first || known { next }
		/^#PF:/ && /supervisor instruction fetch in kernel mode$/ { fetch = 1 }
		/^RIP: / && !rip { rip = /^RIP: 0010:0x0$/ ? 1 : 2 }
		# the third digit from the right has the interrupt flag, 2
		/^RSP: .* EFLAGS: / && !flags { flags = $NF ~ /[014589cd][0-9a-f][0-9a-f]$/ ? 1 : 2 }
		/^Call Trace:/ { trace = 1; next }
		trace && !/^</ {
			known = 1
			caller = $1 ~ /^(do_user_addr_fault|faultin_page|__get_user_pages|__get_user_pages_remote|__gup_longterm_locked|__mmput|mmput|do_fault|do_read_fault)\+0x/
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
		[ "$try" = 1 ] && [ "$(printf '8.1\n%s\n' "$("${QEMU:-qemu-system-x86_64}" --version |
			sed -n 's/.*version \([0-9.]*\).*/\1/p')" | sort -V | tail -n 1)" = 8.1 ] && stale_breakpoint "$log" || return 0
		echo "note: a stale breakpoint of QEMU before 8.1; once more"
	done
}
