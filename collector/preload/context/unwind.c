/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * unwind.c - from the registers of a hook to return addresses, wherever the hook was called: in a signal handler, in a
 * constructor, while the loader is at work, on any stack.
 *
 * Takes no lock that somebody else may hold, allocates nothing, never aborts. Memory is read when it is known to be there: the
 * rest of the stack of a known thread, tables of objects that objects.c knows to be mapped, and what the kernel was asked for.
 * What cannot be followed ends the stack; what was found until then is kept.
 *
 * How a frame is left is a rule that follows from .eh_frame for each return address. It is worked out once (1 to 3 us) and kept
 * in a table; with it a frame costs some loads. Code without a table (JIT) is left by its frame pointer.
 *
 * Readers of the table take no lock: each entry has a sequence number that is odd while it is written. It belongs to an object
 * by the number that only that object ever had, so that it ends with it.
 */
#include <string.h>
#include <sys/syscall.h>

#include "preload/ground/asm.h"
#include "preload/context/ctx.h"
#include "common/rawsys.h"

#if defined(__x86_64__)
enum { FP = 6, SP = 7, RA = 16, REGISTERS = 17 };
static const uint8_t kept[] = { 3, 6, 12, 13, 14, 15, RA };	/* what a function gives back as it was, and where it returns to */
#elif defined(__aarch64__)
enum { FP = 29, SP = 31, RA = 30, REGISTERS = 32 };
static const uint8_t kept[] = { 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, RA };
#endif
#define KEPT ((int)sizeof(kept))
#define RA_AT (KEPT - 1)

#define SLOTS 8192u		/* power of 2 */
#define WAYS 4u			/* slots that an address may be in */
#define REMEMBERED 4		/* DW_CFA_remember_state within each other */
#define MAX_RECORD (1u << 20)	/* bytes of an entry of .eh_frame */
#define MAX_FP_STEP (1ul << 20)	/* a frame without table is not larger */

enum { BY_FRAME_POINTER, BY_TABLE, SIGNAL_FRAME, END };
enum { SAME = INT16_MIN, LOST };	/* instead of an offset: still in the register; not known */

struct rule {
	uint8_t kind;
	uint8_t cfa_register;
	uint8_t cfa_deref;	/* the CFA is what stands there */
	int32_t cfa_offset, cfa_plus;
	uint16_t by_fp;		/* bit: offset from the frame pointer, not from the CFA */
	uint16_t saved, lost;	/* bit: has an offset; LOST */
	int16_t at[KEPT];	/* offset / 8, SAME or LOST */
};

struct slot {
	_Atomic uint32_t seq;
	uint32_t serial;	/* of the object; without one: when objects last came or went */
	uintptr_t key;
	uint16_t object;
	struct rule rule;
};

static struct slot *slots;

/* ---------------------------------------------------------------- tables */

struct bytes {
	const uint8_t *p, *end;
	bool broken;
};

static uint64_t fixed(struct bytes *b, size_t n)
{
	uint64_t v = 0;

	if ((size_t)(b->end - b->p) < n) {
		b->broken = true;
		b->p = b->end;
		return 0;
	}
	memcpy(&v, b->p, n);
	b->p += n;
	return v;
}

