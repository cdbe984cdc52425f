#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Sizes of reports and what a reader waits for, in headless Chromium: measure.py REPORT.html...

First picture: from the call that opens the file until the page says that it has drawn, on the clock of this process; and from
the start of the navigation on the clock of the page. Zoom: 60 different parts of the whole structure, each drawn at once;
"frame" is the same with the time until the browser has painted. Prints a row of a markdown table for each report.
"""
import importlib.util, os, statistics, sys, time

here = os.path.dirname(os.path.abspath(__file__))
spec = importlib.util.spec_from_file_location("check_report", os.path.join(here, "..", "..", "releng", "check-report.py"))
check_report = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_report)

print("| report | bytes | rows | threads | first picture, page clock | … this process | unpacked in the worker | zoom median | 95 % | longest | frame median | 95 % |")
print("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
for path in sys.argv[1:]:
    firsts, walls = [], []
    for _ in range(3):
        b = check_report.Browser()
        try:
            begin = time.monotonic()
            b.call("Page.navigate", url="file://" + os.path.abspath(path))
            b.wait("document.readyState === 'complete' && document.body && document.body.dataset.ready === '1'")
            walls.append(1000 * (time.monotonic() - begin))
            firsts.append(b.eval("report.times.first"))
            if _ < 2:
                continue
            unpack = b.eval("report.times.unpack")
            zooms = sorted(b.eval("""Array.from({length: 60}, (v, i) => { const w = Math.pow(.8, i % 30), a = (1 - w) * ((i * 7) % 11) / 11;
                zoom(a, a + w); return report.times.draw; })"""))
            frames = sorted(b.eval("""(async () => { const all = []; for (let i = 0; i < 60; i++) { const w = Math.pow(.8, i % 30), a = (1 - w) * ((i * 7) % 11) / 11;
                await new Promise(r => requestAnimationFrame(r)); const t = performance.now(); zoom(a, a + w);
                await new Promise(r => requestAnimationFrame(() => { const c = new MessageChannel(); c.port1.onmessage = r; c.port2.postMessage(0); })); all.push(performance.now() - t); }
                return all; })()"""))
            p95 = lambda v: v[int(0.95 * (len(v) - 1))]
            print(f"| {os.path.basename(path)} | {os.path.getsize(path):,} | {b.eval('current.s.rows'):,} | {b.eval('NT')} | {statistics.median(firsts):.0f} ms | {statistics.median(walls):.0f} ms | "
                  f"{unpack:.0f} ms | {zooms[30]:.1f} ms | {p95(zooms):.1f} ms | {zooms[-1]:.1f} ms | {frames[30]:.1f} ms | {p95(frames):.1f} ms |", flush=True)
            if b.errors:
                raise SystemExit(f"{path}: in the console: {b.errors[:3]}")
        finally:
            b.close()
