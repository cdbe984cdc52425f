#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Real programs and small nasty ones, with and without memtrace: same stdout,
# same stderr, same status, same files in the working directory; and a trace
# that follows the format. Then killing of programs and recorders.
# Run by ../run.sh robustness; each case has a time limit.
#
# LIST=1 names the cases, ONLY=NAME runs one, and ONLY=NAME/PATTERN what in it has such a name (quirks/crash).
# BACKEND=none tests the launcher and the context library alone: what a trace
# contains is then not looked at.

tests=$(cd "$(dirname "$0")/.." && pwd)
. "$tests/lib.sh"
need_memtrace
need_programs fidelity quirks visits rawways forkstorm inject readfiles
export HOME=$work/home GIT_CONFIG_NOSYSTEM=1
mkdir "$HOME"
quirks=$bin/quirks
export quirks bin
backend=${BACKEND:-auto}

# check_trace NAME DIR [--killed]: opens and follows the format
check_trace() {
	local name=$1 trace=$2 killed=${3-}
	[ "$backend" != none ] || return 0
	if ! timeout 120 "$MEMTRACE" info "$trace" > "$work/info" 2>&1; then
		fail "$name: memtrace info"
		sed 's/^/    /' "$work/info"
		return 1
	fi
	if ! timeout 120 "$bin/fidelity" --format $killed "$trace" > "$work/format" 2>&1; then
		fail "$name: the trace does not follow the format"
		grep -v 'records$' "$work/format" | head -5 | sed 's/^/    /'
		return 1
	fi
}

# accesses TRACE: number of records in all images
accesses() {
	"$bin/fidelity" --format "$1" 2>/dev/null |
		awk '{ for (i = 2; i <= NF; i++) if ($i == "records") n += $(i - 1) } END { print n + 0 }'
}

# same NAME SECONDS command...: run it untraced and traced in fresh directories. SECONDS are enough
# on a machine that is not loaded. Each process of it is recorded; what a script starts a second time as by default,
# when small processes are only counted.
same() {
	local name=$1 limit=$2 dir=$work/$1 want begin
	shift 2
	wanted "$name" || return 0
	mkdir -p "$dir/plain"
	# the braces keep what this shell says about signals away from the report
	{
		begin=$SECONDS
		(cd "$dir/plain" && exec timeout -k 2 $((limit * 5)) "$@" > ../plain.out 2> ../plain.err < /dev/null)
		want=$?
		# for what hangs; a slow machine has shown above how slow it is
		limit=$((limit * 3 + (SECONDS - begin) * 30))
	} 2> /dev/null
	if [ $want = 124 ]; then
		fail "$name: the time limit is too short even without memtrace"
	else
		same_with "$name" 0 "$@"
		[ "$1" != bash ] || same_with "$name, small processes only counted" 1M "$@"
	fi
	[ -n "${KEEP:-}" ] || rm -rf "$dir"
}

# Part of same(): with --min-process SIZE.
same_with() {
	local name=$1 min=$2 trace=$dir/trace-$2 got
	shift 2
	rm -rf "$dir/traced"
	mkdir "$dir/traced"
	{
		(cd "$dir/traced" && exec timeout -k 2 "$limit" "$MEMTRACE" record --quiet --backend "$backend" --min-process $min \
			-o "$trace" -- "$@" > ../traced.out 2> ../traced.err < /dev/null)
		got=$?
	} 2> /dev/null
	if [ $got = 124 ] || { [ $got = 137 ] && [ $want != 137 ]; }; then
		fail "$name: traced, not done after $limit s (status $got)"
	elif [ $got != $want ]; then
		fail "$name: status $got instead of $want"
		tail -3 "$dir/traced.err" | sed 's/^/    /'
	elif ! cmp -s "$dir/plain.out" "$dir/traced.out"; then
		fail "$name: stdout differs"
		diff -a "$dir/plain.out" "$dir/traced.out" | head -5 | sed 's/^/    /'
	elif ! cmp -s "$dir/plain.err" "$dir/traced.err"; then
		fail "$name: stderr differs"
		diff -a "$dir/plain.err" "$dir/traced.err" | head -5 | sed 's/^/    /'
	elif [ "$(fingerprint "$dir/plain")" != "$(fingerprint "$dir/traced")" ]; then
		fail "$name: other files in the working directory"
		diff <(fingerprint "$dir/plain") <(fingerprint "$dir/traced") | head -5 | sed 's/^/    /'
	elif check_trace "$name" "$trace"; then
		# who dies by a signal takes the interval at that time with him, perhaps the only one
		if [ "$backend" = none ] || [ $want -ge 128 ] || [ $min != 0 ] || [ "$(accesses "$trace")" -gt 0 ]; then
			pass "$name"
		else
			fail "$name: there is no access in the trace"
		fi
	fi
}

# script NAME SECONDS [needed program...] < shell script
script() {
	local name=$1 limit=$2 file=$work/$1.sh p
	shift 2
	cat > "$file"
	for p; do
		if ! command -v "$p" > /dev/null; then
			wanted "$name" && skip "$name: there is no $p"
			return 0
		fi
	done
	same "$name" "$limit" bash "$file"
}

# ---- programs of Go ---------------------------------------------------------

# go_program NAME: the program in the input, the same alone and recorded.
go_program() {
	wanted "$1" || { cat > /dev/null; return; }
	command -v go > /dev/null || { cat > /dev/null; skip "$1: there is no go"; return; }
	mkdir -p "$work/$1.go"
	cat > "$work/$1.go/main.go"
	(cd "$work/$1.go" && GO111MODULE=off GOCACHE=$work/go-cache go build -o program main.go) > "$work/$1.go/log" 2>&1 ||
		fail "$1: $(head -3 "$work/$1.go/log")"
	[ ! -x "$work/$1.go/program" ] || same "$1" 30 "$work/$1.go/program"
	chmod -R u+w "$work/go-cache" 2> /dev/null
}

# a program that touches 100 MiB and waits for a file
need_ends() {
	cat > "$work/ends.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	char *p = malloc(100 << 20);

	for (int i = 0; i < 100 << 20; i += 4096)
		p[i] = 1;
	puts("ready");
	fflush(stdout);
	while (access(argv[argc - 1], F_OK))
		usleep(50000);
	return 0;
}
END
	gcc -O1 -o "$work/ends" "$work/ends.c"
}

cases robustness "$0"

## go-children: a program of Go that makes processes, also in namespaces of their own
go_program go-children <<'END'
package main

// #include <stdlib.h>
import "C"
import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

func main() {
	_ = C.malloc(1 << 20)
	memory := make([]byte, 1<<22)
	for i := range memory {
		memory[i] = 7
	}
	ends := map[string]int{}
	for k := 0; k < 16; k++ {
		c := exec.Command("/bin/sh", "-c", "exit 3")
		if k%2 == 0 {
			c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER,
				UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}}
		}
		ends[fmt.Sprint(c.Run())]++
	}
	wrong := 0
	for _, b := range memory {
		if b != 7 {
			wrong++
		}
	}
	fmt.Println(ends, wrong)
}
END

## go-memory: the runtime of Go takes memory that it gave back for zeroes
go_program go-memory <<'END'
package main

// #include <stdlib.h>
import "C"
import (
	"fmt"
	"runtime/debug"
	"sort"
	"strconv"
	"sync"
)

func main() {
	_ = C.malloc(1 << 20)
	var sums [4]int
	for round := 0; round < 8; round++ {
		var w sync.WaitGroup
		for k := range sums {
			w.Add(1)
			go func(k int) {
				defer w.Done()
				m := map[string]int{}
				for i := 0; i < 20000; i++ {
					m[strconv.Itoa(i*31+k)] = i
				}
				l := make([]string, 0, len(m))
				for s := range m {
					l = append(l, s)
				}
				sort.Strings(l)
				sums[k] += m[l[round]] + len(l)
			}(k)
		}
		w.Wait()
		debug.FreeOSMemory()
		for k := range sums {
			for _, b := range make([]int, 1<<16) {
				sums[k] += b
			}
		}
	}
	fmt.Println(sums)
}
END

