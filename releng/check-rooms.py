#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""The rooms of the collector: who uses whom, how long things are, and what nobody uses.

    releng/check-rooms.py [--write] [--self-test] [COLLECTOR BUILD]    default: collector and build/collector of this checkout

A room is a folder, and collector/rooms.txt lists each one with the rooms that its units may use. A unit is NAME.c with NAME.h, in C++
NAME.cpp with NAME.hpp. Uses are read from the includes and, with nm, from the objects in C that were built. Errors, each with its file and line:

  an include that does not name its file from collector/; a use that rooms.txt does not list; a listed room that is not used;
  units that use each other in a circle;
  a function of more than 80 lines, a file of more than 800, a folder of more than 20 units;
  a name for other units that no other unit uses.

collector/rooms-known.txt has the faults of today. One that is worse, one that is new, and a line for one that is gone or better are
errors, so the list can only shrink. --write writes it anew. Exit code 1 when there is an error.
"""
import os
import re
import subprocess
import sys
import tempfile

FUNCTION, FILE, FOLDER = 80, 800, 20
# not in the command: what obj/ has of them is for unit tests
NOT_COMMAND = ("preload/", "count/", "engines/", "module/")
# sources that no object here is made of: the kernel's, and what needs an installation that is in no package
NOT_BUILT = ("module/", "engines/")
# what compilers and other programs call by name
ENTRIES = {"main", "_start"}
# a function of the C library that a source replaces for other libraries
REPLACED = {"dlopen"}
# whose names others call: compilers, and programs that are not built on each machine
CALLED_ELSEWHERE = re.compile(r"module/|engines/|count/(hooks|wrap)\.c|.*/arm64")
OUTSIDE = {"backends.list"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(?:"([^"]+)"|<(memtrace/[^>]+)>)', re.M)


def sources(top):
    """Names of all sources and headers below top that are no tests."""
    found = []
    for folder, folders, names in os.walk(top):
        at = os.path.relpath(folder, top)
        if at == ".":
            folders[:] = [f for f in folders if f != "tests"]
        found += [os.path.normpath(os.path.join(at, n)) for n in names if n.endswith((".c", ".h", ".cpp", ".hpp")) and not n.endswith(".mod.c")]
    return sorted(f for f in found if not f.endswith("module/probed.h"))


def sized(key):
    """Whether the number behind a known fault may shrink."""
    return not key.startswith(("unused ", "arrow "))


def without_comments(text):
    """The same lines and columns without comments."""
    def blank(m):
        return m.group() if m.group()[0] in "\"'" else re.sub(r"[^\n]", " ", m.group())
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def functions(lines):
    """(name, first line, length) of the functions of a source in kernel style, whose braces stand at the begin of a line."""
    begin = None
    for n, line in enumerate(lines):
        if line == "{" or (line.startswith("{") and begin is None and n and lines[n - 1].endswith(")")):
            begin = n
        elif line.startswith("}") and begin is not None:
            head = n = begin
            while head and lines[head - 1].strip() and not lines[head - 1].startswith(("}", "#")) and not lines[head - 1].endswith(";"):
                head -= 1
            name = re.search(r"(\w+)\s*\(", " ".join(lines[head:begin]))
            end = lines.index(line, begin)
            if name:
                yield name[1], begin + 1, end - begin + 1
            begin = None


def circles(uses):
    """The sets of units that reach each other (Tarjan, without recursion)."""
    index, low, stack, on, found = {}, {}, [], set(), []
    for root in sorted(uses):
        if root in index:
            continue
        work = [(root, iter(sorted(uses.get(root, ()))))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on.add(root)
        while work:
            node, more = work[-1]
            for to in more:
                if to not in index:
                    index[to] = low[to] = len(index)
                    stack.append(to)
                    on.add(to)
                    work.append((to, iter(sorted(uses.get(to, ())))))
                    break
                if to in on:
                    low[node] = min(low[node], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    members = []
                    while True:
                        members.append(stack.pop())
                        on.discard(members[-1])
                        if members[-1] == node:
                            break
                    if len(members) > 1:
                        found.append(sorted(members))
    return found


class Check:
    def __init__(self, top, build):
        self.top, self.build = top, build
        self.errors, self.faults = [], {}
        self.text = {}
        for f in sources(top):
            with open(os.path.join(top, f), encoding="utf-8") as h:
                self.text[f] = h.read()
        self.code = {f: INCLUDE.sub("", without_comments(t)) for f, t in self.text.items()}
        self.rooms, self.room_line = {}, {}
        self.read_rooms()
        self.uses = {}      # unit -> unit -> (file, line, what)
        self.used = set()   # (room, room)

    def error(self, where, line, what):
        self.errors.append(f"collector/{where}:{line}: {what}")

    def fault(self, key, size, where, line, what):
        """What stands in the list of today's faults, or should."""
        self.faults[key] = (size, where, line, what)

    def read_rooms(self):
        with open(os.path.join(self.top, "rooms.txt"), encoding="utf-8") as h:
            for n, line in enumerate(h, 1):
                line = line.split("#")[0].rstrip()
                if not line:
                    continue
                room, _, names = line.partition(":")
                if room in self.rooms:
                    self.error("rooms.txt", n, f"{room} stands twice")
                self.rooms[room], self.room_line[room] = names.split(), n
        for room, names in self.rooms.items():
            for name in names:
                if name not in self.rooms:
                    self.error("rooms.txt", self.room_line[room], f"{room} may use {name}, which is no room")
        for circle in circles({r: set(n) for r, n in self.rooms.items()}):
            self.error("rooms.txt", self.room_line[circle[0]], "rooms in a circle: " + " ".join(circle))
        folders = {os.path.dirname(f) for f in self.text}
        for room in self.rooms:
            if not any(f == room or f.startswith(room + "/") for f in folders):
                self.error("rooms.txt", self.room_line[room], f"{room} has no source")

    def room(self, file):
        """The innermost room of a file; None when it is in none."""
        folder = os.path.dirname(file)
        while folder and folder not in self.rooms:
            folder = os.path.dirname(folder)
        return folder or None

    def add(self, file, line, target, what):
        """file uses target, at line."""
        a, b = os.path.splitext(file)[0], os.path.splitext(target)[0]
        if a == b:
            return
        ra, rb = self.room(file), self.room(target)
        if ra and rb and ra != rb:
            self.used.add((ra, rb))
            if rb not in self.rooms[ra]:
                self.fault(f"arrow {file} {rb}", 1, file, line, f"{ra} may not use {rb}: {what}")
        self.uses.setdefault(a, {}).setdefault(b, (file, line, what))

    def includes(self):
        for file, text in self.text.items():
            if self.room(file) is None:
                self.error(file, 1, "is in no room of rooms.txt")
            for n, line in enumerate(text.split("\n"), 1):
                m = INCLUDE.match(line)
                if not m:
                    continue
                name = m[1] or "common/" + m[2]
                if os.path.exists(os.path.join(self.top, name)):
                    self.add(file, n, name, "#include " + (f'"{m[1]}"' if m[1] else f"<{m[2]}>"))
                elif file.startswith("module/"):     # is installed alone
                    for folder in (os.path.dirname(file), "module"):
                        if os.path.join(folder, name) in self.text:
                            self.add(file, n, os.path.join(folder, name), f'#include "{name}"')
                            break
                elif name not in OUTSIDE and not file.startswith("engines/"):
                    self.error(file, n, f'"{name}" does not name its room, the path below collector/')
                elif any(os.path.basename(f) == name for f in self.text):
                    self.error(file, n, f'"{name}" does not name its room, the path below collector/')

    def objects(self):
        """Programs: for each of them {symbol: source that defines it} and {source: symbols that it wants}."""
        groups = {"obj": [], "pic": [], "hook": [], "valgrind/obj": [], "dynamorio/obj": [], "unit": []}
        for group, found in groups.items():
            for file in self.text:
                o = os.path.join(self.build, group, file[:-2] + ".o")
                if file.endswith(".c") and os.path.exists(o) and not (group == "obj" and file.startswith(NOT_COMMAND)):
                    found.append((file, o))
                    if os.path.getmtime(o) < os.path.getmtime(os.path.join(self.top, file)):
                        self.errors.append(f"collector/{file}:1: its object is older: make -C collector")
        unit = os.path.join(self.build, "unit")
        tests = [os.path.join(unit, n) for n in (sorted(os.listdir(unit)) if os.path.isdir(unit) else []) if n.endswith(".o")]
        made = {f for found in groups.values() for f, _ in found}
        for file in self.text:
            if file.endswith(".c") and file not in made and not file.startswith(NOT_BUILT):
                self.error(file, 1, "has no object: make -C collector")
        for name in ("commands.o",):
            o = os.path.join(self.build, "gen", name)
            if os.path.exists(o):
                groups["obj"].append((None, o))
        every = [o for found in groups.values() for _, o in found] + tests
        if not every:
            return [], set()
        said = subprocess.run(["nm", "-A", "-g", "--format=posix"] + every, check=True, stdout=subprocess.PIPE, text=True).stdout
        defined, wanted = {}, {}
        for line in said.split("\n"):
            if line:
                o, rest = line.split(": ", 1)
                name, kind = rest.split()[:2]
                (wanted if kind in "Uwv" else defined).setdefault(o, set()).add(name)
        programs = []
        for found in groups.values():
            where = {s: f for f, o in found for s in defined.get(o, ()) if f}
            programs.append((where, {f or "generated": wanted.get(o, set()) for f, o in found}))
        return programs, {s for o in tests for s in wanted.get(o, ())}

    def line_of(self, file, symbol):
        at = re.search(r"\b" + re.escape(symbol) + r"\b", self.code.get(file, ""))
        return self.code[file].count("\n", 0, at.start()) + 1 if at else 1

    def links(self):
        programs, by_tests = self.objects()
        exported = self.exported()
        all_wanted, all_defined = set(), {}
        for where, wants in programs:
            for file, symbols in wants.items():
                for s in symbols:
                    if s in where and s not in REPLACED:
                        all_wanted.add(s)
                        if file != "generated":
                            self.add(file, self.line_of(file, s), where[s], f"{s} of {where[s]}")
            for s, file in where.items():
                all_defined.setdefault(s, file)
        for s, file in sorted(all_defined.items()):
            if s in all_wanted or s in exported or s in ENTRIES | REPLACED or CALLED_ELSEWHERE.match(file):
                continue
            uses = [line for line in self.code[file].split("\n") if re.search(r"\b" + re.escape(s) + r"\b", line)]
            inside = len(uses) > 1
            # assembly can name it
            if inside and (s in by_tests or any(re.search(r'"[^"]*\b' + re.escape(s) + r"\b", line) for line in uses)):
                continue
            what = "only tests use it" if s in by_tests else "nobody but its own source uses it: static" if inside else "nobody uses it"
            self.fault(f"unused {file} {s}", 1, file, self.line_of(file, s), f"{s}: {what}")

    def exported(self):
        library = os.path.join(self.build, "libmemtrace-preload.so")
        if not os.path.exists(library):
            return set()
        said = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", library], check=True, stdout=subprocess.PIPE, text=True).stdout
        return {line.split()[0].split("@")[0] for line in said.split("\n") if line}

    def lengths(self):
        units = {}
        for file, text in self.text.items():
            lines = text.split("\n")
            n = text.count("\n")
            if n > FILE:
                self.fault(f"file {file}", n, file, 1, f"{n} lines, at most {FILE}")
            for name, line, length in functions(lines):
                if length > FUNCTION:
                    self.fault(f"function {file} {name}", length, file, line, f"{name}() has {length} lines, at most {FUNCTION}")
            units.setdefault(os.path.dirname(file), set()).add(os.path.splitext(file)[0])
        for folder, found in units.items():
            if len(found) > FOLDER:
                self.fault(f"folder {folder}", len(found), folder, 1, f"{len(found)} units, at most {FOLDER}")

    def unit_circles(self):
        for members in circles({a: set(b) for a, b in self.uses.items()}):
            # the shortest way around from the first one, as a proof
            first, came, todo = members[0], {}, [members[0]]
            while todo and first not in came:
                unit = todo.pop(0)
                for to in sorted(self.uses.get(unit, ())):
                    if to in members and to not in came:
                        came[to] = unit
                        todo.append(to)
            path = [first]
            while len(path) < 2 or path[-1] != first:
                path.append(came[path[-1]])
            path.reverse()
            steps = []
            for a, b in zip(path, path[1:]):
                file, line, what = self.uses[a][b]
                steps.append(f"{file}:{line} {what}")
            file, line, _ = self.uses[path[0]][path[1]]
            self.fault("circle " + members[0], len(members), file, line, f"{len(members)} units in a circle ({' '.join(members)}): "
                       + "; ".join(steps))

    def known(self, write):
        name = os.path.join(self.top, "rooms-known.txt")
        if write:
            with open(name, "w", encoding="utf-8") as h:
                h.write("# SPDX-FileCopyrightText: memtrace contributors\n# SPDX-License-Identifier: EPL-2.0\n"
                        "# What releng/check-rooms.py finds today, with its size: it may only shrink.\n")
                for key, fault in sorted(self.faults.items()):
                    h.write(f"{key} {fault[0]}\n" if sized(key) else key + "\n")
        known = {}
        if os.path.exists(name):
            with open(name, encoding="utf-8") as h:
                for n, line in enumerate(h, 1):
                    line = line.split("#")[0].strip()
                    if line and not sized(line):
                        known[line] = (1, n)
                    elif line:
                        known[line.rsplit(" ", 1)[0]] = (int(line.rsplit(" ", 1)[1]), n)
        for key, (size, where, line, what) in sorted(self.faults.items()):
            if key not in known:
                self.error(where, line, what)
            elif size > known[key][0]:
                self.error(where, line, f"{what}; it was {known[key][0]}")
            elif size < known[key][0]:
                self.error("rooms-known.txt", known[key][1], f"{key} is {size} by now")
        for key, (_, n) in known.items():
            if key not in self.faults:
                self.error("rooms-known.txt", n, f"{key} is mended: take it off the list")

    def run(self, write=False):
        self.includes()
        self.links()
        for room, names in self.rooms.items():
            for name in names:
                if name in self.rooms and (room, name) not in self.used:
                    self.error("rooms.txt", self.room_line[room], f"{room} does not use {name}")
        self.unit_circles()
        self.lengths()
        self.known(write)
        return self.errors


