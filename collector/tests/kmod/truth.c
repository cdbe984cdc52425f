// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * truth [-w WORK] [-t THREADS] [-p PAGES] [-s SECONDS] [-o FILE]: programs that
 * know what they touch. Each access is bracketed by two reads of the number of
 * the running interval, so that its interval is known without clocks; the first
 * of a page in an interval is logged. -n: no log (measurements).
 */
#include "kt.h"

#include <pthread.h>
#include <sys/wait.h>

#define MAX_THREADS 64

struct thread {
	int id, tid, pid;
	unsigned seed;
	struct truth *log;
	u32 n, cap, overflow;
	u32 *last_read, *last_write;
	u64 accesses;
};

static struct thread th[MAX_THREADS];
static int nthreads = 4, nolog, iterations;
static size_t npages = 1024;
static double seconds = 2;
static const char *work_name = "linear";
static char *arena;
static u64 none[2];
static volatile u64 *interval = none;
static pthread_barrier_t barrier;

static void log_access(struct thread *t, u64 virt, u64 before, u64 after, int write, u64 from)
{
	struct truth *x;

	if (t->n == t->cap) {
		t->overflow++;
		return;
	}
	x = &t->log[t->n++];
	x->virt = virt;
	x->pid = (u32)t->pid;
	x->tid = (u32)t->tid;
	x->before = (u32)before;
	x->after = (u32)after;
	x->write = (u32)write;
	x->from = from;
	x->until = kt_ns();
}

