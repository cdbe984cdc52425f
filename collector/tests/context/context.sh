#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# What the context library and the launcher record, against programs that say
# it themselves. Run by ../run.sh context; BACKEND=none without accesses.
# LIST=1 names the cases, ONLY=NAME runs one.

tests=$(cd "$(dirname "$0")/.." && pwd)
. "$tests/lib.sh"
need_memtrace
need_programs deny
here=$tests/context
backend=${BACKEND:-auto}

record() {
	timeout 300 "$MEMTRACE" record --quiet --backend "$backend" "$@"
}

# expect NAME WANT GOT
expect() {
	if [ "$2" = "$3" ]; then pass "$1"; else fail "$1: got '$3', want '$2'"; fi
}

# truth NAME COMPILER ARGUMENTS...: build, record, compare both images
truth() {
	local name=$1 image result
	shift
	if ! "$@" -pthread -o "$name" "$here/truth.cpp" 2> "$name.log"; then
		fail "$name: does not compile"
		return
	fi
	record -o "$name.trace" "./$name" > "$name.out" 2> "$name.err"
	expect "$name: exit code" 0 $?
	for image in 0 1; do
		result=$(awk -v image=$image -f "$here/check.awk" "$name.out" \
			"$name.trace/p000$image/threads.csv" "$name.trace/p000$image/structures.csv")
		echo "$result" | grep FAILED | sed "s/^/$name image $image: /"
		set -- $(echo "$result" | tail -n 1)
		passed=$((passed + ${1:-0})) failed=$((failed + ${2:-1}))
	done
	expect "$name: name in info" 1 "$("$MEMTRACE" info "$name.trace" | grep -c ' global_table .* truth.cpp:')"
}

# the program and its trace, for cases about traces
need_pie() {
	g++ -g -O1 -pie -fPIE -pthread -o pie "$here/truth.cpp" && record -o pie.trace ./pie > pie.out || fail "pie cannot be made"
}

# a program with four threads that make and move many blocks
need_many() {
	cat > many.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static void *run(void *a)
{
	for (int i = 0; i < 20000; i++) {
		void *p = malloc(4096 + i % 7000);
		p = realloc(p, 9000);
		free(p);
	}
	return a;
}
int main(void)
{
	pthread_t t[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], 0, run, 0);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], 0);
	return 0;
}
END
	gcc -g -O1 -pthread -o many many.c
}

cases context "$0"

## truth: threads and blocks of a program as it says them itself, built in five ways
truth pie g++ -g -O1 -pie -fPIE
truth nopie g++ -g -O1 -no-pie
truth unoptimised g++ -g -O0
truth inlined g++ -g -O2
truth noframe g++ -g -O2 -fomit-frame-pointer

## stripped: a program without names: addresses and lives are there
need_pie
cp pie stripped && strip stripped
record -o stripped.trace ./stripped > stripped.out
grep -c '^heap' stripped.out > want
awk -F, 'NR == FNR { split($0, w, " "); if (w[1] == "heap") want[w[3] "," w[4]] = 1; next }
	($4 "," $5) in want { n++; delete want[$4 "," $5] } END { print n + 0 }' stripped.out stripped.trace/p0000/structures.csv > got
expect "stripped: heap ranges" "$(cat want)" "$(cat got)"

