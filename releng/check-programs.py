#!/usr/bin/env python3
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
"""
Runs programs of others alone and recorded, compares what they print, how they end and what they leave, and writes a table. By hand:

  releng/check-programs.py [-n RUNS] [-a "OPTIONS OF record"] [-o TABLE.md] [PROGRAM...]

Each runs in an empty folder, in turns alone and recorded with the defaults, RUNS times (1). A program that is not the same alone twice is
told as such. CPU time is that of the command with all that it waits for; recorded it has `record`, the monitors and the finish in it. What
is not installed is left out and named. -a: options of record. Ends with 1 when a program differs.
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

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MEMTRACE = os.environ.get("MEMTRACE", os.path.join(ROOT, "build/collector/memtrace"))
LIMIT_S = 240

# for what is compiled, interpreted, packed
FILES = {
    "a.c": """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
static void *work(void *arg)
{
    long sum = 0;
    for (int k = 0; k < 200; k++) {
        char *p = malloc(10000 + (size_t)k * 100);
        memset(p, k, 10000);
        for (int i = 0; i < 10000; i += 7)
            sum += p[i];
        free(p);
    }
    *(long *)arg = sum;
    return arg;
}
int main(void)
{
    pthread_t t[4];
    long s[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], 0, work, &s[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], 0);
    printf("%ld\\n", s[0] + s[1] + s[2] + s[3]);
    return 3;
}
""",
    "a.cc": """
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
int main()
{
    std::map<std::string, std::vector<int>> m;
    for (int i = 0; i < 100000; i++)
        m[std::to_string(i % 997)].push_back(i);
    long s = 0;
    std::thread t([&] { for (auto &e : m) for (int x : e.second) s += x; });
    t.join();
    try { throw std::runtime_error("caught"); } catch (std::exception &e) { std::cout << e.what() << s << std::endl; }
}
""",
    "a.rs": """
use std::collections::HashMap;
use std::thread;
fn main() {
    let hs: Vec<_> = (0..4).map(|k: u64| thread::spawn(move || {
        let mut m: HashMap<u64, Vec<u64>> = HashMap::new();
        for i in 0..50000u64 { m.entry(i % 1009).or_default().push(i * k); }
        m.values().map(|v| v.iter().sum::<u64>()).sum::<u64>()
    })).collect();
    println!("{:?}", hs.into_iter().map(|h| h.join().unwrap()).collect::<Vec<_>>());
}
""",
    "a.go": """
package main
import ("fmt"; "os/exec"; "sync")
func main() {
    var w sync.WaitGroup
    r := make([]int, 4)
    for k := range r {
        w.Add(1)
        go func(k int) { defer w.Done(); m := map[int][]int{}
            for i := 0; i < 50000; i++ { m[i%1009] = append(m[i%1009], i*k) }
            for _, v := range m { for _, x := range v { r[k] += x } } }(k)
    }
    w.Wait()
    out, err := exec.Command("echo", "child").Output()
    fmt.Println(r, string(out), err)
}
""",
    "A.java": """
import java.util.*;
import java.util.concurrent.*;
public class A {
    public static void main(String[] a) throws Exception {
        ExecutorService e = Executors.newFixedThreadPool(4);
        List<Future<Long>> f = new ArrayList<>();
        for (int k = 0; k < 4; k++) {
            final int n = k;
            f.add(e.submit(() -> {
                Map<Integer, List<Integer>> m = new HashMap<>();
                for (int i = 0; i < 300000; i++) m.computeIfAbsent(i % 1009, x -> new ArrayList<>()).add(i * n);
                long s = 0;
                for (List<Integer> v : m.values()) for (int x : v) s += x;
                return s;
            }));
        }
        for (Future<Long> x : f) System.out.println(x.get());
        e.shutdown();
    }
}
""",
    "a.f90": """
program a
  real(8) :: x(300,300), y(300,300)
  integer :: i, j
  do i = 1, 300
    do j = 1, 300
      x(i, j) = mod(i * j, 17)
    end do
  end do
  y = matmul(x, x)
  print *, sum(y)
end program
""",
    "a.ml": """
