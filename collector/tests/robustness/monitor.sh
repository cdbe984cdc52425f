#!/bin/bash
# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
#
# The monitor is a process of its own: what a program sees of it (nothing), that it writes what a program leaves that is killed, and
# that it ends when the program ends. Run by ../run.sh robustness. ONLY=PATTERN runs the cases whose name matches.

tests=$(cd "$(dirname "$0")/.." && pwd)
. "$tests/lib.sh"
need_memtrace
need_programs fidelity

wanted() {
	[[ -z "${ONLY:-}" || $1 == $ONLY ]]
}

cat > "$work/seen.c" <<'X'
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 8 << 20, PAGE = 4096 };
static volatile char *block;

static void touch(int value)
{
	for (int i = 0; i < BYTES; i += PAGE)
		block[i] = (char)value;
}

static int tasks(void)
{
	DIR *d = opendir("/proc/self/task");
	int n = -2;	/* . and .. */

	while (d && readdir(d))
		n++;
	closedir(d);
	return n;
}

static void told(const char *what, long result)
{
	printf("%s %ld %s\n", what, result, result < 0 ? strerror(errno) : "");
}

static void descriptors(void)
{
	told("first descriptor", open("/dev/null", O_RDONLY));
	told("close_range", syscall(SYS_close_range, 3, ~0u, 0));
	for (int i = 3; i < 2000; i++)
		close(i);
	told("first descriptor", open("/dev/null", O_RDONLY));
	touch(2);
	struct rlimit three = { 3, 3 };
	told("limit", setrlimit(RLIMIT_NOFILE, &three));
	told("descriptor over the limit", open("/dev/null", O_RDONLY));
	block = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	touch(3);
}

static void user_namespace(void)
{
	told("unshare", unshare(CLONE_NEWUSER));
	touch(2);
	told("uid", getuid());
}

static void enter_namespace(void)
{
	int p[2], fd;
	char path[64], c;
	pid_t child;

	pipe(p);
	child = fork();
	if (!child) {
		unshare(CLONE_NEWUSER);
		write(p[1], "", 1);
		pause();
	}
	read(p[0], &c, 1);
	snprintf(path, sizeof(path), "/proc/%d/ns/user", child);
	fd = open(path, O_RDONLY);
	told("setns", setns(fd, CLONE_NEWUSER));
	kill(child, SIGKILL);
	told("wait", waitpid(-1, NULL, 0) == child);
}

static void strict(void)
{
	fflush(stdout);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	for (int k = 0; k < 200; k++)
		touch(k);
	write(1, "strict\n", 7);
	syscall(SYS_exit, 3);
}

/* Kills whatever the monitor calls all the time; for all threads of the process. */
static void filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_move_pages, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	puts("filter");
	fflush(stdout);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	told("seccomp", syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &prog));
	for (int k = 0; k < 300; k++)
		touch(k);
	fflush(stdout);
	_exit(4);
}

static void children(void)
{
	told("wait", waitpid(-1, NULL, WNOHANG));
	told("wait for all kinds", waitpid(-1, NULL, WNOHANG | __WALL));
	told("signal", kill(0, 0));
	if (!vfork()) {
		execl("/bin/true", "true", NULL);
		_exit(9);
	}
	told("vfork", waitpid(-1, NULL, 0) > 0);
	if (!fork()) {
		touch(5);
		told("tasks of the child", tasks());
		fflush(stdout);
		_exit(waitpid(-1, NULL, WNOHANG | __WALL) == -1 ? 7 : 8);
	}
	int status;
	told("fork", waitpid(-1, &status, __WALL) > 0);
	told("status", WEXITSTATUS(status));
	told("nobody else", waitpid(-1, NULL, __WALL));
}