## descriptors: no thread of the recorder keeps a copy of a descriptor
# Its own are from 960 on, or above the limit; a table has room for 1,024
cat > descriptors.c <<'END'
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* descriptors FILE N: executes itself with FILE open as descriptor N; prints by how many of its tasks it is open. */
int main(int argc, char **argv)
{
	char path[600], link[4096];
	struct dirent *t, *f;
	DIR *tasks, *fds;
	int open_in = 0;

	if (argc == 3) {
		int fd = open(argv[1], O_RDONLY);

		dup2(fd, atoi(argv[2]));
		close(fd);
		execl(argv[0], argv[0], argv[1], NULL);
		return 1;
	}
	tasks = opendir("/proc/self/task");
	while ((t = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/fd", t->d_name);
		fds = t->d_name[0] == '.' ? NULL : opendir(path);
		while (fds && (f = readdir(fds))) {
			ssize_t n;

			snprintf(path, sizeof(path), "/proc/self/task/%s/fd/%s", t->d_name, f->d_name);
			n = readlink(path, link, sizeof(link) - 1);
			link[n > 0 ? n : 0] = 0;
			open_in += !strcmp(link, argv[1]);
		}
		if (fds)
			closedir(fds);
	}
	printf("%d\n", open_in);
	return 0;
}
END
gcc -o descriptors descriptors.c
for n in 4 1000 1023; do
	record -o descriptors.trace ./descriptors "$(realpath descriptors.c)" $n > descriptors.out
	expect "descriptor $n: open in one task" 1 "$(cat descriptors.out)"
	rm -rf descriptors.trace
done

## numbers: what a program and its children find at all numbers of descriptors, and the number that comes next
cat > numbers.c <<'END'
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static void look(const char *who)
{
	for (int fd = 3; fd < sysconf(_SC_OPEN_MAX); fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			printf("%d ", fd);
	printf("%s %d\n", who, open("/dev/null", O_RDONLY));
	fflush(stdout);
}
int main(int argc, char **argv)
{
	look(argv[argc - 1]);
	if (argc > 1)
		return 0;
	if (!fork()) {
		look("child");
		_exit(0);
	}
	wait(NULL);
	look("again");
	execl(argv[0], argv[0], "exec", NULL);
	return 1;
}
END
gcc -o numbers numbers.c
# the hard limit must be above the soft one
if [ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -ge 1088 ]; then
	expect "numbers of descriptors" "$(ulimit -Sn 1024; ./numbers 3>&- 4>&-)" "$(ulimit -Sn 1024; record -o numbers.trace ./numbers 3>&- 4>&-)"
else
	skip "numbers of descriptors: the hard limit is $(ulimit -Hn)"
fi

## under-dynamorio: the recorder in a program under DynamoRIO, which goes through each number of a range of descriptors that is closed
need_pie
drrun=$(PATH=${DYNAMORIO_HOME:+$DYNAMORIO_HOME/bin64:}$PATH command -v drrun)
if [ -z "$drrun" ]; then
	skip "under DynamoRIO: no drrun in DYNAMORIO_HOME/bin64 or PATH"
else
	timeout -s KILL 60 "$MEMTRACE" record --quiet --backend none -o drrun.trace "$drrun" -- "$work/pie" > drrun.out 2> drrun.err
	expect "under DynamoRIO: exit code" 0 $?
	# image 0 is drrun, which executes the program
	expect "under DynamoRIO: threads" "$(tail -n +2 pie.trace/p0000/threads.csv | wc -l)" "$(tail -n +2 drrun.trace/p0001/threads.csv | wc -l)"
fi

## sizes: blocks about as large as those that are recorded one by one: all of these, and the end of each
cat > sizes.c <<'END'
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
static int large;
static void gone(void *p, size_t bytes)
{
	large += bytes >= 4096;
	free(p);
}
int main(void)
{
	for (size_t n = 4064; n <= 4130; n++) {
		gone(malloc(n), n);
		gone(calloc(1, n), n);
		gone(realloc(malloc(100), n), n);
		large += n >= 4096;
		free(realloc(malloc(n), 100));
		for (size_t align = 16; align <= 8192; align *= 8)
			gone(memalign(align, n), n);
	}
	for (size_t n = 120000; n < 140000; n += 501)
		gone(malloc(n), n);
	printf("%d 0\n", large);
	return 0;
}
END
gcc -O0 -fno-builtin -w -o sizes sizes.c
record -o sizes.trace ./sizes > sizes.out
# not the buffer of stdout
expect "blocks at the limit and their ends" "$(cat sizes.out)" "$(awk -F, '$2 == "heap" && $6 > 0 && $5 != "" {
	if ($7 < 0) alive++; else n++ } END { print n + 0, alive - 1 }' sizes.trace/p0000/structures.csv)"

## library: a library that comes and goes, by a relative path
cat > lib.c <<'END'
#include <stdlib.h>
int lib_table[3000] = { 1 };
void *lib_make(void) { double *made = malloc(20000); return made; }
END
cat > dl.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	void *h = dlopen("./libx.so", RTLD_NOW), *(*make)(void) = (void *(*)(void))dlsym(h, "lib_make");
	char *last;

	make();
	printf("%lx\n", (unsigned long)dlsym(h, "lib_table"));
	dlclose(h);
	last = malloc(70000);
	return last == 0;
}
END
gcc -g -shared -fPIC -o libx.so lib.c && gcc -g -o dl dl.c -ldl && record -o dl.trace ./dl > dl.out
# one structure, born after the program's own statics, dead before the end
expect "static of a library" "lib_table $(cat dl.out) 1" "$(awk -F, '$3 == "lib_table" { print $3, $4, ($7 > 0) }' dl.trace/p0000/structures.csv)"
expect "allocation in a library" 1 "$(awk -F, '$2 == "heap" && $3 == "made"' dl.trace/p0000/structures.csv | wc -l)"

