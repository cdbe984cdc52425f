// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * client.c - a client of DynamoRIO that counts each access by thread and page (count/count.h). The preload library, in
 * the program, asks for the counters (engines/valgrind/request.h), by system calls that never reach the kernel.
 *
 * usage: drrun -c CLIENT LIBRARY -- PROGRAM...		LIBRARY: the preload library, whose own code does not count
 *
 * Each thread has a buffer, in which its code writes records of what it accesses (columns.h). They become counts when the
 * buffer is full, before each system call, and when the library asks: then those of all threads, which go on meanwhile.
 * A record counts from when the word behind it is the thread's place in the buffer, which is set at the end of a block.
 *
 * Locks, in this order: list_lock, that of a thread, that of the counters. sites_lock alone.
 */
#include "dr_api.h"
#include "drmgr.h"
#include "drreg.h"
#include "drx.h"

#include <signal.h>
#include <string.h>

#include "count/count.h"
#include "engines/dynamorio/kernel.h"
#include "engines/dynamorio/plan.h"
#include "common/rawsys.h"
#include "engines/valgrind/request.h"
#include "engines/dynamorio/columns.h"

/* A power of two at an address that is a multiple of twice as much: one bit of the place tells that it is full. */
#define BUFFER_BYTES 16384u
#define BEHIND 2048u			/* the largest record fits behind it */
#define MAX_SITES (1u << 22)
#define SITE_SLOTS (1u << 16)
#define CHUNK (1u << 20)

_Static_assert((1 + 2 * MT_BLOCK_SITE_COLUMNS) * 8 <= BEHIND, "a record fits behind the buffer");
#define THREAD_BYTES (sizeof(struct thread) + 4 * BUFFER_BYTES + BEHIND)

struct thread {
	struct thread *next;		/* under list_lock */
	struct mt_lock lock;		/* of what is drained, and of the counters: who has it adds to them */
	struct mt_count_thread *counters;
	uint64_t *buffer;
	uint64_t *drained;		/* up to here */
	uint64_t **place;		/* where its code writes the next record */
	long nr;			/* of the system call that it is in */
	uint64_t arg[6];
};

static struct mt_count counters;
static struct mt_count unwanted;	/* of threads of the recorder; nobody reads it */
static struct thread *threads;
static struct mt_lock list_lock;
static int pid;

static const struct mt_block_site **sites;
static uint32_t n_sites;
static uint32_t *site_next;		/* same hash */
static uint32_t site_head[SITE_SLOTS];
static char *chunk;
static size_t chunk_left;
static struct mt_lock sites_lock;

static app_pc own_start, own_end;	/* code that does not count */
static const char *library;

static int thread_field;
static reg_id_t segment;
static uint slots;			/* of each thread: its place in its buffer */

static struct mt_count_row *rows;
static uint64_t n_rows, max_rows;

static void die(const char *why)
{
	dr_fprintf(STDERR, "memtrace: %s\n", why);
	dr_abort();
}

/* ---- counters */

static void *map(size_t bytes)
{
	return dr_raw_mem_alloc(bytes, DR_MEMPROT_READ | DR_MEMPROT_WRITE, NULL);
}

static void *need(size_t bytes)
{
	void *p = map(bytes);

	if (!p)
		die("no memory for the counters");
	return p;
}

static void zero(void *p, size_t bytes)
{
	if (mt_sys(SYS_madvise, p, bytes, MADV_DONTNEED))
		memset(p, 0, bytes);
}

static const struct mt_count_ops ops = { .map = map, .zero = zero, .now_ns = mt_now_ns };

/* ---- threads */

/* Counts what is in the buffer. On any thread. */
static void drain(struct thread *t, bool owner)
{
	uint64_t *end;

	mt_lock(&t->lock);
	end = __atomic_load_n(t->place, __ATOMIC_ACQUIRE);
	/* a place that is none: what it should be is not known, and the trace says so */
	if (__builtin_expect(end < t->drained || end > t->buffer + (BUFFER_BYTES + BEHIND) / sizeof(*end), 0)) {
		__atomic_add_fetch(&counters.lost, 1, __ATOMIC_RELAXED);
		end = t->drained;
	}
	mt_block_site_drain(t->counters, sites, t->drained, end);
	if (owner)
		*t->place = end = t->buffer;
	t->drained = end;
	mt_unlock(&t->lock);
}

