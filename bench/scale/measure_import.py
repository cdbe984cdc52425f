# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Imports a trace in one process and in parts, and prints CPU time and memory as the rows of docs/measured/scale.md.

measure_import.py JAVA TRACE PARTS...      CLASSPATH in the environment replaces that of the build
"""
import glob
import hashlib
import os
import sqlite3
import subprocess
import sys
import tempfile

java, trace = sys.argv[1:3]
counts = [int(n) for n in sys.argv[3:]]
HEAP = os.environ.get("HEAP", "-Xmx2g")
PATH = os.environ.get("CLASSPATH") or os.pathsep.join(sorted(glob.glob("build/lib/*.jar")))
BASE = [java, "--enable-native-access=ALL-UNNAMED", HEAP]
MAIN = ["-cp", PATH, "org.memtrace.cli.Main"]


def run(command):
    """CPU seconds and peak memory in bytes of a command; it must succeed."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        said.seek(0)
        text = said.read().decode()
    if status:
        sys.exit(" ".join(command[-8:]) + " failed: " + text)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def content(path):
    """A hash of each table of a database."""
    hashes = {}
    with sqlite3.connect(path) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
            sha = hashlib.sha256()
            for row in db.execute(f'SELECT * FROM "{name}"'):
                sha.update(repr(row).encode())
            hashes[name] = sha.hexdigest()
    return hashes


def row(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)


def megabytes(size):
    return f"{size / 1e6:,.0f} MB"


row("how", "step", "CPU", "CPU of the longest task", "largest process", "files of the step", "same tables")
row("---", "---", "---:", "---:", "---:", "---:", "---")
with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(trace))) as folder:
    # the same name of the database: it is in its tables
    os.mkdir(os.path.join(folder, "one"))
    whole = os.path.join(folder, "one", "trace.db")
    cpu, peak = run(BASE + MAIN + ["import", "-q", "-o", whole, trace])
    row("one process", "all", f"{cpu:.1f} s", f"{cpu:.1f} s", megabytes(peak), megabytes(os.path.getsize(whole)), "")
    wanted = content(whole)
    for count in counts:
        files = {}
        before = [trace]
        for step, ending in (("rows", "rows"), ("ranges", "part")):
            cpus, peaks, files[step] = [], [], []
            for k in range(1, count + 1):
                files[step].append(os.path.join(folder, f"{k}.{ending}"))
                # a task has one processor
                cpu, peak = run(BASE + ["-XX:ActiveProcessorCount=1"] + MAIN + ["import-part", "-q", "--range", f"{k}/{count}", "-o",
                                                                                files[step][-1]] + before)
                cpus.append(cpu)
                peaks.append(peak)
            before = files[step]
            row(f"{count} part{'s' if count > 1 else ''}", step, f"{sum(cpus):.1f} s", f"{max(cpus):.1f} s", megabytes(max(peaks)),
                megabytes(sum(map(os.path.getsize, files[step]))), "")
        for file in files["rows"]:
            os.remove(file)
        joined = os.path.join(folder, "trace.db")
        cpu, peak = run(BASE + MAIN + ["import", "-q", "-o", joined] + files["ranges"])
        found = content(joined)
        other = [name for name in sorted(set(wanted) | set(found)) if wanted.get(name) != found.get(name)]
        row("", "joining", f"{cpu:.1f} s", f"{cpu:.1f} s", megabytes(peak), megabytes(os.path.getsize(joined)),
            "yes" if not other else "NO: " + ", ".join(other))
        for file in files["ranges"] + [joined]:
            os.remove(file)
