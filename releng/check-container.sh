#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# The image of releng/container.sh as a user meets it: under the default rights of containers, and with those
# that recording asks for. By hand; needs podman or docker.
#
#   releng/check-container.sh [-t NAME] [OPTION...]     default name: memtrace; OPTION goes to the run command
set -eu
cd "$(dirname "$(readlink -f "$0")")/.."
if [ "${1:-}" != --inside ]; then
	name=memtrace status=0
	[ "${1:-}" != -t ] || { name=${2:?} && shift 2; }
	tool=$(command -v podman || command -v docker) || { echo "check-container: needs podman or docker" >&2; exit 4; }
	for rights in default unconfined; do
		echo "== $rights rights"
		option=
		[ $rights = default ] || option=--security-opt=seccomp=unconfined
		$tool run --rm -v "$PWD/releng:/checks/releng:ro" --entrypoint bash $option "$@" "$name" \
			/checks/releng/check-container.sh --inside $rights || status=1
	done
	exit $status
fi

. releng/machine-checks.sh
cd /tmp/user
check "version" user memtrace version
check "no compiler" sh -c '! command -v gcc'
# what a check says and what a recording does are the same
state=$(user memtrace check | awk '$1 == "zap" { print $2 }')
check "record" user memtrace record -q -i 20ms -o t -- perl -e '@a = map { $_ * 2 } 0 .. 1000000; print scalar(@a), "\n"'
check "what was recorded" sh -c 'test "$(cat t/p0000/accesses-*.csv | wc -l)" -gt 100'
threads=known
! grep -q "threads and directions are not known" t/p0000/image.json || threads=unknown
case $2 in
unconfined) check "with these rights all is recorded" [ "$state $threads" = "yes known" ] ;;
*)
	check "what is not recorded is told before: $state" [ "$state $threads" = "partly unknown" -o "$state $threads" = "yes known" ]
	[ "$state" = yes ] || check "and what to change" sh -c 'memtrace check | grep -q "seccomp=unconfined"'
	;;
esac
check "import" user memtrace import -q -o t.db t
check "summary" user memtrace summary t.db
check "advise" user memtrace advise t.db
check "a picture" user memtrace render -o t.svg t.db
checks_end
