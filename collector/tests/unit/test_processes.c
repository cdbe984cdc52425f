// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/base/util.c
// includes: cli/base/processes.c
// libs: -lzstd -lz
/* Trees of processes in a /proc that is made here, with and without the kernel's lists of children, and this process in the real one. */
#include "harness.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cli/base/processes.c"

enum { MOST = 40, THREADS = 3 };

static char dir[] = "/tmp/processesXXXXXX";
static int parent[MOST], threads[MOST], n;

static void put(const char *text, const char *fmt, ...)
{
	char path[300];
	va_list ap;
	FILE *f;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = 0;
		mkdir(path, 0700);
		*slash = '/';
	}
	f = fopen(path, "we");
	CHECK(f && fputs(text, f) >= 0 && !fclose(f));
}

static unsigned int next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned int)(*seed >> 33);
}

/* Numbers of processes: not in the order of the tree, some long. Process i is a child of thread parent[i] * THREADS + k. */
static int pid_of(int i)
{
	return 7 + i * 7919 % MOST * (i % 5 ? 1 : 100003);
}

static void make_proc(uint64_t *seed, bool listed)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	CHECK(!system(command) && !mkdir(dir, 0700));
	n = 1 + (int)(next(seed) % MOST);
	for (int i = 0; i < n; i++) {
		parent[i] = i && next(seed) % 8 ? (int)(next(seed) % (unsigned int)i) : -1;	/* forests: some are no one's children */
		threads[i] = 1 + (int)(next(seed) % THREADS);
	}
	put("1\n", "%s/uptime", dir);
	if (listed)
		put("", "%s/thread-self/children", dir);
	for (int i = 0; i < n; i++) {
		char stat[200], children[THREADS][2000] = { "" };

		snprintf(stat, sizeof(stat), "%d (a) R 9 (b) %c %d 0 0\n", pid_of(i), i % 3 ? 'S' : 'R', parent[i] < 0 ? 1 : pid_of(parent[i]));
		put(stat, "%s/%d/stat", dir, pid_of(i));
		for (int c = 0; c < n; c++)
			if (parent[c] == i)
				sprintf(strchr(children[c % threads[i]], 0), "%d ", pid_of(c));
		for (int k = 0; k < threads[i]; k++) {
			put(stat, "%s/%d/task/%d/stat", dir, pid_of(i), pid_of(i) + k * 10000);
			if (listed)
				put(children[k], "%s/%d/task/%d/children", dir, pid_of(i), pid_of(i) + k * 10000);
		}
	}
}

static bool is_below(int i, int root)
{
	while (i >= 0 && i != root)
		i = parent[i];
	return i == root;
}

static int seen[MOST];

static void see(void *arg, pid_t pid, pid_t tid)
{
	CHECK(arg == seen);
	for (int i = 0; i < n; i++)
		if (pid_of(i) == pid && (tid - pid) % 10000 == 0)
			seen[i] |= 1 << (tid - pid) / 10000;
}

static void trees(bool listed)
{
	uint64_t seed = 20261123;

	for (int round = 0; round < 12; round++) {
		struct mt_processes p = { NULL, 0, 0 };
		size_t want = 0;

		make_proc(&seed, listed);
		memset(seen, 0, sizeof(seen));
		mt_processes_add(&p, pid_of(0));
		mt_processes_add(&p, pid_of(0));
		CHECK_EQ(p.n, 1);
		for (int i = 1; i < n; i++)
			want += is_below(i, 0);
		CHECK_EQ(mt_processes_below(&p, see, seen), want);
		CHECK_EQ(p.n, want + 1);
		for (int i = 0; i < n; i++) {
			CHECK_EQ(mt_processes_has(&p, pid_of(i)), is_below(i, 0));
			CHECK_EQ(seen[i], is_below(i, 0) ? (1 << threads[i]) - 1 : 0);
		}
		CHECK_EQ(mt_processes_below(&p, NULL, NULL), 0);
		free(p.pid);
	}
}

static void fields(void)
{
	const char *stat = "5 (a b) R (c) S 3 4\n";

	CHECK_STR(mt_stat_field(stat, 3), "S 3 4\n");
	CHECK_STR(mt_stat_field(stat, 5), "4\n");
	CHECK(!mt_stat_field(stat, 6));
	CHECK(!mt_stat_field("5 (a)", 3));
	CHECK(!mt_stat_field("5 (a) ", 3));
	CHECK(!mt_stat_field("5", 3));
	CHECK(!mt_stat_field(NULL, 3));
}

static void running(void)
{
	const char *most = "1 1 1 0 -1 4 1 0 1 0 1 1 0 0 20 0 1 0 7 1 1 18 1 1 1 1 0 0 0 0 0 0 0 0 17";	/* fields 4 to 38 */
	char text[300];

	for (int cpu = 0; cpu < 300; cpu += 23) {
		snprintf(text, sizeof(text), "9 (x) %c %s %d 0 0\n", cpu % 2 ? 'R' : 'S', most, cpu);
		put(text, "%s/9/task/9/stat", dir);
		CHECK_EQ(mt_thread_running(9, 9), cpu % 2 ? cpu : -1);
	}
	put("9 (x) R 1 2\n", "%s/9/task/9/stat", dir);
	CHECK_EQ(mt_thread_running(9, 9), -1);
	put("", "%s/9/task/9/stat", dir);
	CHECK_EQ(mt_thread_running(9, 9), -1);
	CHECK_EQ(mt_thread_running(9, 8), -1);
}