## go-library: a library of Go that comes by dlopen(), and two of them
# The runtime gives memory back as that of a program does, and it starts programs.
go_library() {
	wanted "$1" || { cat > /dev/null; return; }
	command -v go > /dev/null || { cat > /dev/null; skip "$1: there is no go"; return; }
	mkdir -p "$work/$1.go"
	cat > "$work/$1.go/lib.go"
	cat > "$work/$1.go/host.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	char *p = malloc(4 << 20);
	int same = 1;

	memset(p, 3, 4 << 20);
	for (int i = 1; i < argc; i++) {
		void *h = dlopen(argv[i], RTLD_NOW);

		if (!h)
			return puts(dlerror()), 1;
		printf("%ld\n", ((long (*)(int))dlsym(h, "Work"))(6));
		printf("child %ld\n", ((long (*)(void))dlsym(h, "Child"))());
	}
	for (int i = 0; i < 4 << 20; i++)
		same &= p[i] == 3;
	printf("memory %d\n", same);
	return 0;
}
END
	(cd "$work/$1.go" && cc -O1 -o host host.c -ldl && export GO111MODULE=off GOCACHE=$work/go-cache &&
		go build -buildmode=c-shared -o first.so lib.go && cp first.so second.so) > "$work/$1.go/log" 2>&1 ||
		fail "$1: $(head -3 "$work/$1.go/log")"
	chmod -R u+w "$work/go-cache" 2> /dev/null
	[ -e "$work/$1.go/second.so" ] || return
	same "$1" 30 "$work/$1.go/host" "$work/$1.go/first.so"
	# two runtimes: only one of them can be looked after
	same "$1-two" 30 "$work/$1.go/host" "$work/$1.go/first.so" "$work/$1.go/second.so"
	case $backend in
	auto|zap)
		"$MEMTRACE" record --backend zap -o "$work/$1.trace" "$work/$1.go/host" "$work/$1.go/first.so" "$work/$1.go/second.so" 2>&1 |
			grep -q 'recorded only at its beginning: it has two Go runtimes' &&
			pass "$1: what cannot be recorded any more is told" || fail "$1: what cannot be recorded any more is not told"
		;;
	esac
}

go_library go-library <<'END'
package main

import "C"
import (
	"fmt"
	"os/exec"
	"runtime/debug"
	"sort"
	"strconv"
)

//export Work
func Work(rounds C.int) C.long {
	sum := 0
	for round := 0; round < int(rounds); round++ {
		m := map[string]int{}
		for i := 0; i < 20000; i++ {
			m[strconv.Itoa(i*31)] = i
		}
		l := make([]string, 0, len(m))
		for s := range m {
			l = append(l, s)
		}
		sort.Strings(l)
		sum += m[l[round]] + len(l)
		l, m = nil, nil
		debug.FreeOSMemory()
		for _, b := range make([]int, 1<<18) {
			sum += b
		}
	}
	return C.long(sum)
}

//export Child
func Child() C.long {
	return C.long(len(fmt.Sprint(exec.Command("/bin/sh", "-c", "exit 3").Run())))
}

func main() {}
END

# ---- processes that are made by instructions of the program ----------------

## raw: processes that a program makes by instructions of its own
if [ "$(uname -m)" = x86_64 ]; then
	for way in fork clone clone3 vfork stack thread tight number number-clone number-clone3; do
		same "raw-$way" 10 "$bin/rawways" "$way"
		# both processes are recorded
		case $way-$backend in
		*number*-zap|*number*-auto|tight-zap|tight-auto)
			wanted "raw-$way-recorded" || continue
			rm -rf "$work/raw.trace"
			"$MEMTRACE" record --quiet --backend zap -o "$work/raw.trace" "$bin/rawways" "$way" > "$work/raw.out" 2>&1
			got=$(grep -l '"backend": "zap"' "$work"/raw.trace/p*/image.json 2> /dev/null | wc -l)
			if [ "$got" = 2 ]; then
				pass "raw-$way: parent and child are recorded"
			else
				fail "raw-$way: $got images are recorded: $(grep -h '"message"' "$work"/raw.trace/p*/image.json) $(cat "$work/raw.out")"
			fi
			;;
		esac
	done
else
	skip "raw: the instructions are those of x86-64"
fi

# ---- forks beside threads ------------------------------------------------

## forks-beside-threads: forks while other threads map, protect, allocate and make threads, also when the recorder is slow at it
if wanted forks-beside-threads && [ "$backend" != none ]; then
	for copies in full none; do
		settings=(MEMTRACE_INTERVAL_NS=20000000 MEMTRACE_MIN_PROCESS=0 MEMTRACE_BACKEND=zap MEMTRACE_LIBRARY=traces MEMTRACE_RING_PAGES=8
			MEMTRACE_MAX_OVERHEAD_PPM=0 MEMTRACE_SUBPHASES=1 MEMTRACE_DIR="$work/storm" MEMTRACE_PARENT_IMAGE=-000000001
			LD_PRELOAD="$(dirname "$MEMTRACE")/libmemtrace-preload.so")
		storm=(3 20)
		# the first fork of a process is the only one that changes its memory
		[ $copies = full ] || { settings+=(MEMTRACE_FORK_COPY_MAX=0); storm=(20 1); }
		for call in none mmap fstat; do
			slow=()
			[ $call = none ] || slow=("$bin/inject" $call 1 -2500)
			rm -rf "$work/storm"
			mkdir "$work/storm" || exit 2
			timeout 300 "${slow[@]}" env "${settings[@]}" "$bin/forkstorm" "${storm[@]}" "$RANDOM" > "$work/storm.out" 2>&1
			case $? in
			0) pass "forks-beside-threads: copies: $copies, slow: $call" ;;
			126) skip "forks-beside-threads: slow: $call: $(head -1 "$work/storm.out")" ;;
			*) fail "forks-beside-threads: copies: $copies, slow: $call: $(head -3 "$work/storm.out")" ;;
			esac
		done
	done
fi

# ---- sanitizers -------------------------------------------------------------

## sanitizers: programs that were built with one, which bears no library or no thread of ours
for sanitizer in address leak thread undefined; do
	wanted "sanitizer-$sanitizer" || continue
	cat > "$work/$sanitizer.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
	char *p = malloc(4 << 20);
	int status;

	memset(p, 3, 4 << 20);
	if (!fork()) {
		memset(p, 4, 4 << 20);
		_exit(p[9]);
	}
	wait(&status);
	printf("%d %d\n", WEXITSTATUS(status), p[7]);
	free(p);
	return 7;
}
END
	if ! cc -g -fsanitize=$sanitizer -o "$work/$sanitizer" "$work/$sanitizer.c" 2> /dev/null; then
		skip "sanitizer-$sanitizer: cc cannot"
		continue
	fi
	# as a child, since a program that cannot be recorded is not even started
	same "sanitizer-$sanitizer" 20 sh -c "'$work/$sanitizer'; echo \$?"
	case $sanitizer in
	address|leak)
		"$MEMTRACE" record -o "$work/$sanitizer.trace" "$work/$sanitizer" > /dev/null 2> "$work/$sanitizer.err"
		if [ $? = 4 ] && grep -q 'was built with a sanitizer' "$work/$sanitizer.err"; then
			pass "sanitizer-$sanitizer: refused, and told why"
		else
			fail "sanitizer-$sanitizer: $(cat "$work/$sanitizer.err")"
		fi
		;;
	esac
done

## other-libc: programs of musl, whose loader ends them because of a library that needs glibc
if wanted other-libc; then
	cat > "$work/musl.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char *p = malloc(4 << 20);

	memset(p, 3, 4 << 20);
	printf("%d %s\n", p[7], getenv("LD_PRELOAD") ? "with a library" : "alone");
	fflush(stdout);
	if (argc > 1)
		execl(argv[argc - 1], "child", NULL);
	return 7;
}
END
	if musl-gcc -o "$work/musl" "$work/musl.c" 2> /dev/null; then
		printf '#!%s\n' "$work/musl" > "$work/musl-script"
		chmod +x "$work/musl-script"
		same other-libc 20 sh -c "'$work/musl' '$work/musl'; echo \$?; '$work/musl-script' /bin/uname"
		"$MEMTRACE" record -o "$work/musl.trace" "$work/musl" > /dev/null 2> "$work/musl.err"
		if [ $? = 4 ] && grep -q 'another C library' "$work/musl.err"; then
			pass "other-libc: refused, and told why"
		else
			fail "other-libc: $(cat "$work/musl.err")"
		fi
	else
		skip "other-libc: there is no musl-gcc"
	fi
fi

# ---- programs that people use ----------------------------------------------

## python-threads: eight threads of Python
script python-threads 20 python3 <<'END'
python3 -c '
import threading
total = [0] * 8
def work(i):
    data = list(range(20000))
    total[i] = sum(x * i for x in data)
ts = [threading.Thread(target=work, args=(i,)) for i in range(8)]
[t.start() for t in ts]; [t.join() for t in ts]
print(total)'
END
## python-processes: a pool of processes, pipes and fork in Python
# Python 3.12 and later count the threads of the process, the monitor too, and warn about fork (docs/how/collector-user.md)
script python-processes 30 python3 <<'END'
python3 -W ignore::DeprecationWarning -c '
import multiprocessing as m, subprocess, os
def f(x): return x * x + len(bytearray(100000))
if __name__ == "__main__":
    m.set_start_method("fork")
    with m.Pool(3) as p: print(p.map(f, range(20)))
    print(subprocess.run(["sh", "-c", "echo out; exit 3"], capture_output=True))
    r, w = os.pipe()
    if os.fork() == 0:
        os.write(w, b"child %d" % sum(range(1000))); os._exit(0)
    print(os.read(r, 100), os.wait()[1])'
