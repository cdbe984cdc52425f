#!/bin/sh
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# DuckDB's extension (collector/duckdb): damaged databases under ASan and UBSan, and what somebody does who has no memtrace but DuckDB's
# Python package. That comes pinned from PyPI, into build/duckdb-venv.
#
#   check-duckdb.sh [COPIES]     default 120 damaged copies of each database
set -eu
cd "$(dirname "$0")/.."
. releng/tools.sh
find_jdk || exit 4
(build_lock && build_native && build_java) || exit 1
extension=$PWD/build/collector/memtrace.duckdb_extension
[ -f "$extension" ] || { echo "duckdb: there is no extension; install the packages of releng/packages.txt, and build again" >&2; exit 1; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export MEMTRACE_HOME="$tmp/home" MEMTRACE_CACHE="$tmp/cache"
make -s -C collector BUILD=../build/collector ../build/collector/asan/duckdb/damage
passed=0 failed=0
for trace in testdata/format-example testdata/traces/heap-reuse testdata/traces/stencil-parallel; do
	name=$(basename "$trace")
	build/collector/memtrace import -o "$tmp/$name.db" "$trace" >/dev/null 2>&1
	seed=$(date +%s)
	if build/collector/asan/duckdb/damage "$tmp/$name.db" "${1:-120}" "$seed" >"$tmp/out" 2>&1; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED: damaged copies of $name, seed $seed: $(tail -n 20 "$tmp/out")"
	fi
done
venv=build/duckdb-venv
[ -x $venv/bin/python ] || python3 -m venv $venv
$venv/bin/python -c 'import duckdb' 2>/dev/null || $venv/bin/pip -q install duckdb==1.4.4
for db in "$tmp"/*.db; do
	said=$($venv/bin/python - "$extension" "$db" 2>&1 <<-'END'
		import sqlite3, sys, duckdb
		db = duckdb.connect(config={"allow_unsigned_extensions": "true"})
		db.execute(f"load '{sys.argv[1]}'")
		n, r, w = db.execute("select count(*), sum(reads), sum(writes) from memtrace_access(?)", [sys.argv[2]]).fetchone()
		right = sqlite3.connect(sys.argv[2]).execute("select sum(ROWS), sum(READS), sum(WRITES) from MT_CHUNK").fetchone()
		assert (n, r, w) == right, (n, r, w, right)
		one = db.execute("select structure, min(start_ns), count(*) from memtrace_access(?) group by 1 order by 3 desc limit 1",
		                 [sys.argv[2]]).fetchone()
		some = db.execute("select count(*) from memtrace_access(?, structure := ?)", [sys.argv[2], one[0]]).fetchone()
		assert some[0] == one[2], (some, one)
		ends = db.execute("select min(start_ns), max(end_ns) from memtrace_access(?)", [sys.argv[2]]).fetchone()
		middle = (ends[0] + ends[1]) // 2
		halves = [db.execute(f"select count(*) from memtrace_access(?{window})", [sys.argv[2]]).fetchone()[0]
		          for window in (f", to_ns := {middle}", f", from_ns := {middle}")]
		spans = db.execute("select count(*) from memtrace_access(?) where start_ns < ? and end_ns > ?", [sys.argv[2], middle, middle]).fetchone()[0]
		assert sum(halves) - spans == n, (halves, spans, n)
		for wrong, word in ((f"memtrace_access('{sys.argv[2]}', structure := 'nosuch')", "there is no structure"),
		                    (f"memtrace_access('{sys.argv[2]}', thread := 4711)", "there is no thread"),
		                    ("memtrace_access('/dev/null')", "is no file"), ("memtrace_access('/etc/passwd')", "memtrace: ")):
		    try:
		        db.execute("from " + wrong)
		        sys.exit(wrong + " is taken")
		    except duckdb.Error as e:
		        assert word in str(e), e
	END
	) && passed=$((passed + 1)) || { failed=$((failed + 1)); echo "FAILED: DuckDB on $(basename "$db"): $said"; }
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
