// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tool.c - a tool of Valgrind that counts each access by thread and page (count/count.h), and by instruction if it is
 * asked to (count/site.h). The preload library, in the program, asks for the counters (request.h) and writes the trace.
 *
 * Valgrind runs one thread at a time, and calls all of this on it: there are no locks to take.
 *
 * Before each load and store stands a call of a function here. The unit is that of docs/how/exact.md: one access for each
 * operand of an instruction, of wider ones one for each 16 bytes begun in each page.
 */
#include "pub_tool_basics.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_clreq.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_options.h"
#include "pub_tool_threadstate.h"
#include "pub_tool_tooliface.h"

#include <elf.h>
#include <linux/prctl.h>

#include "engines/valgrind/alone.h"
#include "common/settings.h"
#include "count/site.h"
#include "engines/valgrind/request.h"

#define UNIT 16			/* bytes of one access at most */
#define MAX_LOADS 16		/* of one instruction, that are remembered */

static struct mt_count counters;
static struct mt_count unwanted;	/* of threads of the recorder; nobody reads it */
static struct mt_count_thread **of;	/* by ThreadId; NULL: it has none yet */
static struct mt_count_thread *current;	/* of the thread that runs */
static Bool with_sites;			/* --instructions=yes */
static struct mt_sites sites;
static struct mt_sites unwanted_sites;
static struct mt_site_thread **sites_of;	/* by ThreadId */
static struct mt_site_thread *current_sites;
static Addr own_start, own_end;		/* code that does not count */

/* A string instruction with a prefix (rep movsb) runs once for each element: how far it is in its 16 bytes. */
struct repeat {
	Addr ip, next;			/* of the last element: its instruction, and where another one would be */
	UWord left;			/* bytes that are counted already */
};
static struct repeat (*repeats)[2];	/* by ThreadId, for reads and writes */
static struct repeat *repeat;		/* of the thread that runs */

static struct mt_count_row *rows;
static ULong n_rows, max_rows;
static struct mt_site_row *site_rows;
static ULong n_site_rows, max_site_rows;

/* ---- counters */

static void *map(size_t bytes)
{
	return VG_(am_shadow_alloc)(bytes);
}

static void zero(void *p, size_t bytes)
{
	if (mt_sys(SYS_madvise, p, bytes, MADV_DONTNEED))
		VG_(memset)(p, 0, bytes);
}

static bool is_alive(int tid)
{
	return mt_sys(SYS_tgkill, VG_(getpid)(), tid, 0) != -ESRCH;
}

static void tell(void *arg, const struct mt_count_row *r)
{
	(void)arg;
	if (n_rows == max_rows) {
		max_rows = max_rows ? 2 * max_rows : 4096;
		rows = VG_(realloc)("memtrace.rows", rows, max_rows * sizeof(*rows));
	}
	rows[n_rows++] = *r;
}

static void tell_site(void *arg, const struct mt_site_row *r)
{
	(void)arg;
	if (n_site_rows == max_site_rows) {
		max_site_rows = max_site_rows ? 2 * max_site_rows : 4096;
		site_rows = VG_(realloc)("memtrace.sites", site_rows, max_site_rows * sizeof(*site_rows));
	}
	site_rows[n_site_rows++] = *r;
}

/* ---- programs without the preload library: nobody asks, and the counts are written from here (alone.h) */

static const HChar *log_prefix;		/* of the path of Valgrind's log; the process id is behind it */
static Bool alone;
static HChar alone_path[4200];
static ULong alone_start_ns, alone_next_ns, alone_length_ns, alone_sites_ns;
static ULong alone_lost;
static Addr main_stack;			/* an address in it */

/* The file is open only here, while the program does not run: it never sees a descriptor of ours. */
static void alone_write(struct alone_head *h, const void *what, ULong bytes)
{
	const long fd = mt_sys(SYS_open, alone_path, O_WRONLY | O_APPEND | O_CLOEXEC);

	h->version = ALONE_VERSION;
	h->bytes = bytes;
	h->pid = VG_(getpid)();
	if (fd < 0)
		return;
	mt_sys(SYS_write, fd, h, sizeof(*h));
	while (bytes) {
		const long n = mt_sys(SYS_write, fd, what, bytes);

		if (n <= 0)
			break;
		what = (const HChar *)what + n;
		bytes -= (ULong)n;
	}
	mt_sys(SYS_close, fd);
}

