#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""
Records programs of others, which have no fault that their user could mend, with the defaults, and prints every finding about them. By hand:

  releng/check-quiet.py [-n RUNS] [-k DIR] [--quick | PROGRAM...]

A finding here is false until a person has read it and says otherwise: docs/measured/findings.md has the list. What is not installed is told and left
out. --quick takes the few that every machine of a developer has and that take a second; that is the part `quiet` of ./test.sh. -k keeps the
traces in DIR. PYTHON is a Python with numpy and duckdb. Ends with 1 when there is a finding that is not in ACCEPTED.
"""
import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MEMTRACE = os.path.join(ROOT, "build/collector/memtrace")
PATH = os.environ["PATH"] + ":/usr/games"
PYTHON = os.environ.get("PYTHON", sys.executable)

# findings that a person has read and holds true: program -> {(rule, structure)}; docs/measured/findings.md says why
ACCEPTED = {}

FILES = {
    "work.py": """
import json, threading, sys
def work(n):
    d = {str(i): [i, i * 2, str(i)] for i in range(n)}
    return len(json.loads(json.dumps(d)))
kind = sys.argv[1]
for _ in range(int(sys.argv[2])):
    if kind == "json":
        work(60000)
    elif kind == "threads":
        t = [threading.Thread(target=work, args=(15000,)) for _ in range(4)]
        [x.start() for x in t]
        [x.join() for x in t]
    elif kind == "numpy":
        import numpy
        a = numpy.random.rand(600, 600)
        numpy.linalg.inv(a @ a.T + numpy.eye(600)).sum()
    elif kind == "duckdb":
        import duckdb
        c = duckdb.connect()
        c.execute("set threads to 4")
        c.execute("create table t as select i, i % 1000 k, hash(i) h from range(1000000) r(i)")
        c.execute("select k, sum(h % 7), count(*) from t group by k order by 2").fetchall()
        c.execute("select count(*) from t a join t b on a.i = b.i").fetchall()
""",
    "Work.java": """
import java.util.*;
import java.util.stream.*;
public class Work {
	public static void main(String[] a) throws Exception {
		long end = System.nanoTime() + 2_500_000_000L;
		long sum = 0;
		while (System.nanoTime() < end) {
			Thread[] t = new Thread[4];
			for (int k = 0; k < 4; k++) {
				t[k] = new Thread(() -> {
					Map<Integer, String> m = new HashMap<>();
					for (int i = 0; i < 60000; i++) {
						m.put(i * 31, "v" + i);
					}
					List<String> l = new ArrayList<>(m.values());
					Collections.sort(l);
				});
				t[k].start();
			}
			for (Thread x : t) {
				x.join();
			}
			sum += IntStream.range(0, 1 << 20).parallel().mapToLong(i -> i * 7L).sum();
		}
		System.out.println(sum);
	}
}
""",
    "work.js": """
let sum = 0;
const end = Date.now() + 2500;
while (Date.now() < end) {
  const m = new Map();
  for (let i = 0; i < 100000; i++) m.set("k" + i, { a: i, b: [i, i + 1] });
  sum += JSON.parse(JSON.stringify([...m.values()])).length;
  sum += new Float64Array(1 << 18).map((_, i) => i * 0.5).reduce((a, b) => a + b, 0) % 7;
}
console.log(sum);
""",
    "work.go": """
package main
import ("fmt"; "sort"; "strconv"; "sync"; "time")
func main() {
	end := time.Now().Add(2500 * time.Millisecond)
	n := 0
	for time.Now().Before(end) {
		var w sync.WaitGroup
		for k := 0; k < 4; k++ {
			w.Add(1)
			go func() {
				defer w.Done()
				m := map[string]int{}
				for i := 0; i < 50000; i++ { m[strconv.Itoa(i*31)] = i }
				l := make([]string, 0, len(m))
				for s := range m { l = append(l, s) }
				sort.Strings(l)
			}()
		}
		w.Wait()
		n++
	}
	fmt.Println(n)
}
""",
    "work.pl": """
my $n = 0;
for my $r (1 .. 8) {
	my %h;
	$h{$_ * 31} = [$_, "v$_"] for 1 .. 120000;
	$n += length join ',', sort keys %h;
}
print $n;
""",
    "work.rb": """
n = 0
8.times do
  h = {}
  150000.times { |i| h[(i * 31).to_s] = [i, i.to_s] }
  n += h.keys.sort.join(',').size
end
puts n
""",
    "work.scm": """
