// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * clonesite.c - see clonesite.h. Two passes over a function: where instructions begin and what is jumped to, then which
 * registers hold constants. What is not known (x86code.h) makes all registers unknown, and is not moved.
 */
#include "common/clonesite.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sched.h>
#include <string.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

#include "common/x86code.h"

#define X86_SYS_CLONE 56
#define X86_SYS_FORK 57
#define X86_SYS_CLONE3 435

#define FUNCTION_MAX 8192

/* A bit for each byte of a function. */
struct bytes {
	uint64_t bit[FUNCTION_MAX / 64];
};

static void mark(struct bytes *b, size_t i)
{
	b->bit[i / 64] |= 1ull << i % 64;
}

static int is_marked(const struct bytes *b, size_t i)
{
	return b->bit[i / 64] >> i % 64 & 1;
}

static int has_system_call(const uint8_t *code, size_t len)
{
	return memmem(code, len, "\x0f\x05", 2) != NULL;
}

/*
 * Where instructions begin, and what is jumped to. Behind the last instruction there may be anything up to the next function,
 * so that what cannot be read there is the end. 0: not understood.
 */
static int survey(const uint8_t *code, size_t len, struct bytes *starts, struct bytes *targets, size_t *end, struct mt_clone_jumps *jumps)
{
	int reached = 1;
	size_t i = 0;

	memset(starts, 0, sizeof(*starts));
	memset(targets, 0, sizeof(*targets));
	while (i < len) {
		struct mt_x86 in;

		if (!mt_x86_decode(code + i, len - i, &in)) {
			if (reached)
				return 0;
			break;
		}
		mark(starts, i);
		if (in.kind == ANYWHERE)
			return 0;
		if (in.kind == JUMP || in.kind == BRANCH) {
			const int64_t to = (int64_t)(i + in.len) + in.to;

			if (to >= 0 && to < (int64_t)len) {
				mark(targets, (size_t)to);
			} else if (jumps) {
				if (jumps->n == MT_SITE_TARGETS)
					return 0;
				jumps->to[jumps->n++] = code + to;
			}
		}
		i += in.len;
		reached = in.kind != JUMP && in.kind != LEAVES;
	}
	*end = i;
	/* a jump between two beginnings: this is not how the code is read */
	for (size_t k = 0; k < len; k++)
		if (is_marked(targets, k) && !is_marked(starts, k))
			return 0;
	return 1;
}

static unsigned int bytes_of(const struct mt_clone_site *s)
{
	return s->before + 2 + s->after + s->padding;
}

/* Bytes that fill a function up to its end, all of them: nop and int3. */
static int is_padding(const uint8_t *code, size_t at, size_t end, const struct bytes *targets)
{
	while (at < end) {
		size_t k = at;
		struct mt_x86 in;

		if (is_marked(targets, at) || !mt_x86_decode(code + at, end - at, &in))
			return 0;
		while (code[k] == 0x66 || code[k] == 0x2e)
			k++;
		if (code[k] != 0x90 && code[k] != 0xcc && (code[k] != 0x0f || code[k + 1] != 0x1f))
			return 0;
		at += in.len;
	}
	return 1;
}

/* The instructions of a place around the system call at @call, @least bytes. 0: not enough of them can be moved. */
static int place(const uint8_t *code, size_t end, const struct bytes *starts, const struct bytes *targets, size_t call, size_t least,
		 struct mt_clone_site *s)
{
	size_t from = call, to = call + 2;
	unsigned int padding = 0;
	struct mt_x86 in;

