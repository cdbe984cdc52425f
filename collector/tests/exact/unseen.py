#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Compares two recordings of blind.c: what exact counts see and the default does not must be named by the default.

Page by page, as region and offset, since addresses differ; kinds as they are expected; bytes of files as they were mapped.

usage: unseen.py EXACT-OUTPUT EXACT-TRACE OUTPUT TRACE
"""
import collections
import csv
import glob
import json
import sys

PAGE = 4096
# what is seen where shared mappings of files on disks are (Linux 6.7, a userfaultfd)
READ = ('file-shared-read', 'file-private-read', 'child-file-read', 'file-small', 'memfd-read')
KINDS = {   # of what may be unseen; all else is seen by both
    'file-shared-read': {'file-read'}, 'file-private-read': {'file-read'}, 'child-file-read': {'file-read'},
    'file-small': {'file-read'}, 'file-private-write': {'file-private'}, 'file-shared-write': {'file-shared'},
    'memfd-read': {'shared-memory'}, 'sysv-read': {'shared-memory'}, 'huge': {'huge-pages'}, 'grows-down': {'private'},
    'outside-of-libc': {'private'}, 'constants': {'constants'},
}
faults = []


def regions(output):
    """[(pid in the order in which they appear, name, start, end)]"""
    pids, all_ = {}, []
    for line in open(output):
        f = line.split()
        if f and f[0] == 'region':
            start = int(f[3], 16)
            all_.append((pids.setdefault(f[1], len(pids)), f[2], start, start + int(f[4])))
    return all_, list(pids)


def of_image(trace, pids):
    """images by the order of their process"""
    found = {}
    for image in sorted(glob.glob(trace + '/p[0-9]*')):
        pid = str(json.load(open(image + '/image.json'))['pid'])
        if pid in pids:
            found[pids.index(pid)] = image
    return found


def pages(image):
    touched = set()
    for chunk in sorted(glob.glob(image + '/accesses-*.csv')):
        touched |= {int(row['@Virt'], 16) // PAGE for row in csv.DictReader(open(chunk))}
    return touched


def places(output, trace):
    """(process, region, page in it) of what was touched, and {process: image}, and the regions"""
    all_, pids = regions(output)
    images = of_image(trace, pids)
    touched = {k: pages(i) for k, i in images.items()}
    inside = {(k, name, p - start // PAGE) for k, name, start, end in all_ for p in range(start // PAGE, (end + PAGE - 1) // PAGE)
              if p in touched.get(k, ())}
    return inside, images, all_


exact, _, said_exact = places(*sys.argv[1:3])
seen, images, said = places(*sys.argv[3:5])
trace = sys.argv[4]
unseen = {k: list(csv.DictReader(open(i + '/unseen.csv'))) for k, i in images.items()}
starts = {(k, name): start for k, name, start, _ in said}
for k, name, start, end in said_exact:
    count = sum(1 for e in exact if e[:2] == (k, name))
    if count != (end - start + PAGE - 1) // PAGE:
        faults.append(f'exact counts have {count} pages of {name}: the test is wrong')
by_region = collections.Counter()
files_are_seen = any(e[1] == 'file-shared-write' for e in seen)
for k, name, page in sorted(exact - seen):
    at = starts[k, name] + page * PAGE
    at -= at % PAGE
    kinds = {row['Kind'] for row in unseen[k] if int(row['Start'], 16) <= at < int(row['End'], 16)}
    by_region[name] += 1
    if not kinds & KINDS.get(name, set()):
        faults.append(f'process {k}, page {page} of {name} is not seen and ' + (f'told as {kinds}' if kinds else 'not told'))
for k, name, page in sorted(seen - exact):
    faults.append(f'process {k}, page {page} of {name} is seen, but not by exact counts')
for k, name, start, end in said:
    told = [row for row in unseen[k] if int(row['Start'], 16) < end and start < int(row['End'], 16) and row['Kind'] != 'private']
    there = sum(1 for e in seen if e[:2] == (k, name))
    if name in READ and files_are_seen and there != (end - start + PAGE - 1) // PAGE:
        faults.append(f'of {name} {there} pages are seen')
    if told and there and name != 'file-private-write':
        faults.append(f'{name} is seen and told as {told[0]["Kind"]}, too')

# the same in the manifest: bytes by file, the most at a time
told = {(kind['kind'], n['name'].split('/')[-1]): n['bytes'] for kind in json.load(open(trace + '/manifest.json'))['unseen']['kinds']
        for n in kind['names']}
sums = [(('file-private', 'file'), 2 * 64 * PAGE, 2 * 64 * PAGE), (('constants', 'large.so'), 2 * 2000000, 2 * 2400000)]
if not files_are_seen:
    sums += [
        (('file-read', 'own'), 32 * PAGE, 32 * PAGE),
        # the parent has 64 + 32 pages and two for a moment, the child inherits 96
        (('file-read', 'file'), (64 + 32 + 2 + 96) * PAGE, (64 + 32 + 2 + 96) * PAGE), (('file-read', 'small'), 2 * PAGE, 2 * PAGE),
        (('shared-memory', 'memfd:seen-and-not (deleted)'), 2 * 16 * PAGE, 2 * 16 * PAGE)]
elif [what for what in told if what[0] == 'file-read']:
    faults.append('a file is seen, and told as unseen')
for what, least, most in sums:
    if not least <= told.get(what, -1) <= most:
        faults.append(f'{what}: {told.get(what)} bytes are told, not {least} to {most}')
for row in unseen[0]:
    if row['Kind'] == 'file-read' and row['Name'].endswith('/file') and int(row['End'], 16) - int(row['Start'], 16) == 2 * PAGE:
        by_region['short lives'] += int(row['Times'])
if by_region['short lives'] != (0 if files_are_seen else 100):
    faults.append(f'{by_region["short lives"]} of 100 short mappings are told')
state = json.load(open(trace + '/manifest.json'))['unseen']['state']
if state != 'some':
    faults.append(f'the state is {state}')
for f in faults[:20]:
    print(f)
print(f'{len(exact)} pages by exact counts, {len(seen)} by default, {len(exact - seen)} told as unseen: ' +
      ', '.join(f'{n} of {k}' for k, n in sorted(by_region.items())))
sys.exit(bool(faults))