## exit-codes: exit codes, signals, programs that cannot be run, names of traces
record -o c7.trace sh -c 'exit 7' 2> /dev/null
expect "exit code" 7 $?
{ record -o c15.trace sh -c 'kill -TERM $$' 2> /dev/null; } 2> /dev/null
expect "killed by a signal" 143 $?
expect "signal in the manifest" 1 "$(grep -c '"signal": 15' c15.trace/manifest.json)"
record nosuchprogram 2> err
expect "program not found" 127 $?
expect "one sentence" 1 "$(wc -l < err)"
echo text > notexec
record ./notexec 2> err
expect "program not executable" 126 $?
expect "nothing left behind" 0 "$(ls -d notexec* nosuch* 2> /dev/null | grep -c memtrace)"
record -o c7.trace true 2> err
expect "never overwrites" 2 $?
record true 2> /dev/null && record true 2> /dev/null
expect "next free name" "true.memtrace true.memtrace-2" "$(echo true.memtrace*)"
printf 'echo "$0 $1"\n' > script && chmod +x script
expect "script without #!" "./script x" "$(record -o script.trace ./script x 2> /dev/null)"
printf '#!/bin/sh\necho "$0 $1"\n' > script2 && chmod +x script2
expect "script sees its name" "./script2 x" "$(record -o script2.trace ./script2 x 2> /dev/null)"

## static: static programs are refused before they start, and run with --backend none
echo 'int main(void) { return 3; }' > static.c
if gcc -static -o static static.c 2> /dev/null; then
	timeout 120 "$MEMTRACE" record ./static 2> err
	expect "static refused" 4 $?
	expect "says why" 1 "$(grep -c 'statically linked' err)"
	timeout 120 "$MEMTRACE" record --backend none -o static.trace ./static 2> err
	expect "static with none" 3 $?
fi

## forwarded: the recorder passes signals on that were sent to it alone
"$MEMTRACE" record -q --backend "$backend" -o fwd.trace sh -c 'trap "echo got; exit 9" USR1; echo ready; while :; do sleep 0.05; done' > fwd.out 2> /dev/null &
pid=$!
await grep -q ready fwd.out
kill -USR1 $pid
wait $pid
expect "forwarded signal" "9 got" "$? $(tail -n 1 fwd.out)"

