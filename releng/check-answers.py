#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""
Precision and recall of `memtrace advise` on programs with known answers: the kernels (examples/kernels) and the bundled examples. By hand:

  releng/check-answers.py [-t "2 4 8"] [-n RUNS] [-c SECONDS] [-l SECONDS] [PROGRAM...]

Each line of examples/kernels/expected.txt is a program with its arguments and what must be found about which structure. All findings
count, not only the first one: one that is expected is right, one that is not is false, and one that is not there is missed. The CPU time
is that of advise on an imported trace. -c is the CPU time of a kernel (2). No new recording begins after -l SECONDS (180). ./memtrace and the examples must be built. Ends with 1 when something is false or missed.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def expected():
    """(program, arguments, {structure: rules}) of each line."""
    for line in open(os.path.join(ROOT, "examples/kernels/expected.txt")):
        line = line.strip()
        if line and not line.startswith("#"):
            head, answers = line.split(":", 1)
            words = head.split()
            wanted = dict(a.split("=") for a in answers.split()) if answers.strip() != "none" else {}
            yield words[0], words[1:], {s: r.split("|") for s, r in wanted.items()}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-t", default="4")
    parser.add_argument("-n", type=int, default=1)
    parser.add_argument("-c", default="2")
    parser.add_argument("-l", type=float, default=180)
    parser.add_argument("programs", nargs="*")
    args = parser.parse_args()
    memtrace = os.path.join(ROOT, "build/collector/memtrace")
    deadline = time.monotonic() + args.l
    right = false = missed = runs = left = 0
    with tempfile.TemporaryDirectory() as tmp:
        env = dict(os.environ, MEMTRACE_HOME=tmp, OMP_WAIT_POLICY="passive")
        for run in range(args.n):
            for threads in args.t.split():
                for program, words, wanted in expected():
                    if args.programs and program not in args.programs:
                        continue
                    if time.monotonic() > deadline:
                        left += 1
                        continue
                    trace = f"{tmp}/{runs}.memtrace"
                    runs += 1
                    more = ["-c", args.c] if program.startswith("kernels/") else []
                    subprocess.run([memtrace, "record", "-q", "-o", trace, "--", f"{ROOT}/build/examples/{program}", *words, "-t", threads, *more],
                                   env=env, check=True, stdout=subprocess.DEVNULL)
                    advice = json.loads(subprocess.run([memtrace, "advise", "-q", "--all", "--format", "json", trace], env=env, check=True,
                                                       stdout=subprocess.PIPE).stdout)
                    before = os.times().children_user + os.times().children_system
                    subprocess.run([memtrace, "advise", "-q", trace], env=env, check=True, stdout=subprocess.DEVNULL)  # it is imported now
                    cpu = os.times().children_user + os.times().children_system - before
                    found = {(s, f["rule"]) for f in advice["findings"] for s in f["structures"]}
                    good = {s for s, rule in found if rule in wanted.get(s, [])}
                    right += len(good)
                    bad = sorted((s, rule) for s, rule in found if rule not in wanted.get(s, []))
                    false += len(bad)
                    missed += len([s for s in wanted if s not in good])
                    wrong = [f"{s} {rule}" for s, rule in bad] + [f"no {s}" for s in wanted if s not in good]
                    print(f"{program} {' '.join(words)} -t {threads}: {len(good)} right, advise {cpu:.2f} s of CPU time"
                          + "".join(", NOT EXPECTED " + w for w in wrong), flush=True)
                    subprocess.run(["rm", "-rf", trace], check=True)
    print(f"{runs} recordings: {right} right, {false} false, {missed} missed; precision {right / max(1, right + false):.3f}, "
          f"recall {right / max(1, right + missed):.3f}; {left} not recorded for lack of time")
    return 1 if false or missed else 0


if __name__ == "__main__":
    sys.exit(main())
