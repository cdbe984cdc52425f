#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""How many page faults of a program's own data are in structures that have the name of a variable, a member or an expression.

    bench/names.py [-g] [-o docs/measured/names.md] [-m MEMTRACE] [NAME=COMMAND ...]

Without commands: small programs in C, C++, Fortran and Rust that it builds itself, and perl, sqlite3, g++ and numpy where they are installed.
PYTHON names a python that has numpy. NAME=COMMAND adds a program with debug information, such as lulesh='lulesh/lulesh -s 20 -i 3'; its files are named as the compiler saw them.

Own data are blocks, mappings and heaps, and static objects of the program itself; not stacks, not data of libraries. A page fault goes to the
structure of its address by the rule of docs/reference/trace-files.md. Each name is checked without memtrace: a name counts as right when its last
part is the name of a variable, member or parameter in the debug information of the program or its libraries, and stands in the source within
six lines of the place that the structure has. A name of a function, an offset or a file is no name, nor is one of a program whose executable has no debug information; a name of a variable
that fails is wrong.
"""
import argparse
import bisect
import collections
import csv
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RANK = {"static": 0, "heap": 0, "stack": 0, "mmap": 1, "brk": 2, "file": 2}
NAMES = {"DW_TAG_variable", "DW_TAG_member", "DW_TAG_formal_parameter"}

CXX = r"""
#include <cstdio>
#include <thread>
#include <vector>
struct Worker { long id; long steps; double sum; char pad[40]; };
int main()
{
	std::vector<Worker> workers(400);
	long *cells = new long[6400];
	std::vector<double> field(1 << 18);
	double **rows = new double *[4000];
	for (int i = 0; i < 4000; i++) rows[i] = new double[100];
	std::vector<std::thread> ts;
	for (int t = 0; t < 4; t++)
		ts.emplace_back([&, t] { for (int k = 0; k < 3000000; k++) { workers[t].steps++; cells[t]++; field[(k * 7 + t) & 0x3ffff] += 1;
			rows[k % 4000][k % 100] += 1; } });
	for (auto &t : ts) t.join();
	std::printf("%ld %ld\n", workers[0].steps, cells[0]);
}
"""
RUST = r"""
use std::collections::HashMap;
use std::sync::Arc;
use std::thread;
struct Particle { pos: [f64; 3], mass: f64 }
struct Grid { cells: Vec<f64>, index: Vec<u32> }
impl Grid {
    fn new(n: usize) -> Grid {
        Grid { cells: vec![0.0; n], index: (0..n as u32).collect() }
    }
}
fn main() {
    let n = 1 << 19;
    let table: Arc<Vec<f64>> = Arc::new(vec![1.0; n]);
    let mut out = vec![0u64; n];
    let mut grid = Grid::new(n);
    let mut particles: Vec<Particle> = Vec::with_capacity(50_000);
    for i in 0..50_000 {
        particles.push(Particle { pos: [i as f64, 0.0, 1.0], mass: 2.0 });
    }
    let mut map: HashMap<u64, u64> = HashMap::new();
    for i in 0..60_000u64 { map.insert(i, i * 2); }
    let handles: Vec<_> = (0..4).map(|t| {
        let table = Arc::clone(&table);
        thread::spawn(move || table.iter().skip(t).step_by(4).sum::<f64>())
    }).collect();
    let mut s = 0.0;
    for h in handles { s += h.join().unwrap(); }
    for (i, o) in out.iter_mut().enumerate() { *o = i as u64; }
    for c in grid.cells.iter_mut() { *c += 1.0; }
    grid.index[3] = 2;
    let m: f64 = particles.iter().map(|p| p.pos[0] * p.mass).sum();
    println!("{} {} {} {} {:?}", s, out[5], grid.cells[7], m, map.get(&77));
}
"""
FORTRAN = r"""
module fields
  real(8), allocatable :: u(:,:), v(:,:)
  type :: cell
    real(8), allocatable :: values(:)
  end type
  type(cell) :: cells(50)
end module
program p
  use fields
  real(8), save :: fixed(300,300)
  integer :: i
  allocate(u(700,700), v(600,600))
  do i = 1, 50
    allocate(cells(i)%values(20000))
    cells(i)%values = i
  end do
  u = 1; v = 2; fixed = 3
  print *, sum(u) + sum(v) + sum(fixed) + sum(cells(7)%values)
