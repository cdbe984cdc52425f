#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Size of reports and what a reader waits for (docs/measured/report.md): the worked example of the trace format, a recorded
# stencil, and a made trace with 1,000,000 pages and 8 threads. Prints a markdown table.
#
#   bench/report/run.sh [DIR]     keeps traces and reports in DIR (default build/bench-report)
set -eu
cd "$(dirname "$0")/../.."
. releng/tools.sh
find_jdk || exit 4
ensure_packages report || exit 4
(build_lock && build_native && build_java) || exit 1
make -s -C examples stencil
dir=${1:-build/bench-report}
mkdir -p "$dir"
export MEMTRACE_HOME=$dir/home OMP_WAIT_POLICY=passive
memtrace=build/collector/memtrace
[ -d "$dir/stencil.memtrace" ] || $memtrace record -q -o "$dir/stencil.memtrace" -- build/examples/stencil serial >"$dir/log" 2>&1
[ -d "$dir/million.memtrace" ] || bench/report/made_trace.py "$dir/million.memtrace" 1000000 8 >"$dir/log"
$memtrace report -q -o "$dir/example.html" testdata/format-example
$memtrace report -q -o "$dir/stencil.html" "$dir/stencil.memtrace"
$memtrace report -q -o "$dir/million.html" "$dir/million.memtrace"
echo "$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1), $(nproc) CPUs, commit $(git rev-parse --short HEAD), $(chromium --version 2>/dev/null), load $(cut -d' ' -f1 /proc/loadavg)"
echo
bench/report/measure.py "$dir"/{example,stencil,million}.html
