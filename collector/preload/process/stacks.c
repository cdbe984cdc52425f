// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/process/stacks.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "preload/ground/asm.h"
#include "preload/ground/image.h"
#include "preload/ground/symbol.h"
#include "common/rawdir.h"
#include "common/rawsys.h"
#include "preload/memory/space.h"

#define LINK_BEFORE 32		/* struct pthread: list, tid, (unused), robust_prev, robust_head */
#define LINK_BYTES 56
#define MAX_THREADS 65536ul
#define MAX_PASSES 10000

/* What holds the heads of the lists. 0 = not known */
static struct range {
	uint64_t start, end;
} lists;

/*
 * The lock of the lists, the last of these, which follow each other in _rtld_global of glibc 2.34 to 2.41: heads of the lists of
 * stacks that are used, that the program gave, that wait for use; bytes of the last; what is being changed; the lock. NULL: not known.
 */
struct stack_lists {
	struct list_head {
		struct list_head *next, *prev;
	} used, user, cache;
	size_t cache_bytes;
	uintptr_t in_flight;
	uint32_t lock;
};
static uint32_t *list_lock;
#define LIST_PATIENCE_NS 100000000

/* What libc tells a debugger: bits, number, offset. */
static uint64_t field_offset(const char *name)
{
	const uint32_t *field = mt_is_defined(name) ? dlsym(RTLD_DEFAULT, name) : NULL;

	return field ? field[2] : 0;
}

static int is_list(const struct list_head *l)
{
	return l->next && l->next->prev == l && l->prev && l->prev->next == l;
}

/* This is the only thread, so that nothing is held or on its way; and the first one is in a list. */
static void find_lock(void)
{
	const uint64_t used = field_offset("_thread_db_rtld_global__dl_stack_used"), user = field_offset("_thread_db_rtld_global__dl_stack_user"),
		       link = field_offset("_thread_db_pthread_list");
	struct stack_lists *l = (struct stack_lists *)(lists.start + used);

	if (!used || user != used + sizeof(l->used) || lists.start + used + offsetof(struct stack_lists, lock) + 4 > lists.end)
		return;
	if (is_list(&l->used) && is_list(&l->user) && is_list(&l->cache) && l->user.next == (void *)(mt_thread_pointer() + link) &&
	    !l->in_flight && !l->lock)
		list_lock = &l->lock;
}

