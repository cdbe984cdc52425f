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
        for name in ("structures", "threads", "intervals", "stacks", "producers", "pages", "footprints", "findings"):
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
        for wrong, said in (({"structure": "no such"}, "there is no structure 'no such'"), ({"structure": ["B", "BB"]}, "'BB'; near: B"),
                            ({"structure": 4711}, "there is no structure 4711"), ({"thread": 99}, "there is no thread 99")):
            with self.assertRaises(memtrace.MemtraceError) as caught:
                self.trace.accesses(**wrong)
            self.assertIn(said, str(caught.exception))

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
        home = self.tmp / "cache" / "folders"
        self.assertEqual(home, self.trace.folder.parent)
        before = set(home.iterdir())
        self.assertEqual(self.trace.folder, memtrace.open(self.db).folder, "it is not exported again")
        self.assertEqual(before, set(home.iterdir()))
        copy = self.tmp / "copy.db"
        memtrace.import_trace(TRACES / "heap-reuse", copy)
        first = memtrace.open(copy)
        memtrace.run("merge", "--quiet", "--add", "stack+size", copy)
        second = memtrace.open(copy)
        self.assertNotEqual(first.folder, second.folder, "the trace has changed")
        self.assertNotEqual(len(first.producers), len(second.producers))

    def test_plots(self):
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot as plt
        from memtrace import plots
        self.assertEqual("page_faults", self.trace.meta["counts"])
        some = ["C", "B", "A"]
        def drawn(axes):
            """Each has something in it, and the figure can be saved."""
            for ax in getattr(axes, "flat", [axes]):
                ax.figure.savefig(io.BytesIO())
            plt.close("all")
            return axes
        def rectangles(axes):
            return sum(len(c.get_paths()) for ax in axes.flat for c in ax.collections)
        rows = [r for r in self.trace.accesses().arrow.to_pylist() if r["structure"] in some]
        place = lambda r: (r["structure"], r["page_index"], r["start_ns"], r["end_ns"])
        kind = lambda r: (r["type"].startswith("Shared"), r["writes"] > 0)
        classes = len({(*place(r), kind(r)) for r in rows})
        for colour in ("sharing", "accesses", "records", "type"):
            axes = drawn(plots.space_time(self.trace, colour, some))
            self.assertEqual((3, 4), axes.shape)
            self.assertEqual(classes, rectangles(axes), colour)
        self.assertEqual(len({place(r) for r in rows}), rectangles(drawn(plots.space_time(self.trace, "sharing", some, by_type=False))))
        self.assertEqual(classes, rectangles(drawn(plots.space_time(self.trace, "accesses", some, y="address", alpha=0.4))))
        drawn(plots.space_time(self.trace, "sharing", "B", limits=(1, 2), pages=(3, 9)))
        bars = drawn(plots.importance(self.trace, count=1)).patches
        totals = Counter()
        for r in self.trace.accesses().arrow.to_pylist():
            totals[r["structure"]] += r["reads"] + r["writes"]
        self.assertEqual([max(totals.values())], [b.get_height() for b in bars])
        grid = drawn(plots.page_thread(self.trace, "B", "reads"))[0].images[0].get_array()
        self.assertEqual(sum(r["reads"] for r in rows if r["structure"] == "B"), grid.sum())
        for f in (plots.offsets, plots.first_touch, plots.distribution, plots.addresses):
            drawn(f(self.trace, some))
        for by in ("type", "thread", "structure"):
            drawn(plots.density(self.trace, by))
        drawn(plots.importance(self.trace, "rw"))
        drawn(plots.importance(self.trace, "sharing"))
        drawn(plots.overview(self.trace))
        with self.assertRaisesRegex(memtrace.MemtraceError, "there is no structure 'no such'"):
            plots.offsets(self.trace, "no such")
        with self.assertRaisesRegex(memtrace.MemtraceError, "is a Parquet folder"):
            plots.overview(memtrace.open(self.trace.folder))

    def test_colours_are_those_of_the_workbench(self):
        from matplotlib.colors import to_hex
        from memtrace import plots
        with open(ROOT / "testdata" / "vectors" / "palette.csv", encoding="utf-8", newline="") as f:
            wanted = list(csv.DictReader(f)) # PaletteTest.java keeps it current
        ours = {"type": plots.TYPES.get, "rw": plots._DIRECTIONS.get, "page": {"behind": plots._BEHIND, "muted": plots._MUTED, "line": plots._LINE}.get,
                "thread": lambda name: to_hex(plots.thread_colour(int(name))), "structure": lambda name: to_hex(plots.structure_colour(name))}
        self.assertEqual(set(ours), {r["what"] for r in wanted})
        self.assertEqual(wanted, [{**r, "colour": ours[r["what"]](r["name"])} for r in wanted])

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
