#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""The suites of tests and their cases (releng/suites.ini).

    releng/suites.py list [NAME...]         parts, suites and cases, each with a sentence
    releng/suites.py only NAME...           runs suites, or cases of any suite
    releng/suites.py changed [BASE] [-n]    runs the suites that depend on what differs from BASE; -n names them only
    releng/suites.py check                  the table is whole

A case is SUITE/CASE, or CASE where one suite has that name. BASE is where this branch left main unless it is given; without a
history everything has changed. ./test.sh --list, --only and --changed end here.
"""
import ast
import configparser
import csv
import difflib
import fnmatch
import functools
import os
import re
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
TABLE = os.path.join(TOP, "releng", "suites.ini")
NEEDS = {
    "native": "build_native && make -s -C collector/tests",
    "java": "find_jdk && build_java",
    "examples": "build_examples",
}


def read_table():
    table = configparser.ConfigParser(interpolation=None, comment_prefixes=("#",))
    table.read(TABLE, encoding="utf-8")
    return table


@functools.cache
def git_files():
    """What git knows or would take, and exists."""
    out = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=TOP, check=True, capture_output=True)
    return sorted({p for p in out.stdout.decode().split("\0") if p and os.path.lexists(os.path.join(TOP, p))})


def patterns(text, sets):
    out = []
    for word in text.split():
        out += patterns(sets[word[1:]], sets) if word.startswith("@") else [word]
    return out


def fits(path, words):
    """The last pattern that fits decides."""
    found = False
    for w in words:
        if fnmatch.fnmatchcase(path, w.lstrip("!")):
            found = not w.startswith("!")
    return found


def sentence(text):
    """The first sentence of a comment, in one line."""
    text = re.sub(r"\{@\w+ ([^}]*)\}", r"\1", text)
    text = re.sub(r"<[^>]*>", "", text)
    text = " ".join(text.replace("*/", " ").split())
    m = re.match(r".*?[.?](?= [A-Z]|$)", text)
    said = (m.group() if m else text).rstrip(".")
    return said if len(said) <= 120 else said[:117].rsplit(" ", 1)[0] + " ..."


def words_of(name):
    return re.sub(r"[_-]", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).lower()


def read(path):
    with open(os.path.join(TOP, path), encoding="utf-8") as f:
        return f.read()


# ---- kinds of lists of cases: each gives (name, sentence, further words of the command) ----

def list_c(pattern):
    for path in fnmatch.filter(git_files(), pattern):
        text = read(path)
        # the first comment that is not the one about the licence
        comments = [c for c in re.findall(r"/\*(.*?)\*/", text, re.S) if "SPDX" not in c]
        said = sentence(re.sub(r"^\s*\*", " ", comments[0], flags=re.M)) if comments else ""
        name = os.path.basename(path)[:-2]
        yield name, said or words_of(name), {}


def list_java(folder):
    for path in git_files():
        if path.startswith(folder) and path.endswith("Test.java"):
            text = read(path)
            m = re.search(r"/\*\*((?:(?!\*/).)*)\*/\s*(?:@[^\n]*\n\s*)*(?:(?:public|final|abstract)\s+)*class\s", text, re.S)
            cls = path[len(folder):-len(".java")].replace("/", ".")
            name = cls.rsplit(".", 1)[1]
            # of two with one name, the package, too
            if sum(os.path.basename(p) == name + ".java" for p in git_files() if p.startswith(folder)) > 1:
                name = ".".join(cls.rsplit(".", 2)[1:])
            said = sentence(re.sub(r"^\s*\*", " ", m.group(1), flags=re.M)) if m else ""
            yield name, said or words_of(name), {"class": cls}


def list_blocks(path):
    """Lines "## NAME: sentence" of a script that ends its beginning with cases() of collector/tests/lib.sh."""
    for m in re.finditer(r"^## ([\w+-]+): (.*)$", read(path), re.M):
        yield m.group(1), m.group(2).rstrip("."), {}


def list_calls(path, function):
    """Calls of a function of a script, whose first word is the name of a case. What a loop counts is *."""
    seen = set()
    for m in re.finditer(rf"^\t?(?:if )?{function} (\S+) (.*)$", read(path), re.M):
        name = re.sub(r"\$\{?\w+\}?", "*", m.group(1))
        if name not in seen and name != "NAME":
            seen.add(name)
            yield name, m.group(2)[:120], {}


def list_planted(folder):
    for path in git_files():
        if path.startswith(folder) and re.search(r"\.(c|cpp|f90)$", path):
            m = re.search(r"^(?:/\*|!) finds: (\S+) (\S+)", read(path), re.M)
            if m:
                yield os.path.splitext(os.path.basename(path))[0], f"{m.group(1)} of {m.group(2)} is the first finding", {}


def list_fixes(path):
    cases = {}
    for line in csv.reader(l for l in read(path).splitlines() if l and not l.startswith("#")):
        cases.setdefault(",".join(line[:5]), []).append(f"{line[5]} {line[7]}".strip())
    for name, programs in cases.items():
        yield name, "code for " + ", ".join(programs), {}


def list_quiet(path):
    for m in re.finditer(r'^    Program\("([^"]+)", "[^"]*", (?:f?"([^"]*)")?.*quick=True', read(path), re.M):
        yield m.group(1), m.group(2) or words_of(m.group(1)), {}


def list_python(pattern):
    for path in fnmatch.filter(git_files(), pattern):
        for node in ast.walk(ast.parse(read(path))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield node.name, sentence(ast.get_docstring(node) or words_of(node.name[5:])), {}


def list_files(*words):
    for path in git_files():
        if fits(path, words):
            yield path, "clang-tidy", {}


def list_words(*words):
    for part in " ".join(words).split(";"):
        name, _, said = part.strip().partition(": ")
        yield name, said, {}


class Suite:
    def __init__(self, name, section, sets):
        self.name, self.section = name, section
        self.part, self.says = section["part"], section["says"]
        self.touches = patterns(section["touches"], sets)

    def cases(self):
        if "list" not in self.section:
            return []
        kind, *words = self.section["list"].split()
        return list(globals()["list_" + kind](*words))

    def command(self, case=None, more=None):
        command = self.section["run"]
        if case:
            command = self.section["case"].replace("{}", case)
            for key, value in (more or {}).items():
                command = command.replace("{" + key + "}", value)
        needs = self.section.get("needs", "").split()
        if needs:
            command = f". releng/tools.sh && (build_lock && {' && '.join(NEEDS[n] for n in needs)}) || exit 1; {command}"
            if "java" in needs:
                command = ". releng/tools.sh && find_jdk || exit 1; " + command
        return command


def suites():
    table = read_table()
    sets = dict(table["sets"])
    return [Suite(name, table[name], sets) for name in table.sections() if name not in ("sets", "nothing")]


def find(name, all_suites):
    """(title, command) of a suite or of the only case with that name."""
    for s in all_suites:
        if s.name == name:
            return name, s.command()
    suite, _, case = name.partition("/") if name.split("/")[0] in {s.name for s in all_suites} else ("", "", name)
    # of a case with many, as robustness/quirks/crash
    within = ""
    if suite and next(s for s in all_suites if s.name == suite).section.get("list", "").startswith("blocks"):
        case, _, within = case.partition("/")
    found, near = [], [s.name for s in all_suites]
    for s in all_suites:
        if suite and s.name != suite or "case" not in s.section:
            continue
        for case_name, _, more in s.cases():
            near.append(case_name)
            if case in (case_name, more.get("class")) or "*" in case_name and fnmatch.fnmatchcase(case, case_name):
                whole = case + ("/" + within if within else "")
                found.append((f"{s.name}/{whole}", s.command(whole, more)))
    if len(found) == 1:
        return found[0]
    if found:
        sys.exit(f"test.sh: {name} is a case of several suites: {', '.join(f[0] for f in found)}")
    close = difflib.get_close_matches(name, near, 4, 0.6) or [n for n in near if name.lower() in n.lower()][:4]
    print(f"test.sh: there is no suite and no case {name}; "
          f"{'did you mean ' + ', '.join(close) + '?' if close else './test.sh --list tells all of them'}", file=sys.stderr)
    sys.exit(2)


def run(commands):
    """Runs all; 1 when one of them fails. Times are told, and judged by nobody."""
    env = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC", NO_AT_BRIDGE="1")
    results, failed = [], False
    for title, command in commands:
        print(f"\n===== {title}", flush=True)
        begin = time.monotonic()
        code = subprocess.run(["bash", "-c", command], cwd=TOP, env=env, stdin=subprocess.DEVNULL, check=False).returncode
        results.append(f"  {title:<20} {'passed' if code == 0 else 'FAILED'}, {time.monotonic() - begin:.0f} s")
        failed |= code != 0
    print("\n=====")
    print("\n".join(results))
    return 1 if failed else 0


def last_time(suite, case):
    """How long it took the last time, where the suite keeps that."""
    path = os.path.join(TOP, "build", "test-times", suite)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f:
                name, _, ms = line.split()
                if name == case:
                    return f" ({int(ms) / 1000:.1f} s)"
    return ""


def show(names):
    part = None
    all_suites = suites()
    unknown = [n for n in names if n not in {s.name for s in all_suites} | {s.part for s in all_suites}]
    if unknown:
        sys.exit(f"test.sh: there is no suite and no part {unknown[0]}")
    for s in all_suites:
        if names and s.name not in names and s.part not in names:
            continue
        if s.part != part:
            part = s.part
            print(f"\n{'by hand' if part == '-' else 'part ' + part}")
        print(f"  {s.name:<12} {s.says}")
        for name, said, _ in s.cases():
            print(f"      {name:<34} {said}{last_time(s.name, name)}")
    return 0


def changed(base, dry):
    table = read_table()

    def git(*words):
        return subprocess.run(["git", *words], cwd=TOP, capture_output=True, text=True, check=False)

    if base is None:
        for main_branch in ("origin/main", "main", "origin/master", "master"):
            made = git("merge-base", "HEAD", main_branch)
            if made.returncode == 0:
                base = made.stdout.strip()
                break
    if base is None:
        print("there is no main branch to compare with: everything has changed")
        paths = git_files()
    else:
        # both names of what was moved: who used the old one is to be tested, too
        made = git("diff", "--name-only", "--no-renames", base)
        if made.returncode:
            sys.exit(f"test.sh: git diff {base}: {made.stderr.strip()}")
        paths = made.stdout.split("\n") + git("ls-files", "--others", "--exclude-standard").stdout.split("\n")
        paths = sorted({p for p in paths if p})
    none = patterns(" ".join(table["nothing"].values()), {})
    chosen = []
    for s in suites():
        why = [p for p in paths if fits(p, s.touches)]
        if why and s.part not in ("nightly", "-"):
            chosen.append(s)
            print(f"{s.name}: {why[0]}{f' and {len(why) - 1} more' if len(why) > 1 else ''}")
    for p in paths:
        if not any(fits(p, s.touches) for s in suites() if s.name != "suites") and not fits(p, none):
            print(f"no suite depends on {p}")
    if not paths:
        print(f"nothing differs from {base}")
    return 0 if dry else run([(s.name, s.command()) for s in chosen]) if chosen else 0


def check():
    table, wrong = read_table(), []
    all_suites, paths = suites(), git_files()
    none = patterns(" ".join(table["nothing"].values()), {})
    by_hand = [w for w in none if not any(fits(p, [w]) for p in paths) and not w.startswith(".")]
    wrong += [f"[nothing] {w}: there is no such file" for w in by_hand]
    for path in paths:
        if not fits(path, none) and not any(fits(path, s.touches) for s in all_suites if s.name != "suites"):
            wrong.append(f"{path}: fits no suite, and nothing of [nothing]")
    names = set()
    for s in all_suites:
        wrong += [f"{s.name}: {w} fits no file" for w in s.touches if not any(fnmatch.fnmatchcase(p, w.lstrip("!")) for p in paths)]
        if s.name in names:
            wrong.append(f"{s.name}: twice")
        names.add(s.name)
        cases = s.cases()
        if "list" in s.section and not cases:
            wrong.append(f"{s.name}: its list of cases is empty")
        if len({c[0] for c in cases}) < len(cases):
            wrong.append(f"{s.name}: two cases of one name: {[c[0] for c in cases if [d[0] for d in cases].count(c[0]) > 1][:2]}")
        wrong += [f"{s.name}/{c[0]}: no sentence" for c in cases if not c[1]]
    # each suite of the runners is here
    parts = re.search(r"^\t(native \| [a-z |]*)\) parts=", read("test.sh"), re.M)
    missing = set(parts.group(1).split(" | ")) - {s.part for s in all_suites} if parts else {"(not found in test.sh)"}
    wrong += [f"part {p} of test.sh has no suite" for p in sorted(missing)]
    for line in wrong:
        print(f"FAILED: releng/suites.ini: {line}")
    print(f"suites: {len(all_suites)} suites, {sum(len(s.cases()) for s in all_suites)} cases, {len(paths)} files, {len(wrong)} failed")
    return 1 if wrong else 0


def main():
    args = sys.argv[1:]
    if args[:1] == ["list"]:
        return show(args[1:])
    if args[:1] == ["only"] and len(args) > 1:
        return run([find(n, suites()) for n in args[1:]])
    if args[:1] == ["changed"] and len([a for a in args if a != "-n"]) <= 2:
        rest = [a for a in args[1:] if a != "-n"]
        return changed(rest[0] if rest else None, "-n" in args)
    if args == ["check"]:
        return check()
    print(__doc__.split("\n\n")[1], file=sys.stderr)
    return 2


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(0)
