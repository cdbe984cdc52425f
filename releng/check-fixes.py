# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""What releng/check-fixes.sh does: check-fixes.py FOLDER RUNS [CASE...]; RUNS is 0 unless time is to be measured."""
import csv
import glob
import json
import os
import re
import resource
import shlex
import statistics
import subprocess
import sys
import time

TABLE = "org.memtrace.analysis/src/org/memtrace/analysis/findings/rules/fixes.csv"
PROGRAMS = "examples/fixes"
MEMTRACE = os.path.abspath("build/collector/memtrace")
SANITIZE = ["-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
SLOWER = 1.02
# what each program gets: to record it, and to compare it; the sanitizers make each block cost more
RECORD = {"buffers.c": "40", "members.c": "1500000000", "elements.cpp": "8", "weights.c": "40"}
COMPARE = {"buffers.c": "12", "members.c": "2000000"}
MARKER = re.compile(r"^\s*/\* paste: (.*) \*/\s*$")
HEADING = re.compile(r"^// (.*):$")

folder, runs, wanted = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
failures = []


def fail(case, text):
    failures.append(case.key)
    print(f"FAILED {case.key} ({case.program} {case.flags}): {text}", flush=True)


class Case:
    def __init__(self, line, number):
        fields = line.split(",")
        assert len(fields) == 8, f"{TABLE}: {line}: a line has 8 fields"
        self.key, self.text = ",".join(fields[:5]), fields[0]
        self.language, self.program, self.structure, self.flags = fields[1], *fields[5:]
        self.folder = os.path.join(folder, str(number))
        self.finding = None

    def build(self, source, name, *options):
        """Builds a source, whose name says the language, so that it is what a user would compile; returns the program, None if it cannot be built."""
        compiler = ["g++", "-std=gnu++17"] if self.language == "cpp" else ["gcc", "-std=gnu11"]
        out = os.path.join(self.folder, name)
        made = subprocess.run([*compiler, "-g", "-Wall", "-Wextra", "-Werror", *options, *self.flags.split(), "-o", out, source, "-lpthread"],
                              capture_output=True, text=True)
        if made.returncode:
            fail(self, f"{name} cannot be built: {made.stderr[:600]}")
        return None if made.returncode else out

    def prepare(self):
        os.makedirs(self.folder, exist_ok=True)
        self.source = os.path.join(self.folder, os.path.splitext(self.program)[0] + (".cpp" if self.language == "cpp" else ".c"))
        self.lines = open(os.path.join(PROGRAMS, self.program)).read().splitlines()
        with open(self.source, "w") as f:
            f.write("\n".join(self.lines) + "\n")
        self.plain = self.build(self.source, "before", "-O2")
        return self.plain

    def record(self):
        self.trace = os.path.join(self.folder, "trace.memtrace")
        subprocess.run(["rm", "-rf", self.trace], check=True)
        begin = time.monotonic()
        made = subprocess.run([MEMTRACE, "record", "-q", "--interval", "20ms", "-o", self.trace, "--", self.plain, RECORD[self.program]],
                              capture_output=True, text=True, cwd=self.folder)
        self.wall = time.monotonic() - begin
        if made.returncode:
            fail(self, f"cannot be recorded: {made.stderr[:300]}")
        return made.returncode == 0

    def paste(self, code):
        """The source with the code at its places; None, if the code names a place that is not marked, or a marked one is left over."""
        parts, place = {}, None
        for line in code.splitlines():
            heading = HEADING.match(line)
            if heading:
                place = heading.group(1)
                parts[place] = []
            elif place is None:
                fail(self, f"the code says not where it belongs: {line}")
                return None
            else:
                parts[place].append(line)
        marked = {m.group(1) for m in map(MARKER.match, self.lines) if m}
        if marked != set(parts):
            fail(self, f"the code is for {sorted(parts)}, the source marks {sorted(marked)}")
            return None
        out = []
        for line in self.lines:
            marker = MARKER.match(line)
            out += parts[marker.group(1)] if marker else [line]
        changed = os.path.join(self.folder, "changed" + os.path.splitext(self.source)[1])
        with open(changed, "w") as f:
            f.write("\n".join(out) + "\n")
        return changed


def rows(folder, structure):
    """What is recorded on the pages of a structure: "page: rows of thread (reads writes in all)", and of other threads."""
    def lines(name):
        path = os.path.join(folder, name)
        with open(path, newline="") as f:
            return list(csv.DictReader(f))
    counts = {}
    for s in lines("structures.csv"):
        if s["Name"] != structure:
            continue
        first, last = int(s["Start"], 16) >> 12, (int(s["End"], 16) - 1) >> 12
        for path in glob.glob(os.path.join(folder, "accesses-*.csv")):
            for a in lines(os.path.basename(path)):
                if first <= int(a["@Virt"], 16) >> 12 <= last:
                    count = counts.setdefault(a["TaskId"], [0, 0, 0])
                    for i, n in enumerate((1, int(a["Nreads"]), int(a["Nwrites"]))):
                        count[i] += n
    return " ".join(f"{thread}: {n} rows r{r} w{w};" for thread, (n, r, w) in sorted(counts.items())) or "no rows"


def why(case):
    """What a recording without the finding was like, in 300 characters: it may be another machine's that nobody can ask."""
    said = [f"{os.cpu_count()} CPUs, {len(os.sched_getaffinity(0))} for us", f"load {os.getloadavg()[0]:.1f}", f"{case.wall:.2f} s"]
    try:
        with open(os.path.join(case.trace, "p0000", "intervals.csv"), newline="") as f:
            intervals = list(csv.DictReader(f))
        lengths = sorted(int(i["End"]) - int(i["Start"]) for i in intervals)
        looks = sorted(int(i["Subphases"]) for i in intervals)
        said.append(f"{len(intervals)} intervals of {statistics.median(lengths or [0]) / 1e6:.0f} ms, {statistics.median(looks or [0]):.0f} looks")
        events = [i["Event"] for i in intervals if i["Event"]]
        if events:
            said.append(f"{len(events)} events, first {events[0][:30]}")
        said.append(f"{case.structure}: {rows(os.path.join(case.trace, 'p0000'), case.structure)}")
    except (OSError, KeyError, ValueError) as e:
        said.append(f"trace not readable: {e!r}")
    return ", ".join(said)[:300]


def run(case, program):
    """How a program ended and what it said, with the seconds of CPU and wall time that it took."""
    begin, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    ended = subprocess.run(program, shell=isinstance(program, str), capture_output=True, text=True, cwd=case.folder)
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    return (ended.returncode, ended.stdout), cpu, time.monotonic() - begin, ended.stderr


def advise(cases):
    if not cases:
        return
    out = subprocess.run([MEMTRACE, "advise", "-q", "--all", "--format", "json", *[c.trace for c in cases]], capture_output=True, text=True)
    if out.returncode:
        print(f"FAILED: {out.stderr[:300]}")
        sys.exit(1)
    found = json.loads(out.stdout)
    for case, one in zip(cases, found if isinstance(found, list) else [found], strict=True):
        case.findings = one["findings"]
        case.finding = next((f for f in one["findings"] if case.structure in f["structures"] and (f["code"] or case.text == "-")), None)


def compare(case):
    """Whether the program does after the change what it did before."""
    code = case.finding["code"]
    if case.finding["code_tested"] != case.key:
        fail(case, f"the code is for {case.finding['code_tested']}")
        return
    changed = case.paste(code)
    after = changed and case.build(changed, "after", "-O2")
    checked = changed and case.build(case.source, "before-checked", *SANITIZE)
    checked_after = checked and case.build(changed, "after-checked", *SANITIZE)
    if not after or not checked_after:
        return
    arguments = COMPARE[case.program]
    expected = run(case, [case.plain, arguments])[0]
    if expected[0]:
        fail(case, f"the program itself ends with {expected[0]}")
    for program in after, checked, checked_after:
        ended, _, _, said = run(case, [program, arguments])
        if ended != expected:
            fail(case, f"{os.path.basename(program)} ends with {ended[0]} and says {ended[1]!r}, before {expected[1]!r}: {said[:600]}")
    if case.finding["command"]:
        whole = run(case, [case.plain, RECORD[case.program]])[0]
        ended = run(case, case.finding["command"])
        if ended[0] != whole:
            fail(case, f"{case.finding['command']}: ends with {ended[0]}, without it {whole}: {ended[3][:300]}")
    if runs:
        slower(case, after)


def slower(case, after):
    times = {p: ([], []) for p in (case.plain, after)}
    for _ in range(runs):
        for program, (cpu, wall) in times.items():
            _, c, w, _ = run(case, [program, RECORD[case.program]])
            cpu.append(c)
            wall.append(w)
    ratios = [statistics.median(times[after][i]) / statistics.median(times[case.plain][i]) for i in (0, 1)]
    before = [statistics.median(times[case.plain][i]) for i in (0, 1)]
    print(f"{case.key} ({case.program} {case.flags}): CPU {before[0]:.3f} s, after {ratios[0]:.3f} of it; wall {before[1]:.3f} s, {ratios[1]:.3f}")
    if max(ratios) > SLOWER:
        fail(case, "slower")


with open(TABLE) as f:
    cases = [Case(line, n) for n, line in enumerate(l.rstrip("\n") for l in f if l.strip() and not l.startswith("#"))]
cases = [c for c in cases if not wanted or any((c.key + ",").startswith(w.rstrip(",") + ",") for w in wanted)]
assert cases, "no such case"
left = [c for c in cases if c.prepare()]
for attempt in range(3):
    recorded = [c for c in left if c.record()]
    advise(recorded)
    # what must get no code may have no finding at all
    left = [c for c in recorded if not c.finding and c.text != "-"]
    if not left:
        break
    for c in left:
        print(f"NOT JUDGED: fixes {c.key}, recording {attempt + 1}: {why(c)}")
    print("recorded again, without code:", ", ".join(f"{c.key} ({'; '.join(f['rule'] for f in c.findings) or 'nothing found'})" for c in left))
for c in left:
    fail(c, f"no code after three recordings; {why(c)}; the advice is {json.dumps(c.findings)[:600]}")
for c in cases:
    if c.text == "-":
        for f in getattr(c, "findings", []):
            if f["code"]:
                fail(c, f"it got code: {f['code']}")
    elif c.finding:
        compare(c)
print(f"fixes: {len(cases) - len(set(failures))} of {len(cases)} cases as they should be")
sys.exit(1 if failures else 0)
