# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""The questions of QueryBench.java, asked of our Parquet by DuckDB: duck.py FOLDER WINDOW_NS."""
import sys
import time

import duckdb

folder, window = sys.argv[1], int(sys.argv[2])
for by, keys in (("type", "type"), ("structure,thread", "structure, thread"), ("time", f"start_ns // {window}"),
                 ("structure", "structure")):
    first, least, answer = 0, 1e9, ""
    for turn in range(5):
        cpu = time.process_time()
        db = duckdb.connect()
        db.execute("SET threads = 2")
        n, records, reads, writes = db.execute(
            f"SELECT count(*), sum(n), sum(r), sum(w) FROM (SELECT {keys}, count(*) n, sum(reads) r, sum(writes) w"
            f" FROM read_parquet('{folder}/*/*.parquet', hive_partitioning = false) GROUP BY ALL)").fetchone()
        db.close()
        seconds = time.process_time() - cpu
        first = seconds if turn == 0 else first
        least = min(least, seconds)
        answer = f"{n} groups, {records} records, {reads} reads, {writes} writes"
    print(f"| DuckDB {duckdb.__version__} | {by} | {first:.2f} s | {least:.2f} s | {answer} |")
