#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""A table of samples with columns of another name as CSV for memtrace import. IN=OUT names a column, OUT:VALUE one that is not there:

    columns.py time=time_ns tid=thread addr=address access:read dsrc=level lat=latency ip=ip <mitos.csv >app.csv
    memtrace import app.csv

For samples of PEBS, IBS or SPE from any tool that has a row for each: Mitos and MemAxes, AMDuProf, VTune's raw samples. Addresses
without 0x are hexadecimal. Rows without an address or a thread stay: memtrace import counts them."""
import csv
import sys

names = dict(a.split('=', 1) for a in sys.argv[1:] if '=' in a)
constants = dict(a.split(':', 1) for a in sys.argv[1:] if '=' not in a)
rows = csv.DictReader(line for line in sys.stdin if not line.startswith('#'))
missing = [name for name in names if name not in (rows.fieldnames or [])]
if missing:
    sys.exit(f'columns.py: no column {", ".join(missing)}; there are: {", ".join(rows.fieldnames or [])}')
out = csv.DictWriter(sys.stdout, list(names.values()) + list(constants), lineterminator='\n')
out.writeheader()
for row in rows:
    new = {names[name]: (row[name] or '').strip() for name in names} | constants
    for column in 'address', 'ip':
        if new.get(column) and not new[column].lower().startswith('0x'):
            new[column] = '0x' + new[column]
    out.writerow(new)
