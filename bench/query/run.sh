#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# CPU time of groups of 1e7 accesses, beside DuckDB on the Parquet that memtrace
# exports (docs/measured/import.md, "Groups, beside DuckDB"):
#
#   run.sh [DIR]      default build/bench-import, where bench/import/run.sh keeps its traces
#
# DuckDB comes from PyPI, pinned, into DIR; nothing else uses it.
set -eu
cd "$(dirname "$0")/../.."
. releng/tools.sh
find_jdk || exit 1
dir=${1:-build/bench-import}
mkdir -p "$dir"
releng/dev-compile.sh
java() {
	"$JAVA_HOME"/bin/java --enable-native-access=ALL-UNNAMED -Xmx2g -cp 'build/classes:build/lib/*' "$@"
}
[ -d "$dir/t7" ] || { java bench/import/ImportBench.java "$dir/t7" 10000000 100000 8 >"$dir/log"; rm -f "$dir/t7.db"; }
[ -f "$dir/query.db" ] || java org.memtrace.cli.Main import -o "$dir/query.db" "$dir/t7" >"$dir/log"
[ -d "$dir/query" ] || java org.memtrace.cli.Main export --format parquet -o "$dir/query" "$dir/query.db"
[ -x "$dir/venv/bin/python" ] || python3 -m venv "$dir/venv"
"$dir/venv/bin/python" -c 'import duckdb' 2>/dev/null || "$dir/venv/bin/pip" -q install duckdb==1.3.2
echo "| | groups by | first | least of 5 | |"
echo "|---|---|---:|---:|---|"
java bench/query/QueryBench.java "$dir/query.db" 1000000000
"$dir/venv/bin/python" bench/query/duck.py "$dir/query/accesses" 1000000000