static uint64_t uleb(struct bytes *b)
{
	uint64_t v = 0, byte;
	int shift = 0;

	do {
		byte = fixed(b, 1);
		if (shift < 64)
			v |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	return v;
}

static int64_t sleb(struct bytes *b)
{
	uint64_t v = 0, byte;
	int shift = 0;

	do {
		byte = fixed(b, 1);
		if (shift < 64)
			v |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		v |= ~0ull << shift;
	return (int64_t)v;
}

static void skip(struct bytes *b, uint64_t n)
{
	if ((uint64_t)(b->end - b->p) < n) {
		b->broken = true;
		n = (uint64_t)(b->end - b->p);
	}
	b->p += n;
}

/* DW_EH_PE_*: absolute or relative to where it stands. */
static uintptr_t encoded(struct bytes *b, uint8_t how)
{
	uintptr_t v, here = (uintptr_t)b->p;

	switch (how & 0x0f) {
	case 0x00: case 0x04: case 0x0c: v = fixed(b, 8); break;
	case 0x01: v = uleb(b); break;
	case 0x02: v = fixed(b, 2); break;
	case 0x03: v = fixed(b, 4); break;
	case 0x09: v = (uintptr_t)sleb(b); break;
	case 0x0a: v = (uintptr_t)(intptr_t)(int16_t)fixed(b, 2); break;
	case 0x0b: v = (uintptr_t)(intptr_t)(int32_t)fixed(b, 4); break;
	default: b->broken = true; return 0;
	}
	switch (how & 0x70) {
	case 0x00: return v;
	case 0x10: return here + v;
	default: b->broken = true; return 0;
	}
}

/* A record of .eh_frame, which lies in the object; the identification behind the length is read. */
static bool record(const struct ctx_object *o, uintptr_t at, struct bytes *b, uint32_t *id, uintptr_t *id_at)
{
	uint32_t length;

	if (at < o->start || at > o->end - 8 || !ctx_readable((void *)at, 8))
		return false;
	memcpy(&length, (void *)at, 4);
	if (length < 4 || length > MAX_RECORD || length > o->end - at - 4 || !ctx_readable((void *)at, length + 4ul))
		return false;
	*b = (struct bytes){ (const uint8_t *)at + 4, (const uint8_t *)at + 4 + length, false };
	*id_at = at + 4;
	*id = (uint32_t)fixed(b, 4);
	return true;
}

struct cie {
	struct bytes program;
	uint64_t code_factor;
	int64_t data_factor;
	uint8_t pointers;	/* DW_EH_PE_ of addresses of code */
	bool signal, augmented;
};

static bool read_cie(const struct ctx_object *o, uintptr_t at, struct cie *c)
{
	struct bytes b, data;
	uintptr_t id_at;
	const char *s;
	uint32_t id;
	uint8_t version;

	if (!record(o, at, &b, &id, &id_at) || id)
		return false;
	version = (uint8_t)fixed(&b, 1);
	s = (const char *)b.p;
	while (fixed(&b, 1))
		;
	if (b.broken || (version != 1 && version != 3))
		return false;
	memset(c, 0, sizeof(*c));
	c->code_factor = uleb(&b);
	c->data_factor = sleb(&b);
	if ((version == 1 ? fixed(&b, 1) : uleb(&b)) != RA)
		return false;
	if (*s == 'z') {
		uint64_t n = uleb(&b);

		data = b;
		skip(&b, n);
		data.end = b.p;
		c->augmented = true;
		for (s++; *s; s++) {
			switch (*s) {
			case 'R': c->pointers = (uint8_t)fixed(&data, 1); break;
			case 'L': fixed(&data, 1); break;
			case 'S': c->signal = true; break;
			case 'B': break;	/* return addresses are signed with the other key */
			case 'P': {
				uint8_t how = (uint8_t)fixed(&data, 1);

				encoded(&data, how & 0x0f);
				break;
			}
			default: return false;
			}
		}
		if (data.broken)
			return false;
	} else if (*s) {
		return false;
	}
	c->program = b;
	return !b.broken;
}

/* ------------------------------------------------------- rule of an address */

struct column {
	enum { UNCHANGED, AT_CFA, AT_FP, UNDEFINED, OTHER } how;
	int32_t offset;
};

struct state {
	struct column c[KEPT];
	uint8_t cfa_register;
	uint8_t cfa_deref;
	bool cfa_known;
	int32_t cfa_offset, cfa_plus;
};

static int column_of(uint64_t reg)
{
	for (int i = 0; i < KEPT; i++)
		if (kept[i] == reg)
			return i;
	return -1;
}

static void set(struct state *s, uint64_t reg, int how, int64_t offset)
{
	int i = column_of(reg);

	if (i < 0)
		return;
	s->c[i].how = offset == (int32_t)offset ? how : OTHER;
	s->c[i].offset = (int32_t)offset;
}

static void set_cfa(struct state *s, uint64_t reg, int64_t offset)
{
	s->cfa_known = reg < REGISTERS && offset == (int32_t)offset;
	s->cfa_register = (uint8_t)reg;
	s->cfa_offset = (int32_t)offset;
	s->cfa_deref = 0;
	s->cfa_plus = 0;
}

/* What compilers and linkers write: a register, perhaps what it points to, perhaps more; and the call table of x86. */
static void cfa_expression(struct state *s, struct bytes e, uintptr_t ip)
{
	static const uint8_t table[] = { 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0, 0x2a, 0x33, 0x24, 0x22 };
	uint8_t op;
	uint64_t reg;
	int64_t offset;

	s->cfa_known = false;
	if (RA == 16 && e.end - e.p == sizeof(table) && !memcmp(e.p, table, 6) && !memcmp(e.p + 7, table + 7, 4) &&
	    e.p[6] >= 0x30 && e.p[6] < 0x50) {
		set_cfa(s, SP, 8 + ((ip & 15) >= (uintptr_t)e.p[6] - 0x30 ? 8 : 0));
		return;
	}
	op = (uint8_t)fixed(&e, 1);
	if (op < 0x70 || op > 0x8f)
		return;
	reg = op - 0x70u;
	offset = sleb(&e);
	set_cfa(s, reg, offset);
	if (e.p < e.end && *e.p == 0x06) {	/* DW_OP_deref */
		e.p++;
		s->cfa_deref = 1;
	}
	if (e.p < e.end && *e.p == 0x23) {	/* DW_OP_plus_uconst */
		uint64_t plus;

		e.p++;
		plus = uleb(&e);
		if (plus > INT32_MAX)
			s->cfa_known = false;
		s->cfa_plus = (int32_t)plus;
	}
	if (e.broken || e.p != e.end)
		s->cfa_known = false;
}

/* At an offset from the frame pointer: functions that align their stack. */
static void expression(struct state *s, uint64_t reg, struct bytes e)
{
	uint8_t op = (uint8_t)fixed(&e, 1);
	int64_t offset = sleb(&e);

	set(s, reg, op == 0x70 + FP && !e.broken && e.p == e.end ? AT_FP : OTHER, offset);
}

static struct bytes block(struct bytes *b)
{
	uint64_t n = uleb(b);
	struct bytes e = *b;

	skip(b, n);
	e.end = b->p;
	return e;
}

/* Instructions up to the one at @ip. @first: what the CIE has set, NULL while that is read. */
static bool run(struct bytes b, const struct cie *c, uintptr_t loc, uintptr_t ip, struct state *s, const struct state *first)
{
	struct state remembered[REMEMBERED];
	int depth = 0;

	while (b.p < b.end && loc <= ip) {
		uint8_t op = (uint8_t)fixed(&b, 1);
		uint64_t reg = op & 0x3f;
		int i;

		switch (op & 0xc0) {
		case 0x40: loc += reg * c->code_factor; continue;
		case 0x80: set(s, reg, AT_CFA, (int64_t)uleb(&b) * c->data_factor); continue;
		case 0xc0:
			i = column_of(reg);
			if (i >= 0 && first)
				s->c[i] = first->c[i];
			continue;
		}
		switch (op) {
		case 0x00: break;				/* DW_CFA_nop */
		case 0x01: loc = encoded(&b, c->pointers); break;	/* set_loc */
		case 0x02: loc += fixed(&b, 1) * c->code_factor; break;
		case 0x03: loc += fixed(&b, 2) * c->code_factor; break;
		case 0x04: loc += fixed(&b, 4) * c->code_factor; break;
		case 0x05: reg = uleb(&b); set(s, reg, AT_CFA, (int64_t)uleb(&b) * c->data_factor); break;
		case 0x06:					/* restore_extended */
			i = column_of(uleb(&b));
			if (i >= 0 && first)
				s->c[i] = first->c[i];
			break;
		case 0x07: set(s, uleb(&b), UNDEFINED, 0); break;
		case 0x08: set(s, uleb(&b), UNCHANGED, 0); break;
		case 0x09: reg = uleb(&b); uleb(&b); set(s, reg, OTHER, 0); break;	/* in another register */
		case 0x0a:					/* remember_state */
			if (depth == REMEMBERED)
				return false;
			remembered[depth++] = *s;
			break;
		case 0x0b:
			if (!depth)
				return false;
			*s = remembered[--depth];
			break;
		case 0x0c: reg = uleb(&b); set_cfa(s, reg, (int64_t)uleb(&b)); break;
		case 0x0d: set_cfa(s, uleb(&b), s->cfa_offset); break;
		case 0x0e: set_cfa(s, s->cfa_register, (int64_t)uleb(&b)); break;
		case 0x0f: cfa_expression(s, block(&b), ip); break;
		case 0x10: reg = uleb(&b); expression(s, reg, block(&b)); break;
		case 0x11: reg = uleb(&b); set(s, reg, AT_CFA, sleb(&b) * c->data_factor); break;
		case 0x12: reg = uleb(&b); set_cfa(s, reg, sleb(&b) * c->data_factor); break;
		case 0x13: set_cfa(s, s->cfa_register, sleb(&b) * c->data_factor); break;
		case 0x14: reg = uleb(&b); uleb(&b); set(s, reg, OTHER, 0); break;	/* a value, not a place */
		case 0x15: reg = uleb(&b); sleb(&b); set(s, reg, OTHER, 0); break;
		case 0x16: reg = uleb(&b); block(&b); set(s, reg, OTHER, 0); break;
		case 0x2d: break;				/* arm64: the return address is signed or no longer */
		case 0x2e: uleb(&b); break;			/* bytes of arguments on the stack */
		case 0x2f: reg = uleb(&b); set(s, reg, AT_CFA, -(int64_t)uleb(&b) * c->data_factor); break;
		default: return false;
		}
	}
	return !b.broken;
}

static void to_rule(const struct state *s, struct rule *r)
{
	if (!s->cfa_known)
		return;
	if (s->c[RA_AT].how == UNDEFINED) {
		r->kind = END;		/* _start, the beginning of a thread */
		return;
	}
	r->cfa_register = s->cfa_register;
	r->cfa_deref = s->cfa_deref;
	r->cfa_offset = s->cfa_offset;
	r->cfa_plus = s->cfa_plus;
	for (int i = 0; i < KEPT; i++) {
		const struct column *c = &s->c[i];

		if (c->how == UNCHANGED) {
			r->at[i] = SAME;
		} else if ((c->how != AT_CFA && c->how != AT_FP) || c->offset % 8 || c->offset / 8 <= LOST || c->offset / 8 > INT16_MAX) {
			r->at[i] = LOST;
		} else {
			r->at[i] = (int16_t)(c->offset / 8);
			r->by_fp |= (uint16_t)((c->how == AT_FP) << i);
		}
	}
	for (int i = 0; i < KEPT; i++) {
		r->saved |= (uint16_t)((r->at[i] > LOST) << i);
		r->lost |= (uint16_t)((r->at[i] == LOST) << i);
	}
	if (r->at[RA_AT] != LOST)
		r->kind = BY_TABLE;
}

/* Address of the record for @ip in the table of .eh_frame_hdr, 0: none. */
static uintptr_t search(const struct ctx_object *o, uintptr_t ip)
{
	static const uint8_t known[] = { 1, 0x1b, 0x03, 0x3b };	/* as linkers write it: 4 bytes each, from the header or from there */
	const uint8_t *header = (const uint8_t *)o->frames;
	uintptr_t page = 0;
	uint32_t count, low = 0, high;
	int32_t offset;

	if (!o->frames || o->frames < o->start || o->frames > o->end - 12 || !ctx_readable(header, 12) || memcmp(header, known, 4))
		return 0;
	memcpy(&count, header + 8, 4);
	if (count > (o->end - o->frames - 12) / 8)
		return 0;
	/* the last one that begins at @ip or before */
	for (high = count; low < high;) {
		uint32_t middle = low + (high - low) / 2;
		const uint8_t *entry = header + 12 + 8ul * middle;

		if ((uintptr_t)entry / MT_PAGE != page) {
			page = (uintptr_t)entry / MT_PAGE;
			if (!ctx_readable(entry, 8))
				return 0;
		}
		memcpy(&offset, entry, 4);
		if (o->frames + (uintptr_t)(intptr_t)offset <= ip)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || !ctx_readable(header + 12 + 8ul * (low - 1), 8))
		return 0;
	memcpy(&offset, header + 12 + 8ul * (low - 1) + 4, 4);
	return o->frames + (uintptr_t)(intptr_t)offset;
}

/* The rule for the code at @ip in @o. What is not understood is left by the frame pointer. */
static void work_out(const struct ctx_object *o, uintptr_t ip, struct rule *r)
{
	struct state s, first;
	struct bytes b;
	struct cie c;
	uintptr_t id_at, start, bytes, at = search(o, ip);
	uint32_t id;

	if (!at || !record(o, at, &b, &id, &id_at) || !id || !read_cie(o, id_at - id, &c))
		return;
	start = encoded(&b, c.pointers);
	bytes = encoded(&b, c.pointers & 0x0f);
	if (c.augmented)
		skip(&b, uleb(&b));
	if (b.broken || ip - start >= bytes)
		return;
	if (c.signal) {
		r->kind = SIGNAL_FRAME;
		return;
	}
	memset(&s, 0, sizeof(s));
	if (!run(c.program, &c, 0, 0, &s, NULL))
		return;
	first = s;
	if (run(b, &c, start, ip, &s, &first))
		to_rule(&s, r);
}

/* Where a signal handler returns to: it calls sigreturn(2). Those that are not libc's or the kernel's have no table. */
static bool is_trampoline(uintptr_t ip)
{
#if defined(__x86_64__)
	static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };	/* mov $15, %rax; syscall */
#else
	static const uint8_t code[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };	/* mov x8, #139; svc #0 */
#endif

	return ctx_readable((void *)ip, sizeof(code)) && !memcmp((void *)ip, code, sizeof(code));
}

static bool is_current(const struct slot *t)
{
	return t->key && ctx_object_serial(t->object) == t->serial;
}

static bool take(struct slot *t, uintptr_t key, struct rule *r)
{
	uint32_t seq = atomic_load_explicit(&t->seq, memory_order_acquire);
	bool current;

	if (seq & 1 || t->key != key)
		return false;
	*r = t->rule;
	current = is_current(t);
	atomic_thread_fence(memory_order_acquire);
	return current && atomic_load_explicit(&t->seq, memory_order_relaxed) == seq;
}

static void keep(struct slot *t, uintptr_t key, int object, uint32_t serial, const struct rule *r)
{
	uint32_t seq = atomic_load_explicit(&t->seq, memory_order_relaxed);

	if (seq & 1 || !atomic_compare_exchange_strong_explicit(&t->seq, &seq, seq + 1, memory_order_acq_rel, memory_order_relaxed))
		return;		/* somebody else is at it */
	atomic_thread_fence(memory_order_release);
	t->key = key;
	t->serial = serial;
	t->object = (uint16_t)object;
	t->rule = *r;
	atomic_store_explicit(&t->seq, seq + 2, memory_order_release);
}

/* @exact: the instruction at @ip is the next one; else it is behind a call. */
static void rule_of(uintptr_t ip, bool exact, struct rule *r)
{
	static _Atomic unsigned int turn;
	const uintptr_t key = ip << 1 | exact;
	struct slot *t = &slots[(key * 0x9e3779b97f4a7c15ull) >> 51 & (SLOTS - WAYS)];
	uint32_t serial;
	uint64_t mask;
	unsigned int i;
	int object;

	for (i = 0; i < WAYS; i++)
		if (ctx_likely(take(&t[i], key, r)))
			return;
	memset(r, 0, sizeof(*r));
	mask = mt_block_signals();	/* nobody leaves this by siglongjmp() */
	object = ctx_objects_read_begin(ip - !exact, &serial);
	if (object != CTX_NO_OBJECT)
		work_out(&ctx_objects[object], ip - !exact, r);
	else if (is_trampoline(ip))
		r->kind = SIGNAL_FRAME;
	ctx_objects_read_end();
	for (i = 0; i < WAYS && is_current(&t[i]); i++)
		;
	if (i == WAYS)
		i = atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed) % WAYS;
	keep(&t[i], key, object, serial, r);
	mt_restore_signals(mask);
}

