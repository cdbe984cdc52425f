#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# The table of docs/measured/import.md, "Speed": rows in the form of the page.
#
#   run.sh [DIR] [SIZE...]     sizes: 1e5 1e6 1e7 1e8 (default: all)
#
# DIR (default build/bench-import) gets the generated traces and keeps them:
# 8 GB for 1e8, 3 GB of databases besides.
set -eu
cd "$(dirname "$0")/../.."
. releng/tools.sh
find_jdk || exit 1
dir=${1:-build/bench-import}
[ $# = 0 ] || shift
mkdir -p "$dir"
releng/dev-compile.sh
java() {
	"$JAVA_HOME"/bin/java --enable-native-access=ALL-UNNAMED -Xmx1g -cp 'build/classes:build/lib/*' \
		bench/import/ImportBench.java "$@" >"$dir/log" 2>&1 || { cat "$dir/log"; exit 1; }
	grep '^|' "$dir/log"
	cat "$dir/log" >>"$dir/details.log"
	rm -f "$dir"/*.db
}
echo "| accesses | pages | threads | wall time | accesses per second | CPU time | bytes per access | peak of the heap | load |"
echo "|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
for size in ${*:-1e5 1e6 1e7 1e8}; do
	case $size in
	1e5) java "$dir/t5" 100000 10000 8 ;;
	1e6) java "$dir/t6" 1000000 100000 8; java "$dir/t6x64" 1000000 100000 64 ;;
	1e7) java "$dir/t7" 10000000 100000 8; java "$dir/d7" 10000000 100000 8 distinct; java "$dir/t7x64" 10000000 1000000 64 ;;
	1e8) java "$dir/t8" 100000000 1000000 64 ;;
	*) echo "run.sh: no size '$size'" >&2; exit 2 ;;
	esac
done
