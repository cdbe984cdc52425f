# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""place.py MEMTRACE DIRECTORY NODES...: predicted against recorded remote shares and costs, see place.sh.

DIRECTORY/NODES/POLICY are recordings of the same program with that policy. A line for each policy: its name; the
remote share that was predicted from the recording first-touch with its interval, the recorded one, the error in
points; the same of the grids; the cost that was predicted, the recorded one, the error in percent; ok or FAILED.
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
FIELDS = ("remote", "remote_least", "remote_most")


def total(placement, policy):
    return of(placement["policies"], policy)


def grids(placement, policy):
    both = [s for s in placement["structures"] if s["structure"] in ("old_grid", "new_grid")]
    weight = sum(s["accesses"] for s in both)
    return {k: sum(of(s["policies"], policy)[k] * s["accesses"] for s in both) / weight for k in FIELDS}


print("machine    policy             remote: predicted, interval, recorded, error   of the grids: predicted, interval, recorded"
      "   cost: predicted, recorded, error")
for nodes in sys.argv[3:]:
    placed = {}
    for name in sorted(n for n in os.listdir(os.path.join(directory, nodes)) if not n.endswith(".db")):
        trace = os.path.join(directory, nodes, name)
        db = trace + ".db"
        run(memtrace, "import", "--quiet", "-o", db, trace)
        placed[name] = json.loads(run(memtrace, "place", "--format", "json", db))
    first = placed["first-touch"]
    told = "firmware" in first["costs"]
    for name, other in placed.items():
        policy = "first-touch" if name == "first-touch-again" else name
        p, g = total(first, policy), grids(first, policy)
        recorded, of_grids = total(other, "recorded"), grids(other, "recorded")
        good = told and p["remote_least"] - 5e-4 <= recorded["remote"] <= p["remote_most"] + 5e-4
        print(f"{nodes} nodes    {name:18}"
              f"{100*p['remote']:6.1f} % {100*p['remote_least']:5.1f} .. {100*p['remote_most']:5.1f} % {100*recorded['remote']:6.1f} %"
              f" {100*(p['remote']-recorded['remote']):+5.1f}  "
              f"{100*g['remote']:6.1f} % {100*g['remote_least']:5.1f} .. {100*g['remote_most']:5.1f} % {100*of_grids['remote']:6.1f} %  "
              f"{p['cost']:6.3f} {recorded['cost']:6.3f} {100*(p['cost']/recorded['cost']-1):+5.1f} %  {'ok' if good else 'FAILED'}")
    if not told:
        print(f"{nodes} nodes    the distances of the firmware are not known: {first['costs']} FAILED")