LONG = '#include "base/a.h"\n\nint a(void)\n{\n' + "\n" * 80 + "\treturn 1;\n}\n"
PLANTED = {
    "rooms.txt": "base:\nnames: base\n",
    "base/a.h": "int a(void);\n",
    "base/a.c": '#include "base/a.h"\n\nint a(void)\n{\n\treturn 1;\n}\n',
    "names/b.h": "int b(void);\n",
    "names/b.c": '#include "names/b.h"\n#include "base/a.h"\n\nint b(void)\n{\n\treturn a();\n}\n',
    "names/main.c": '#include "names/b.h"\n\nint main(void)\n{\n\treturn b();\n}\n',
}
# what changes, and the errors that it must give
FAULTS = [
    ({}, []),
    ({"base/a.c": '#include "base/a.h"\n#include "names/b.h"\n\nint a(void)\n{\n\treturn 1;\n}\n'},
     [r"base/a.c:2: base may not use names: #include", r"base/a.c:2: 2 units in a circle \(base/a names/b\): base/a.c:2 .*; names/b.c:2 "]),
    ({"base/a.c": '#include "base/a.h"\n\nint a(void)\n{\n\tint b(void);\n\n\treturn b();\n}\n'},
     [r"base/a.c:5: base may not use names: b of names/b.c", r"base/a.c:5: 2 units in a circle \(base/a names/b\)"]),
    ({"names/main.c": '#include "b.h"\n\nint main(void)\n{\n\treturn b();\n}\n'}, [r'names/main.c:1: "b.h" does not name its room']),
    ({"rooms.txt": "base:\nmore:\nnames: base more\n", "more/x.h": "\n"}, [r"rooms.txt:3: names does not use more"]),
    ({"more/x.h": "\n"}, [r"more/x.h:1: is in no room"]),
    ({"rooms.txt": "base: names\nnames: base\n"}, [r"rooms.txt:1: rooms in a circle: base names", r"rooms.txt:1: base does not use names"]),
    ({"base/a.c": LONG}, [r"base/a.c:4: a\(\) has 83 lines"]),
    ({"base/a.c": LONG, "rooms-known.txt": "function base/a.c a 83\n"}, []),
    ({"base/a.c": LONG, "rooms-known.txt": "function base/a.c a 82\n"}, [r"base/a.c:4: a\(\) has 83 lines, at most 80; it was 82"]),
    ({"base/a.c": LONG, "rooms-known.txt": "function base/a.c a 90\n"}, [r"rooms-known.txt:1: function base/a.c a is 83 by now"]),
    ({"rooms-known.txt": "function base/a.c a 90\n"}, [r"rooms-known.txt:1: function base/a.c a is mended"]),
    ({"base/a.h": "\n" * 801 + "int a(void);\n"}, [r"base/a.h:1: 802 lines"]),
    ({"rooms.txt": "base:\nnames: base\nmore: base\n", "more/x.cpp": '#include "more/x.hpp"\n', "more/x.hpp": '#include "base/a.h"\n#include "x.hpp"\n'},
     [r'more/x.hpp:2: "x.hpp" does not name its room']),
    ({"rooms.txt": "base:\nnames: base\nmore: base\n", "more/x.cpp": '#include "base/a.h"\n' + LONG.split("\n", 1)[1]},
     [r"more/x.cpp:4: a\(\) has 83 lines"]),
    ({f"names/n{i}.h": "\n" for i in range(19)}, [r"names:1: 21 units, at most 20"]),
    ({"names/main.c": "int main(void)\n{\n\treturn 0;\n}\n"}, [r"names/b.c:4: b: nobody uses it"]),
    ({"names/main.c": "int other(void)\n{\n\treturn 0;\n}\n\nint main(void)\n{\n\tint b(void);\n\n\treturn b() + other();\n}\n"},
     [r"names/main.c:1: other: nobody but its own source uses it: static"]),
]


