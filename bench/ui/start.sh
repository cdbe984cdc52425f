#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# What starting the workbench costs: CPU time of the process until its window is
# seen, and until it has nothing more to do, in turns on a display of its own.
# The first start of each is not counted: it makes caches. A start that uses
# less than a tenth of a CPU for half a second has nothing more to do.
#
# usage: bench/ui/start.sh RUNS TRACE|- PRODUCT...      > table.md
#   TRACE    is opened at the start; - for none
#   PRODUCT  a folder with memtrace-workbench; variables that are set for it
#            stand before it with commas: MEMTRACE_VMARGS=-Xint,/opt/memtrace

set -eu
export LC_ALL=C NO_AT_BRIDGE=1
runs=$1 trace=$2
shift 2
if [ -z "${BENCH_DISPLAY:-}" ]; then
	BENCH_DISPLAY=yes exec xvfb-run -a -s '-screen 0 1600x960x24 -r' "$0" "$runs" "$trace" "$@"
fi
[ "$trace" = - ] || trace=$(readlink -f "$trace")
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2> /dev/null || :; rm -rf "$work"' EXIT
hz=$(getconf CLK_TCK)

# cpu PID: its CPU time in milliseconds
cpu() {
	local stat
	stat=$(< "/proc/$1/stat")
	# shellcheck disable=SC2086
	set -- ${stat##*) }
	echo $(((${12} + ${13}) * 1000 / hz))
}

now() {
	echo $((${EPOCHREALTIME/./} / 1000))
}

# start NUMBER PRODUCT: prints CPU and wall time until the window, CPU time until nothing is to do
start() {
	local home=$work/home$1 product= data before used began word
	local -a words
	local -a settings=()
	mkdir -p "$home"
	data=$(mktemp -d "$work/data.XXXX")
	IFS=, read -ra words <<< "$2"
	for word in "${words[@]}"; do
		case $word in *=*) settings+=("$word") ;; *) product=$word ;; esac
	done
	began=$(now)
	env HOME="$home" XDG_CACHE_HOME="$home/cache" XDG_STATE_HOME="$home/state" MEMTRACE_HOME="$work/catalogue" ${settings[@]+"${settings[@]}"} \
		"$product/memtrace-workbench" -new -data "$data" ${trace_argument[@]+"${trace_argument[@]}"} > "$work/log" 2>&1 < /dev/null &
	pid=$!
	until xdotool search --onlyvisible --name memtrace > /dev/null 2>&1; do
		kill -0 "$pid" 2> /dev/null || { cat "$work/log" >&2; exit 1; }
		sleep 0.05
	done
	printf '%d %d ' "$(cpu "$pid")" $(($(now) - began))
	before=$(cpu "$pid")
	while sleep 0.5; do
		used=$(cpu "$pid")
		[ $((used - before)) -ge 50 ] || break
		before=$used
	done
	echo "$used"
	# the JVM writes its archive when it is asked to end, too
	kill "$pid" 2> /dev/null || :
	wait "$pid" 2> /dev/null || :
	pid=
}

trace_argument=()
[ "$trace" = - ] || trace_argument=("$trace")
for ((run = 0; run <= runs; run++)); do
	n=0
	for product in "$@"; do
		n=$((n + 1))
		start $n "$product" > "$work/line"
		[ $run = 0 ] || cat "$work/line" >> "$work/times$n"
	done
done

# median FILE COLUMN
median() {
	cut -d' ' -f"$2" "$1" | sort -n | awk '{ v[NR] = $1 } END { printf "%.2f (%.2f to %.2f)", v[int((NR + 1) / 2)] / 1000, v[1] / 1000, v[NR] / 1000 }'
}

printf '| product | CPU until the window, s | CPU until idle, s | wall until the window, s |\n|---|---|---|---|\n'
n=0
for product in "$@"; do
	n=$((n + 1))
	printf '| %s | %s | %s | %s |\n' "$product" "$(median "$work/times$n" 1)" "$(median "$work/times$n" 3)" "$(median "$work/times$n" 2)"
done
