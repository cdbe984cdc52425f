#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Records two planted programs, writes reports of them and of the worked example of
# the trace format, and uses all of them in headless Chromium (check-report.py).
#
#   releng/check-report.sh [SHOTS]     also keeps screenshots in the folder SHOTS
set -u
cd "$(dirname "$0")/.." || exit 1
. releng/tools.sh
find_jdk || exit 4
command -v chromium >/dev/null || ensure_packages report || exit 4
(build_lock && build_native && build_java) || exit 1
make -s -C examples/planted || exit 1
memtrace=$PWD/build/collector/memtrace
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export MEMTRACE_HOME=$tmp/home MEMTRACE_CACHE=$tmp/cache OMP_WAIT_POLICY=passive
for program in first_touch hot_page; do
	"$memtrace" record -q -o "$tmp/$program.memtrace" -- "build/examples/planted/$program" -c 0.7 >/dev/null || exit 1
	"$memtrace" report -q -o "$tmp/$program.html" "$tmp/$program.memtrace" || exit 1
done
"$memtrace" report -q -o "$tmp/example.html" testdata/format-example || exit 1
releng/check-report.py ${1:+--shots "$1"} --times "$tmp/first_touch.html" "$tmp/hot_page.html" "$tmp/example.html"