END
## gcc: the compiler, and what it made
script gcc 30 gcc <<'END'
cat > a.c <<X
#include <stdio.h>
#include <math.h>
int main(int c, char **v) { double s = 0; for (int i = 0; i < 1000; i++) s += sin(i * c); printf("%.6f\n", s); return 17; }
X
gcc -O2 -Wall -Wextra -o a a.c -lm && rm a.c && ./a; s=$?; rm a; exit $s
END
## gcc-error: the compiler with a mistake in its input
script gcc-error 20 gcc <<'END'
echo 'int main(void) { return x; }' > b.c
gcc -c b.c
END
## g++: the compiler of C++, exceptions in what it made
script g++ 40 g++ <<'END'
cat > a.cc <<X
#include <vector>
#include <map>
#include <string>
#include <iostream>
#include <stdexcept>
int main() { std::map<std::string, std::vector<int>> m; for (int i = 0; i < 20000; i++) m[std::to_string(i % 100)].push_back(i);
  long s = 0; for (auto &e : m) for (int x : e.second) s += x;
  try { throw std::runtime_error("thrown and caught"); } catch (std::exception &e) { std::cout << e.what() << " " << s << std::endl; } }
X
g++ -O1 -o a a.cc && ./a; s=$?; rm -f a a.cc; exit $s
END
## git: a repository is made, packed and read
script git 30 git <<'END'
export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z'
git init -q -b main r && cd r
git config user.name A; git config user.email a@b
for i in 1 2 3; do seq $((i * 1000)) > f; git add f; git commit -qm "commit $i"; done
git log --stat --format=%H; git gc -q; git fsck; git show HEAD~1:f | tail -1
cd ..; rm -rf r
END
## sort: sort with threads in a pipe
script sort 20 <<'END'
seq 200000 | awk '{ print ($1 * 7919) % 200003, $1 }' | sort -n --parallel=2 -S 20M | md5sum
END
## xz: xz with threads
script xz 40 xz <<'END'
seq 400000 | xz -T2 --block-size=500KiB -3 | tee >(md5sum >&2) | xz -dc | md5sum
END
## gzip: gzip there and back
script gzip 20 gzip <<'END'
seq 300000 | gzip -9n | gzip -dc | md5sum
END
## openssl: sums and ciphers
script openssl 20 openssl <<'END'
seq 200000 > f
openssl dgst -sha512 f
openssl enc -aes-256-cbc -K 00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff \
	-iv 00112233445566778899aabbccddeeff -in f | openssl dgst -sha256
rm f
END
## perl: strings, pipes, fork
script perl 20 perl <<'END'
perl -e 'my %h; $h{$_ % 1000} .= $_ for 1..50000; my $n = 0; $n += length for values %h; print "$n\n";
	print `echo from backticks`; open(my $p, "-|", "seq 5") or die; print <$p>; close $p;
	my $pid = fork; if (!$pid) { exit 9 } waitpid $pid, 0; print $? >> 8, "\n"; exit 5'
END
## pipeline: pipes, jobs and exit codes of a shell
script pipeline 20 <<'END'
yes line | head -n 100000 | cat -n | sed 's/line/other/' | tr a-z A-Z | cut -c1-20 | uniq | tail -3
(echo a; echo b >&2; false) | cat; echo "${PIPESTATUS[@]}"
for i in $(seq 20); do (exit $i) & done; wait; x=$(echo $(echo nested)); echo $x
END
## tar: an archive of many files
script tar 20 tar <<'END'
mkdir d; for i in $(seq 50); do seq $i > d/$i; done
tar cf - --sort=name --mtime=@0 --owner=0 --group=0 d | md5sum; rm -r d
END
## sqlite: a database with an index
script sqlite 20 sqlite3 <<'END'
sqlite3 x.db 'create table t(a,b); with recursive n(i) as (select 1 union all select i+1 from n where i<20000)
	insert into t select i, i*i % 1000 from n; create index x on t(b); select count(*), sum(a) from t where b < 10;'
rm x.db
END
## node: JavaScript with a child
script node 40 node <<'END'
node -e 'const a = []; for (let i = 0; i < 200000; i++) a.push({i}); console.log(a.reduce((s, x) => s + x.i, 0));
	require("child_process").exec("echo child", (e, o) => { console.log(o.trim()); process.exitCode = 3; });'
END
## luajit: the unwind tables of its machine code make the unwinder of libgcc abort
script luajit 20 luajit <<'END'
luajit -e 'local t = {} for i = 1, 300000 do t[i % 5000 + 1] = { i, tostring(i) } end
	local s = 0 for k, v in pairs(t) do s = s + v[1] end print(s)'
END
## signals-in-the-loader: memory in a signal handler, whatever the loader is doing then
script signals-in-the-loader 30 gcc <<'END'
cat > plug.c <<X
static char data[300000] = { 1 }, zero[500000];
int plug(int k) { int s = 0; for (int i = 0; i < 300000; i += 4096) s += data[i] += k; zero[k] = 1; return s; }
X
cat > main.c <<X
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
static volatile long n;
static void tick(int s) { char *p = mmap(0, 8192, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); n += s; *p = 1; munmap(p, 8192); }
int main(void)
{
	struct sigaction sa = { .sa_handler = tick, .sa_flags = SA_RESTART };
	struct itimerval it = { { 0, 700 }, { 0, 700 } };
	sigaction(SIGALRM, &sa, 0);
	setitimer(ITIMER_REAL, &it, 0);
	for (int i = 0; i < 2000; i++) {
		char f[40];
		void *h, *block;
		snprintf(f, sizeof(f), "./plug%d.so", i % 3);
		h = dlopen(f, RTLD_NOW);
		if (((int (*)(int))dlsym(h, "plug"))(i % 7) == -1)
			puts("?");
		block = malloc(5000 + i);
		free(block);
		dlclose(h);
	}
	printf("%d\n", n > 10);
	return 0;
}
X
for i in 0 1 2; do gcc -O1 -shared -fPIC -o plug$i.so plug.c; done
gcc -O1 -o main main.c -ldl && ./main; s=$?; rm plug* main*; exit $s
END
## own-malloc: a program with an allocator of its own, which bears no calls before its main() (as that of GNU Common Lisp, in maxima)
if wanted own-malloc; then
	cat > "$work/own.c" <<'X'
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static char room[64 << 20];
static size_t used;
static int ready, frees;

void *malloc(size_t n)
{
	size_t *p = (size_t *)(room + used);

	used += (n + 31) & ~(size_t)15;
	*p = n;
	return p + 2;
}

void free(void *p)
{
	frees += p && !ready;
}

void *calloc(size_t n, size_t size)
{
	return memset(malloc(n * size), 0, n * size);
}

void *realloc(void *old, size_t n)
{
	void *p = malloc(n);

	if (old)
		memcpy(p, old, ((size_t *)old)[-2] < n ? ((size_t *)old)[-2] : n);
	return p;
}

int main(void)
{
	char text[] = "0 frees before main\n";

	ready = 1;
	text[0] += frees;
	write(1, text, sizeof(text) - 1);
	return 3;
}
X
	gcc -O1 -w -fno-builtin -o "$work/own" "$work/own.c" || fail "own-malloc: the program cannot be built"
	same own-malloc 10 "$work/own"
	same own-malloc 10 sh -c "'$work/own'; '$work/own'"
fi

## own-dlopen: beside a library that has a dlopen() of its own, as profilers have: it is not called for us (heaptrack waited for its own lock)
if wanted own-dlopen; then
	cat > "$work/opens.c" <<'X'
#include <unistd.h>

void *dlopen(const char *name, int flags)
{
	write(1, "dlopen\n", 7);
	return 0;
}

int dlclose(void *handle)
{
	write(1, "dlclose\n", 8);
	return 0;
}
X
	echo 'int main() { return 3; }' > "$work/does-not.c"
	gcc -O1 -w -shared -fPIC -o "$work/opens.so" "$work/opens.c" && gcc -o "$work/does-not" "$work/does-not.c" ||
		fail "own-dlopen: the program cannot be built"
	same own-dlopen 10 sh -c "LD_PRELOAD='$work/opens.so':\$LD_PRELOAD '$work/does-not'"
fi

