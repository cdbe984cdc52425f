#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# An archive of the recorder and of all commands that runs where it is unpacked, without root and
# without packages, on x86-64. Its programs ask for glibc 2.28 (RHEL 8, Debian 10, Ubuntu 20.04):
#
#   releng/portable.sh [-o DIR] [--here] [--no-java]     default: into build/portable
#
#   --here     built by this machine, for its glibc and newer ones; else on a bare Debian 11
#              (releng/bare-machine.sh: root, debootstrap), from what is committed
#   --no-java  only what needs no Java: record, check, info, finish, monitor, ...
#
# In it: bin/memtrace, lib/memtrace with the libraries of the recorder and in lib/memtrace/shared those
# of others that it uses (never the C library), licences, manual pages. Java 21 is not in it.
# releng/check-portable.sh uses it on bare machines.
set -eu
cd "$(dirname "$(readlink -f "$0")")/.."
out=build/portable how=old java=yes
while [ $# -gt 0 ]; do
	case $1 in
	-o) out=${2:?} && shift ;;
	--here) how=here ;;
	--inside) how=inside ;;
	--no-java) java=no ;;
	*)
		sed -n '5,17s/^# \{0,1\}//p' "$0" >&2
		exit 2
		;;
	esac
	shift
done

newest_glibc=2.28
libraries="libcapstone-dev libdw-dev libelf-dev libiberty-dev libjansson-dev libhwloc-dev libzstd-dev zlib1g-dev libsqlite3-dev g++"

# ---- on a bare Debian 11: of what its glibc 2.31 has, nothing younger than 2.28 is asked for
if [ $how = old ]; then
	mkdir -p "$out" build/portable-with
	rm -rf build/portable-with/*
	if [ $java = yes ]; then
		(. releng/tools.sh && build_lock && find_jdk && build_java && releng/sbom.sh cli) || exit 1
		cp build/lib/*.jar build/portable-with/
		cp -r build/sbom build/portable-with/
	fi
	# the kernel's headers are newer than that Debian: they only say what may be asked for
	(cd build/portable-with && apt-get -qq download linux-libc-dev 2>/dev/null)
	work=${WORK:-/var/tmp/memtrace-bare}
	WORK=$work releng/bare-machine.sh --with build/portable-with bullseye bash releng/portable.sh --inside
	mv "$work"/run-bullseye/upper/root/memtrace/build/portable/*.tar.gz "$out/"
	ls -d "$out"/memtrace-*-linux-x86_64.tar.gz
	exit 0
fi
if [ $how = inside ]; then
	export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
	apt-get -qq update
	# shellcheck disable=SC2086
	apt-get -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends install gcc libc6-dev make gawk git ca-certificates $libraries >/dev/null
	dpkg -i /with/linux-libc-dev_*.deb >/dev/null
	mkdir -p build/lib
	! ls /with/*.jar >/dev/null 2>&1 || { cp /with/*.jar build/lib/ && cp -r /with/sbom build/; }
elif [ $java = yes ]; then
	(. releng/tools.sh && build_lock && find_jdk && build_java && releng/sbom.sh cli) || exit 1
fi

# ---- the tree
number=$(sed -n '/<artifactId>org.memtrace.parent/,/<version>/s,.*<version>\([^<-]*\).*,\1,p' pom.xml)
name=memtrace-$number-linux-x86_64
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make="make -s -C collector BUILD=$work/build"
[ $java = yes ] || make="$make JARS="
$make all
$make install DESTDIR="$work/root" PREFIX="/$name"
tree=$work/root/$name
strip --strip-unneeded "$tree/bin/memtrace"
strip --strip-debug "$tree/lib/memtrace/libmemtrace-preload.so"

# All but the C library, which must be that of the machine. Some are opened when they are needed (cli/base/opened.h). Not libudev,
# which asks for a newer C library and of which hwloc wants the models of disks only: it does without when there is no udev.
shared=$tree/lib/memtrace/shared papers=$tree/share/doc/memtrace/shared
mkdir -p "$shared" "$papers"
gcc -shared -o "$work/opened.so" -Wl,--no-as-needed -lcapstone
{
	ldd "$work/build/memtrace"
	ldd "$work/opened.so"
	ldd "$(gcc -print-file-name=libstdc++.so.6)" || :
	echo "x => $(gcc -print-file-name=libstdc++.so.6) x"
} | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u | while read -r file; do
	case $(basename "$file") in
	libudev.so*) continue ;;
	libc.so* | libm.so* | libpthread.so* | libdl.so* | librt.so* | ld-linux*) continue ;;
	esac
	cp -L "$file" "$shared/"
	real=$(readlink -f "$file")
	package=$({ dpkg -S "$real" || dpkg -S "${real#/usr}"; } 2>/dev/null | head -n 1 | cut -d: -f1)
	[ -z "$package" ] || cp -L "/usr/share/doc/$package/copyright" "$papers/$package.copyright"
done
no_udev() {
	objdump -T "$shared"/libhwloc.so.* | sed -n 's/.*LIBUDEV_183)* *\(udev[a-z_]*\)$/void *\1(void) { return 0; }/p' >"$work/udev.c"
	echo 'LIBUDEV_183 { global: udev_*; local: *; };' >"$work/udev.map"
	gcc -O1 -shared -nostdlib -fPIC -Wl,-soname,libudev.so.1,--version-script="$work/udev.map" -o "$shared/libudev.so.1" "$work/udev.c"
}
! ldd "$work/build/memtrace" | grep -q libudev || no_udev
cat >"$tree/README" <<-END
	memtrace $number, for x86-64 with glibc $newest_glibc or newer. Nothing is installed:
	unpack it anywhere, and run

	    bin/memtrace check                    what can be recorded here
	    bin/memtrace record -- PROGRAM ...    a trace, PROGRAM.memtrace
	    bin/memtrace help

	Recording needs nothing else; import, summary, advise and the other commands that read a trace need Java 21. A trace
	can be copied to another machine and imported there. Licences: share/doc/memtrace.
END

# ---- what it asks of the machine
too_new=
for file in "$tree/bin/memtrace" "$tree/lib/memtrace/libmemtrace-preload.so" "$tree/lib/memtrace"/*.duckdb_extension "$shared"/*; do
	needs=$(objdump -T "$file" | grep -o 'GLIBC_2[0-9.]*' | sort -Vu | tail -n 1)
	[ "$(printf '%s\n' "$needs" "GLIBC_$newest_glibc" | sort -V | tail -n 1)" = "GLIBC_$newest_glibc" ] || too_new="$too_new $(basename "$file"):$needs"
done
if [ -n "$too_new" ]; then
	echo "portable: for glibc newer than $newest_glibc:$too_new" >&2
	[ $how = here ] || exit 1
fi

mkdir -p "$out"
chmod -R u=rwX,go=rX "$tree"
tar -C "$work/root" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" | gzip -9n >"$out/$name.tar.gz"
echo "$out/$name.tar.gz"