	while (to - from < least && from > 0 && !is_marked(targets, from)) {
		size_t k = from - 1;

		while (k > 0 && !is_marked(starts, k))
			k--;
		if (!mt_x86_decode(code + k, end - k, &in) || k + in.len != from || in.kind != PLAIN || in.rip)
			break;
		from = k;
	}
	while (to - from < least && to < end && !is_marked(targets, to)) {
		if (!mt_x86_decode(code + to, end - to, &in))
			break;
		if (code[to] == 0xc3 && is_padding(code, to + 1, end, targets)) {
			const size_t lacks = to + 1 - from < least ? least - (to + 1 - from) : 0;

			to++;
			if (end - to >= lacks)
				padding = (unsigned int)lacks;
			break;
		}
		if (in.kind != PLAIN || in.rip)
			break;
		to += in.len;
	}
	if (to + padding - from < least)
		return 0;
	s->at = code + from;
	s->before = (unsigned int)(call - from);
	s->after = (unsigned int)(to - call - 2);
	s->padding = padding;
	return 1;
}

/* What is known of registers while code is read from its beginning. */
struct constants {
	uint64_t value[16];
	uint16_t known;
};

enum { RAX = 0, RCX = 1, RSI = 6, RDI = 7, R11 = 11 };

static int is_known(const struct constants *c, int reg)
{
	return c->known >> reg & 1;
}

/* After an instruction that is no system call. 1: a register got the value @wanted. */
static int follow(struct constants *c, const struct mt_x86 *in, uint64_t wanted)
{
	const int set = in->kind == PLAIN && in->set >= 0 && (in->copy < 0 || is_known(c, in->copy));

	if (set)
		c->value[in->set] = in->copy < 0 ? in->value : in->wide ? c->value[in->copy] : (uint32_t)c->value[in->copy];
	if (in->kind == PLAIN)
		c->known &= (uint16_t)~in->writes;
	else if (in->kind != BRANCH || in->writes)
		c->known = 0;
	if (set)
		c->known |= (uint16_t)(1u << in->set);
	return set && c->value[in->set] == wanted;
}

static void after_call(struct constants *c)
{
	c->known &= (uint16_t)~(1u << RAX | 1u << RCX | 1u << R11);
}

enum mt_clone_found mt_clone_site(const uint8_t *code, size_t len, struct mt_clone_site *s, struct mt_clone_jumps *jumps)
{
	struct bytes starts, targets;
	enum mt_clone_found found = MT_CLONE_NONE;
	struct constants c = { .known = 0 };
	size_t end = 0;
	int number_seen = 0;

	if (jumps)
		jumps->n = 0;
	if (!has_system_call(code, len))
		return MT_CLONE_NONE;
	if (len > FUNCTION_MAX || !survey(code, len, &starts, &targets, &end, jumps))
		return MT_CLONE_UNKNOWN;
	for (size_t i = 0; i < end;) {
		struct mt_x86 in;

		if (!mt_x86_decode(code + i, end - i, &in))
			return MT_CLONE_UNKNOWN;
		if (is_marked(&targets, i))
			c.known = 0;
		if (in.kind == SYSTEM_CALL) {
			if (!is_known(&c, RAX) && number_seen)
				return MT_CLONE_UNKNOWN;
			if (is_known(&c, RAX) && c.value[RAX] == X86_SYS_CLONE) {
				if (found || !is_known(&c, RDI) || !is_known(&c, RSI) || c.value[RSI] || c.value[RDI] & CLONE_VM ||
				    !place(code, end, &starts, &targets, i, MT_SITE_MIN, s))
					return MT_CLONE_UNKNOWN;
				s->flags = c.value[RDI];
				s->number = X86_SYS_CLONE;
				found = MT_CLONE_FOUND;
			}
			after_call(&c);
		} else {
			number_seen |= follow(&c, &in, X86_SYS_CLONE);
		}
		i += in.len;
	}
	return found;
}

static int holds(const uint8_t *code, int number)
{
	const uint32_t v = (uint32_t)number;

	return !memcmp(code, &v, sizeof(v));
}

/*
 * Is there an instruction before the system call at @call that puts a number of those that make processes into rax, and is it still there?
 * The number, or 0. Read from that instruction on, so that bytes which only look like a system call are none.
 */