## small-signal-stack: memory in a signal handler on the smallest stack that programs give it, with nothing below
script small-signal-stack 10 gcc <<'END'
cat > main.c <<X
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
static void handler(int s) { char *p = mmap(0, 8192, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); *p = (char)s; munmap(p, 8192); }
int main(void)
{
	char *m = mmap(0, 4096 + 65536, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* the kernel's part, and room for little */
	stack_t ss = { .ss_sp = m + 4096, .ss_size = getauxval(AT_MINSIGSTKSZ) ? getauxval(AT_MINSIGSTKSZ) + 2560 : 8192 };
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
	mprotect(m, 4096, PROT_NONE);
	sigaltstack(&ss, 0);
	sigaction(SIGUSR1, &sa, 0);
	raise(SIGUSR1);
	raise(SIGUSR1);
	puts("back");
	return 0;
}
X
gcc -O2 -Wl,-z,now -o main main.c && ./main; s=$?; rm main*; exit $s
END
## constructor-threads: a library whose constructor makes threads, with pthread_create, and with what nobody can come before
for kind in pthread thrd; do
	script constructor-threads-$kind 30 gcc <<'END'
cat > lib.c <<X
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <threads.h>
#include <unistd.h>
static volatile int stop;
static void use(void)
{
	char *p = mmap(0, 65536, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *q = malloc(200000), b[300];
	memset(p, 1, 8192);
	munmap(p, 65536);
	memset(q, 1, 200000);
	free(q);
	memset(b, 0, sizeof(b));
	volatile size_t n = strlen(b);
	(void)n;
}
#ifdef C11
static thrd_t t[4];
static int spin(void *a) { while (!stop) use(); return a != NULL; }
__attribute__((constructor)) static void begin(void) { for (int i = 0; i < 4; i++) thrd_create(t + i, spin, NULL); usleep(1000); }
void lib_end(void) { stop = 1; for (int i = 0; i < 4; i++) thrd_join(t[i], NULL); }
#else
static pthread_t t[4];
static void *spin(void *a) { while (!stop) use(); return a; }
__attribute__((constructor)) static void begin(void) { for (int i = 0; i < 4; i++) pthread_create(t + i, NULL, spin, NULL); usleep(1000); }
void lib_end(void) { stop = 1; for (int i = 0; i < 4; i++) pthread_join(t[i], NULL); }
#endif
X
cat > main.c <<X
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
void lib_end(void);
int main(void)
{
	char *p = malloc(8 << 20);
	long s = 0;
	memset(p, 1, 8 << 20);
	usleep(50000);
	for (int i = 0; i < 8 << 20; i += 4096)
		s += p[i];
	lib_end();
	printf("%ld\n", s);
	return 0;
}
X
case $0 in *thrd*) c11=-DC11 ;; esac
gcc -O1 -shared -fPIC -pthread $c11 -o libthreads.so lib.c && gcc -O1 -o main main.c -L. -lthreads -Wl,-rpath,"$PWD" && ./main
s=$?; rm lib* main*; exit $s
END
done
## gawk-bc: awk and bc
script gawk-bc 20 awk bc <<'END'
echo '2^2000 % 10^20' | bc; awk 'BEGIN { for (i = 0; i < 100000; i++) a[i] = i; print length(a) }'
END
## find-xargs: find, and xargs with two at a time
script find-xargs 20 <<'END'
find /usr/include -name '*.h' | sort | head -200 | xargs -n 20 -P 2 cat | wc -c
END
## make: make with two jobs
script make 30 make <<'END'
printf 'all: a b c\na b c:\n\t@sleep 0.05; echo $@ > $@\n' > Makefile
make -s -j2 && cat a b c; rm a b c Makefile
END
## crash-in-shell: a program that crashes in a shell
script crash-in-shell 10 <<'END'
exec 2> /dev/null; ulimit -c 0; "$quirks" crash; echo "status $?" ; (kill -9 $BASHPID); echo $?
END
## here-strings: here-strings, descriptors, traps and limits of a shell
script here-strings 10 <<'END'
read -r a b <<< "x y"; echo $b; exec 5> f; echo five >&5; exec 5>&-; cat f; rm f
trap 'echo trapped' USR1; kill -USR1 $$; ulimit -n 50; echo $(ulimit -n)
END
## many-processes: eighty processes
script many-processes 40 <<'END'
for i in $(seq 60); do /bin/true; done; echo $(for i in $(seq 20); do /bin/echo $i; done)
END
## read-only-directory: folders that cannot be written
script read-only-directory 10 <<'END'
cd /proc/self && ls -d task; cd /; pwd
END

## options: the same with other parameters of the recorder
if wanted options; then
	for o in "--interval 1ms" "--interval 10s" "--subphases 10 --interval 20ms" "--max-overhead 0.1 --interval 5ms" \
		"--compress" "--backend none" "--min-alloc 1 --stack-depth 64" "--min-static 1" \
		"--fine 5ms --fine-pages 512"; do
		rm -rf "$work/o"; mkdir "$work/o"
		# shellcheck disable=SC2086
		out=$(cd "$work/o" && timeout -k 2 300 "$MEMTRACE" record --quiet $o -o "$work/o/t" -- \
			python3 -c 'print(sum(len(str(i)) for i in range(100000)))' 2>&1)
		if [ "$out" = 488890 ] && check_trace "options $o" "$work/o/t"; then
			pass "options $o"
		else
			fail "options $o: $out"
		fi
	done
fi

## examples: the examples print the same check sums
# their check sums are on stdout, their times on stderr
make -s -C "$tests/../../examples" || fail "the examples do not build"
for e in "matmul naive -n 256" "matmul blocked -n 300 -t 3" "matmul modulo -n 256" "bucketsort dynamic -i 10" \
	"bucketsort cyclic -i 10 -t 3" "bucketsort fair -i 10" "stencil serial -n 48 -s 50" "stencil parallel -n 48 -s 50" \
	"falsesharing packed -m 20" "falsesharing page -m 20" "listwalk random -p 1" "listwalk ordered -p 1"; do
	same "${e// /-}" 20 sh -c "$BUILD/examples/$e 2> /dev/null"
done

# ---- small nasty programs ---------------------------------------------------

## quirks: small nasty programs, each of which does one thing that a recorder may stumble over
while read -r name status; do
	same "$name" 10 "$quirks" "$name"
done < <("$quirks" list)

## mapped-files: files that are mapped for reading, whatever becomes of such a mapping, also with looks all the time
while read -r name status; do
	same "$name" 20 "$bin/readfiles" "$name"
	wanted "$name" || continue
	"$bin/readfiles" "$name" > "$work/alone" 2>&1
	for looks in 1 3; do
		rm -rf "$work/fast"
		timeout -k 5 600 "$MEMTRACE" record --quiet --backend "$backend" --max-overhead 0 --interval 3ms --subphases $looks \
			-o "$work/fast" -- "$bin/readfiles" "$name" > "$work/fast.out" 2>&1
		got=$?
		if [ $got = "$status" ] && cmp -s "$work/alone" "$work/fast.out"; then
			pass "$name, $looks looks in 3 ms"
		else
			fail "$name, $looks looks in 3 ms: status $got: $(tail -n 3 "$work/fast.out")"
		fi
	done
done < <("$bin/readfiles" list)

## exit-codes: exit codes of programs are those of the command
if wanted exit-codes; then
	bad=
	for status in 0 1 2 3 4 5 77 99 124 125 126 127 128 129 130 200 254 255; do
		"$MEMTRACE" record --quiet --backend "$backend" -o "$work/e" -- "$quirks" exit $status > "$work/e.out" 2>&1
		got=$?
		[ $got = $status ] && [ ! -s "$work/e.out" ] || bad="$bad $status:$got"
		rm -rf "$work/e"
	done
	if [ -z "$bad" ]; then pass "exit codes"; else fail "exit codes (wanted:got)$bad"; fi
fi
## deaths: deaths by signals, also in the manifest
if wanted deaths; then
	# whoever runs the tests may ignore signals (nohup, a job in the background)
	bad=
	for signal in 1 2 3 4 6 7 8 9 10 11 12 13 14 15 24 31; do
		{
			(exec env --default-signal "$MEMTRACE" record --quiet --backend "$backend" -o "$work/e" -- "$quirks" raise $signal > "$work/e.out" 2>&1)
			got=$?
		} 2> /dev/null
		[ $got = $((128 + signal)) ] && [ ! -s "$work/e.out" ] || bad="$bad $signal:$got"
		[ -e "$work/e/manifest.json" ] && grep -Eq "\"signal\": *$signal\b" "$work/e/manifest.json" \
			|| bad="$bad $signal:manifest"
		rm -rf "$work/e"
	done
	if [ -z "$bad" ]; then pass "deaths by signal"; else fail "deaths by signal (wanted:got)$bad"; fi
fi
## not-found: programs that cannot be run
if wanted not-found; then
	"$MEMTRACE" record --quiet --backend "$backend" -o "$work/e" -- ./no-such-program > "$work/e.out" 2>&1
	got=$?
	touch "$work/plain-file"
	"$MEMTRACE" record --quiet --backend "$backend" -o "$work/e2" -- "$work/plain-file" > "$work/e2.out" 2>&1
	got2=$?
	printf '\177ELF' > "$work/no-program"
	printf 'exit 5\n' > "$work/text"
	chmod +x "$work/no-program" "$work/text"
	"$MEMTRACE" record --quiet --backend "$backend" -o "$work/e3" -- "$work/no-program" > "$work/e3.out" 2>&1
	got3=$?
	"$MEMTRACE" record --quiet --backend "$backend" -o "$work/e4" -- "$work/text" > "$work/e4.out" 2>&1
	got4=$?
	if [ $got = 127 ] && [ $got2 = 126 ] && [ $got3 = 126 ] && [ $got4 = 5 ] && [ "$(wc -l < "$work/e.out")" = 1 ]; then
		pass "programs that cannot be run"
	else
		fail "programs that cannot be run: status $got (127), $got2 (126), $got3 (126), $got4 (5), $(cat "$work/e.out")"
	fi
fi
## no-overwrite: no trace is overwritten
if wanted no-overwrite; then
	(cd "$work" && mkdir -p n && cd n && for i in 1 2; do "$MEMTRACE" record --quiet -- "$quirks" exit 0; done)
	count=$(ls "$work/n" | wc -l)
	before=$(fingerprint "$work/n")
	"$MEMTRACE" record --quiet --backend "$backend" -o "$work/n/quirks.memtrace" -- "$quirks" exit 0 > /dev/null 2>&1
	got=$?
	if [ "$count" = 2 ] && [ $got != 0 ] && [ "$before" = "$(fingerprint "$work/n")" ]; then
		pass "no trace is overwritten"
	else
		fail "no trace is overwritten: $count directories, status $got for an existing one"
	fi
fi
## stdin: standard input reaches the program
if wanted stdin; then
	out=$(seq 1000 | "$MEMTRACE" record --quiet --backend "$backend" -o "$work/stdin" -- wc -l)
	if [ "$out" = 1000 ]; then pass "stdin reaches the program"; else fail "stdin: '$out'"; fi
fi
## full-disk: a full disk: the program goes on, the reason is told
if wanted full-disk; then
	# thousands of pages, each at least once: of one block, and of thousands
	block="dd if=/dev/zero of=/dev/null bs=48M count=1 status=none"
	touch="awk BEGIN{for(i=0;i<900000;i++)a[i]=i}"
	# a small file system for the trace, when we may mount one
	mkdir "$work/small"
	if mount -t tmpfs -o size=700k tmpfs "$work/small" 2>/dev/null; then
		timeout -k 2 300 "$MEMTRACE" record -o "$work/small/t" -- $block 2>"$work/full.err"
		got=$?
		state=$("$MEMTRACE" info "$work/small/t" 2>/dev/null | grep '^Result')
		if [ $got = 0 ] && grep -q "small/t: No space left on device: .* accesses could not be written" "$work/full.err" &&
		   [[ $state == *"complete; exited with code 0; No space left on device"* ]] &&
		   [ -s "$work/small/t/p0000/structures.csv" ] && [ ! -e "$work/small/t/.reserve" ]; then
			pass "full disk: the program goes on, the reason is told, what was written is complete"
		else
			fail "full disk: status $got, $state: $(cat "$work/full.err")"
		fi
		rm -rf "$work/small/t"
		# thousands of blocks, and their accesses are written last: what is kept free is too small for their names
		timeout -k 2 300 "$MEMTRACE" record --interval 60s -o "$work/small/t" -- $touch 2>"$work/full.err"
		got=$?
		grep -q 'structures, call stacks and threads are not made yet; with room on the disk, "memtrace finish' "$work/full.err" || got="$got, not told"
		[ ! -s "$work/small/t/p0000/structures.csv" ] || got="$got, structures though there is no room"
		mount -o remount,size=4m "$work/small"
		"$MEMTRACE" finish -q "$work/small/t" 2>>"$work/full.err" || got="$got, finish: $?"
		state=$("$MEMTRACE" info "$work/small/t" 2>/dev/null | grep '^Result')
		if [ "$got" = 0 ] && [[ $state == *"No space left on device: "*" accesses could not be written"* ]] &&
		   [ "$(wc -l < "$work/small/t/p0000/structures.csv")" -gt 1000 ] && [ ! -e "$work/small/t/.reserve" ]; then
			pass "full disk: names of many blocks are made when there is room"
		else
			fail "full disk, many blocks: status $got, $state: $(cat "$work/full.err")"
		fi
		rm -rf "$work/small/t"
		mount -o remount,size=700k "$work/small"
		"$MEMTRACE" record --quiet -o "$work/small/t" -- sh -c 'exit 7' 2>/dev/null
		got=$?
		dd if=/dev/zero of="$work/small/fill" bs=1k count=500 2>/dev/null
		"$MEMTRACE" record -o "$work/small/u" -- touch "$work/started" 2>"$work/full.err"
		got2=$?
		if [ $got = 7 ] && [ $got2 = 1 ] && [ ! -e "$work/started" ] && [ ! -e "$work/small/u" ] &&
		   grep -q "no room for a recording" "$work/full.err"; then
			pass "full disk: nothing is started without room"
		else
			fail "full disk at the start: status $got, $got2: $(cat "$work/full.err")"
		fi
		umount "$work/small"
	else
		skip "full disk: no permission to mount a small file system"
	fi
	(ulimit -S -f 100; "$MEMTRACE" record -o "$work/limited" -- $touch) 2>"$work/full.err"
	got=$?
	if [ $got = 0 ] && grep -q "limited: File too large, a limit of the program (ulimit -f): .* could not be written" "$work/full.err"; then
		pass "limited size of files: the program goes on, the reason is told"
	else
		fail "limited size of files: status $got: $(cat "$work/full.err")"
	fi
fi

## descriptors: a program without descriptors, and folders that cannot be made
if wanted descriptors; then
	# a program that may open no file at all while it works, and again afterwards: nothing is wrong with the disk, and nothing is lost
	cat > "$work/descriptors.c" <<'END'
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

int main(void)
{
	struct rlimit old, none;
	struct timespec since, now;
	char *p = malloc(64 << 20);

	getrlimit(RLIMIT_NOFILE, &old);
	none = old;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_NOFILE, &none);
	clock_gettime(CLOCK_MONOTONIC, &since);
	do {
		for (size_t i = 0; i < 64 << 20; i += 4096)
			p[i]++;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - since.tv_sec < 2);
	setrlimit(RLIMIT_NOFILE, &old);
	for (size_t i = 0; i < 64 << 20; i += 4096)
		p[i]++;
	return 0;
}
END
	cc -O1 -o "$work/descriptors" "$work/descriptors.c" && timeout -k 2 300 "$MEMTRACE" record -o "$work/nofiles" -- "$work/descriptors" 2>"$work/full.err"
	got=$?
	if [ $got = 0 ] && ! grep -q "could not be written\|disk" "$work/full.err"; then
		pass "a program without descriptors: its exit code, and nothing is lost"
	else
		fail "a program without descriptors: status $got: $(cat "$work/full.err")"
	fi
	"$MEMTRACE" record -q -o /proc/none -- true 2>"$work/full.err"
	got=$?
	"$MEMTRACE" record -q -o "$work/none/none" -- true 2>>"$work/full.err"
	got2=$?
	if [ $got = 3 ] && [ $got2 = 3 ]; then
		pass "a folder that cannot be made is no mistake of the command line"
	else
		fail "a folder that cannot be made: status $got, $got2: $(cat "$work/full.err")"
	fi
