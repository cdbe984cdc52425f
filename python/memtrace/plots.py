# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Pictures of a trace with matplotlib (``pip install 'memtrace[plots]'``), in the colours of the workbench.

Each function draws with pyplot and returns what it drew on: an ``Axes``, or an array of them, as pandas does. So ``plt.show()``, ``plt.xlim()``
and ``ax.figure.savefig("a.pdf")`` work. Times are from the start of the trace; ``start_ns`` and ``end_ns`` are in its clock.
"""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Iterable, Optional, Sequence, Union

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from matplotlib import pyplot as plt
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PolyCollection
from matplotlib.colors import BoundaryNorm, LinearSegmentedColormap, ListedColormap, LogNorm, Normalize, to_rgb, to_rgba
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ._commands import MemtraceError, run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from ._trace import Trace

Structures = Union[str, Sequence[str], None]

#: Private, shared or not known which, read or write: the colours of the workbench.
TYPES = {"Private_Read": "#20a6f6", "Private_Write": "#00287a", "Shared_Read": "#f2a52d", "Shared_Write": "#a03800",
         "NotKnown_Read": "#9aa0a6", "NotKnown_Write": "#9aa0a6"}
_DIRECTIONS = {"reads": "#b1d78d", "writes": "#5a3b9d"}
#: Threads, CPUs and other numbered things, by their number.
SERIES = ("#2f6fc4", "#ffbd00", "#3b823b", "#d37800", "#a990eb", "#92b594", "#c673b6", "#6a3e0d", "#c4b637", "#4f5d6b", "#9cc0f0", "#a6dc8c")
#: Structures, by their name.
_NAMED = ("#3b6fb6", "#e8862e", "#3f9f5f", "#c8443f", "#8b66b8", "#5fb7c4", "#d77fb3", "#8c6d4f", "#b6a72c", "#5b6b7b", "#7fa8e0", "#8fce7a")
_HUES = (3, 1, 7, 8, 11, 2, 5, 10, 0, 9, 4, 6)
_UNKNOWN = "#9aa0a6"
_MUTED = "#5f6b7a"
_BEHIND = "#f3f4f6"
_LINE = "#c3cad2"
_BLUES = LinearSegmentedColormap.from_list("memtrace_blues", ["#cfe3f6", "#2a6db8", "#0b2545"])
#: The heat of the thesis: light orange to red. With fixed limits, what is above them is black.
HEAT = LinearSegmentedColormap.from_list("memtrace_heat", ["#fef0d9", "#d7301f"]).with_extremes(over="black")
#: Above so many rectangles those that differ by less than half a pixel become one.
_MANY = 100_000


def thread_colour(index: int) -> tuple[float, float, float]:
    """Colour of a thread by its number; negative: not known."""
    return to_rgb(_UNKNOWN) if index < 0 else _round(SERIES[index % len(SERIES)], index // len(SERIES))


def structure_colour(name: str) -> tuple[float, float, float]:
    """Colour of a structure by its name: the same in all traces."""
    hashed = 0
    encoded = name.encode("utf-16-be")
    for i in range(0, len(encoded), 2):
        hashed = hashed * 31 + int.from_bytes(encoded[i:i + 2], "big") & 0xffffffff
    places = 5 * len(_HUES)
    place = (hashed * 0x9e3779b9 & 0xffffffff) * places >> 32
    hue = _HUES[place // 5]
    return _round("#4a3fc4" if hue == 9 else _NAMED[hue], place % 5)


def _round(colour: str, turn: int) -> tuple[float, float, float]:
    """Later rounds of a series are darker and lighter in turn."""
    rgb = np.array(to_rgb(colour))
    if turn == 0:
        return tuple(rgb)
    share = 0.25 + 0.1 * (turn % 4)
    levels = np.rint(rgb * 255) # halves are rounded up, as the workbench does it
    return tuple(np.floor(levels + ((0.0 if turn % 2 else 255.0) - levels) * share + 0.5) / 255)


# ---- what is drawn ----

class _Rows:
    """Records of the structures that are asked for, as arrays."""

    def __init__(self, trace: "Trace", structures: Structures, start_ns: Optional[int], end_ns: Optional[int], threads: Optional[Iterable[int]] = None):
        self.names = names_of(trace, structures)
        columns = ["structure", "type", "start_ns", "end_ns", "page_index", "page_start", "offset", "thread_index", "reads", "writes", "sharing"]
        found = trace.accesses(structure=self.names, start_ns=start_ns, end_ns=end_ns, columns=columns).arrow
        if threads is not None:
            found = found.filter(pc.is_in(found["thread_index"], pa.array(list(threads), pa.int64())))
        self.row = _codes(found["structure"], self.names)
        kinds = pc.cast(found["type"], pa.string())
        self.shared = pc.starts_with(kinds, "Shared").to_numpy()
        not_known = pc.starts_with(kinds, "NotKnown").to_numpy()
        self.start, self.end = found["start_ns"].to_numpy(), found["end_ns"].to_numpy()
        # what belongs to no structure, and what a merging rule made of several, has no index of its own
        self.page_start = found["page_start"].to_numpy()
        lowest = {i: self.page_start[self.row == i].min() for i in np.unique(self.row)}
        index = pc.fill_null(found["page_index"], -1).to_numpy()
        base = np.array([lowest.get(i, 0) for i in range(len(self.names))], np.uint64)
        missing = index < 0
        if missing.any():
            index = np.where(missing, ((self.page_start - base[self.row]) // np.uint64(trace.meta["page_size_bytes"])).astype(np.int64), index)
        self.page = index
        self.thread = pc.fill_null(found["thread_index"], -1).to_numpy()
        self.reads, self.writes = found["reads"].to_numpy(), found["writes"].to_numpy()
        # 0: one thread was seen, and whether there were others is not known
        self.sharing = pc.fill_null(found["sharing"], 0).to_numpy()
        self.type = np.where(not_known, 4, self.shared * 2) + (self.writes > 0)

    def __len__(self) -> int:
        return len(self.row)


def names_of(trace: "Trace", structures: Structures = None, count: int = 6) -> list[str]:
    """Names of the structures to draw: what was asked for, or those with the most accesses, in the order of memory."""
    if isinstance(structures, str):
        return [structures]
    if structures is not None:
        return list(structures)
    sums = _by_structure(trace)
    most = sorted(sums, key=lambda name: -(sums[name][0] + sums[name][1]))[:count]
    return [name for name in sums if name in most]


def _by_structure(trace: "Trace") -> dict[str, tuple[int, int, int]]:
    """Reads, writes and the sum of the numbers of threads where they are known, by structure, in the order of memory."""
    found = trace.accesses(columns=["structure", "producer", "reads", "writes", "sharing"]).arrow
    sums = found.group_by("structure").aggregate([("reads", "sum"), ("writes", "sum"), ("sharing", "sum"), ("producer", "min")])
    rows = sorted(sums.to_pylist(), key=lambda r: r["producer_min"])
    return {r["structure"]: (r["reads_sum"], r["writes_sum"], r["sharing_sum"] or 0) for r in rows}


def _codes(column: pa.ChunkedArray, names: Sequence[str]) -> np.ndarray:
    """For each value its index in the names."""
    return pc.index_in(pc.cast(column, pa.string()), pa.array(names, pa.string())).to_numpy()


def _counted(trace: "Trace") -> str:
    return trace.meta.get("counts", "accesses").replace("_", " ")


class _Time:
    """The axis of time: from the start of the trace, in a unit that gives readable numbers."""

    def __init__(self, trace: "Trace", start: int, end: int) -> None:
        self.origin = trace.meta["start_ns"]
        if trace.meta["time_unit"] == "tick":
            self.unit, self.factor = "ticks", 1.0
        else:
            length = max(end - start, end - self.origin)
            self.unit, self.factor = ("s", 1e9) if length >= 2_000_000_000 else ("ms", 1e6) if length >= 2_000_000 else ("µs", 1e3)

    def __call__(self, ns: Any) -> Any:
        return (np.asarray(ns) - self.origin) / self.factor

    @property
    def label(self) -> str:
        return f"time [{self.unit}]"


def _rectangles(ax: "Axes", x0: np.ndarray, x1: np.ndarray, y0: np.ndarray, y1: np.ndarray, colours: np.ndarray, alpha: Optional[float] = None) -> None:
    """Each has an edge of its colour, so that the shortest one is seen, too; not where edges would lie on each other."""
    corners = np.stack([np.stack([x0, y0], 1), np.stack([x1, y0], 1), np.stack([x1, y1], 1), np.stack([x0, y1], 1)], 1)
    ax.add_collection(PolyCollection(corners, facecolors=colours, edgecolors=colours, linewidths=0.5 if alpha is None else 0, alpha=alpha, rasterized=len(x0) > 2000))


def _thinned(x0: np.ndarray, x1: np.ndarray, y0: np.ndarray, y1: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Indexes in the order of drawing, the largest value last. Of many, those that look alike become the one with the largest value."""
    order = np.argsort(value, kind="stable")
    if len(order) <= _MANY:
        return order
    def steps(a: np.ndarray, low: float, high: float, n: int) -> np.ndarray:
        return ((a - low) / max(high - low, 1e-300) * n).astype(np.int64)
    keys = np.stack([steps(x0, x0.min(), x1.max(), 1200), steps(x1, x0.min(), x1.max(), 1200), steps(y0, y0.min(), y1.max(), 800)], 1)[order]
    _, last = np.unique(keys[::-1], axis=0, return_index=True)
    return order[np.sort(len(order) - 1 - last)]