## killed: the recorder is killed: the program goes on until it is told to end, the trace opens and is completed
# (a shell is recorded from its beginning with --min-process 0 only)
"$MEMTRACE" record -q --backend "$backend" --min-process 0 -o killed.trace sh -c 'echo $$ > pid; while [ ! -e end ]; do sleep 0.05; done; echo alive' > killed.out 2> /dev/null &
pid=$!
await [ -s pid ]
{ kill -9 $pid; wait $pid; } 2> /dev/null
"$MEMTRACE" info killed.trace > info 2>&1
expect "info of a killed recorder" 0 $?
expect "state" 1 "$(grep -c '^Result *aborted; the recorder was killed' info)"
mkdir now
"$MEMTRACE" finish --into now killed.trace
expect "the structures of now" 0 $?
expect "they are beside the trace" 'structures.csv threads.csv' "$(ls now/p0000 | tr '\n' ' ' | sed 's/ $//')"
expect "and not in it" 0 "$(ls killed.trace/p0000/structures.csv 2> /dev/null | wc -l)"
# what is known stands in the log from the end of the first interval on
now_has() { "$MEMTRACE" finish --into now killed.trace && grep -q "$1" now/p0000/structures.csv; }
await now_has ',stack of main thread,'
expect "a stack of the main thread is there" 1 "$(grep -c ',stack of main thread,' now/p0000/structures.csv)"
touch end
while kill -0 "$(cat pid)" 2> /dev/null; do sleep 0.1; done
expect "the program went on" alive "$(cat killed.out)"
"$MEMTRACE" finish killed.trace 2> /dev/null
expect "finish" 0 $?
cut -d, -f2-6 now/p0000/structures.csv | grep -v '^brk,' | sort > now.list
cut -d, -f2-6 killed.trace/p0000/structures.csv | sort > then.list
expect "all of them are in the finished trace" 0 "$(comm -23 now.list then.list | wc -l)"
dead=$(awk -F, 'NR > 1 && $7 >= 0' killed.trace/p0000/structures.csv | wc -l)
all=$(tail -n +2 killed.trace/p0000/structures.csv | wc -l)
rm -r now/p0000
"$MEMTRACE" finish --into now --since 9000000000000000000 killed.trace
expect "those that live only" $((all - dead)) "$(tail -n +2 now/p0000/structures.csv | wc -l)"
for f in structures stacks threads; do
	expect "finished $f" 1 "$(ls killed.trace/p0000/$f.csv 2> /dev/null | wc -l)"
done

## descendant: a descendant that outlives the program, until it is told to end
record --min-process 0 -o daemon.trace sh -c 'sh -c "echo \$\$ > late; while [ ! -e leave ]; do sleep 0.05; done" > /dev/null 2>&1 &
	while [ ! -s late ]; do sleep 0.05; done' 2> /dev/null
expect "root's exit ends the recording" 0 $?
expect "descendant noted" 1 "$(grep -c '"state": "running"' daemon.trace/manifest.json | sed 's/[1-9][0-9]*/1/')"
touch leave
while kill -0 "$(cat late)" 2> /dev/null; do sleep 0.05; done
"$MEMTRACE" info daemon.trace > /dev/null
expect "completed later" 0 "$(grep -c '"state": "running"' daemon.trace/manifest.json)"

## compressed: record --compress, and info of its trace
need_pie
record -o z.trace --compress ./pie > /dev/null
if [ "$backend" != none ]; then
	expect "no plain chunk" 0 "$(ls z.trace/p*/accesses-*.csv 2> /dev/null | wc -l)"
fi
"$MEMTRACE" info z.trace > /dev/null
expect "info of a compressed trace" 0 $?