int mt_stacks_lock(void)
{
	const uint64_t begin = mt_now_ns();
	uint32_t c = 0;

	if (!list_lock)
		return 0;
	if (__atomic_compare_exchange_n(list_lock, &c, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return 1;
	/* as libc does it: 2 is held and waited for */
	while (__atomic_exchange_n(list_lock, 2, __ATOMIC_ACQUIRE) != 0) {
		const struct timespec ts = { 0, LIST_PATIENCE_NS / 10 };

		mt_sys(SYS_futex, list_lock, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 2, &ts);
		if (mt_now_ns() - begin > LIST_PATIENCE_NS)
			return 0;
	}
	return 1;
}

void mt_stacks_unlock(int taken)
{
	if (taken && __atomic_exchange_n(list_lock, 0, __ATOMIC_RELEASE) > 1)
		mt_sys(SYS_futex, list_lock, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
}

void mt_stacks_fork_child(int taken)
{
	if (taken)
		*list_lock = 0;
}

/* The data of the object that holds the address lists.start. */
static int find_data(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct range *r = arg, data = { 0, 0 };
	int here = 0;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint64_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD)
			continue;
		here |= start <= r->start && r->start < start + p->p_memsz;
		if (p->p_flags & PF_W)
			data = (struct range){ start & ~7ull, start + p->p_memsz };
	}
	if (here)
		*r = data;
	return here;
}

void mt_stacks_init(void)
{
	void *p, *library;
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (mt_is_defined("_Fork")) {
		p = mt_is_defined("_rtld_global") ? dlsym(RTLD_DEFAULT, "_rtld_global") : NULL;
		if (p && dladdr1(p, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol)
			lists = (struct range){ (uint64_t)p, (uint64_t)p + symbol->st_size };
		if (lists.start)
			find_lock();
		return;
	}
	library = dlopen("libpthread.so.0", RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return;
	lists.start = (uint64_t)dlsym(library, "pthread_create");
	dlclose(library);
	if (!lists.start || !dl_iterate_phdr(find_data, &lists))
		lists = (struct range){ 0, 0 };
}

void mt_stacks_read(struct mt_stacks *s)
{
	struct mt_rawdir tasks;
	size_t threads = 0;
	long tid;

	memset(s, 0, sizeof(*s));
	if (mt_rawdir_open(&tasks, "/proc/self/task"))
		return;
	/* address space only; the pages come as they are written */
	s->bytes = MAX_THREADS * sizeof(*s->robust);
	s->robust = mt_rawmap(s->bytes);
	if (!s->robust)
		mt_rawdir_close(&tasks);
	while ((tid = mt_rawdir_number(&tasks)) >= 0) {
		uint64_t head = 0;
		size_t len;

		threads++;
		if (s->n < MAX_THREADS && !mt_sys(SYS_get_robust_list, tid, &head, &len) && head)
			s->robust[s->n++] = head;
	}
	if (threads <= 1 + (size_t)zap_space.our_tasks)
		s->n = 0;
}

void mt_stacks_free(struct mt_stacks *s)
{
	if (s->robust)
		mt_rawunmap(s->robust, s->bytes);
	memset(s, 0, sizeof(*s));
}

/* A range of this process and the same bytes in the parent's file. */
struct pair {
	volatile char *mine;
	const volatile char *theirs;
	size_t len;
};

struct pairs {
	struct pair *p;
	size_t n, cap;
};

/* @m is a mapping of the file @from, with offsets that are its addresses. */
static long add(struct pairs *all, const struct mt_map *m, uint64_t start, uint64_t end, int from)
{
	const int rw = PROT_READ | PROT_WRITE;
	uint64_t first;
	long view;

	start = start < m->start ? m->start : start;
	end = end > m->end ? m->end : end;
	if (start >= end || (m->prot & rw) != rw || all->n == all->cap)
		return 0;
	first = start & ~(MT_PAGE - 1);
	view = mt_rawmap_at_place(((end - first) + MT_PAGE - 1) & ~(MT_PAGE - 1), PROT_READ, MAP_SHARED, from, first);
	if (mt_failed(view))
		return view;
	all->p[all->n++] = (struct pair){ (volatile char *)start, (const volatile char *)view + (start - first), end - start };
	return 0;
}

static void unmap(struct pairs *all)
{
	for (size_t i = 0; i < all->n; i++) {
		const uint64_t at = (uint64_t)all->p[i].theirs, first = at & ~(MT_PAGE - 1);

		mt_sys(SYS_munmap, first, (at + all->p[i].len - first + MT_PAGE - 1) & ~(MT_PAGE - 1));
	}
}

/* One pass over all ranges: what differs is taken over. Words, since that is how they are written. */
static int pass(const struct pairs *all)
{
	int changed = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct pair *r = &all->p[i];

		for (size_t k = 0; k + 8 <= r->len; k += 8) {
			const uint64_t v = __atomic_load_n((const volatile uint64_t *)(r->theirs + k), __ATOMIC_ACQUIRE);

			if (*(volatile uint64_t *)(r->mine + k) != v) {
				*(volatile uint64_t *)(r->mine + k) = v;
				changed = 1;
			}
		}
	}
	return changed;
}

int mt_stacks_settle(const struct mt_stacks *s, struct mt_maps *maps, uint64_t dev, uint64_t ino, int from)
{
	struct pairs all = { NULL, 0, 0 };
	struct mt_map m;
	uint64_t guard_end = 0;
	size_t bytes, mappings = 0;
	long err = 0;
	int passes = 0;

	if (!s->n || !lists.start)
		return 0;
	mt_maps_rewind(maps);
	while (mt_maps_next(maps, &m))
		mappings++;
	all.cap = 2 * mappings + s->n;
	bytes = all.cap * sizeof(*all.p);
	all.p = mt_rawmap(bytes);
	if (!all.p)
		return -ENOMEM;
	mt_maps_rewind(maps);
	while (!err && mt_maps_next(maps, &m)) {
		/* what the program keeps from its children (V8 its code, behind a guard page like a stack) is not there */
		if (zap_is_mapping(&m, dev, ino) && !zap_regions_contain(&zap_space.not_forked, m.start)) {
			if (lists.start < m.end && lists.end > m.start)
				err = add(&all, &m, lists.start, lists.end, from);
			if (!err && m.start == guard_end && m.end - m.start > MT_DESCRIPTOR_BYTES)
				err = add(&all, &m, m.end - MT_DESCRIPTOR_BYTES, m.end, from);
			for (size_t i = 0; !err && i < s->n; i++)
				if (s->robust[i] >= m.start && s->robust[i] < m.end)
					err = add(&all, &m, s->robust[i] - LINK_BEFORE,
						  s->robust[i] - LINK_BEFORE + LINK_BYTES, from);
		}
		guard_end = m.prot ? 0 : m.end;
	}
	if (!err)
		do
			passes++;
		while (pass(&all) && passes < MAX_PASSES);
	unmap(&all);
	mt_rawunmap(all.p, bytes);
	return err ? (int)err : passes;
}