static int number_of(const uint8_t *text, const uint8_t *call)
{
	enum { WINDOW = 256 };
	static const int numbers[] = { X86_SYS_FORK, X86_SYS_CLONE, X86_SYS_CLONE3 };

	for (const uint8_t *p = call - 2; p >= text && call - p <= WINDOW; p--) {
		const uint8_t *at = p;
		int number = 0;

		/* push and pop, and bytes of registers, are how little code is written */
		for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers) && !number; i++) {
			const uint8_t n = (uint8_t)numbers[i];

			if ((*p == 0xb8 && call - p >= 5 && holds(p + 1, numbers[i])) ||
			    (*p == 0xc7 && p[1] == 0xc0 && call - p >= 6 && holds(p + 2, numbers[i])) ||
			    (numbers[i] < 128 && ((*p == 0x6a && call - p >= 3 && p[1] == n && p[2] == 0x58) || (*p == 0xb0 && p[1] == n))))
				number = numbers[i];
		}
		if (!number)
			continue;
		if (*p == 0x6a)
			at += 3;
		else
			at += *p == 0xb0 ? 2 : *p == 0xb8 ? 5 : 6;
		while (at < call) {
			struct mt_x86 in;

			if (!mt_x86_decode(at, (size_t)(call - at), &in) || (in.kind != PLAIN && in.kind != BRANCH) || in.writes >> RAX & 1)
				break;
			at += in.len;
		}
		if (at == call)
			return number;
	}
	return 0;
}

static int makes_process(uint64_t number)
{
	return number == X86_SYS_FORK || number == X86_SYS_CLONE || number == X86_SYS_CLONE3;
}

/* The system call at @call in a function, of which @number is expected; 0: none. */
static enum mt_clone_found process_site(const uint8_t *code, size_t len, const uint8_t *call, int number, struct mt_clone_site *s,
					struct mt_clone_jumps *jumps)
{
	struct bytes starts, targets;
	struct constants c = { .known = 0 };
	size_t end = 0;

	jumps->n = 0;
	if (len > FUNCTION_MAX || !survey(code, len, &starts, &targets, &end, jumps))
		return MT_CLONE_UNKNOWN;
	for (size_t i = 0; i < end && code + i <= call;) {
		struct mt_x86 in;

		if (!mt_x86_decode(code + i, end - i, &in))
			return MT_CLONE_UNKNOWN;
		if (is_marked(&targets, i))
			c.known = 0;
		if (code + i == call) {
			if (!number && is_known(&c, RAX)) {
				if (!makes_process(c.value[RAX]))
					return MT_CLONE_NONE;
				number = (int)c.value[RAX];
			}
			if (number == X86_SYS_CLONE && is_known(&c, RDI) && c.value[RDI] & CLONE_VM)
				return MT_CLONE_NONE;
			if (number && (!is_known(&c, RAX) || c.value[RAX] != (uint64_t)number))
				return MT_CLONE_UNKNOWN;
			s->number = number;
			return place(code, end, &starts, &targets, i, MT_SITE_NEAR, s) ? MT_CLONE_FOUND : MT_CLONE_UNKNOWN;
		}
		if (in.kind == SYSTEM_CALL)
			after_call(&c);
		else
			follow(&c, &in, 0);
		i += in.len;
	}
	/* the function is read in another way */
	return MT_CLONE_UNKNOWN;
}

int mt_clone_jumps_into(const uint8_t *code, size_t len, const struct mt_clone_site *s)
{
	const size_t bytes = bytes_of(s);
	size_t i = 0;
	int reached = 1;

	while (i < len) {
		struct mt_x86 in;
		int64_t to;

		if (!mt_x86_decode(code + i, len - i, &in))
			return reached;
		to = (int64_t)(i + in.len) + in.to;
		if ((in.kind == JUMP || in.kind == BRANCH) && code + to > s->at && code + to < s->at + bytes)
			return 1;
		i += in.len;
		reached = in.kind != JUMP && in.kind != LEAVES && in.kind != ANYWHERE;
	}
	return 0;
}

