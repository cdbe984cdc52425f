#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Accesses of DynamoRIO's drmemtrace as CSV for memtrace import:

    drrun -t drmemtrace -offline -- ./app
    drrun -t drmemtrace -tool view -indir drmemtrace.app.*.dir 2>&1 | drmemtrace.py >app.csv
    memtrace import app.csv

The number of the record in the view is the tick of a logical clock: the order in which the threads ran."""
import re
import sys

RECORD = re.compile(r'\s*(\d+)\s+\d+:\s+(?:\S+\.)?(\d+)\s+(read|write)\s+(\d+) byte\(s\) @ (0x[0-9a-f]+)(?: by PC (0x[0-9a-f]+))?')
out = sys.stdout
out.write('time_tick,thread,address,bytes,access,ip,counts\n')
for line in sys.stdin:
    m = RECORD.match(line)
    if m:
        tick, thread, access, size, address, ip = m.groups()
        out.write(f'{tick},{thread},{address},{size},{access},{ip or ""},exact\n')