/* keeps the access between the two reads of the interval */
static inline void fence(void)
{
#ifdef __x86_64__
	__asm__ volatile("" ::: "memory");	/* faults are taken in the order of the program */
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static inline void rd(struct thread *t, volatile u64 *a, size_t i)
{
	u64 from = nolog ? 0 : kt_ns(), before = interval[0], after;

	fence();
	(void)*a;
	fence();
	after = interval[0];
	t->accesses++;
	if (!nolog && (t->last_read[i] != (u32)after + 1 || before != after)) {
		t->last_read[i] = (u32)after + 1;
		log_access(t, (u64)a, before, after, 0, from);
	}
}

static inline void wr(struct thread *t, volatile u64 *a, size_t i, u64 v)
{
	u64 from = nolog ? 0 : kt_ns(), before = interval[0], after;

	fence();
	*a = v;
	fence();
	after = interval[0];
	t->accesses++;
	if (!nolog && (t->last_write[i] != (u32)after + 1 || before != after)) {
		t->last_write[i] = (u32)after + 1;
		log_access(t, (u64)a, before, after, 1, from);
	}
}

static inline volatile u64 *word(size_t i)
{
	return (volatile u64 *)(arena + i * PAGE + ((i * 8) & 0xff8));
}

static int is(const char *name)
{
	return !strcmp(work_name, name);
}

static void *work(void *arg)
{
	struct thread *t = arg;
	const size_t per = npages / (size_t)nthreads, b = (size_t)t->id * per;
	double end;
	u64 round = 0;

	t->tid = kt_gettid();
	t->pid = getpid();
	pthread_barrier_wait(&barrier);
	for (end = kt_now() + seconds; iterations ? round < (u64)iterations : kt_now() < end; round++) {
		if (is("linear") || is("file")) {
			for (size_t i = 0; i < per; i++)
				rd(t, word(b + i), b + i);
			for (size_t i = 0; i < per; i++)
				wr(t, word(b + i), b + i, round + 1);
		} else if (is("shared")) {
			for (size_t i = 0; i < npages; i++)
				rd(t, word(i), i);
		} else if (is("random")) {
			for (int k = 0; k < 256; k++) {
				size_t i = (size_t)rand_r(&t->seed) % npages;

				if (k & 3)
					rd(t, word(i), i);
				else
					wr(t, word(i), i, round);
			}
		} else if (is("neighbour")) {
			for (size_t i = 0; i < per; i++) {
				size_t j = (b + per + i) % npages;

				wr(t, word(b + i), b + i, round);
				rd(t, word(j), j);
			}
		} else if (is("sparse")) {
			for (u64 k = 0; k < 4; k++) {
				size_t i = (round * 4 + k + (u64)t->id * 97) % npages;

				rd(t, word(i), i);
			}
			usleep(3000);
		} else if (is("readwrite")) {
			for (size_t i = 0; i < per; i++) {
				rd(t, word(b + i), b + i);
				wr(t, word(b + i), b + i, round + 1);
			}
		} else if (is("triad")) {
			const size_t n = per / 3 * 512;
			volatile double *x = (volatile double *)(arena + b * PAGE), *y = x + n, *z = y + n;

			for (size_t i = 0; i < n; i++)
				x[i] = y[i] + 3.0 * z[i];
			t->accesses += 3 * n;
		} else if (is("gups")) {
			volatile u64 *x = (volatile u64 *)arena;
			u64 v = t->seed * 2654435761u + round;

			for (int k = 0; k < 4096; k++) {
				v = v * 6364136223846793005ull + 1442695040888963407ull;
				x[(v >> 20) % (npages * 512)] ^= v;
			}
			t->accesses += 4096;
		} else {
			DIE("no work %s", work_name);
		}
	}
	return NULL;
}

static void setup(int n)
{
	for (int i = 0; i < n; i++) {
		struct thread *t = &th[i];

		t->id = i;
		t->seed = (unsigned)i * 7919 + 1;
		t->cap = nolog ? 1 : 1u << 19;
		t->log = kt_map(t->cap * sizeof(*t->log), MAP_PRIVATE | MAP_POPULATE);
		t->last_read = kt_map(npages * 4, MAP_PRIVATE | MAP_POPULATE);
		t->last_write = kt_map(npages * 4, MAP_PRIVATE | MAP_POPULATE);
		t->tid = t->pid = getpid();
	}
}

static void save(const char *name, int n)
{
	int fd;

	if (!name)
		return;
	fd = open(name, O_CREAT | O_APPEND | O_WRONLY, 0644);
	for (int i = 0; i < n; i++) {
		const char *p = (const char *)th[i].log;
		size_t left = th[i].n * sizeof(struct truth);

		while (left) {
			ssize_t k = write(fd, p, left > 65536 ? 65536 : left);

			if (k <= 0)
				DIE("write of the truth");
			p += k;
			left -= (size_t)k;
		}
		if (th[i].overflow)
			printf("truth overflow %u\n", th[i].overflow);
	}
	close(fd);
}

/* A child reads, at once, what it inherited; or the pages that mremap has just moved are read. */
static void holes(const char *out)
{
	struct thread *t = &th[0];
	char *p = kt_map(npages * PAGE, MAP_PRIVATE);
	u64 sum = 0;

	for (size_t i = 0; i < npages; i++)
		*(volatile u64 *)(p + i * PAGE) = i;
	for (int round = 0; round < (int)seconds; round++) {
		usleep(70000);
		for (size_t i = 0; i < npages; i++)
			sum += *(volatile u64 *)(p + i * PAGE);
		if (is("fork")) {
			int status;
			pid_t k = fork();

			if (!k) {
				t->tid = t->pid = getpid();
				t->n = 0;
				memset(t->last_read, 0, npages * 4);
				for (int q = 0; q < 3; q++) {
					for (size_t i = 0; i < npages; i++)
						rd(t, (volatile u64 *)(p + i * PAGE), i);
					usleep(30000);
				}
				save(out, 1);
				_exit(0);
			}
			if (waitpid(k, &status, 0) != k || status)
				DIE("child %x", status);
		} else {
			char *d = kt_map(npages * PAGE, MAP_PRIVATE), *q;

			memset(t->last_read, 0, npages * 4);
			q = mremap(p, npages * PAGE, npages * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, d);
			if (q != d)
				DIE("mremap");
			p = q;
			for (int z = 0; z < 3; z++) {
				for (size_t i = 0; i < npages; i++)
					rd(t, (volatile u64 *)(p + i * PAGE), i);
				usleep(30000);
			}
		}
	}
	if (!is("fork"))
		save(out, 1);
	if (sum == 42)
		printf("\n");
}

int main(int argc, char **argv)
{
	const char *out = NULL, *file = "/tmp/truth.map", *fd = getenv(KT_FD_VARIABLE);
	pthread_t id[MAX_THREADS];
	double t0;
	u64 n = 0;
	int opt;

	while ((opt = getopt(argc, argv, "w:t:p:s:o:nN:")) > 0)
		switch (opt) {
		case 'w': work_name = optarg; break;
		case 't': nthreads = atoi(optarg); break;
		case 'p': npages = (size_t)atol(optarg); break;
		case 's': seconds = atof(optarg); break;
		case 'o': out = optarg; break;
		case 'n': nolog = 1; break;
		case 'N': iterations = atoi(optarg); nolog = 1; break;
		default: return 2;
		}
	if (fd) {
		void *m = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, atoi(fd), 0);

		if (m == MAP_FAILED)
			DIE("mmap of the session");
		interval = m;
		/* the mapping alone keeps the session: it shall end with ktrace */
		close(atoi(fd));
	}
	if (is("fork") || is("mremap")) {
		setup(1);
		holes(out);
		return 0;
	}
	setup(nthreads);
	if (is("file")) {
		char zero[PAGE] = "";
		int f = open(file, O_CREAT | O_RDWR | O_TRUNC, 0600);

		for (size_t i = 0; i < npages; i++)
			if (write(f, zero, PAGE) != (ssize_t)PAGE)
				DIE("write");
		arena = mmap(NULL, npages * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
		if (arena == MAP_FAILED)
			DIE("mmap of a file");
	} else {
		arena = kt_map(npages * PAGE, MAP_PRIVATE);
		for (size_t i = 0; i < npages; i++)
			*word(i) = i;
	}
	pthread_barrier_init(&barrier, NULL, (unsigned)nthreads);
	t0 = kt_now();
	for (int i = 0; i < nthreads; i++)
		if (pthread_create(&id[i], NULL, work, &th[i]))
			DIE("pthread_create");
	for (int i = 0; i < nthreads; i++) {
		pthread_join(id[i], NULL);
		n += th[i].accesses;
	}
	printf("truth: %s, %llu accesses, %.3f s\n", work_name, (unsigned long long)n, kt_now() - t0);
	save(out, nthreads);
	return 0;
}
