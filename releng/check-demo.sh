#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
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

# The product itself, on a display of its own: its window names the trace.
window() {
	tmp=$(mktemp -d)
	XDG_STATE_HOME=$tmp XDG_DATA_HOME=$tmp NO_AT_BRIDGE=1 LIBGL_ALWAYS_SOFTWARE=1 \
		xvfb-run -a -s '-screen 0 1280x1024x24' sh -c '
			build/collector/memtrace open "$1" >"$2/log" 2>&1 &
			workbench=$!
			found=1 tries=0
			while [ $found != 0 ] && [ $tries -lt 400 ] && kill -0 $workbench 2>/dev/null; do
				sleep 1
				tries=$((tries + 1))
				xdotool search --name "^matmul" >/dev/null 2>&1 && found=0
			done
			kill $workbench 2>/dev/null
			wait $workbench 2>/dev/null
			exit $found' sh "$1" "$tmp" 2>/dev/null
	rc=$?
	[ $rc = 0 ] || cat "$tmp/log" >&2
	rm -rf "$tmp"
	return $rc
}
if command -v xvfb-run >/dev/null && command -v xdotool >/dev/null; then
	if window $d/matmul.db; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: the workbench does not open the trace"
	fi
else
	echo "SKIPPED: the workbench is not started: xvfb-run or xdotool is not installed"
fi
echo "demo: $passed passed, $failed failed"
[ $failed = 0 ]
