/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/record/family.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/backend/backend.h"
#include "cli/base/processes.h"
#include "cli/base/program.h"
#include "common/quietwords.h"
#include "common/tracenames.h"
#include "cli/trace/tracedir.h"
#include "cli/base/util.h"

#define RING_PAGES 16
#define POLL_MS 100
#define SHORT_NS 50000000	/* a child that ends sooner did nothing but that */
#define BUSY_NS 1000000000	/* and one that executes a program sooner, also on a busy machine: vfork() */
#define LOOKS 3			/* by /proc: seen less often it may be a child that is about to execute something else, or nearly */

/* A program in a process: from @begin to before @end. */
struct stretch {
	pid_t pid, parent;
	uint64_t begin, end;	/* ns of CLOCK_MONOTONIC; UINT64_MAX: it still runs */
	bool exec;		/* it came by exec, else by fork */
	bool ours;		/* it came by fork, and has the name of our processes */
	unsigned int looks;	/* by /proc: how often it was seen */
	char *program;		/* a path, or a name */
};

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
};

struct mt_family {
	struct ring *ring;
	size_t n_rings, ring_bytes, page_bytes;
	struct stretch *stretch;
	size_t n, cap;
	uint32_t *last;		/* by process: index + 1 of its latest stretch */
	size_t n_last;
	uint64_t lost;
	struct mt_processes seen;	/* by /proc */
	uint64_t looked;		/* there, before; ns */
	pid_t root;
	pthread_t thread;
	int stop[2];
};

/* ---- stretches */

static uint32_t *last_of(struct mt_family *f, pid_t pid)
{
	size_t n = f->n_last ? f->n_last : 4096;

	if (pid < 0 || pid > 1 << 22)
		return NULL;
	while (n <= (size_t)pid)
		n *= 2;
	if (n > f->n_last) {
		uint32_t *more = mt_alloc(n * sizeof(*more));

		if (f->n_last)
			memcpy(more, f->last, f->n_last * sizeof(*more));
		free(f->last);
		f->last = more;
		f->n_last = n;
	}
	return &f->last[pid];
}

static struct stretch *current(struct mt_family *f, pid_t pid)
{
	const uint32_t *last = last_of(f, pid);

	return last && *last ? &f->stretch[*last - 1] : NULL;
}

static void begin(struct mt_family *f, pid_t pid, pid_t parent, uint64_t time, bool exec, const char *program)
{
	uint32_t *last = last_of(f, pid);

	if (!last)
		return;
	MT_GROW(f->stretch, f->n, f->cap);
	f->stretch[f->n] = (struct stretch){ .pid = pid, .parent = parent, .begin = time, .end = UINT64_MAX, .exec = exec,
					     .program = mt_strdup(program) };
	*last = (uint32_t)++f->n;
}

static void end(struct mt_family *f, pid_t pid, uint64_t time)
{
	struct stretch *s = current(f, pid);

	if (!s)
		return;
	s->end = time;
	*last_of(f, pid) = 0;
}

/* What a process has become; the path comes with its first mapping. */
static void becomes(struct mt_family *f, pid_t pid, uint64_t time, const char *name)
{
	struct stretch *s = current(f, pid);
	const pid_t parent = s ? s->parent : 0;

	if (s)
		s->end = time;
	begin(f, pid, parent, time, true, name);
}

/* ---- the kernel's records */

/* What sample_id_all puts behind a record: pid, tid, time. */
struct tail {
	uint32_t pid, tid;
	uint64_t time;
};

static void take(struct mt_family *f, const struct perf_event_header *h, const char *body, size_t size)
{
	struct { uint32_t pid, ppid, tid, ptid; } fork;
	struct { uint32_t pid, tid; } who;
	struct tail tail;
	struct stretch *s;

	if (size < sizeof(tail) + sizeof(who))
		return;
	memcpy(&tail, body + size - sizeof(tail), sizeof(tail));
	memcpy(&who, body, sizeof(who));
	switch (h->type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		memcpy(&fork, body, sizeof(fork));
		if (fork.pid != fork.tid)	/* a thread */
			break;
		if (h->type == PERF_RECORD_EXIT) {
			end(f, (pid_t)fork.pid, tail.time);
		} else if (!current(f, (pid_t)fork.pid)) {
			s = current(f, (pid_t)fork.ppid);
			begin(f, (pid_t)fork.pid, (pid_t)fork.ppid, tail.time, false, s ? s->program : "");
		}
		break;
	case PERF_RECORD_COMM:
		if (h->misc & PERF_RECORD_MISC_COMM_EXEC)
			becomes(f, (pid_t)who.pid, tail.time, body + sizeof(who));
		else if ((s = current(f, (pid_t)who.pid)) && !s->exec && who.pid == who.tid && !strcmp(body + sizeof(who), MT_OUR_COMM))
			s->ours = true;
		break;
	case PERF_RECORD_MMAP:
		/* pid, tid, addr, len, pgoff, filename: the first one after exec is of the program itself */
		s = current(f, (pid_t)who.pid);
		if (s && s->exec && s->program[0] != '/' && body[32] == '/') {
			free(s->program);
			s->program = mt_strdup(body + 32);
		}
		break;
	}
}