static void alone_write_maps(void)
{
	Addr one;
	const Int many = VG_(am_get_segment_starts)(SkFileC | SkAnonC, &one, 1), most = many < 0 ? -many : 1;
	Addr *starts = VG_(malloc)("memtrace.starts", sizeof(Addr) * (UInt)most);
	const Int n = VG_(am_get_segment_starts)(SkFileC | SkAnonC, starts, most);
	struct alone_head h = { .kind = ALONE_MAPS };
	ULong used = 0, room = 4096;
	HChar *text = VG_(malloc)("memtrace.maps", room);
	Bool has_heap = False;

	for (Int i = 0; i < n; i++) {
		const NSegment *s = VG_(am_find_nsegment)(starts[i]);
		const HChar *name = s ? VG_(am_get_filename)(s) : NULL;

		if (!s)
			continue;
		if (!name)
			name = main_stack >= s->start && main_stack <= s->end ? "[stack]" : "";
		/* Valgrind makes the memory of brk(2) executable, and nothing below it that is no file */
		if (!has_heap && s->kind == SkAnonC && s->hasR && s->hasW && s->hasX) {
			has_heap = True;
			name = "[heap]";
		}
		if (room - used < VG_(strlen)(name) + 400)
			text = VG_(realloc)("memtrace.maps", text, room = 2 * room + VG_(strlen)(name));
		used += VG_(sprintf)(text + used, "%lx-%lx %c%c%cp %llx 00:00 %llu %s\n", s->start, s->end + 1, s->hasR ? 'r' : '-',
				     s->hasW ? 'w' : '-', s->hasX ? 'x' : '-', name[0] == '/' ? (ULong)s->offset : 0, (ULong)s->ino, name);
	}
	alone_write(&h, text, used);
	VG_(free)(text);
	VG_(free)(starts);
}

/* The end of an interval. */
static void alone_interval(UInt marks)
{
	struct alone_head h = { .kind = ALONE_ROWS, .marks = marks, .start = alone_start_ns };
	const ULong now = mt_now_ns();

	n_rows = 0;
	h.accesses = mt_count_collect(&counters, is_alive, tell, NULL);
	h.end = now > h.start ? now : h.start + 1;
	h.lost = counters.lost - alone_lost;
	alone_lost = counters.lost;
	alone_write(&h, rows, n_rows * sizeof(*rows));
	if (with_sites) {
		struct alone_head sites_head = { .kind = ALONE_SITES };
		const Bool all = marks || now >= alone_sites_ns;

		n_site_rows = 0;
		mt_sites_collect(&sites, all, is_alive, tell_site, NULL);
		alone_write(&sites_head, site_rows, n_site_rows * sizeof(*site_rows));
		if (all)
			alone_sites_ns = now + (now - counters.start_ns);
	}
	if (marks || h.start == counters.start_ns)
		alone_write_maps();
	alone_start_ns = h.end;
	alone_next_ns = now + alone_length_ns;
}

