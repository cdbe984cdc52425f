# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""A trace as Arrow tables."""
from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Optional, Sequence, Union

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from ._commands import MemtraceError, PathLike, run

if TYPE_CHECKING:
    import pandas
    import polars

SCHEMA_VERSION = 2


class Table:
    """A table. ``arrow`` is the :class:`pyarrow.Table`; descriptions of columns are in the metadata of its fields."""

    def __init__(self, arrow: pa.Table) -> None:
        self.arrow = arrow

    def to_polars(self) -> "polars.DataFrame":
        """As a data frame of polars."""
        import polars
        return polars.from_arrow(self.arrow)

    def to_pandas(self) -> "pandas.DataFrame":
        """As a data frame of pandas. Numbers that may be unknown stay whole numbers (Int64, UInt64): addresses of 64 bits do not fit into floats."""
        import pandas
        whole = {pa.int32(): pandas.Int32Dtype(), pa.int64(): pandas.Int64Dtype(), pa.uint64(): pandas.UInt64Dtype()}
        return self.arrow.to_pandas(types_mapper=whole.get)

    @property
    def columns(self) -> list[str]:
        return self.arrow.column_names

    def __len__(self) -> int:
        return self.arrow.num_rows

    def __repr__(self) -> str:
        return f"<memtrace.Table {len(self)} rows: {', '.join(self.columns)}>"


class Trace:
    """A trace; made by :func:`open`. Tables are read when they are asked for."""

    def __init__(self, folder: PathLike, source: Optional[PathLike] = None) -> None:
        self.folder = Path(folder)
        #: The trace as the command takes it; None of a folder that stands alone.
        self.source = source
        try:
            self.meta: dict[str, Any] = json.loads((self.folder / "meta.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as e:
            raise MemtraceError(f"{self.folder / 'meta.json'} cannot be read: {e}", 3) from e
        if self.meta.get("schema") != "memtrace-export":
            raise MemtraceError(f"{self.folder} is no folder that memtrace export wrote", 3)
        if self.meta["schema_version"] != SCHEMA_VERSION:
            raise MemtraceError(f"{self.folder} has version {self.meta['schema_version']} of the tables, this package knows "
                                f"{SCHEMA_VERSION}; export the trace again", 3)

    @property
    def name(self) -> str:
        return self.meta["trace"]

    @property
    def dataset(self) -> ds.Dataset:
        """The accesses without reading them, for filters and aggregations of one's own."""
        return ds.dataset(self.folder / "accesses", format="parquet")

    def accesses(self, *, structure: Union[str, int, Sequence[str], None] = None, thread: Optional[int] = None, start_ns: Optional[int] = None,
                 end_ns: Optional[int] = None, columns: Optional[Iterable[str]] = None) -> Table:
        """Records: what one thread did to one page in one interval.

        :param structure: name of a structure, or several names, or the id of one
        :param thread: number of a thread
        :param start_ns: only what ends after this time, in the clock of the trace
        :param end_ns: only what begins before this time
        :param columns: only these columns
        """
        conditions = []
        self._check(structure, thread)
        if isinstance(structure, str):
            conditions.append(pc.field("structure") == structure)
        elif isinstance(structure, int):
            conditions.append(pc.field("structure_id") == structure)
        elif structure is not None:
            conditions.append(pc.field("structure").isin(list(structure)))
        if thread is not None:
            conditions.append(pc.field("thread_index") == thread)
        if start_ns is not None:
            conditions.append(pc.field("end_ns") > start_ns)
        if end_ns is not None:
            conditions.append(pc.field("start_ns") < end_ns)
        condition = None
        for c in conditions:
            condition = c if condition is None else condition & c
        return Table(self.dataset.to_table(columns=None if columns is None else list(columns), filter=condition))

    def _check(self, structure: Union[str, int, Sequence[str], None], thread: Optional[int]) -> None:
        """A name that the trace does not have is a mistake, not an answer without rows."""
        if structure is not None:
            wanted = [structure] if isinstance(structure, (str, int)) else list(structure)
            structures = self.structures.arrow
            ids, names = set(structures["id"].to_pylist()), set(structures["name"].to_pylist())
            unknown = [w for w in wanted if w not in ids | names]
            if any(isinstance(w, str) for w in unknown):  # ranges outside of structures and merged ones have no row there
                names |= set(pc.unique(self.dataset.to_table(columns=["structure"])["structure"]).to_pylist())
            for w in unknown:
                if w not in names:
                    near = difflib.get_close_matches(str(w), [n for n in names if n], 5) if isinstance(w, str) else []
                    raise MemtraceError(f"there is no structure {w!r}" + (f"; near: {', '.join(near)}" if near else ""), 2)
        if thread is not None and thread != -1 and thread not in self.threads.arrow["index"].to_pylist():
            raise MemtraceError(f"there is no thread {thread}; trace.threads has the numbers", 2)

    def table(self, name: str) -> Table:
        """A small table by its name in docs/reference/columns.md."""
        path = self.folder / (name + ".parquet")
        if not path.is_file():
            known = sorted(p.stem for p in self.folder.glob("*.parquet"))
            raise MemtraceError(f"{self.folder} has no table {name}; it has accesses, {', '.join(known)}", 3)
        return Table(pq.read_table(path))

    @property
    def structures(self) -> Table:
        """Data structures, stacks and other pieces of memory."""
        return self.table("structures")

    @property
    def threads(self) -> Table:
        return self.table("threads")

    @property
    def intervals(self) -> Table:
        """Monitoring intervals."""
        return self.table("intervals")

    @property
    def stacks(self) -> Table:
        """Frames of the call stacks of allocations."""
        return self.table("stacks")

    @property
    def producers(self) -> Table:
        """The tree of memory."""
        return self.table("producers")

    @property
    def findings(self) -> Table:
        """What ``memtrace advise`` finds."""
        return self.table("findings")

    @property
    def pages(self) -> Table:
        """Pages that were used, with who used them first."""
        return self.table("pages")

    @property
    def footprints(self) -> Table:
        """How much of each structure had been touched at the end of each monitoring interval."""
        return self.table("footprints")

    def pages_by(self, *keys: str) -> Table:
        """Records, reads and writes of each page, divided by columns of accesses: ``pages_by("thread")`` is page by thread."""
        by = ["structure", "producer", "page_index", *keys]
        sums = self.accesses(columns=[*by, "reads", "writes"]).arrow.group_by(by).aggregate([([], "count_all"), ("reads", "sum"), ("writes", "sum")])
        names = {"count_all": "records", "reads_sum": "reads", "writes_sum": "writes"}
        return Table(sums.rename_columns([names.get(n, n) for n in sums.column_names]).sort_by([(k, "ascending") for k in by[1:]]))

    def __repr__(self) -> str:
        return f"<memtrace.Trace {self.name}, {self.meta['tables']['accesses']['rows']} accesses>"


def open(trace: PathLike) -> Trace:
    """Opens a trace directory, a database, a number or name in the catalogue, or a Parquet folder.

    Of all but the last the command keeps a Parquet folder for each state, the one that ``memtrace sql`` reads (docs/reference/parquet.md tells where).
    """
    path = Path(trace)
    if (path / "meta.json").is_file() and (path / "accesses").is_dir():
        return Trace(path)
    return Trace(run("export", "--quiet", "--format", "parquet", "--cached", trace).rstrip("\n"), trace)
