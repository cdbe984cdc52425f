#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Compares exports of one trace with its CSV, each read by a program that is not ours:

    check-export.py parquet FOLDER CSV     with pyarrow
    check-export.py pjdump FILE CSV        with the reader below, which knows only what pj_dump prints
    check-export.py dump FILE CSV          FILE: what pj_dump printed of the Paje trace; as areas below the curves of all pages
"""
import csv
import glob
import json
import os
import sys
from collections import Counter
from decimal import Decimal


def sharing(row):
    """The first half of the name of an access's type."""
    return "NotKnown" if row["sharing"] in (None, "") else "Shared" if int(row["sharing"]) > 1 else "Private"


def parquet(folder, rows):
    import pyarrow
    import pyarrow.dataset
    columns = list(rows[0])
    # without a schema, Arrow takes numbers of more than 32 bits for text
    by_time = any(name.startswith("window_ns=") for name in os.listdir(folder + "/accesses"))
    key = ("window_ns", pyarrow.int64()) if by_time else ("first_leaf", pyarrow.int32())
    partition = pyarrow.dataset.partitioning(pyarrow.schema([key]), flavor="hive")
    table = pyarrow.dataset.dataset(folder + "/accesses", format="parquet", partitioning=partition if by_time else None).to_table().to_pylist()

    def text(name, value):
        return "" if value is None else format(value, "x") if name in ("page_start", "ip") else str(value)

    found = Counter(tuple(text(name, row[name]) for name in columns) for row in table)
    wanted = Counter(tuple(row[name] for name in columns) for row in rows)
    assert found == wanted, "rows differ: %s" % list(((found - wanted) + (wanted - found)).items())[:3]
    tables = small_tables(folder, table)
    if not by_time:
        return "%d rows by memory, %s" % (len(table), tables)
    windows = sorted({row["window_ns"] for row in table})
    for row in table:
        later = [w for w in windows if w <= row["start_ns"]]
        assert row["window_ns"] == max(later, default=windows[0]), "in a wrong window: %s" % row
    return "%d rows in %d windows, %s" % (len(table), len(windows), tables)


def small_tables(folder, accesses):
    """What the accesses refer to is there, and meta.json tells the truth."""
    import pyarrow.parquet
    with open(folder + "/meta.json", encoding="utf-8") as text:
        meta = json.load(text)
    assert meta["schema"] == "memtrace-export" and meta["schema_version"] == 2, meta
    tables = {"accesses": accesses}
    for name, told in meta["tables"].items():
        path = folder + "/" + name + (".parquet" if name != "accesses" else "")
        schema = pyarrow.parquet.read_schema(path if name != "accesses" else sorted(glob.glob(path + "/*/*.parquet"))[0])
        assert schema.names == [c["name"] for c in told["columns"]], name
        for c in told["columns"]:
            assert schema.metadata[b"memtrace.column." + c["name"].encode()].decode() == c["description"] != "", c
        if name != "accesses":
            tables[name] = pyarrow.parquet.read_table(path).to_pylist()
        assert told["rows"] == len(tables[name]), name
    structures = {s["id"]: s for s in tables["structures"]}
    threads = {t["index"]: t for t in tables["threads"]}
    producers = {p["id"]: p for p in tables["producers"]}
    frames = {f["stack"] for f in tables["stacks"]}
    for s in structures.values():
        assert s["stack"] is None or s["stack"] in frames, s
    used = Counter()
    for row in accesses:
        used[row["producer"]] += row["reads"] + row["writes"]
    pages = {p["producer"]: p for p in tables["pages"]}
    for page, n in used.items():  # accesses may be a part of the trace, the small tables never are
        assert pages[page]["reads"] + pages[page]["writes"] >= n and producers[page]["start"] == pages[page]["page_start"], page
    for f in tables["findings"]:
        assert f["from_ns"] < f["to_ns"] and f["producer_from"] < f["producer_to"] and f["rule"] and f["evidence"], f
        assert all(int(s) in structures for s in (f["structure_ids"] or "").split(",") if s), f
    for row in accesses:
        assert row["time_ns"] == row["start_ns"] - meta["start_ns"], row
        assert producers[row["producer"]]["start"] == row["page_start"], row
        assert row["thread_index"] is None or threads[row["thread_index"]]["task"] == row["task"], row
        s = structures.get(row["structure_id"])
        assert (s is None) == (row["structure_id"] is None), row
        if s is not None and row["offset"] is not None:
            assert s["start"] + row["offset"] == row["address"] < s["end"], row
        shared = sharing(row)
        kinds = ["%s_%s" % (shared, what) for what, n in (("Read", row["reads"]), ("Write", row["writes"])) if n]
        assert row["type"] == "+".join(kinds), row
    return "tables " + ", ".join("%s %d" % (name, len(rows)) for name, rows in sorted(tables.items()))


def pjdump(file, rows):
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
                name = sharing(row) + "_" + what
                wanted[name, int(row["start_ns"]) * seconds, int(row["end_ns"]) * seconds, Decimal(count)] += 1
    assert events == wanted, "events differ: %s" % list(((events - wanted) + (wanted - events)).items())[:3]
    return "%d events in %d containers" % (sum(events.values()), len(containers) - 1)


def dump(file, rows):
    areas = Counter()
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            field = line.rstrip("\n").split(", ")
            if field[0] == "Variable":
                areas[field[2]] += Decimal(field[6]) * (Decimal(field[4]) - Decimal(field[3]))
    wanted = Counter()
    for row in rows:
        shared = sharing(row) + "_"
        for count, what in ((row["reads"], "Read"), (row["writes"], "Write")):
            wanted[shared + what] += int(count) * Decimal(int(row["end_ns"]) - int(row["start_ns"])) * Decimal(10) ** -9
    for name in set(areas) | set(wanted):  # pj_dump prints microseconds
        assert abs(areas[name] - wanted[name]) <= Decimal("0.00001") * max(1, len(rows)), (name, areas[name], wanted[name])
    return "areas of %d types" % len(areas)


if __name__ == "__main__":
    with open(sys.argv[3], newline="", encoding="utf-8") as text:
        accesses = list(csv.DictReader(text))
    print({"parquet": parquet, "pjdump": pjdump, "dump": dump}[sys.argv[1]](sys.argv[2], accesses))