## many: many allocations: nothing lost, lives do not overlap, all of them or the number of the others
need_many
# all of them, and what the default budget leaves room for, with the number of the others
for overhead in 0 0.35; do
	record -o many-$overhead.trace --max-overhead $overhead ./many
	structures=many-$overhead.trace/p0000/structures.csv unlisted=many-$overhead.trace/p0000/unlisted.csv
	expect "many, $overhead: all dead at the end" 0 "$(awk -F, '$2 == "heap" && $3 == "p" && $7 < 0' $structures | wc -l)"
	n=$(awk -F, '$2 == "heap" && $3 == "p"' $structures | wc -l)
	more=0
	[ ! -e $unlisted ] || more=$(awk -F, '$1 == "brief" { print $2 }' $unlisted)
	# a realloc in place is one structure, one that moves is two
	if [ $((n + more)) -ge 80000 ] && [ $((n + more)) -le 160000 ]; then pass "many, $overhead"; else fail "many, $overhead: $n and $more"; fi
	expect "many, $overhead: are there others?" "$([ $overhead = 0 ] && echo no || echo yes)" "$([ "$more" = 0 ] && echo no || echo yes)"
	expect "many, $overhead: info tells them" "$([ $overhead = 0 ] || echo "that lived shortly")" \
		"$("$MEMTRACE" info many-$overhead.trace | grep -o "that lived shortly")"
	# at no address two blocks at the same time
	expect "many, $overhead: lives do not overlap" 0 "$(awk -F, '$2 == "heap" { print $4, $6, $7 }' $structures |
		sort -k1,1 -k2,2n | awk '$1 == a && $2 < d { n++ } { a = $1; d = $3 } END { print n + 0 }')"
done

## heaps: small blocks of further threads are in heaps with a name, in a child of fork, too
cat > arenas.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_barrier_t all;

static void *fill(void *arg)
{
	char *p = NULL;

	pthread_barrier_wait(&all);	/* each its own arena */
	for (int i = 0; i < 20000; i++) {
		p = malloc(200);
		p[0] = p[199] = 1;
	}
	printf("block %d %p\n", getpid(), (void *)p);
	pthread_barrier_wait(&all);
	return arg;
}

int main(void)
{
	pthread_t t[3];

	setvbuf(stdout, NULL, _IOLBF, 0);
	pthread_barrier_init(&all, NULL, 3);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, fill, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	if (!fork()) {
		for (int i = 0; i < 3; i++)
			pthread_create(&t[i], NULL, fill, NULL);
		for (int i = 0; i < 3; i++)
			pthread_join(t[i], NULL);
		exit(0);
	}
	wait(NULL);
	return 0;
}
END
gcc -O1 -pthread -o arenas arenas.c
record -o arenas.trace ./arenas > arenas.out
expect "heaps of threads: exit code" 0 $?
# value(hexadecimal digits); the ranges of the heaps
read_heaps='function value(h,  v, i) {
		for (i = 1; i <= length(h); i++)
			v = 16 * v + index("0123456789abcdef", substr(h, i, 1)) - 1
		return v
	}
	FILENAME ~ /structures/ { if ($2 == "brk" && $10 == "") { from[++n] = value($4); to[n] = value($5) } next }'
for image in 0 1; do
	expect "heaps of threads: the last blocks of image $image" "3 in 3" "$(awk -F, "$read_heaps"'
		FILENAME ~ /image.json/ {
			if (match($0, /"pid": *[0-9]+/)) { pid = substr($0, RSTART, RLENGTH); gsub(/[^0-9]/, "", pid) }
			next
		}
		{ split($0, w, " ") }
		w[2] == pid { blocks++; b = value(substr(w[3], 3)); for (i = 1; i <= n; i++) found += from[i] <= b && b + 200 <= to[i] }
		END { print found + 0 " in " blocks + 0 }' \
		arenas.trace/p000$image/image.json arenas.trace/p000$image/structures.csv arenas.out)"
	expect "heaps of threads: image $image has no two that overlap" 0 "$(
		awk -F, '$2 == "brk" && $10 == "" { print $4, $5 }' arenas.trace/p000$image/structures.csv | sort | awk '$1 < end { n++ } { end = $2 } END { print n + 0 }')"