#ifdef __x86_64__
/* ---- the C library of this process */

struct object {
	uintptr_t known;	/* an address in its code */
	struct mt_code code;
};

/* Version 1; count: 4 bytes; table: 4 bytes each, relative to the header. All functions, sorted. */
static const uint8_t known_frames[] = { 1, 0x1b, 0x03, 0x3b };

static int find_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct object *o = arg, here = { .known = o->known };

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && start <= o->known && o->known < start + p->p_filesz) {
			here.code.text = (const uint8_t *)start;
			here.code.text_end = here.code.text + p->p_filesz;
		} else if (p->p_type == PT_GNU_EH_FRAME) {
			here.code.frames = (const uint8_t *)start;
			here.code.frames_end = here.code.frames + p->p_filesz;
		}
	}
	if (!here.code.text || !here.code.frames)
		return 0;
	*o = here;
	return 1;
}

static const uint8_t *function_at(const struct mt_code *o, uint32_t i)
{
	int32_t offset;

	memcpy(&offset, o->frames + 12 + 8 * (size_t)i, sizeof(offset));
	return o->frames + o->shift + offset;
}

/* The function that holds @at, and where the next one begins. 0: none. */
static size_t function_of(const struct mt_code *o, const uint8_t *at, const uint8_t **start)
{
	const uint8_t *end;
	uint32_t low = 0, high;

	memcpy(&high, o->frames + 8, sizeof(high));
	if (at < o->text || at >= o->text_end || !high || at < function_at(o, 0))
		return 0;
	while (low + 1 < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (function_at(o, middle) <= at)
			low = middle;
		else
			high = middle;
	}
	memcpy(&high, o->frames + 8, sizeof(high));
	*start = function_at(o, low);
	end = low + 1 < high ? function_at(o, low + 1) : o->text_end;
	if (end > o->text_end)
		end = o->text_end;
	return (size_t)(end - *start);
}

/* Is no jump into the place known, not even in the parts that the function jumps to? A compiler puts rare cases elsewhere. */
static int is_safe(const struct mt_code *o, const struct mt_clone_site *s, const struct mt_clone_jumps *jumps)
{
	for (int i = 0; i < jumps->n; i++) {
		const uint8_t *start;
		const size_t len = function_of(o, jumps->to[i], &start);

		if (!len || mt_clone_jumps_into(start, len, s))
			return 0;
	}
	return 1;
}

/*
 * The next place from @at on at which the number of clone(2) is put into rax: b8 or c7 c0, then four bytes. Each small process
 * pays for it, so 16 bytes at a time. NULL: none. The byte before @at can be read.
 */
static const uint8_t *next_number(const uint8_t *at, const uint8_t *end)
{
	const __m128i low = _mm_set1_epi8(X86_SYS_CLONE), zero = _mm_setzero_si128();

	for (; end - at >= 4; at += 16) {
		unsigned int hits = 0xffff;

		if (end - at >= 16 + 3)
			hits = (unsigned int)_mm_movemask_epi8(_mm_and_si128(
				_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)at), low),
				_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(at + 1)), zero)));
		for (; hits; hits &= hits - 1) {
			const uint8_t *p = at + __builtin_ctz(hits);

			if (end - p >= 4 && !memcmp(p, "\x38\0\0\0", 4) && (p[-1] == 0xb8 || p[-1] == 0xc0))
				return p;
		}
	}
	return NULL;
}

