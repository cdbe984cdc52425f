#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Compares the table of collector/duckdb/api.hpp with the header of a DuckDB: api.py API.HPP DUCKDB_EXTENSION.H"""
import re
import sys

own, header = (open(f, encoding="utf-8").read() for f in sys.argv[1:3])
table = header[header.index("typedef struct {"):header.index("} duckdb_ext_api_v1")]
stable = re.findall(r"\(\*(duckdb_\w+)\)\(([^;]*)\);", table[:table.index("#ifdef DUCKDB_EXTENSION_API_VERSION_UNSTABLE")])
place = wrong = 0
for line in own[own.index("struct DuckApi {"):].splitlines():
    skipped = re.search(r"\*skipped_(\d+)\[(\d+)\];", line)
    if skipped:
        if int(skipped[1]) != place:
            sys.exit(f"{line.strip()} is at place {place}")
        place += int(skipped[2])
        continue
    function = re.search(r"\(\*(\w+)\)\((.*)\);", line)
    if function:
        name, arguments = stable[place]
        if name != "duckdb_" + function[1] or arguments.count(",") != function[2].count(","):
            print(f"place {place} is {name}({arguments}), not {function[1]}({function[2]})")
            wrong += 1
        place += 1
print(f"{place} places of {len(stable)}, {wrong} wrong")
sys.exit(1 if wrong or place < 250 else 0)
