# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Traces of memory use, recorded by memtrace, as Arrow tables.

    import memtrace
    trace = memtrace.open("app.memtrace")
    trace.accesses(structure="A", thread=1).to_pandas()

A trace is a trace directory, a database, a number or name in the catalogue, or a folder that ``memtrace export --format parquet``
wrote. All but the last need the command ``memtrace``: the one that MEMTRACE names, else the one in PATH. Columns are those of docs/reference/columns.md.
"""
from ._commands import MemtraceError, diff, record, run
from ._commands import import_ as import_trace
from ._trace import Table, Trace, open

__all__ = ["MemtraceError", "Table", "Trace", "diff", "import_trace", "open", "record", "run"]
