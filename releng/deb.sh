#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Debian packages of this checkout:
#
#   releng/deb.sh [-o DIR] [memtrace] [memtrace-dkms] [memtrace-workbench]     default: all three, into build/deb
#
#   memtrace             the command, its library, the Java commands, the sources of the kernel module
#   memtrace-dkms        the kernel module for every kernel of the machine, the rule for its device
#   memtrace-workbench   the workbench, with an entry in the desktop's menu
#
# They are for the Debian release that builds them, and newer ones. One commit gives the same bytes.
# Nobody's signature is in them; releng/check-deb.sh installs, uses and removes them on a bare Debian.
set -eu
cd "$(dirname "$(readlink -f "$0")")/.."
. releng/tools.sh
out=build/deb packages=
while [ $# -gt 0 ]; do
	case $1 in
	-o) out=${2:?} && shift ;;
	memtrace | memtrace-dkms | memtrace-workbench) packages="$packages $1" ;;
	*)
		tools_say "deb.sh: unknown argument $1; usage: releng/deb.sh [-o DIR] [memtrace] [memtrace-dkms] [memtrace-workbench]"
		exit 2
		;;
	esac
	shift
done
: "${packages:=memtrace memtrace-dkms memtrace-workbench}"
ensure_packages native deb || exit 4
build_lock
case " $packages " in
*" memtrace "* | *workbench*)
	ensure_packages java || exit 4
	find_jdk || exit 4
	;;
esac
case " $packages " in *" memtrace "*) build_native && build_java && releng/sbom.sh cli ;; esac
case $packages in *workbench*) build_native && build_examples && build_workbench ;; esac

