// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/exact/counting.h"

#include <stdlib.h>
#include <string.h>

#include "preload/exact/gates.h"
#include "preload/ground/process.h"
#include "common/rawsys.h"
#include "engines/valgrind/request.h"
#include "count/service.h"
#include "common/settings.h"
#include "preload/exact/windows.h"

#define FIRST_BYTES (1ul << 20)
#define SITES_BYTES (1ul << 18)
#define SITES_EVERY_NS 1000000000ull	/* instructions are told for the first time; then after twice the time each */
#define MAX_NEW (1u << 20)

static struct mt_count counters;
static struct mt_sites instructions;
static int with_sites;		/* set with state */
static struct mt_lock start_lock;
enum { UNKNOWN, OFF, ON };
static int state;		/* under the lock; read without */
static int modules;		/* with hooks */
static enum cnt_tool tool;	/* the counters are those of what the program runs under, not ours */

/* Of the calling thread. */
static __thread struct mt_count_thread *mine;
static __thread struct mt_site_thread *my_sites;

/* Owned by the monitor. */
static struct mt_out first;
static char *first_buffer;
/* Of the interval: rows of pages that are new to their thread. They are written in the order of the first accesses. */
static struct mt_count_row *new_rows;
static uint32_t n_new;
static uint64_t lost_told;
static int alive_pid;
static struct mt_out sites_out;	/* fd < 0: instructions are not counted */
static char *sites_buffer;
static uint64_t sites_start_ns, sites_next_ns;

static void zero(void *p, size_t bytes)
{
	if (mt_sys(SYS_madvise, p, bytes, MADV_DONTNEED))
		memset(p, 0, bytes);
}

/*
 * Libraries with hooks may be initialised before this one: the environment tells, whether
 * this is such a recording.
 */
static int is_on(void)
{
	static const struct mt_count_ops ops = {
		.map = mt_rawmap, .zero = zero, .now_ns = mt_now_ns,
		.enter = mt_block_signals, .leave = mt_restore_signals,
	};
	int s = __atomic_load_n(&state, __ATOMIC_ACQUIRE);

	if (s != UNKNOWN)
		return s == ON;
	mt_lock(&start_lock);
	if (state == UNKNOWN) {
		const char *library = getenv(MT_VARIABLE(MEMTRACE_LIBRARY));

		if (library && !strcmp(library, mt_library_word(MT_LIBRARY_COUNTS)) && getenv(MT_VARIABLE(MEMTRACE_DIR))) {
			const char *windows = getenv(MT_VARIABLE(MEMTRACE_WINDOW_KIND)), *sites = getenv(MT_VARIABLE(MEMTRACE_INSTRUCTIONS));

			mt_count_init(&counters, &ops);
			mt_sites_init(&instructions, &counters);
			with_sites = sites && *sites == '1';
			if (windows && *windows > '0')
				gates_use();
			s = ON;
		} else {
			s = OFF;
		}
		__atomic_store_n(&state, s, __ATOMIC_RELEASE);
	}
	s = state;
	mt_unlock(&start_lock);
	return s == ON;
}

void cnt_off(void)
{
	__atomic_store_n(&state, OFF, __ATOMIC_RELEASE);
	gates_set(false);
}

uint64_t cnt_ask(unsigned int request, uint64_t a, uint64_t b)
{
	return tool == CNT_DYNAMORIO ? mt_client_request(request, a, b) : mt_valgrind_request(0, MT_TOOL_BASE + request, a, b);
}

/*
 * The tool that the program runs under counts. What this library does itself does not count; what was translated of
 * its code before this call does, and nothing is in it that would.
 */
int cnt_use_tool(void)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden"))), etext[] __attribute__((visibility("hidden")));
	const uint64_t start = (uint64_t)__ehdr_start, end = (uint64_t)etext;

	tool = CNT_VALGRIND;
	if (cnt_ask(MT_TOOL_IS_HERE, 0, 0) != MT_TOOL_VERSION)
		tool = CNT_DYNAMORIO;
	if (tool == CNT_DYNAMORIO && cnt_ask(MT_TOOL_IS_HERE, 0, 0) != MT_TOOL_VERSION) {
		tool = CNT_NONE;
		return -ENOENT;
	}
	cnt_ask(MT_TOOL_OWN_CODE, start, end);
	mt_valgrind_request(0, MT_VALGRIND_DISCARD, start, end - start);
	return 0;
}