let () =
  let h = Hashtbl.create 100 in
  for i = 0 to 300000 do Hashtbl.replace h (i mod 5003) (string_of_int i :: (try Hashtbl.find h (i mod 5003) with Not_found -> [])) done;
  print_int (Hashtbl.fold (fun _ v s -> s + List.length v) h 0); print_newline ()
""",
    "mpi.c": """
#include <mpi.h>
#include <stdio.h>
int main(int c, char **v)
{
    int r, n, s;
    MPI_Init(&c, &v);
    MPI_Comm_rank(MPI_COMM_WORLD, &r);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Allreduce(&r, &s, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!r)
        printf("%d of %d\\n", s, n);
    return MPI_Finalize();
}
""",
    "Makefile": """
all: $(patsubst %,o%.o,1 2 3 4 5 6)
o%.o: a.c
\t@$(CC) -O2 -c -o $@ $<
""",
    "a.dot": "digraph { rankdir=LR; " + " ".join("n%d -> n%d;" % (i, (i * 7 + 3) % 60) for i in range(90)) + " }\n",
    "a.asm": "section .text\nglobal f\nf:\n" + "".join("mov eax, %d\n" % i for i in range(3000)) + "ret\n",
    "a.sql": "create table t(a, b); with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000) insert into t select i, i * i "
             "% 1000 from n; create index x on t(b); select count(*), sum(a) from t where b < 10;\n",
    "a.json": json.dumps([{"id": i, "name": "x" * (i % 20), "list": list(range(i % 30))} for i in range(8000)]),
    "words": "".join("%d %s\n" % (i * 7919 % 100003, "abcdefgh"[i % 8] * (i % 13 + 1)) for i in range(100000)),
    "a.tex": "\\documentclass{article}\\begin{document}" + "Some text of a document. " * 500 + "\\end{document}\n",
}

# name, command of bash, version (of the first line of "NAME --version" by default). $W is the folder with the files above.
PROGRAMS = [
    ("bash", "bash -c 'for i in {1..60}; do x=$(echo $i); done; for i in {1..20}; do (exit $i) & done; wait; echo $x'", None),
    ("dash", "dash -c 'i=0; while [ $i -lt 40 ]; do i=$((i+1)); x=$(echo $i); done; echo $x | cat'", "dpkg"),
    ("zsh", "zsh -fc 'typeset -A h; for i in {1..20000}; do h[$i]=$i; done; echo ${#h}; (exit 3) & wait; print -l **/*(N)'", None),
    ("mksh", "mksh -c 'i=0; while ((i < 20000)); do a[i]=$i; ((i++)); done; echo ${#a[*]}; x=$(echo hi | tr a-z A-Z); echo $x'", "dpkg"),
    ("fish", "fish --no-config -c 'for i in (seq 2000); set x $x $i; end; count $x; echo (echo hi | tr a-z A-Z)'", None),
    ("busybox", "busybox sh -c 'busybox seq 20000 | busybox sort -n | busybox tail -n 1; busybox md5sum $W/words'", "busybox"),
    ("sort", "sort --parallel=2 -S 8M -n $W/words | sha256sum", None),
    ("coreutils", "seq 200000 | shuf --random-source=$W/words | split -n l/4 - p; cat p* | wc -l; factor 1234567890123; cksum p*; rm p*", "ls"),
    ("find", "find /usr/share/doc -name 'c*' | head -n 1000 | sort | md5sum", None),
    ("xargs", "seq 60 | xargs -n 3 -P 4 sh -c 'echo $(($1 + $2))' _ | sort -n", None),
    ("grep", "grep -c -E '(abc|9{2,})' -r /usr/share/common-licenses $W/words | sort | md5sum", None),
    ("sed", "sed -E 's/([0-9]+) (.*)/\\2 \\1/;/a{5}/d' $W/words | md5sum", None),
    ("gawk", "gawk '{ c[$2] += $1 } END { n = asorti(c, k); for (i = 1; i <= n; i++) print k[i], c[k[i]] }' $W/words | md5sum", None),
    ("mawk", "mawk '{ c[$1 % 1000] += length($2) } END { for (i in c) s += c[i]; print s }' $W/words", "dpkg"),
    ("diff", "seq 40000 > a; seq 3 7 40000 > b; diff a b | md5sum; rm a b", None),
    ("bc", "echo 'scale=600; 4*a(1)' | bc -l", None),
    ("tar", "tar cf - --sort=name --mtime=@0 -C /usr/share/common-licenses . | tar tvf - | md5sum", None),
    ("cpio", "(cd /usr/share/common-licenses && find . -type f | sort | cpio -o --quiet --reproducible) | cpio -it --quiet | md5sum", None),
    ("gzip", "gzip -9n < $W/words | tee >(md5sum >&2) | gzip -dc | md5sum", None),
    ("bzip2", "bzip2 < $W/words | bzip2 -dc | md5sum", "dpkg"),
    ("xz", "xz -T2 --block-size=300KiB -3 < $W/words | xz -dc | md5sum", None),
    ("zstd", "zstd -q -T2 -12 < $W/words | zstd -q -dc | md5sum", None),
    ("lz4", "lz4 -q -9 < $W/words | lz4 -q -dc | md5sum", None),
    ("brotli", "brotli -q 6 < $W/words | brotli -dc | md5sum", None),
    ("pigz", "pigz -n -p 3 < $W/words | pigz -dc | md5sum", None),
    ("7z", "7z a -bd -bso0 -mmt2 x.7z $W/words && 7z x -so x.7z | md5sum; rm x.7z", "dpkg:p7zip-full"),
    ("zip", "cp $W/words w && zip -qX x.zip w && unzip -p x.zip | md5sum; rm x.zip w", "dpkg"),
    ("openssl", "openssl dgst -sha512 $W/words | tail -c 65; openssl enc -aes-256-cbc -K 00 -iv 00 -in $W/words 2>/dev/null | md5sum", "openssl"),
    ("gpg", "gpg --homedir . --batch --quiet --print-md SHA512 $W/words | tail -n 3; rm -rf *", None),
    ("perl", "perl -e 'my %h; $h{$_ * 7919 % 100003} .= \"x$_\" for 1 .. 100000; my $p = fork; exit 4 if !$p; waitpid $p, 0; print $? >> 8, \" \", "
             "scalar(keys %h), \" \", `echo child`'", "perl"),
    ("python3", "python3 -c 'import threading, subprocess, json; t = [threading.Thread(target=lambda: json.loads(json.dumps(list(range(50000))))) "
                "for _ in range(4)]; [x.start() for x in t]; [x.join() for x in t]; print(subprocess.run([\"echo\", \"x\"], capture_output=True))'", None),
    ("python3 multiprocessing", "python3 -W ignore -c 'import multiprocessing as m\ndef f(x): return sum(range(x))\nif __name__ == \"__main__\":\n "
                                "p = m.get_context(\"fork\").Pool(3); print(p.map(f, range(0, 20000, 997)))'", "python3"),
    ("numpy", "python3 -c 'import numpy as n; a = n.arange(360000.).reshape(600, 600) % 17; print((a @ a).sum(), n.linalg.svd(a[:80, :80])[1][:2]."
              "round(6), n.sort(a.ravel())[::9999].sum())'", "numpy"),
    ("ruby", "ruby -e 't = 4.times.map { |k| Thread.new { (0..60000).map { |i| (i * k).to_s }.join.size } }; p t.map(&:value); p `echo hi`; "
             "exit fork { exit 5 }.then { |q| Process.wait q; $?.exitstatus }'", None),
    ("lua", "lua5.4 -e 'local t = {} for i = 1, 300000 do t[i % 5000 + 1] = { i, tostring(i) } end local s = 0 for k, v in pairs(t) do s = s + v[1] end "
            "print(s, io.popen(\"echo hi\"):read())'", "dpkg:lua5.4"),
    ("luajit", "luajit -e 'local t = {} for i = 1, 600000 do t[i % 5000 + 1] = { i, tostring(i) } end local s = 0 for k, v in pairs(t) do s = s + v[1] "
               "end print(s)'", "luajit"),
    ("tclsh", "echo 'for {set i 0} {$i < 100000} {incr i} {lappend a([expr $i % 100]) $i}; puts [array size a]; puts [exec echo hi]' | tclsh", "dpkg:tcl"),
    ("php", "php -r '$a = []; for ($i = 0; $i < 200000; $i++) $a[$i % 5000][] = \"$i\"; echo count($a), shell_exec(\"echo hi\");'", None),
    ("guile", "guile --no-auto-compile -c '(define (f n) (if (= n 0) (quote ()) (cons n (f (- n 1))))) (display (apply + (map (lambda (i) (length (f "
              "i))) (f 1000)))) (newline)'", None),
    ("sbcl", "sbcl --noinform --non-interactive --no-userinit --eval '(let ((h (make-hash-table :test (quote equal)))) (dotimes (i 200000) (push i "
             "(gethash (format nil \"~a\" (mod i 500)) h))) (gc :full t) (print (hash-table-count h)))'", None),
    ("clisp", "clisp -norc -x '(let ((h (make-hash-table))) (dotimes (i 50000) (push i (gethash (mod i 500) h))) (print (hash-table-count h)))' | tail -n 3",
     None),
    ("swipl", "swipl -q -g 'numlist(1, 100000, L), foldl([X, A, B]>>(B is A + X), L, 0, S), print(S), nl, thread_create(true, T), thread_join(T), halt'",
     None),
    ("racket", "racket -e '(for/sum ([i 300000]) (string-length (number->string i)))'", None),
    ("erl", "erl -noshell -eval 'L = [spawn_monitor(fun() -> lists:sum(lists:seq(1, 20000)) end) || _ <- lists:seq(1, 200)], "
            "[receive {_, R, _, _, _} -> ok end || {_, R} <- L], io:format(\"~p~n\", [length(L)]), halt().'", "dpkg:erlang-base"),
    ("ocaml", "ocaml $W/a.ml", None),
    ("ocamlopt", "cp $W/a.ml . && ocamlopt -o a a.ml 2>/dev/null && ./a; rm -f a*", None),
    ("ghc", "echo 'main = print (sum (map (\\x -> x * x) [1 .. 300000 :: Integer]))' > a.hs && ghc -v0 a.hs && ./a; rm -f a*", None),
    ("R", "Rscript --vanilla -e 'set.seed(1); x <- matrix(rnorm(90000), 300); print(round(sum(svd(x)$d), 6)); print(summary(lm(x[,1] ~ x[,2]))$r.squared)'",
     None),
    ("octave", "octave-cli --quiet --no-init-file --eval 'a = reshape(mod(1:90000, 17), 300, 300); disp(sum(svd(a)) > 0); disp(sum(sum(a * a)))'", None),
    ("julia", "julia --startup-file=no -e 'println(sum(i^2 for i in 1:1000))'", None),
    ("node", "node -e 'const a = []; for (let i = 0; i < 300000; i++) a.push({ i }); const { Worker } = require(\"worker_threads\"); const w = new "
             "Worker(\"require(\\\"worker_threads\\\").parentPort.postMessage(7)\", { eval: true }); w.on(\"message\", m => { console.log(m, a.length); "
             "require(\"child_process\").exec(\"echo child\", (e, o) => { console.log(o.trim()); process.exitCode = 3; }); })'", None),
    ("java serial", "javac -d . $W/A.java && java -XX:+UseSerialGC -Xmx256m -cp . A; rm *.class", "java"),
    ("java parallel", "javac -d . $W/A.java && java -XX:+UseParallelGC -Xmx256m -cp . A; rm *.class", "java"),
    ("java g1", "javac -d . $W/A.java && java -XX:+UseG1GC -Xmx256m -cp . A; rm *.class", "java"),
    ("java z", "javac -d . $W/A.java && java -XX:+UseZGC -Xmx256m -cp . A; rm *.class", "java"),
    ("java shenandoah", "javac -d . $W/A.java && java -XX:+UseShenandoahGC -Xmx256m -cp . A; rm *.class", "java"),
    ("gcc", "gcc -O2 -pthread -o a $W/a.c && ./a; s=$?; rm a; exit $s", None),
    ("gcc -flto", "gcc -O3 -flto=2 -pthread -o a $W/a.c 2>&1 && ./a; s=$?; rm a; exit $s", "gcc"),
    ("g++", "g++ -O1 -pthread -o a $W/a.cc && ./a; s=$?; rm a; exit $s", None),
    ("clang", "clang -O2 -pthread -o a $W/a.c && ./a; s=$?; rm a; exit $s", None),
    ("tcc", "tcc -pthread -o a $W/a.c && ./a; s=$?; rm -f a; exit $s", "dpkg"),
    ("gfortran", "gfortran -O2 -o a $W/a.f90 && ./a; rm a", None),
    ("rustc", "rustc -O -o a $W/a.rs && ./a; rm a", None),
    ("go", "cp $W/a.go . && GOCACHE=$PWD/c GO111MODULE=off go build -o a a.go && ./a; rm -rf a a.go c", "go"),
    ("nasm", "nasm -f elf64 -o a.o $W/a.asm && md5sum < a.o; rm a.o", "nasm"),
    ("ld, nm, objdump", "gcc -c -O2 -o a.o $W/a.c && nm a.o && objdump -d a.o | md5sum && strip a.o && ls; rm a.o", "ld"),
    ("make -j", "cp $W/Makefile $W/a.c . && make -j3 && ls; rm -f *", "make"),
    ("cmake", "cp $W/a.c . && printf 'cmake_minimum_required(VERSION 3.5)\\nproject(p C)\\nfind_package(Threads)\\nadd_executable(a a.c)\\n"
              "target_link_libraries(a Threads::Threads)\\n' > CMakeLists.txt && cmake -S . -B b > /dev/null && make -s -C b > /dev/null && b/a; s=$?; "
              "rm -rf *; exit $s", None),
    ("ninja", "cp $W/a.c . && printf 'rule cc\\n command = gcc -c -O1 -o $out $in\\nbuild a.o: cc a.c\\nbuild b.o: cc a.c\\n' > build.ninja && ninja "
              "--quiet && ls; rm -rf * .ninja*", None),
    ("bison, flex, m4", "printf '%%%%\\na+ { return 1; }\\n%%%%\\n' > a.l && flex -o a.c a.l && md5sum < a.c; m4 -DX=5 <<< 'X eval(X*7)'; rm a.l a.c", "flex"),
    ("git", "export GIT_CONFIG_NOSYSTEM=1 HOME=$PWD GIT_AUTHOR_DATE=@0 GIT_COMMITTER_DATE=@0; git init -q -b main r && cd r && git config user.name A && git "
            "config user.email a@b && for i in 1 2 3; do seq $((i * 3000)) > f; git add f; git commit -qm $i; done; git log --stat --format=%H; git gc "
            "-q; git fsck; cd ..; rm -rf r", None),
    ("sqlite3", "sqlite3 x.db < $W/a.sql; sqlite3 x.db 'pragma integrity_check'; rm x.db", "sqlite3"),
    ("redis", "redis-server --port 0 --unixsocket $PWD/s --save '' --dir $PWD --daemonize no > log & p=$!; while ! redis-cli -s s ping 2> /dev/null | grep -q PONG; "
              "do sleep 0.1; done; for i in 1 2 3; do redis-cli -s s eval 'for i = 1, 20000 do redis.call(\"set\", i, i) end return redis.call(\"dbsize\")' 0; done; "
              "redis-cli -s s bgsave > /dev/null; redis-cli -s s shutdown nosave; wait $p; rm -f log s *.rdb", "redis-server"),
    ("postgres", "chown postgres . && exec setpriv --reuid postgres --regid postgres --clear-groups bash -c 'b=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1); "
                 "$b/initdb -D d -N --no-locale > /dev/null 2>&1 && $b/pg_ctl -s -w -D d -o \"-k $PWD -h \\\"\\\"\" -l log start && psql -h $PWD -d postgres -Atc "
                 "\"create table t as select i, i * 7 % 1000 as b from generate_series(1, 100000) i; create index on t(b); select count(*), sum(i) from t "
                 "where b < 10\"; $b/pg_ctl -s -w -D d -m fast stop; rm -rf d log'", "psql"),
    ("mariadb", "mariadb-install-db --datadir=$PWD/d --user=root --auth-root-authentication-method=normal > /dev/null 2>&1; mariadbd --user=root --datadir=$PWD/d --socket=$PWD/s "
                "--skip-networking > log 2>&1 & p=$!; for i in $(seq 300); do mariadb -S s -e 'select 1' > /dev/null 2>&1 && break; sleep 0.2; done; mariadb -S s -Ne "
                "'create database x; use x; create table t (a int primary key auto_increment, b int); insert into t (b) select seq * 7 % 1000 from "
                "seq_1_to_20000; select count(*), sum(b) from t'; mariadb-admin -S s shutdown; wait $p; rm -rf d log s", "mariadbd"),
    ("nginx", "printf 'daemon off; worker_processes 2; pid p; error_log l; events {} http { access_log off; server { listen unix:s; location / { return 200 "
              "hello; } } }' > c; nginx -p $PWD -c c 2> /dev/null & p=$!; while [ ! -e s ]; do sleep 0.1; done; for i in 1 2 3 4 5; do curl -s --unix-socket s http://x/; done; kill "
              "-QUIT $p; wait $p; echo \" $?\"; rm -rf *", "nginx"),
    ("memcached", "memcached -u root -s $PWD/s -t 4 & p=$!; while [ ! -e s ]; do sleep 0.1; done; printf 'set a 0 0 2\\r\\nhi\\r\\nget a\\r\\nquit\\r\\n' | curl -s "
                  "--max-time 5 telnet://x --unix-socket s -o o; kill $p; wait $p; echo $?; cat o; rm -f s o", None),
    ("haproxy", "printf 'global\\n maxconn 100\\ndefaults\\n mode http\\n timeout client 5s\\n timeout server 5s\\n timeout connect 5s\\nfrontend f\\n bind "
                "unix@s\\n http-request return status 200 content-type text/plain string hi\\n' > c; haproxy -f c -q & p=$!; while [ ! -e s ]; do sleep 0.1; done; curl -s "
                "--unix-socket s http://x/; kill -USR1 $p; wait $p; echo \" $?\"; rm -f c s", "haproxy -v"),
    ("curl", "curl -s file://$W/words | md5sum; curl -s http://127.0.0.1:9/; echo $?", None),
    ("rsync", "rsync -a $W/ d/ && rsync -ac --stats $W/ d/ | head -n 4; rm -rf d", None),
    ("ssh-keygen", "ssh-keygen -q -t ed25519 -N '' -f k && ssh-keygen -y -f k > p && cut -d' ' -f1-2 k.pub | diff - <(cut -d' ' -f1-2 p) && echo same; rm k* p",
     "ssh -V"),
    ("ffmpeg", "ffmpeg -v error -f lavfi -i testsrc=size=320x240:rate=10:duration=2 -threads 2 -c:v mpeg4 -bitexact -flags bitexact -f avi - | md5sum",
     "ffmpeg -version"),
    ("imagemagick", "convert -size 600x450 gradient:red-blue -blur 0x3 -resize 50% rgb:- | md5sum", "convert"),
    ("sox", "sox -R -D -n -r 8000 -b 16 a.wav synth 2 sine 300 && sox -R -D a.wav -t raw - speed 1.1 | md5sum; rm a.wav", None),
    ("graphviz", "dot -Tsvg $W/a.dot | md5sum", "dot -V"),
    ("gnuplot", "gnuplot -e 'set terminal svg; plot [0:10] sin(x)' | grep -v '^<desc' | md5sum", None),
    ("groff", "groff -Tutf8 -man <(gzip -dc /usr/share/man/man1/ls.1.gz 2> /dev/null || echo .TH X 1) | md5sum", None),
    ("jq", "jq 'map(.list | add // 0) | add' $W/a.json; jq -c '.[100:103]' $W/a.json | md5sum", None),
    ("vim", "cp $W/words w && vim -es -u NONE -c '%s/a/b/g' -c 'sort n' -c 'wq' w; md5sum < w; rm w", None),
    ("emacs", "emacs -Q --batch --eval '(let ((s 0)) (dotimes (i 100000) (setq s (+ s (length (number-to-string i))))) (print s))'", None),
    ("tmux", "tmux -S s -f /dev/null new-session -d 'echo hi > o; sleep 0.2'; while [ ! -s o ]; do sleep 0.1; done; cat o; while tmux -S s ls > /dev/null 2>&1; do sleep "
             "0.1; done; rm -f o s", "tmux -V"),
    ("script", "script -qec 'stty size; echo hi' /dev/null < /dev/null", None),
    ("gdb", "gcc -g -pthread -o a $W/a.c && gdb -q -nx -batch -ex 'break work' -ex run -ex 'print sum' -ex delete -ex continue ./a 2>&1 | grep -v -e 'Thread "
            "0x' -e LWP -e '^$' -e libthread -e 'arg=0x' -e Breakpoint -e Inferior; rm a", None),
    ("strace", "strace -f -e trace=clone3,execve -o o sh -c 'echo hi; /bin/true' ; grep -c execve o; rm o", None),
    ("valgrind", "valgrind -q --error-exitcode=9 /bin/ls / > /dev/null; echo $?", None),
    ("bwrap", "bwrap --ro-bind / / --dev /dev --proc /proc --unshare-all --die-with-parent bash -c 'seq 3 | sort -r; hostname'", None),
    ("unshare", "unshare -Urm sh -c 'id -u; mount -t tmpfs x /mnt && echo mounted'", None),
    ("qemu-user", "qemu-x86_64 /bin/busybox seq 3 2>&1 | tail -n 2", "qemu-x86_64"),
    ("mpirun", "mpicc -o m $W/mpi.c && mpirun --allow-run-as-root --oversubscribe -n 3 ./m; rm m", None),
    ("parallel", "parallel --will-cite -k -j3 'echo {} | md5sum' ::: 1 2 3 4 5 6 7 8", None),
    ("dpkg", "dpkg-query -W -f '${Package}\\n' | head -n 200 | md5sum; dpkg --verify dash", None),
    ("apt", "apt-cache policy bash | head -n 3; apt-cache depends gcc | head -n 5", None),
    ("perf", "perf stat -x, -e task-clock true 2>&1 | cut -d, -f3", None),
    ("stress-ng", "stress-ng -q --vm 1 --vm-bytes 8M --vm-ops 20 --fork 1 --fork-ops 40 --mmap 1 --mmap-bytes 2M --mmap-ops 2 --verify; echo $?", None),
    ("sysbench", "sysbench memory --memory-total-size=20M --threads=2 run | grep -o '^Total operations: [0-9]*'", None),
    ("jemalloc", "gcc -pthread -o a $W/a.c && LD_PRELOAD=libjemalloc.so.2${LD_PRELOAD:+:$LD_PRELOAD} ./a; rm a", "dpkg:libjemalloc2"),
    ("tcmalloc", "gcc -pthread -o a $W/a.c && LD_PRELOAD=libtcmalloc_minimal.so.4${LD_PRELOAD:+:$LD_PRELOAD} ./a; rm a", "dpkg:libtcmalloc-minimal4"),
    ("mimalloc", "gcc -pthread -o a $W/a.c && LD_PRELOAD=libmimalloc.so.2${LD_PRELOAD:+:$LD_PRELOAD} ./a; rm a", "dpkg:libmimalloc2.0"),
    ("static", "gcc -static -pthread -o a $W/a.c && ./a; rm a", "gcc"),
    ("address sanitizer", "gcc -fsanitize=address -pthread -o a $W/a.c && ./a; s=$?; rm a; exit $s", "gcc"),
    ("thread sanitizer", "gcc -fsanitize=thread -pthread -o a $W/a.c && setarch -R ./a; s=$?; rm a; exit $s", "gcc"),
]


def version_of(name, how):
    first = name.split(",")[0].split()[0]
    if how == "numpy":
        command = [sys.executable, "-c", "import numpy; print(numpy.__version__)"]
    elif how and how.startswith("dpkg"):
        command = ["dpkg-query", "-W", "-f", "${Version}", how[5:] or first]
    else:
        words = (how or first).split()
        command = words if len(words) > 1 else [words[0], "version" if words[0] in ("go", "openssl") else "-v" if words[0] in ("luajit", "nginx") else "--version"]
    try:
        p = subprocess.run(command, capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    m = re.search(r"\d+(\.\d+)+[-+~.\w]*", p.stdout + p.stderr)
    return m.group(0) if m else ""


def fingerprint(folder):
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
            return "%s %s instead of %s" % (name, str(b)[:90], str(a)[:90])
        return None


def traced(trace):
    """What of a recording has accesses: (share of CPU time, text)."""
    try:
        with open(os.path.join(trace, "manifest.json")) as f:
            m = json.load(f)
    except (OSError, ValueError):
        return "no trace", ""
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
    reasons = sorted(r for r in reasons if r and "little memory" not in r)
    return text, "; ".join(reasons)[:160]


def judge(name, command, runs, options, files):
    env = dict(os.environ, LC_ALL="C.UTF-8", TZ="UTC", W=files, OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="2", SOURCE_DATE_EPOCH="0")
    env.pop("LD_PRELOAD", None)
    # the same name for both: programs print it
    base = tempfile.mkdtemp(prefix="programs.")
    os.chmod(base, 0o755)
    folder, cpu, wall = os.path.join(base, "run"), [], []
    verdict, share = "equal", ("", "")
    try:
        def run(recorded):
            shutil.rmtree(folder, ignore_errors=True)
            shutil.rmtree(os.path.join(base, "trace"), ignore_errors=True)
            shell = ["bash", "-c", command]
            return Run([MEMTRACE, "record", "--quiet", *options, "-o", os.path.join(base, "trace"), "--", *shell] if recorded else shell, env, folder)

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
    finally:
        shutil.rmtree(base, ignore_errors=True)
    pick = [statistics.median(x[i] for x in t) for t in (cpu, wall) for i in (0, 1)]
    return verdict, pick, share


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-n", "--runs", type=int, default=1)
    p.add_argument("-a", "--options", default="")
    p.add_argument("-o", "--output")
    p.add_argument("programs", nargs="*")
    args = p.parse_args()
    files = tempfile.mkdtemp(prefix="programs-files.")
    os.chmod(files, 0o755)
    for name, text in FILES.items():
        with open(os.path.join(files, name), "w") as f:
            f.write(text)
    rows, absent, count = [], [], {"equal": 0, "different": 0, "not comparable": 0}
    for name, command, version in PROGRAMS:
        if args.programs and name not in args.programs:
            continue
        tool = {"coreutils": "ls", "numpy": "python3", "imagemagick": "convert", "graphviz": "dot", "redis": "redis-server", "mariadb": "mariadbd", "lua": "lua5.4", "R": "Rscript",
                "postgres": "psql", "qemu-user": "qemu-x86_64", "octave": "octave-cli", "jemalloc": "gcc", "tcmalloc": "gcc", "mimalloc": "gcc", "static": "gcc", "address": "gcc",
                "thread": "gcc", "apt": "apt-cache"}.get(name.split()[0].rstrip(","), name.split()[0].rstrip(","))
        if name in ("jemalloc", "tcmalloc", "mimalloc") and not version_of(name, version):
            absent.append(name)
            continue
        if not shutil.which(tool):
            absent.append(name)
            continue
        verdict, (cpu_a, cpu_b, wall_a, wall_b), (share, reason) = judge(name, command, args.runs, shlex.split(args.options), files)
        kind = "equal" if verdict == "equal" else "different" if verdict.startswith("DIFFERENT") else "not comparable"
        count[kind] += 1
        row = [name, version_of(name, version), verdict, "%.2f" % cpu_a, "%.2f" % cpu_b, "%.1f" % (cpu_b / max(cpu_a, 0.01)), "%.1f" % (wall_b / max(wall_a, 0.01)),
               share, reason]
        rows.append(row)
        print(" | ".join(row), flush=True)
    shutil.rmtree(files, ignore_errors=True)
    summary = "%d programs: %s; not installed: %s" % (len(rows), ", ".join("%d %s" % (n, k) for k, n in count.items()), ", ".join(absent) or "none")
    print(summary)
    if args.output:
        with open(args.output, "w") as f:
            f.write("| program | version | alone and recorded | CPU s alone | recorded | CPU ratio | wall ratio | traced | why not |\n|---|---|---|---|---|---|---|---|---|\n")
            for row in rows:
                f.write("| " + " | ".join(c.replace("|", "\\|") for c in row) + " |\n")
            f.write("\n" + summary + "\n")
    return count["different"] != 0


if __name__ == "__main__":
    sys.exit(main())
