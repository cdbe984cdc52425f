#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Runs the unit tests given as arguments; the last line is "N passed, N failed".
passed=0 failed=0
for t; do
	if out=$("$t" 2>&1); then
		passed=$((passed + 1))
		echo "ok      $(basename "$t")  $(echo "$out" | tail -n 1)"
	else
		failed=$((failed + 1))
		echo "FAILED  $(basename "$t")"
		echo "$out"
	fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
