#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""What the fine clock says of uses.c, against what the program has noted.

usage: compare.py IMAGE NOTES      IMAGE: the folder pNNNN of the trace

Prints one line: bins; error of pages in use (sum over structures and bins of the difference, by the sum of the truth), the same of written
pages, of the structure with the worst error; how often the interval of 95 % held, of how many cells that are estimated; cells that are
not known; faults of the fine clock and CPU time of the recorder for a bin; pages sampled; private and shared pages told from the panel; pages of
blocks that came and went, with what else the program has beside its structures, and their truth.
It checks every rule of docs/reference/trace-fine.md on the way, and ends with 1 where one is broken."""
import bisect
import csv
import glob
import math
import struct
import sys

image, notes_path = sys.argv[1:3]
wrong = []


def rows(name):
    with open(name, newline="") as f:
        return list(csv.DictReader(f))


def check(yes, what):
    if not yes:
        wrong.append(what)


# ---- the trace
bins = [{k: int(v) for k, v in r.items()} for r in rows(image + "/bins.csv")]
strata = {int(r["Stratum"]): (int(r["Start"], 16), int(r["End"], 16), int(r["TaskId"])) for r in rows(image + "/strata.csv")}
fine = [{k: int(v) for k, v in r.items()} for n in sorted(glob.glob(image + "/fine-*.csv")) for r in rows(n)]
threads = [{k: int(v) for k, v in r.items()} for n in sorted(glob.glob(image + "/finethreads-*.csv")) for r in rows(n)]
panel = rows(image + "/panel.csv")
known = {b["Bin"] for b in bins if not b["Lost"]}
end = last = -1
for b in bins:
    check(b["Bin"] > last and b["Start"] >= end and b["Start"] <= b["Away"] < b["End"], "bin %d: its order" % b["Bin"])
    last, end = b["Bin"], b["End"]
hits = {}
for r in fine:
    key = r["Bin"], r["Stratum"]
    check(r["Bin"] in known and r["Stratum"] in strata and key not in hits, "line of %s" % (key,))
    check(r["HitWritten"] <= r["Hit"] <= r["Sampled"] <= r["Mapped"] and r["ArmedWritten"] <= r["ArmedHit"] <= r["Armed"], "counts of %s" % (key,))
    hits[key] = [r["Hit"], r["ArmedHit"], r["HitWritten"], r["ArmedWritten"]]
for r in threads:
    check((r["Bin"], r["Stratum"]) in hits, "thread without counts: %s" % r)
    h = hits.setdefault((r["Bin"], r["Stratum"]), [0] * 4)
    for i, name in enumerate(("Hit", "ArmedHit", "Written", "ArmedWritten")):
        h[i] -= r[name]
for key, h in hits.items():
    check(not any(h), "threads of %s do not add up: %s" % (key, h))
for r in panel:
    users = [int(u.split(":")[1]) for u in r["Users"].split(";")] if r["Users"] else []
    check(sum(users) == int(r["Active"]) <= int(r["Looks"]) and int(r["Written"]) <= int(r["Active"]), "panel: %s" % r)

# ---- the notes
with open(notes_path, "rb") as f:
    text, data = f.read().split(b"\n\n", 1)
structures = []
for line in text.decode().split("\n"):
    _, start, stop, name = line.split()
    if name != "block":    # blocks come and go: all that is of no other structure is compared with them
        structures.append((int(start, 16), int(stop, 16), name))
names = [s[2] for s in structures] + ["block"]


def structure_of(start, stop):
    best, of = 0, len(structures)
    for i, s in enumerate(structures):
        both = min(stop, s[1]) - max(start, s[0])
        if both > best:
            best, of = both, i
    return of if best > 0 else None


starts = [b["Start"] for b in bins]
used = [[set() for _ in names] for _ in bins]
written = [[set() for _ in names] for _ in bins]
cache = {}
for time, page in struct.iter_unpack("<QQ", data):
    i = bisect.bisect_right(starts, time) - 1
    if i < 0 or time >= bins[i]["End"]:
        continue
    at = page & ((1 << 48) - 1)
    s = cache.get(at)
    if s is None:
        s = cache[at] = structure_of(at * 4096, at * 4096 + 4096)
        if s is None:
            s = cache[at] = len(structures)
    used[i][s].add(at)
    if page >> 48:
        written[i][s].add(at)

# ---- estimates
index = {b["Bin"]: i for i, b in enumerate(bins)}
value = [[0.0] * len(names) for _ in bins]
wrote = [[0.0] * len(names) for _ in bins]
variance = [[0.0] * len(names) for _ in bins]
sampled = unknown = 0
for r in fine:
    of = structure_of(*strata[r["Stratum"]][:2])
    i = index[r["Bin"]]
    sampled += r["Sampled"]
    if of is None:
        of = len(structures)
        if not any(used[i][of] for i in range(len(bins))):
            continue
    if r["Mapped"] and not r["Sampled"]:
        unknown += 1
        variance[i][of] = math.inf
        continue
    M, n = r["Mapped"], r["Sampled"]
    value[i][of] += r["ArmedHit"] + (M * r["Hit"] / n if n else 0)
    wrote[i][of] += r["ArmedWritten"] + (M * r["HitWritten"] / n if n else 0)
    if M > n:
        q, rest = (r["Hit"] + 2) / (n + 4), M - n
        variance[i][of] += rest * rest * q * (1 - q) / (n + 4) + rest * q * (1 - q)
error, truth, werror, wtruth, held, cells = [0.0] * len(names), [0] * len(names), 0.0, 0, 0, 0
for i, b in enumerate(bins[1:-1], 1):
    if b["Lost"]:
        continue
    for s in range(len(names)):
        t = len(used[i][s])
        if names[s] in ("block", "notes") or math.isinf(variance[i][s]):
            continue    # what else the program has lies there, too
        error[s] += abs(value[i][s] - t)
        truth[s] += t
        werror += abs(wrote[i][s] - len(written[i][s]))
        wtruth += len(written[i][s])
        if variance[i][s] > 0:
            cells += 1
            held += abs(value[i][s] - t) <= 1.96 * math.sqrt(variance[i][s]) + 1
many = len(bins) - 2
worst = max((error[s] / truth[s], names[s]) for s in range(len(names)) if truth[s] >= 20 * many) if many > 0 and any(
    t >= 20 * many for t in truth) else (0, "-")
blocks = [(sum(value[i][-1] for i in range(1, len(bins) - 1))), sum(len(used[i][-1]) for i in range(1, len(bins) - 1))]
private = [r for r in panel if int(r["Active"]) >= 14 and len(r["Users"].split(";")) == 1]
shared = [r for r in panel if len(r["Users"].split(";")) > 1]
all_truth = sum(truth)
print("bins %d lost %d error %.2f %% written %.2f %% worst %.2f %% of %s held %.1f %% of %d cells unknown %d faults/bin %.0f monitor %.2f ms/bin "
      "sampled/bin %.0f panel %d private %d shared %d blocks %.0f of %d cpu/bin %.1f ms"
      % (len(bins), len(bins) - len(known), 100 * sum(error) / max(all_truth, 1), 100 * werror / max(wtruth, 1), 100 * worst[0], worst[1],
         100 * held / max(cells, 1), cells, unknown, sum(b["Faults"] for b in bins) / len(bins), sum(b["MonitorCpuNs"] for b in bins) / len(bins) / 1e6,
         sampled / len(bins), len(panel), len(private), len(shared), blocks[0], blocks[1], sum(b["CpuNs"] for b in bins) / len(bins) / 1e6))
for w in wrong[:20]:
    print("WRONG", w)
sys.exit(1 if wrong else 0)