/* The records of all rings by their time: a fork may be in another ring than what follows. */
struct record {
	struct perf_event_header h;
	uint64_t time;
	char *body;
	size_t size;
};

static int by_time(const void *x, const void *y)
{
	const struct record *a = x, *b = y;

	return a->time < b->time ? -1 : a->time > b->time;
}

static void drain(struct mt_family *f)
{
	struct record *all = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < f->n_rings; i++) {
		struct perf_event_mmap_page *p = f->ring[i].page;
		const char *data = (const char *)p + f->page_bytes;
		const uint64_t head = __atomic_load_n(&p->data_head, __ATOMIC_ACQUIRE);
		uint64_t at = p->data_tail;

		while (at < head) {
			struct perf_event_header h;
			struct record r;

			for (size_t k = 0; k < sizeof(h); k++)
				((char *)&h)[k] = data[(at + k) % f->ring_bytes];
			if (h.size < sizeof(h))
				break;
			r = (struct record){ .h = h, .size = h.size - sizeof(h), .body = mt_alloc(h.size) };
			for (size_t k = 0; k < r.size; k++)
				r.body[k] = data[(at + sizeof(h) + k) % f->ring_bytes];
			r.body[r.size] = 0;
			if (h.type == PERF_RECORD_LOST && r.size >= 16) {
				uint64_t lost;

				memcpy(&lost, r.body + 8, sizeof(lost));
				f->lost += lost;
			}
			if (r.size >= sizeof(struct tail))
				r.time = ((const struct tail *)(r.body + r.size - sizeof(struct tail)))->time;
			MT_GROW(all, n, cap);
			all[n++] = r;
			at += h.size;
		}
		__atomic_store_n(&p->data_tail, at, __ATOMIC_RELEASE);
	}
	if (n)
		qsort(all, n, sizeof(*all), by_time);
	for (size_t i = 0; i < n; i++) {
		take(f, &all[i].h, all[i].body, all[i].size);
		free(all[i].body);
	}
	free(all);
}

static void close_rings(struct mt_family *f)
{
	for (size_t i = 0; i < f->n_rings; i++) {
		munmap(f->ring[i].page, f->page_bytes + f->ring_bytes);
		close(f->ring[i].fd);
	}
	free(f->ring);
	f->ring = NULL;
	f->n_rings = 0;
}

/* One event for each CPU, since an inherited one can only be mapped so. Without all of them there is none. */
static bool open_rings(struct mt_family *f)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct perf_event_attr a = {
		.size = sizeof(a), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_DUMMY, .sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME, .sample_id_all = 1, .inherit = 1, .exclude_kernel = 1, .exclude_hv = 1,
		.task = 1, .comm = 1, .comm_exec = 1, .mmap = 1, .watermark = 1, .use_clockid = 1, .clockid = CLOCK_MONOTONIC,
	};

	a.wakeup_watermark = (uint32_t)(f->ring_bytes / 4);
	f->ring = mt_alloc((size_t)(cpus > 0 ? cpus : 1) * sizeof(*f->ring));
	for (int cpu = 0; cpu < cpus; cpu++) {
		struct ring r = { .fd = (int)syscall(SYS_perf_event_open, &a, f->root, cpu, -1, PERF_FLAG_FD_CLOEXEC) };

		if (r.fd < 0 && (errno == ENODEV || errno == ENXIO))
			continue;	/* not online */
		r.page = r.fd < 0 ? MAP_FAILED : mmap(NULL, f->page_bytes + f->ring_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r.fd, 0);
		if (r.page == MAP_FAILED) {
			if (r.fd >= 0)
				close(r.fd);
			close_rings(f);
			return false;
		}
		f->ring[f->n_rings++] = r;
	}
	return f->n_rings > 0;
}

/* ---- what /proc shows, where there are no events */

