# shellcheck shell=bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0

# kernel_source SERIES DIRECTORY [OPTION-OF-APT...]: Debian's source of a kernel, unpacked in DIRECTORY/source
kernel_source() {
	local series=$1 dir=$2
	shift 2
	[ ! -e "$dir/source/.complete" ] || return 0
	rm -rf "$dir/source" "$dir/usr"
	mkdir -p "$dir/source"
	(cd "$dir" && apt-get "$@" download -q "linux-source-$series" > /dev/null && dpkg-deb -x linux-source-"$series"_*.deb .) || return 1
	rm -f "$dir"/linux-source-*.deb
	nice tar -C "$dir/source" --strip-components=1 -xf "$dir/usr/src/linux-source-$series.tar.xz" || return 1
	rm -rf "$dir/usr"
	touch "$dir/source/.complete"
}
