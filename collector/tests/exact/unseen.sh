#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# What the default does not see is told, by kind and name: recordings with exact counts and without them of a program that maps
# memory of many kinds. Run by ../run.sh exact.

. "$(dirname "$0")/common.sh"

printf 'static const char many[] = { [0] = 1, [2000000] = 1 };\nconst char *constants(unsigned long *n);\nconst char *constants(unsigned long *n) { *n = sizeof(many); return many; }\n' > large.c
gcc -shared -fPIC -O1 -o large.so large.c
head -c $((64 * 4096)) /dev/zero > file
head -c $((32 * 4096)) /dev/zero > own
head -c 100 /dev/zero > small
"$MEMTRACE" cc -O1 -o counted "$here/blind.c" -ldl && gcc -O1 -o plain "$here/blind.c" -ldl || fail "built"

if record --exact=hooks -o exact.trace ./counted > exact.out && record --interval 20ms -o default.trace ./plain > default.out; then
	if python3 "$here/unseen.py" exact.out exact.trace default.out default.trace > compared; then
		pass "all that is not seen is told: $(tail -n 1 compared)"
	else
		fail "what is not seen is told"
		sed 's/^/    /' compared
	fi
else
	fail "recorded"
fi
"$MEMTRACE" info default.trace > info
grep -A1 '^Losses      none of what was seen' info | grep -q 'not seen: .* mapped for private writing (.*constants (large.so)' && pass "info names it" ||
	{ fail "info names it"; grep -A2 '^Losses' info | sed 's/^/    /'; }
"$MEMTRACE" info exact.trace | grep -q '^Losses      none; all memory.* seen, by the code that was built with memtrace cc' && pass "exact counts see all" ||
	fail "exact counts see all: $("$MEMTRACE" info exact.trace | grep -A1 '^Losses')"

# an object that is not known as one, as after an update of its package: its code tells
sed -i '/^O .*large.so/d' default.trace/p0000/context.log
"$MEMTRACE" finish --force default.trace > /dev/null
grep -q '^constants,.*large.so' default.trace/p0000/unseen.csv && ! grep -q '^file.*large.so' default.trace/p0000/unseen.csv &&
	pass "an object by its code" || { fail "an object by its code"; grep large.so default.trace/p0000/unseen.csv; }

# nothing but what is always there
printf '#include <stdlib.h>\nint main(void) { volatile char *p = malloc(1 << 20); for (int i = 0; i < 1 << 20; i += 4096) p[i] = 1; return 0; }\n' > usual.c
gcc -o usual usual.c
record -o usual.trace ./usual
"$MEMTRACE" info usual.trace | grep -q '^Losses      none; all memory seen but code, constants and arguments (.*, most in libc' && pass "all seen" ||
	fail "all seen: $("$MEMTRACE" info usual.trace | grep -A1 '^Losses')"

# a recorder of before told nothing
sed -i '/^Q /d' usual.trace/p0000/context.log
"$MEMTRACE" finish --force usual.trace > /dev/null
[ ! -e usual.trace/p0000/unseen.csv ] && "$MEMTRACE" info usual.trace | grep -A1 '^Losses      none of what was seen' | grep -q '^            not known what was not seen' && pass "an older trace" ||
	fail "an older trace: $("$MEMTRACE" info usual.trace | grep -A1 '^Losses')"

# cut off
printf '#include <unistd.h>\nint main(void) { for (volatile int i = 0; ; i++) usleep(1000); }\n' > forever.c
gcc -o forever forever.c
record --min-process 0 -o killed.trace -- python3 -c 'import subprocess, time; p = subprocess.Popen(["./forever"]); time.sleep(0.5); p.kill(); p.wait()'
"$MEMTRACE" info killed.trace > info
grep -q 'cut off: not known what was not seen after the last interval' info && pass "a killed program" || { fail "a killed program"; grep -A2 '^Losses' info; }

# a program that the library does not reach is told beside it, and nothing is said to be whole
printf '#include <stdio.h>\nint main(void) { puts("static"); return 0; }\n' > alone.c
gcc -static -o alone alone.c
record -o tree.trace -- python3 -c 'import subprocess; subprocess.run(["./alone"])' > tree.out
"$MEMTRACE" info tree.trace > info
[ "$(cat tree.out)" = static ] && grep -q 'not recorded: .*1 statically linked.*alone 1' info && ! grep -q 'all memory seen' info &&
	pass "a static child" || { fail "a static child"; grep -A3 '^Losses' info; cat tree.trace/unrecorded.csv; }

summary "what is not seen"