/* A file of its own for a program in a process. @parent: of a child of fork, else 0. */
static void alone_begin(Int parent)
{
	struct alone_head h = { .kind = ALONE_BEGIN, .parent = parent, .how_fork = parent != 0, .start = mt_now_ns() };
	static HChar exe[8192];
	long fd = -EEXIST;

	for (UInt k = 0; fd == -EEXIST && k < 100000; k++) {
		VG_(sprintf)(alone_path, "%s%d-%u" ALONE_SUFFIX, log_prefix, VG_(getpid)(), k);
		fd = mt_sys(SYS_open, alone_path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	}
	alone = fd >= 0;
	if (!alone)
		return;
	mt_sys(SYS_close, fd);
	alone_start_ns = counters.start_ns = h.start;
	alone_next_ns = h.start + alone_length_ns;
	alone_sites_ns = h.start + 1000000000;
	alone_lost = 0;
	exe[0] = 0;
	if (VG_(args_the_exename)[0] != '/' && mt_sys(SYS_getcwd, exe, sizeof(exe) - 1) > 0)
		VG_(strcat)(exe, "/");
	if (VG_(strlen)(exe) + VG_(strlen)(VG_(args_the_exename)) < sizeof(exe))
		VG_(strcat)(exe, VG_(args_the_exename));
	alone_write(&h, exe, VG_(strlen)(exe));
}

/* No library can be loaded into it. */
static Bool is_static(const HChar *program)
{
	const long fd = mt_sys(SYS_open, program, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr e;
	Elf64_Phdr p;
	Bool yes = fd >= 0 && mt_sys(SYS_read, fd, &e, sizeof(e)) == sizeof(e) && !VG_(memcmp)(e.e_ident, ELFMAG, SELFMAG) &&
		   e.e_ident[EI_CLASS] == ELFCLASS64;

	for (UInt i = 0; yes && i < e.e_phnum; i++)
		yes = mt_sys(SYS_pread64, fd, &p, sizeof(p), e.e_phoff + (ULong)i * e.e_phentsize) == sizeof(p) && p.p_type != PT_INTERP;
	if (fd >= 0)
		mt_sys(SYS_close, fd);
	return yes;
}

static void before_syscall(ThreadId tid, UInt number, UWord *args, UInt n)
{
	(void)tid, (void)args, (void)n;
	if (alone && (number == SYS_execve || number == SYS_execveat))
		alone_interval(ALONE_EXEC);
}

static void after_syscall(ThreadId tid, UInt number, UWord *args, UInt n, SysRes result)
{
	(void)tid, (void)number, (void)args, (void)n, (void)result;
}

/* ---- threads and processes */

static const struct mt_count_ops ops = { .map = map, .zero = zero, .now_ns = mt_now_ns };

static struct mt_site_thread *new_sites(struct mt_sites *s, struct mt_count_thread *pages)
{
	struct mt_site_thread *t = mt_site_thread_new(s, pages, pages->tid);

	if (!t)
		VG_(tool_panic)("no memory for the instructions of a thread");
	return t;
}

static void on_start_client_code(ThreadId tid, ULong blocks)
{
	(void)blocks;
	if (!of[tid]) {
		of[tid] = mt_count_thread_new(&counters, VG_(gettid)());
		if (!of[tid])	/* no memory: of nobody */
			of[tid] = mt_count_thread_new(&unwanted, 0);
		if (!of[tid])
			VG_(tool_panic)("no memory for the counters of a thread");
	}
	if (with_sites && !sites_of[tid])
		sites_of[tid] = new_sites(of[tid]->count == &counters ? &sites : &unwanted_sites, of[tid]);
	if (alone && !main_stack)
		main_stack = VG_(get_SP)(tid);
	if (alone && mt_now_ns() >= alone_next_ns)
		alone_interval(0);
	current = of[tid];
	current_sites = sites_of[tid];
	repeat = repeats[tid];
}

static void on_thread_exit(ThreadId tid)
{
	of[tid] = NULL;
	sites_of[tid] = NULL;
}

static void on_fork_before(ThreadId tid)
{
	(void)tid;
	mt_count_fork_prepare(&counters);
}

static void on_fork_parent(ThreadId tid)
{
	(void)tid;
	mt_count_fork_parent(&counters);
}

/* With one thread that counts. */
static void begin_anew(struct mt_count_thread *self, struct mt_site_thread *self_sites)
{
	const Int tid = VG_(gettid)();

	mt_count_fork_child(&counters, self, tid);
	if (with_sites)
		mt_sites_fork_child(&sites, self_sites, tid);
}

static void on_fork_child(ThreadId tid)
{
	struct mt_count_thread *self = of[tid];
	struct mt_site_thread *self_sites = sites_of[tid];

	for (UInt i = 0; i < VG_N_THREADS; i++) {
		of[i] = NULL;
		sites_of[i] = NULL;
	}
	of[tid] = self;
	sites_of[tid] = self_sites;
	begin_anew(self, self_sites);
	if (alone)
		alone_begin(mt_sys(SYS_getppid));
}

/* ---- what the code of the program calls */

static VG_REGPARM(2) __attribute__((noinline)) void slow(Addr at, UWord write)
{
	mt_count_add(current, at, (unsigned int)write, 1);
}

static VG_REGPARM(2) __attribute__((noinline)) void first(Addr at, UWord write)
{
	mt_count_slow(current, at, (unsigned int)write, 0, true);
}

/* Like mt_count_hit(): no signal handler comes in between here. */
static inline __attribute__((always_inline)) void count(Addr at, UWord write)
{
	const struct mt_count_slot *s = &current->slot[at >> MT_COUNT_REGION_SHIFT & (MT_COUNT_SLOTS - 1)];
	ULong *n;

	if (UNLIKELY(s->region != at >> MT_COUNT_REGION_SHIFT)) {
		slow(at, write);
		return;
	}
	n = (ULong *)(s->base + (at >> MT_COUNT_PAGE_SHIFT) * 16 + write * 8);
	if (UNLIKELY(!++*n))
		first(at, write);
}

static VG_REGPARM(1) void on_read(Addr at)
{
	count(at, MT_COUNT_READ);
}

static VG_REGPARM(1) void on_write(Addr at)
{
	count(at, MT_COUNT_WRITE);
}

static VG_REGPARM(2) void on_wide_read(Addr at, UWord bytes)
{
	mt_count_range(current, at, bytes, MT_COUNT_READ);
}

static VG_REGPARM(2) void on_wide_write(Addr at, UWord bytes)
{
	mt_count_range(current, at, bytes, MT_COUNT_WRITE);
}

/* Does the next element of a string begin one of the pieces that count? */
static inline __attribute__((always_inline)) Bool is_new_unit(Addr at, Addr ip, UWord bytes, UWord write)
{
	struct repeat *r = &repeat[write];
	UWord left = r->ip == ip && r->next == at ? r->left : 0;
	const Bool is_new = left < bytes || !(at & ((1u << MT_COUNT_PAGE_SHIFT) - 1));

	if (is_new)
		left = UNIT;
	r->ip = ip;
	r->next = at + bytes;
	r->left = left - bytes;
	return is_new;
}

static VG_REGPARM(3) void on_repeat(Addr at, Addr ip, UWord bytes_write)
{
	if (is_new_unit(at, ip, bytes_write >> 1, bytes_write & 1))
		count(at, bytes_write & 1);
}

/* ---- the same with instructions. @operand: key of mt_site_key(), and what is not in it is @bytes */

static VG_REGPARM(3) void on_site(Addr at, UWord key, UWord bytes)
{
	count(at, key >> 62 & 1);
	mt_site_add(current_sites, key, at, (uint32_t)bytes);
}

static VG_REGPARM(3) void on_wide_site(Addr at, UWord key, UWord bytes)
{
	mt_count_range(current, at, bytes, key >> 62 & 1);
	mt_site_range(current_sites, key, at, bytes);
}

/* The instruction is in the key. */
static VG_REGPARM(3) void on_repeated_site(Addr at, UWord key, UWord bytes)
{
	if (is_new_unit(at, key & ((1ull << 56) - 1), bytes, key >> 62 & 1)) {
		count(at, key >> 62 & 1);
		mt_site_add(current_sites, key, at, UNIT);
	}
}

/* ---- accesses of the kernel for a thread */

static void by_kernel(CorePart part, ThreadId tid, Addr at, SizeT bytes, unsigned int write)
{
	if (part != Vg_CoreSysCall || !bytes || tid == VG_INVALID_THREADID || !of[tid])
		return;
	/* what is asked for may be more than there is */
	if (!VG_(am_is_valid_for_client)(at, bytes, write ? VKI_PROT_WRITE : VKI_PROT_READ))
		return;
	mt_count_range(of[tid], at, bytes, write);
	/* of the system call's instruction */
	if (with_sites && sites_of[tid])
		mt_site_range(sites_of[tid], mt_site_key(VG_(get_IP)(tid), 1, write), at, bytes);
}

static void on_kernel_read(CorePart part, ThreadId tid, const HChar *what, Addr at, SizeT bytes)
{
	(void)what;
	by_kernel(part, tid, at, bytes, MT_COUNT_READ);
}

static void on_kernel_read_string(CorePart part, ThreadId tid, const HChar *what, Addr at)
{
	(void)what;
	if (part == Vg_CoreSysCall && VG_(am_is_valid_for_client)(at, 1, VKI_PROT_READ))
		by_kernel(part, tid, at, VG_(strlen)((const HChar *)at) + 1, MT_COUNT_READ);
}

static void on_kernel_write(CorePart part, ThreadId tid, Addr at, SizeT bytes)
{
	by_kernel(part, tid, at, bytes, MT_COUNT_WRITE);
}

/* ---- instrumentation */

struct block {
	IRSB *out;
	Addr ip;			/* of the instruction */
	Bool counts;			/* it is not the recorder's */
	Bool repeats;			/* it is one element of a string */
	IRExpr *load[MAX_LOADS];	/* addresses that this instruction has read */
	Int n_loads;
	unsigned int operands[2];	/* of this instruction, that it reads and writes, until now */
};

static void call(struct block *b, const HChar *name, void *function, Int n, IRExpr **args, IRExpr *guard)
{
	IRDirty *d = unsafeIRDirty_0_N(n, name, VG_(fnptr_to_fnentry)(function), args);

	if (guard)
		d->guard = guard;
	addStmtToIRSB(b->out, IRStmt_Dirty(d));
}

static void access(struct block *b, IRExpr *at, Int bytes, unsigned int write, IRExpr *guard)
{
	if (!b->counts || bytes <= 0)
		return;
	if (!write && b->n_loads < MAX_LOADS)
		b->load[b->n_loads++] = at;
	if (with_sites) {
		const ULong key = mt_site_key(b->ip, b->operands[write]++, write);

		call(b, "on_site", b->repeats ? (void *)on_repeated_site : bytes > UNIT ? (void *)on_wide_site : (void *)on_site, 3,
		     mkIRExprVec_3(at, IRExpr_Const(IRConst_U64(key)), IRExpr_Const(IRConst_U64((ULong)bytes))), guard);
		return;
	}
	if (b->repeats)
		call(b, "on_repeat", (void *)on_repeat, 3,
		     mkIRExprVec_3(at, IRExpr_Const(IRConst_U64(b->ip)), IRExpr_Const(IRConst_U64((ULong)bytes << 1 | write))), guard);
	else if (bytes > UNIT)
		call(b, write ? "on_wide_write" : "on_wide_read", write ? (void *)on_wide_write : (void *)on_wide_read, 2,
		     mkIRExprVec_2(at, IRExpr_Const(IRConst_U64((ULong)bytes))), guard);
	else
		call(b, write ? "on_write" : "on_read", write ? (void *)on_write : (void *)on_read, 1, mkIRExprVec_1(at), guard);
}

/* Has this instruction read from @at? An addition under lock is a load and a CAS. */
static Bool was_read(const struct block *b, IRExpr *at)
{
	for (Int i = 0; i < b->n_loads; i++)
		if (eqIRAtom(b->load[i], at))
			return True;
	return False;
}

/* Prefixes, one of which is rep, and movs, cmps, stos, lods or scas. */
static Bool is_repeated(Addr ip, UInt bytes)
{
	const UChar *code = (const UChar *)ip;
	Bool rep = False;

	for (UInt i = 0; i < bytes; i++) {
		if (code[i] == 0xf2 || code[i] == 0xf3)
			rep = True;
		else if (code[i] != 0x66 && code[i] != 0x67 && (code[i] & 0xf0) != 0x40)
			return rep && ((code[i] >= 0xa4 && code[i] <= 0xa7) || (code[i] >= 0xaa && code[i] <= 0xaf));
	}
	return False;
}

static void statement(struct block *b, IRStmt *s)
{
	IRTypeEnv *types = b->out->tyenv;

	switch (s->tag) {
	case Ist_IMark:
		b->ip = s->Ist.IMark.addr;
		b->counts = b->ip < own_start || b->ip >= own_end;
		b->repeats = is_repeated(b->ip, s->Ist.IMark.len);
		b->n_loads = 0;
		b->operands[0] = b->operands[1] = 0;
		break;
	case Ist_WrTmp:
		if (s->Ist.WrTmp.data->tag == Iex_Load)
			access(b, s->Ist.WrTmp.data->Iex.Load.addr, sizeofIRType(s->Ist.WrTmp.data->Iex.Load.ty), MT_COUNT_READ, NULL);
		break;
	case Ist_Store:
		access(b, s->Ist.Store.addr, sizeofIRType(typeOfIRExpr(types, s->Ist.Store.data)), MT_COUNT_WRITE, NULL);
		break;
	case Ist_LoadG: {
		IRType wide, loaded;

		typeOfIRLoadGOp(s->Ist.LoadG.details->cvt, &wide, &loaded);
		access(b, s->Ist.LoadG.details->addr, sizeofIRType(loaded), MT_COUNT_READ, s->Ist.LoadG.details->guard);
		break;
	}
	case Ist_StoreG:
		access(b, s->Ist.StoreG.details->addr, sizeofIRType(typeOfIRExpr(types, s->Ist.StoreG.details->data)), MT_COUNT_WRITE,
		       s->Ist.StoreG.details->guard);
		break;
	case Ist_CAS: {
		const IRCAS *c = s->Ist.CAS.details;
		const Int bytes = sizeofIRType(typeOfIRExpr(types, c->dataLo)) * (c->dataHi ? 2 : 1);

		if (!was_read(b, c->addr))
			access(b, c->addr, bytes, MT_COUNT_READ, NULL);
		access(b, c->addr, bytes, MT_COUNT_WRITE, NULL);
		break;
	}
	case Ist_Dirty: {
		const IRDirty *d = s->Ist.Dirty.details;

		if (d->mFx == Ifx_Read || d->mFx == Ifx_Modify)
			access(b, d->mAddr, d->mSize, MT_COUNT_READ, d->guard);
		if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify)
			access(b, d->mAddr, d->mSize, MT_COUNT_WRITE, d->guard);
		break;
	}
	default:
		break;
	}
	addStmtToIRSB(b->out, s);
}

static IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
			const VexArchInfo *arch, IRType guest_word, IRType host_word)
{
	struct block b = { .out = deepCopyIRSBExceptStmts(in) };

	(void)closure, (void)layout, (void)extents, (void)arch, (void)guest_word, (void)host_word;
	for (Int i = 0; i < in->stmts_used; i++)
		if (in->stmts[i] && in->stmts[i]->tag != Ist_NoOp)
			statement(&b, in->stmts[i]);
	return b.out;
}