static char *program_of(pid_t pid)
{
	char path[64], target[PATH_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = 0;
	return mt_strdup(target);
}

static void look(struct mt_family *f)
{
	const uint64_t now = mt_monotonic_ns();

	f->seen.n = 0;	/* numbers are used again: only what is below now */
	mt_processes_add(&f->seen, f->root);
	mt_processes_below(&f->seen, NULL, NULL);
	for (size_t i = 0; i < f->seen.n; i++) {
		const pid_t pid = f->seen.pid[i];
		struct stretch *s = current(f, pid);
		char *program = program_of(pid);

		if (!*program)
			end(f, pid, now);
		else if (!s || strcmp(s->program, program))	/* since the look before */
			becomes(f, pid, f->looked, program);
		s = *program ? current(f, pid) : NULL;
		if (s)
			s->looks++;
		free(program);
	}
	for (size_t i = 0; f->stretch && i < f->n; i++)
		if (f->stretch[i].end == UINT64_MAX && !mt_processes_has(&f->seen, f->stretch[i].pid))
			end(f, f->stretch[i].pid, now);
	f->looked = now;
}

static void *watch(void *arg)
{
	struct mt_family *f = arg;
	struct pollfd *p = mt_alloc((f->n_rings + 1) * sizeof(*p));

	p[0] = (struct pollfd){ f->stop[0], POLLIN, 0 };
	for (size_t i = 0; i < f->n_rings; i++)
		p[i + 1] = (struct pollfd){ f->ring[i].fd, POLLIN, 0 };
	do {
		if (f->n_rings)
			drain(f);
		else
			look(f);
		/* the events of a program that is over say so at once, and for ever */
		for (size_t i = 0; i < f->n_rings; i++)
			if (p[i + 1].revents & POLLHUP)
				p[i + 1].fd = -1;
	} while ((poll(p, f->n_rings + 1, f->n_rings ? 10 * POLL_MS : POLL_MS) >= 0 || errno == EINTR) && !p[0].revents);
	free(p);
	return NULL;
}

struct mt_family *mt_family_open(pid_t pid)
{
	struct mt_family *f = mt_alloc(sizeof(*f));
	sigset_t all, old;
	int err;

	*f = (struct mt_family){ .root = pid };
	f->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	f->ring_bytes = RING_PAGES * f->page_bytes;
	if (pipe2(f->stop, O_CLOEXEC)) {
		free(f);
		return NULL;
	}
	open_rings(f);
	f->looked = mt_monotonic_ns();
	begin(f, pid, getpid(), f->looked, false, "");
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&f->thread, NULL, watch, f);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!err)
		return f;
	close_rings(f);
	close(f->stop[0]);
	close(f->stop[1]);
	free(f);
	return NULL;
}

/* ---- what is not in the trace */

/* When images began, and processes that have a line: by process. */
struct known {
	pid_t pid;
	uint64_t time;
	char *program;
	bool apart;	/* an image that keeps its children apart from its memory, so that it knows each of them */
};

static int by_process(const void *x, const void *y)
{
	const struct known *a = x, *b = y;

	return a->pid != b->pid ? (a->pid < b->pid ? -1 : 1) : a->time < b->time ? -1 : a->time > b->time;
}

/* Does the backend of the image keep the memory of its process in a file? */
static bool keeps_apart(const json_t *image)
{
	const char *name = json_string_value(json_object_get(image, "backend"));
	const struct mt_backend *b = name ? mt_backend_find(name) : NULL;

	return b && b->library == MT_LIBRARY_TRACES;
}

static struct known *read_known(const char *trace, size_t *n)
{
	char *path = mt_printf("%s/" MT_FILE_UNRECORDED, trace), **images;
	struct known *k = NULL;
	size_t cap = 0, n_images;
	struct mt_csv c;

	*n = 0;
	images = mt_trace_images(trace, &n_images);
	for (size_t i = 0; i < n_images; i++) {
		json_t *j = mt_image_read(trace, images[i]);

		MT_GROW(k, *n, cap);
		k[(*n)++] = (struct known){ (pid_t)json_integer_value(json_object_get(j, "pid")),
					    (uint64_t)json_integer_value(json_object_get(j, "start_ns")),
					    mt_strdup(json_is_string(json_object_get(j, "executable")) ?
						      json_string_value(json_object_get(j, "executable")) : ""),
					    keeps_apart(j) };
		if (json_object_get(j, "monitor_pid")) {	/* a process of ours */
			MT_GROW(k, *n, cap);
			k[*n] = (struct known){ (pid_t)json_integer_value(json_object_get(j, "monitor_pid")),
						(uint64_t)json_integer_value(json_object_get(j, "monitor_ns")), NULL, false };
			k[*n].program = mt_strdup(k[*n - 1].program);
			++*n;
		}
		json_decref(j);
	}
	mt_names_free(images, n_images);
	if (mt_csv_open(&c, path) == 0) {
		const int pid = mt_csv_column(&c, "Pid"), time = mt_csv_column(&c, "Time"), program = mt_csv_column(&c, "Program");

		while (mt_csv_next(&c)) {
			if (c.n < c.n_columns)
				continue;
			MT_GROW(k, *n, cap);
			k[(*n)++] = (struct known){ (pid_t)strtol(mt_csv_get(&c, pid), NULL, 10),
						    strtoull(mt_csv_get(&c, time), NULL, 10), mt_strdup(mt_csv_get(&c, program)), false };
		}
		mt_csv_close(&c);
	}
	free(path);
	if (*n)
		qsort(k, *n, sizeof(*k), by_process);
	return k;
}