int mt_clone_sites(struct mt_clone_site *s, const char **why)
{
	struct object object = { .known = 0 };
	const struct mt_code *const o = &object.code;
	const uint8_t *fork_at = NULL, *clone_at = NULL, *forks, *at, *last = NULL;
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	int n = 0, has_fork = 0;

	if (libc) {
		fork_at = dlsym(libc, "_Fork");		/* newer ones have the call there; tests look for it */
		if (!fork_at)
			fork_at = dlsym(libc, "fork");
		clone_at = dlsym(libc, "clone");
		dlclose(libc);
	}
	object.known = (uintptr_t)fork_at;
	*why = "the fork of the C library, which is older than glibc 2.34, was not found";
	if (!fork_at || !clone_at || !dl_iterate_phdr(find_object, &object) || memcmp(o->frames, known_frames, sizeof(known_frames)) ||
	    !function_of(o, fork_at, &forks))
		return 0;
	*why = "the C library is older than glibc 2.34, and the system call in its fork was not recognised";
	for (at = o->text + 1; (at = next_number(at, o->text_end)); at++) {
		struct mt_clone_jumps jumps;
		enum mt_clone_found found;
		const uint8_t *start = NULL;
		const size_t len = function_of(o, at, &start);

		/* clone() itself is replaced as a whole */
		if (!len || start == last || (clone_at >= start && clone_at < start + len))
			continue;
		last = start;
		found = mt_clone_site(start, len, &s[n], &jumps);
		if (found == MT_CLONE_NONE)
			continue;
		if (found == MT_CLONE_UNKNOWN || !is_safe(o, &s[n], &jumps)) {
			if (start != forks)
				*why = "the C library is older than glibc 2.34, and makes processes in a way that was not recognised";
			return 0;
		}
		has_fork |= start == forks;
		if (++n == MT_SITES)
			return 0;
	}
	return has_fork ? n : 0;
}

/* The next byte of 0f 05 from @at on, NULL: none. 16 bytes at a time, since each program pays for it. */
static const uint8_t *next_call(const uint8_t *at, const uint8_t *end)
{
	const __m128i first = _mm_set1_epi8(0x0f), second = _mm_set1_epi8(0x05);

	for (; end - at >= 16 + 1; at += 16) {
		const unsigned int hits = (unsigned int)_mm_movemask_epi8(_mm_and_si128(
			_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)at), first),
			_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(at + 1)), second)));

		if (hits)
			return at + __builtin_ctz(hits);
	}
	for (; end - at >= 2; at++)
		if (at[0] == 0x0f && at[1] == 0x05)
			return at;
	return NULL;
}

/* Can its table of functions be read? */
static int has_functions(const struct mt_code *c)
{
	uint32_t count;

	if (!c->frames || c->frames_end - c->frames < 12 || memcmp(c->frames, known_frames, sizeof(known_frames)))
		return 0;
	memcpy(&count, c->frames + 8, sizeof(count));
	return count <= (size_t)(c->frames_end - c->frames - 12) / 8;
}

int mt_process_sites(const struct mt_code *c, struct mt_clone_site *s, int room, int *calls)
{
	const uint8_t *at = c->text;
	int n = 0;

	*calls = 0;
	for (; (at = next_call(at, c->text_end)); at += 2) {
		const int number = number_of(c->text, at);
		struct mt_clone_jumps jumps;
		const uint8_t *start = NULL;
		size_t len;

		*calls = 1;
		if (!number && n >= room / 2)
			continue;
		len = has_functions(c) ? function_of(c, at, &start) : 0;
		if (!len || start > at || n == room) {
			if (number)
				return -1;
			continue;
		}
		switch (process_site(start, len, at, number, &s[n], &jumps)) {
		case MT_CLONE_NONE:
			continue;
		case MT_CLONE_UNKNOWN:
			if (number)
				return -1;
			continue;
		case MT_CLONE_FOUND:
			if (is_safe(c, &s[n], &jumps))
				n++;
			else if (number)
				return -1;
		}
	}
	return n;
}
#else
int mt_clone_sites(struct mt_clone_site *s, const char **why)
{
	(void)s;
	*why = "the C library is older than glibc 2.34; on this processor its fork cannot be followed";
	return 0;
}

int mt_process_sites(const struct mt_code *c, struct mt_clone_site *s, int room, int *calls)
{
	(void)c;
	(void)s;
	(void)room;
	*calls = 1;	/* as far as is known */
	return 0;
}
#endif
