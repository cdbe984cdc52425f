#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""picture.py TRACES BUILD EXAMPLES [draw]: what the traces of the machine show about the examples.

Reads the trace directories that run.sh copied out of the machine (see
docs/reference/trace-format.md) and compares them with what the programs do, and with a
trace of the same program by the user-space backend, recorded here, when it works.
With "draw" some of the traces are imported and rendered as well.
"""
import csv
import glob
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

PAGE = 4096
failed = 0


def check(condition, text):
    global failed
    print(("ok " if condition else "FAILED ") + text)
    failed += not condition


def image_of(trace):
    return os.path.join(trace, "p0000")


def structures(trace):
    with open(os.path.join(image_of(trace), "structures.csv"), newline="") as f:
        return list(csv.DictReader(f))


def pages(trace):
    """page -> (threads, threads that wrote, intervals)"""
    found = {}
    for name in sorted(glob.glob(os.path.join(image_of(trace), "accesses-*.csv"))):
        with open(name, newline="") as f:
            for r in csv.DictReader(f):
                p = found.setdefault(int(r["@Virt"], 16) // PAGE, (set(), set(), set()))
                if r["TaskId"] != "-1":
                    p[0].add(r["TaskId"])
                    if int(r["Nwrites"]):
                        p[1].add(r["TaskId"])
                p[2].add(r["Start"])
    return found


def picture(trace):
    """name -> (pages, touched, shared by threads, written) of larger data of the program itself"""
    touched = pages(trace)
    result = {}
    for s in structures(trace):
        first, last = int(s["Start"], 16) // PAGE, (int(s["End"], 16) - 1) // PAGE
        if s["Kind"] not in ("heap", "static") or last - first < 8 or "lib" in s["Site"]:
            continue
        seen = [touched[p] for p in range(first, last + 1) if p in touched]
        result[s["Name"]] = (last - first + 1, len(seen), sum(len(t[0]) > 1 for t in seen), sum(bool(t[1]) for t in seen))
    return result


def consistency(trace):
    """Laws of the format, for every image."""
    bad = []
    for image in sorted(glob.glob(os.path.join(trace, "p[0-9]*"))):
        with open(os.path.join(image, "intervals.csv"), newline="") as f:
            intervals = {(r["Start"], r["End"]): r for r in csv.DictReader(f)}
        previous, records = -1, 0
        keys = set()
        for name in sorted(glob.glob(os.path.join(image, "accesses-*.csv"))):
            with open(name, newline="") as f:
                for r in csv.DictReader(f):
                    records += 1
                    if int(r["Start"]) < previous:
                        bad.append("%s: not ordered by Start" % image)
                    previous = int(r["Start"])
                    if (r["Start"], r["End"]) not in intervals:
                        bad.append("%s: record outside of the intervals: %s" % (image, r))
                    if 0x2a0000000000 <= int(r["@Virt"], 16) < 0x3f0000000000:  # common/rawplace.h
                        bad.append("%s: memory of the recorder: %s" % (image, r))
                    if int(r["Nreads"]) + int(r["Nwrites"]) == 0:
                        bad.append("%s: record without access" % image)
                    key = (r["Start"], int(r["@Virt"], 16) // PAGE, r["TaskId"])
                    if key in keys:
                        bad.append("%s: two records of %s" % (image, key))
                    keys.add(key)
                    if len(bad) > 5:
                        return bad
        if sum(int(r["Records"]) for r in intervals.values()) != records:
            bad.append("%s: intervals.csv says %d records, there are %d" % (
                image, sum(int(r["Records"]) for r in intervals.values()), records))
    return bad


def memtrace(build, home, *arguments):
    """Standard output of a command that runs in a JVM, None when it failed."""
    r = subprocess.run([os.path.join(build, "collector/memtrace"), *arguments], capture_output=True, text=True,
                       env=dict(os.environ, MEMTRACE_HOME=home))
    if r.returncode:
        print("FAILED %s: %s" % (" ".join(arguments), r.stderr.strip()))
    return None if r.returncode else r.stdout


def drawn(build, home, trace):
    """Imports and renders; the texts of the picture."""
    svg = os.path.join(home, "picture.svg")
    if memtrace(build, home, "render", "-o", svg, trace) is None:
        return []
    return [t.text or "" for t in ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]


def main():
    traces, build, examples = sys.argv[1:4]
    draw = sys.argv[4:] == ["draw"]
    for trace in sorted(glob.glob(os.path.join(traces, "*"))):
        name = os.path.basename(trace)
        if name == "killed":
            continue
        bad = consistency(trace)
        check(not bad, "%s keeps the laws of the format%s" % (name, "".join("\n  " + b for b in bad)))

    naive = picture(os.path.join(traces, "naive"))
    check(set("ABC") <= set(naive), "matmul: structures by name: %s" % " ".join(sorted(naive)))
    for n in "ABC":
        all_, touched, _, written = naive.get(n, (1, 0, 0, 0))
        check(touched == all_ == written, "matmul %s: %d pages, %d touched, %d written" % (n, all_, touched, written))
    all_, _, shared, _ = naive.get("B", (1, 0, 0, 0))
    check(shared >= 0.95 * all_, "matmul: B is shared by threads: %d of %d pages" % (shared, all_))

    # the same picture as the user-space backend gives, on this machine
    java = draw and os.path.exists(os.path.join(build, "lib/org.memtrace.cli.jar"))
    if draw and not java:
        print("note: not imported and rendered: the Java commands are not built")
    for line in open(examples):
        name, program, *arguments = line.split()
        module = picture(os.path.join(traces, name))
        with tempfile.TemporaryDirectory() as tmp:
            other = os.path.join(tmp, "zap")
            r = subprocess.run([os.path.join(build, "collector/memtrace"), "record", "--backend", "zap", "-i", "20ms",
                                "--subphases", "5", "--max-overhead", "0", "-o", other, "--",
                                os.path.join(build, "examples", program), *arguments], capture_output=True, text=True)
            if r.returncode:
                print("note: the user-space backend does not work here: %s" % r.stderr.strip())
                continue
            user = picture(other)
            if java and name in ("naive", "stencil", "falsesharing"):
                # small ones share a row; colours depend on how the threads were scheduled
                large = [n for n, v in module.items() if 4 * v[0] >= max(w[0] for w in module.values())]
                ours, theirs = drawn(build, tmp, os.path.join(traces, name)), drawn(build, tmp, other)
                check(large and all(n in ours and n in theirs for n in large),
                      "%s: imported and rendered, as in user space with %s" % (name, " ".join(large)))
        different = ["%s: kernel module %s, user space %s" % (n, module.get(n), user.get(n))
                     for n in sorted(set(module) | set(user))
                     if (module.get(n, (0, 0, 0, 0))[:2] + module.get(n, (0, 0, 0, 0))[3:]) !=
                        (user.get(n, (0, 0, 0, 0))[:2] + user.get(n, (0, 0, 0, 0))[3:])]
        check(module and not different, "%s: the same pages touched and written in %d structures (%d pages) as in user space%s" % (
            name, len(module), sum(v[1] for v in module.values()), "".join("\n  " + d for d in different)))
    return failed != 0


sys.exit(main())
