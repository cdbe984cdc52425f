#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# The R package: R CMD build with its vignette, R CMD check with its tests, on
# the recorded traces. By hand (./test.sh r): R and its packages are a download
# of their own. Needs what build_native and build_java of releng/tools.sh make.
set -u
cd "$(dirname "$(readlink -f "$0")")/.." || exit 1
. releng/tools.sh
find_jdk || exit 4
(build_lock && build_native && build_java) || exit 1
for package in bit64 dplyr ggplot2 readr rlang tibble knitr rmarkdown testthat; do
	Rscript -e "quit(status = !requireNamespace('$package', quietly = TRUE))" >/dev/null 2>&1 || {
		echo "SKIPPED: the R package: R or its package $package is not installed; see the group r of releng/packages.txt"
		exit 0
	}
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MEMTRACE="$PWD/build/collector/memtrace" MEMTRACE_ROOT="$PWD" MEMTRACE_HOME="$work/home" MEMTRACE_CACHE="$work/cache"
# what looks at the network, and at a clock on it
export _R_CHECK_CRAN_INCOMING_=false _R_CHECK_SYSTEM_CLOCK_=false
root=$PWD
cd "$work" || exit 1
R CMD build "$root/r" >"$root/build/r.log" 2>&1 || {
	tail -n 20 "$root/build/r.log"
	echo "FAILED: R CMD build"
	exit 1
}
R CMD check --no-manual memtrace_*.tar.gz >>"$root/build/r.log" 2>&1
rc=$?
rm -rf "$root/build/r"
cp -r memtrace.Rcheck "$root/build/r"
grep -E -A 12 '(WARNING|NOTE|ERROR)$' memtrace.Rcheck/00check.log
tail -n 2 memtrace.Rcheck/00check.log
if [ $rc != 0 ] || grep -qE '^\* checking .*(WARNING|ERROR)$' memtrace.Rcheck/00check.log; then
	echo "FAILED: R CMD check; its output is in build/r"
	exit 1
fi
