#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""One fact, one place: what two programs, or two languages, have to agree on stands once.

usage: check-facts.py [TOP]    default: this checkout. 0, or 1 after a line for each fact that stands twice.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

TOP = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
TOP = TOP if TOP.is_dir() else TOP.parent.parent
wrong = []


def files(*patterns):
    """Sources of the product; tests may write what a person would."""
    names = subprocess.run(["git", "-C", TOP, "ls-files", "--cached", "--others", "--exclude-standard", "--"] + list(patterns), check=True,
                           stdout=subprocess.PIPE, text=True).stdout.split("\n")
    return [TOP / n for n in names if n and "/tests/" not in n and not n.startswith("tests/") and (TOP / n).exists()]


def one(name):
    found = [f for f in files("collector/*" + name) if f.name == name]
    if len(found) != 1:
        sys.exit("check-facts: %d files %s in collector" % (len(found), name))
    return found[0]


def complain(path, text, offset, message):
    wrong.append("%s:%d: %s" % (path.relative_to(TOP), text.count("\n", 0, offset) + 1, message))


C = {f: f.read_text() for f in files("collector/*.c", "collector/*.h")}

# Variables between the recorder and the program: settings.list names them, MT_VARIABLE() is the name for others.
settings = one("settings.list").read_text()
variables = re.findall(r"^(?:SETTING|TEXT|INNER|WORD)\((MEMTRACE_\w+)", settings, re.M)
for name in sorted(set(n for n in variables if variables.count(n) > 1)):
    wrong.append("settings.list: %s stands twice" % name)
if len(variables) < 25:
    wrong.append("settings.list: only %d variables" % len(variables))
for path, text in C.items():
    for m in re.finditer(r'"(MEMTRACE_\w+)=?"', text):
        if m.group(1) in variables:
            complain(path, text, m.start(), "%s is a name of settings.list; MT_VARIABLE(%s) is its text" % (m.group(0), m.group(1)))

# Defaults and limits of options of `record`: in settings.list and the command table, which test_settings compares, and in no form.
for path in files("org.memtrace.importer/*RecordOption.java"):
    text = path.read_text()
    for m in re.finditer(r'^\t[A-Z_]+\("[a-z-]+",', text, re.M):
        complain(path, text, m.start(), "the command table tells kind, default and limits")

# Files of a trace that one program writes and another reads.
names_file = one("tracenames.h")
names = re.findall(r'^#define (MT_FILE_\w+) "([^"]+)"', names_file.read_text(), re.M)
if len(names) < 10:
    wrong.append("tracenames.h: only %d names" % len(names))
for path, text in C.items():
    for macro, name in names if path != names_file else []:
        for m in re.finditer(r'^(?!\s*(?:/?\*|//)).*?"(?:[^"\n]*/)?%s(?:[. :][^"\n]*)?"' % re.escape(name), text, re.M):
            complain(path, text, m.end(), '"%s" is %s of tracenames.h' % (name, macro))

# Options are named by words of the command table. (A word in a table of C is looked up in each run.)
COMMANDS = TOP / "org.memtrace.cli/commands"
OPTION = re.compile(r"^option: (?:-\w, )?--([a-z][a-z0-9-]*)", re.M)
options = {f.stem: set(OPTION.findall(f.read_text())) for f in COMMANDS.glob("*.txt")}
looked_up = 0
for path, text in C.items():
    if path.stem.startswith("cmd_"):
        of = [path.stem[4:].replace("_", "-")]
    elif path.parent.name in ("record", "remote"):
        of = ["record", "on-node"]
    else:
        of = list(options)
    known = set().union(*(options.get(o, set()) for o in of + ["common"]))
    for m in re.finditer(r'\bmt_args_(?:has|get|nth|int|number|duration_ns|size_bytes)\([^,()]+, "([^"]*)"', text):
        looked_up += 1
        if m.group(1) not in known:
            complain(path, text, m.start(), "--%s is no option of %s" % (m.group(1), ", ".join(of)))
if looked_up < 100:
    wrong.append("only %d options are looked up" % looked_up)

# What a backend can do is told by its abilities and the mode of the library: nobody asks for its name. ("none" is also a word of traces.)
backends = re.findall(r"^BACKEND\((\w+)\)", (TOP / "org.memtrace.cli/commands/backends.list").read_text(), re.M)
if len(backends) < 5:
    wrong.append("backends.list: only %d backends" % len(backends))
for path, text in C.items():
    for name in backends:
        if name == "none" or path.name == "backend_%s.c" % name:
            continue
        for m in re.finditer(r'str(?:case)?cmp\([^;]*"%s"|"%s"[^;]*\) == 0' % (name, name), text):
            complain(path, text, m.start(), 'asks for the backend "%s"; an ability (backend.h) tells it' % name)
for path in (f for f in files("*.java") if "CheckResult" not in f.name):
    text = path.read_text()
    for m in re.finditer(r'(?:"(?:%s)"\.equals\(|equals\("(?:%s)"\))' % ("|".join(backends[:-1]), "|".join(backends[:-1])), text):
        complain(path, text, m.start(), "asks for a backend by its name; the abilities of CheckResult tell it")

# The sources of the kernel module: what `make sources` installs, the workbench's product has, too.
POM = TOP / "releng/org.memtrace.rcp.feature/pom.xml"
with tempfile.TemporaryDirectory() as made:
    subprocess.run(["make", "-s", "-C", TOP / "collector/module", "sources", "TO=" + made], check=True, stdout=subprocess.DEVNULL)
    installed = {str(f.relative_to(made)) for f in pathlib.Path(made).rglob("*") if f.is_file()}
product = set()
for folder, target, body in re.findall(r"<directory>../../(collector/\w+)</directory>\s*<targetPath>lib/memtrace/module(/\w+)?</targetPath>(.*?)</resource>",
                                       POM.read_text(), re.S):
    for pattern in re.findall(r"<include>([^<]*)</include>", body):
        product |= {(target + "/" if target else "").lstrip("/") + str(f.relative_to(TOP / folder)) for f in (TOP / folder).glob(pattern)}
product -= {f for f in product if f.endswith(".mod.c") or f == "probed.h"}
for name in sorted(installed ^ product):
    wrong.append("%s: %s is %s" % (POM.relative_to(TOP), name, "not in the product" if name in installed else "not installed by make"))
if len(installed) < 10:
    wrong.append("module/Makefile: only %d sources are installed" % len(installed))

for line in wrong:
    print(line)
print("facts: %d variables, %d backends, %d uses of options, %d files of C, %d wrong" % (len(variables), len(backends), looked_up, len(C), len(wrong)))
sys.exit(1 if wrong else 0)