done
if [ "$backend" != none ]; then
	expect "heaps of threads: with accesses" yes "$(awk -F, "$read_heaps"'
		FNR > 1 { a = value($1); for (i = 1; i <= n; i++) hit[i] += from[i] <= a && a < to[i] }
		END { for (i in hit) many += hit[i] > 100; print many >= 3 ? "yes" : "no: " many + 0 }' \
		arenas.trace/p0000/structures.csv arenas.trace/p0000/accesses-*.csv)"
fi

## file-size: a limit on the size of files is the program's, not ours: no SIGXFSZ for the log
need_many
record -o fsize.trace bash -c 'ulimit -f 100; exec ./many' 2> /dev/null
expect "file size limit" 0 $?
"$MEMTRACE" info fsize.trace > /dev/null
expect "info after the file size limit" 0 $?

## hard-limit: a hard limit leaves no room for the memory file: said before anything runs, with what helps
(ulimit -f 1000; "$MEMTRACE" record --backend zap -o hard.trace true) > hard.out 2>&1
expect "hard file size limit: exit code" 4 $?
case $(cat hard.out) in *"File too large; try: sudo prlimit --fsize"*) pass "hard file size limit" ;; *) fail "hard file size limit: $(cat hard.out)" ;; esac

## sandbox: a sandbox that kills for what the recorder does: the program runs, and a sentence says why it is not recorded
for call in userfaultfd madvise mkdir; do
	"$MEMTRACE" record -o "kill-$call.trace" -- "$bin/deny" -k "$call" /bin/echo hello > kill.out 2> kill.err
	expect "a sandbox that kills for $call" "0 hello" "$? $(cat kill.out)"
done
expect "which call it was" 1 "$(grep -c 'seccomp filter kills processes that call userfaultfd' kill-userfaultfd.trace/p0001/image.json)"

## regions: regions that the program names: nested, of threads, of a child; nothing happens where it is not recorded
cat > regions.c <<'END'
#include "memtrace.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static void *work(void *p) { memtrace_begin("in a \"thread\""); memtrace_end("in a \"thread\""); return p; }
int main(void)
{
	pthread_t t;
	memtrace_begin("outer");
	memtrace_begin("two\nlines");
	memtrace_end(NULL);
	for (int fd = 3; fd < 2000; fd++)
		close(fd);
	pthread_create(&t, NULL, work, NULL);
	pthread_join(t, NULL);
	if (!fork()) {
		memtrace_begin("child");
		_exit(0);
	}
	wait(NULL);	/* else the recording may end before the child has begun */
	memtrace_end("outer");
	return 0;
}
END
for how in "-O2 -pie -fPIE" "-O0 -no-pie -fno-pie"; do
	gcc -std=gnu99 -Wall -Werror $how -I"$tests/../count/api" -o regions regions.c -pthread -ldl
	./regions
	expect "regions, not recorded ($how)" 0 $?
	rm -rf regions.trace
	record -o regions.trace ./regions
	expect "regions ($how)" '0 begin,"outer" begin,"two lines" end,"" begin,"in a ""thread""" end,"in a ""thread""" end,"outer" begin,"child"' \
		"$? $(cat regions.trace/p0000/regions.csv regions.trace/p0001/regions.csv | grep -v Time | cut -d, -f3- | paste -sd ' ')"
	expect "threads of regions ($how)" 2 "$(tail -n +2 regions.trace/p0000/regions.csv | cut -d, -f2 | sort -u | wc -l)"