source_date
: "${SOURCE_DATE_EPOCH:=$(date +%s)}"
export SOURCE_DATE_EPOCH
number=$(sed -n '/<artifactId>org.memtrace.parent/,/<version>/s,.*<version>\([^<-]*\).*,\1,p' pom.xml)
version=$number~$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y%m%d.%H%M).$(git rev-parse --short=10 HEAD)
module=$(sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' collector/module/dkms.conf)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# papers NAME LICENCE-EXPRESSION: what Debian's policy wants in usr/share/doc
papers() {
	d=$work/$1/usr/share/doc/$1
	mkdir -p "$d"
	cat >"$d/copyright" <<-END
		Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
		Upstream-Name: memtrace

		Files: *
		Copyright: memtrace contributors
		License: $2
		 The texts of all licences, also of the libraries inside, are in the folder LICENSES beside this file.
	END
	[ -d "$d/LICENSES" ] || cp -R LICENSES "$d/"
	gzip -9n <CHANGELOG.md >"$d/changelog.gz"
}

# control NAME ARCHITECTURE SUMMARY FIELDS TEXT
control() {
	mkdir -p "$work/$1/DEBIAN"
	{
		printf 'Package: %s\nVersion: %s\nArchitecture: %s\nMaintainer: memtrace contributors <memtrace@localhost>\nSection: devel\nPriority: optional\n' \
			"$1" "$version" "$2"
		printf 'Installed-Size: %s\n' "$(du -sk --apparent-size --exclude=DEBIAN "$work/$1" | cut -f1)"
		printf '%s\nDescription: %s\n' "$4" "$3"
		printf '%s\n' "$5" | sed 's/^/ /'
	} >"$work/$1/DEBIAN/control"
}

# pack NAME ARCHITECTURE
pack() {
	(cd "$work/$1" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
	chmod -R u=rwX,go=rX "$work/$1"
	find "$work/$1" -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
	rm -f "$out/$1"_*.deb
	dpkg-deb --root-owner-group -Zzstd -b "$work/$1" "$out/$1_${version}_$2.deb" >/dev/null
	echo "$out/$1_${version}_$2.deb"
}

# needs FILE...: the packages whose libraries these programs use, as dpkg knows them
needs() {
	mkdir -p "$work/control/debian"
	printf 'Source: memtrace\n\nPackage: memtrace\nArchitecture: any\n' >"$work/control/debian/control"
	(cd "$work/control" && dpkg-shlibdeps -O --ignore-missing-info "$@" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'
}

deb_memtrace() {
	# what the command opens when it needs it (cli/base/opened.h)
	gcc -shared -o "$work/opened.so" -Wl,--no-as-needed -lcapstone
	make -s -C collector install DESTDIR="$work/memtrace" PREFIX=/usr
	strip --strip-unneeded "$work/memtrace/usr/bin/memtrace"
	strip --strip-debug "$work/memtrace/usr/lib/memtrace/libmemtrace-preload.so"
	gzip -9n "$work"/memtrace/usr/share/man/man1/*
	papers memtrace "EPL-2.0, GPL-2.0-only and GPL-2.0-or-later"
	control memtrace "$(dpkg --print-architecture)" "how a multithreaded program uses its memory" \
		"Depends: $(needs "$work/memtrace/usr/bin/memtrace" "$work/opened.so")
Recommends: openjdk-25-jre-headless | openjdk-21-jre-headless | java21-runtime-headless
Suggests: memtrace-workbench, memtrace-dkms, openssh-client" \
		"Records which pages of which data structure each thread reads and writes, when, on which
processor, shared or private, from an unchanged program; draws it, names what is wrong,
and says what to change. Recording needs no Java; everything else needs Java 21."
	pack memtrace "$(dpkg --print-architecture)"
}

deb_memtrace_dkms() {
	make -s -C collector/module install DESTDIR="$work/memtrace-dkms"
	papers memtrace-dkms GPL-2.0-only
	control memtrace-dkms all "kernel module of memtrace, built for each kernel" \
		"Depends: dkms (>= 2.8)
Recommends: memtrace" \
		"Sees the page faults of programs that memtrace records: static programs and running ones, too.
Its device is for root alone, unless an administrator gives it to a group. It is not loaded at boot: modprobe memtrace, or a line
in /etc/modules-load.d."
	d=$work/memtrace-dkms/DEBIAN
	cat >"$d/postinst" <<-END
		#!/bin/sh
		set -e
		if [ "\$1" = configure ]; then
			/usr/lib/dkms/common.postinst memtrace $module "" "" "\$2"
			! command -v udevadm >/dev/null || udevadm control --reload 2>/dev/null || :
		fi
	END
	cat >"$d/prerm" <<-END
		#!/bin/sh
		set -e
		case "\$1" in
		remove | upgrade | deconfigure)
			modprobe -r memtrace 2>/dev/null || :
			[ -z "\$(dkms status -m memtrace -v $module 2>/dev/null)" ] || dkms remove -m memtrace -v $module --all || :
			;;
		esac
	END
	cat >"$d/postrm" <<-END
		#!/bin/sh
		set -e
		if [ "\$1" = purge ]; then
			rm -rf /var/cache/memtrace
		fi
	END
	chmod 755 "$d"/p*
	pack memtrace-dkms all
}

deb_memtrace_workbench() {
	d=$work/memtrace-workbench/usr/lib/memtrace
	mkdir -p "$d" "$work/memtrace-workbench/usr/share/applications"
	cp -RL build/workbench "$d/workbench"
	mkdir -p "$work/memtrace-workbench/usr/share/doc/memtrace-workbench"
	mv "$d/workbench/LICENSES" "$work/memtrace-workbench/usr/share/doc/memtrace-workbench/"
	# the package memtrace has these
	rm -rf "$d/workbench/memtrace" "$d"/workbench/libmemtrace-* "$d"/workbench/memtrace-count.* "$d/workbench/lib"
	ln -s ../../../bin/memtrace "$d/workbench/memtrace"
	cat >"$work/memtrace-workbench/usr/share/applications/memtrace.desktop" <<-END
		[Desktop Entry]
		Type=Application
		Name=memtrace
		Comment=How a multithreaded program uses its memory
		Exec=memtrace open %F
		Icon=utilities-system-monitor
		Terminal=false
		Categories=Development;Profiling;
	END
	papers memtrace-workbench EPL-2.0
	control memtrace-workbench "$(dpkg --print-architecture)" "traces of memory accesses, looked at" \
		"Depends: memtrace (= $version), libgtk-3-0t64 | libgtk-3-0
Recommends: openjdk-25-jre | openjdk-21-jre | java21-runtime, fonts-dejavu-core" \
		"The workbench of memtrace: memory over time by structure and thread, findings, comparison of
two runs, tables and exports. Needs Java 21."
	pack memtrace-workbench "$(dpkg --print-architecture)"
}

for p in $packages; do
	"deb_$(echo "$p" | tr - _)"
done
