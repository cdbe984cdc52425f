#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Exact counts: a program that counts its own accesses against the trace, equal for each page,
# thread and direction; odd programs with hooks, which must do what they do without. Run by
# ../run.sh exact. Nothing depends on the speed of the machine.

. "$(dirname "$0")/common.sh"
exact=--exact

# build NAME WORDS...: a compiler of memtrace; what it says is shown only when it fails
build() {
	local name=$1
	shift
	"$MEMTRACE" "$@" > "$name.build" 2>&1 && return 0
	fail "$name does not compile"
	sed 's/^/    /' "$name.build" | head -20
	return 1
}

# ---- every way to access memory, as compilers of all levels make it
c="-g -w -std=gnu11 -pthread -I$tests/../count/api"
for level in -O0 -O2 "-O3 -mavx2" "-O2 -flto" -Os; do
	grep -q avx2 /proc/cpuinfo || level=${level% -mavx2}
	build kinds cc $level $c -o truth "$here/truth.c" -ldl && truth "gcc ${level// /} kinds" kinds
done
clang=$(command -v clang || ls /usr/lib/llvm-*/bin/clang 2> /dev/null | tail -n 1)
if [ -n "$clang" ]; then
	export MEMTRACE_CC=$clang
	for level in -O0 -O2 "-O3 -mavx2"; do
		grep -q avx2 /proc/cpuinfo || level=${level% -mavx2}
		build clang-kinds cc $level $c -o truth "$here/truth.c" -ldl && truth "clang ${level// /} kinds" kinds
	done
	truth "clang threads" threads
	truth "clang fork" fork
	# the hooks become part of the code: no call of them is left where it is optimised
	echo 'int main(void) { return 0; }' > lto.c
	if "$clang" -flto lto.c -o lto 2> /dev/null; then
		for level in "-O0 -flto" "-O2 -flto=thin" "-O3 -flto -mavx2" "-O2 -flto"; do
			grep -q avx2 /proc/cpuinfo || level=${level% -mavx2}
			build clang-lto cc $level $c -o truth "$here/truth.c" -ldl && truth "clang ${level// /} kinds" kinds
		done
		truth "clang -flto threads" threads
		truth "clang -flto signals" signals
		truth "clang -flto fork" fork
		build library cc -O2 -flto -g -shared -fPIC -o libtruth.so "$here/library.c" && truth "clang -flto library" library
		n=$(objdump -d --no-show-raw-insn truth | grep -c 'call.*<__tsan_[a-z_]*[rw][a-z]*[0-9]')
		[ "$n" = 0 ] && pass "no calls of hooks" || fail "$n calls of hooks in code that was optimised when it was linked"
		mkdir tmp
		TMPDIR=$PWD/tmp build clang-lto cc -O2 -flto $c -o truth "$here/truth.c" -ldl &&
			{ [ -z "$(ls tmp)" ] && pass "nothing is left" || fail "linking leaves $(ls tmp)"; }
		# a clang that does not take the hooks: they stay calls, and it says so
		printf '#!/bin/sh\ncase "$*" in *cpp-output*) exit 1 ;; esac\nexec "%s" "$@"\n' "$clang" > clang-fails
		chmod +x clang-fails
		if MEMTRACE_CC=$PWD/clang-fails "$MEMTRACE" cc -O2 -flto $c -o truth "$here/truth.c" -ldl 2> lto.err &&
		   grep -q 'the hooks stay calls' lto.err; then
			truth "clang -flto, hooks as calls" kinds
		else
			fail "hooks that do not compile"
		fi
	else
		skip "this clang does not optimise when it links"
	fi
	unset MEMTRACE_CC
else
	skip "there is no clang"
fi

# ---- instructions: those of a program whose functions are one each
c_sites="$c -o sites $here/sites.c"
for level in -O1 -O2 -Os; do
	build sites cc $level $c_sites && sites "gcc $level instructions" one routines
done
build sites cc -O2 $c_sites
for s in threads churn fork; do
	sites "instructions, $s" $s routines
done
sites "instructions, windows" windows routines --windows api
if [ -n "$clang" ]; then
	export MEMTRACE_CC=$clang
	build sites cc -O2 $c_sites && sites "clang instructions" threads routines
	if "$clang" -flto lto.c -o lto 2> /dev/null; then
		for s in threads churn fork; do
			build sites cc -O2 -flto $c_sites && sites "clang -flto instructions, $s" $s routines
		done
		MEMTRACE_WINDOWS=1 build sites cc -O2 -flto $c_sites && sites "clang -flto instructions, windows" windows routines --windows api &&
			sites "clang -flto instructions, gates" one routines
	fi
	unset MEMTRACE_CC
