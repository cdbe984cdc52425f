#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Accesses of Valgrind's lackey as CSV for memtrace import:

    valgrind --tool=lackey --trace-mem=yes --log-file=app.lackey ./app
    lackey.py <app.lackey >app.csv && memtrace import app.csv

lackey tells neither threads nor times: the number of the instruction is the tick of a logical clock."""
import sys

KINDS = {' L': 'read', ' S': 'write', ' M': 'modify'}
out = sys.stdout
out.write('time_tick,thread,address,bytes,access,ip,counts\n')
tick = 0
ip = ''
for line in sys.stdin:
    if line[:2] == 'I ':
        tick += 1
        ip = '0x' + line[2:].split(',')[0].strip()
    elif line[:2] in KINDS and ',' in line:
        address, size = line[2:].split(',')
        out.write(f'{tick},1,0x{address.strip()},{int(size)},{KINDS[line[:2]]},{ip},exact\n')