/* Called by the code of the program: its buffer is full. */
static void on_full(void)
{
	drain(drmgr_get_tls_field(dr_get_current_drcontext(), thread_field), true);
}

static void on_thread_init(void *drcontext)
{
	struct thread *t = need(THREAD_BYTES);
	uint64_t **own = (uint64_t **)((char *)dr_get_dr_segment_base(segment) + slots);

	t->buffer = t->drained = (uint64_t *)(((uintptr_t)(t + 1) + 2 * BUFFER_BYTES - 1) & -(uintptr_t)(2 * BUFFER_BYTES));
	t->place = own;
	*own = t->buffer;
	/* a child of vfork is no thread of this process */
	if (mt_getpid() == pid)
		t->counters = mt_count_thread_new(&counters, mt_gettid());
	if (!t->counters)
		t->counters = mt_count_thread_new(&unwanted, 0);
	if (!t->counters)
		die("no memory for the counters of a thread");
	drmgr_set_tls_field(drcontext, thread_field, t);
	mt_lock(&list_lock);
	t->next = threads;
	threads = t;
	mt_unlock(&list_lock);
}

/* Perhaps on another thread, at the end of the process. */
static void on_thread_exit(void *drcontext)
{
	struct thread *t = drmgr_get_tls_field(drcontext, thread_field), **link = &threads;

	mt_lock(&list_lock);
	drain(t, false);
	while (*link && *link != t)
		link = &(*link)->next;
	if (*link)
		*link = t->next;
	mt_unlock(&list_lock);
	dr_raw_mem_free(t, THREAD_BYTES);
}

/* In the child. DynamoRIO stopped all other threads before, where they held no lock. */
static void on_fork_child(void *drcontext)
{
	struct thread *self = drmgr_get_tls_field(drcontext, thread_field);

	pid = mt_getpid();
	list_lock.word = sites_lock.word = self->lock.word = 0;
	threads = self;
	self->next = NULL;
	*self->place = self->drained = self->buffer;
	if (self->counters->count == &counters) {
		mt_count_fork_child(&counters, self->counters, mt_gettid());
		mt_count_fork_child(&unwanted, NULL, 0);
	} else {
		mt_count_fork_child(&counters, NULL, 0);
		mt_count_fork_child(&unwanted, self->counters, 0);
	}
}

/* ---- sites */

static uint32_t hash_of(const struct mt_block_site *s)
{
	return (uint32_t)(s->start * 0x9e3779b97f4a7c15ull >> 48) & (SITE_SLOTS - 1);
}

/* The number of a site, the same one for the same site: blocks are made again. -1: there are too many. */
static int64_t number_of(const struct mt_block_site *s)
{
	const uint32_t h = hash_of(s);
	struct mt_block_site *copy;
	uint32_t i;

	mt_lock(&sites_lock);
	for (i = site_head[h]; i; i = site_next[i])
		if (sites[i]->bytes == s->bytes && !memcmp(sites[i], s, s->bytes))
			break;
	if (!i && n_sites < MAX_SITES - 1) {
		if (chunk_left < s->bytes) {
			chunk = need(CHUNK);
			chunk_left = CHUNK;
		}
		copy = (struct mt_block_site *)chunk;
		memcpy(copy, s, s->bytes);
		chunk += s->bytes;
		chunk_left -= s->bytes;
		i = ++n_sites;
		sites[i] = copy;
		site_next[i] = site_head[h];
		site_head[h] = i;
	}
	mt_unlock(&sites_lock);
	return i ? (int64_t)i : -1;
}

/* ---- instrumentation */

#define PRE(i) instrlist_meta_preinsert(il, in, i)