fi
# the accesses of pages are those without
build truth cc -O1 $c -o truth "$here/truth.c" -ldl
for s in kinds threads signals spawn; do
	truth "instructions, $s" $s --instructions
done
timeout 100 "$MEMTRACE" record --instructions -o bad.trace ./truth kinds > bad.out 2>&1
[ $? = 2 ] && [ ! -e bad.trace ] && grep -q -- '--instructions needs --exact' bad.out && pass "instructions without --exact" ||
	fail "instructions without --exact: $(cat bad.out)"

# ---- what happens to processes and threads
build truth cc -O1 $c -o truth "$here/truth.c" -ldl
build library cc -O2 -g -shared -fPIC -o libtruth.so "$here/library.c"
for s in threads churn signals fork exec library reuse spawn; do
	truth $s $s
done

./truth kinds > alone.out && [ "$(wc -l < alone.out)" = 32 ] && pass "not recorded" || fail "not recorded"

# ---- compiled and linked apart, other languages
build parts cc -c -O2 $c "$here/truth.c" && build parts-linked cc -o truth truth.o -pthread -ldl && truth "linked apart" kinds
cat > loop.cpp <<'END'
#include <cstdio>
#include <thread>
#include <vector>
static std::vector<long> v(4096 * 16);
int main()
{
	long sum = 0;
	std::thread t([] { for (auto &x : v) const_cast<volatile long &>(x) = 1; });
	t.join();
	for (auto &x : v)
		sum += const_cast<volatile long &>(x);
	std::printf("%ld\n", sum);
	return 3;
}
END
build loop c++ -O2 -g -pthread -o loop loop.cpp
record -o loop.trace ./loop > loop.out
[ $? = 3 ] && [ "$(cat loop.out)" = 65536 ] && pass "C++: exit code and output" || fail "C++: exit code or output"
# the pages in the middle of the vector: 512 writes by one thread, 512 reads by the other
awk -F, '$3 == 512 { read[$8]++ } $4 == 512 && !$3 { written[$8]++ }
	END { for (t in read) for (u in written) ok += t != u && read[t] >= 126 && written[u] >= 126; print ok + 0 }' loop.trace/p0000/accesses-*.csv > loop.pages
[ "$(cat loop.pages)" = 1 ] && pass "C++: counts" || fail "C++: counts of the vector"
if command -v gfortran > /dev/null; then
	cat > loop.f90 <<'END'
program loop
	real(8), allocatable, volatile :: a(:)
	integer :: i
	allocate(a(65536))
	do i = 1, 65536
		a(i) = 1
	end do
	print '(i0)', int(sum(a))
end
END
	build fortran fortran -O2 -g -o floop loop.f90
	record -o floop.trace ./floop > floop.out
	n=$(awk -F, '$3 == 512 && $4 == 512 { n++ } END { print n + 0 }' floop.trace/p0000/accesses-*.csv)
	[ "$(cat floop.out)" = 65536 ] && [ "$n" -ge 126 ] && pass Fortran || fail "Fortran: $(cat floop.out), $n pages"
	cat > window.f90 <<'END'
program window
	use memtrace
	real(8), allocatable, volatile :: a(:)
	integer :: i
	allocate(a(65536))
	a = 1
	call memtrace_window_open()
	do i = 1, 65536
		a(i) = 2
	end do
	call memtrace_window_close()
	a = 3
end program
END
	build fortran fortran -O2 -g -o fwindow "$tests/../count/api/memtrace.f90" window.f90
	record --windows api -o fwindow.trace ./fwindow
	n=$(awk -F, 'FNR > 1 && $4 == 512 && !$3 { n++ } FNR > 1 && $4 > 512 { n = -999 } END { print n + 0 }' fwindow.trace/p0000/accesses-*.csv)
	[ "$n" -ge 126 ] && pass "Fortran, windows" || fail "Fortran, windows: $n pages"
else
	skip "there is no gfortran"
fi

# ---- intervals by accesses: as many as the accesses ask for, however fast the machine is
cat > steady.c <<'END'
#include <stdio.h>
static volatile long a[512 * 64];
int main(void)
{
	for (int k = 0; k < 8000; k++)
		for (int i = 0; i < 512 * 64; i++)
			a[i] = i;
	return 0;
}
END
build steady cc -O2 -g -o steady steady.c
record --interval 60s --interval-accesses 5000000 -o steady.trace ./steady
awk -F, 'NR > 1 { small += last != "" && last < 5000000; last = $NF; n++; sum += $NF } END { print sum, small + 0, (n >= 2 && n <= 54) }' steady.trace/p0000/intervals.csv > steady.out
[ "$(cat steady.out)" = "262144000 0 1" ] && pass "intervals by accesses" || fail "intervals by accesses: $(cat steady.out)"