static void limits(void)
{
	struct rlimit one = { 1, 1 };
	struct rusage u;

	told("cpu limit", setrlimit(RLIMIT_CPU, &(struct rlimit){ 60, 60 }));
	told("core", prctl(PR_GET_DUMPABLE));
	told("dumpable", prctl(PR_SET_DUMPABLE, 0));
	told("reaper", prctl(PR_SET_CHILD_SUBREAPER, 1));
	told("death signal", prctl(PR_SET_PDEATHSIG, 0));
	touch(2);
	getrusage(RUSAGE_CHILDREN, &u);
	told("time of children", u.ru_utime.tv_sec + u.ru_stime.tv_sec);
	told("wait", waitpid(-1, NULL, WNOHANG | __WALL));
	told("processes", setrlimit(RLIMIT_NPROC, &one));
}

/* Children that are killed while their monitor begins, sooner and later. */
static void killed_early(void)
{
	int waited = 0;

	for (int k = 0; k < 400; k++) {
		const struct timespec ts = { 0, k % 100 * 150000 };
		const pid_t child = fork();

		if (!child)
			pause();
		nanosleep(&ts, NULL);
		kill(child, SIGKILL);
		waited += waitpid(child, NULL, 0) == child;
	}
	told("killed early", waited);
}

static void killed(const char *how)
{
	struct timespec ts = { 0, 300000000 };

	nanosleep(&ts, NULL);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	printf("%lld %p\n", ts.tv_sec * 1000000000ll + ts.tv_nsec, (void *)block);
	fflush(stdout);
	touch(2);	/* all pages, in the last interval, or the last ones */
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(how, "group") && !setpgid(0, 0))
		kill(0, SIGKILL);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "crash"))
		*(volatile char *)8 = 1;
#ifdef __x86_64__
	if (!strcmp(how, "raw-exit"))
		asm volatile("syscall" : : "a"(SYS_exit_group), "D"(0) : "rcx", "r11", "memory");
#endif
	if (!strcmp(how, "exec"))
		execl("/bin/true", "true", NULL);
	if (!strcmp(how, "exit"))
		_exit(0);
}

/* An exec that fails late, and what comes after it. */
static void failed(const char *script)
{
	execl(script, "script", NULL);
	told("exec", -1);
	killed("exit");
}

int main(int argc, char **argv)
{
	const struct { const char *name; void (*fn)(void); } cases[] = {
		{ "descriptors", descriptors }, { "user-namespace", user_namespace }, { "enter-namespace", enter_namespace },
		{ "strict", strict }, { "filter", filter }, { "children", children }, { "limits", limits },
		{ "killed-early", killed_early },
	};

	block = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	touch(1);
	if (argc > 2 && !strcmp(argv[1], "failed"))
		failed(argv[2]);
	else if (argc > 2)
		killed(argv[2]);
	told("tasks", tasks());
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(cases[i].name, argv[1]))
			cases[i].fn();
	told("tasks", tasks());
	return 0;
}
X
if ! gcc -O1 -w -o "$work/seen" "$work/seen.c"; then
	echo "the program of the test cannot be built"
	exit 2
fi
if ! "$MEMTRACE" check 2>/dev/null | grep -q '^monitor  yes'; then
	skip "the monitor cannot be a process of its own here: $("$MEMTRACE" check 2>/dev/null | sed -n 's/^monitor *partly *//p')"
	summary monitor
	exit
fi

# is_apart TRACE: all its images that have a monitor have one beside the program
is_apart() {
	! grep -L monitor_pid "$1"/p*/image.json | grep -q .
}