static void insert_begin(void *dc, instrlist_t *il, instr_t *in, struct mt_plan *p)
{
	instr_t *skip = INSTR_CREATE_label(dc);

	if (drreg_reserve_aflags(dc, il, in) != DRREG_SUCCESS || drreg_reserve_register(dc, il, in, p->allowed, &p->at) != DRREG_SUCCESS)
		die("no register");
	dr_insert_read_raw_tls(dc, il, in, segment, slots, p->at);
	PRE(INSTR_CREATE_test(dc, opnd_create_reg(reg_64_to_32(p->at)), OPND_CREATE_INT32(BUFFER_BYTES)));
	PRE(INSTR_CREATE_jcc(dc, OP_jz, opnd_create_instr(skip)));
	dr_insert_clean_call(dc, il, in, (void *)on_full, false, 0);
	dr_insert_read_raw_tls(dc, il, in, segment, slots, p->at);
	PRE(skip);
	drreg_unreserve_aflags(dc, il, in);
	PRE(INSTR_CREATE_mov_st(dc, OPND_CREATE_MEM32(p->at, 0), OPND_CREATE_INT32((int)p->number)));
}

static void insert_store(void *dc, instrlist_t *il, instr_t *in, struct mt_plan *p, const struct mt_plan_store *s)
{
	const opnd_t to = OPND_CREATE_MEMPTR(p->at, (int)s->word * 8), o = s->operand;
	reg_id_t a = DR_REG_NULL, b = DR_REG_NULL;

	if (s->reg != DR_REG_NULL && !s->offset) {
		if (!s->after)
			drreg_restore_app_values(dc, il, in, opnd_create_reg(s->reg), NULL);
		PRE(INSTR_CREATE_mov_st(dc, to, opnd_create_reg(s->reg)));
		return;
	}
	if (s->reg != DR_REG_NULL)
		drreg_restore_app_values(dc, il, in, opnd_create_base_disp(s->reg, DR_REG_XCX, 1, 0, OPSZ_lea), NULL);
	else
		drreg_restore_app_values(dc, il, in, o, NULL);
	if (drreg_reserve_register(dc, il, in, p->allowed, &a) != DRREG_SUCCESS)
		die("no register");
	if (s->reg != DR_REG_NULL) {
		PRE(INSTR_CREATE_lea(dc, opnd_create_reg(a), opnd_create_base_disp(s->reg, DR_REG_XCX, (int)s->offset, 0, OPSZ_lea)));
	} else if (opnd_is_far_base_disp(o) && (opnd_get_segment(o) == DR_SEG_FS || opnd_get_segment(o) == DR_SEG_GS)) {
		if (drreg_reserve_register(dc, il, in, p->allowed, &b) != DRREG_SUCCESS)
			die("no register");
		dr_insert_get_seg_base(dc, il, in, opnd_get_segment(o), b);
		PRE(INSTR_CREATE_lea(dc, opnd_create_reg(a), opnd_create_base_disp(opnd_get_base(o), opnd_get_index(o),
			opnd_get_index(o) == DR_REG_NULL ? 0 : opnd_get_scale(o), opnd_get_disp(o), OPSZ_lea)));
		PRE(INSTR_CREATE_lea(dc, opnd_create_reg(a), opnd_create_base_disp(a, b, 1, 0, OPSZ_lea)));
	} else {
		PRE(INSTR_CREATE_lea(dc, opnd_create_reg(a), opnd_create_base_disp(opnd_get_base(o), opnd_get_index(o),
			opnd_get_index(o) == DR_REG_NULL ? 0 : opnd_get_scale(o), opnd_get_disp(o), OPSZ_lea)));
	}
	PRE(INSTR_CREATE_mov_st(dc, to, opnd_create_reg(a)));
	if (b != DR_REG_NULL)
		drreg_unreserve_register(dc, il, in, b);
	drreg_unreserve_register(dc, il, in, a);
}

static void insert_end(void *dc, instrlist_t *il, instr_t *in, struct mt_plan *p)
{
	PRE(INSTR_CREATE_lea(dc, opnd_create_reg(p->at), opnd_create_base_disp(p->at, DR_REG_NULL, 0, (int)p->site.words * 8, OPSZ_lea)));
	dr_insert_write_raw_tls(dc, il, in, segment, slots, p->at);
	drreg_unreserve_register(dc, il, in, p->at);
}

