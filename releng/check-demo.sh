#!/bin/sh
# Copyright memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Runs ./memtrace demo as on a machine without a display and looks at what it made.
set -u
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0

check() {
	what=$1
	shift
	if "$@" >/dev/null 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: $what"
	fi
}

env -u DISPLAY -u WAYLAND_DISPLAY ./memtrace demo --yes --no-open </dev/null
rc=$?
d=build/demo
check "the demo ends with 0, not $rc" [ $rc = 0 ]
check "the trace is complete" sh -c "build/collector/memtrace info --json $d/matmul.memtrace | grep -q '\"state\": *\"complete\"'"
check "the program ended with 0" sh -c "build/collector/memtrace info --json $d/matmul.memtrace | grep -q '\"exit_code\": *0'"
check "the database is one of SQLite" sh -c "head -c 15 $d/matmul.db | grep -q 'SQLite format 3'"
check "the picture is an SVG that ends" sh -c "grep -q '<svg' $d/matmul.svg && tail -n 1 $d/matmul.svg | grep -q '</svg>'"
check "the SVG names the matrices" sh -c "grep -q '>A\\b' $d/matmul.svg && grep -q '>B\\b' $d/matmul.svg && grep -q '>C\\b' $d/matmul.svg"
check "the other picture is a PNG of some size" sh -c "head -c 8 $d/matmul.png | od -An -c | grep -q 'P *N *G' && [ \$(wc -c <$d/matmul.png) -gt 5000 ]"
check "the summary tells something about B" grep -q '\bB\b' $d/summary.txt
check "the workbench is built" test -x build/workbench/memtrace-workbench
echo "demo: $passed passed, $failed failed"
[ $failed = 0 ]
