#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Exact counts by the client of DynamoRIO: a program that counts its own accesses against the trace, equal for each page,
# thread and direction; the totals of the same program under Valgrind; odd programs. Run by ../run.sh dynamorio.
# Needs DYNAMORIO_HOME (or drrun in PATH) when the collector is built and now; else what it says without one is all.
# ALL=1 runs all odd programs (10 minutes); those that DynamoRIO cannot run are named below.

. "$(dirname "$0")/common.sh"

# ---- without DynamoRIO, and without the client
printf 'int main(void) { return 7; }\n' > plain.c
gcc -g -o plain plain.c
DYNAMORIO_HOME=$work/nothing "$MEMTRACE" check > check.out
grep -q '^dynamorio no .*there is no DynamoRIO' check.out && grep -q 'export DYNAMORIO_HOME=' check.out && pass "check without DynamoRIO" ||
	fail "check without DynamoRIO: $(grep dynamorio check.out)"
DYNAMORIO_HOME=$work/nothing record --exact=dynamorio -o no.trace ./plain 2> no.err
[ $? = 4 ] && [ ! -e no.trace ] && grep -q 'there is no DynamoRIO' no.err && pass "record without DynamoRIO" || fail "record without DynamoRIO: $(cat no.err)"
mkdir -p without home/bin64
cp "$(dirname "$MEMTRACE")/libmemtrace-preload.so" without/
printf '#!/bin/sh\necho drrun version 1.2.3 -- build 0\n' > home/bin64/drrun
chmod +x home/bin64/drrun
MEMTRACE_PRELOAD=$work/without/libmemtrace-preload.so DYNAMORIO_HOME=$work/home "$MEMTRACE" check > check.out
grep -q '^dynamorio no .*built without its client.*DynamoRIO 1.2.3' check.out && pass "check without the client" ||
	fail "check without the client: $(grep dynamorio check.out)"
mkdir -p without/dynamorio
: > without/dynamorio/client.so
printf '#!/bin/sh\n[ "$1" = -version ] || { echo "<wrong version>"; exit 3; }\necho drrun version 1.2.3 -- build 0\n' > home/bin64/drrun
MEMTRACE_PRELOAD=$work/without/libmemtrace-preload.so DYNAMORIO_HOME=$work/home "$MEMTRACE" check > check.out
grep -q '^dynamorio no .*does not run the client.*<wrong version>' check.out && pass "check with another DynamoRIO" ||
	fail "check with another DynamoRIO: $(grep dynamorio check.out)"
for wrong in "--exact=hooks --backend dynamorio" "--exact=dynamorio --windows 10%"; do
	record $wrong -o no.trace ./plain 2> no.err
	[ $? = 2 ] && [ ! -e no.trace ] && pass "$wrong" || fail "$wrong: $(cat no.err)"
done
if ! "$MEMTRACE" check --json | grep -A3 '"name": "dynamorio"' | grep -q '"works": "yes"'; then
	skip "the client of DynamoRIO: $("$MEMTRACE" check | grep '^dynamorio')"
	summary dynamorio
	exit
fi

# ---- chosen for programs without hooks, and says so; the starter is no image
timeout 300 "$MEMTRACE" record --exact -o plain.trace ./plain 2> plain.err
[ $? = 7 ] && grep -q 'runs under DynamoRIO' plain.err && grep -q 'counting with dynamorio' plain.err &&
	grep -q '"counts": "exact"' plain.trace/manifest.json && [ "$(ls -d plain.trace/p*)" = plain.trace/p0000 ] && pass auto || fail "auto: $(cat plain.err)"
gcc -static -o static plain.c
record --exact=dynamorio -o static.trace ./static 2> static.err
[ $? = 4 ] && [ ! -e static.trace ] && grep -q 'statically linked' static.err && pass static || fail "static: $(cat static.err)"

# ---- page faults do not go with it: it runs, and the image says why it is not traced
drrun=$DYNAMORIO_HOME/bin64/drrun
[ -n "$DYNAMORIO_HOME" ] || drrun=drrun
cat > two.c <<'END'
#include <pthread.h>
static void *work(void *p) { return p; }
int main(void)
{
	pthread_t t;

	return pthread_create(&t, 0, work, 0) || pthread_join(t, 0);
}
END
gcc -pthread -o two two.c
timeout -s KILL 100 "$MEMTRACE" record --quiet --backend zap -o zap.trace "$drrun" -quiet -- ./two
[ $? = 0 ] && grep -q 'runs under DynamoRIO' zap.trace/p0001/image.json && pass "zap under DynamoRIO" || fail "zap under DynamoRIO"

# ---- the truth
gcc -O2 -g -w -std=gnu11 -pthread -I"$tests/../count/api" -o truth "$here/truth.c" -ldl
gcc -O2 -g -shared -fPIC -o libtruth.so "$here/library.c"
for s in instructions threads churn signals fork exec library reuse spawn; do
	if ! record --exact=dynamorio -o truth.trace ./truth $s > truth.out 2> truth.err; then
		fail "$s: exit code: $(head -5 truth.err)"
	elif ! python3 "$here/check.py" truth.out truth.trace > truth.check; then
		fail "$s"
		sed 's/^/    /' truth.check
	elif ! "$bin/fidelity" --format truth.trace > truth.format 2>&1; then
		fail "$s: the trace does not follow the format"
		grep -v 'records$' truth.format | head -5 | sed 's/^/    /'
	else
		pass "$s: $(tail -n 1 truth.check)"
	fi
	rm -rf truth.trace