static dr_emit_flags_t on_app2app(void *drcontext, void *tag, instrlist_t *block, bool for_trace, bool translating)
{
	bool expanded;

	(void)tag, (void)for_trace, (void)translating;
	drx_expand_scatter_gather(drcontext, block, &expanded);
	mt_plan_cut(drcontext, block);
	return DR_EMIT_DEFAULT;
}

static void fill_allowed(struct mt_plan *p)
{
	p->allowed = dr_global_alloc(sizeof(*p->allowed));
	drreg_init_and_fill_vector(p->allowed, true);
	for (unsigned int r = 0; r < MT_PLAN_REGISTERS; r++)
		if (p->used >> r & 1)
			drreg_set_vector_entry(p->allowed, (reg_id_t)(DR_REG_START_64 + r), false);
}

static dr_emit_flags_t on_analysis(void *drcontext, void *tag, instrlist_t *block, bool for_trace, bool translating, void **user)
{
	const app_pc start = dr_fragment_app_pc(tag);
	struct mt_plan *p;
	int64_t number;

	(void)for_trace, (void)translating;
	*user = NULL;
	if (start >= own_start && start < own_end)
		return DR_EMIT_DEFAULT;
	p = dr_thread_alloc(drcontext, sizeof(*p));
	if (mt_plan_make(p, block)) {
		number = number_of(&p->site);
		if (number >= 0) {
			p->number = (uint32_t)number;
			fill_allowed(p);
			*user = p;
			return DR_EMIT_DEFAULT;
		}
		__atomic_add_fetch(&counters.lost, 1, __ATOMIC_RELAXED);
	}
	dr_thread_free(drcontext, p, sizeof(*p));
	return DR_EMIT_DEFAULT;
}

static dr_emit_flags_t on_insert(void *drcontext, void *tag, instrlist_t *il, instr_t *in, bool for_trace, bool translating, void *user)
{
	struct mt_plan *p = user;

	(void)tag, (void)for_trace, (void)translating;
	drmgr_disable_auto_predication(drcontext, il);
	if (!p)
		return DR_EMIT_DEFAULT;
	if (in == p->first)
		insert_begin(drcontext, il, in, p);
	if (instr_is_app(in)) {
		/* what the instruction before left, then what this one uses */
		for (uint32_t i = 0; i < p->stores; i++)
			if (p->store[i].after && instr_get_next_app(p->store[i].before) == in)
				insert_store(drcontext, il, in, p, &p->store[i]);
		for (uint32_t i = 0; i < p->stores; i++)
			if (!p->store[i].after && p->store[i].before == in)
				insert_store(drcontext, il, in, p, &p->store[i]);
	}
	if (in == p->last)
		insert_end(drcontext, il, in, p);
	if (drmgr_is_last_instr(drcontext, in)) {
		drvector_delete(p->allowed);
		dr_global_free(p->allowed, sizeof(*p->allowed));
		dr_thread_free(drcontext, p, sizeof(*p));
	}
	return DR_EMIT_DEFAULT;
}

/* A block that ends before its end, by a fault: what came before it is counted. */
static void on_fault(struct thread *t, const dr_mcontext_t *mc)
{
	const uint64_t ip = (uint64_t)mc->pc;
	uint64_t *record;
	uint32_t number;
	const struct mt_block_site *s;

	mt_lock(&t->lock);
	record = *t->place;
	if (record < t->drained || record > t->buffer + (BUFFER_BYTES + BEHIND) / sizeof(*record)) {
		mt_unlock(&t->lock);
		return;
	}
	mt_block_site_drain(t->counters, sites, t->drained, record);
	t->drained = record;
	number = (uint32_t)*record;
	s = number && number <= n_sites ? sites[number] : NULL;
	if (s && ip >= s->start && ip < s->last) {
		uint64_t end = ip;

		/* a string instruction: as far as it came */
		for (uint32_t c = 0; c < s->columns; c++)
			if (s->column[c].string && s->start + mt_block_site_items(s)[s->column[c].item].at == ip) {
				record[s->column[c].word + 1] = s->column[c].string == 1 ? mc->xdi : mc->xsi;
				end = ip + 1;
			}
		mt_block_site_drain_part(t->counters, s, record, end);
		*record = 0;
	}
	mt_unlock(&t->lock);
}

