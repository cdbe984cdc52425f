/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * objects.c - which executables and libraries are loaded where, and when.
 *
 * What the program begins with is asked of dl_iterate_phdr(), in the constructor. Later no lock of the loader may be taken: the
 * hook may be in a signal handler that interrupts dlopen() or dlclose(), or in a thread that holds it. The loader's list for
 * debuggers is read instead, as a debugger does, while it says of itself that it is consistent: when a call stack is seen for
 * the first time, when an address is in no known object, and at the end. What stands there is checked against the object.
 *
 * The loader's own calls of mmap and munmap come to us (mt_patch_loader): so nothing is looked at while nothing has changed,
 * and an object is out of the table before its memory goes. Where they are not found each look is a full one.
 *
 * Readers of the table take no lock. An object has a number that no other one ever had; it is 0 while the slot is not in use,
 * which is checked again after reading. Who reads the memory of an object is counted, and its end waits for them.
 */
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "preload/ground/context.h"
#include "preload/context/ctx.h"
#include "common/rawsys.h"
#include "preload/ground/thread.h"

#define MAX_OBJECTS 8192
#define MAX_HEADERS 64
#define READERS_PATIENCE_NS 20000000ull

struct ctx_object *ctx_objects;
static _Atomic unsigned int used;	/* slots that were ever in use */
static _Atomic uint32_t last_serial;
_Atomic uint32_t ctx_objects_changes;
static uintptr_t our_start, our_end;

static _Atomic int scanning;		/* the lock of what changes the table; only tried, but around fork */
static _Atomic int readers;
static bool readers_stuck;		/* one has left without a word */

static struct r_debug *loader;		/* what it tells debuggers */
static bool watched;			/* the loader's calls come to us */
static _Atomic uint32_t changes = 1;	/* calls of the loader */
static uint32_t seen_changes;		/* under scanning: what the table knows of */
static unsigned int round_no;

bool ctx_ip_is_ours(uintptr_t ip)
{
	return ip - our_start < our_end - our_start;
}

static int find(uintptr_t ip, uint32_t *serial)
{
	const unsigned int n = atomic_load_explicit(&used, memory_order_acquire);

	for (unsigned int i = 0; i < n; i++) {
		struct ctx_object *o = &ctx_objects[i];

		if (ip - o->start >= o->end - o->start)
			continue;
		*serial = atomic_load_explicit(&o->serial, memory_order_acquire);
		if (*serial && ip - o->start < o->end - o->start)
			return (int)i;
	}
	return CTX_NO_OBJECT;
}

/* ------------------------------------------------------------ what an object is */

/* From its program headers. */
static bool describe(struct ctx_object *o, uintptr_t base, const ElfW(Phdr) *p, int n)
{
	memset((char *)o + sizeof(o->serial), 0, sizeof(*o) - sizeof(o->serial));
	o->base = base;
	o->start = UINTPTR_MAX;
	for (int i = 0; i < n; i++, p++) {
		const uintptr_t at = base + p->p_vaddr;

		if (p->p_type == PT_DYNAMIC)
			o->dynamic = at;
		if (p->p_type == PT_GNU_EH_FRAME)
			o->frames = at;
		if (p->p_type != PT_LOAD || !p->p_memsz)
			continue;
		if (at < o->start)
			o->start = at;
		if (at + p->p_memsz > o->end)
			o->end = at + p->p_memsz;
	}
	return o->start < o->end && o->end - o->start > 64;
}

/* Under scanning. A slot for @o, whose number makes it known. NULL: too many. */
static struct ctx_object *add(const struct ctx_object *o)
{
	const unsigned int n = atomic_load_explicit(&used, memory_order_relaxed);
	struct ctx_object *to = NULL;

	for (unsigned int i = 0; i < n && !to; i++)
		if (!ctx_objects[i].serial && !ctx_objects[i].gone)
			to = &ctx_objects[i];
	if (!to) {
		if (n == MAX_OBJECTS) {
			atomic_fetch_add(&ctx_lost_memory, 1);
			return NULL;
		}
		to = &ctx_objects[n];
	}
	memcpy((char *)to + sizeof(to->serial), (const char *)o + sizeof(o->serial), sizeof(*o) - sizeof(o->serial));
	atomic_store_explicit(&to->serial, atomic_fetch_add(&last_serial, 1) + 1, memory_order_release);
	if (to == &ctx_objects[n])
		atomic_store_explicit(&used, n + 1, memory_order_release);
	atomic_fetch_add_explicit(&ctx_objects_changes, 1, memory_order_release);
	return to;
}

