#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# Exact counts by the tool of Valgrind: a program that counts its own accesses against the trace, equal for each page,
# thread and direction; the same program with hooks; odd programs. Run by ../run.sh valgrind.
# ALL=1 runs all odd programs (10 minutes); those that Valgrind cannot run are named below.

. "$(dirname "$0")/common.sh"

# ---- without the tool
printf 'int main(void) { return 7; }\n' > plain.c
gcc -g -o plain plain.c
mkdir without
cp "$(dirname "$MEMTRACE")/libmemtrace-preload.so" without/
MEMTRACE_PRELOAD=$work/without/libmemtrace-preload.so "$MEMTRACE" check > check.out
grep -q '^valgrind no .*built without its tool' check.out && grep -q 'apt-get install valgrind' check.out && pass "check without the tool" ||
	fail "check without the tool"
MEMTRACE_PRELOAD=$work/without/libmemtrace-preload.so record --exact=valgrind -o no.trace ./plain 2> no.err
[ $? = 4 ] && [ ! -e no.trace ] && grep -q 'apt-get install valgrind' no.err && pass "record without the tool" || fail "record without the tool: $(cat no.err)"
for wrong in "--exact=zap" "--exact=nothing" "--exact=hooks --backend valgrind" "--exact=valgrind --windows 10%"; do
	record $wrong -o no.trace ./plain 2> no.err
	[ $? = 2 ] && [ ! -e no.trace ] && pass "$wrong" || fail "$wrong: $(cat no.err)"
done
if ! "$MEMTRACE" check --json | grep -A3 '"name": "valgrind"' | grep -q '"works": "yes"'; then
	skip "the tool of Valgrind is not built: there is no package valgrind"
	summary valgrind
	exit
fi

# ---- chosen for programs without hooks, and says so
timeout 300 "$MEMTRACE" record --exact -o plain.trace ./plain 2> plain.err
[ $? = 7 ] && grep -q 'threads run one at a time' plain.err && grep -q 'counting with valgrind' plain.err &&
	grep -q '"counts": "exact"' plain.trace/manifest.json && ! ls plain.trace | grep -q valgrind- && pass auto || fail "auto: $(cat plain.err)"

# ---- the truth
gcc -O2 -g -w -std=gnu11 -pthread -I"$tests/../count/api" -o truth "$here/truth.c" -ldl
gcc -O2 -g -shared -fPIC -o libtruth.so "$here/library.c"
exact=--exact=valgrind
for s in instructions threads churn signals fork exec library reuse spawn; do
	truth $s $s
done
gcc -O2 -g -w -std=gnu11 -pthread -I"$tests/../count/api" -o sites "$here/sites.c"
for s in one threads churn fork; do
	sites "instructions, $s" $s ""
done
for s in instructions threads signals exec spawn; do
	truth "with instructions, $s" $s --instructions
done

# ---- static programs: the tool writes, and the launcher makes the trace of it
for pie in -static -static-pie; do
	gcc $pie -O2 -g -w -std=gnu11 -pthread -I"$tests/../count/api" -o truth "$here/truth.c" -ldl 2> static.err ||
		{ skip "no $pie: $(head -1 static.err)"; continue; }
	for s in instructions threads churn signals fork exec reuse spawn; do
		truth "$pie $s" $s
	done
done
gcc -static -O2 -g -w -std=gnu11 -pthread -I"$tests/../count/api" -o sites "$here/sites.c"
for s in threads fork; do
	sites "static, instructions, $s" $s ""
done
cat > static.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile long table[512 * 4] __attribute__((aligned(4096)));
int main(int argc, char **argv)
{
	for (int i = 0; i < 512 * 4; i++)
		table[i] = i;
	memset(malloc(100000), 1, 100000);
	for (int fd = 3; fd < 100; fd++)
		close(fd);
	if (argc > 1)
		raise(SIGKILL);
	return write(3, "x", 1) == 1 ? 9 : 7;
}
END
gcc -g -static -w -o static static.c
timeout 300 "$MEMTRACE" record --exact=valgrind -o static.trace ./static 2> static.err
code=$?
"$MEMTRACE" info static.trace > static.out
[ $code = 7 ] && grep -q 'its accesses are recorded, its allocations are not' static.err && grep -q 'static *16 KiB .* table .*static.c:5' static.out &&
	grep -q 'brk ' static.out && grep -q 'stack of main thread' static.out && ! ls static.trace | grep -q valgrind- &&
	[ "$(awk -F, '$4 == 512' static.trace/p0000/accesses-*.csv | wc -l)" = 4 ] && pass static || fail "static: $code $(cat static.err static.out)"