static void files(void)
{
	char text[6];

	put("abc", "%s/9/task/9/comm", dir);
	for (size_t size = 2; size <= 5; size++) {
		memset(text, 'x', sizeof(text));
		CHECK(mt_thread_file(9, 9, "comm", text, size));
		CHECK_EQ(strlen(text), size > 4 ? 3 : size - 1);
		CHECK(!memcmp(text, "abc", strlen(text)) && text[size] == 'x');
	}
	CHECK(!mt_thread_file(9, 9, "none", text, sizeof(text)));
	CHECK_STR(text, "");
}

static uint64_t namespace_like(int pid, const char *other)
{
	char from[100], to[100];
	struct stat st = { 0 };

	snprintf(from, sizeof(from), "%s/%s/ns/pid", dir, other);
	snprintf(to, sizeof(to), "%s/%d/ns/pid", dir, pid);
	put("", "%s/%d/ns/x", dir, pid);
	CHECK(!link(from, to) && !stat(to, &st));
	return st.st_ino;
}

/* Three namespaces: ours, that of 21 and 22, and one below it, in which 23 has a third number. */
static void namespaces(void)
{
	uint64_t own, other, below;

	put("", "%s/self/ns/pid", dir);
	own = namespace_like(20, "self");
	put("Name:\ta\nNSpid:\t20\nNSsid:\t20\n", "%s/20/status", dir);
	put("", "%s/21/ns/pid", dir);
	put("Name:\ta\nNSpid:\t21\t1\nNSsid:\t20\t7\n", "%s/21/status", dir);
	other = namespace_like(22, "21");
	put("Name:\ta\nNSpid:\t22\t20\nNSsid:\t20\t1\n", "%s/22/status", dir);
	put("", "%s/23/ns/pid", dir);
	put("Name:\ta\nNSpid:\t23\t21\t1\n", "%s/23/status", dir);
	below = namespace_of("23");
	CHECK_EQ(mt_process_of_namespace(own, 20), 20);
	CHECK_EQ(mt_process_of_namespace(own, 99), 99);		/* whether there is one, is not asked here */
	CHECK_EQ(mt_process_of_namespace(0, 1), 1);
	CHECK_EQ(mt_process_of_namespace(other, 1), 21);
	CHECK_EQ(mt_process_of_namespace(other, 20), 22);
	CHECK_EQ(mt_process_of_namespace(other, 21), 0);
	CHECK_EQ(mt_process_of_namespace(below, 1), 23);
	CHECK_EQ(mt_process_of_namespace(below, 21), 0);
	CHECK_EQ(mt_process_of_namespace(below + other + own, 1), 0);
	CHECK_EQ(mt_process_of_namespace(below + other + own, 1), 0);
	CHECK_EQ(mt_process_of_namespace(below, 1), 23);
	put("Name:\ta\n", "%s/23/status", dir);		/* a kernel that does not tell */
	CHECK_EQ(mt_process_of_namespace(below, 1), 0);
}

static void *wait_for(void *gate)
{
	pthread_mutex_lock(gate);
	pthread_mutex_unlock(gate);
	return NULL;
}

static void count(void *arg, pid_t pid, pid_t tid)
{
	*(int *)arg += pid == getpid() && tid > 0;
}

static void this_process(void)
{
	static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	struct mt_processes p = { NULL, 0, 0 };
	struct mt_threads t;
	pthread_t other;
	int pipes[2], k = 0, met = 0;
	pid_t child;
	char c;

	proc = "/proc";
	pthread_mutex_lock(&gate);
	CHECK(!pthread_create(&other, NULL, wait_for, &gate) && !pipe(pipes));
	child = fork();
	if (!child) {
		close(pipes[1]);
		_exit(read(pipes[0], &c, 1) != 0);
	}
	mt_threads_open(&t, getpid());
	CHECK_EQ(t.pid, getpid());
	while (mt_threads_next(&t))
		k++;
	CHECK_EQ(k, 2);
	CHECK(!t.dir && !mt_threads_next(&t));
	mt_processes_add(&p, getpid());
	CHECK_EQ(mt_processes_below(&p, count, &met), 1);
	CHECK(mt_processes_has(&p, child));
	CHECK_EQ(met, 2);
	CHECK(mt_thread_running(getpid(), getpid()) >= 0);
	close(pipes[1]);
	CHECK_EQ(waitpid(child, NULL, 0), child);
	pthread_mutex_unlock(&gate);
	pthread_join(other, NULL);
	p.n = 0;
	mt_processes_add(&p, child);
	CHECK_EQ(mt_processes_below(&p, count, &met), 0);
	free(p.pid);
}

static int open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	int k = 0;

	while (readdir(d))
		k++;
	closedir(d);
	return k;
}

int main(void)
{
	const int before = open_files();
	char command[100];

	CHECK(mkdtemp(dir) != NULL);
	proc = dir;
	fields();
	trees(true);
	trees(false);
	running();
	files();
	namespaces();
	this_process();
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	CHECK(!system(command));
	CHECK_EQ(open_files(), before + 1);	/* the end of a pipe */
	return mt_test_done();
}
