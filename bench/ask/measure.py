# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Asks questions in processes of their own, and prints CPU time and memory as rows of a table.

measure.py JAVA DRIVER DIR ROUNDS      DIR has t6.db and t7.db; the tables of the others are made there once
"""
import os
import sqlite3
import subprocess
import sys

java, driver, folder, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
EXTENSION = os.path.abspath("build/collector/memtrace.duckdb_extension")
COLUMNS = "start_ns, end_ns, time_ns, producer, page_start, structure_id, thread_index, reads, writes, sharing, structure, thread"
SLICE = 50_000_000
QUESTIONS = {
    "count": "select count(*) from access",
    "sum": "select sum(reads), sum(writes) from access",
    "by structure and sharing": "select structure, sharing, count(*), sum(reads) from access group by structure, sharing order by 1, 2",
    "top 20 pages": "select producer, sum(reads + writes) from access group by producer order by 2 desc, 1 limit 20",
    "slices of time": f"select {{slice}} as slice, count(*) from access group by 1 order by 1",
    "with structures": "select s.name, count(*), sum(a.writes) from access a join structure s on s.id = a.structure_id group by s.name order by 1",
    "all columns": "select " + ", ".join(f"max({c.strip()})" for c in COLUMNS.split(",")) + " from access",
}


def used(command, **more):
    """CPU seconds, MiB and output of a command, which must succeed."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, **more)
    out = process.stdout.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    process.stdout.close()
    if status:
        sys.exit(" ".join(command)[-300:] + " failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out


def paths(name):
    return tuple(os.path.join(folder, name + end) for end in (".db", ".ask.parquet", ".ask.sqlite"))


def prepare(name):
    """The rows of a database as Parquet and as a table of sqlite3."""
    database, parquet, table = paths(name)
    if not os.path.exists(table):
        import duckdb
        db = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        db.execute(f"load '{EXTENSION}'")
        for what, source in (("access", f"select {COLUMNS} from memtrace_access('{database}')"),
                             ("structure", f"select id, name from memtrace_structure('{database}')")):
            db.execute(f"copy ({source}) to '{parquet}.{what}' (format parquet, compression zstd)")
        db.close()
        with sqlite3.connect(table + ".tmp") as to:
            read = duckdb.connect()
            for what in ("access", "structure"):
                rows = read.execute(f"from read_parquet('{parquet}.{what}')")
                names = [d[0] for d in rows.description]
                to.execute(f"create table {what}({', '.join(names)})")
                while some := rows.fetchmany(100_000):
                    to.executemany(f"insert into {what} values({', '.join('?' * len(names))})", some)
        os.rename(table + ".tmp", table)


def ask(engine, where, sql):
    database, parquet, table = where
    text = sql.replace("{slice}", f"time_ns / {SLICE}" if engine == "sqlite3" else f"time_ns // {SLICE}")
    if engine == "memtrace sql":
        env = dict(os.environ, MEMTRACE_DUCKDB=driver, MEMTRACE_CACHE=os.path.join(folder, "cache"), MEMTRACE_HOME=os.path.join(folder, "home"))
        path = os.pathsep.join(["build/classes", "build/lib/*"])
        return used([java, "--enable-native-access=ALL-UNNAMED", "-XX:TieredStopAtLevel=1", "-cp", path, "org.memtrace.cli.Main", "sql",
                     "--format", "csv", "--threads", "2", database, text], env=env)
    if engine == "sqlite3":
        code = f"import sqlite3\nfor r in sqlite3.connect({table!r}).execute({text!r}): print(r)"
    else:
        code = (f"import duckdb\nd = duckdb.connect(); d.execute('set threads = 2')\nfor t in ('access', 'structure'):\n"
                f" d.execute(f\"create view {{t}} as from read_parquet('{parquet}.{{t}}')\")\nprint(d.execute({text!r}).fetchall())")
    return used([sys.executable, "-c", code])


if len(sys.argv) > 5:  # in a process of its own: the memory of this one counts for those that it starts
    prepare(sys.argv[5])
    sys.exit()
print(f"load {os.getloadavg()[0]:.0f}, least of {rounds} rounds")
for name, count in (("t6", "1e6"), ("t7", "1e7")):
    subprocess.run([sys.executable, __file__, *sys.argv[1:5], name], check=True)
    print(f"\n| {count}: question | memtrace sql | | DuckDB on Parquet | | sqlite3 | |\n|---|---:|---:|---:|---:|---:|---:|")
    for title, sql in QUESTIONS.items():
        best = {}
        for _ in range(rounds):
            for engine in ("memtrace sql", "DuckDB", "sqlite3"):
                cpu, mib, _out = ask(engine, paths(name), sql)
                seconds, memory = best.get(engine, (1e9, 0))
                best[engine] = (min(seconds, cpu), max(memory, mib))
        print(f"| {title} | " + " | ".join(f"{s:.2f} s | {m:.0f} MiB" for s, m in best.values()) + " |", flush=True)
