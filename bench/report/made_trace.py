#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Makes a trace directory with one array of many pages: made_trace.py DIR PAGES THREADS [SEED]

One thread fills the array in the first intervals. Then each thread uses its part in each of 4 further intervals with random
counts, and a random sixteenth of all pages of the others. Two pages are written by all threads in each interval. So each
thread has touched nearly a fifth of the pages of the others, and no two neighbouring rows of the report are alike: this is
hard to compress.
"""
import os, random, sys

folder, pages, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random.seed(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
image = os.path.join(folder, "p0000")
os.makedirs(image)
PAGE, BASE, BEGIN, LENGTH = 4096, 0x7F0000000000, 1_000_000_000, 50_000_000
with open(os.path.join(folder, "manifest.json"), "w") as f:
    f.write('{"format":"memtrace","format_version":1,"name":"million","command":["million"],"executable":"/million",'
            '"host":{"name":"h","os":"Linux","cpus_online":%d,"page_size_bytes":4096},'
            '"clock":{"start_ns":%d,"start_realtime":"2026-01-01T00:00:00Z"},'
            '"status":{"state":"complete","exit_code":0},"losses":{"total":0,"by_reason":{}}}\n' % (threads, BEGIN))
with open(os.path.join(image, "structures.csv"), "w") as f:
    f.write("Id,Kind,Name,Start,End,Birth,Death,TaskId,Stack,Site\n0,heap,field,%x,%x,%d,-1,100,-1,million.c:1\n" % (BASE, BASE + pages * PAGE, BEGIN))
with open(os.path.join(image, "threads.csv"), "w") as f:
    f.write("TaskId,Name,Birth,Death,StackStart,StackEnd,Start\n")
    for t in range(threads):
        f.write("%d,worker %d,%d,-1,0,0,%s\n" % (100 + t, t, BEGIN, "work" if t else ""))
rows = 0
with open(os.path.join(image, "accesses-000000.csv"), "w", buffering=1 << 20) as f:
    f.write("@Virt,@Phy,Nreads,Nwrites,CPUMask,Start,End,TaskId,Ip,Node,Flags\n")

    def row(interval, page, thread, reads, writes):
        global rows
        rows += 1
        f.write("%x,0,%d,%d,%x,%d,%d,%d,401000,0,0\n" % (BASE + page * PAGE, reads, writes, 1 << thread, BEGIN + interval * LENGTH,
                                                          BEGIN + (interval + 1) * LENGTH, 100 + thread))

    for i in range(4):
        for p in range(pages * i // 4, pages * (i + 1) // 4):
            row(i, p, 0, 0, 1)
    for i in range(4, 8):
        for t in range(threads):
            for p in range(pages * t // threads, pages * (t + 1) // threads):
                if random.random() < 0.5:
                    row(i, p, t, random.randrange(1, 6), random.randrange(3))
            for _ in range(pages // 16 * (threads - 1) // threads // 4):
                row(i, random.randrange(pages), t, 1, 0)
            for p in (pages // 3, pages // 3 + 1):
                row(i, p, t, 1, 5)
print(rows, "records")