static int first(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct ctx_object o;
	bool *program = arg;

	if (*program)		/* a variable of the loader would be a copy where the program has one, too */
		for (int i = 0; i < info->dlpi_phnum; i++)
			if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
				for (const ElfW(Dyn) *d = (void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr); d->d_tag; d++)
					if (d->d_tag == DT_DEBUG && d->d_un.d_ptr)
						loader = (void *)d->d_un.d_ptr;
	*program = false;
	if (!describe(&o, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum))
		return 0;
	if ((uintptr_t)&first - o.start < o.end - o.start) {
		our_start = o.start;
		our_end = o.end;
	}
	/* before main: what has a block in this thread now has it in each, at the same distance */
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_TLS && size >= offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof(void *) &&
		    info->dlpi_tls_data) {
			o.tls_bytes = info->dlpi_phdr[i].p_memsz;
			o.tls_offset = (int64_t)((uintptr_t)info->dlpi_tls_data - mt_thread_pointer());
		}
	add(&o);
	return 0;
}

/* constructor; a second call does nothing. */
bool ctx_objects_init(void)
{
	bool program = true;

	if (ctx_objects)
		return true;
	loader = &_r_debug;
	ctx_objects = ctx_map(MAX_OBJECTS * sizeof(*ctx_objects));
	if (!ctx_objects)
		return false;
	atomic_store(&ctx_objects_changes, 1);
	dl_iterate_phdr(first, &program);
	return true;
}

/* From the headers in memory, where a library begins with them. False: this is no object, or no longer one. */
static bool read_headers(struct ctx_object *o, const struct link_map *m)
{
	const ElfW(Ehdr) *e = (const ElfW(Ehdr) *)m->l_addr;
	const ElfW(Phdr) *p;

	if (!m->l_addr || m->l_addr % MT_PAGE || !ctx_readable(e, sizeof(*e)) || memcmp(e->e_ident, ELFMAG, SELFMAG) ||
	    e->e_ident[EI_CLASS] != ELFCLASS64 || e->e_phentsize != sizeof(*p) || !e->e_phnum || e->e_phnum > MAX_HEADERS ||
	    e->e_phoff > MT_PAGE)
		return false;
	p = (const ElfW(Phdr) *)(m->l_addr + e->e_phoff);
	return ctx_readable(p, e->e_phnum * sizeof(*p)) && describe(o, m->l_addr, p, e->e_phnum) && o->dynamic == (uintptr_t)m->l_ld &&
	       o->start >= m->l_addr && o->end - m->l_addr < 1ul << 40;
}

/* ------------------------------------------------------------------ the log */

/* Under scanning, hence the memory of its own: stacks of threads may be small. */
static void log_object(struct ctx_object *o, const struct link_map *m, uint64_t now)
{
	static char name[1024], path[1024];
	static struct ctx_line l;
	const char *told = name;
	size_t n = 0;

	while (m->l_name && n < sizeof(name) - 1 && ctx_readable(m->l_name + n, 1) && m->l_name[n]) {
		name[n] = m->l_name[n];
		n++;
	}
	name[n] = 0;
	if (!n) {
		long r = mt_sys(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof(path) - 1);

		path[r > 0 ? r : 0] = 0;
		told = path;
	} else if (name[0] != '/' && strchr(name, '/')) {
		/* dlopen("./lib.so"): relative to the directory of now */
		long r = mt_sys(SYS_getcwd, path, sizeof(path) - 1);
		size_t at = r > 1 ? (size_t)r - 1 : 0;	/* r counts the NUL */
		const char *tail = name[0] == '.' && name[1] == '/' ? name + 2 : name;

		if (at && path[0] == '/' && at + strlen(tail) + 2 < sizeof(path)) {
			path[at++] = '/';
			memcpy(path + at, tail, strlen(tail) + 1);
			told = path;
		}
	}
	if (ctx_suspecting)
		ctx_suspect_object(told, o->base, o->start, o->end);
	ctx_line_begin(&l, 'O');
	ctx_line_dec(&l, now);
	ctx_line_hex(&l, o->base);
	ctx_line_hex(&l, o->start);
	ctx_line_hex(&l, o->end);
	ctx_line_dec(&l, our_start == o->start);
	ctx_line_str(&l, told);
	if (o->tls_bytes) {
		ctx_line_int(&l, o->tls_offset);
		ctx_line_dec(&l, o->tls_bytes);
	}
	ctx_line_end(&l);
	o->told = true;
}

static void log_gone(struct ctx_object *o, uint64_t when)
{
	struct ctx_line l;

	if (!o->told)
		return;
	if (ctx_suspecting)
		ctx_suspect_object_gone(o->start);
	ctx_line_begin(&l, 'o');
	ctx_line_dec(&l, when);
	ctx_line_hex(&l, o->start);
	ctx_line_end(&l);
}

/* ------------------------------------------------------------- what changes */

static void wait_for_readers(void)
{
	uint64_t from = 0;

	while (atomic_load(&readers)) {
		if (readers_stuck)
			return;
		mt_relax();
		mt_sys(SYS_sched_yield);
		if (!from)
			from = ctx_now();
		else if (ctx_now() - from > READERS_PATIENCE_NS)
			readers_stuck = true;
	}
}