enum cnt_tool cnt_has_tool(void)
{
	return tool;
}

void cnt_begin(void)
{
	if (tool)
		cnt_ask(MT_TOOL_BEGIN, 0, 0);
}

/* ---- for the hooks */

/*
 * A child of vfork() has the thread-local variables of its parent, but is no thread of this process: counters that were made
 * for it would be freed as those of a dead thread, and its parent would go on with them. It counts nothing before it executes.
 */
static bool is_our_thread(void)
{
	return !mt_process.image.pid || mt_getpid() == mt_process.image.pid;
}

static struct mt_count_thread *thread(void)
{
	uint64_t mask;

	if (mine || !is_on())
		return mine;
	mask = mt_block_signals();	/* a handler would make a second one */
	if (!mine && is_our_thread())
		mine = mt_count_thread_new(&counters, mt_gettid());
	mt_restore_signals(mask);
	return mine;
}

/* As thread(), with its instructions. */
static struct mt_site_thread *sites(void)
{
	uint64_t mask;

	if (my_sites || !is_on())
		return my_sites;
	mask = mt_block_signals();
	if (!my_sites && thread())
		my_sites = mt_site_thread_new(&instructions, mine, mine->tid);
	mt_restore_signals(mask);
	return my_sites;
}

static void site(struct mt_site_thread *t, uint64_t address, unsigned int how, uint64_t ip)
{
	mt_count_add(t->pages, address, how & 1, 1);
	mt_site_add(t, mt_site_key(ip, 0, how & 1), address, how >> 1);
}

static void site_range(struct mt_site_thread *t, uint64_t address, uint64_t bytes, unsigned int write, uint64_t ip)
{
	mt_count_range(t->pages, address, bytes, write);
	mt_site_range(t, mt_site_key(ip, 1, write), address, bytes);
}

#define SERVICE									\
	.thread = thread, .slow = mt_count_slow, .range = mt_count_range, .open = &gates_are_open,	\
	.module = gates_module, .module_gone = gates_module_gone, .idle_call = gates_idle_call

__attribute__((visibility("default"))) const struct mt_count_service *mt_count_service_find(unsigned int version)
{
	static const struct mt_count_service service = { SERVICE };
	static const struct mt_count_service with = { SERVICE, .sites = sites, .site = site, .site_range = site_range };

	if (version < MT_COUNT_SERVICE_OLDEST || version > MT_COUNT_SERVICE_VERSION)
		return NULL;
	if (!is_on())	/* modules with gates find them as they are to be */
		gates_set(false);
	__atomic_add_fetch(&modules, 1, __ATOMIC_RELAXED);
	return with_sites ? &with : &service;
}

int cnt_has_code(void)
{
	return __atomic_load_n(&modules, __ATOMIC_RELAXED) != 0;
}

/* ---- for the monitor */