static dr_signal_action_t on_signal(void *drcontext, dr_siginfo_t *info)
{
	if (info->fault_fragment_info.cache_start_pc && info->raw_mcontext_valid &&
	    (info->sig == SIGSEGV || info->sig == SIGBUS || info->sig == SIGFPE || info->sig == SIGILL || info->sig == SIGTRAP))
		on_fault(drmgr_get_tls_field(drcontext, thread_field), info->mcontext);
	return DR_SIGNAL_DELIVER;
}

/* ---- requests */

static bool is_alive(int tid)
{
	return mt_sys(SYS_tgkill, pid, tid, 0) != -ESRCH;
}

static void tell(void *arg, const struct mt_count_row *r)
{
	(void)arg;
	if (n_rows == max_rows) {
		const uint64_t more = max_rows ? 2 * max_rows : 1u << 16;
		struct mt_count_row *larger = need(more * sizeof(*rows));

		memcpy(larger, rows, n_rows * sizeof(*rows));
		if (rows)
			dr_raw_mem_free(rows, max_rows * sizeof(*rows));
		rows = larger;
		max_rows = more;
	}
	rows[n_rows++] = *r;
}

static void drain_all(void)
{
	mt_lock(&list_lock);
	for (struct thread *t = threads; t; t = t->next)
		drain(t, false);
	mt_unlock(&list_lock);
}

static uint64_t answer(struct thread *t, long request, uint64_t a, uint64_t b)
{
	struct mt_tool_rows *r;
	uint64_t sum;

	switch (request) {
	case MT_TOOL_IS_HERE:
		return MT_TOOL_VERSION;
	case MT_TOOL_UNCOUNTED:
		mt_lock(&t->lock);
		t->counters = mt_count_thread_new(&unwanted, 0);
		mt_unlock(&t->lock);
		if (!t->counters)
			die("no memory for the counters of a thread");
		return 1;
	case MT_TOOL_OWN_CODE:
		own_start = (app_pc)a;
		own_end = (app_pc)b;
		return 1;
	case MT_TOOL_BEGIN:
		mt_count_fork_child(&counters, t->counters, mt_gettid());
		return 1;
	case MT_TOOL_COLLECT:
		drain_all();
		r = (struct mt_tool_rows *)a;
		n_rows = 0;
		sum = mt_count_collect(&counters, is_alive, tell, NULL);
		r->row = rows;
		r->n = n_rows;
		return sum;
	case MT_TOOL_PENDING:
		drain_all();
		return mt_count_pending(&counters);
	case MT_TOOL_LOST:
		return __atomic_load_n(&counters.lost, __ATOMIC_RELAXED);
	default:
		return 0;
	}
}

/* How many descriptors the table of this thread has room for; 0: not known. */
static uint64_t descriptor_slots(void)
{
	static const char key[] = "\nFDSize:";
	const size_t length = sizeof(key) - 1;
	char text[1024];
	uint64_t n = 0;
	long fd = mt_sys(SYS_openat, AT_FDCWD, "/proc/thread-self/status", O_RDONLY | O_CLOEXEC, 0), len;

	if (fd < 0)
		return 0;
	len = mt_sys(SYS_read, fd, text, sizeof(text) - 1);
	mt_sys(SYS_close, fd);
	text[len > 0 ? len : 0] = 0;
	for (long i = 0; i + (long)length < len; i++) {
		if (memcmp(text + i, key, length))
			continue;
		for (i += (long)length; text[i] == '\t' || text[i] == ' '; i++)
			;
		for (; text[i] >= '0' && text[i] <= '9'; i++)
			n = n * 10 + (uint64_t)(text[i] - '0');
		return n;
	}
	return 0;
}