end program
"""


def run(command, **how):
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, **how)


def built(work):
    """The programs that this script builds: (name, command)."""
    made = []
    for name, ending, text, commands in (
            ("C++ (threads, vectors)", "cpp", CXX, [["g++", "-pthread"], ["clang++", "-pthread"]]), ("Fortran", "f90", FORTRAN, [["gfortran"]]),
            ("Rust", "rs", RUST, [["rustc"]])):
        source = os.path.join(work, "source." + ending)
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        for compiler in commands:
            for level in ("-O0", "-O2", "-O3", "-flto -O2") if ending != "rs" else ("-C opt-level=0", "-O", "-C opt-level=3 -C lto"):
                program = os.path.join(work, f"p{len(made)}")
                try:
                    if run([*compiler, "-g", *level.split(), "-o", program, source]).returncode == 0:
                        made.append((f"{name}, {compiler[0]} {level}", [program]))
                except FileNotFoundError:
                    break
    return made


def installed(work):
    perl = "my %h; $h{$_} = $_ * 2 for 1..200000; my @a = sort { $a <=> $b } values %h; print scalar(@a), \"\\n\";"
    sql = "create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 200000) " \
          "insert into t select i, i * 7 % 1000 from n; create index x on t(b); select count(*) from t where b = 5;"
    numpy = os.path.join(work, "np.py")
    with open(numpy, "w", encoding="utf-8") as f:
        f.write("import numpy\na = numpy.ones((1500, 1500))\nb = a * 2\nprint((a + b).sum())\n")
    return [("perl", ["perl", "-e", perl]), ("sqlite3", ["sqlite3", ":memory:", sql]), ("python3 with numpy", [os.environ.get("PYTHON", "python3"), numpy]),
            ("g++", ["g++", "-O2", "-c", "-o", os.devnull, os.path.join(work, "source.cpp")])]


def debug_names(path):
    """Names of variables, members and parameters in the debug information of a file; none without."""
    found = set()
    try:
        with open(path, "rb") as f:
            elf = ELFFile(f)
            if not elf.has_dwarf_info():
                return found
            for unit in elf.get_dwarf_info().iter_CUs():
                if unit["unit_length"] > 30_000_000:
                    continue
                for die in unit.iter_DIEs():
                    if die.tag in NAMES and "DW_AT_name" in die.attributes:
                        found.add(die.attributes["DW_AT_name"].value.decode(errors="replace"))
    except (OSError, ValueError, KeyError, AssertionError, ELFError):
        pass
    return found


def word(name):
    """The last part of an expression: cells of m->cells[i].cells (rows of 2 KiB)."""
    plain = re.sub(r" \((rows|blocks|small).*\)$", "", name)
    while re.search(r"[\[(][^\[\]()]*[\])]", plain):
        plain = re.sub(r"[\[(][^\[\]()]*[\])]", "", plain)
    return re.split(r"->|\.|::|%", plain.strip("*& "))[-1]


def in_source(site, name):
    path, _, line = site.rpartition(":")
    try:
        with open(path, encoding="utf-8", errors="replace") as f:
            lines = f.read().split("\n")
    except OSError:
        return None
    near = "\n".join(lines[max(0, int(line) - 7):int(line) + 6])
    return re.search(r"(?i)(?<![A-Za-z0-9_])" + re.escape(name) + r"(?![A-Za-z0-9_])", near) is not None


def structures(folder):
    with open(os.path.join(folder, "structures.csv"), newline="", encoding="utf-8") as f:
        for r in csv.DictReader(f):
            yield (int(r["Start"], 16), int(r["End"], 16), int(r["Birth"]), int(r["Death"]) if int(r["Death"]) >= 0 else 1 << 62, r["Kind"],
                   r["Name"], r["Site"])


def faults(trace):
    """Page faults of each (kind, name, site)."""
    count = collections.Counter()
    for folder in sorted(glob.glob(os.path.join(trace, "p[0-9]*"))):
        if not os.path.exists(os.path.join(folder, "structures.csv")):
            continue
        large, pages = [], collections.defaultdict(list)
        for s in structures(folder):
            if s[1] - s[0] > 1 << 24:
                large.append(s)
                continue
            for page in range(s[0] >> 12, (s[1] - 1 >> 12) + 1):
                pages[page].append(s)
        large.sort()
        starts = [s[0] for s in large]
        for chunk in sorted(glob.glob(os.path.join(folder, "accesses-*.csv"))):
            with open(chunk, newline="", encoding="utf-8") as f:
                for r in csv.DictReader(f):
                    if int(r["Flags"] or "0", 16) & 1:
                        continue
                    at, begin, end = int(r["@Virt"], 16), int(r["Start"]), int(r["End"])
                    here = pages.get(at >> 12, []) + large[:bisect.bisect_right(starts, at)]
                    best = min(((RANK[s[4]], -(min(end, s[3]) - max(begin, s[2])), s[1] - s[0], -s[2], s) for s in here
                                if s[0] <= at < s[1] and s[2] < end and s[3] > begin), default=None)
                    count[best[4][4:] if best else ("none", "", "")] += int(r["Nreads"]) + int(r["Nwrites"])
    return count


def own(kind, site, program):
    """Is it data of the program: not a stack, not what a library or the C library keeps for itself?"""
    if kind in ("stack", "file"):
        return False
    return kind != "static" or (site != "" and not re.match(r"(lib|ld-)[^:/ ]*\.so", site)) or program in site


def judge(trace, programs):
    """Page faults of own data: (all, right, wrong, [the largest without a name])."""
    known = set()
    for path in programs:
        known |= debug_names(path)
    total, right, wrong, without, wrong_names = 0, 0, 0, collections.Counter(), []
    for (kind, name, site), n in faults(trace).items():
        if not own(kind, site, programs[0]):
            continue
        total += n
        plain = re.sub(r" \((rows|blocks|small).*\)$", "", name)
        last = word(name)
        function = re.search(r":\d+$|\+0x[0-9a-f]+$", plain) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", last) or kind == "none" or \
            name.startswith(("heap (", "unnamed")) or name == site
        if function or not re.search(r":\d+$", site):
            without[name or "no structure"] += n
        elif not known:  # nothing to check it with
            without[name] += n
        elif last in known or last.lower() in known and in_source(site, last) is not False:
            if in_source(site, last) is False:
                wrong += n
                wrong_names.append(f"{name} ({site})")
            else:
                right += n
        else:
            wrong += n
            wrong_names.append(f"{name} ({site})")
    return total, right, wrong, without, wrong_names


HEAD = """# Names, measured

