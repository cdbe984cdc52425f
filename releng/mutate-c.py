#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""Small faults in one C source: which of them does no test notice?

    releng/mutation.sh native FILE [--lines A-B] [--max N] [--seed S] [--test COMMAND]

FILE is below collector/. Works on a copy in build/mutation/native, one fault at a
time: runs the unit tests whose line "// uses:" or "// includes:" names the file (all of them
for a header), or COMMAND in the folder collector of the copy, with everything
built. --max takes a sample of the faults, drawn with the printed seed.

A fault is noticed when a test fails or takes ten times as long; it is equal when it
gives the same program; what does not compile is not counted. Each survivor
is printed with its line, and all of them are in build/mutation/native/FILE.txt. Exit
code 0, also with survivors: an equal program is not always the same code.
"""
import argparse
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
COPY = os.path.join(TOP, "build", "mutation", "native", "tree")
BUILD = os.path.join(COPY, "build", "collector")
# -Werror would hide faults behind "unused variable". Tests of symbols and scopes read their own debug information.
FLAGS = "CFLAGS=-O1 -g -Wno-error -Wl,--build-id=none"

TOKEN = re.compile(r"""
    (?P<skip>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<number>\b(?:0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*\b)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<op><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|%=|&=|\|=|\^=|[-+*/%<>=!&|^~?:;,.(){}\[\]])