/* ---- requests */

static Bool on_request(ThreadId tid, UWord *args, UWord *ret)
{
	struct mt_tool_sites *s;
	struct mt_tool_rows *r;

	if (!VG_IS_TOOL_USERREQ('M', 'T', args[0]))
		return False;
	switch (args[0] - MT_TOOL_BASE) {
	case MT_TOOL_IS_HERE:
		*ret = MT_TOOL_VERSION;
		break;
	case MT_TOOL_UNCOUNTED:
		of[tid] = current = mt_count_thread_new(&unwanted, 0);
		if (!current)
			VG_(tool_panic)("no memory for the counters of a thread");
		if (with_sites)
			sites_of[tid] = current_sites = new_sites(&unwanted_sites, current);
		*ret = 1;
		break;
	case MT_TOOL_OWN_CODE:
		own_start = args[1];
		own_end = args[2];
		*ret = 1;
		break;
	case MT_TOOL_BEGIN:
		begin_anew(of[tid], sites_of[tid]);
		*ret = 1;
		break;
	case MT_TOOL_COLLECT:
		r = (struct mt_tool_rows *)args[1];
		n_rows = 0;
		*ret = mt_count_collect(&counters, is_alive, tell, NULL);
		r->row = rows;
		r->n = n_rows;
		break;
	case MT_TOOL_PENDING:
		*ret = mt_count_pending(&counters);
		break;
	case MT_TOOL_LOST:
		*ret = counters.lost;
		break;
	case MT_TOOL_SITES:
		s = (struct mt_tool_sites *)args[1];
		n_site_rows = 0;
		if (with_sites)
			mt_sites_collect(&sites, args[2] != 0, is_alive, tell_site, NULL);
		s->row = site_rows;
		s->n = n_site_rows;
		*ret = 1;
		break;
	default:
		return False;
	}
	return True;
}