(let loop ((r 0))
  (if (< r 12)
    (let ((h (make-hash-table)))
      (do ((i 0 (+ i 1))) ((= i 200000)) (hash-set! h (* i 31) (list i (number->string i))))
      (display (hash-count (const #t) h))
      (loop (+ r 1)))))
""",
    "work.R": """
for (r in 1:6) {
  x <- matrix(rnorm(250000), 500)
  d <- data.frame(a = runif(2e5), g = sample(100, 2e5, TRUE))
  print(sum(solve(x %*% t(x) + diag(500))) + sum(tapply(d$a, d$g, mean)))
}
""",
    "work.lua": """
local n = 0
for r = 1, 8 do
  local t = {}
  for i = 1, 300000 do t[i] = {i, tostring(i)} end
  table.sort(t, function(a, b) return a[2] < b[2] end)
  n = n + #t
end
print(n)
""",
    "work.php": """<?php
$n = 0;
for ($r = 0; $r < 12; $r++) {
	$h = [];
	for ($i = 0; $i < 200000; $i++) $h["k" . $i * 31] = [$i, "v$i"];
	ksort($h);
	$n += strlen(serialize($h));
}
echo $n;
""",
    "work.cpp": "".join(f"#include <{h}>\n" for h in "algorithm iostream map random regex unordered_map vector".split()) + "".join(f"""
struct S{i} {{
	std::map<std::string, int> m;
	std::vector<S{i}> v;
	bool operator<(const S{i} &o) const {{ return m.size() < o.m.size(); }}
	void f() {{ std::sort(v.begin(), v.end()); std::cout << std::regex_match("a{i}", std::regex("a.*")); }}
}};
""" for i in range(12)) + "int main() { " + "".join(f"S{i}().f();" for i in range(12)) + " }\n",
    "work.rs": "use std::collections::HashMap;\n" + "".join(f"""
#[derive(Debug, Clone, PartialEq, Default)]
struct S{i} {{ a: HashMap<String, Vec<u32>>, b: Option<Box<S{i}>> }}
""" for i in range(60)) + "fn main() {" + "".join(f" println!(\"{{:?}}\", S{i}::default());" for i in range(60)) + "}\n",
    "mpi.c": """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int c, char **v)
{
	int r, n = 1 << 20;
	double *a = malloc(8L * n), *b = malloc(8L * n), s = 0;
	MPI_Init(&c, &v);
	MPI_Comm_rank(MPI_COMM_WORLD, &r);
	for (int k = 0; k < 60; k++) {
		for (int i = 0; i < n; i++)
			a[i] = i * r + k;
		MPI_Allreduce(a, b, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		for (int i = 0; i < n; i++)
			s += b[i];
	}
	printf("%g", s);
	MPI_Finalize();
	return 0;
}
""",
}



class Program:
    """A command of a shell in a folder with FILES, text.txt (20 MiB of words) and data.bin (40 MiB)."""

    def __init__(self, name, needs, command, version=None, prepare=None, quick=False, record=""):
        self.name, self.needs, self.command, self.prepare, self.quick, self.record = name, needs.split(), command, prepare, quick, record
        self.version = version or f"{self.needs[0]} --version"


def java(collector):
    return f"java -XX:+Use{collector}GC -Xmx512m -cp . Work"


PROGRAMS = [
    Program("sort", "sort", "sort --parallel=4 -S 100M -k2 text.txt -o sorted", quick=True),
    Program("gzip", "gzip", "gzip -c text.txt >text.gz", quick=True),
    Program("xz -T4", "xz", "xz -1 -T4 --block-size=4MiB -c text.txt >text.xz", quick=True),
    Program("zstd -T4", "zstd", "zstd -q -f -9 -T4 data.bin -o data.zst"),
    Program("pigz", "pigz", "pigz -p 4 -c data.bin >data.gz"),
    Program("bzip2", "bzip2", "head -c 12000000 text.txt | bzip2 -c >text.bz2", version="bzip2 --help 2>&1"),
    Program("pbzip2", "pbzip2", "pbzip2 -p4 -k -f text.txt", version="pbzip2 --version 2>&1"),
    Program("lbzip2", "lbzip2", "lbzip2 -n4 -k -f text.txt"),
    Program("7z", "7z", "7z a -bd -mx=3 -mmt4 out.7z text.txt", version="7z | grep Zip"),
    Program("tar", "tar", "tar -cf out.tar text.txt data.bin && tar -tf out.tar"),
    Program("python3 json", "python3", f"{PYTHON} work.py json 5", quick=True),
    Program("python3 threads", "python3", f"{PYTHON} work.py threads 8"),
    Program("python3 numpy", "python3", f"{PYTHON} work.py numpy 20", version=f"{PYTHON} -c 'import numpy; print(numpy.__version__)'"),
    Program("python3 duckdb", "python3", f"{PYTHON} work.py duckdb 2", version=f"{PYTHON} -c 'import duckdb; print(duckdb.__version__)'"),
    Program("java, G1", "java javac", java("G1"), prepare="javac Work.java", quick=True),
    Program("java, parallel", "java javac", java("Parallel"), prepare="javac Work.java"),
    Program("java, serial", "java javac", java("Serial"), prepare="javac Work.java"),
    Program("java, Z", "java javac", java("Z"), prepare="javac Work.java"),
    Program("node", "node", "node work.js"),
    Program("go", "go", "./gowork", version="go version", prepare="go build -ldflags=-linkmode=external -o gowork work.go"),
    Program("go build", "go", "GOCACHE=$PWD/cache go build -o gowork2 work.go", version="go version"),
    Program("perl", "perl", "perl work.pl", quick=True),
    Program("ruby", "ruby", "ruby work.rb"),
    Program("guile", "guile", "guile --no-auto-compile work.scm"),
    Program("R", "Rscript", "Rscript work.R"),
    Program("luajit", "luajit", "luajit work.lua", version="luajit -v"),
    Program("php", "php", "php -d memory_limit=1G work.php"),
    Program("gawk", "gawk", "gawk '{ for (i = 1; i <= NF; i++) n[$i]++ } END { for (w in n) s += n[w]; print s }' text.txt"),
    Program("g++", "g++", "g++ -O2 -c work.cpp -o work.o", quick=True),
    Program("gcc -flto", "g++", "g++ -O2 -flto=2 work.cpp -o lto"),
    Program("make -j4", "make gcc", "rm -f o/*.o; make -s -j4 -C o", version="make --version",
            prepare="mkdir -p o; for i in 1 2 3 4 5 6 7 8; do cp work.cpp o/a$i.cpp; done;"
            " printf 'all: $(patsubst %%.cpp,%%.o,$(wildcard *.cpp))\\n' >o/Makefile"),
    Program("rustc", "rustc", "rustc -O work.rs -o rwork"),
    Program("git", "git", f"rm -rf clone.git; git clone -q --bare --no-hardlinks {ROOT} clone.git;"
            " git -C clone.git log --oneline --stat -n 300 >log; git -C clone.git grep -c static HEAD >g"),
    Program("git repack", "git", "git -C repack.git repack -q -a -d -f --threads=4 --depth=20 --window=5",
            prepare=f"rm -rf repack.git; git clone -q --bare --no-hardlinks --depth 60 file://{ROOT} repack.git"),
    Program("sqlite3", "sqlite3", "sqlite3 :memory: 'create table t(a integer primary key, b text, c real);"
            " with recursive n(x) as (select 1 union all select x + 1 from n where x < 300000)"
            " insert into t select x, hex(x * 7919), x * 0.5 from n; create index i on t(b);"
            " select count(*), sum(c) from t where b > \"5\";"
            " select substr(b, 1, 2), avg(c) from t group by 1 order by 2 limit 5;'", quick=True),
    Program("redis-server", "redis-server redis-benchmark redis-cli", "redis-server --port 36379 --save '' --appendonly no"
            " --io-threads 2 >redis.log & sleep 1; redis-benchmark -q -p 36379 -n 60000 -r 100000 -d 200 -t set,get,lpush,hset;"
            " redis-cli -p 36379 shutdown nosave; wait"),
    Program("postgres", "runuser pgbench", "runuser -u postgres -- sh -c 'cd db && B=$(ls -d /usr/lib/postgresql/*/bin | tail -1) &&"
            " $B/pg_ctl -s -w -D d -o \"-k $PWD -p 35432\" -l l start && pgbench -h $PWD -p 35432 -q -i -s 3 postgres &&"
            " pgbench -h $PWD -p 35432 -c 4 -j 2 -T 2 postgres; $B/pg_ctl -s -D d stop'", version="pgbench --version",
            prepare="B=$(ls -d /usr/lib/postgresql/*/bin | tail -1); chmod 755 .; rm -rf db; mkdir db; chown postgres db;"
            " runuser -u postgres -- $B/initdb -D db/d >/dev/null"),
    Program("openssl speed -multi", "openssl", "openssl speed -multi 2 -seconds 1 sha256", version="openssl version"),
    Program("ImageMagick", "convert", "convert -limit thread 4 -size 1600x1200 plasma:fractal -blur 0x4 -resize 60% -rotate 17 out.png"),
    Program("ffmpeg", "ffmpeg", "ffmpeg -v error -y -f lavfi -i testsrc2=size=640x360:rate=25 -t 8 -c:v libx264"
            " -threads 4 -preset fast o.mp4", version="ffmpeg -version"),
    Program("stockfish", "stockfish", "stockfish bench 64 4 15 >out", version="echo quit | stockfish"),
    Program("mpirun", "mpirun mpicc", "mpirun --allow-run-as-root --oversubscribe -np 2 ./mpi", prepare="mpicc -O2 mpi.c -o mpi"),
    Program("bc", "bc", "echo 'scale=1400; 4*a(1); e(1)' | bc -l"),
]


def shell(command, folder, **more):
    env = dict(os.environ, PATH=PATH, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    return subprocess.run(["sh", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, text=True, errors="replace",
                          stderr=subprocess.PIPE, **more)


def version(program, folder):
    return shell(program.version + " 2>&1 | grep -v '^$' | head -n 1", folder, stdout=subprocess.PIPE).stdout.strip()[:60]


def files(folder):
    for name, text in FILES.items():
        with open(f"{folder}/{name}", "w") as f:
            f.write(text)
    with open(f"{folder}/text.txt", "w") as f:
        for i in range(700000):
            f.write(f"{i} {i * 2654435761 % 4294967296:x} {'word' * (i % 5)} line {i % 977}\n")
    with open(f"{folder}/data.bin", "wb") as f:
        for i in range(160):
            f.write((i.to_bytes(4, "little") * 64 + os.urandom(1792)) * 128)


def unready(program, folder):
    """Why it cannot be run here; empty if it can."""
    missing = [n for n in program.needs if shutil.which(n, path=PATH) is None]
    if missing:
        return ", ".join(missing) + " is not installed"
    done = shell(program.prepare or "true", folder, stdout=subprocess.DEVNULL)
    return done.stderr.strip()[-200:] or "it cannot be prepared" if done.returncode else ""


def findings(program, folder, trace):
    """The findings about a new recording, or a text that says why there is none."""
    shutil.rmtree(trace, ignore_errors=True)
    r = shell(f"exec {MEMTRACE} record -q -o {trace} -- sh -c {shlex.quote(program.command)}", folder, stdout=subprocess.DEVNULL)
    if r.returncode:
        return f"record ended with {r.returncode}: {r.stderr.strip()[-300:]}"
    a = shell(f"exec {MEMTRACE} advise -q --all --format json {trace}", folder, stdout=subprocess.PIPE)
    if "no accesses to import" in a.stderr:
        return []  # too little memory to be recorded
    return json.loads(a.stdout)["findings"] if a.returncode == 0 else a.stderr.strip()[-300:]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("-n", type=int, default=1)
    parser.add_argument("-k", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("programs", nargs="*")
    args = parser.parse_args()
    recorded = told = failed = 0
    with tempfile.TemporaryDirectory() as tmp:
        os.chmod(tmp, 0o755)
        os.environ["MEMTRACE_HOME"] = tmp + "/home"
        files(tmp)
        for program in PROGRAMS:
            if args.programs and program.name not in args.programs or args.quick and not program.quick:
                continue
            why = unready(program, tmp)
            if why:
                print(f"SKIPPED: {program.name}: {why}", flush=True)
                continue
            for run in range(args.n):
                trace = f"{args.k or tmp}/{re.sub('[^a-z0-9]+', '-', program.name.lower())}-{run}.memtrace"
                found = findings(program, tmp, trace)
                if isinstance(found, str):
                    failed += 1
                    print(f"{program.name}: FAILED, {found}", flush=True)
                    continue
                recorded += 1
                print(f"{program.name} | {version(program, tmp)} | {len(found)}", flush=True)
                for f in found:
                    accepted = (f["rule"], f["structures"][0]) in ACCEPTED.get(program.name, ())
                    told += not accepted
                    print(f"    {'accepted' if accepted else 'TOLD'} {f['rule']} of {', '.join(f['structures'][:4])} ({f['severity']},"
                          f" {f['confidence']}, {100 * f['weight']:.1f} %): {f['evidence']}", flush=True)
                if not args.k:
                    shutil.rmtree(trace, ignore_errors=True)
    print(f"{recorded} recordings, {told} findings that are not accepted, {failed} failed")
    return 1 if told or failed else 0


if __name__ == "__main__":
    sys.exit(main())
