# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Runs one question on a trace, whole and in parts, and prints CPU time and memory as the rows of docs/measured/scale.md.

measure.py JAVA DATABASE SPARK(yes|no) PARTS...
"""
import glob
import hashlib
import os
import re
import subprocess
import sys
import tempfile

java, database, with_spark = sys.argv[1:4]
counts = [int(n) for n in sys.argv[4:]]
# by thread in uniform slices of a part of the time: the chunks have to be read
QUESTION = ["--view", "thread", "--slices", "60", "--slicing", "uniform"]
PICK = ["-p", "0.4", "--format", "json"]
HEAP = os.environ.get("HEAP", "-Xmx1g")
BASE = [java, "--enable-native-access=ALL-UNNAMED", HEAP]
COMMAND = BASE + ["-cp", os.pathsep.join(sorted(glob.glob("build/lib/*.jar"))), "org.memtrace.cli.Main"]


def run(command, out=None):
    """CPU seconds and peak memory in bytes of a command; it must succeed."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=out if out else said, stderr=said)
        _, status, used = os.wait4(process.pid, 0)
        said.seek(0)
        text = said.read().decode()
    if status:
        sys.exit(" ".join(command[-12:]) + " failed: " + text)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, text


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def row(*cells):
    print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)


row("how", "CPU", "CPU of the longest task", "largest process", "bytes moved", "same bytes")
row("---", "---:", "---:", "---:", "---:", "---")
with tempfile.TemporaryDirectory() as folder:
    whole = os.path.join(folder, "whole.json")
    with open(whole, "wb") as out:
        cpu, peak, _ = run(COMMAND + ["aggregate"] + QUESTION + PICK + [database], out)
    row("one process", f"{cpu:.1f} s", f"{cpu:.1f} s", f"{peak / 1e6:.0f} MB", "–", "")
    for count in counts:
        files, cpus, peaks = [], [], []
        for k in range(1, count + 1):
            files.append(os.path.join(folder, f"{count}-{k}.part"))
            # a task has one processor
            cpu, peak, _ = run(BASE + ["-XX:ActiveProcessorCount=1"] + COMMAND[3:] + ["model-part", "--range", f"{k}/{count}", "-o", files[-1]]
                               + QUESTION + [database])
            cpus.append(cpu)
            peaks.append(peak)
        answer = os.path.join(folder, "answer.json")
        with open(answer, "wb") as out:
            cpu, peak, _ = run(COMMAND + ["aggregate"] + PICK + files, out)
        same = "yes" if digest(answer) == digest(whole) else "NO"
        row(f"{count} part{'s' if count > 1 else ''} + adding", f"{sum(cpus):.1f} + {cpu:.1f} s", f"{max(cpus):.1f} s",
            f"{max(peaks) / 1e6:.0f} + {peak / 1e6:.0f} MB", f"{sum(map(os.path.getsize, files)):,}", same)
    if with_spark == "yes":
        answer = os.path.join(folder, "spark.json")
        opens = [f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in (
            "java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util java.util.concurrent"
            " java.util.concurrent.atomic sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar").split()]
        with open("build/spark/classpath", encoding="utf-8") as f:
            path = f.read().strip().split(os.pathsep)
        path = ["build/spark/memtrace-spark.jar"] + path + sorted(glob.glob("build/lib/*.jar"))
        with open(answer, "wb") as out:
            cpu, peak, text = run(BASE + opens + ["-Dspark.master=local[2]", "-Dspark.ui.enabled=false", "-Dspark.driver.host=localhost",
                                                  "-Dspark.driver.bindAddress=127.0.0.1", "-cp", os.pathsep.join(path),
                                                  "org.memtrace.spark.MemtraceSpark", "aggregate"] + QUESTION + PICK + [database], out)
        tasks = re.search(r"(\d+) tasks, ([\d.]+) s of CPU, ([\d,]+) bytes shuffled, ([\d,]+) bytes", text)
        row(f"Spark, {tasks[1]} tasks, one process", f"{cpu:.1f} s, of it tasks {tasks[2]} s", "", f"{peak / 1e6:.0f} MB",
            f"{tasks[4]}, shuffled {tasks[3]}", "yes" if digest(answer) == digest(whole) else "NO")
