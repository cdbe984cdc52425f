#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
# CPU time and memory of whole processes that answer questions about 1e6 and 1e7 accesses: `memtrace sql` on the database, DuckDB on Parquet
# with the same rows, and sqlite3 on a table of them, one after the other in each round (docs/measured/import.md):
#
#   run.sh [DIR [ROUNDS]]      default build/bench-import, where bench/import/run.sh keeps its traces, and 3 rounds
#
# DuckDB for Python comes from PyPI, pinned, into DIR; sqlite3 is that of Python.
set -eu
cd "$(dirname "$0")/../.."
. releng/tools.sh
find_jdk || exit 1
dir=${1:-build/bench-import}
mkdir -p "$dir"
make -s -C collector
releng/dev-compile.sh
fetch_duckdb build/test-lib
java() {
	"$JAVA_HOME"/bin/java --enable-native-access=ALL-UNNAMED -Xmx2g -cp 'build/classes:build/lib/*' "$@"
}
for digits in 6 7; do
	[ -d "$dir/t$digits" ] || java bench/import/ImportBench.java "$dir/t$digits" "$(printf '1%0*d' $digits 0)" 100000 8 >"$dir/log"
	[ -f "$dir/t$digits.db" ] || java org.memtrace.cli.Main import -o "$dir/t$digits.db" "$dir/t$digits" >"$dir/log"
done
[ -x "$dir/venv/bin/python" ] || python3 -m venv "$dir/venv"
"$dir/venv/bin/python" -c 'import duckdb; exit(duckdb.__version__ != "1.4.4")' 2>/dev/null || "$dir/venv/bin/pip" -q install duckdb==1.4.4
"$dir/venv/bin/python" bench/ask/measure.py "$JAVA_HOME/bin/java" "$duckdb" "$dir" "${2:-3}"