static int open_sites(const struct mt_image *img)
{
	int fd;

	sites_buffer = mt_rawmap(SITES_BYTES);
	if (!sites_buffer)
		return -ENOMEM;
	fd = (int)mt_sys(SYS_openat, img->dirfd, MT_FILE_INSTRUCTIONS, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	mt_out_init(&sites_out, fd, sites_buffer, SITES_BYTES);
	mt_out_str(&sites_out, "Id,TaskId,Ip,Write,Bytes,Count,First,Last,Strides\n");
	mt_out_flush(&sites_out);
	sites_start_ns = mt_now_ns();
	sites_next_ns = sites_start_ns + SITES_EVERY_NS;
	return fd < 0 ? fd : 0;
}

int cnt_open(const struct mt_image *img)
{
	int fd;

	if (!tool && !is_on())
		return -ENOENT;
	first_buffer = mt_rawmap(FIRST_BYTES);
	new_rows = mt_rawmap(MAX_NEW * sizeof(*new_rows));
	if (!first_buffer || !new_rows)
		return -ENOMEM;
	n_new = 0;
	alive_pid = img->pid;
	first.fd = sites_out.fd = -1;
	if (img->config->instructions) {
		fd = open_sites(img);
		if (fd < 0)
			return fd;
	}
	fd = windows_start(img, mt_now_ns());
	/* what is first in a window is no first access */
	if (fd < 0 || img->config->windows)
		return fd;
	/* the monitor's own descriptor: nobody closes it */
	fd = (int)mt_sys(SYS_openat, img->dirfd, MT_FILE_FIRST, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	mt_out_init(&first, fd, first_buffer, FIRST_BYTES);
	mt_out_str(&first, "@Virt,Write,Time,TaskId\n");
	mt_out_flush(&first);
	return fd < 0 ? fd : 0;
}

static bool is_alive(int tid)
{
	return mt_sys(SYS_tgkill, alive_pid, tid, 0) != -ESRCH;
}

struct collection {
	struct mt_tracefile *file;
	struct cnt_interval *out;
};

static void write_row(struct collection *c, const struct mt_count_row *r)
{
	static const uint64_t unknown_cpus;
	/* an address that the thread used: of the direction that was first */
	const int at = r->at[0] >= 0 ? r->at[0] : r->at[1] >= 0 ? r->at[1] : 0;
	const struct mt_access_row row = {
		.virt = r->page * MT_PAGE + (uint64_t)at, .nreads = r->n[0], .nwrites = r->n[1], .cpus = &unknown_cpus,
		.cpu_words = 1, .tid = r->tid, .node = -1,
		.read_at = r->n[0] ? r->at[0] : -1, .write_at = r->n[1] ? r->at[1] : -1,
	};

	mt_tracefile_access(c->file, &row);
	c->out->rows++;
	for (unsigned int w = 0; w < 2; w++) {
		if (!r->first_ns[w] || first.fd < 0)
			continue;
		mt_out_hex(&first, r->page * MT_PAGE + (uint64_t)(r->at[w] < 0 ? 0 : r->at[w]));
		mt_out_fmt(&first, ",%d,%llu,%d\n", (int)w, (unsigned long long)r->first_ns[w], r->tid);
	}
}

static uint64_t first_access(const struct mt_count_row *r)
{
	return r->first_ns[0] - 1 < r->first_ns[1] - 1 ? r->first_ns[0] : r->first_ns[1];	/* 0: none */
}

/* Moves row @i down to its place in the heap of @n rows, the latest on top. */
static void sift(uint32_t i, uint32_t n)
{
	const struct mt_count_row r = new_rows[i];
	uint32_t k;

	for (; (k = 2 * i + 1) < n; i = k) {
		if (k + 1 < n && first_access(&new_rows[k + 1]) > first_access(&new_rows[k]))
			k++;
		if (first_access(&new_rows[k]) <= first_access(&r))
			break;
		new_rows[i] = new_rows[k];
	}
	new_rows[i] = r;
}

/* Readers take the first of the records that touch a page in an interval for the first toucher. */
static void write_new(struct collection *c)
{
	for (uint32_t i = n_new / 2; i-- > 0;)
		sift(i, n_new);
	for (uint32_t n = n_new; n > 1;) {
		const struct mt_count_row last = new_rows[0];

		n--;
		new_rows[0] = new_rows[n];
		new_rows[n] = last;
		sift(0, n);
	}
	for (uint32_t i = 0; i < n_new; i++)
		write_row(c, &new_rows[i]);
	n_new = 0;
}

static void tell(void *arg, const struct mt_count_row *r)
{
	if (!r->first_ns[0] && !r->first_ns[1]) {
		write_row(arg, r);
		return;
	}
	new_rows[n_new++] = *r;
	if (n_new == MAX_NEW)
		write_new(arg);
}

/* What was counted since the last time, by whoever counts. */
static uint64_t collect(struct collection *c)
{
	struct mt_tool_rows rows = { NULL, 0 };
	uint64_t sum;

	if (!tool)
		return mt_count_collect(&counters, is_alive, tell, c);
	sum = cnt_ask(MT_TOOL_COLLECT, (uint64_t)&rows, 0);
	for (uint64_t i = 0; i < rows.n; i++)
		tell(c, &rows.row[i]);
	return sum;
}

/* Counted outside of windows, too. */
static void forget(void *arg, const struct mt_count_row *r)
{
	(void)arg, (void)r;
}

static void tell_site(void *arg, const struct mt_site_row *r)
{
	const char *between = "";

	(void)arg;
	mt_out_fmt(&sites_out, "%llu,%d,%llx,%u,%u,%llu,%llx,%llx,", (unsigned long long)r->id, r->tid, (unsigned long long)r->ip, r->write,
		   r->bytes, (unsigned long long)r->n, (unsigned long long)r->first, (unsigned long long)r->last);
	for (int i = 0; i < MT_SITE_CLASSES; i++) {
		const struct mt_site_stride *s = &r->stride[i];

		if (!s->same && !s->others)
			continue;
		mt_out_fmt(&sites_out, "%s%d:%lld:%llu:%llu", between, i - MT_SITE_SAME, (long long)s->value, (unsigned long long)s->same,
			   (unsigned long long)s->others);
		between = " ";
	}
	mt_out_char(&sites_out, '\n');
}

/* What changed, of all threads or of those that ended. */
static void collect_sites(int all)
{
	if (sites_out.fd < 0)
		return;
	if (tool) {
		struct mt_tool_sites rows = { NULL, 0 };

		cnt_ask(MT_TOOL_SITES, (uint64_t)&rows, (uint64_t)all);
		for (uint64_t i = 0; i < rows.n; i++)
			tell_site(NULL, &rows.row[i]);
	} else {
		mt_sites_collect(&instructions, all, is_alive, tell_site, NULL);
	}
	mt_out_flush(&sites_out);
}

void cnt_tell_sites(void)
{
	collect_sites(1);
}

void cnt_collect(struct mt_tracefile *f, uint64_t start, uint64_t end, int pid, struct cnt_interval *out)
{
	struct collection c = { f, out };
	uint64_t lost;

	*out = (struct cnt_interval){ 0 };
	alive_pid = pid;
	mt_tracefile_interval_begin(f, start, end);
	if (gates_broken()) {
		mt_count_collect(&counters, is_alive, forget, NULL);
	} else {
		out->accesses = collect(&c);
		write_new(&c);
	}
	if (first.fd >= 0)
		mt_out_flush(&first);
	/* a program that is killed leaves what was told; as files must not grow without end, it is told ever less often */
	if (end >= sites_next_ns) {
		collect_sites(1);
		sites_next_ns = end + (end - sites_start_ns);
	} else {
		collect_sites(0);
	}
	mt_out_flush(&f->accesses);
	mt_tracefile_turn(f);
	lost = tool ? cnt_ask(MT_TOOL_LOST, 0, 0) : __atomic_load_n(&counters.lost, __ATOMIC_RELAXED);
	out->lost = lost - lost_told;
	lost_told = lost;
}

uint64_t cnt_pending(void)
{
	return tool ? cnt_ask(MT_TOOL_PENDING, 0, 0) : mt_count_pending(&counters);
}

/* ---- fork. Not recorded processes have no counters, and no lock to take. */

void cnt_fork_prepare(void)
{
	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == ON)
		mt_count_fork_prepare(&counters);
	gates_fork_prepare();
}

void cnt_fork_parent(void)
{
	if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == ON)
		mt_count_fork_parent(&counters);
	gates_fork_done();
}

void cnt_fork_child(int tid, int on)
{
	windows_after_fork();
	if (state != ON && !tool)
		return;
	if (!tool) {
		mt_count_fork_child(&counters, mine, tid);
		mt_sites_fork_child(&instructions, my_sites, tid);
	}
	lost_told = 0;
	mt_rawunmap(sites_buffer, sites_buffer ? SITES_BYTES : 0);
	sites_buffer = NULL;
	sites_out.fd = -1;
	mt_rawunmap(first_buffer, FIRST_BYTES);
	mt_rawunmap(new_rows, MAX_NEW * sizeof(*new_rows));
	first_buffer = NULL;
	new_rows = NULL;
	n_new = 0;
	if (!on)
		cnt_off();
}