done
# what cannot be written is counted: two lines without a free descriptor
cat > regions.c <<'END'
#include "memtrace.h"
#include <sys/resource.h>
#include <unistd.h>
int main(void)
{
	struct rlimit few = { 256, 256 };
	int last = 0, fd;
	memtrace_begin("before");
	setrlimit(RLIMIT_NOFILE, &few);
	while ((fd = dup(1)) >= 0)
		last = fd;
	memtrace_begin("nowhere");
	memtrace_end("nowhere");
	close(last);
	memtrace_end("before");
	return 0;
}
END
gcc -O2 -I"$tests/../count/api" -o regions regions.c -ldl
rm -rf regions.trace
record -o regions.trace ./regions
expect "regions without a descriptor" '0 begin,"before" end,"before" lost,"2"' \
	"$? $(cut -d, -f3- regions.trace/p0000/regions.csv | tail -n +2 | sort | paste -sd ' ')"
if command -v gfortran > /dev/null; then
	cat > regions.f90 <<'END'
program regions
  use memtrace
  call memtrace_begin("fill   ")
  call memtrace_end("fill")
end program regions
END
	gfortran -std=f2008 -Wall -Werror -o regions-f "$tests/../count/api/memtrace.f90" regions.f90 -ldl && ./regions-f && record -o regions-f.trace ./regions-f
	expect "regions of Fortran" '0 begin,"fill" end,"fill"' "$? $(tail -n +2 regions-f.trace/p0000/regions.csv | cut -d, -f3- | paste -sd ' ')"
else
	skip "regions of Fortran: no gfortran"
fi

## monitor-pid: monitor --pid --running-only: the process sleeps, what it started before and what that starts later works
cat > tree.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>
static void work(long ms)
{
	for (long i = 0; ms < 0 || i < ms; i++) {
		char *p = mmap(0, 1 << 18, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (int k = 0; k < 64; k++)
			p[k * 4096] = 1;
		munmap(p, 1 << 18);
	}
}
/* tree DEPTH: a chain of processes, of which the last one starts one after the other that work; the others sleep */
static void chain(int depth)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!depth) {
		if (!fork()) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			work(500);
			_exit(0);
		}
		work(500);
	}
	if (!fork())
		chain(depth - 1);
	for (;;)
		pause();
}
int main(int argc, char **argv)
{
	signal(SIGCHLD, SIG_IGN);
	chain(atoi(argv[argc - 1]));
	return 0;
}
END
gcc -O1 -o tree tree.c
cat > tree.mon <<'END'
pu { OBJ:=PU; PERF_LIB:=perf; EVSET:=page-faults; REDUCTION:=faults=$0; }
all { OBJ:=Machine; PERF_LIB:=accumulate; EVSET:=pu; REDUCTION:=faults=$0; }
here { OBJ:=PU; PERF_LIB:=fake; EVSET:=one; REDUCTION:=one=$0; }
END
if "$MEMTRACE" monitor -f tree.mon --running-only -o tree.txt -- true > tree.out 2>&1; then
	# watched PID: whether something of it ran on a PU in a sample (what perf counted would say so, too), and whether its page faults
	# were counted
	watched() {
		"$MEMTRACE" monitor -f tree.mon --pid "$1" --running-only -i 50ms --samples 20 -o tree.txt > tree.out 2>&1 || echo "failed: $(cat tree.out)"
		awk '$1 ~ /^PU/ { n++ } $1 ~ /^Machine/ && $3 > 0 { faults += $3 }
			END { print (n > 0 ? "ran" : "slept"), (faults >= 64 ? "counted" : faults + 0) }' tree.here.txt tree.all.txt
	}
	./tree 3 & busy=$!
	sleep 1000 & idle=$!
	for i in $(seq 100); do
		[ "$(pgrep -x tree | wc -l)" -ge 4 ] && break
		sleep 0.1
	done
	expect "monitor of a process that sleeps: its tree" "ran counted" "$(watched $busy)"
	expect "monitor of another one beside it" "slept 0" "$(watched $idle)"
	kill -9 $busy $idle
	wait $busy $idle 2> /dev/null
else
	skip "monitor --pid --running-only: $(head -n 1 tree.out)"
fi