static void end(struct ctx_object *o, uint64_t when)
{
	uint32_t serial = atomic_load(&o->serial);

	if (!serial)
		return;
	o->gone = when;
	if (atomic_compare_exchange_strong(&o->serial, &serial, 0))
		atomic_fetch_add_explicit(&ctx_objects_changes, 1, memory_order_release);
}

void ctx_note_loaded(void)
{
	atomic_fetch_add_explicit(&changes, 1, memory_order_release);
}

void ctx_note_loader(void)
{
	watched = true;
}

/* Not under scanning: it must not wait for what it may interrupt. */
void ctx_note_unmapping(const void *addr, size_t len)
{
	const unsigned int n = atomic_load_explicit(&used, memory_order_acquire);
	const uintptr_t at = (uintptr_t)addr;
	bool any = false;

	for (unsigned int i = 0; i < n; i++) {
		struct ctx_object *o = &ctx_objects[i];

		if (o->start < at + len && at < o->end && atomic_load_explicit(&o->serial, memory_order_acquire)) {
			end(o, ctx_now());
			any = true;
		}
	}
	if (any) {
		ctx_note_loaded();
		wait_for_readers();
	}
}

static struct ctx_object *known(const struct link_map *m)
{
	const unsigned int n = atomic_load_explicit(&used, memory_order_relaxed);

	for (unsigned int i = 0; i < n; i++)
		if (ctx_objects[i].serial && ctx_objects[i].base == m->l_addr && ctx_objects[i].dynamic == (uintptr_t)m->l_ld)
			return &ctx_objects[i];
	return NULL;
}

static bool is_consistent(void)
{
	return *(volatile __typeof__(loader->r_state) *)&loader->r_state == RT_CONSISTENT;
}

/* Under scanning, signals blocked. */
static void scan(bool telling)
{
	const uint64_t now = ctx_now();
	const uint32_t before = atomic_load_explicit(&changes, memory_order_acquire);
	const struct link_map *at = *(struct link_map *volatile *)&loader->r_map;
	bool whole = false;

	if (!is_consistent())
		return;		/* the next look finds it */
	round_no++;
	for (int i = 0; i < MAX_OBJECTS; i++) {
		struct link_map m;
		struct ctx_object *o, found;

		if (!at) {
			whole = true;
			break;
		}
		if (!is_consistent() || !ctx_readable(at, sizeof(m)))
			break;
		memcpy(&m, at, sizeof(m));
		o = known(&m);
		if (!o && read_headers(&found, &m) && is_consistent())
			o = add(&found);
		if (o) {
			o->round = round_no;
			if (telling && !o->told)
				log_object(o, &m, now);
		}
		at = m.l_next;
	}
	whole = whole && is_consistent() && atomic_load_explicit(&changes, memory_order_acquire) == before;
	for (unsigned int i = 0; i < atomic_load_explicit(&used, memory_order_relaxed); i++) {
		struct ctx_object *o = &ctx_objects[i];

		if (whole && o->serial && o->round != round_no)
			end(o, now);
		if (!o->serial && o->gone) {
			if (telling)
				log_gone(o, o->gone);
			o->gone = 0;
		}
	}
	if (whole && telling)
		seen_changes = before;
}

/* Logs what is new or gone, if there may be something. Signals of any kind may come before and after. */
void ctx_objects_scan(void)
{
	uint64_t mask;

	if (!ctx_objects || (watched && seen_changes == atomic_load_explicit(&changes, memory_order_acquire)))
		return;
	mask = mt_block_signals();
	if (!atomic_exchange_explicit(&scanning, 1, memory_order_acquire)) {
		scan(true);
		ctx_unlock(&scanning);
	}
	mt_restore_signals(mask);
}

/*
 * The object that @ip is in, CTX_NO_OBJECT: none; its number, or without one when that was so. Its memory stays until
 * ctx_objects_read_end(). Signals blocked.
 */
int ctx_objects_read_begin(uintptr_t ip, uint32_t *serial)
{
	int i;

	atomic_fetch_add(&readers, 1);
	i = find(ip, serial);
	if (i == CTX_NO_OBJECT && (!watched || seen_changes != atomic_load_explicit(&changes, memory_order_acquire))) {
		atomic_fetch_sub(&readers, 1);
		ctx_objects_scan();
		atomic_fetch_add(&readers, 1);
		*serial = atomic_load_explicit(&ctx_objects_changes, memory_order_acquire);
		i = find(ip, serial);
	} else if (i == CTX_NO_OBJECT) {
		*serial = atomic_load_explicit(&ctx_objects_changes, memory_order_acquire);
	}
	return i;
}

void ctx_objects_read_end(void)
{
	atomic_fetch_sub(&readers, 1);
}

void ctx_objects_lock(void)
{
	ctx_lock(&scanning);
}

void ctx_objects_unlock(void)
{
	ctx_unlock(&scanning);
}

void ctx_objects_fork_child(void)
{
	atomic_store(&readers, 0);	/* the threads that read are not here */
	readers_stuck = false;
}