/* ----------------------------------------------------------------- frames */

struct walk {
	uintptr_t r[REGISTERS];
	uint32_t lost;		/* bit: what this register had is not known */
	uintptr_t ip;
	bool exact;
	uintptr_t low, high;	/* memory that is there: [low, high) */
	uintptr_t page;		/* and so is this one */
	struct ctx_memo *memo;	/* what is read is kept there; NULL: this stack cannot be known again */
	uintptr_t sp;		/* at the beginning */
	unsigned int needed;	/* words of the memo up to the last use of a frame pointer */
};

static __attribute__((noinline)) bool ask(struct walk *w, uintptr_t at)
{
	if (at % 8)
		return false;
	if (at / MT_PAGE != w->page) {
		if (!ctx_readable((void *)at, 8))
			return false;
		w->page = at / MT_PAGE;
	}
	return true;
}

static inline __attribute__((always_inline)) bool word(struct walk *w, uintptr_t at, uintptr_t *value)
{
	if (ctx_unlikely(at - w->low >= w->high - w->low) && !ask(w, at))
		return false;
	*value = *(volatile uintptr_t *)at;
	return true;
}

/* A word on which the return addresses depend. */
static inline void note(struct walk *w, uintptr_t at, uintptr_t value, bool is_fp)
{
	struct ctx_memo *m = w->memo;

	if (!m)
		return;
	if (at < w->low || at - w->sp >= 1u << 31 || m->n == CTX_MEMO_WORDS) {
		w->memo = NULL;
		return;
	}
	m->word[m->n].at = (uint32_t)(at - w->sp);
	m->word[m->n].is_fp = is_fp;
	m->word[m->n++].value = value;
}