# ---- windows: what is in them is equal, what is outside is not there
scenarios="threads churn signals fork exec library reuse spawn"
windows() {
	truth "$1, windows" windows --windows api
	# turned as often as it goes, at any moment: the program does the same, and nothing is counted that was not
	for s in $scenarios; do
		truth "$1, $s, 1 of 2 ms" $s --some --windows 1ms/2ms
	done
}
build windows cc -O2 $c -o truth "$here/truth.c" -ldl && windows gcc
build windows cc -O0 $c -o truth "$here/truth.c" -ldl && truth "gcc -O0, windows" windows --windows api
if [ -n "$clang" ]; then
	export MEMTRACE_CC=$clang
	build windows cc -O2 $c -o truth "$here/truth.c" -ldl && windows clang
	if "$clang" -flto lto.c -o lto 2> /dev/null; then
		export MEMTRACE_WINDOWS=1
		for level in "-O2 -flto=thin" "-O3 -flto -mavx2" "-O2 -flto"; do
			grep -q avx2 /proc/cpuinfo || level=${level% -mavx2}
			build windows cc $level $c -o truth "$here/truth.c" -ldl && truth "clang ${level// /}, whole" kinds &&
				truth "clang ${level// /}, windows" windows --windows api
		done
		build library cc -O2 -flto -g -shared -fPIC -o libtruth.so "$here/library.c" && windows "clang -flto"
		unset MEMTRACE_WINDOWS
		build windows cc -O2 -flto $c -o truth "$here/truth.c" -ldl
		record --windows api -o ungated.trace ./truth windows > ungated.out
		[ $? = 0 ] && grep -q 'MEMTRACE_WINDOWS=1' ungated.trace/p0000/image.json && [ "$(cat ungated.trace/p0000/accesses-*.csv | wc -l)" = 1 ] &&
			pass "hooks without gates" || fail "hooks without gates"
		rm -rf ungated.trace
	fi
	unset MEMTRACE_CC
fi
build library cc -O2 -g -shared -fPIC -o libtruth.so "$here/library.c"

# a share is what it is: 10 % were asked for, and the trace says how much it was
cat > share.c <<'END'
#include <stdio.h>
#include <time.h>
static volatile long a[512 * 8];
int main(int argc, char **argv)
{
	FILE *f;
	char line[100];
	int opened = 0, closed = 0;
	/* until several windows were there, however fast the machine is */
	while (closed < 3) {
		for (int k = 0; k < 100; k++)
			for (int i = 0; i < 512 * 8; i++)
				a[i] = i;
		opened = closed = 0;
		f = fopen(argv[1], "r");
		while (f && fgets(line, sizeof(line), f)) {
			for (char *p = line; *p; p++)
				if (*p == ',')
					p[1] == '1' ? opened++ : opened && closed++;
		}
		if (f)
			fclose(f);
	}
	return 0;
}
END
build share cc -O2 -g -w -o share share.c
record --windows 10% -o share.trace ./share share.trace/p0000/windows.csv
python3 - share.trace <<'END' && pass "a share" || fail "a share"
import csv, json, sys
m = json.load(open(sys.argv[1] + '/manifest.json'))
w, g = m['windows'], m['backend']['guarantee']
turns = [(int(r['Time']), int(r['Open'])) for r in csv.DictReader(open(sys.argv[1] + '/p0000/windows.csv'))]
assert [o for _, o in turns] == [i % 2 for i in range(len(turns))], turns
rows = list(csv.DictReader(open(sys.argv[1] + '/p0000/intervals.csv')))
turns.append((int(rows[-1]['End']), 0))
seen = sum(e - s for (s, o), (e, _) in zip(turns, turns[1:]) if o)
assert abs(seen - w['seen_ns']) <= 0.01 * seen + 1e6, (seen, w)
assert w['windows'] >= 3 and 0 < w['seen_ns'] < w['of_ns'] and w['asked'] == '10%', w
assert g['counts'] == 'windows' and g['pages'] == 'sampled', g
spans = [(s, e) for (s, o), (e, _) in zip(turns, turns[1:]) if o]
assert all(r['Accesses'] == '0' or any(s < int(r['End']) and int(r['Start']) < e for s, e in spans) for r in rows)
assert sum(int(r['Accesses']) for r in rows) > 0
END