/* @exact: the times are those of the kernel. Else what is known of the process must be the same program. */
static bool is_known(const struct known *k, size_t n, const struct stretch *s, bool exact)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		const size_t mid = (lo + hi) / 2;

		if (k[mid].pid < s->pid || (k[mid].pid == s->pid && k[mid].time < s->begin))
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < n && k[lo].pid == s->pid && k[lo].time <= s->end; lo++)
		if (exact || !strcmp(k[lo].program, s->program))
			return true;
	return false;
}

/* Does the process go on as another program where this stretch ends? */
static bool goes_on(const struct mt_family *f, const struct stretch *s)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->stretch[i].pid == s->pid && f->stretch[i].exec && f->stretch[i].begin == s->end)
			return true;
	return false;
}

/* Was it made by a process whose children are kept apart from its memory, and not by our fork? Then it died of it, however soon. */
static bool is_unseen_child(const struct known *k, size_t n, const struct mt_family *f, const struct stretch *s)
{
	bool apart = false;

	for (size_t i = 0; i < n && k[i].pid <= s->parent; i++)
		if (k[i].pid == s->parent && k[i].time <= s->begin)
			apart = k[i].apart;
	return apart && !s->exec && !goes_on(f, s);
}

static bool is_brief(const struct mt_family *f, const struct stretch *s, bool exact)
{
	if (!exact)
		return s->looks < LOOKS;
	return !s->exec && (s->end - s->begin < SHORT_NS || (s->end - s->begin < BUSY_NS && goes_on(f, s)));
}

/* As in docs/reference/trace-format.md. */
static const char *why(const struct stretch *s)
{
	char *which = NULL;
	const char *obstacle = s->exec && s->program[0] == '/' ? mt_program_obstacle(s->program, &which) : NULL;

	free(which);
	if (!s->exec)
		return "no-hook";
	if (obstacle)
		return mt_obstacle_is_static(obstacle) ? "static" : strstr(obstacle, "privileges") ? "privileges" :
		       strstr(obstacle, "sanitizer") ? "sanitizer" : "foreign";
	return "not-loaded";
}

static void put_program(FILE *out, const char *program)
{
	fputc('"', out);
	for (; *program; program++) {
		if (*program == '"')
			fputc('"', out);
		fputc(*program, out);
	}
	fputc('"', out);
}

void mt_family_close(struct mt_family *f, const char *trace)
{
	struct known *k;
	const bool exact = f && f->n_rings > 0;
	char *path;
	FILE *out;
	size_t n;

	if (!f)
		return;
	(void)!write(f->stop[1], "", 1);
	pthread_join(f->thread, NULL);
	if (f->n_rings)
		drain(f);
	else
		look(f);
	close_rings(f);
	close(f->stop[0]);
	close(f->stop[1]);
	path = mt_printf("%s/" MT_FILE_UNRECORDED, trace);
	k = read_known(trace, &n);
	out = fopen(path, "ae");
	for (size_t i = 0; i < f->n; i++) {
		const struct stretch *s = &f->stretch[i];

		/* of the program itself it is said before it starts */
		if (!out || s->ours || (s->pid == f->root && !s->exec) || is_known(k, n, s, exact) ||
		    (is_brief(f, s, exact) && !(exact && is_unseen_child(k, n, f, s))))
			continue;
		fprintf(out, "%llu,%d,begin,%s,%s,%d,0,0,", (unsigned long long)s->begin, (int)s->pid, s->exec ? "exec" : "fork", why(s),
			(int)s->parent);
		put_program(out, s->program);
		fputc('\n', out);
		if (s->end == UINT64_MAX)
			continue;
		fprintf(out, "%llu,%d,end,,%s,%d,0,0,", (unsigned long long)s->end, (int)s->pid, why(s), (int)s->parent);
		put_program(out, s->program);
		fputc('\n', out);
	}
	if (out)
		fclose(out);
	for (size_t i = 0; i < f->n; i++)
		free(f->stretch[i].program);
	free(f->stretch);
	free(f->last);
	free(f->seen.pid);
	for (size_t i = 0; i < n; i++)
		free(k[i].program);
	free(k);
	free(path);
	free(f);
}