static inline void note_fp(struct walk *w)
{
	if (w->memo)
		w->needed = w->memo->n + 1;	/* and the register at the beginning */
}

static bool is_code(uintptr_t ip)
{
	return ip >= 4096 && !(ip >> MT_ADDRESS_BITS);
}

/* Without a signature: bits that an address of code does not have. */
static uintptr_t plain(uintptr_t ip)
{
	return RA == 30 ? ip & ((1ul << MT_ADDRESS_BITS) - 1) : ip;
}

static bool by_frame_pointer(struct walk *w)
{
	const uintptr_t fp = w->r[FP], sp = w->r[SP];
	uintptr_t ip, next;

	if (w->lost >> FP & 1 || fp < sp || fp % 8 || fp - sp > MAX_FP_STEP || (w->high && fp > w->high - 16))
		return false;
	if (!word(w, fp, &next) || !word(w, fp + 8, &ip))
		return false;
	note_fp(w);
	note(w, fp, next, true);
	note(w, fp + 8, ip, false);
	w->ip = plain(ip);
	if (!is_code(w->ip))
		return false;
	w->lost = ~0u;
	w->r[FP] = next;
	w->r[SP] = fp + 16;
	/* where the frame ends is not known on arm64, only where it does not */
	w->lost &= ~(1u << FP | (RA == 30 ? 0 : 1u << SP));
	return true;
}