# as_alone NAME PROGRAM...: the same output and status alone and recorded
as_alone() {
	local name=$1 want got
	shift
	wanted "$name" || return 0
	"$@" > "$work/alone" 2>&1 < /dev/null
	want=$?
	rm -rf "$work/t"
	timeout 300 "$MEMTRACE" record --quiet --min-process 0 --interval 20ms -o "$work/t" -- "$@" > "$work/recorded" 2>&1 < /dev/null
	got=$?
	if [ $got != $want ] || ! cmp -s "$work/alone" "$work/recorded"; then
		fail "$name: status $got instead of $want"
		diff "$work/alone" "$work/recorded" | head -5 | sed 's/^/    /'
	elif ! is_apart "$work/t"; then
		fail "$name: a monitor is a thread of the program"
	elif ! "$bin/fidelity" --format --killed "$work/t" > "$work/format" 2>&1; then
		fail "$name: the trace does not follow the format"
		sed 's/^/    /' "$work/format" | head -3
	else
		pass "$name"
	fi
}

{
	for name in descriptors user-namespace enter-namespace strict filter children limits; do
		as_alone $name "$work/seen" $name
	done
} 2> /dev/null

# Pages that the program touched after the time that it says: those of records that end later
touched_last() {
	cat "$work"/t/p0000/accesses-*.csv | awk -F, '{ print $1, $7 }' | python3 -c '
import sys
time, block = open(sys.argv[1]).readline().split()
time, first = int(time), int(block, 16) // 4096
pages = set()
for line in sys.stdin:
    page, end = line.split()
    if page != "@Virt" and int(end) > time:
        pages.add(int(page, 16) // 4096)
print(sum(first <= p < first + 2048 for p in pages))' "$work/out"
}

# keeps NAME EVENT: what the program touched before its end is in the trace
keeps() {
	local name=$1 event=$2 last pages
	wanted "$name" || return 0
	rm -rf "$work/t"
	(ulimit -c 0; timeout 300 "$MEMTRACE" record --quiet --min-process 0 --interval 50ms --max-overhead 0 -o "$work/t" \
		-- "$work/seen" killed "$name" > "$work/out" 2>&1)
	last=$(tail -n 1 "$work/t/p0000/intervals.csv")
	pages=$(touched_last)
	if [[ ",${last}" != *[,\ ]"$event",* ]]; then
		fail "$name: the last interval does not say $event: $last"
	elif [ "$pages" != 2048 ]; then
		fail "$name: $pages of 2048 pages that it touched at the end"
	elif ! "$bin/fidelity" --format --killed "$work/t" > "$work/format" 2>&1; then
		fail "$name: the trace does not follow the format"
		sed 's/^/    /' "$work/format" | head -3
	else
		pass "$name: nothing is lost"
	fi
}

{
	keeps kill killed
	keeps group killed
	keeps abort killed
	keeps crash killed
	keeps exec exec
	keeps exit exit
	[ "$(uname -m)" != x86_64 ] || keeps raw-exit exit
} 2> /dev/null

# An exec that fails late: the program goes on, and so does its recording.
if wanted failed-exec; then
	echo "no number that a kernel knows" > "$work/script"
	chmod +x "$work/script"
	rm -rf "$work/t"
	"$MEMTRACE" record --quiet --interval 50ms --max-overhead 0 -o "$work/t" -- "$work/seen" failed "$work/script" > "$work/out" 2>&1
	sed -i '/^exec/d' "$work/out"
	pages=$(touched_last)
	if [ "$pages" = 2048 ] && grep -q '[, ]exec,' "$work/t/p0000/intervals.csv" && tail -n 1 "$work/t/p0000/intervals.csv" | grep -q '[, ]exit,'; then
		pass "failed exec: the recording goes on"
	else
		fail "failed exec: $pages of 2048 pages that it touched after it"
	fi
fi

# Other ways to start a program, and to stop it: what comes out is as alone, and no monitor stays.
if wanted surroundings; then
	as_alone surroundings bash -c "timeout 60 '$work/seen' children; nohup '$work/seen' children; setsid -w '$work/seen' children"
fi
if wanted pid-namespace; then
	if ! unshare -pf --mount-proc true 2> /dev/null; then
		skip "pid-namespace: there is none"
	else
		rm -rf "$work/t"
		"$MEMTRACE" record --quiet --min-process 0 -o "$work/t" -- unshare -pf --mount-proc "$work/seen" killed exit > "$work/out" 2>&1
		got=$?
		# the first process of a namespace would get its own monitor as an orphan: there it is a thread
		if [ $got = 0 ] && ! grep -q monitor_pid "$(grep -l 'seen", "killed"' "$work"/t/p*/image.json | tail -n 1)"; then
			pass "pid-namespace"
		else
			fail "pid-namespace: status $got"
		fi
	fi
fi
if wanted stopped; then
	rm -rf "$work/t"
	"$MEMTRACE" record --quiet --min-process 0 -o "$work/t" -- setsid -w bash -c "echo \$\$; '$work/seen' killed exit; '$work/seen' children" \
		> "$work/out" 2>&1 &
	recorder=$!
	await grep -q . "$work/out"
	group=$(head -n 1 "$work/out")
	kill -STOP -- "-$group"
	sleep 0.2
	kill -CONT -- "-$group"
	wait $recorder
	got=$?
	if [ $got = 0 ] && grep -q 'nobody else -1' "$work/out"; then
		pass "stopped and continued"
	else
		fail "stopped and continued: status $got"
	fi
fi

# The first process of a recording may be asked for a thread.
if wanted thread; then
	rm -rf "$work/t"
	MEMTRACE_MONITOR=thread "$MEMTRACE" record --quiet -o "$work/t" -- "$work/seen" killed exit > "$work/out" 2>&1
	got=$?
	if [ $got = 0 ] && ! grep -q monitor_pid "$work/t/p0000/image.json" && [ "$("$bin/fidelity" --format "$work/t" | wc -l)" -gt 0 ]; then
		pass "thread"
	else
		fail "thread: status $got"
	fi
fi

# A monitor that is killed alone: the program ends as alone, and what is lost is told.
if wanted killed-monitor; then
	rm -rf "$work/t"
	"$MEMTRACE" record --quiet --min-process 0 --interval 20ms -o "$work/t" -- bash -c "'$work/seen' children; sleep 2; read -r x < /proc/self/stat; echo end; exit 3" \
		> "$work/out" 2>&1 &
	recorder=$!
	await grep -q 'nobody else' "$work/out"
	monitor=$(sed -n 's/.*"monitor_pid": \([0-9]*\),.*/\1/p' "$work/t/p0000/image.json")
	[ -z "$monitor" ] || kill -9 "$monitor"
	wait $recorder
	got=$?
	if [ -n "$monitor" ] && [ $got = 3 ] && grep -q '^end' "$work/out" && tail -n 1 "$work/t/p0000/intervals.csv" | grep -q '[, ]lost'; then
		pass "a killed monitor"
	else
		fail "a killed monitor: status $got, $(tail -n 1 "$work/t/p0000/intervals.csv")"
	fi
fi

# Children that are killed before their monitor has found them: it ends as well.
if wanted killed-early; then
	rm -rf "$work/t"
	timeout 600 "$MEMTRACE" record --quiet --min-process 0 -o "$work/t" -- "$work/seen" killed-early > "$work/out" 2>&1
	got=$?
	if [ $got = 0 ] && grep -q 'killed early 400' "$work/out"; then
		pass "children that are killed early"
	else
		fail "children that are killed early: status $got"
	fi
fi

if wanted nobody-stays; then
	stays() {
		local stat
		for stat in /proc/[0-9]*/stat; do
			# S of a monitor whose program is gone; a zombie waits for the first process of this machine
			grep -q ' (memtrace) [^Z]' "$stat" 2> /dev/null && tr '\0' ' ' < "${stat%/stat}/cmdline" 2> /dev/null | grep -F "$work/"
		done
	}
	nobody() { [ -z "$(stays)" ]; }
	if await nobody; then
		pass "nobody stays"
	else
		fail "nobody stays: $(stays | sort | uniq -c)"
	fi
fi
summary monitor
