#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Programs that are made from seeds, alone and recorded: the same output, the same status.

usage: generated.py [--first SEED] [--seeds N] [--jobs N] [--backend NAME[,NAME]] [--record EVERY] [--set NAME=VALUE]...
                    [--reduce] [--keep]

Each program is a list of steps (generated/plan.h). It runs alone and, with the preload library and settings that the
seed chooses, recorded; each EVERY-th by `memtrace record` as a user would. What differs is run again, alone twice and
recorded three times, so that a program that is not the same by itself is told apart (UNSTEADY), and with --reduce
becomes the smallest list of steps that still differs. The last line is "generated programs: N passed, N failed".
"""
import argparse
import concurrent.futures
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ.get("BUILD", os.path.join(HERE, "../../../build"))
BUILD = os.path.abspath(BUILD)
MEMTRACE = os.environ.get("MEMTRACE", os.path.join(BUILD, "collector/memtrace"))
LIBRARY = os.path.join(os.path.dirname(MEMTRACE), "libmemtrace-preload.so")
PROGRAM = os.path.join(BUILD, "collector/tests/generated")
# for what hangs, not for slow machines
LIMIT_S = 60


def settings(seed, backend):
    """Environment of a recording: what the numbers of the seed say."""
    r = random.Random(seed)
    s = {"MEMTRACE_BACKEND": backend, "MEMTRACE_LIBRARY": "hides" if backend == "rwp" else "traces", "MEMTRACE_PARENT_IMAGE": "-000000001",
         "MEMTRACE_MAX_OVERHEAD_PPM": "0", "MEMTRACE_SUBPHASES": "1", "MEMTRACE_MIN_PROCESS": r.choice(["0", "0", "0", "1048576"]),
         "MEMTRACE_INTERVAL_NS": r.choice(["2000000", "5000000", "20000000", "50000000"])}
    if r.random() < 0.3:
        s["MEMTRACE_SUBPHASES"] = r.choice(["2", "4"])
    if r.random() < 0.25:
        s["MEMTRACE_FORK_COPY_MAX"] = "0"
    if r.random() < 0.2:
        s["MEMTRACE_RING_PAGES"] = "2"
    if r.random() < 0.1:
        s["MEMTRACE_WITHOUT"] = r.choice(["userfaultfd", "pagemap_scan", "close_range", "soft_dirty,userfaultfd", "_Fork"])
    return s


def run(command, env, cwd):
    """Output and status; whoever is left of the group when the time is over is ended."""
    p = subprocess.Popen(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         start_new_session=True)
    try:
        out, err = p.communicate(timeout=LIMIT_S)
        status = str(p.returncode)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        out, err = p.communicate()
        status = "none after %d s" % LIMIT_S
    return (out + b"stderr:\n" + err).decode("utf-8", "replace"), status


def command(seed, steps):
    return [PROGRAM, str(seed)] + ([steps] if steps is not None else [])


def alone(seed, steps, cwd):
    return run(command(seed, steps), dict(os.environ, LC_ALL="C"), cwd)


def recorded(seed, steps, cwd, args):
    backend = args.backend.split(",")
    backend = backend[seed % len(backend)]
    trace = os.path.join(cwd, "trace")
    shutil.rmtree(trace, ignore_errors=True)
    env = dict(os.environ, LC_ALL="C")
    if args.record and seed % args.record == 0:
        out = run([MEMTRACE, "record", "--quiet", "--backend", backend, "-o", trace, "--"] + command(seed, steps), env, cwd)
        return out[0], (str(128 - int(out[1])) if out[1].startswith("-") else out[1])
    os.makedirs(trace)
    env.update(settings(seed, backend), LD_PRELOAD=LIBRARY, MEMTRACE_DIR=trace)
    for s in args.set or []:
        name, _, value = s.partition("=")
        env[name] = value
    return run(command(seed, steps), env, cwd)


def same(a, b):
    def number(status):     # a shell and record say 128 + n of a signal
        return str(128 - int(status)) if status.startswith("-") else status
    return a[0] == b[0] and number(a[1]) == number(b[1])


def first_difference(a, b):
    x, y = a[0].splitlines(), b[0].splitlines()
    for i in range(max(len(x), len(y))):
        p, q = (x[i] if i < len(x) else "(nothing)"), (y[i] if i < len(y) else "(nothing)")
        if p != q:
            return "alone:    %s\n    recorded: %s" % (p.strip()[:300], q.strip()[:300])
    return "alone: status %s, recorded: status %s" % (a[1], b[1])


def differs(seed, steps, cwd, args, times=3):
    want = alone(seed, steps, cwd)
    return any(not same(want, recorded(seed, steps, cwd, args)) for _ in range(times))


def reduce(seed, cwd, args):
    """The steps, one after the other left out as long as the difference stays."""
    n = len(subprocess.run([PROGRAM, "-l", str(seed)], capture_output=True, text=True, check=True).stdout.splitlines())
    steps = list(range(n + 1))
    if not differs(seed, ",".join(map(str, steps)), cwd, args):
        return "not seen again"
    size = max(1, len(steps) // 2)
    while size:
        i = 0
        while i < len(steps):
            fewer = steps[:i] + steps[i + size:]
            if fewer and differs(seed, ",".join(map(str, fewer)), cwd, args):
                steps = fewer
            else:
                i += size
        size //= 2
    return ",".join(map(str, steps))


def judge(seed, args):
    """(word, text) of a seed."""
    cwd = tempfile.mkdtemp(prefix="generated.")
    try:
        want = alone(seed, None, cwd)
        if "WRONG" in want[0]:
            return "ODD", "the program itself: " + [s for s in want[0].splitlines() if "WRONG" in s][0]
        got = recorded(seed, None, cwd, args)
        if same(want, got):
            return "ok", ""
        for _ in range(2):
            again = alone(seed, None, cwd)
            if not same(want, again):
                return "UNSTEADY", first_difference(want, again)
        bad = 1 + sum(not same(want, recorded(seed, None, cwd, args)) for _ in range(3))
        text = "%d of 4; %s" % (bad, first_difference(want, got))
        if args.reduce:
            text += "\n    steps %s" % reduce(seed, cwd, args)
        return "FAILED", text
    finally:
        if not args.keep:
            shutil.rmtree(cwd, ignore_errors=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--first", type=int, default=1)
    p.add_argument("--seeds", type=int, default=200)
    p.add_argument("--jobs", type=int, default=os.cpu_count())
    p.add_argument("--backend", default="auto")
    p.add_argument("--record", type=int, default=10)
    p.add_argument("--set", action="append")
    p.add_argument("--reduce", action="store_true")
    p.add_argument("--keep", action="store_true")
    args = p.parse_args()
    count = {"ok": 0, "FAILED": 0, "UNSTEADY": 0, "ODD": 0}
    print("seeds %d to %d" % (args.first, args.first + args.seeds - 1), flush=True)
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        seeds = range(args.first, args.first + args.seeds)
        for seed, (word, text) in zip(seeds, pool.map(lambda s: judge(s, args), seeds)):
            count[word] += 1
            if word != "ok":
                print("%s: seed %d: %s" % (word, seed, text), flush=True)
    # what is not the same by itself says nothing of the recorder
    bad = args.seeds - count["ok"] - count["UNSTEADY"]
    print("generated programs: %d passed, %d failed%s" % (count["ok"], bad, ", %d not the same by themselves" % count["UNSTEADY"]
                                                              if count["UNSTEADY"] else ""))
    return bad != 0


if __name__ == "__main__":
    sys.exit(main())