/* Where it fails stack and frame pointer are as before. */
static inline bool by_table(struct walk *w, const struct rule *r)
{
	const uintptr_t fp = w->r[FP], sp = w->r[SP];
	uintptr_t cfa = w->r[r->cfa_register] + (uintptr_t)(intptr_t)r->cfa_offset, ip;

	if (ctx_unlikely(w->lost) && (w->lost >> r->cfa_register & 1 || (r->by_fp && w->lost >> FP & 1) ||
				      (r->at[RA_AT] == SAME && w->lost >> RA & 1)))
		return false;
	if (r->cfa_register == FP || r->by_fp)
		note_fp(w);
	else if (r->cfa_register != SP)
		w->memo = NULL;
	if (ctx_unlikely(r->cfa_deref)) {
		const uintptr_t at = cfa;

		if (!word(w, at, &cfa))
			return false;
		note(w, at, cfa, false);
	}
	cfa += (uintptr_t)(intptr_t)r->cfa_plus;
	if (cfa % 8 || cfa < sp || (RA != 30 && cfa == sp))
		return false;
	for (unsigned int left = r->saved; left; left &= left - 1) {
		const int i = __builtin_ctz(left);
		const uintptr_t base = r->by_fp >> i & 1 ? fp : cfa;

		if (ctx_unlikely(!word(w, base + (uintptr_t)((intptr_t)r->at[i] * 8), &w->r[kept[i]]))) {
			w->r[FP] = fp;
			return false;
		}
		if (kept[i] == FP || i == RA_AT)
			note(w, base + (uintptr_t)((intptr_t)r->at[i] * 8), w->r[kept[i]], kept[i] == FP);
		w->lost &= ~(1u << kept[i]);
	}
	ip = plain(w->r[RA]);
	if (!is_code(ip) || (cfa == sp && ip == w->ip)) {
		w->r[FP] = fp;
		return false;	/* the end, or it does not go on */
	}
	for (unsigned int left = r->lost; left; left &= left - 1)
		w->lost |= 1u << kept[__builtin_ctz(left)];
	w->ip = ip;
	w->r[SP] = cfa;
	w->lost &= ~(1u << SP);
	return true;
}

