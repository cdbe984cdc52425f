#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Serves two recorded traces and uses the page in headless Chromium (check-serve.py).
#
#   releng/check-serve.sh [SHOTS]     also keeps screenshots in the folder SHOTS
set -u
cd "$(dirname "$0")/.." || exit 1
. releng/tools.sh
find_jdk || exit 4
command -v chromium >/dev/null || ensure_packages report || exit 4
(build_lock && build_native && build_java) || exit 1
tmp=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; wait; rm -rf "$tmp"' EXIT
export MEMTRACE_HOME=$tmp/home
build/collector/memtrace serve --port 0 --idle 10min testdata/traces/matmul-naive testdata/traces/stencil-serial >"$tmp/address" 2>"$tmp/log" &
server=$!
while [ ! -s "$tmp/address" ]; do
	kill -0 "$server" 2>/dev/null || { cat "$tmp/log"; exit 1; }
	sleep 0.2
done
releng/check-serve.py ${1:+--shots "$1"} "$(cat "$tmp/address")"
