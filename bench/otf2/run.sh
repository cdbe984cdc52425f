#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# An OTF2 archive read by memtrace otf2-stream, by otf2-print, and imported, in turns: bench/otf2/run.sh ANCHOR [ROUNDS].
# CPU seconds are user and system, of the JVM and the reading process together. Results are in docs/measured/import.md.
set -eu
cd "$(dirname "$0")/../.."
anchor=$(readlink -f "$1")
rounds=${2:-3}
. releng/tools.sh
find_jdk
make -s -C collector
releng/dev-compile.sh
dir=build/bench-otf2
rm -rf "$dir"
mkdir -p "$dir"
TIMEFORMAT='%R %U %S'
# measure NAME COMMAND...: name, events, wall seconds, CPU seconds, events per second, events per CPU second
measure() {
	local name=$1 t
	shift
	t=$({ time "$@" >/dev/null 2>&1; } 2>&1)
	echo "$t" | awk -v name="$name" -v n="$events" '{ printf "%-12s %10d events %7.2f s %7.2f CPU s %10.0f /s %10.0f /CPU s\n", name, n, $1, $2 + $3, n / $1, n / ($2 + $3) }'
}
import() {
	rm -f "$dir/x.db"
	"$JAVA_HOME"/bin/java -Xmx1g --enable-native-access=ALL-UNNAMED -Dmemtrace.launcher="$PWD/build/collector/memtrace" \
		-cp 'build/classes:build/lib/*' org.memtrace.cli.Main import -q -o "$dir/x.db" "$anchor"
}
stream() {
	build/collector/memtrace otf2-stream "$anchor" | cat
}
import >"$dir/report"
events=$(sed -n 's/^rows read *//p' "$dir/report" | tr -d ,)
for ((i = 0; i < rounds; i++)); do
	measure stream stream
	measure otf2-print otf2-print "$anchor"
	measure import import
done
ls -l "$dir/x.db" | awk -v n="$events" '{ printf "database     %10d bytes, %.1f for each event\n", $5, $5 / n }'
rm -rf "$dir"