## family: each process is recorded or named, with the reason
cat > child.c << 'END'
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	long pid = (long)argv;
#ifdef __x86_64__
	/* fork(2), seen by no hook; with an argument */
	if (argc > 1)
		__asm__ volatile("syscall" : "=a"(pid) : "0"(57l) : "rcx", "r11", "memory");
#endif
	usleep(200000);
	if (pid)
		wait(NULL);
	return 0;
}
END
unseen=
[ "$(uname -m)" != x86_64 ] || unseen=' fork,no-hook,child'
cc -O1 -o child child.c
if cc -O1 -static -o static child.c 2> /dev/null; then
	printf '%s\n' ./static 'env -i ./child' ./static './child x' 'echo done' > family.sh
	"$MEMTRACE" record -q --backend "$backend" -o family.trace bash family.sh > family.out 2>&1
	expect "a family: output" done "$(cat family.out)"
	case $backend in
	auto|zap|rwp)
		expect "a family: what is not recorded" "exec,not-loaded,child exec,small,child exec,static,static exec,static,static$unseen" \
			"$(awk -F, '$3 == "begin" && ($4 == "exec" || $5 == "no-hook") { gsub(/"/, ""); n = split($9, path, "/"); print $4 "," $5 "," path[n] }' \
				family.trace/unrecorded.csv | grep -v env | sort | paste -sd ' ')"
		expect "a family: said" "2 statically linked, 1 that did not get the library" \
			"$("$MEMTRACE" info family.trace | grep -o '2 statically linked, 1 that did not get the library')"
		;;
	esac
else
	skip "a family: static programs cannot be linked"
fi

## early-flags: flags that every command has may stand before it
"$MEMTRACE" -q record --backend none -o early.trace true > early.out 2>&1
expect "-q before the command" "0 " "$? $(cat early.out)"
expect "-q without a command" 2 "$("$MEMTRACE" -q > /dev/null 2>&1; echo $?)"

## terminal: a terminal: stop and continue, interrupt, a shell inside
result=$(timeout 900 python3 "$here/terminal.py" "$MEMTRACE" "$backend")
expect "terminal" "cat stopped continued 0 130 inner 4" "$result"

## info: info and check as JSON, --explain, addresses and functions of code
need_pie
for c in "info --json pie.trace" "check --json"; do
	"$MEMTRACE" $c | python3 -m json.tool > /dev/null
	expect "$c" 0 "${PIPESTATUS[1]}"
done
# each code address of the records and of the ticks is in code.csv, and those of the program have functions
expect "addresses of code" "$({ cut -d, -f9 pie.trace/p0000/accesses-*.csv; cut -s -d, -f5 pie.trace/p0000/ticks.csv; } | grep -v -e Ip -e '^0$' | sort -u | wc -l)" \
	"$(tail -n +2 pie.trace/p0000/code.csv | wc -l)"
expect "functions of code" yes "$(awk -F, 'NR > 1 && $4 != "" { n++ } END { print (n > 0 ? "yes" : "no") }' pie.trace/p0000/code.csv)"
expect "seven questions" 7 "$("$MEMTRACE" info --explain pie.trace | grep -c '^[1-7]\. .*?$')"
# and fails when one has no answer: pie.trace states no purpose
"$MEMTRACE" info --explain pie.trace > /dev/null 2> err
expect "a question without an answer" "1 3" "$? $(sed -n 's/.*question \([0-9]\) has no.*/\1/p' err)"
cp -r pie.trace stated.trace
sed -i 's/"name": "pie"/"purpose": "a test", &/' stated.trace/manifest.json
"$MEMTRACE" info --explain stated.trace > /dev/null 2> err
expect "all questions answered" "0 " "$? $(cat err)"
"$MEMTRACE" info /nonexistent 2> err
expect "no such trace" 3 $?
mkdir notatrace
"$MEMTRACE" info notatrace 2> err
expect "not a trace" 3 $?
