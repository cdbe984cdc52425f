#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""
What findings promise, against what the repair gains: the table of docs/measured/findings.md.

    bench/findings/run.py [-n RUNS] [-k DIR] [PAIR...]

Each C file here is a program with a fault, and with -DREPAIRED the same without. Both are run RUNS times (default 5) in turn, alone,
then recorded once each. Promised is the price of the finding about the named structure, or of the first one; gained is 1 - repaired/fault by
CPU time, and by elapsed time, medians with the range of the quartiles. On a busy machine look at the CPU time. Measure the machine
first: memtrace check --measure. Traces stay in DIR with -k. The exit code is 0: this is a measurement, not a test.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def fields(source):
    """pair, finds (rules and structure) of the head of a program."""
    text = source.read_text()
    return {k: re.search(rf"^(?:/\*| \*) {k}: (.*?)(?: \*/)?$", text, re.M).group(1) for k in ("pair", "finds")}


def built(source, to):
    for name, flags in (("fault", []), ("repaired", ["-DREPAIRED"])):
        subprocess.run(["gcc", "-O2", "-g", "-pthread", *flags, "-o", to / f"{source.stem}.{name}", source], check=True)


def once(program):
    """CPU and elapsed seconds of a run."""
    begin = time.monotonic()
    with subprocess.Popen([program], stdout=subprocess.DEVNULL) as p:
        _, status, used = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
    if p.returncode:
        raise SystemExit(f"{program} ended with {p.returncode}")
    return used.ru_utime + used.ru_stime, time.monotonic() - begin


def gain(fault, repaired):
    """Share gained: by the medians, and by the quartiles that are farthest from and nearest to each other."""
    q = statistics.quantiles
    f, r = sorted(fault), sorted(repaired)
    if len(f) < 3:
        return (1 - r[0] / f[0],) * 3
    return 1 - statistics.median(r) / statistics.median(f), 1 - q(r)[2] / q(f)[0], 1 - q(r)[0] / q(f)[2]


def advised(memtrace, program, trace):
    for command in (["record", "-q", "-o", trace, "--", program], ["advise", "-q", "--format", "json", "--all", trace]):
        p = subprocess.run([memtrace, *command], capture_output=True, text=True, check=False)
        if p.returncode:
            raise SystemExit(f"memtrace {command[0]} of {program}: {p.stderr[-300:]}")
    return json.loads(p.stdout)["findings"]


def about(finding, structure):
    return structure in finding["structures"]


def promised(finding):
    if finding is None:
        return "no finding"
    p = finding["price"]
    if p["kind"] == "not_known":
        return "not known"
    if p["high"] < 0.01:
        return "< 1"
    if p["kind"] == "at_most":
        return f"at most {100 * p['high']:.0f}"
    return f"{100 * p['share']:.0f} ({100 * p['low']:.0f} to {100 * p['high']:.0f})" + (", elapsed" if p["of"] == "elapsed" else "")


def judged(finding, cpu, wall):
    """Whether the gain is in the interval, with what the runs themselves differ by; '' where nothing was promised."""
    if finding is None or finding["price"]["kind"] == "not_known":
        return ""
    p, g = finding["price"], wall if finding["price"]["of"] == "elapsed" else cpu
    noise = max(0.02, (g[2] - g[1]) / 2)
    return "yes" if p["low"] - noise <= g[0] <= max(p["high"], 0.01) + noise else "no"


def first(findings, rules, structure, cpu):
    """Is the first finding that costs something the planted one, or is there none where there is nothing to gain?"""
    costs = [f for f in findings if f["price"]["kind"] == "not_known" or f["price"]["high"] >= 0.01]
    said = f"{costs[0]['rule']} {', '.join(costs[0]['structures'][:2])}" if costs else "nothing"
    if rules == ["-"]:
        known = [f for f in costs if f["price"]["kind"] == "known" and f["price"]["share"] >= 0.05]
        return said, "no" if known else "yes"
    return said, "yes" if costs and costs[0]["rule"] in rules and about(costs[0], structure) else "no"


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("-n", type=int, default=5, metavar="RUNS")
    args.add_argument("-k", type=pathlib.Path, metavar="DIR")
    args.add_argument("pair", nargs="*")
    a = args.parse_args()
    memtrace = ROOT / "memtrace"
    known = subprocess.run([memtrace, "check", "--format", "json"], capture_output=True, text=True, check=False)
    if known.returncode:
        raise SystemExit("nothing can be recorded here: memtrace check")
    with tempfile.TemporaryDirectory() as temporary:
        work = a.k or pathlib.Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        os.environ["MEMTRACE_HOME"] = str(work / "home")
        print("| pair | promised % | gained % of CPU time | of elapsed time | inside | first finding | right | repaired |")
        print("|---|---|---|---|---|---|---|---|")
        for source in sorted(HERE.glob("*.c")):
            if a.pair and source.stem not in a.pair:
                continue
            head = fields(source)
            *rules, structure = re.split(r"[| ]", head["finds"])
            built(source, work)
            runs = {"fault": [], "repaired": []}
            for _ in range(a.n):
                for name, all_of in runs.items():
                    all_of.append(once(work / f"{source.stem}.{name}"))
            cpu, wall = (gain(*([r[i] for r in runs[n]] for n in ("fault", "repaired"))) for i in (0, 1))
            found, after = ([] for _ in range(2))
            for name, to in (("fault", found), ("repaired", after)):
                trace = work / f"{source.stem}.{name}.memtrace"
                subprocess.run(["rm", "-rf", trace], check=True)
                to += advised(memtrace, work / f"{source.stem}.{name}", trace)
            that = next((f for f in found if about(f, structure)), None)
            said, right = first(found, rules, structure, cpu)
            left, _ = first(after, ["-"], structure, cpu)
            print(f"| {head['pair']} | {promised(that)} | " + " | ".join(f"{100 * g[0]:.0f} ({100 * g[1]:.0f} to {100 * g[2]:.0f})"
                  for g in (cpu, wall)) + f" | {judged(that, cpu, wall)} | {said} | {right} | {left} |", flush=True)
    load = os.getloadavg()
    print(f"\nload {load[0]:.0f}, {os.cpu_count()} CPUs, {a.n} runs each", file=sys.stderr)


if __name__ == "__main__":
    main()