def self_test():
    """Each kind of fault, planted in a small collector, is found; without one there is no error."""
    failed = 0
    for changes, want in FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            top, build = os.path.join(folder, "collector"), os.path.join(folder, "build")
            files = {**PLANTED, **changes}
            for name, text in files.items():
                path = os.path.join(top, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as h:
                    h.write(text)
            for name in files:
                if name.endswith(".c"):
                    o = os.path.join(build, "obj", name[:-2] + ".o")
                    os.makedirs(os.path.dirname(o), exist_ok=True)
                    subprocess.run(["cc", "-I" + top, "-I" + os.path.join(top, "names"), "-c", "-o", o, os.path.join(top, name)], check=True)
            got = Check(top, build).run()
        if len(got) != len(want) or not all(re.search(w, g) for w, g in zip(want, got)):
            failed += 1
            print(f"check-rooms: self-test {list(changes)}: wanted {want}, got {got}")
    print(f"rooms: {len(FAULTS) - failed} of {len(FAULTS)} planted collectors are judged right")
    return failed


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    here = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    if "--self-test" in sys.argv:
        return 1 if self_test() else 0
    top, build = arguments if len(arguments) == 2 else (os.path.join(here, "collector"), os.path.join(here, "build", "collector"))
    check = Check(top, build)
    errors = check.run("--write" in sys.argv)
    for e in errors:
        print(e)
    print(f"rooms: {len(check.rooms)} rooms, {len(check.text)} files, {len(errors)} errors")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
