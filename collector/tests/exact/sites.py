#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Compares what sites.c says of its instructions with a trace: equal per process, thread, function, direction and class of strides.

Besides, the instructions of an image make as many accesses as its intervals, and code.csv has all of them.

usage: sites.py OUTPUT TRACE
"""
import collections
import csv
import glob
import json
import sys

output, trace = sys.argv[1:]
valgrind = json.load(open(trace + '/manifest.json'))['backend']['name'] == 'valgrind'
want = {}
blocks = {}
functions = set()
for line in open(output):
    f = line.split()
    if f and f[0] == 'site':
        want[int(f[1]), int(f[2]), f[3], int(f[4])] = (int(f[5]), f[6:])
        functions.add(f[3])
    elif f and f[0] == 'block':
        blocks[int(f[1])] = range(int(f[2], 16), int(f[3], 16))
have = collections.defaultdict(list)
faults = []
instructions = 0
for image in sorted(glob.glob(trace + '/p[0-9]*')):
    pid = json.load(open(image + '/image.json'))['pid']
    code = {row['Ip']: row for row in csv.DictReader(open(image + '/code.csv'))}
    rows = {}
    for row in csv.DictReader(open(image + '/instructions.csv')):
        before = rows.get(row['Id'])
        if before and int(before['Count']) > int(row['Count']):
            faults.append(f'{image}: {row["Id"]} went from {before["Count"]} to {row["Count"]}')
        rows[row['Id']] = row
    counted = 0
    for row in rows.values():
        instructions += 1
        counted += int(row['Count'])
        strides = [tuple(map(int, s.split(':'))) for s in row['Strides'].split()]
        begins = int(row['Count']) - sum(s[2] + s[3] for s in strides)
        if begins != 1:
            faults.append(f'{image}: {row["Ip"]}: {begins} accesses without a stride')
        if row['Ip'] not in code:
            faults.append(f'{image}: {row["Ip"]} is not in code.csv')
        # returns from a function, and what it keeps on the stack, are instructions of it, too
        elif code[row['Ip']]['Function'] in functions and int(row['First'], 16) in blocks[pid]:
            have[pid, int(row['TaskId']), code[row['Ip']]['Function'], int(row['Write'])].append((int(row['Count']), row))
            if not code[row['Ip']]['File'].endswith('sites.c') or int(code[row['Ip']]['Line']) < 1:
                faults.append(f'{image}: {row["Ip"]} of {code[row["Ip"]]["Function"]} has no line')
    said = sum(int(row['Accesses']) for row in csv.DictReader(open(image + '/intervals.csv')))
    # the pages are read first; under Valgrind the kernel reads arguments of the recorder's library after that
    if not said <= counted <= said + (20 if valgrind else 0):
        faults.append(f'{image}: intervals.csv has {said} accesses, the instructions {counted}')
for k in sorted(set(want) | set(have)):
    n, strides = want.get(k, (0, []))
    if [(count, row['Strides'].split()) for count, row in have.get(k, [])] != [(n, strides)]:
        faults.append(f'{k}: did {n} {strides}, counted {[(c, r["Strides"]) for c, r in have.get(k, [])]}')
for f in faults[:12]:
    print(f)
print(f'{len(want)} sites of {len({k[:2] for k in want})} threads, {instructions} instructions, {len(faults)} faults')
sys.exit(bool(faults) or not want)