/* What the kernel has put there for sigreturn(2). */
static bool by_signal(struct walk *w)
{
#if defined(__x86_64__)
	static const uint8_t order[] = { 8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, SP, RA };
	const uintptr_t at = w->r[SP] + 40;
#else
	const uintptr_t at = w->r[SP] + 128 + 176 + 8;
#endif
	uintptr_t v, sp = w->r[SP];

	if (w->lost >> SP & 1)
		return false;
	w->memo = NULL;
#if defined(__x86_64__)
	for (size_t i = 0; i < sizeof(order); i++) {
		if (!word(w, at + 8 * i, &v))
			return false;
		w->r[order[i]] = v;
	}
	w->ip = w->r[RA];
#else
	for (size_t i = 0; i < 33; i++) {
		if (!word(w, at + 8 * i, &v))
			return false;
		if (i < 32)
			w->r[i] = v;
		else
			w->ip = v;
	}
#endif
	w->lost = 0;
	/* from a stack for signals to another one; it is not known how far that reaches */
	if (w->r[SP] - sp >= w->high - sp)
		w->low = w->high = 0;
	return is_code(w->ip);
}

bool ctx_unwind_init(void)
{
	slots = ctx_map(SLOTS * sizeof(*slots));
	return slots != NULL;
}

static bool is_same(const struct ctx_memo *m, const struct walk *w, const void *caller)
{
	const char *sp = (const char *)w->sp;

	if (m->sp != w->sp || m->caller != caller || m->fp != w->r[FP] ||
	    m->objects != atomic_load_explicit(&ctx_objects_changes, memory_order_acquire))
		return false;
	for (unsigned int i = 0; i < m->n; i++)
		if (*(const volatile uintptr_t *)(sp + m->word[i].at) != m->word[i].value)
			return false;
	return true;
}

