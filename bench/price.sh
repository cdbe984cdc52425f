#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# What it costs a program to be recorded where it makes memory and processes: CPU time (user + system of the program with all
# its processes, the monitor, and record with its start and its finish) and wall time, alone, with --backend none and with the
# default backend, in turns; medians of RUNS. Writes a markdown table to stdout.
#
# usage: bench/price.sh [-r RUNS] [-o MEMTRACE] [-a "OPTIONS"] [CASE...] > table.md
#   -r RUNS      runs of each (5)
#   -o MEMTRACE  another build to compare with, taken in turns with this one
#   -a OPTIONS   options of record; without, the defaults
#   CASE         storm forks forks-live soak shell python short start blocks, or stress-NAME:OPERATIONS of stress-ng; without: all
#                of them, with the stressors that make much memory or many processes
#
# TMPDIR says where the traces are; in a tmpfs (/dev/shm) the file system of the machine is not measured as well.
# forks-live says on standard error by how many KiB the memory of the machine that is available became less, for each run.

set -u
export LC_ALL=C
top=$(cd "$(dirname "$0")/.." && pwd)
MEMTRACE=${MEMTRACE:-$top/build/collector/memtrace}
runs=5 other= options= traces=0
while getopts r:o:a:h o; do
	case $o in
	r) runs=$OPTARG ;;
	o) other=$OPTARG ;;
	a) options=$OPTARG ;;
	*) sed -n '5,19s/^# \{0,1\}//p' "$0"; exit 2 ;;
	esac
done
shift $((OPTIND - 1))
[ -x "$MEMTRACE" ] || make -s -C "$top/collector" >&2 || exit 1
. "$top/bench/cpu.sh"
for p in "$top"/bench/price/*.c; do
	gcc -O2 -pthread -o "$work/$(basename "$p" .c)" "$p" || exit 1
done

# command_of CASE: sets c, or says that it is not there
command_of() {
	case $1 in
	storm) c=("$work/storm") ;;
	forks) c=("$work/forks" 200) ;;
	forks-live) c=("$work/forks" 200 live) ;;
	soak) c=("$work/soak" 400) ;;
	shell) c=(sh -c 'i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i+1)); done') ;;
	python) c=(python3 -c 'd = {}
for i in range(400000): d[i % 50021] = str(i)
print(len(d))') ;;
	short) c=("$work/short") ;;
	start) c=(/bin/true) ;;
	blocks) c=("$work/blocks") ;;
	stress-*)
		local s=${1#stress-} ops=${1##*:}
		c=(stress-ng --quiet --"${s%:*}" 1 --"${s%:*}-ops" "$ops")
		;;
	*) echo "price.sh: no case $1" >&2; exit 2 ;;
	esac && command -v "${c[0]}" > /dev/null
}

# run_of KIND COMMAND...: once; the CPU and wall time in ms are appended to $key.KIND
run_of() {
	local kind=$1 m=$MEMTRACE backend=()
	shift
	# none is deleted before the end: after that ext4 looks longer for a place for each new file
	traces=$((traces + 1))
	case $kind in *-before) m=$other ;; esac
	case $kind in none*) backend=(--backend none) ;; esac
	case $kind in
	# shellcheck disable=SC2086
	none* | zap*) cpu_ms "$key.$kind" "$m" record --quiet $options "${backend[@]}" -o "$work/trace-$traces" -- "$@" ;;
	*) cpu_ms "$key.$kind" "$@" ;;
	esac
	[ $name != forks-live ] || echo "forks-live, $kind: $(tail -n 1 "$key.$kind.err") KiB" >&2
}

kinds=(alone none zap)
[ -z "$other" ] || kinds=(alone none-before none zap-before zap)
title="| case | alone, CPU s | wall s |" line='|---|---:|---:|'
for k in "${kinds[@]:1}"; do
	title+=" ${k/-/ }, CPU | wall |" line+='---:|---:|'
done
echo "$title"
echo "$line"
[ $# -gt 0 ] || set -- storm forks forks-live soak shell python short start blocks \
	stress-{fork:500,munmap:40000,mmapaddr:10000,sigchld:1500,exit-group:100,pidfd:600,dup:30,brk:60000,malloc:6000,full:15000,prctl:60}
for name; do
	if ! command_of "$name"; then
		echo "price.sh: what $name needs is not installed" >&2
		continue
	fi
	key=$work/$name
	for ((run = 0; run < runs; run++)); do
		# who comes first finds other caches
		for ((k = 0; k < ${#kinds[@]}; k++)); do
			run_of "${kinds[(k + run) % ${#kinds[@]}]}" "${c[@]}"
		done
	done
	line="| $name |"
	for k in "${kinds[@]}"; do
		for field in 1 2; do
			v=$(median "$key.$k" $field)
			[ "$k" != alone ] || printf -v "alone$field" %s "$v"
			own=alone$field
			if [ "$k" = alone ]; then
				line+=$(awk -v v="$v" 'BEGIN { printf " %.3f |", v / 1000 }')
			else
				line+=$(awk -v v="$v" -v own="${!own}" 'BEGIN { if (own) printf " %.2f |", v / own; else print " - |" }')
			fi
		done
	done
	echo "$line"
done
echo
echo "$runs runs of each in turns, the medians; load $(cut -d' ' -f1-3 /proc/loadavg) at the end"