""", re.X | re.S | re.M)

SWAP = {
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    "&&": ["||"], "||": ["&&"], "<<": [">>"], ">>": ["<<"], "++": ["--"], "--": ["++"], "+=": ["-="], "-=": ["+="],
    "|=": ["&="], "&=": ["|="], "/": ["*"], "%": ["/"], "^": ["&"], "|": ["&"],
}
# may also be a sign, a pointer or an address: only between two operands
BINARY = {"+": ["-"], "-": ["+"], "*": ["/"], "&": ["|"]}
TYPES = set("char short int long unsigned signed void struct union enum const volatile static size_t ssize_t pid_t off_t bool".split())


def tokens(text):
    return [(m.lastgroup, m.group(), m.start(), m.end()) for m in TOKEN.finditer(text) if m.lastgroup != "skip"]


def closing(toks, i):
    """Index of the parenthesis that closes the one at i."""
    depth = 0
    for j in range(i, len(toks)):
        depth += {"(": 1, ")": -1}.get(toks[j][1], 0)
        if depth == 0:
            return j
    return None


def faults(text):
    """(start, end, replacement, what) for each fault, in the order of the text."""
    toks = tokens(text)
    depth = 0
    result = []
    for i, (kind, tok, start, end) in enumerate(toks):
        depth += {"{": 1, "}": -1}.get(tok, 0)
        before = toks[i - 1] if i else ("", "", 0, 0)
        after = toks[i + 1] if i + 1 < len(toks) else ("", "", 0, 0)
        if depth == 0:
            continue
        if tok in SWAP:
            result += [(start, end, r, f"{tok} -> {r}") for r in SWAP[tok]]
        elif tok in BINARY and (before[0] == "number" or before[1] in (")", "]") or before[0] == "word" and before[1] not in TYPES
                                and before[1] not in ("return", "case", "sizeof", "else", "goto")):
            # "struct x *p", "type *p =" and casts look like products; they do not compile as quotients
            result += [(start, end, r, f"{tok} -> {r}") for r in BINARY[tok]]
        elif kind == "number" and before[1] != "case":
            value = int(re.sub("[uUlL]", "", tok), 0 if tok[:2].lower() == "0x" or tok.strip("uUlL0") == "" or tok[0] != "0" else 8)
            result += [(start, end, str(v), f"{tok} -> {v}") for v in ([1] if value == 0 else [value + 1, value - 1])]
        elif tok in ("if", "while") and after[1] == "(":
            close = closing(toks, i + 1)
            if close:
                s, e = after[2], toks[close][3]
                result.append((s, e, f"(!{text[s:e]})", f"{tok} {text[s:e]} -> negated"))
        elif tok in ("break", "continue") and after[1] == ";":
            result.append((start, end, "", f"{tok}; removed"))
        elif tok == "return" and after[1] != ";":
            semi = next((t for t in toks[i:] if t[1] == ";"), None)
            value = text[end:semi[2]].strip()
            if not value.startswith("{") and value != "0":
                result.append((end, semi[2], " 0", f"return {value} -> 0"))
        elif kind == "word" and before[1] in (";", "{", "}") and tok not in TYPES \
                and tok not in ("return", "break", "continue", "goto", "if", "while", "for", "do", "switch", "case", "default", "else", "typedef"):
            semi = next((t for t in toks[i:] if t[1] in (";", "{")), None)
            if semi and semi[1] == ";" and (after[1] in ("(", "->", ".", "=", "[", "++", "--") or after[1].endswith("=")):
                result.append((start, semi[2], "", f"{' '.join(text[start:semi[3]].split())} removed"))
    return result


def run(command, seconds):
    """Exit code, or None when it took too long."""
    with subprocess.Popen(command, shell=isinstance(command, str), cwd=os.path.join(COPY, "collector"), stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as p:
        try:
            return p.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, 9)
            return None


def digest(files):
    """Of what runs: debug information has the columns of the source."""
    h = hashlib.sha256()
    for f in files:
        subprocess.run(["strip", "-g", "-o", f + ".stripped", f], check=True)
        with open(f + ".stripped", "rb") as g:
            h.update(g.read())
    return h.digest()


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n")[2].strip())
    parser.add_argument("file")
    parser.add_argument("--lines")
    parser.add_argument("--max", type=int)
    parser.add_argument("--seed", type=int, default=random.randrange(10 ** 6))
    parser.add_argument("--test")
    o = parser.parse_args()
    name = os.path.relpath(os.path.realpath(o.file), os.path.join(TOP, "collector"))
    if name.startswith("..") or not os.path.isfile(os.path.join(TOP, "collector", name)):
        sys.exit(f"mutate-c: {o.file} is no file below collector/")
    shutil.rmtree(COPY, ignore_errors=True)
    # all that git knows or would take: a test may read any file of the checkout
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=TOP, check=True, capture_output=True)
    for path in listed.stdout.decode().split("\0"):
        if path and os.path.lexists(os.path.join(TOP, path)):
            os.makedirs(os.path.dirname(os.path.join(COPY, path)), exist_ok=True)
            shutil.copy2(os.path.join(TOP, path), os.path.join(COPY, path), follow_symlinks=False)
    target = os.path.join(COPY, "collector", name)
    with open(target, encoding="utf-8") as f:
        text = f.read()

    unit = os.path.join(COPY, "collector", "tests", "unit")
    uses = {}
    for t in sorted(os.listdir(unit)):
        if re.fullmatch(r"test_.*\.c", t):
            with open(os.path.join(unit, t), encoding="utf-8") as f:
                uses[t[:-2]] = " ".join(re.findall(r"^// (?:uses|includes): (.*)", f.read(), re.M)).split()
    tests = [t for t, u in uses.items() if name in u or name.endswith(".h")]
    if o.test:
        programs = [os.path.join(BUILD, p) for p in ("memtrace", "libmemtrace-preload.so")]
        build = ["make", "-s", "BUILD=" + BUILD, FLAGS]
        test = o.test
    else:
        if not tests:
            sys.exit(f"mutate-c: no unit test uses {name}; name a test: --test 'tests/run.sh …'")
        programs = [os.path.join(BUILD, "unit", t) for t in tests]
        build = ["make", "-s", "BUILD=" + BUILD, FLAGS] + programs
        test = ["sh", "tests/unit/run.sh"] + programs
    if run(build, 600) != 0:
        sys.exit(f"mutate-c: {' '.join(build)} fails without any fault")
    begin = time.monotonic()
    if run(test, 600) != 0:
        sys.exit("mutate-c: the tests fail without any fault")
    limit = 10 * (time.monotonic() - begin) + 10
    plain = digest(programs)

    todo = faults(text)
    if o.lines:
        first, last = map(int, o.lines.split("-"))
        todo = [f for f in todo if first <= text.count("\n", 0, f[0]) + 1 <= last]
    if o.max and o.max < len(todo):
        todo = sorted(random.Random(o.seed).sample(todo, o.max))
    print(f"{name}: {len(todo)} faults, seed {o.seed}, tests: {o.test or ' '.join(tests)}", flush=True)
    counts = dict.fromkeys(("noticed", "survived", "equal", "not compiled"), 0)
    survivors = []
    for start, end, replacement, what in todo:
        with open(target, "w", encoding="utf-8") as f:
            f.write(text[:start] + replacement + text[end:])
        for p in programs:
            if os.path.exists(p):
                os.remove(p)
        if run(build, 600) != 0:
            kind = "not compiled"
        elif digest(programs) == plain:
            kind = "equal"
        elif run(test, limit) != 0:
            kind = "noticed"
        else:
            kind = "survived"
            line = text.count("\n", 0, start) + 1
            survivors.append(f"{name}:{line}: {what}")
            print(f"survived {survivors[-1]}    | {text.splitlines()[line - 1].strip()}", flush=True)
        counts[kind] += 1
    report = os.path.join(TOP, "build", "mutation", "native", name.replace("/", "-") + ".txt")
    with open(report, "w", encoding="utf-8") as f:
        f.writelines(s + "\n" for s in survivors)
    shutil.rmtree(COPY)
    real = counts["noticed"] + counts["survived"]
    print(f"{name}: " + ", ".join(f"{n} {k}" for k, n in counts.items()) + (f"; {100 * counts['noticed'] / real:.0f} % noticed" if real else ""))


if __name__ == "__main__":
    main()
