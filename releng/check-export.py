#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Compares exports of one trace with its CSV, each read by a program that is not ours:

    check-export.py parquet FOLDER CSV     with pyarrow
    check-export.py paje FILE CSV          with the reader below, which knows only what pj_dump prints
"""
import csv
import sys
from collections import Counter
from decimal import Decimal


def parquet(folder, rows):
    import pyarrow
    import pyarrow.dataset
    columns = list(rows[0])
    # without a schema, Arrow takes numbers of more than 32 bits for text
    window = pyarrow.dataset.partitioning(pyarrow.schema([("window_ns", pyarrow.int64())]), flavor="hive")
    table = pyarrow.dataset.dataset(folder, format="parquet", partitioning=window).to_table().to_pylist()

    def text(name, value):
        return "" if value is None else format(value, "x") if name in ("page", "flags", "ip") else str(value)

    found = Counter(tuple(text(name, row[name]) for name in columns) for row in table)
    wanted = Counter(tuple(row[name] for name in columns) for row in rows)
    assert found == wanted, "rows differ: %s" % list(((found - wanted) + (wanted - found)).items())[:3]
    windows = sorted({row["window_ns"] for row in table})
    for row in table:
        later = [w for w in windows if w <= row["start_ns"]]
        assert row["window_ns"] == max(later, default=windows[0]), "in a wrong window: %s" % row
    return "%d rows in %d windows" % (len(table), len(windows))


def paje(file, rows):
    containers = {"0"}
    seconds = Decimal(10) ** -9
    events = Counter()
    previous = Decimal(0)
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            field = line.rstrip("\n").split(", ")
            if field[0] == "Container":
                _, parent, _, start, end, duration, name = field
                assert parent in containers, "a container without its parent: " + line
                assert name not in containers, "a container twice: " + line
                containers.add(name)
            else:
                kind, container, variable, start, end, duration, value = field
                assert kind == "Variable" and container in containers, line
                assert Decimal(end) - Decimal(start) == Decimal(duration) > 0 and Decimal(start) >= previous, line
                previous = Decimal(start)
                events[variable, Decimal(start), Decimal(end), Decimal(value)] += 1
    wanted = Counter()
    for row in rows:
        for count, what in ((row["reads"], "Read"), (row["writes"], "Write")):
            if int(count) > 0:
                name = ("Shared_" if int(row["sharing"]) > 1 else "Private_") + what
                wanted[name, int(row["start_ns"]) * seconds, int(row["end_ns"]) * seconds, Decimal(count)] += 1
    assert events == wanted, "events differ: %s" % list(((events - wanted) + (wanted - events)).items())[:3]
    return "%d events in %d containers" % (sum(events.values()), len(containers) - 1)


if __name__ == "__main__":
    with open(sys.argv[3], newline="", encoding="utf-8") as text:
        accesses = list(csv.DictReader(text))
    print({"parquet": parquet, "paje": paje}[sys.argv[1]](sys.argv[2], accesses))