# a signal for record, not for the program: it opens, and it closes
cat > signalled.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static volatile long a[512 * 8] __attribute__((aligned(4096)));
static int turns(const char *file)
{
	FILE *f = fopen(file, "r");
	int n = 0, c;
	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n - 2;		/* the head, and how it was at the beginning */
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 512 * 8; i++)
		a[i] = i;
	for (int k = 1; k <= 2; k++) {
		kill(getppid(), SIGUSR2);
		for (int i = 0; turns(argv[1]) < k && i < 6000; i++)
			usleep(10000);
		for (int i = 0; i < 512 * 2; i++)
			a[i] = i;
	}
	return 5;
}
END
build signalled cc -O2 -g -w -o signalled signalled.c
record --windows signal -o signalled.trace ./signalled signalled.trace/p0000/windows.csv
code=$?
n=$(awk -F, '$4 >= 500 { n += $4 } END { print n + 0 }' signalled.trace/p0000/accesses-*.csv)
[ $code = 5 ] && [ "$n" = 1024 ] && [ ! -e signalled.trace/.windows ] && pass "a signal" || fail "a signal: code $code, $n accesses"
for w in 0% 100% 10 1s/100ms 5s/5s 100us/1s signal:KILL sometimes; do
	record --windows $w -o bad.trace ./truth kinds > bad.out 2>&1
	[ $? = 2 ] && [ ! -e bad.trace ] || fail "--windows $w: $(cat bad.out)"
done
timeout 100 "$MEMTRACE" record --windows 10% -o bad.trace ./truth kinds > bad.out 2>&1
[ $? = 2 ] && pass "windows that are none" || fail "windows without --exact"

# ---- killed: what came until then is there
cat > dies.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static volatile long a[512 * 8];
/* How many intervals the recorder has written. */
static int intervals(void)
{
	FILE *f = fopen("dies.trace/p0000/intervals.csv", "r");
	int n = 0, c;
	while (f && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f)
		fclose(f);
	return n;
}
int main(int argc, char **argv)
{
	for (int i = 0; i < 512 * 8; i++)
		a[i] = i;
	/* the interval in which the loop ended is written: another one that began later is */
	for (int before = intervals(), i = 0; intervals() < before + 2 && i < 6000; i++)
		usleep(10000);
	(void)argv;
	if (argc > 1)
		raise(SIGKILL);
	*(volatile int *)8 = 1;
}
END
build dies cc -O2 -g -w -o dies dies.c
for how in "" kill; do
	{ (ulimit -c 0; record --interval 20ms -o dies.trace ./dies $how); } 2> /dev/null
	code=$?
	n=$("$MEMTRACE" info dies.trace | grep -c ' 8 pages\| 9 pages\|1[0-9] pages')
	[ $code = $([ -z "$how" ] && echo 139 || echo 137) ] && [ "$(awk -F, '$4 == 512' dies.trace/p0000/accesses-*.csv | wc -l)" -ge 7 ] &&
		pass "killed ${how:-by a fault}" || fail "killed ${how:-by a fault}: code $code, $n"
	rm -rf dies.trace
done

# ---- what cannot be counted says so
printf 'int main(void) { return 0; }\n' > plain.c
gcc -o plain plain.c
record --windows 10% -o plain.trace ./plain 2> plain.err
[ $? = 4 ] && [ ! -e plain.trace ] && grep -q "was not built with 'memtrace cc'" plain.err && pass "a program without hooks" || fail "a program without hooks"
timeout 120 "$MEMTRACE" record --quiet --exact=hooks -o plain.trace ./plain 2> plain.err
[ $? = 0 ] && grep -q '"backend_message": "no part of this program was built with memtrace cc"' plain.trace/p0000/image.json &&
	pass "a program without hooks, asked for" || fail "a program without hooks, asked for"
"$MEMTRACE" cc -fsanitize=thread plain.c 2> plain.err
[ $? = 2 ] && pass "with a race detector" || fail "with a race detector"
"$MEMTRACE" cc -static plain.c 2> plain.err
[ $? = 2 ] && pass "static" || fail "static"
MEMTRACE_CC=no-such-compiler "$MEMTRACE" cc plain.c 2> plain.err
[ $? = 127 ] && grep -q MEMTRACE_CC plain.err && pass "no compiler" || fail "no compiler"

# ---- odd programs: the same output and exit code with hooks, recorded
build quirks cc -std=gnu11 -g -O2 -w -pthread -o quirks "$tests/workloads/quirks.c"
# whole, in windows that turn all the time, and with all instructions
for options in "" "--windows 1ms/2ms" "--instructions"; do
	odd ../quirks "$options" $("$bin/quirks" list | cut -d ' ' -f 1)
done

summary exact