/* ---- the tool */

static Bool on_option(const HChar *arg)
{
	return VG_STR_CLO(arg, "--log-prefix", log_prefix) || VG_BOOL_CLO(arg, "--instructions", with_sites);
}

static void usage(void)
{
	VG_(printf)("    --log-prefix=PATH         PATH followed by the process id is the log\n");
	VG_(printf)("    --instructions=no|yes     count what each instruction accesses, too [no]\n");
}

static void debug_usage(void)
{
	VG_(printf)("    (none)\n");
}

/* Valgrind keeps a copy of it out of reach, and leaves the one that it opened to the program. */
static void close_log(void)
{
	HChar log[4200], link[4200], path[64];

	if (!log_prefix || VG_(strlen)(log_prefix) > 4096)
		return;
	VG_(sprintf)(log, "%s%d", log_prefix, VG_(getpid)());
	for (Int fd = 3; fd < 64; fd++) {
		SSizeT n;

		VG_(sprintf)(path, "/proc/self/fd/%d", fd);
		n = (SSizeT)mt_sys(SYS_readlink, path, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = 0;
		if (!VG_(strcmp)(link, log))
			VG_(close)(fd);
	}
}

static void fini(Int code)
{
	(void)code;
	if (alone)
		alone_interval(ALONE_EXIT);
}

static void post_clo_init(void)
{
	const HChar *name = VG_(strrchr)(VG_(args_the_exename), '/');

	close_log();
	/* the kernel named the thread after this tool */
	VG_(prctl)(PR_SET_NAME, (ULong)(name ? name + 1 : VG_(args_the_exename)), 0, 0, 0);
	of = VG_(calloc)("memtrace.threads", VG_N_THREADS, sizeof(*of));
	sites_of = VG_(calloc)("memtrace.sites", VG_N_THREADS, sizeof(*sites_of));
	repeats = VG_(calloc)("memtrace.repeats", VG_N_THREADS, sizeof(*repeats));
	mt_count_init(&counters, &ops);
	mt_count_init(&unwanted, &ops);
	mt_sites_init(&sites, &counters);
	mt_sites_init(&unwanted_sites, &unwanted);
	if (log_prefix && VG_(strlen)(log_prefix) < 4096 && is_static(VG_(args_the_exename))) {
		const HChar *length = VG_(getenv)(MT_VARIABLE(MEMTRACE_INTERVAL_NS));
		const struct mt_limits limits = mt_limits(MT_SETTING_MEMTRACE_INTERVAL_NS);

		alone_length_ns = length ? VG_(strtoull10)(length, NULL) : 0;
		if (alone_length_ns < limits.min)
			alone_length_ns = limits.dflt;
		alone_begin(0);
	}
	VG_(atfork)(on_fork_before, on_fork_parent, on_fork_child);
}

static void pre_clo_init(void)
{
	VG_(details_name)("memtrace");
	VG_(details_version)(NULL);
	VG_(details_description)("counts accesses by thread and page");
	VG_(details_copyright_author)("Copyright (C) memtrace contributors; GPL-2.0-or-later.");
	VG_(details_bug_reports_to)("the memtrace project");
	VG_(details_avg_translation_sizeB)(400);
	VG_(basic_tool_funcs)(post_clo_init, instrument, fini);
	VG_(needs_command_line_options)(on_option, usage, debug_usage);
	VG_(needs_client_requests)(on_request);
	VG_(needs_syscall_wrapper)(before_syscall, after_syscall);
	VG_(track_start_client_code)(on_start_client_code);
	VG_(track_pre_thread_ll_exit)(on_thread_exit);
	VG_(track_pre_mem_read)(on_kernel_read);
	VG_(track_pre_mem_read_asciiz)(on_kernel_read_string);
	VG_(track_post_mem_write)(on_kernel_write);
}

VG_DETERMINE_INTERFACE_VERSION(pre_clo_init)
