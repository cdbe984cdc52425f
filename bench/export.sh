#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# Import and export by two builds in turns: CPU seconds of a new JVM, its start included.
#
#   export.sh CHECKOUT_A CHECKOUT_B TRACE [ROUNDS]
#
# In both checkouts releng/dev-compile.sh has run. TRACE is a trace directory; each build imports it in each round. IMPORT_A and IMPORT_B are
# further options of their import (IMPORT_B='--events yes': with rows for FrameSoc), JVM_A and JVM_B those of their JVM.
set -eu
a=$1 b=$2 trace=$3 rounds=${4:-5}
. "$(dirname "$(readlink -f "$0")")/../releng/tools.sh"
find_jdk
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
TIMEFORMAT='%U %S'

# cpu SIDE ARGUMENT...: CPU seconds of a command
cpu() {
	local at=${!1} options=JVM_${1^^}
	shift
	# shellcheck disable=SC2086
	{ time (cd "$at" && "$JAVA_HOME"/bin/java ${!options:-} --enable-native-access=ALL-UNNAMED -cp 'build/classes:build/lib/*' \
		org.memtrace.cli.Main "$@" >"$tmp/out" 2>"$tmp/err"); } 2>"$tmp/time" || { cat "$tmp/err" >&2; exit 1; }
	awk '{ print $1 + $2 }' "$tmp/time"
}

median() {
	sort -n | awk '{ v[NR] = $1 } END { print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2 }'
}

for ((i = 0; i < rounds; i++)); do
	for side in a b; do
		rm -rf "$tmp/$side.csv" "$tmp/$side.parquet" "$tmp/$side.db"
		import=IMPORT_${side^^}
		# shellcheck disable=SC2086
		cpu $side import ${!import:-} -o "$tmp/$side.db" "$trace" >>"$tmp/import.$side"
		cpu $side export -o "$tmp/$side.csv" "$tmp/$side.db" >>"$tmp/csv.$side"
		cpu $side export --format parquet -o "$tmp/$side.parquet" "$tmp/$side.db" >>"$tmp/parquet.$side"
	done
done
for what in import csv parquet; do
	echo "$what $(median <"$tmp/$what.a") $(median <"$tmp/$what.b")" |
		awk '{ printf "%-8s %6.2f %6.2f CPU s, %.2f times\n", $1, $2, $3, $3 / $2 }'
done