fi

# ---- processes that are only counted ---------------------------------------------

## small: small processes are counted, and recorded when they grow
if [ "$backend" = auto ] || [ "$backend" = zap ]; then
	cat > "$work/grows.c" <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	long kib = argc > 1 ? atol(argv[1]) : 0;
	char *p = kib ? malloc((size_t)kib << 10) : NULL;

	if (p)
		memset(p, 1, (size_t)kib << 10);
	if (argc > 2 && !fork())	/* the child grows, not the parent */
		return execl(argv[0], argv[0], argv[2], NULL);
	wait(NULL);
	puts(p ? "grown" : "small");
	return 0;
}
END
	gcc -O1 -o "$work/grows" "$work/grows.c"
fi
# processes_of NAME "DESCRIPTION" IMAGES COUNTED: what is in trace $work/NAME
processes_of() {
	local trace=$work/$1 images counted text
	images=$(grep -l '"backend": "zap"' "$trace"/p*/image.json 2> /dev/null | wc -l)
	counted=$("$MEMTRACE" info --json "$trace" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["manifest"].get("unrecorded", {}).get("processes", 0))')
	text=$("$MEMTRACE" info "$trace" | grep "not recorded: ")
	if [ "$images" = "$3" ] && [ "${counted:-0}" = "$4" ] && { [ "$4" = 0 ] || [ -n "$text" ]; } && check_trace "$2" "$trace"; then
		pass "$2"
	else
		fail "$2: $images images instead of $3, ${counted:-0} counted instead of $4; $text"
	fi
}
if wanted small && [ -x "$work/grows" ]; then
	cd "$work" || exit 2
	export grows=$work/grows
	rec=("$MEMTRACE" record --quiet --backend zap)
	"${rec[@]}" -o small-1 -- sh -c 'for i in 1 2 3 4 5 6 7 8 9; do /bin/true; done' > /dev/null
	processes_of small-1 "small processes are counted" 0 9
	ls -d small-1/p* | grep -qv p0000 && fail "a small process has a directory"
	"${rec[@]}" -o small-2 -- sh -c '"$grows" 5000; "$grows" 20; (exit 3); (exec "$grows" 4000)' > small.out
	processes_of small-2 "what grows is recorded" 2 2
	[ "$(cat small-2/p000[12]/accesses-*.csv | wc -l)" -gt 2000 ] && pass "with its memory" || fail "what grew has no pages"
	"${rec[@]}" -o small-3 -- "$grows" 20 > small.out
	processes_of small-3 "the program itself is recorded, however small" 1 0
	"${rec[@]}" -o small-4 -- sh -c 'exec "$grows" 20' > small.out
	processes_of small-4 "and what it goes on as" 1 0
	"${rec[@]}" --min-process 0 -o small-5 -- sh -c '/bin/true; "$grows" 20; :' > small.out
	processes_of small-5 "without a limit all are recorded" 3 0
	"${rec[@]}" --skip 'grows$' -o small-6 -- sh -c '"$grows" 5000; seq 300000 | sort -n --parallel=2 -S 40M > /dev/null' > small.out
	processes_of small-6 "what is skipped is counted" 1 2
	"${rec[@]}" --follow '/grows$' -o small-7 -- sh -c '"$grows" 20; seq 300000 | sort -n --parallel=2 -S 40M > /dev/null; "$grows" 5000 30' > small.out
	processes_of small-7 "only what is followed is recorded" 4 2
	"${rec[@]}" -o small-8 -- sh -c '"$grows" 20 5000; :' > small.out
	processes_of small-8 "a child of a small process is recorded when it grows" 1 1
	"${rec[@]}" --follow '(' -o small-9 -- sh -c : 2> small.err
	[ $? = 2 ] && grep -q "'(' is no regular expression" small.err && [ ! -e small-9 ] && pass "a wrong pattern is refused" ||
		fail "a wrong pattern is not refused: $(cat small.err)"
	cd / || exit 2
