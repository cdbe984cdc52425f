# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Run by releng/check-python.sh, with the package installed and MEMTRACE set."""
import csv
import io
import os
import shutil
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

import memtrace

ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT / "testdata" / "traces"


def rows(*query):
    """What the command prints for the same question."""
    return list(csv.DictReader(io.StringIO(memtrace.run("query", "--format", "csv", *query))))


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tmp = Path(tempfile.mkdtemp())
        os.environ["MEMTRACE_HOME"] = str(cls.tmp / "home")
        os.environ["MEMTRACE_CACHE"] = str(cls.tmp / "cache")
        cls.db = cls.tmp / "m.db"
        cls.report = memtrace.import_trace(TRACES / "matmul-naive", cls.db)
        cls.trace = memtrace.open(cls.db)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.tmp)

    def test_tables_are_those_of_query(self):
        for name in ("structures", "threads", "intervals", "stacks", "producers", "pages", "findings"):
            table = getattr(self.trace, name)
            wanted = rows("--what", name, self.db)
            self.assertEqual(list(wanted[0]), table.columns, name)
            addresses = [f.name for f in table.arrow.schema if str(f.type) == "uint64"]
            found = [{k: "" if v is None else format(v, "x") if k in addresses else str(v) for k, v in r.items()} for r in table.arrow.to_pylist()]
            self.assertEqual(wanted, found, name)
        self.assertTrue(self.report["schema"].startswith("memtrace.import/"))

    def test_accesses(self):
        everything = self.trace.accesses()
        self.assertEqual(self.trace.meta["tables"]["accesses"]["rows"], len(everything))
        self.assertEqual(len(rows("--what", "accesses", self.db)), len(everything))
        b = self.trace.accesses(structure="B", thread=2)
        wanted = [r for r in everything.arrow.to_pylist() if r["structure"] == "B" and r["thread_index"] == 2]
        self.assertTrue(wanted)
        order = lambda r: (r["start_ns"], r["address"], r["ip"])
        self.assertEqual(sorted(wanted, key=order), sorted(b.arrow.to_pylist(), key=order))
        number = wanted[0]["structure_id"]
        self.assertEqual(len(b), len(self.trace.accesses(structure=number, thread=2)))
        middle = everything.arrow.to_pylist()[len(everything) // 2]["start_ns"]
        before = self.trace.accesses(end_ns=middle)
        after = self.trace.accesses(start_ns=middle)
        both = sum(1 for r in everything.arrow.to_pylist() if r["start_ns"] < middle < r["end_ns"])
        self.assertEqual(len(everything), len(before) + len(after) - both)
        self.assertTrue(0 < len(before) < len(everything))
        self.assertEqual(["reads"], self.trace.accesses(columns=["reads"]).columns)
        self.assertEqual(0, len(self.trace.accesses(structure="no such")))

    def test_pages_by(self):
        for keys in ((), ("thread",), ("thread", "type")):
            wanted = Counter()
            for r in self.trace.accesses().arrow.to_pylist():
                wanted[tuple(r[k] for k in ("producer", *keys))] += r["reads"]
            found = {tuple(r[k] for k in ("producer", *keys)): r["reads"] for r in self.trace.pages_by(*keys).arrow.to_pylist()}
            self.assertEqual(dict(wanted), found, keys)

    def test_frames_keep_addresses(self):
        arrow = self.trace.accesses().arrow
        pandas, polars = self.trace.accesses().to_pandas(), self.trace.accesses().to_polars()
        for name in ("address", "page_start", "ip", "structure_id", "offset"):
            wanted = arrow.column(name).to_pylist()
            self.assertEqual(wanted, polars[name].to_list(), name)
            self.assertIn(str(pandas[name].dtype), ("UInt64", "Int64"))
            self.assertEqual(wanted, [None if v is None or v != v else int(v) for v in pandas[name].astype(object).where(pandas[name].notna(), None)], name)

    def test_cache(self):
        home = self.tmp / "cache" / "python"
        first = [p for p in home.iterdir() if p.name.startswith("m.db-")]
        self.assertEqual(1, len(first))
        stamp = first[0].stat().st_mtime_ns
        memtrace.open(self.db)
        self.assertEqual(stamp, first[0].stat().st_mtime_ns, "it is not exported again")
        copy = self.tmp / "copy.db"
        memtrace.import_trace(TRACES / "heap-reuse", copy)
        before = len(memtrace.open(copy).producers)
        memtrace.run("merge", "--quiet", "--add", "stack+size", copy)
        self.assertNotEqual(before, len(memtrace.open(copy).producers), "the trace has changed")
        self.assertEqual(1, sum(p.name.startswith("copy.db-") for p in home.iterdir()), "the earlier state went")

    def test_other_traces(self):
        self.assertEqual(self.trace.accesses().arrow, memtrace.open(self.trace.folder).accesses().arrow)
        directory = memtrace.open(TRACES / "stencil-serial")
        self.assertIn("old_grid", directory.structures.arrow.column("name").to_pylist())
        self.assertEqual(len(directory.accesses()), len(memtrace.open("stencil-serial").accesses()), "by its name in the catalogue")

    def test_diff(self):
        found = memtrace.diff(TRACES / "stencil-serial", TRACES / "stencil-parallel")
        self.assertEqual("memtrace.diff/1", found["schema"])
        self.assertEqual(1, len(found["before"]))
        self.assertTrue(found["structures"])

    def test_record(self):
        out = self.tmp / "r.memtrace"
        try:
            memtrace.record([sys.executable, "-c", "x = bytearray(1 << 24)"], out, ["--quiet"])
        except memtrace.MemtraceError as e:
            if e.code == 4:
                self.skipTest("nothing can be recorded here")
            raise
        self.assertTrue(len(memtrace.open(out).accesses()) > 100)

    def test_errors(self):
        with self.assertRaises(memtrace.MemtraceError) as e:
            memtrace.open(self.tmp / "none.db")
        self.assertEqual(3, e.exception.code)
        self.assertIn("none.db", str(e.exception))
        with self.assertRaisesRegex(memtrace.MemtraceError, "has no table page; it has accesses, findings"):
            self.trace.table("page")
        old = self.tmp / "old"
        shutil.copytree(self.trace.folder, old)
        meta = old / "meta.json"
        meta.write_text(meta.read_text().replace('"schema_version": 2', '"schema_version": 1'))
        with self.assertRaisesRegex(memtrace.MemtraceError, "export the trace again"):
            memtrace.open(old)
        meta.write_text("{")
        with self.assertRaisesRegex(memtrace.MemtraceError, "cannot be read"):
            memtrace.open(old)
        saved = os.environ["MEMTRACE"]
        try:
            os.environ["MEMTRACE"] = "/no/such/memtrace"
            with self.assertRaisesRegex(memtrace.MemtraceError, "which is no program"):
                memtrace.run("list")
        finally:
            os.environ["MEMTRACE"] = saved


if __name__ == "__main__":
    unittest.main()
