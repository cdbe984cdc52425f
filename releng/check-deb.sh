#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# The Debian packages as a user meets them: installed by apt on a bare Debian, used by an ordinary
# user, upgraded, removed. By hand; needs root and debootstrap.
#
#   releng/check-deb.sh [SUITE] [DIR]     default: trixie, the packages in build/deb (made by releng/deb.sh)
#
# The workbench is started where the machine has its package. A kernel module is not built here,
# because the machine has the kernel of this one: collector/tests/kmod/user.sh does that in a
# virtual machine.
set -eu
cd "$(dirname "$(readlink -f "$0")")/.."
if [ "${1:-}" != --inside ]; then
	suite=${1:-trixie} dir=${2:-build/deb}
	ls "$dir"/memtrace_*.deb >/dev/null || { echo "check-deb: no packages in $dir; releng/deb.sh makes them" >&2; exit 2; }
	exec releng/bare-machine.sh --with "$dir" "$suite" bash releng/check-deb.sh --inside
fi

. releng/machine-checks.sh
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
install() { apt-get -qq -y -o Dpkg::Use-Pty=0 --no-install-recommends install "$@"; }
cd /tmp/user

check "apt installs memtrace, and nothing of a compiler" install /with/memtrace_*.deb
check "no compiler came with it" sh -c '! command -v gcc && ! command -v java'
check "memtrace check" user memtrace check
check "the manual page" test -s /usr/share/man/man1/memtrace-record.1.gz
check "the pages that help and messages name" test -s /usr/share/doc/memtrace/docs/howto/shared.md
check "recording needs no Java" user memtrace record -q -i 20ms -o t -- perl -e '@a = map { $_ * 2 } 0 .. 1000000; print scalar(@a), "\n"'
check "what was recorded" sh -c 'test "$(cat t/p0000/accesses-*.csv | wc -l)" -gt 100'
user memtrace import -q -o t.db t >no-java 2>&1 && echo "there is a Java" || true
check "without Java a sentence says what to install" grep -q 'needs Java 21.*apt-get install openjdk-21' no-java
if apt-cache show openjdk-21-jre-headless >/dev/null 2>&1; then
	check "Java" install openjdk-21-jre-headless
	check "import" user memtrace import -q -o t.db t
	check "summary" user memtrace summary t.db
	check "report" user memtrace report -o t.html t.db
	check "a picture" user memtrace render -o t.svg t.db
else
	echo "note: this Debian has no Java 21; the commands that need it were not tried"
fi
if ls /with/memtrace-workbench_*.deb >/dev/null 2>&1 && apt-cache show openjdk-21-jre >/dev/null 2>&1; then
	check "apt installs the workbench" install /with/memtrace-workbench_*.deb openjdk-21-jre xvfb xdotool fonts-dejavu-core
	Xvfb :77 -screen 0 1400x900x24 >/dev/null 2>&1 &
	export DISPLAY=:77 NO_AT_BRIDGE=1
	sleep 2
	user memtrace open /tmp/user/t.db >open.log 2>&1 &
	# SWT's title of the window: the trace
	check "the workbench opens a trace" timeout 120 sh -c 'until xdotool search --name "^perl" >/dev/null 2>&1; do sleep 1; done'
	pkill -u 1234 java || true
	wait %2 || true
	check "the package's own folder is not written" sh -c '[ -z "$(find /usr/lib/memtrace -newer /tmp/user/open.log)" ]'
	check "removed" apt-get -qq -y remove memtrace-workbench
fi
check "installed again over itself" install --reinstall /with/memtrace_*.deb
check "purged" apt-get -qq -y purge memtrace
check "nothing is left" sh -c '[ -z "$(find / -xdev \( -path /proc -o -path /root -o -path /tmp -o -path /with -o -path /sys \) -prune -o -name "*memtrace*" -print)" ]'
checks_end