def _panels(rows: int, columns: int, width: float, height: float, heights: Optional[Sequence[float]] = None, **more: Any) -> tuple[Any, np.ndarray]:
    figure, axes = plt.subplots(rows, columns, squeeze=False, figsize=(width, height), layout="constrained",
                                gridspec_kw=None if heights is None else {"height_ratios": heights}, **more)
    for ax in axes.flat:
        _plain(ax)
    return figure, axes


def _plain(ax: "Axes") -> None:
    ax.set_facecolor(_BEHIND)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8)


def _hexadecimal(axis: Any, low: int, high: int) -> None:
    """Round addresses on an axis that begins with 0 at the address low."""
    step = 1 << max(0, (max(1, high - low) // 4 - 1).bit_length())
    first = -(-low // step) * step
    at = range(first, high + 1, step) if first + step <= high else [low]
    axis.set_ticks([a - low for a in at], [f"{a:x}" for a in at])


def _plain_numbers(axis: Any) -> None:
    """1, 10, 1,000 on a logarithmic axis, not powers; of less than two decades 2 and 5 of each, too."""
    def between(v: float, _: Any) -> str:
        low, high = axis.get_view_interval()
        return f"{v:,.0f}" if high < 100 * low and f"{v:e}"[0] in "25" and v > 1 else ""
    axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}"))
    axis.set_minor_formatter(FuncFormatter(between))
    axis.set_tick_params(which="both", labelsize=8)


def _colour_bar(figure: Any, drawn: Any, axes: np.ndarray, label: str, **more: Any) -> None:
    bar = figure.colorbar(drawn, ax=axes.ravel().tolist(), fraction=0.03, aspect=30, pad=0.01, **more)
    bar.set_label(label, fontsize=8)
    bar.ax.tick_params(labelsize=8)
    if isinstance(bar.norm, LogNorm):
        _plain_numbers(bar.ax.yaxis)
    elif more.get("ticks") is None:
        bar.ax.yaxis.set_major_locator(MaxNLocator(9, integer=True))


def _own(ax: Optional["Axes"], width: float, height: float) -> "Axes":
    if ax is None:
        ax = plt.subplots(figsize=(width, height), layout="constrained")[1]
    _plain(ax)
    return ax


def _type_name(t: int) -> str:
    return list(TYPES)[t].replace("NotKnown", "not known").replace("_", " ").lower()


def _short(name: str, most: int) -> str:
    return name if len(name) <= most else name[:most // 2] + "…" + name[len(name) - most + most // 2 + 1:]


def _nothing(names: Sequence[str]) -> MemtraceError:
    return MemtraceError(f"there are no accesses to {', '.join(names) or 'anything'} in that time", 3)


# ---- pictures ----

def space_time(trace: "Trace", colour: str = "sharing", structures: Structures = None, *, by_type: bool = True, y: str = "page",
               limits: Optional[tuple[float, float]] = None, start_ns: Optional[int] = None, end_ns: Optional[int] = None,
               pages: Optional[tuple[int, int]] = None, threads: Optional[Iterable[int]] = None, alpha: Optional[float] = None) -> np.ndarray:
    """What was accessed when: a rectangle for each interval and page, not aggregated; where several lie above each other the largest is seen.

    :param colour: ``sharing`` (threads on the page at the same time; grey: not known), ``accesses``, ``records`` (equal ones), ``type`` or ``thread``
    :param structures: names; None: those with most accesses
    :param by_type: a column for each of private and shared, reads and writes; else they lie above each other
    :param y: ``page`` (a row of panels for each structure) or ``address`` (one for all of them)
    :param limits: of the colours; what is above them is black. None: as far as the values go
    :param pages: only these pages of the structures, the second one excluded
    """
    kinds = ("sharing", "accesses", "records", "type", "thread")
    if colour not in kinds:
        raise ValueError(f"colour is one of {', '.join(kinds)}")
    if y not in ("page", "address"):
        raise ValueError("y is page or address")
    rows = _Rows(trace, structures, start_ns, end_ns, threads)
    if not len(rows):
        raise _nothing(rows.names)
    counted = rows.reads + rows.writes
    # equal but for the thread: one rectangle
    keys = [rows.row, rows.page, rows.start, rows.end] + ([rows.page_start.view(np.int64)] if y == "address" else [])
    if by_type or colour == "type":
        keys.append(rows.type)
    if colour == "thread":
        keys.append(rows.thread)
    _, first, group = np.unique(np.stack(keys, 1), axis=0, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    def of_group(f: Any, what: np.ndarray, start: int) -> np.ndarray:
        out = np.full(len(first), start, np.int64)
        f.at(out, group, what)
        return out
    value = {"accesses": lambda: of_group(np.add, counted, 0), "records": lambda: of_group(np.add, np.ones_like(counted), 0),
             "sharing": lambda: of_group(np.maximum, rows.sharing, 0), "type": lambda: rows.type[first], "thread": lambda: rows.thread[first]}[colour]()
    kind, which, page = rows.type[first], rows.row[first], rows.page[first]
    time = _Time(trace, rows.start.min(), rows.end.max())
    x0, x1 = time(rows.start[first]), time(rows.end[first])
    low = rows.page_start.min()
    size = trace.meta["page_size_bytes"]
    y0 = (rows.page_start[first] - low).astype(float) if y == "address" else page.astype(float)
    y1 = y0 + (size if y == "address" else 1)

    paint, legend = _paint(colour, value, trace, limits)
    columns = [t for t in range(len(TYPES)) if (kind == t).any()] if by_type else [None]
    panels = list(range(len(rows.names))) if y == "page" else [None]
    if y == "address" and by_type: # as high as wide panels need, below each other
        grid, columns = [(None, t) for t in columns], [None]
        figure, axes = _panels(len(grid), 1, 9, 1 + 1.9 * len(grid), sharex=True, sharey=True)
    else:
        grid = [(s, None) for s in panels]
        figure, axes = _panels(len(panels), len(columns), 2.4 + 2.7 * len(columns), 1.2 + 1.5 * len(panels), sharex=True, sharey="row")
    for r, (structure, only) in enumerate(grid):
        for c, t in enumerate(columns):
            ax = axes[r, c]
            t = only if only is not None else t
            seen = np.ones(len(first), bool) if structure is None else which == structure
            if pages is not None:
                seen &= (page >= pages[0]) & (page < pages[1])
            if t is not None:
                seen &= kind == t
            index = np.flatnonzero(seen)
            if len(index):
                index = index[_thinned(x0[index], x1[index], y0[index], y1[index], value[index])]
                _rectangles(ax, x0[index], x1[index], y0[index], y1[index], paint(value[index]), alpha)
            if t is not None and (r == 0 or only is not None):
                ax.set_title(_type_name(t), fontsize=9)
            if c == 0:
                label = "address" if structure is None else _short(rows.names[structure], 28) if len(panels) < 3 else _short(rows.names[structure], 18)
                ax.set_ylabel(label, fontsize=9)
        part = np.ones(len(first), bool) if structure is None else which == structure
        if pages is not None:
            part &= (page >= pages[0]) & (page < pages[1])
        if part.any():
            bottom, top = (y0[part].min(), y1[part].max())
            axes[r, 0].set_ylim(bottom, top)
        if y == "address":
            _hexadecimal(axes[r, 0].yaxis, int(low), int(low) + int(y1.max()))
        else:
            axes[r, 0].yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes[0, 0].set_xlim(x0.min(), x1.max())
    for ax in axes[-1]:
        ax.set_xlabel(time.label, fontsize=8)
    if y == "page":
        figure.supylabel("page of the structure", fontsize=8, color=_MUTED)
    legend(figure, axes)
    return axes


def _paint(colour: str, value: np.ndarray, trace: "Trace", limits: Optional[tuple[float, float]]) -> tuple[Any, Any]:
    """How values become colours, and what draws the legend."""
    def patches(labels: list[tuple[str, Any]]) -> Any:
        def draw(figure: Any, axes: np.ndarray) -> None:
            figure.legend(handles=[Patch(color=c, label=label) for label, c in labels], loc="outside right upper", fontsize=8, frameon=False)
        return draw
    if colour == "type":
        colours = np.array([to_rgba(c) for c in TYPES.values()])
        return (lambda v: colours[v]), patches([(_type_name(t), colours[t]) for t in np.unique(value)])
    if colour == "thread":
        names = dict(zip(trace.threads.arrow["index"].to_pylist(), trace.threads.arrow["name"].to_pylist()))
        there = np.unique(value)
        labels = [(_short(f"{names.get(t, '')} #{t}", 20) if t >= 0 else "unknown", thread_colour(t)) for t in there]
        return (lambda v: np.array([thread_colour(t) for t in there])[np.searchsorted(there, v)]), patches(labels[:24])
    titles = {"sharing": "threads at the same time", "accesses": _counted(trace), "records": "equal records"}
    if limits is not None:
        scale = ScalarMappable(Normalize(*limits), HEAT)
    elif colour != "accesses" and value.max() <= 12:
        most = int(value.max())
        steps = ListedColormap(HEAT(np.linspace(0.12, 1, most)))
        scale = ScalarMappable(BoundaryNorm(np.arange(0.5, most + 1), max(most, 1)), steps)
    else:
        scale = ScalarMappable(LogNorm(1, max(2, value.max())), _BLUES if colour == "accesses" else HEAT)
    def bar(figure: Any, axes: np.ndarray) -> None:
        steps = limits is None and colour != "accesses" and value.max() <= 12
        _colour_bar(figure, scale, axes, titles[colour], extend="max" if limits is not None and value.max() > limits[1] else "neither",
                    ticks=range(1, int(value.max()) + 1) if steps else None)
    def paint(v: np.ndarray) -> np.ndarray:
        colours = scale.to_rgba(np.maximum(v, 1) if limits is None else v)
        if colour == "sharing":
            colours[v == 0] = to_rgba(_UNKNOWN)
        return colours
    def with_unknown(figure: Any, axes: np.ndarray) -> None:
        bar(figure, axes)
        if colour == "sharing" and (value == 0).any():
            figure.legend(handles=[Patch(color=_UNKNOWN, label="not known")], loc="outside right upper", fontsize=8, frameon=False)
    return paint, with_unknown


def addresses(trace: "Trace", structures: Structures = None, *, bins: int = 100, ax: Optional["Axes"] = None) -> "Axes":
    """Records by address: which parts of memory are used. Without structures all records."""
    columns = ["page_start", "structure"]
    found = trace.accesses(columns=columns).arrow if structures is None else trace.accesses(structure=names_of(trace, structures), columns=columns).arrow
    start = found["page_start"].to_numpy()
    if not len(start):
        raise _nothing(names_of(trace, structures))
    low = start.min()
    count, edges = np.histogram((start - low).astype(float), bins)
    ax = _own(ax, 8, 3)
    ax.bar(edges[:-1], count, np.diff(edges), align="edge", color=SERIES[0])
    if count.max() > 100:
        ax.set_yscale("symlog", linthresh=1)
        ax.set_ylim(0)
    _hexadecimal(ax.xaxis, int(low), int(low) + int(edges[-1]))
    ax.set_xlabel("address", fontsize=8)
    ax.set_ylabel("records", fontsize=8)
    return ax


def importance(trace: "Trace", value: str = "accesses", *, count: int = 20, log: Optional[bool] = None, ax: Optional["Axes"] = None) -> "Axes":
    """The structures that are used most.

    :param value: ``accesses``, ``sharing`` (sum of the numbers of threads over all records) or ``rw`` (reads and writes, one above the other)
    :param log: a logarithmic axis; None: not with ``rw``, whose parts must be comparable
    """
    of = {"accesses": lambda s: s[0] + s[1], "rw": lambda s: s[0] + s[1], "sharing": lambda s: s[2]}
    if value not in of:
        raise ValueError(f"value is one of {', '.join(of)}")
    sums = _by_structure(trace)
    names = sorted(sums, key=lambda n: -of[value](sums[n]))[:count]
    ax = _own(ax, max(5, 1.5 + 0.42 * len(names)), 4)
    at = np.arange(len(names))
    if value == "rw":
        reads, writes = [sums[n][0] for n in names], [sums[n][1] for n in names]
        ax.bar(at, reads, color=_DIRECTIONS["reads"], label="reads")
        ax.bar(at, writes, bottom=reads, color=_DIRECTIONS["writes"], label="writes")
        ax.legend(fontsize=8, frameon=False)
    else:
        ax.bar(at, [of[value](sums[n]) for n in names], color=[structure_colour(n) for n in names])
    if value != "rw" if log is None else log:
        ax.set_yscale("log")
        _plain_numbers(ax.yaxis)
        ax.grid(axis="y", which="both", linestyle="--", linewidth=0.4, color=_LINE)
        ax.set_axisbelow(True)
    ax.set_xticks(at, [_short(n, 24) for n in names], rotation=40, ha="right", rotation_mode="anchor", fontsize=8)
    ax.set_ylabel("sum of the numbers of threads, where known" if value == "sharing" else _counted(trace), fontsize=8)
    return ax


def page_thread(trace: "Trace", structures: Structures = None, value: str = "accesses", *, start_ns: Optional[int] = None,
                end_ns: Optional[int] = None) -> np.ndarray:
    """Which thread used which page, as TABARNAC shows it.

    :param value: ``accesses``, ``reads``, ``writes``, or ``sharing`` (the most threads at the same time)
    """
    rows = _Rows(trace, structures, start_ns, end_ns)
    if not len(rows):
        raise _nothing(rows.names)
    what = {"accesses": rows.reads + rows.writes, "reads": rows.reads, "writes": rows.writes, "sharing": rows.sharing}
    if value not in what:
        raise ValueError(f"value is one of {', '.join(what)}")
    tids = np.unique(rows.thread)
    grids = []
    for s in range(len(rows.names)):
        mine = rows.row == s
        low, high = (rows.page[mine].min(), rows.page[mine].max()) if mine.any() else (0, 0)
        grid = np.zeros((len(tids), high - low + 1))
        (np.maximum if value == "sharing" else np.add).at(grid, (np.searchsorted(tids, rows.thread[mine]), rows.page[mine] - low), what[value][mine])
        grids.append((grid, low, high + 1))
    most = max(g[0].max() for g in grids)
    figure, axes = _panels(len(grids), 1, 8, 1 + len(grids) * (0.8 + 0.12 * len(tids)))
    scale = Normalize(0, max(most, 1)) if most <= 12 else LogNorm(1, most)
    colours = (HEAT if value == "sharing" else _BLUES).with_extremes(bad=_BEHIND)
    for ax, (grid, low, high), name in zip(axes[:, 0], grids, rows.names):
        drawn = ax.imshow(np.ma.masked_equal(grid, 0), aspect="auto", interpolation="nearest", norm=scale, cmap=colours, origin="lower",
                          extent=(low, high, -0.5, len(tids) - 0.5))
        ax.set_title(_short(name, 60), fontsize=9, loc="left")
        ax.set_yticks(np.arange(len(tids)), ["?" if t < 0 else f"#{t}" for t in tids])
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes[-1, 0].set_xlabel("page of the structure", fontsize=8)
    figure.supylabel("thread", fontsize=8, color=_MUTED)
    _colour_bar(figure, drawn, axes, "threads at the same time" if value == "sharing" else _counted(trace) if value == "accesses" else value)
    return axes[:, 0]


def offsets(trace: "Trace", structures: Structures = None, *, start_ns: Optional[int] = None, end_ns: Optional[int] = None) -> np.ndarray:
    """Accesses of each page of a structure over the whole time, by private and shared, reads and writes."""
    rows = _Rows(trace, structures, start_ns, end_ns)
    if not len(rows):
        raise _nothing(rows.names)
    figure, axes = _panels(len(rows.names), 1, 8, 1 + 1.6 * len(rows.names))
    for s, ax in enumerate(axes[:, 0]):
        for t, colour in enumerate(TYPES.values()):
            mine = (rows.row == s) & (rows.type == t)
            sums = np.bincount(rows.page[mine], (rows.reads + rows.writes)[mine])
            there = np.flatnonzero(sums)
            ax.plot(there, sums[there], "o", markersize=3.5, color=colour)
        ax.set_yscale("log")
        _plain_numbers(ax.yaxis)
        ax.set_title(_short(rows.names[s], 60), fontsize=9, loc="left")
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes[-1, 0].set_xlabel("page of the structure", fontsize=8)
    figure.supylabel(_counted(trace), fontsize=8, color=_MUTED)
    figure.legend(handles=[Patch(color=c, label=_type_name(t)) for t, c in enumerate(TYPES.values()) if (rows.type == t).any()],
                  loc="outside right upper", fontsize=8, frameon=False)
    return axes[:, 0]


def first_touch(trace: "Trace", structures: Structures = None) -> np.ndarray:
    """When each page was used first, and by which thread: on a machine with several nodes it decides where the page is."""
    rows = _Rows(trace, structures, None, None)
    if not len(rows):
        raise _nothing(rows.names)
    # of records that begin together the thread with the lowest number
    order = np.lexsort((rows.thread, rows.start))
    _, at = np.unique(np.stack([rows.row, rows.page], 1)[order], axis=0, return_index=True)
    first = order[at]
    time = _Time(trace, rows.start.min(), rows.end.max())
    figure, axes = _panels(len(rows.names), 1, 8, 1 + 1.5 * len(rows.names), sharex=True)
    for s, ax in enumerate(axes[:, 0]):
        mine = first[rows.row[first] == s]
        ax.scatter(time(rows.start[mine]), rows.page[mine] + 0.5, s=9, marker="s", linewidths=0,
                   color=np.array([thread_colour(t) for t in rows.thread[mine]]).reshape(-1, 3))
        ax.set_title(_short(rows.names[s], 60), fontsize=9, loc="left")
        ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes[0, 0].set_xlim(0, time(rows.end.max()))
    axes[-1, 0].set_xlabel(time.label, fontsize=8)
    figure.supylabel("page of the structure", fontsize=8, color=_MUTED)
    _paint("thread", rows.thread[first], trace, None)[1](figure, axes)
    return axes[:, 0]


def density(trace: "Trace", by: str = "type", structures: Structures = None, *, bins: int = 100, ax: Optional["Axes"] = None) -> "Axes":
    """How much was accessed when; what an interval counted is spread over its length.

    :param by: ``type``, ``thread`` or ``structure``: what is stacked
    :param structures: None: all
    """
    names = list(_by_structure(trace)) if structures is None else names_of(trace, structures)
    rows = _Rows(trace, names, None, None)
    if not len(rows):
        raise _nothing(names)
    if by == "type":
        key, parts = rows.type, [(t, _type_name(t), c) for t, c in enumerate(TYPES.values()) if (rows.type == t).any()]
    elif by == "thread":
        key, parts = rows.thread, [(t, f"#{t}" if t >= 0 else "unknown", thread_colour(t)) for t in np.unique(rows.thread)]
    elif by == "structure":
        most = np.argsort(-np.bincount(rows.row, rows.reads + rows.writes, len(names)))[:12]
        key = np.where(np.isin(rows.row, most), rows.row, -1)
        parts = [(s, _short(names[s], 24), structure_colour(names[s])) for s in most] + ([(-1, "others", _UNKNOWN)] if (key < 0).any() else [])
    else:
        raise ValueError("by is type, thread or structure")
    time = _Time(trace, rows.start.min(), rows.end.max())
    edges = np.linspace(0, time(rows.end.max()), bins + 1)
    begin, end, counted = time(rows.start), time(rows.end), rows.reads + rows.writes
    ax = _own(ax, 9, 3.2)
    bottom = np.zeros(bins)
    for value, label, colour in parts:
        mine = key == value
        rate = np.zeros(bins)
        length = np.maximum(end[mine] - begin[mine], 1e-12)
        for b in range(bins):
            inside = np.minimum(end[mine], edges[b + 1]) - np.maximum(begin[mine], edges[b])
            rate[b] = (counted[mine] * np.clip(inside, 0, None) / length).sum() / (edges[1] - edges[0])
        ax.bar(edges[:-1], rate, edges[1] - edges[0], bottom, align="edge", color=colour, label=label, linewidth=0)
        bottom += rate
    ax.set_xlim(0, edges[-1])
    ax.set_xlabel(time.label, fontsize=8)
    ax.set_ylabel(f"{_counted(trace)} per {time.unit.rstrip('s') if time.unit == 'ticks' else time.unit}", fontsize=8)
    handles, labels = ax.get_legend_handles_labels()
    ax.legend(handles[::-1], labels[::-1], fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def distribution(trace: "Trace", structures: Structures = None, by: str = "thread", *, start_ns: Optional[int] = None,
                 end_ns: Optional[int] = None) -> np.ndarray:
    """Accesses of each page, divided by ``thread`` or ``type``, one above the other."""
    rows = _Rows(trace, structures, start_ns, end_ns)
    if not len(rows):
        raise _nothing(rows.names)
    if by not in ("thread", "type"):
        raise ValueError("by is thread or type")
    key = rows.thread if by == "thread" else rows.type
    figure, axes = _panels(len(rows.names), 1, 8, 1 + 1.6 * len(rows.names))
    for s, ax in enumerate(axes[:, 0]):
        mine = rows.row == s
        low, high = (rows.page[mine].min(), rows.page[mine].max() + 1) if mine.any() else (0, 1)
        bottom = np.zeros(high - low)
        for value in np.unique(key):
            part = mine & (key == value)
            sums = np.bincount(rows.page[part] - low, (rows.reads + rows.writes)[part], high - low)
            ax.stairs(bottom + sums, np.arange(low, high + 1), baseline=bottom, fill=True,
                      color=thread_colour(value) if by == "thread" else list(TYPES.values())[value])
            bottom += sums
        ax.set_xlim(low, high)
        ax.set_ylim(0, bottom.max() * 1.05 or 1)
        ax.set_title(_short(rows.names[s], 60), fontsize=9, loc="left")
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
    axes[-1, 0].set_xlabel("page of the structure", fontsize=8)
    figure.supylabel(_counted(trace), fontsize=8, color=_MUTED)
    _paint(by, key, trace, None)[1](figure, axes)
    return axes[:, 0]


def overview(trace: "Trace", p: Union[float, str] = "auto", *, view: str = "type", rows: int = 250, ax: Optional["Axes"] = None) -> "Axes":
    """Memory over time, aggregated at the trade-off p by ``memtrace aggregate``: a block has the colour of what is most in it, the paler the less.

    :param p: 0 keeps everything, 1 merges everything; ``auto``: the value that memtrace chooses
    :param view: what types are: ``type``, ``thread``, ``structure`` and others
    """
    if trace.source is None:
        raise MemtraceError(f"{trace.folder} is a Parquet folder, and only a trace can be aggregated; open the trace itself", 3)
    told = json.loads(run("aggregate", "--quiet", "--format", "json", "--p", str(p), "--view", view, "--rows", str(rows), trace.source))
    tree = trace.producers.arrow
    leaf = pc.equal(tree["subtree_end"], pc.add(tree["id"], 1)).to_numpy()
    before = np.concatenate([[0], np.cumsum(leaf)]) # leaves before each producer; ids are 0, 1, 2 ...
    ends = tree["subtree_end"].to_numpy()
    bounds = np.array(told["slice_bounds_ns"])
    time = _Time(trace, bounds[0], bounds[-1])
    blocks = [b for b in told["partition"] if sum(b["values"]) > 0]
    colours = []
    per = []
    for b in blocks:
        strongest = int(np.argmax(b["values"]))
        colours.append(_view_colour(view, told["types"][strongest], strongest))
        length = (bounds[b["end_slice"]] - bounds[b["first_slice"]]) / time.factor
        per.append(sum(b["values"]) / b["pages"] / max(length, 1e-12))
    per = np.array(per)
    limit = np.percentile(per, 98) if len(per) else 1
    strength = 0.25 + 0.75 * np.sqrt(np.minimum(per / limit, 1))
    painted = np.array([1 - s * (1 - np.array(c)) for c, s in zip(colours, strength)]).reshape(-1, 3)
    ax = _own(ax, 9, 5.5)
    x0, x1 = (np.array([time(bounds[b[k]]) for b in blocks]) for k in ("first_slice", "end_slice"))
    y0 = np.array([before[b["producer_id"]] for b in blocks])
    y1 = np.array([before[ends[b["producer_id"]]] for b in blocks])
    _rectangles(ax, x0, x1, y0, y1, painted)
    ax.set_xlim(time(bounds[0]), time(bounds[-1]))
    ax.set_ylim(before[-1], 0)
    ticks, last = [], -1.0
    kinds, names = tree["kind"].to_pylist(), tree["name"].to_pylist()
    for i, kind in enumerate(kinds):
        # what directly has pages, or parts that were only made to aggregate them
        if kind not in ("page", "part") and not leaf[i] and kinds[i + 1] in ("page", "part"):
            middle = (before[i] + before[ends[i]]) / 2
            if middle - last > before[-1] * 0.025:
                ticks.append((middle, _short(names[i], 24)))
                last = middle
            ax.axhline(before[i], color=_LINE, linewidth=0.5)
    ax.set_yticks([t[0] for t in ticks], [t[1] for t in ticks])
    ax.set_xlabel(time.label, fontsize=8)
    ax.set_title(f"{trace.name}: p = {told['p']:.3g}, loss {told['loss_percent']:.3g} %, {told['blocks']} blocks", fontsize=9, loc="left")
    seen = sorted({int(np.argmax(b["values"])) for b in blocks})
    ax.legend(handles=[Patch(color=_view_colour(view, told["types"][t], t), label=_short(told["types"][t].replace("_", " "), 24)) for t in seen[:20]],
              fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def _view_colour(view: str, name: str, index: int) -> tuple[float, float, float]:
    return to_rgb(TYPES[name]) if name in TYPES else structure_colour(name) if view == "structure" else thread_colour(index)
