#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# The recipe of releng/spack as a user meets it: what is committed here is installed by Spack and used.
# By hand; needs Spack (SPACK, or spack in PATH), and git. Nothing of the user's Spack is changed: configuration,
# cache and what is installed are in a folder that is removed at the end.
#
#   releng/check-spack.sh [-s]     -s: all libraries are built by Spack, which downloads them; else those that
#                                  the machine has are used (Debian's packages of releng/packages.txt)
set -eu
cd "$(dirname "$(readlink -f "$0")")/.."
top=$PWD system=yes
case ${1:-} in
-s) system=no ;;
'') ;;
*) sed -n '5,11s/^# \{0,1\}//p' "$0" >&2 && exit 2 ;;
esac
spack=${SPACK:-$(command -v spack || true)}
if [ -z "$spack" ] || ! "$spack" --version >/dev/null 2>&1; then
	echo "SKIPPED check-spack: there is no Spack here (SPACK=/path/to/spack/bin/spack)"
	exit 4
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SPACK_DISABLE_LOCAL_CONFIG=1 SPACK_USER_CACHE_PATH=$work/cache LC_ALL=C.UTF-8
mkdir "$work/config"
printf 'config:\n  install_tree:\n    root: %s\n  build_stage: [%s]\n' "$work/tree" "$work/stage" >"$work/config/config.yaml"
printf 'repos:\n- %s\n' "$top/releng/spack" >"$work/config/repos.yaml"
# NAME OF PKG-CONFIG, VERSION WHEN THERE IS NO SUCH FILE: an external package of this machine
external() {
	local version
	version=$(pkg-config --modversion "$2" 2>/dev/null) || return 0
	printf '  %s:\n    buildable: false\n    externals:\n    - spec: %s@%s\n      prefix: /usr\n' "$1" "$1" "$version"
}
if [ $system = yes ]; then
	{
		echo "packages:"
		external elfutils libdw
		external hwloc hwloc
		external jansson jansson
		external zlib zlib
		external zstd libzstd
		printf '  zlib-api:\n    require: [zlib]\n'
		printf '  gmake:\n    buildable: false\n    externals:\n    - spec: gmake@%s\n      prefix: /usr\n' "$(make --version | sed -n '1s/.* //p')"
	} >"$work/config/packages.yaml"
fi
git clone -q --bare . "$work/source.git"
[ "$(git rev-parse --abbrev-ref HEAD)" = main ] || git -C "$work/source.git" branch -f main HEAD
export MEMTRACE_SOURCE=file://$work/source.git
s() { "$spack" -C "$work/config" "$@"; }
s compiler find --scope "$(s config scopes 2>/dev/null | tr ' ' '\n' | grep -m 1 '^command_line' || echo site)" >"$work/compilers" 2>&1 || cat "$work/compilers"

user_home=$work/user
. releng/machine-checks.sh
check "spack $("$spack" --version) knows the recipe" s info memtrace
check "spack install" s install --no-cache memtrace
m=$(s location -i memtrace)/bin/memtrace
check "version" sh -c '"$1" version | grep -q "$2"' sh "$m" "$(git -C "$work/source.git" rev-parse --short=10 main)"
check "no library is missing" sh -c '! ldd "$1" | grep "not found"' sh "$m"
check "the test of the recipe" s test run memtrace
cd "$work"
chmod 755 "$work"
check "record" "$m" record -q -i 20ms -o t -- perl -e '@a = map { $_ * 2 } 0 .. 1000000; print scalar(@a), "\n"'
check "what was recorded" sh -c 'test "$(cat t/p0000/accesses-*.csv | wc -l)" -gt 100 && grep -q ",heap," t/p0000/structures.csv'
check "man page and completion" sh -c 'cd "$(dirname "$1")/.." && ls share/man/man1/memtrace-record.1* share/bash-completion/completions/memtrace' sh "$m"
checks_end
