#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Compares what truth.c says of its accesses with a trace: equal per process image, thread, page and direction.

With windows: accesses are in intervals in which one was open, and first.csv is not there.

usage: check.py [--some] OUTPUT TRACE
  --some    windows came by the clock: there may be less in the trace, and never more
"""
import collections
import csv
import glob
import json
import os
import sys

some = sys.argv[1] == '--some'
output, trace = sys.argv[1 + some:]
blocks = collections.defaultdict(list)  # (pid, generation) -> [(start, end)]
want = {}                               # (pid, generation, tid, page) -> [reads, writes]
for line in open(output):
    f = line.split()
    if f and f[0] == 'block':
        blocks[int(f[1]), int(f[2])].append((int(f[3], 16), int(f[4], 16)))
    elif f and f[0] == 'count':
        want[int(f[1]), int(f[2]), int(f[3]), int(f[4], 16) // 4096] = [int(f[5]), int(f[6])]

generations = collections.Counter()
have = collections.defaultdict(lambda: [0, 0])
firsts = collections.Counter()
faults = []
for image in sorted(glob.glob(trace + '/p[0-9]*')):
    pid = json.load(open(image + '/image.json'))['pid']
    key = pid, generations[pid]
    generations[pid] += 1
    inside = sorted({p for s, e in blocks.get(key, ()) for p in range(s // 4096, e // 4096)})
    inside = set(inside)
    counted = 0
    toucher = {}
    windows = None                      # [(open, closed)]
    if os.path.exists(image + '/windows.csv'):
        turns = [(int(row['Time']), row['Open'] == '1') for row in csv.DictReader(open(image + '/windows.csv'))]
        ends = [t for t, _ in turns[1:]] + [1 << 62]
        windows = [(t, end) for (t, is_open), end in zip(turns, ends) if is_open]
    for chunk in sorted(glob.glob(image + '/accesses-*.csv')):
        for row in csv.DictReader(open(chunk)):
            page = int(row['@Virt'], 16) // 4096
            start, end = int(row['Start']), int(row['End'])
            if windows is not None and not any(s < end and start < e for s, e in windows):
                faults.append(f'{image}: accesses in [{start}, {end}), where no window was open')
            toucher.setdefault(page, (int(row['TaskId']), int(row['End'])))
            counted += int(row['Nreads']) + int(row['Nwrites'])
            if page in inside:
                n = have[key + (int(row['TaskId']), page)]
                n[0] += int(row['Nreads'])
                n[1] += int(row['Nwrites'])
    said = 0
    for row in csv.DictReader(open(image + '/intervals.csv')):
        said += int(row['Accesses'])
        if int(row['LostTable']) or int(row['LostWrite']):
            faults.append(f'{image}: lost accesses in interval {row["Interval"]}')
    if said != counted:
        faults.append(f'{image}: intervals.csv has {said} accesses, the chunks {counted}')
    earliest = {}
    if windows is not None:
        assert not os.path.exists(image + '/first.csv'), 'what is first in a window is no first access'
        continue
    for row in csv.DictReader(open(image + '/first.csv')):
        page = int(row['@Virt'], 16) // 4096
        if page not in earliest or int(row['Time']) < earliest[page][0]:
            earliest[page] = int(row['Time']), int(row['TaskId'])
        if page in inside:
            firsts[key + (int(row['TaskId']), page, int(row['Write']))] += 1

    for page, (tid, end) in toucher.items():
        # while an interval is read, another thread may be earlier and still be told later
        if earliest.get(page, (0, None))[1] != tid and earliest.get(page, (0, 0))[0] < end:
            faults.append(f'{image}: page {page * 4096:x}: the first record is of {tid}, first.csv has {earliest.get(page)}')

for k in sorted(set(want) | set(have)):
    if some and all(have.get(k, [0, 0])[w] <= want.get(k, [0, 0])[w] for w in (0, 1)):
        continue
    if want.get(k, [0, 0]) != have.get(k, [0, 0]):
        faults.append(f'pid {k[0]}.{k[1]} tid {k[2]} page {k[3] * 4096:x}: did {want.get(k, [0, 0])}, counted {have.get(k, [0, 0])}')
    for w in 0, 1:
        if windows is None and firsts[k + (w,)] != (want.get(k, [0, 0])[w] > 0):
            faults.append(f'pid {k[0]}.{k[1]} tid {k[2]} page {k[3] * 4096:x}: first.csv has {firsts[k + (w,)]} lines for direction {w}')
for f in faults[:12]:
    print(f)
threads = len({k[:3] for k in want})
accesses = sum(map(sum, want.values()))
print(f'{len(want)} pages of {threads} threads in {len(blocks)} images, {accesses} accesses, {len(faults)} faults')
sys.exit(bool(faults) or not want)
