#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""
Runs programs of others alone and recorded, compares what they print, how they end and what they leave, and writes a table. By hand:

  releng/check-programs.py [-n RUNS] [-a "OPTIONS OF record"] [-o PAGE.md] [PROGRAM|KIND...]

Which programs, and their commands, stands in releng/programs.toml. Each runs in an empty folder, in turns alone and recorded with the
defaults, RUNS times (1). A program that is not the same alone twice is told as such. CPU time is that of the command with all that it waits
for; recorded it has `record`, the monitors and the finish in it. What is not installed is left out and named: --packages prints the Debian
packages of the list, --fetch makes build/programs with what comes from PyPI and npm. -o: the rows of what has run replace those of the
table of the page, behind its line "<!-- programs -->", and its counts; other rows stay. Ends with 1 when a program differs.
"""
import argparse
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MEMTRACE = os.environ.get("MEMTRACE", os.path.join(ROOT, "build/collector/memtrace"))
FETCHED = os.path.join(ROOT, "build/programs")
LIMIT_S = 240
MARK = "<!-- programs -->"
HEAD = ["program", "version", "alone and recorded", "CPU s", "recorded", "CPU ratio", "wall ratio", "traced", "why not"]


class Program:
    """A line of the list: its kind, its command, and where it comes from."""

    def __init__(self, kind, name, entry):
        self.kind, self.name, self.run = kind, name, entry["run"]
        self.package, self.pip, self.npm = entry.get("package"), entry.get("pip"), entry.get("npm")
        self.needs = entry.get("needs", name.split()[0].rstrip(","))

    def version(self):
        """The version of its package, else what the program says of itself; empty if it is not installed."""
        for fetched, command in ((self.pip, [FETCHED + "/venv/bin/pip", "show"]), (self.npm, ["npm", "ls", "--prefix", FETCHED])):
            if fetched:
                name, _, version = fetched.replace("==", "@").rpartition("@")
                try:
                    here = subprocess.run(command + [name], capture_output=True, text=True, timeout=60, check=False).stdout
                except OSError:
                    return ""
                return version if version in here else ""
        if not shutil.which(self.needs):
            return ""
        command = [self.needs, "version" if self.needs == "go" else "--version"]
        if self.package:
            command = ["dpkg-query", "-W", "-f", "${Version}", self.package]
        p = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
        if self.package:
            # what is installed from elsewhere has no package
            return re.sub(r"^\d+:", "", p.stdout) if p.returncode == 0 else ""
        m = re.search(r"\d+(\.\d+)+[-+~.\w]*", p.stdout + p.stderr)
        return m.group(0) if m else "?"


def fingerprint(folder):
    """(path, sum) of each file below a folder."""
    found = []
    for at, dirs, files in os.walk(folder):
        dirs.sort()
        for f in sorted(files):
            path = os.path.join(at, f)
            try:
                with open(path, "rb") as x:
                    found.append((os.path.relpath(path, folder), hashlib.sha256(x.read()).hexdigest()))
            except OSError:
                found.append((os.path.relpath(path, folder), "?"))
    return found


class Run:
    """One run of a command: what is compared, and what it took in seconds."""

    def __init__(self, command, env, folder):
        os.makedirs(folder)
        begin = time.monotonic()
        with open(folder + ".out", "wb") as out, open(folder + ".err", "wb") as err:
            p = subprocess.Popen(command, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
            # the signal that ends what hangs; wait4() tells the times of this child alone
            signal.signal(signal.SIGALRM, lambda *_: os.killpg(p.pid, signal.SIGKILL))
            signal.alarm(LIMIT_S)
            _, status, usage = os.wait4(p.pid, 0)
            signal.alarm(0)
        self.wall = time.monotonic() - begin
        self.cpu = usage.ru_utime + usage.ru_stime
        code = os.waitstatus_to_exitcode(status)
        self.status = 128 - code if code < 0 else code
        self.out, self.err = (open(folder + e, "rb").read() for e in (".out", ".err"))
        self.files = fingerprint(folder)

    def difference(self, other):
        for name in ("status", "out", "err", "files"):
            a, b = getattr(self, name), getattr(other, name)
            if a == b:
                continue
            if name in ("out", "err"):
                x, y = a.decode("utf-8", "replace").splitlines(), b.decode("utf-8", "replace").splitlines()
                for i in range(max(len(x), len(y))):
                    p, q = x[i:i + 1], y[i:i + 1]
                    if p != q:
                        return "std%s: %s instead of %s" % (name, repr("".join(q))[:90], repr("".join(p))[:90])
                return "std" + name
            if name == "files":
                b = [f for f in b if f not in a] or b
            return "%s %s instead of %s" % (name, str(b)[:90], str(a)[:90])
        return None


def traced(trace):
    """(images with accesses, text of the share, reasons) of a recording."""
    try:
        with open(os.path.join(trace, "manifest.json")) as f:
            m = json.load(f)
    except (OSError, ValueError):
        return 0, "no trace", ""
    images = m.get("images", [])
    with_accesses = [i for i in images if i.get("accesses")]
    lost = m.get("losses", {}).get("total", 0)
    reasons = set()
    for i in images:
        if i.get("backend") == "none":
            try:
                with open(os.path.join(trace, i["dir"], "image.json")) as f:
                    reasons.add(json.load(f).get("backend_message", ""))
            except (OSError, ValueError):
                pass
    few = m.get("unrecorded", {})
    text = "%d of %d images" % (len(with_accesses), len(images))
    if few.get("processes"):
        text += ", %d small or unreached" % few["processes"]
    if lost:
        text += ", %d lost" % lost
    small = any("little memory" in r for r in reasons)
    told = sorted(r for r in reasons if r and "little memory" not in r)
    if not told and small and not with_accesses:
        told = ["asks for little memory"]
    return len(with_accesses), text, "; ".join(told)[:160]


def judge(program, runs, options, files):
    """(verdict, [CPU s alone, recorded, wall s alone, recorded], text of the share, reasons)"""
    env = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC", W=files, P=FETCHED, OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2",
               SOURCE_DATE_EPOCH="0")
    env.pop("LD_PRELOAD", None)
    # the same name for both: programs print it
    base = tempfile.mkdtemp(prefix="programs.")
    os.chmod(base, 0o755)
    folder, cpu, wall = os.path.join(base, "run"), [], []
    verdict, share = "equal", (0, "", "")
    try:
        def run(recorded):
            shutil.rmtree(folder, ignore_errors=True)
            shutil.rmtree(os.path.join(base, "trace"), ignore_errors=True)
            shell = ["bash", "-c", program.run]
            record = [MEMTRACE, "record", "--quiet", *options, "-o", os.path.join(base, "trace"), "--"]
            return Run(record + shell if recorded else shell, env, folder)

        run(False)      # warms what it reads
        for _ in range(runs):
            a, b = run(False), run(True)
            share = traced(os.path.join(base, "trace"))
            cpu.append((a.cpu, b.cpu))
            wall.append((a.wall, b.wall))
            what = a.difference(b)
            if what:
                c = run(False)
                verdict = ("not the same alone: " + a.difference(c)) if a.difference(c) else "DIFFERENT: " + what
                break
            if b.status in (126, 127):
                verdict = "does not run here"
            elif not share[0]:
                verdict = "equal, not traced"
    finally:
        shutil.rmtree(base, ignore_errors=True)
    pick = [statistics.median(x[i] for x in t) for t in (cpu, wall) for i in (0, 1)]
    return verdict, pick, share[1], share[2]


def counts(rows):
    """What the page says above its table."""
    n = {"equal": 0, "not traced": 0, "different": 0, "other": 0}
    reasons, ratios = {}, []
    for r in rows:
        kind = "different" if r[2].startswith("DIFFERENT") else {"equal": "equal", "equal, not traced": "not traced"}.get(r[2], "other")
        n[kind] += 1
        if kind == "not traced":
            reasons[r[8]] = reasons.get(r[8], 0) + 1
        if kind in ("equal", "not traced") and float(r[3]) >= 0.1:
            ratios.append(float(r[5]))
    text = "**%d programs: %d equal and traced, %d equal and not traced, %d different, %d not the same alone.**" % (
        len(rows), n["equal"], n["not traced"], n["different"], n["other"])
    if reasons:
        words = ["%s (%d)" % (k or "small or unreached", v) for k, v in sorted(reasons.items(), key=lambda x: -x[1])]
        text += " Not traced, why: " + "; ".join(words) + "."
    if ratios:
        text += " CPU ratio of the %d that take 0.1 s and more: median %.1f, highest %.1f." % (
            len(ratios), statistics.median(ratios), max(ratios))
    return text


def into_page(page, rows, order):
    """Puts rows into the table of a page, in the order of the list."""
    try:
        with open(page, encoding="utf-8") as f:
            text = f.read()
    except FileNotFoundError:
        text = "# Programs of others, alone and recorded\n\n" + MARK + "\n"
    before, _, table = text.partition(MARK)
    cells = [[c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line)[1:-1]]
             for line in table.splitlines() if line.startswith("| ")]
    known = {c[0]: c for c in cells if c[0] != HEAD[0]}
    known.update((r[0], r) for r in rows)
    rows = [known[name] for name in order if name in known]
    with open(page, "w", encoding="utf-8") as f:
        f.write(before + MARK + "\n" + "\n".join(wrapped(counts(rows))) + "\n\n")
        f.write("| " + " | ".join(HEAD) + " |\n|" + "---|" * len(HEAD) + "\n")
        for row in rows:
            f.write("| " + " | ".join(c.replace("|", "\\|") for c in row) + " |\n")


def wrapped(text, width=140):
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= width:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    return lines


def fetch(programs):
    """What comes from PyPI and npm, in pinned versions, into build/programs."""
    pip = sorted({p.pip for p in programs if p.pip})
    npm = sorted({p.npm for p in programs if p.npm})
    os.makedirs(FETCHED, exist_ok=True)
    if pip:
        if not os.path.exists(FETCHED + "/venv/bin/pip"):
            subprocess.run(["/usr/bin/python3", "-m", "venv", FETCHED + "/venv"], check=True)
        subprocess.run([FETCHED + "/venv/bin/pip", "install", "-q", *pip], check=True)
    if npm:
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", FETCHED, *npm], check=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-n", "--runs", type=int, default=1)
    p.add_argument("-a", "--options", default="")
    p.add_argument("-o", "--output")
    p.add_argument("-l", "--list", default=os.path.join(ROOT, "releng/programs.toml"))
    p.add_argument("--packages", action="store_true")
    p.add_argument("--fetch", action="store_true")
    p.add_argument("programs", nargs="*")
    args = p.parse_args()
    with open(args.list, "rb") as f:
        data = tomllib.load(f)
    setup = data.pop("setup")
    programs = [Program(kind, name, entry) for kind, entries in data.items() for name, entry in entries.items()]
    order = [q.name for q in programs]
    unknown = [a for a in args.programs if a not in order and a not in data]
    if unknown or len(set(order)) != len(order):
        sys.exit("not in the list, or twice: %s" % (unknown or order))
    programs = [q for q in programs if not args.programs or q.name in args.programs or q.kind in args.programs]
    if args.packages:
        print(" ".join(sorted({q.package for q in programs if q.package})))
        return 0
    if args.fetch:
        fetch(programs)
    files = tempfile.mkdtemp(prefix="programs-files.")
    os.chmod(files, 0o755)
    for name, text in setup["files"].items():
        with open(os.path.join(files, name), "w", encoding="utf-8") as f:
            f.write(text)
    subprocess.run(["bash", "-ec", setup["run"]], cwd=files, check=True)
    rows, absent = [], []
    try:
        for q in programs:
            version = q.version()
            if not version:
                absent.append(q.name)
                continue
            verdict, (cpu_a, cpu_b, wall_a, wall_b), share, reason = judge(q, args.runs, shlex.split(args.options), files)
            rows.append([q.name, version, verdict, "%.2f" % cpu_a, "%.2f" % cpu_b, "%.1f" % (cpu_b / max(cpu_a, 0.01)),
                         "%.1f" % (wall_b / max(wall_a, 0.01)), share, reason])
            print(" | ".join(rows[-1]), flush=True)
            if args.output:
                into_page(args.output, rows[-1:], order)
    finally:
        shutil.rmtree(files, ignore_errors=True)
    print("\n".join(wrapped(counts(rows))))
    print("not installed: %s" % (", ".join(absent) or "none"))
    return any(r[2].startswith("DIFFERENT") for r in rows)


if __name__ == "__main__":
    sys.exit(main())