/* DynamoRIO looks at each number before the kernel closes the range: 20 minutes for all that there could be. */
static void shorten_range(void *drcontext)
{
	const uint64_t slots_now = descriptor_slots(), first = (uint32_t)dr_syscall_get_param(drcontext, 0);

	const uint64_t last = slots_now > first ? slots_now - 1 : first;

	if (slots_now && (uint32_t)dr_syscall_get_param(drcontext, 1) > last)
		dr_syscall_set_param(drcontext, 1, (reg_t)last);
}

static bool on_filter(void *drcontext, int nr)
{
	(void)drcontext, (void)nr;
	return true;
}

static bool on_syscall(void *drcontext, int nr)
{
	struct thread *t = drmgr_get_tls_field(drcontext, thread_field);
	const long request = (long)(unsigned int)nr - (long)MT_TOOL_BASE;

	drain(t, true);
	if (request >= 0 && request < 0x10000) {
		dr_syscall_set_result(drcontext, (reg_t)answer(t, request, dr_syscall_get_param(drcontext, 0), dr_syscall_get_param(drcontext, 1)));
		return false;
	}
	if (nr == SYS_close_range)
		shorten_range(drcontext);
	t->nr = nr;
	for (int i = 0; i < 6; i++)
		t->arg[i] = dr_syscall_get_param(drcontext, i);
	return true;
}

static void by_kernel(void *to, uint64_t at, uint64_t bytes, unsigned int write)
{
	mt_count_range(to, at, bytes, write);
}

static void on_syscall_done(void *drcontext, int nr)
{
	struct thread *t = drmgr_get_tls_field(drcontext, thread_field);

	if (t->nr != nr || t->counters->count != &counters)
		return;
	mt_lock(&t->lock);
	mt_kernel_accesses(nr, t->arg, (long)dr_syscall_get_result(drcontext), by_kernel, t->counters);
	mt_unlock(&t->lock);
}

/* ---- the client */

static void on_module(void *drcontext, const module_data_t *m, bool loaded)
{
	(void)drcontext, (void)loaded;
	if (!library || !m->full_path || strcmp(m->full_path, library))
		return;
	own_start = m->start;
	own_end = m->end;
}

static void on_process_exit(void)
{
	drx_exit();
	drreg_exit();
	drmgr_exit();
}

DR_EXPORT void dr_client_main(client_id_t id, int argc, const char *argv[])
{
	/* the place in the buffer, and two for an address, live at a time; one across instructions; the flags */
	drreg_options_t registers = { .struct_size = sizeof(registers), .num_spill_slots = 6 };

	(void)id;
	dr_set_client_name("memtrace", "the memtrace project");
	library = argc > 1 ? argv[1] : NULL;
	pid = mt_getpid();
	if (!drmgr_init() || drreg_init(&registers) != DRREG_SUCCESS || !drx_init())
		die("the extensions of DynamoRIO do not start");
	mt_plan_init();
	mt_count_init(&counters, &ops);
	mt_count_init(&unwanted, &ops);
	sites = need(MAX_SITES * sizeof(*sites));
	site_next = need(MAX_SITES * sizeof(*site_next));
	thread_field = drmgr_register_tls_field();
	if (thread_field < 0 || !dr_raw_tls_calloc(&segment, &slots, 1, 0))
		die("no room in the memory of threads");
	drmgr_register_exit_event(on_process_exit);
	dr_register_fork_init_event(on_fork_child);
	drmgr_register_filter_syscall_event(on_filter);
	drmgr_register_thread_init_event(on_thread_init);
	drmgr_register_thread_exit_event(on_thread_exit);
	drmgr_register_pre_syscall_event(on_syscall);
	drmgr_register_post_syscall_event(on_syscall_done);
	drmgr_register_signal_event(on_signal);
	drmgr_register_module_load_event(on_module);
	drmgr_register_bb_app2app_event(on_app2app, NULL);
	drmgr_register_bb_instrumentation_event(on_analysis, on_insert, NULL);
}
