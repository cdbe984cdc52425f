#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""An archive as EZTrace records rounds of a parallel loop with 4 threads, of 26 events each, 8 of them with an attribute:
bench/otf2/archive.py ROUNDS | memtrace otf2-write FOLDER. docs/reference/otf2-stream.md describes the records."""
import random
import struct
import sys

rounds = int(sys.argv[1])
out = sys.stdout.buffer
event = struct.Struct("<QIIQQ").pack  # a, kind, ref, b, c
UNDEFINED = 0xFFFFFFFF
STRING, ENTER, LEAVE = 3, 35, 36
PARALLEL, TASK, LOOP, BARRIER = range(4)


def record(kind, ref=0, a=0, b=0, c=0, payload=None):
    if payload is not None:
        c = len(payload)
        payload += b"\0" * (-len(payload) % 8)
    out.write(event(a, kind, ref, b, c) + (payload or b""))


out.write(b"memtrace-otf2/1\n")
record(2, a=(1 << 64) - 1)
record(1, a=10**9, c=rounds * 20000 + 10**6)
texts = ["", "root", "node", "P#0", "OpenMP parallel", "OpenMP implicit task", "OpenMP loop", "OpenMP implicit barrier", "Loop pointer"]
texts += [f"P#0T#{t}" for t in range(4)]
for number, text in enumerate(texts):
    record(STRING, ref=number, payload=text.encode())
record(4, a=1, b=2, c=UNDEFINED)
record(5, a=3, c=1)
for region in range(4):
    record(7, ref=region, a=4 + region, b=2, c=UNDEFINED)
record(8, a=8, b=4)
pointer = event(4, 34, 0, 0x401180, 0)
for thread in range(4):
    record(32, a=thread)
    chance = random.Random(thread)
    events = []
    for r in range(rounds):
        now = 1000 + r * 20000 + int(chance.random() * 500)
        work = int(chance.random() * 5000)
        if thread == 0:
            events.append(event(now, ENTER, PARALLEL, 0, 0))
        events += (event(now + 10, ENTER, TASK, 0, 0), pointer, event(now + 20, ENTER, LOOP, 0, 0), pointer,
                   event(now + 100 + work, LEAVE, LOOP, 0, 0), event(now + 150 + work, ENTER, BARRIER, 0, 0),
                   event(now + 9000 + work, LEAVE, BARRIER, 0, 0), event(now + 9100 + work, LEAVE, TASK, 0, 0))
        if thread == 0:
            events.append(event(now + 9200 + work, LEAVE, PARALLEL, 0, 0))
        if len(events) > 10000:
            out.write(b"".join(events))
            events = []
    out.write(b"".join(events))
for thread in range(4):
    record(6, a=thread, b=9 + thread, c=1)
record(127, a=4)