fi

## brief: children that are over soon are counted, have what the parent had, and are recorded when they are more than that
brief_with() {
	local name=$1 images counted
	shift
	timeout 120 prlimit --data="$data_limit" "$MEMTRACE" record --quiet -o "$work/$name" "$@" -- "$bin/brief" > "$work/$name.out" 2> "$work/$name.err"
	if [ $? != 0 ] || ! cmp -s "$work/$name.out" "$work/brief.alone" || [ -s "$work/$name.err" ]; then
		fail "$name: $(diff "$work/brief.alone" "$work/$name.out" | head -3) $(head -3 "$work/$name.err")"
		return
	fi
	images=$(ls -d "$work/$name"/p* | wc -l)
	counted=$("$MEMTRACE" info --json "$work/$name" |
		python3 -c 'import json, sys; print(json.load(sys.stdin)["manifest"].get("unrecorded", {}).get("processes", 0))')
	if [ "$images" -lt "$wanted_images" ] || [ "$counted" -lt "$wanted_counted" ]; then
		fail "$name: $images images instead of $wanted_images or more, $counted counted instead of $wanted_counted or more"
	elif check_trace "$name" "$work/$name"; then
		pass "$name"
	fi
}
if wanted brief; then
	"$bin/brief" > "$work/brief.alone"
	# the first three, and those that work, make a thread, and make a child, and that one
	wanted_images=8 wanted_counted=10 data_limit=unlimited
	brief_with brief --backend "$backend"
	brief_with brief-often --backend "$backend" -i 2ms --subphases 4
	# a limit on memory leaves no room for the copy that they share
	data_limit=20000000000
	brief_with brief-limit --backend "$backend"
	wanted_images=25 wanted_counted=0 data_limit=unlimited
	brief_with brief-all --backend "$backend" --min-process 0
fi

# ---- processes with numbers of their own (sandboxes, containers) --------------------

## untraced-clone: a process that is left to itself, as sandboxes make it: what was touched before is in the trace
cat > "$work/leaves.c" <<'END'
#define _GNU_SOURCE
/* writes PAGES pages, then makes a process that is left to itself, as sandboxes do; from then on nothing of this one is traced */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#define PAGES 500
int main(void)
{
	char *p = malloc((PAGES + 1) * 4096);
	long pid;

	for (int i = 0; i < PAGES; i++)
		p[i * 4096] = 1;
	pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
	if (!pid)
		_exit(0);
	printf("%d\n", pid > 0);
	return 0;
}
END
if wanted untraced-clone && [ "$backend" != none ]; then
	gcc -O1 -w -o "$work/leaves" "$work/leaves.c"
	got=$("$MEMTRACE" record --quiet --backend zap --max-overhead 0 --interval 10s -o "$work/untraced" -- "$work/leaves" 2>&1)
	count=$(accesses "$work/untraced")
	if [ "$got" = 1 ] && [ "$count" -ge 500 ] && grep -q 'stop' "$work/untraced/p0000/intervals.csv" && check_trace untraced-clone "$work/untraced"; then
		pass "untraced-clone: what was touched before is in the trace"
	else
		fail "untraced-clone: '$got', $count accesses of 500 pages or more"
	fi
fi
## namespaces: process 1 of a sandbox is not the machine's
if ! wanted namespaces || [ "$backend" = none ]; then
	:
elif ! unshare --pid --fork true 2> /dev/null; then
	skip "namespaces: unshare --pid is refused"
else
	got=$("$MEMTRACE" record --quiet --backend zap --min-process 0 -o "$work/numbers" -- unshare --pid --fork sh -c '/bin/echo $$; :' 2>&1)
	state=$("$MEMTRACE" info "$work/numbers")
	alive=$(grep -c 'still running' <<< "$state")
	left=$(grep -c 'not finished' <<< "$state")
	if [ "$got" = 1 ] && [ "$alive" = 0 ] && [ "$left" = 0 ] && [ "$(grep -c ' pid 1,' <<< "$state")" = 2 ] && check_trace namespaces "$work/numbers"; then
		pass "namespaces: process 1 of a sandbox is not the machine's"
	else
		fail "namespaces: '$got', $alive still running, $left not finished: $state"
	fi
fi

# ---- runtimes that bear no thread of ours: the program runs untraced --------------

## runtimes: runtimes that bear no thread of ours (sanitizers, Valgrind): the program runs untraced
cat > "$work/threads.c" <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void *work(void *unused)
{
	long sum = 0;

	for (int k = 0; k < 100; k++) {
		char *p = malloc(100000 + k * 100);

		memset(p, k, 100000);
		p = realloc(p, 200000);
		sum += p[99999];
		free(p);
	}
	(void)unused;
	return (void *)sum;
}
int main(void)
{
	pthread_t t[4];
	long sum = 0;
	void *part;

	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], &part);
		sum += (long)part;
	}
	printf("%ld\n", sum);
	return 0;
}
END
export threads=$work/threads
if gcc -g -O1 -fsanitize=thread -o "$threads-tsan" "$work/threads.c" -pthread 2>/dev/null && "$threads-tsan" > /dev/null 2>&1; then
	script thread-sanitizer 60 <<'END'
for i in 1 2 3 4 5 6; do "$threads-tsan" || echo "status $?"; done
END
else
	skip "thread-sanitizer: not in this compiler, or it does not run here"
fi
gcc -g -O1 -o "$threads" "$work/threads.c" -pthread
script valgrind 60 valgrind <<'END'
valgrind -q "$threads"; echo $?
END

# ---- libraries that are loaded while threads run --------------------------------

