#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""What the fine clock costs and how well it knows: a table of error against price, by the number of pages.

usage: bench/manycore/run.py [--turns N] [--cpu-ms MS] [--pages K,K,...] [PLAN...]

Programs that note each page that they use (collector/tests/fine/uses.c) get a fixed CPU time, and their work is counted: alone,
recorded by complete looks only (one in 10 s), and with the fine clock, all in turn, N times. The price is the work that is missing
against the recording without the fine clock in the same turn (median of the turns), so that it does not depend on the load, which is told.
Errors are those of compare.py: pages in use by structure and 50 ms, against the notes.

The programs are built by make -C collector/tests. On a machine with many cores the same command shows what depends on them; NPB, LULESH and
others: bench/programs.sh."""
import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
memtrace = os.environ.get("MEMTRACE", top + "/build/collector/memtrace")
program = top + "/build/collector/tests/uses"
options = argparse.ArgumentParser(usage=__doc__)
options.add_argument("--turns", type=int, default=5)
options.add_argument("--cpu-ms", type=int, default=1500)
options.add_argument("--pages", default="32,128,512")
options.add_argument("plans", nargs="*", default=["phases", "wander", "bursts", "hash"])
a = options.parse_args()
how = ["alone", "looks"] + [int(k) for k in a.pages.split(",")]


def run(way, plan, folder):
    """The work that was done, and the line of compare.py."""
    trace, notes = folder + "/trace", folder + "/notes"
    shutil.rmtree(trace, ignore_errors=True)
    command = [program, notes, str(a.cpu_ms), plan]
    if way != "alone":
        fine = [] if way == "looks" else ["--fine", "50ms", "--fine-pages", str(way)]
        command = [memtrace, "record", "--quiet", "--interval", "10s", "--subphases", "1", *fine, "-o", trace, "--", *command]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout
    work = sum(int(n) for n in re.search(r"uses: (\d+) (\d+)", out).groups())
    said = ""
    if isinstance(way, int):
        compare = [top + "/collector/tests/fine/compare.py", trace + "/p0000", notes]
        said = subprocess.run(compare, stdout=subprocess.PIPE, check=True, text=True).stdout
    return work, said


def value(said, word):
    return float(re.search(word + r" ([0-9.]+)", said).group(1))


def percent(values):
    middle = statistics.median(values)
    return "%.1f (%.1f to %.1f)" % (middle, min(values), max(values)) if len(values) > 1 else "%.1f" % middle


print("load %s, %d turns, %d ms of CPU time for each of two threads" % (" ".join("%.1f" % x for x in os.getloadavg()), a.turns, a.cpu_ms))
print("| program | pages | less work, % | error of pages in use, % | written, % | interval of 95 % held, % | faults a bin | "
      "recorder, ms a bin | lost bins |")
print("|---|---|---|---|---|---|---|---|---|")
for plan in a.plans:
    work = {way: [] for way in how}
    said = {way: [] for way in how}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(a.turns):
            for way in how:
                w, s = run(way, plan, folder)
                work[way].append(w)
                said[way].append(s)
    less = [100 * (1 - r / n) for r, n in zip(work["looks"], work["alone"])]
    print("| %s | complete looks only, against alone | %s | | | | | | |" % (plan, percent(less)))
    for way in how[2:]:
        less = [100 * (1 - r / n) for r, n in zip(work[way], work["looks"])]
        mean = [statistics.mean(value(s, word) for s in said[way]) for word in ("error", "written", "held", "faults/bin", "monitor")]
        lost = sum(value(s, "lost") for s in said[way])
        print("| %s | %d | %s | %.2f | %.2f | %.1f | %.0f | %.2f | %.0f |" % (plan, way, percent(less), *mean, lost))
        sys.stdout.flush()
