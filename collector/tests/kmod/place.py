# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""place.py MEMTRACE DIRECTORY NODES...: predicted against recorded remote shares, see place.sh.

DIRECTORY/NODES/POLICY are recordings of the same program with that policy. A line for each policy: its name, the
share that was predicted from the recording first-touch with its interval, the recorded one, the error in points, ok or FAILED.
"""
import json
import os
import subprocess
import sys


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def of(policies, name):
    return next(p for p in policies if p["policy"] == name)


memtrace, directory = sys.argv[1:3]
print("machine    policy            predicted  interval           recorded  error  of the grids: predicted, interval, recorded")
for nodes in sys.argv[3:]:
    placed = {}
    for name in sorted(n for n in os.listdir(os.path.join(directory, nodes)) if not n.endswith(".db")):
        trace = os.path.join(directory, nodes, name)
        db = trace + ".db"
        run(memtrace, "import", "--quiet", "-o", db, trace)
        placed[name] = json.loads(run(memtrace, "place", "--format", "json", db))
    first = placed["first-touch"]
    for name, other in placed.items():
        if name == "first-touch-again":
            policy = "first-touch"
        else:
            policy = name
        rows = []
        for which in ("total", "grids"):
            def share(p, policy):
                if which == "total":
                    return of(p["policies"], policy)
                both = [of(s["policies"], policy) for s in p["structures"] if s["structure"] in ("old_grid", "new_grid")]
                w = [s["accesses"] for s in p["structures"] if s["structure"] in ("old_grid", "new_grid")]
                return {k: sum(b[k] * x for b, x in zip(both, w)) / sum(w) for k in ("remote", "remote_least", "remote_most")}
            predicted = share(first, policy)
            recorded = share(other, "recorded")
            rows.append((predicted["remote"], predicted["remote_least"], predicted["remote_most"], recorded["remote"]))
        (p, a, b, r), (gp, ga, gb, gr) = rows
        good = a - 5e-4 <= r <= b + 5e-4
        print(f"{nodes} nodes    {name:16} {100*p:8.1f} %  {100*a:5.1f} .. {100*b:5.1f} %  {100*r:7.1f} %  {100*(p-r):+5.1f}"
              f"  {100*gp:5.1f} % {100*ga:5.1f} .. {100*gb:5.1f} % {100*gr:5.1f} %  {'ok' if good else 'FAILED'}")
