#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Does one commit give the same bytes anywhere? Builds HEAD in two clones in
# folders of different names, with another time zone, language and umask, and
# compares what would be shipped: the collector, the examples, the jars of the
# command line, the update site, the archives of the workbench. Says which
# entries differ.
#
#   releng/check-reproducible.sh [native] [java] [workbench]     default: all three
#
# The clones and the log of each build are in build/reproducible. The second
# build begins at least two minutes after the first, as times are written in minutes.
set -eu
cd "$(dirname "$(readlink -f "$0")")/.."
. releng/tools.sh
parts=
for arg; do
	case $arg in
	native | java | workbench) parts="$parts $arg" ;;
	*)
		tools_say "check-reproducible: unknown argument $arg; usage: releng/check-reproducible.sh [native] [java] [workbench]"
		exit 2
		;;
	esac
done
: "${parts:= native java workbench}"
find_jdk
find_maven
top=$PWD
work=$top/build/reproducible
one=$work/a
two=$work/another-folder/of-the-same
rm -rf "$work"
mkdir -p "$work" "$(dirname "$two")"
unset SOURCE_DATE_EPOCH

umask 022
commit=$(git rev-parse HEAD)
# both at once: HEAD may move on
for dir in "$one" "$two"; do
	git clone -q --no-local --no-hardlinks "$top" "$dir"
	git -C "$dir" -c advice.detachedHead=false checkout -q "$commit"
done

# build DIR LOG: what is checked out there
build() {
	mkdir -p "$1"/build
	[ ! -d build/tools ] || cp -r build/tools "$1"/build
	(
		cd "$1"
		. releng/tools.sh
		for part in $parts; do
			case $part in
			native) build_native && build_examples ;;
			java) build_java ;;
			workbench) build_native && build_examples && build_workbench ;;
			esac || exit 1
		done
	) >"$2" 2>&1 || {
		tail -n 30 "$2" >&2
		tools_say "check-reproducible: the build in $1 failed, its log is $2"
		exit 1
	}
}

begin=$(date +%s)
(umask 022 && TZ=UTC LC_ALL=C.UTF-8 build "$one" "$work"/a.log)
while [ $(($(date +%s) - begin)) -lt 121 ]; do sleep 1; done
(umask 027 && TZ=Asia/Kolkata LC_ALL=C build "$two" "$work"/b.log)

python3 releng/compare-builds.py "$one" "$two" \
	build/collector/memtrace build/collector/libmemtrace-preload.so build/examples-portable \
	'build/lib/org.memtrace.*.jar' 'releng/org.memtrace.product/target/*.zip' releng/org.memtrace.product/target/repository \
	'releng/org.memtrace.product/target/products/*.*'
