#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# What the workbench keeps in memory: one process imports a trace directory, shows each view once, changes colours and window ROUNDS
# times, and then does nothing for two minutes. Prints resident memory, heap and CPU time of the process at each of these points, and
# leaves what the JVM says of its memory in DIR: a histogram of the heap, and native memory where MEMTRACE_VMARGS has
# -XX:NativeMemoryTracking=summary.
#
# usage: bench/ui/memory.sh PRODUCT TRACE-DIRECTORY DIR [ROUNDS]      > table.md
#   PRODUCT  a folder with memtrace-workbench

set -eu
export LC_ALL=C.UTF-8 NO_AT_BRIDGE=1
product=$(readlink -f "$1") trace=$(readlink -f "$2") rounds=${4:-15}
mkdir -p "$3"
out=$(readlink -f "$3")
if [ -z "${BENCH_DISPLAY:-}" ]; then
	BENCH_DISPLAY=yes exec xvfb-run -a -s '-screen 0 1600x960x24 -r' "$0" "$product" "$trace" "$out" "$rounds"
fi
here=$(dirname "$(readlink -f "$0")")
# shellcheck source=releng/tools.sh
. "$here/../../releng/tools.sh"
find_jdk || exit 1
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2> /dev/null || :; rm -rf "$work"' EXIT
export HOME=$work/home XDG_CACHE_HOME=$work/cache XDG_STATE_HOME=$work/state MEMTRACE_HOME=$work/catalogue MEMTRACE_JAVA=$JAVA_HOME
mkdir -p "$HOME"
hz=$(getconf CLK_TCK)

# cpu: CPU time of the process in milliseconds
cpu() {
	local stat
	stat=$(< "/proc/$pid/stat")
	# shellcheck disable=SC2086
	set -- ${stat##*) }
	echo $(((${12} + ${13}) * 1000 / hz))
}

# settle SECONDS: waits until the process uses less than a twentieth of a CPU for three seconds
settle() {
	local before now
	sleep "${1:-2}"
	before=$(cpu)
	while sleep 3; do
		now=$(cpu)
		[ $((now - before)) -ge 150 ] || break
		before=$now
	done
}

# point NAME
point() {
	local rss heap
	rss=$(awk '/^VmRSS/ { print int($2 / 1024) }' "/proc/$pid/status")
	# of any collector: committed and used, in KB, of all parts of the heap
	heap=$("$JAVA_HOME/bin/jcmd" "$pid" GC.heap_info 2> /dev/null | awk '
		/Metaspace|class space/ { next }
		/ total [0-9]+K, used [0-9]+K/ { for (i = 1; i < NF; i++) { if ($i == "total") t += $(i + 1); if ($i == "used") u += $(i + 1) } }
		/ committed [0-9]+K, used [0-9]+K/ { for (i = 1; i < NF; i++) { if ($i == "committed") t += $(i + 1); if ($i == "used") u += $(i + 1) } }
		END { printf "%d, %d", t / 1024, u / 1024 }')
	printf '| %s | %s | %s | %s.%s |\n' "$1" "$rss" "$heap" $(($(cpu) / 1000)) $(($(cpu) % 1000 / 100))
}

keys() {
	xdotool key --delay 60 "$@"
}

# command WORDS: by Find everything (Ctrl+K)
command() {
	xdotool search --onlyvisible --name memtrace windowfocus --sync key ctrl+k 2> /dev/null || :
	sleep 1
	xdotool type --delay 30 "$1"
	sleep 2
	keys Return
	settle 1
}

"$product/memtrace-workbench" -new -data "$work/data" "$trace" > "$out/log" 2>&1 < /dev/null &
pid=$!
until xdotool search --onlyvisible --name memtrace > /dev/null 2>&1; do
	kill -0 "$pid" 2> /dev/null || { cat "$out/log" >&2; exit 1; }
	sleep 0.5
done
printf '| at | resident, MB | heap kept, used, MB | CPU, s |\n|---|---|---|---|\n'
settle 5
point "imported, first picture"
for view in Findings Structures Gantt Events Statistics Density Machine Profile Binding Source; do
	command "show $view"
done
point "each view once"
for ((i = 0; i < rounds; i++)); do
	command "show Ocelotl"
	case $((i % 5)) in
	0) keys t ;;
	1) keys plus ;;
	2) keys s ;;
	3) keys minus ;;
	4) keys alt+Left ;;
	esac
	settle 1
done
point "$rounds changes"
import -window root "$out/end.png" 2> /dev/null || :
sleep 120
point "idle for two minutes"
"$JAVA_HOME/bin/jcmd" "$pid" GC.heap_info > "$out/heap_info" 2>&1 || :
"$JAVA_HOME/bin/jcmd" "$pid" VM.native_memory summary > "$out/native_memory" 2>&1 || :
cat "/proc/$pid/smaps" > "$out/smaps"
"$JAVA_HOME/bin/jcmd" "$pid" GC.class_histogram > "$out/histogram" 2>&1 || :
sleep 25
point "after a full collection"