Share of the page faults of a program's own data in structures that have the name of a variable, a member or an expression. Made by
`bench/names.py`, which tells how each name is checked against debug information and source. *Finish*: CPU time of making the names, in s.

Programs of packages (perl, sqlite3, g++) have no debug information; that of Python is in a library, which is
not looked at, so that its names count as wrong. The machine had two CPUs of a virtual machine and a load of 20 to 30.

| program | page faults | named | wrong | finish | most without a name |
|---|---:|---:|---:|---:|---|
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", metavar="FILE")
    parser.add_argument("-m", metavar="MEMTRACE", default=os.path.join(TOP, "build/collector/memtrace"))
    parser.add_argument("-g", action="store_true", help="only the programs that are given")
    parser.add_argument("programs", nargs="*", metavar="NAME=COMMAND")
    arguments = parser.parse_args()
    out = open(arguments.o, "w", encoding="utf-8") if arguments.o else sys.stdout
    out.write(HEAD)
    with tempfile.TemporaryDirectory() as work:
        todo = ([] if arguments.g else built(work) + installed(work)) + [(p.split("=", 1)[0], shlex.split(p.split("=", 1)[1])) for p in arguments.programs]
        for number, (name, command) in enumerate(todo):
            trace = os.path.join(work, f"trace{number}")
            print(name, file=sys.stderr)
            run([arguments.m, "record", "-q", "-o", trace, "--", *command])
            if not glob.glob(os.path.join(trace, "p*", "structures.csv")):
                print(f"{name}: not recorded", file=sys.stderr)
                continue
            begin = os.times().children_user
            run([arguments.m, "finish", "-q", "--force", trace])
            finish = os.times().children_user - begin
            total, right, wrong, without, wrong_names = judge(trace, [command[0]])
            for text in wrong_names:
                print(f"  wrong: {text}", file=sys.stderr)
            most = ", ".join(f"`{k}` {100 * v / total:.0f} %" for k, v in without.most_common(2) if v > 0.005 * total) if total else ""
            out.write(f"| {name} | {total:,} | {100 * right / max(total, 1):.1f} % | {100 * wrong / max(total, 1):.1f} % | {finish:.2f} | {most} |\n")
            out.flush()


if __name__ == "__main__":
    main()