done

# ---- string instructions in both directions, calls, pushes, wide vectors at borders of pages, and faults in between
gcc -O1 -g -mavx2 -D_GNU_SOURCE -o odd "$here/odd.c" 2> odd.err
if grep -q avx2 /proc/cpuinfo; then
	record --exact=dynamorio -o odd.trace ./odd > odd.out && python3 "$here/check.py" odd.out odd.trace > odd.check &&
		pass "odd instructions: $(tail -n 1 odd.check)" || fail "odd instructions: $(cat odd.check)"
else
	skip "odd instructions: no AVX2"
fi

# ---- a thread that goes on without any access or call when the process ends: what it did before is there
cat > spins.c <<'END'
#include <pthread.h>
#include <stdatomic.h>
static volatile long a[512] __attribute__((aligned(4096)));
static atomic_int done;
static void *work(void *p)
{
	for (int i = 0; i < 12345; i++)
		a[i % 512] = i;
	atomic_store(&done, 1);
	for (;;)
		asm volatile("");
	return p;
}
int main(void)
{
	pthread_t t;

	pthread_create(&t, 0, work, 0);
	while (!atomic_load(&done))
		;
	return 0;
}
END
gcc -O2 -g -pthread -o spins spins.c
record --exact=dynamorio -o spins.trace ./spins
most=$(awk -F, 'FNR > 1 { n[substr($1, 1, length($1) - 3)] += $4 } END { for (p in n) print n[p] }' spins.trace/p0000/accesses-*.csv | sort -n | tail -n 1)
[ "$most" = 12345 ] && pass "a thread that never ends" || fail "a thread that never ends: $most accesses"

# ---- the same sums as Valgrind, in a thousandth. Valgrind knows no AVX-512, and what resolves symbols late saves what there is
total() {
	awk -F, 'FNR > 1 { n += $3 + $4 } END { printf "%d\n", n }' "$1"/p0000/accesses-*.csv
}
if "$MEMTRACE" check --json | grep -A3 '"name": "valgrind"' | grep -q '"works": "yes"'; then
	make -s -C "$tests/../../examples" BUILD="$work/examples" "$work/examples/matmul" "$work/examples/bucketsort" > /dev/null
	seq 20000 -1 1 > numbers
	for program in "examples/matmul naive -n 96 -t 2" "examples/bucketsort dynamic -i 1 -t 2" "sort -n numbers"; do
		for engine in valgrind dynamorio; do
			LD_BIND_NOW=1 GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,-AVX512CD OMP_WAIT_POLICY=passive \
				record --exact=$engine -o $engine.trace $program > /dev/null 2>&1 || fail "$program under $engine"
			total $engine.trace > $engine.total
			rm -rf $engine.trace
		done
		paste -d ' ' valgrind.total dynamorio.total | awk '{ r = $2 / $1 - 1; print $0; exit !(r < 0.001 && r > -0.001) }' > totals &&
			pass "like Valgrind: ${program%% *} ($(cat totals))" || fail "unlike Valgrind: $program: $(cat totals)"
	done
else
	skip "the same sums as Valgrind: it is not there"
fi

# ---- so much in an interval as was asked for
cat > steady.c <<'END'
#include <stdio.h>
static volatile long a[512 * 64];
/* Until the accesses have ended two intervals, however fast the machine is: time ends none. */
int main(int argc, char **argv)
{
	for (int lines = 0; argc > 1 && lines < 3;) {
		FILE *f;
		int c;

		for (int i = 0; i < 512 * 64; i++)
			a[i] = i;
		f = fopen(argv[1], "r");
		for (lines = 0; f && (c = getc(f)) != EOF;)
			lines += c == '\n';
		if (f)
			fclose(f);
	}
	return 0;
}
END
gcc -O2 -o steady steady.c
record --exact=dynamorio --interval 60s --interval-accesses 2000000 -o steady.trace ./steady steady.trace/p0000/intervals.csv
awk -F, 'NR > 1 { small += last != "" && last < 2000000; last = $NF; n++ } END { exit !(n >= 3 && !small) }' steady.trace/p0000/intervals.csv &&
	pass "intervals by accesses" || fail "intervals by accesses: $(cut -d, -f22 steady.trace/p0000/intervals.csv | tr '\n' ' ')"

# ---- context: structures, stacks
"$MEMTRACE" info spins.trace > info.out
grep -q 'stack of main thread' info.out && grep -q 'stack of thread 1' info.out && pass structures || fail "structures: $(cat info.out)"

# ---- odd programs: the same output and exit code
# DynamoRIO alone does not run sigwait, map-fixed (errno) and limit-as (its own memory)
odd="thread-name first-descriptor closefrom daemonize exec-chain raw-exit crash-in-thread sigkill shell vfork brk"
[ -z "${ALL:-}" ] || odd=$("$bin/quirks" list | cut -d ' ' -f 1 | grep -vxE 'sigwait|map-fixed|limit-as')
exact=--exact=dynamorio
odd "$bin/quirks" "" $odd

summary dynamorio