/* Frame pointers behind their last use do not matter. */
static void only_needed(struct ctx_memo *m, unsigned int needed)
{
	unsigned int kept_words = 0;

	for (unsigned int i = 0; i < m->n; i++)
		if (!m->word[i].is_fp || i + 1 < needed)
			m->word[kept_words++] = m->word[i];
	m->n = kept_words;
}

/* The registers are those of this function: its own frame is left by its own rule. */
__attribute__((noinline)) int ctx_unwind(uintptr_t *ip, int max, const void *caller, struct ctx_memo **memo, uintptr_t *sp)
{
	struct ctx_thread *t = ctx_self;
	struct walk w;
	struct rule r;
	int n = 0;

	w.lost = 0;
	w.low = w.high = w.page = 0;
	w.memo = NULL;
	w.needed = 0;
#if defined(__x86_64__)
	asm volatile("mov %%rbx, 24(%2)\n\tmov %%rbp, 48(%2)\n\tmov %%rsp, 56(%2)\n\tmov %%r12, 96(%2)\n\tmov %%r13, 104(%2)\n\t"
		     "mov %%r14, 112(%2)\n\tmov %%r15, 120(%2)\n0:\tlea 0b(%%rip), %0" : "=r"(w.ip), "=m"(w.r) : "r"(w.r) : "memory");
#else
	asm volatile("stp x19, x20, [%2, #152]\n\tstp x21, x22, [%2, #168]\n\tstp x23, x24, [%2, #184]\n\tstp x25, x26, [%2, #200]\n\t"
		     "stp x27, x28, [%2, #216]\n\tstp x29, x30, [%2, #232]\n\tmov %0, sp\n\tstr %0, [%2, #248]\n0:\tadr %0, 0b"
		     : "=&r"(w.ip), "=m"(w.r) : "r"(w.r) : "memory");
#endif
	w.exact = true;
	w.sp = *sp = w.r[SP];
	*memo = NULL;
	if (t && w.sp - t->stack_start < t->stack_end - t->stack_start) {
		struct ctx_memo *m = &t->memo[((w.sp >> 4) ^ (uintptr_t)caller * 0x9e3779b97f4a7c15ull >> 40) & (CTX_MEMOS - 1)];

		*memo = m;
		if (ctx_likely(is_same(m, &w, caller)))
			return -1;
		w.low = w.sp;
		w.high = t->stack_end & ~7ul;
		m->sp = 0;
		m->fp = w.r[FP];
		m->caller = caller;
		m->objects = atomic_load_explicit(&ctx_objects_changes, memory_order_acquire);
		m->n = 0;
		w.memo = m;
	}
	for (int steps = 0; n < max && steps < max + CTX_OWN_FRAMES; steps++) {
		bool ok = false, signal = false;

		rule_of(w.ip, w.exact, &r);
		switch (r.kind) {
		case BY_TABLE: ok = by_table(&w, &r) || by_frame_pointer(&w); break;
		case SIGNAL_FRAME: ok = signal = by_signal(&w); break;
		case BY_FRAME_POINTER: ok = by_frame_pointer(&w); break;
		}
		if (!ok)
			break;
		w.exact = signal;
		if (!ctx_ip_is_ours(w.ip))
			ip[n++] = w.ip;
	}
	if (w.memo)
		only_needed(w.memo, w.needed);
	*memo = w.memo;
	return n;
}
