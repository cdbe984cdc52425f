#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# How smooth the workbench is, in the workbench itself on a display of its own:
#   bench/ui/run.sh [FILE]
# FILE is the database of a trace of 1e7 accesses on 250,000 pages; it is made
# when it is not there (a minute). Prints the rows of the tables "Workbench" of
# docs/measured/workbench.md; BENCH_TESTS=GanttUiBenchmark runs a part. What
# the display thread did while it did not answer is in build/bench-ui.log.
set -eu
cd "$(dirname "$0")/../.."
. releng/tools.sh
find_jdk || exit 1
find_maven || exit 1
export JAVA_HOME NO_AT_BRIDGE=1
db=${1:-build/bench-big.db}
[ -f "$db" ] || bench/aggregation/run.sh model 10000000 250000 "$db" >&2
MEMTRACE_BENCH_DB=$(readlink -f "$db")
export MEMTRACE_BENCH_DB
log=build/bench-ui.log
mkdir -p build
xvfb-run -a -s '-screen 0 1280x1024x24 -r' "$MVN" -B -ntp verify -Dtest="${BENCH_TESTS:-*UiBenchmark}" \
	-Dsurefire.failIfNoSpecifiedTests=false -DfailIfNoTests=false </dev/null >$log 2>&1 || {
	tools_say "the benchmark failed, see $log"
	exit 1
}
printf '| what | result |\n|---|---|\n'
grep '^| ' $log