rm -rf static.trace
record --interval 1ms -o static.trace ./static kill 2> static.err
[ $? = 137 ] && [ -e static.trace/p0000/image.json ] && pass "static, killed" || fail "static, killed: $(cat static.err)"
# beside programs that have the library
printf '#!/bin/sh\n./static\n./plain\n' > both.sh && chmod +x both.sh
record --min-process 0 -o both.trace ./both.sh 2> both.err
[ $? = 7 ] && [ "$(grep -l 'no allocations' both.trace/p*/image.json | wc -l)" = 1 ] && [ "$(ls -d both.trace/p* | wc -l)" = 3 ] &&
	pass "static, started by another one" || fail "static, started by another one: $(cat both.err; ls both.trace)"

# ---- hooks and Valgrind see the same of one program
cat > same.c <<'END'
#include <pthread.h>
static volatile long a[512 * 64] __attribute__((aligned(4096))), b[512 * 64] __attribute__((aligned(4096)));
static void *work(void *p)
{
	for (int k = 0; k < 100; k++)
		for (int i = 0; i < 512 * 64; i++)
			a[i] = b[(i * 7 + (p != 0)) % (512 * 64)] + k;
	return 0;
}
int main(void)
{
	pthread_t t;
	pthread_create(&t, 0, work, 0);
	work(&t);
	return pthread_join(t, 0);
}
END
# pages DIR: reads and writes of the pages that have thousands, by the number of the thread, without their addresses
pages() {
	awk -F, 'FNR > 1 { page = substr($1, 1, length($1) - 3); at[page] = 1; n[page] += $3; w[page] += $4 }
		END { for (p in at) if (n[p] > 5000 || w[p] > 5000) print p, n[p], w[p] }' "$1"/p0000/accesses-*.csv |
		awk '$2 % 512 == 0 && $3 % 512 == 0 { print $2, $3 }' | sort | uniq -c
}
"$MEMTRACE" cc -O2 -g -pthread -o same-hooks same.c 2> build.err && gcc -O2 -g -pthread -o same same.c
exact=--exact record -o hooks.trace ./same-hooks && record -o valgrind.trace ./same
pages hooks.trace > hooks.pages
pages valgrind.trace > valgrind.pages
[ "$(awk '{ n += $1 } END { print n }' hooks.pages)" = 128 ] && cmp -s hooks.pages valgrind.pages && pass "like hooks" ||
	fail "unlike hooks: $(cat hooks.pages) instead of $(cat valgrind.pages)"

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
record --interval 60s --interval-accesses 2000000 -o steady.trace ./steady steady.trace/p0000/intervals.csv
awk -F, 'NR > 1 { small += last != "" && last < 2000000; last = $NF; n++ } END { exit !(n >= 3 && !small) }' steady.trace/p0000/intervals.csv &&
	pass "intervals by accesses" || fail "intervals by accesses: $(cut -d, -f22 steady.trace/p0000/intervals.csv | tr '\n' ' ')"

# ---- context: structures, stacks, and where an allocation was made
"$MEMTRACE" info valgrind.trace > info.out
grep -q 'static *256 KiB .* a ' info.out && grep -q 'stack of main thread' info.out && grep -q 'stack of thread 1' info.out && pass structures ||
	fail "structures: $(cat info.out)"

# ---- odd programs: the same output and exit code
# Valgrind does not run: segv-mprotect, barriers (no write bit of a page fault), map-fixed (errno), reservation (address space),
# vfork, clone (share no memory with children), and programs that measure
odd="thread-name first-descriptor closefrom daemonize exec-chain raw-exit crash-in-thread sigkill shell"
[ -z "${ALL:-}" ] || odd=$("$bin/quirks" list | cut -d ' ' -f 1 | grep -vxE 'segv-mprotect|barriers|map-fixed|reservation|vfork|clone')
odd "$bin/quirks" "" $odd
odd "$bin/quirks" --instructions thread-name exec-chain crash-in-thread

summary valgrind