## late-libraries: libraries that are loaded while threads run
cat > "$work/plugin.c" <<'END'
#define PAGES 64
static char table[PAGES * 4096] = { 1, 2, 3 };		/* .data */
static char zeroes[PAGES * 4096];			/* .bss */
static char *relocated[] = { table, zeroes };
int plugin(int round)
{
	int sum = 0;

	for (int i = 0; i < PAGES; i++) {
		table[i * 4096 + 7] += (char)round;
		zeroes[i * 4096 + 7] += (char)round;
		sum += relocated[0][i * 4096 + 7] + relocated[1][i * 4096 + 7];
	}
	return sum + table[0] + table[1] + table[2];
}
END
cat > "$work/loader.c" <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int end;
static void *work(void *unused)
{
	while (!end)
		free(malloc(1000));
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t t[3];
	int sum = 0;

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, NULL);
	for (int round = 0; round < 6; round++) {
		void *lib = dlopen(argv[argc - 1], RTLD_NOW);
		int (*plugin)(int) = lib ? (int (*)(int))dlsym(lib, "plugin") : NULL;

		if (!plugin)
			return 1;
		for (int k = 0; k < 10; k++) {
			sum += plugin(round);
			usleep(10000);
		}
		if (round % 2)
			dlclose(lib);
	}
	printf("%d %s\n", sum, dlopen("/no/such/library.so", RTLD_NOW) ? "?" : dlerror());
	end = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	return 0;
}
END
if wanted late-libraries && [ "$backend" != none ]; then
	gcc -O1 -shared -fPIC -o "$work/plugin.so" "$work/plugin.c"
	gcc -O1 -o "$work/loader" "$work/loader.c" -pthread -ldl
	want=$("$work/loader" "$work/plugin.so")
	got=$("$MEMTRACE" record --quiet --max-overhead 0 -o "$work/late" -- "$work/loader" "$work/plugin.so" 2>&1)
	# the pages of both arrays, by the addresses that finish gives them
	pages=$(awk -F, 'FNR == NR { if ($2 == "static" && ($3 == "table" || $3 == "zeroes")) { n++; s[n] = substr($4, 1, length($4) - 3); e[n] = substr($5, 1, length($5) - 3) } next }
		FNR > 1 { p = substr($1, 1, length($1) - 3); for (i = 1; i <= n; i++) if (p >= s[i] && p < e[i]) seen[p] = 1 }
		END { for (p in seen) k++; print k + 0 }' "$work/late/p0000/structures.csv" "$work"/late/p0000/accesses-*.csv)
	lost=$("$MEMTRACE" info "$work/late" | sed -n 's/^Losses *//p')
	if [ -z "$want" ] || [ "$got" != "$want" ]; then
		fail "libraries loaded while threads run: '$got' instead of '$want'"
	elif [ "${lost%%[; ]*}" != none ] || [ "$pages" -lt 126 ]; then
		fail "libraries loaded while threads run: $pages of 128 pages in the trace, losses: $lost"
	elif check_trace late-libraries "$work/late"; then
		pass "libraries loaded while threads run"
	fi
fi

# ---- what was touched before a program goes on as another one, in each way to do that

## goes-on: what was touched before a program goes on as another one, in each way to do that
cat > "$work/goes-on.c" <<'END'
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv)
{
	char *p = malloc(1 << 20), *args[] = { "true", NULL };
	memset(p, 1, 1 << 20);
	switch (argc > 1 ? argv[1][0] : 0) {
	case 'e': execve("/bin/true", args, environ); break;
	case 'f': fexecve(open("/bin/true", O_RDONLY | O_CLOEXEC), args, environ); break;
	case 'a': execveat(AT_FDCWD, "/bin/true", args, environ, 0); break;
	case 's': syscall(SYS_execveat, open("/bin/true", O_PATH), "", args, environ, AT_EMPTY_PATH); break;
	}
	return 1;
}
END
if wanted goes-on && [ "$backend" != none ]; then
	gcc -O1 -D_GNU_SOURCE -o "$work/goes-on" "$work/goes-on.c"
	for way in execve fexecve at syscall; do
		"$MEMTRACE" record --quiet --backend "$backend" --max-overhead 0 --interval 60s -o "$work/goes-on-$way" -- "$work/goes-on" $way
		got=$?
		count=$(cat "$work/goes-on-$way"/p0000/accesses-*.csv | wc -l)
		if [ $got = 0 ] && [ "$count" -gt 256 ] && check_trace goes-on "$work/goes-on-$way"; then
			pass "goes on as another program, $way"
		else
			fail "goes on as another program, $way: status $got, $count accesses"
		fi
	done
fi

# ---- the last interval is long in coming: a thousandth of a processor when the program ends ---------

## slow-end: the last interval is long in coming: a thousandth of a processor when the program ends
# little_cpu: makes the group $group, whose processes get 1 ms of CPU time per second
little_cpu() {
	local top
	for top in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
		group=$top/memtrace-test-$$
		mkdir "$group" || continue
		# not in a folder that is no control group
		if [ -e "$group/cgroup.procs" ] && { { echo 1000000 > "$group/cpu.cfs_period_us" && echo 1000 > "$group/cpu.cfs_quota_us"; } ||
			echo "1000 1000000" > "$group/cpu.max"; }; then
			return 0
		fi
		rmdir "$group"
	done
	return 1
} 2> /dev/null
if ! wanted slow-end || [ "$backend" = none ]; then
	:
elif ! little_cpu; then
	skip "slow end: no permission to make a control group"
else
	need_ends
	"$MEMTRACE" record --quiet --backend "$backend" --max-overhead 0 --interval 60s -o "$work/ends.trace" -- "$work/ends" "$work/slow-end.go" > "$work/ends.out" 2>&1 &
	recorder=$!
	await grep -q ready "$work/ends.out"
	program=$(pgrep -P $recorder -x ends)
	echo "$program" > "$group/cgroup.procs"
	touch "$work/slow-end.go"
	wait $recorder
	got=$?
	await rmdir "$group"
	count=$(accesses "$work/ends.trace")
	if [ -n "$program" ] && [ $got = 0 ] && [ "$count" -ge 25600 ]; then
		pass "slow end: nothing is lost"
	else
		fail "slow end: status $got, $count accesses of 25600 pages"
	fi
fi

# ---- the recorder in the program stands still at its end: the program goes on, what is lost is told ------

## standstill: the recorder in the program stands still at its end: the program goes on, what is lost is told
cat > "$work/hold.c" <<'END'
/* hold PID [MONITOR]: stops the second thread of the process, or its monitor beside it, until that ends */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
int main(int argc, char **argv)
{
	int pid = atoi(argv[1]), tid = 0, status;
	char path[64];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (atoi(e->d_name) && atoi(e->d_name) != pid)
			tid = atoi(e->d_name);
	if (!tid && argc > 2)
		tid = atoi(argv[2]);
	if (!tid || ptrace(PTRACE_SEIZE, tid, 0, 0) || ptrace(PTRACE_INTERRUPT, tid, 0, 0) || waitpid(tid, &status, __WALL) != tid)
		return 1;
	puts("held");
	fflush(stdout);
	while (waitpid(tid, &status, __WALL) == tid && !WIFEXITED(status) && !WIFSIGNALED(status))
		;
	return 0;
}
END
if wanted standstill && [ "$backend" != none ]; then
	gcc -O1 -o "$work/hold" "$work/hold.c"
	need_ends
	"$MEMTRACE" record --backend zap --max-overhead 0 --interval 60s -o "$work/still" -- "$work/ends" "$work/slow-end.go" > "$work/ends.out" 2> "$work/still.err" &
	recorder=$!
	await grep -q ready "$work/ends.out"
	# the monitor: a thread of the program, or a process of its own
	"$work/hold" "$(pgrep -P $recorder -x ends)" \
		$(sed -n 's/.*"monitor_pid": \([0-9]*\),.*/\1/p' "$work/still/p0000/image.json") > "$work/held" &
	holder=$!
	held() { grep -q held "$work/held" || ! kill -0 $holder; }
	await held
	touch "$work/slow-end.go"
	wait $recorder
	got=$?
	if ! grep -q held "$work/held"; then
		skip "standstill: ptrace is refused"
	elif [ $got = 0 ] && grep -q 'stood still for 20 s; [0-9]* or more records of the last interval are lost' "$work/still.err" &&
		"$MEMTRACE" info "$work/still" | grep -q '^Losses *.*write_error' &&
		tail -n 1 "$work/still/p0000/intervals.csv" | grep -q ',exit lost,' && check_trace standstill "$work/still"; then
		pass "standstill: the program ends, and what is lost is told"
	else
		fail "standstill: status $got, $("$MEMTRACE" info "$work/still" | grep '^Losses'), $(cat "$work/still.err")"
	fi
	wait $holder
fi

# ---- faults that end in a signal ---------------------------------------------------
# A program with guard pages and barriers: what faults and is refused is no access. One interval, so that each page has one record.

## refused-faults: faults that end in a signal are no accesses
if wanted refused-faults && [ "$backend" != none ] && perf_works; then
	"$MEMTRACE" record --quiet --backend "$backend" --max-overhead 0 --subphases 1 --interval 60s -o "$work/refused" \
		-- "$quirks" barriers > "$work/refused.out" 2>&1
	# records, reads and writes of the groups of 16 pages from 6a0000000000 on
	found=$(awk -F, 'FNR > 1 && $1 ~ /^(0x)?6a00000[0-9a-f]{5}$/ {
			a = $1; sub(/^0x/, "", a); g = int(index("0123456789abcdef", substr(a, 8, 1)) - 1)
			n[g]++; r[g] += $3; w[g] += $4 }
		END { for (g = 0; g < 4; g++) printf "%d %d %d; ", n[g], r[g], w[g] }' "$work"/refused/p0000/accesses-*.csv)
	if [ "$found" = "0 0 0; 16 0 16; 16 0 16; 16 0 16; " ] && grep -qx '48 faults, 16 times EFAULT' "$work/refused.out"; then
		pass "refused-faults: faults that end in a signal are no accesses"
	else
		fail "refused-faults: records, reads, writes of four groups: $found; $(cat "$work/refused.out")"
	fi
