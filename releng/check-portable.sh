#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# The portable archive as a user meets it: unpacked on a bare Debian by an ordinary user, moved, used.
# By hand; needs root and debootstrap.
#
#   releng/check-portable.sh [-d DIR] [SUITE...]     default: bullseye bookworm trixie, the archive in build/portable
set -eu
cd "$(dirname "$(readlink -f "$0")")/.."
if [ "${1:-}" != --inside ]; then
	dir=build/portable
	[ "${1:-}" != -d ] || { dir=${2:?} && shift 2; }
	ls "$dir"/memtrace-*-linux-x86_64.tar.gz >/dev/null || { echo "check-portable: no archive in $dir; releng/portable.sh makes it" >&2; exit 2; }
	[ $# -gt 0 ] || set -- bullseye bookworm trixie
	status=0
	for suite; do
		echo "== $suite"
		releng/bare-machine.sh --with "$dir" "$suite" bash releng/check-portable.sh --inside || status=1
	done
	exit $status
fi

. releng/machine-checks.sh
cd /tmp/user
check "unpacked by an ordinary user" user tar -xzf /with/memtrace-*-linux-x86_64.tar.gz
user mv memtrace-* another-place
m="/tmp/user/another-place/bin/memtrace"
check "no library is missing" sh -c '! ldd "$1" | grep "not found"' sh "$m"
check "no compiler, no Java" sh -c '! command -v gcc && ! command -v java'
check "version" user "$m" version
check "check" user "$m" check
check "record" user "$m" record -q -i 20ms -o t -- perl -e '@a = map { $_ * 2 } 0 .. 1000000; print scalar(@a), "\n"'
check "what was recorded" sh -c 'test "$(cat t/p0000/accesses-*.csv | wc -l)" -gt 100 && grep -q "^0,\|,heap," t/p0000/structures.csv'
check "threads and directions" sh -c '! grep -q "threads and directions are not known" t/p0000/image.json'
user "$m" record -q -i 5ms --min-alloc 1 -o cxx -- apt-cache pkgnames >/dev/null
check "names of C++ are readable" sh -c 'grep -q "[a-z]::[A-Za-z]" cxx/p*/code.csv cxx/p*/stacks.csv && ! grep -q ",_Z" cxx/p*/code.csv cxx/p*/stacks.csv'
check "from a folder that is not its own, by a link" sh -c 'ln -s "$1" /tmp/user/link && cd / && /tmp/user/link info /tmp/user/t' sh "$m"
check "finish" user "$m" finish -q --force t
check "nothing was written where it lies" sh -c '[ -z "$(find /tmp/user/another-place -newer /tmp/user/t/p0000/image.json -type f)" ]'
user "$m" import -q -o t.db t >no-java 2>&1 && echo "there is a Java" || true
if ls "/tmp/user/another-place/lib/memtrace/"*.jar >/dev/null 2>&1; then
	check "without Java a sentence says what is missing" grep -q 'needs Java 21' no-java
	apt-get -qq update
	if apt-get -s install openjdk-21-jre-headless >/dev/null 2>&1; then
		check "Java" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends install openjdk-21-jre-headless
		check "import" user "$m" import -q -o t.db t
		check "summary" user "$m" summary t.db
		check "a picture" user "$m" render -o t.svg t.db
	else
		echo "note: this Debian has no Java 21; the commands that need it were not tried"
	fi
fi
checks_end
