#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""What was tested with the same content needs no second test in each run.

    releng/unchanged.py left NAME SALT [FLAG...]    of the C sources on standard input those that were not recorded under NAME
    releng/unchanged.py tree SUITE                  0: all that the suite depends on (releng/suites.ini) is as it was recorded
    releng/unchanged.py passed NAME                 what the last `left` or `tree` looked at has passed
    releng/unchanged.py record                      all that passed here into releng/recorded.txt, to be committed

A checkout of CI may have no history to compare with, so contents decide: releng/recorded.txt has their hashes. That of a C source is of
the text, of the headers of this checkout that it includes, and of SALT, the version and the options of the tool; that of a suite is of all
files that it depends on, with their names. What is not recorded is tested: a line that is old costs time and hides nothing. `./test.sh
nightly` asks this file nothing, tests all, and what passes there may be recorded.
"""
import configparser
import fnmatch
import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
RECORD = os.path.join(TOP, "releng", "recorded.txt")


def recorded():
    if not os.path.exists(RECORD):
        return set()
    with open(RECORD, encoding="utf-8") as f:
        return {line.strip() for line in f if line.strip() and not line.startswith("#")}


def looked(name):
    return os.path.join(TOP, "build", f"looked-{name}.txt")


def passed(name):
    return os.path.join(TOP, "build", f"passed-{name}.txt")


def files():
    """What git knows or would take."""
    out = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=TOP, check=True, capture_output=True)
    return sorted({p for p in out.stdout.decode().split("\0") if p and os.path.lexists(os.path.join(TOP, p))})


def add(h, path):
    with open(path, "rb") as f:
        data = f.read()
    h.update(b"%d\n" % len(data))
    h.update(data)


def of_source(source, salt, flags):
    """None where the compiler finds not all of its headers."""
    made = subprocess.run(["gcc", "-MM", *flags, source], capture_output=True, text=True)
    if made.returncode:
        return None
    h = hashlib.sha256(salt.encode())
    # the source first, its headers in the order in which they are read
    for path in made.stdout.replace("\\\n", " ").split(":", 1)[1].split():
        add(h, path)
    return h.hexdigest()[:32]


def of_suite(suite):
    table = configparser.ConfigParser(interpolation=None)
    table.read(os.path.join(TOP, "releng", "suites.ini"), encoding="utf-8")
    patterns = table[suite]["touches"].split()
    h = hashlib.sha256()
    matching = [p for p in files() if any(fnmatch.fnmatchcase(p, w) for w in patterns)]
    if not matching:
        sys.exit(f"unchanged: suite {suite} depends on nothing")
    for path in matching:
        full = os.path.join(TOP, path)
        h.update(path.encode() + b"\n")
        if os.path.islink(full):
            h.update(os.readlink(full).encode())
        else:
            add(h, full)
    return h.hexdigest()[:32]


def write(path, lines):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.writelines(line + "\n" for line in sorted(set(lines)))


def main():
    if len(sys.argv) < 2 or len(sys.argv) < {"left": 4, "tree": 3, "passed": 3, "record": 2}.get(sys.argv[1], 99):
        sys.exit(__doc__.split("\n\n")[1])
    what, args = sys.argv[1], sys.argv[2:]
    if what == "left":
        name, salt, flags = args[0], args[1], args[2:]
        sources = sys.stdin.read().split()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            hashes = list(pool.map(lambda s: of_source(s, salt, flags), sources))
        known = recorded()
        for source, h in zip(sources, hashes, strict=True):
            if h is None or f"{name} {h}" not in known:
                print(source)
        write(looked(name), (f"{name} {h}" for h in hashes if h))
    elif what == "tree":
        line = f"{args[0]} {of_suite(args[0])}"
        write(looked(args[0]), [line])
        return 0 if line in recorded() else 1
    elif what == "passed":
        os.replace(looked(args[0]), passed(args[0]))
    else:
        names = [f[len("passed-"):-len(".txt")] for f in os.listdir(os.path.join(TOP, "build")) if f.startswith("passed-")]
        if not names:
            sys.exit("unchanged: nothing has passed here; run ./test.sh nightly")
        lines = {line for line in recorded() if line.split()[0] not in names}
        for name in names:
            with open(passed(name), encoding="utf-8") as f:
                lines |= set(f.read().splitlines())
        with open(RECORD, "w", encoding="utf-8") as f:
            f.write("# SPDX-FileCopyrightText: memtrace contributors\n# SPDX-License-Identifier: EPL-2.0\n"
                    "# Contents that have passed; made by releng/unchanged.py record, which says what it means.\n")
            f.writelines(line + "\n" for line in sorted(lines))
        print(f"releng/recorded.txt: {len(lines)} contents")
    return 0


if __name__ == "__main__":
    sys.exit(main())