fi

# ---- addresses that are not random: debuggers, randomize_va_space=0 --------------
# The stack ends where the user address space does.

## fixed-addresses: addresses that are not random: debuggers, randomize_va_space=0
if setarch -R true 2>/dev/null; then
	script fixed-addresses 20 setarch <<'END'
setarch -R "$quirks" atexit; echo $?
setarch -R sh -c 'seq 1 20000 | sort -n | tail -n 1'
setarch -R python3 -c 'print(sum(len(str(i)) for i in range(50000)))'
END
else
	skip "fixed-addresses: setarch -R is refused"
fi

# ---- sudden death -------------------------------------------------------------

## sudden-death: programs and recorders that are killed, at any time
RANDOM=${SEED:=$$}

# The recorder runs in its own session; a kill takes only what is named.
sudden() {
	local who=$1 n=$2 delay recorder program target trace=$work/k/trace begin got attempt log
	delay=$(printf '0.%03d' $((20 + RANDOM % 700)))
	# on a machine that stands still for a second, the program may have come to its end before we look
	for attempt in 1 2 3 4 5; do
		rm -rf "$work/k"; mkdir "$work/k"
		log=$work/k/log-$who-$n-$attempt	# a program that was left alone before may still write its own
		"$MEMTRACE" record --quiet --backend "$backend" --interval 20ms -o "$trace" \
			-- "$bin/visits" -d 900 -n 1000000 -p 100 "$log" > "$work/k/out" 2>&1 &
		recorder=$!
		sleep "$delay"
		# the program is the child of the recorder that runs visits; none if it is still preparing
		program=$(pgrep -P "$recorder" -x visits)
		while [ "$who" = program ] && [ -z "$program" ] && kill -0 "$recorder" 2>/dev/null; do
			sleep 0.02
			program=$(pgrep -P "$recorder" -x visits)
		done
		target=$recorder
		[ "$who" = recorder ] || target=$program
		[ -z "$target" ] || kill -9 "$target" 2>/dev/null || target=
		wait "$recorder" 2>/dev/null
		got=$?
		[ -z "$target" ] || { [ "$who" = program ] && [ $got = 0 ]; } || break
		target=
	done
	if [ -z "$target" ]; then
		fail "kill -9 of the $who after $delay s (SEED=$SEED, number $n): nobody to kill"
		return
	fi
	if [ "$who" = program ] && [ $got != 137 ]; then
		fail "kill -9 of the program after $delay s (SEED=$SEED): status $got instead of 137"
		return
	fi
	if [ "$who" = recorder ] && [ -n "$program" ]; then
		# the program must come to its end by itself
		begin=$SECONDS
		while kill -0 "$program" 2>/dev/null && [ $((SECONDS - begin)) -lt 120 ]; do
			sleep 0.05
		done
		if kill -9 "$program" 2>/dev/null || ! ls "$log".* > /dev/null 2>&1; then
			fail "kill -9 of the recorder after $delay s (SEED=$SEED): the program did not end well"
			return
		fi
	fi
	# a program that was only about to start goes on, too
	nobody() { ! pgrep -f -- "$log" > /dev/null; }
	if ! await nobody; then
		fail "kill -9 of the $who after $delay s (SEED=$SEED): $(pgrep -af -- "$log") has no end"
		return
	fi
	if [ ! -e "$trace/manifest.json" ]; then
		# killed before it began
		[ ! -d "$trace/p0000" ] || fail "kill -9 of the $who after $delay s (SEED=$SEED): no manifest"
		pass "kill -9 of the $who before the recording began"
		return
	fi
	check_trace "kill -9 of the $who after $delay s (SEED=$SEED)" "$trace" --killed || return
	if [ "$who" = recorder ] && [ "$backend" != none ] && [ -n "$program" ] &&
		! "$bin/fidelity" --no-threads --compared 1 --written 0 --wrong 100 "$trace" "$log".* > "$work/k/report" 2>&1; then
		fail "kill -9 of the recorder after $delay s (SEED=$SEED): the trace is not complete"
		sed 's/^/    /' "$work/k/report"
		return
	fi
	pass "kill -9 of the $who"
}

if wanted sudden-death; then
	echo "SEED=$SEED"
	for n in 1 2 3 4 5 6 7 8 9 10; do
		sudden program $n
		sudden recorder $n
	done
fi
## cut-interval: killed after the accesses of the last interval, before or while its line was written
if wanted cut-interval && [ "$backend" != none ]; then
	"$MEMTRACE" record --quiet --backend "$backend" --interval 20ms -o "$work/cut" -- "$bin/visits" -d 300 -n 1000000 -p 100 "$work/cut.log" \
		> "$work/cut.out" 2>&1
	for left in none half header; do
		rm -rf "$work/cut1"; cp -r "$work/cut" "$work/cut1"
		(
			cd "$work/cut1/p0000" || exit
			rm structures.csv stacks.csv threads.csv
			# the last interval that has accesses loses its line, and with it all that follow
			last=$(tail -qn 1 accesses-*.csv | tail -n 1 | cut -d, -f6)
			awk -F, -v last="$last" -v left=$left '
				NR == 1 { print; if (left == "header") exit; next }
				$2 == last { if (left == "half") printf "%s", substr($0, 1, length($0) / 2); exit }
				{ print }' intervals.csv > short
			mv short intervals.csv
		)
		if "$bin/fidelity" --format "$work/cut1" > /dev/null 2>&1; then
			fail "cut interval, $left of its line: the check of the format sees nothing"
		elif check_trace "cut interval, $left of its line" "$work/cut1" &&
			tail -n 1 "$work/cut1/p0000/intervals.csv" | grep -q ',killed,'; then
			pass "cut interval, $left of its line: completed"
		fi
	done
fi
## interrupt: SIGTERM to the recorder reaches the program, also one that hangs
if wanted interrupt; then
	"$MEMTRACE" record --quiet --backend "$backend" -o "$work/int" -- sleep 600 &
	recorder=$!
	await pgrep -P $recorder -x sleep
	kill -TERM $recorder
	wait $recorder 2>/dev/null
	got=$?
	if [ $got = 143 ] && ! pgrep -P $recorder > /dev/null && check_trace "SIGTERM to the recorder" "$work/int"; then
		pass "SIGTERM to the recorder reaches the program"
	else
		fail "SIGTERM to the recorder: status $got instead of 143"
	fi
	# a program that does not end of it: after 5 s, or at once when it is said again
	for again in no yes; do
		name="SIGTERM to the recorder of a program that hangs, again: $again"
		"$MEMTRACE" record --quiet --backend "$backend" -o "$work/hang-$again" -- \
			bash -c 'trap "" TERM; exec sleep 600' 2> "$work/err" &
		recorder=$!
		await pgrep -P $recorder -x sleep
		program=$(pgrep -P $recorder -x sleep)
		begin=$(date +%s%N)
		kill -TERM $recorder
		if [ $again = yes ]; then
			sleep 1.5
			kill -TERM $recorder
		fi
		wait $recorder 2>/dev/null
		got=$?
		took=$((($(date +%s%N) - begin) / 1000000))
		if [ $got != 143 ]; then
			fail "$name: status $got instead of 143"
		elif [ -e /proc/$program ]; then
			fail "$name: the program still runs"
		elif [ $again = no ] && [ $took -lt 4900 ]; then
			fail "$name: it had $took ms only"
		elif [ $again = yes ] && [ $took -gt 4900 ]; then
			fail "$name: it had $took ms"
		elif ! grep -q 'killed.* after SIGTERM' "$work/hang-$again/manifest.json"; then
			fail "$name: the trace does not say why it ended"
		elif check_trace "$name" "$work/hang-$again"; then
			pass "$name: killed, and the trace is complete"
		fi
	done
	# timeout(1) sends it to the command, and at once to the whole group: no reason to kill a program that is about to end
	timeout -s TERM 2 "$MEMTRACE" record --quiet --backend "$backend" -o "$work/polite" -- \
		bash -c 'trap "sleep 0.7; echo ended; exit 7" TERM; while :; do sleep 0.1; done' > "$work/out" 2> "$work/err"
	if [ "$(cat "$work/out")" = ended ] && check_trace "SIGTERM twice at once" "$work/polite"; then
		pass "SIGTERM twice at once: a program may end by itself"
	else
		fail "SIGTERM twice at once: the program did not end by itself"
	fi
fi
