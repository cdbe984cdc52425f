// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* Steps that map, change and look at memory. */
#include "plan.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/userfaultfd.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE 103
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef SYS_mseal
#define SYS_mseal 462
#endif

#define RW (PROT_READ | PROT_WRITE)
#define WORDS (PAGE / sizeof(uint64_t))

struct area areas[MAX_AREAS];
unsigned deepest = 4000;

static uint64_t word(uint32_t stamp, unsigned i)
{
	return stamp ? (stamp + i) * 0x9e3779b97f4a7c15ul ^ stamp : 0;
}

void fill(char *page, uint32_t stamp)
{
	for (unsigned i = 0; i < WORDS; i++)
		((volatile uint64_t *)page)[i] = word(stamp, i);
}

int is_filled(const char *page, uint32_t stamp)
{
	for (unsigned i = 0; i < WORDS; i++)
		if (((const volatile uint64_t *)page)[i] != word(stamp, i))
			return 0;
	return 1;
}

static void drop(struct area *a)
{
	a->at = NULL;
}

/* Of a heap block or an attached segment, too. */
static void release(struct area *a)
{
	if (a->flags & IS_HEAP)
		free(a->at);
	else if (shmdt(a->at))
		munmap(a->at, a->pages * PAGE);
	drop(a);
}

/* A place in the table; the oldest makes room. */
struct area *area_new(char *at, unsigned pages, int prot, unsigned flags)
{
	static unsigned turn;
	struct area *a = NULL;

	for (int i = 0; i < MAX_AREAS && !a; i++)
		if (!areas[i].at)
			a = &areas[i];
	for (int i = 0; i < MAX_AREAS && !a; i++, turn++)
		if (!(areas[turn % MAX_AREAS].flags & IS_SEALED)) {
			a = &areas[turn % MAX_AREAS];
			release(a);
		}
	if (!a)
		return NULL;
	*a = (struct area){ .at = at, .pages = pages, .flags = flags };
	for (unsigned i = 0; i < pages; i++)
		a->page[i].prot = (uint8_t)prot;
	return a;
}

struct area *area_private(struct random *r, unsigned max_pages)
{
	const unsigned pages = 1 + below(r, max_pages);
	char *p = mmap(NULL, pages * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct area *a = p == MAP_FAILED ? NULL : area_new(p, pages, RW, 0);

	if (a)
		write_some(r, a);
	return a;
}

struct area *pick(struct random *r, unsigned without)
{
	const unsigned first = below(r, MAX_AREAS);

	for (unsigned i = 0; i < MAX_AREAS; i++) {
		struct area *a = &areas[(first + i) % MAX_AREAS];

		if (a->at && !(a->flags & without))
			return a;
	}
	return NULL;
}

/* What most steps want: memory that they may do anything with. */
static struct area *some(struct random *r, unsigned without)
{
	struct area *a = chance(r, 80) ? pick(r, without | IS_SEALED) : NULL;

	return a ? a : area_private(r, 24);
}

void write_some(struct random *r, struct area *a)
{
	const uint32_t stamp = (uint32_t)next(r) | 1;

	for (unsigned i = 0; i < a->pages; i++)
		if ((a->page[i].prot & RW) == RW && chance(r, 60)) {
			a->page[i].stamp = stamp + i * 2;
			fill(a->at + i * PAGE, a->page[i].stamp);
		}
}

void check_areas(const char *when)
{
	for (int k = 0; k < MAX_AREAS; k++) {
		const struct area *a = &areas[k];

		for (unsigned i = 0; a->at && i < a->pages; i++) {
			if (!(a->page[i].prot & PROT_READ) || is_filled(a->at + i * PAGE, a->page[i].stamp))
				continue;
			say("WRONG after %s: page %u of %u, flags %u, has %016lx instead of %016lx\n", when, i, a->pages, a->flags,
			    (unsigned long)*(uint64_t *)(void *)(a->at + i * PAGE), (unsigned long)word(a->page[i].stamp, 0));
		}
	}
}

uint64_t sum_areas(void)
{
	uint64_t sum = 0;

	for (int k = 0; k < MAX_AREAS; k++)
		for (unsigned i = 0; areas[k].at && i < areas[k].pages; i++)
			if (areas[k].page[i].prot & PROT_READ)
				for (unsigned w = 0; w < WORDS; w++)
					sum = sum * 31 + ((uint64_t *)(void *)(areas[k].at + i * PAGE))[w];
	return sum;
}

void areas_in_child(void)
{
	for (int k = 0; k < MAX_AREAS; k++) {
		if (areas[k].at && (areas[k].flags & NOT_FORKED))
			drop(&areas[k]);
		for (unsigned i = 0; areas[k].at && (areas[k].flags & WIPED) && i < areas[k].pages; i++)
			areas[k].page[i].stamp = 0;
	}
}

/* What a child writes there its parent would have, too. */
void areas_not_shared(void)
{
	for (int k = 0; k < MAX_AREAS; k++)
		if (areas[k].at && (areas[k].flags & IS_SHARED))
			drop(&areas[k]);
}

static void range(struct random *r, const struct area *a, unsigned *first, unsigned *n)
{
	*first = chance(r, 40) ? 0 : below(r, a->pages);
	*n = chance(r, 40) ? a->pages - *first : 1 + below(r, a->pages - *first);
}

/* ---- mappings */

static char *fixed_place(struct random *r)
{
	static unsigned used;

	return (char *)(0x200000000000ul + (unsigned long)depth * 0x10000000000ul + (unsigned long)++used * 0x40000000ul +
			below(r, 64) * PAGE);
}

static int own_file(struct random *r, unsigned pages, uint32_t stamp)
{
	char page[PAGE], name[] = "/tmp/generatedXXXXXX";
	int fd = chance(r, 50) ? memfd_create("generated", MFD_CLOEXEC) : mkostemp(name, O_CLOEXEC);

	unlink(name);
	for (unsigned i = 0; i < pages; i++) {
		fill(page, stamp + i * 2);
		if (write(fd, page, PAGE) != PAGE)
			return -1;
	}
	return fd;
}

static void map_file(struct random *r)
{
	const unsigned pages = 1 + below(r, 24), shared = chance(r, 50);
	const uint32_t stamp = (uint32_t)next(r) | 1;
	int fd = own_file(r, pages, stamp);
	const unsigned skip = below(r, pages);
	char *p = mmap(NULL, (pages - skip) * PAGE, RW, shared ? MAP_SHARED : MAP_PRIVATE, fd, (off_t)(skip * PAGE));
	struct area *a;

	close(fd);
	say(" %u pages, %s: %s", pages - skip, shared ? "shared" : "private", name_of((long)p));
	a = p == MAP_FAILED ? NULL : area_new(p, pages - skip, RW, IS_FILE | (shared ? IS_SHARED : 0));
	for (unsigned i = 0; a && i < a->pages; i++)
		a->page[i].stamp = stamp + (skip + i) * 2;
	if (a)
		write_some(r, a);
}

static void map(struct random *r)
{
	static const int more[] = { 0, 0, 0, MAP_NORESERVE, MAP_POPULATE, MAP_LOCKED, MAP_STACK, MAP_NONBLOCK | MAP_POPULATE,
				    MAP_32BIT, MAP_FIXED, MAP_FIXED_NOREPLACE };
	static const int prots[] = { RW, RW, RW, RW, PROT_READ, PROT_NONE, RW | PROT_EXEC, PROT_WRITE };
	const unsigned pages = 1 + below(r, MAX_PAGES), k = below(r, 11), shared = chance(r, 25), zero = chance(r, 10);
	const int prot = prots[below(r, 8)], fixed = more[k] == MAP_FIXED || more[k] == MAP_FIXED_NOREPLACE;
	int fd = zero ? open("/dev/zero", O_RDWR | O_CLOEXEC) : -1;
	char *p = mmap(fixed || chance(r, 10) ? fixed_place(r) : NULL, pages * PAGE - below(r, PAGE), prot,
		       more[k] | (zero ? 0 : MAP_ANONYMOUS) | (shared ? MAP_SHARED : MAP_PRIVATE), fd, 0);
	struct area *a;

	if (zero)
		close(fd);
	say(" %u pages, prot %d, flags %x%s%s: %s", pages, prot, (unsigned)more[k], shared ? " shared" : "", zero ? " zero" : "",
	    name_of((long)p));
	a = p == MAP_FAILED ? NULL : area_new(p, pages, prot, shared ? IS_SHARED : 0);
	if (a)
		write_some(r, a);
}

static void map_over(struct random *r)
{
	struct area *a = some(r, FIXED_SIZE | IS_SHARED | WIPED | NOT_FORKED);
	unsigned first, n;
	char *p;

	range(r, a, &first, &n);
	p = mmap(a->at + first * PAGE, n * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	a->flags |= depth && n < a->pages ? IS_SPLIT : 0;	/* shared with the parent and not */
	say(" %u pages of %u: %s", n, a->pages, p == a->at + first * PAGE ? "ok" : name_of(-1));
	for (unsigned i = 0; i < n; i++)
		a->page[first + i] = (struct page){ 0, RW };
	write_some(r, a);
	if (chance(r, 30)) {
		p = mmap(a->at, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
		say(", no replacing: %s", name_of((long)p));
	}
}

static void unmap(struct random *r)
{
	struct area *a = some(r, FIXED_SIZE), *b;
	const struct area copy = *a;
	unsigned first, n;
	long ret;

	range(r, a, &first, &n);
	ret = munmap(a->at + first * PAGE, n * PAGE);
	say(" %u pages of %u: %s", n, a->pages, name_of(ret));
	if (ret)
		return;
	a->pages = first;
	if (!first)
		drop(a);
	if (first + n == copy.pages)
		return;
	b = area_new(copy.at + (first + n) * PAGE, copy.pages - first - n, 0, copy.flags);
	memcpy(b->page, copy.page + first + n, b->pages * sizeof(b->page[0]));
}

static void protect(struct random *r)
{
	static const int prots[] = { RW, RW, PROT_READ, PROT_NONE, RW | PROT_EXEC, PROT_READ | PROT_EXEC };
	struct area *a = some(r, IS_HEAP);
	const int prot = prots[below(r, 6)];
	unsigned first, n;
	long ret;

	range(r, a, &first, &n);
	ret = mprotect(a->at + first * PAGE, n * PAGE, prot);
	a->flags |= n < a->pages ? IS_SPLIT : 0;
	say(" %u pages of %u, prot %d: %s", n, a->pages, prot, name_of(ret));
	for (unsigned i = 0; !ret && i < n; i++)
		a->page[first + i].prot = (uint8_t)prot;
	write_some(r, a);
}

/* ---- accesses that are refused: a barrier of a garbage collector, a jump out of the handler, an error of a system call */

static __thread sigjmp_buf way_out;
static __thread char *volatile barrier;
static __thread volatile int barriers;

static void on_segv(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (barrier && (char *)info->si_addr >= barrier && (char *)info->si_addr < barrier + PAGE) {
		barriers++;
		mprotect(barrier, PAGE, RW);
		return;
	}
	siglongjmp(way_out, info->si_code);
}

static void refused(struct random *r)
{
	struct area *a = some(r, IS_HEAP | IS_FILE);
	const unsigned i = below(r, a->pages), how = below(r, 4);
	const int prot = a->page[i].prot, now = chance(r, 50) ? PROT_READ : PROT_NONE;
	struct sigaction sa = { .sa_sigaction = on_segv, .sa_flags = SA_SIGINFO | SA_NODEFER | (chance(r, 50) ? SA_ONSTACK : 0) }, old;
	volatile char *p = a->at + i * PAGE;
	int pipes[2], code;

	sigaction(SIGSEGV, &sa, &old);
	say(" prot %d, way %u: %s", now, how, name_of(mprotect(a->at + i * PAGE, PAGE, now)));
	switch (how) {
	case 0:
		barrier = a->at + i * PAGE;
		barriers = 0;
		for (int k = 0; k < 3; k++)
			p[k] = p[k];
		barrier = NULL;
		say(", %d barriers", barriers);
		break;
	case 1:
		code = sigsetjmp(way_out, 1);
		if (!code)
			*p = 1;
		say(", code %d", code);
		break;
	case 2:
		if (pipe2(pipes, O_CLOEXEC))
			break;
		if (write(pipes[1], "xyz", 3) == 3)
			say(", read %s", name_of(read(pipes[0], a->at + i * PAGE, 3)));
		close(pipes[0]);
		close(pipes[1]);
		break;
	default:
		say(", getcwd %s", getcwd(a->at + i * PAGE, PAGE) ? "ok" : name_of(-1));
	}
	mprotect(a->at + i * PAGE, PAGE, prot);
	sigaction(SIGSEGV, &old, NULL);
}

/* ---- mremap */

static void remap(struct random *r)
{
	struct area *a = some(r, FIXED_SIZE | IS_SHARED | IS_FILE | WIPED | NOT_FORKED | IS_SPLIT);
	const unsigned how = below(r, 6), old_pages = a->pages;
	unsigned pages = 1 + below(r, MAX_PAGES), first, n;
	struct area *b;
	char *p, *to;

	/* a move of what consists of several mappings is refused; say how it is */
	for (unsigned i = 1; i < a->pages; i++)
		if (a->page[i].prot != a->page[0].prot) {
			mprotect(a->at, a->pages * PAGE, RW);
			for (unsigned k = 0; k < a->pages; k++)
				a->page[k].prot = RW;
			break;
		}
	say(" way %u, %u pages", how, a->pages);
	switch (how) {
	case 0:		/* shrink */
		n = 1 + below(r, a->pages);
		p = mremap(a->at, a->pages * PAGE, n * PAGE, 0);
		say(" to %u: %s", n, name_of((long)p));
		if (p != MAP_FAILED)
			a->pages = n;
		return;
	case 1:		/* grow in place, where there is room for certain */
		to = fixed_place(r);
		n = 1 + below(r, 20);
		p = mmap(to, n * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		b = area_new(p, n, RW, 0);
		write_some(r, b);
		pages = n + 1 + below(r, MAX_PAGES - n);
		p = mremap(to, n * PAGE, pages * PAGE, 0);
		say(" in place %u to %u: %s", n, pages, name_of((long)p));
		if (p != MAP_FAILED) {
			for (unsigned i = n; i < pages; i++)
				b->page[i] = (struct page){ 0, RW };
			b->pages = pages;
			write_some(r, b);
		}
		return;
	case 2:		/* move to a place, which has something */
		to = fixed_place(r);
		if (chance(r, 50))
			mmap(to, pages * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		p = mremap(a->at, a->pages * PAGE, pages * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
		break;
	case 3:		/* a part */
		range(r, a, &first, &n);
		to = fixed_place(r);
		p = mremap(a->at + first * PAGE, n * PAGE, n * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to);
		say(" part of %u: %s", n, name_of((long)p));
		if (p != to)
			return;
		b = NULL;
		{
			const struct area copy = *a;

			munmap(a->at + first * PAGE, n * PAGE);
			a->pages = first;
			if (!first)
				drop(a);
			if (first + n < copy.pages) {
				b = area_new(copy.at + (first + n) * PAGE, copy.pages - first - n, 0, copy.flags);
				memcpy(b->page, copy.page + first + n, b->pages * sizeof(b->page[0]));
			}
			b = area_new(p, n, 0, copy.flags);
			memcpy(b->page, copy.page + first, n * sizeof(b->page[0]));
		}
		return;
	case 4:		/* the old place stays, empty */
		p = mremap(a->at, a->pages * PAGE, a->pages * PAGE, MREMAP_MAYMOVE | MREMAP_DONTUNMAP | MREMAP_FIXED, fixed_place(r));
		say(" kept: %s", name_of((long)p));
		if (p != MAP_FAILED) {
			const struct area copy = *a;

			for (unsigned i = 0; i < a->pages; i++)
				a->page[i].stamp = 0;
			b = area_new(p, copy.pages, 0, copy.flags);
			memcpy(b->page, copy.page, copy.pages * sizeof(b->page[0]));
		}
		return;
	default:
		p = mremap(a->at, a->pages * PAGE, pages * PAGE, MREMAP_MAYMOVE);
	}
	say(" to %u: %s", pages, name_of((long)p));
	if (p == MAP_FAILED)
		return;
	a->at = p;
	a->pages = pages;
	for (unsigned i = old_pages; i < pages; i++)
		a->page[i] = (struct page){ 0, a->page[0].prot };
	write_some(r, a);
}

/* What the kernel says of calls that make no sense. */
static void odd(struct random *r)
{
	struct area *a = some(r, FIXED_SIZE | IS_SHARED | IS_FILE);
	char *at = a->at;

	switch (below(r, 10)) {
	case 0: say(" mmap 0: %s", name_of((long)mmap(NULL, 0, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))); break;
	case 1: say(" munmap odd: %s", name_of(munmap(at + 1, PAGE))); break;
	case 2: say(" munmap 0: %s", name_of(munmap(at, 0))); break;
	case 3: say(" mremap odd: %s", name_of((long)mremap(at + 1, PAGE, PAGE * 2, MREMAP_MAYMOVE))); break;
	case 4: say(" mremap to 0: %s", name_of((long)mremap(at, PAGE, 0, MREMAP_MAYMOVE))); break;
	case 5:
		say(" mremap over itself: %s", name_of((long)mremap(at, a->pages * PAGE, a->pages * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, at)));
		break;
	case 6: say(" madvise odd: %s", name_of(madvise(at + 1, PAGE, MADV_DONTNEED))); break;
	case 7: say(" madvise unknown: %s", name_of(madvise(at, PAGE, 4711))); break;
	case 8:
		at = (char *)0xffff800000000000ul;
		say(" mmap high: %s", name_of((long)mmap(at, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)));
		break;
	default: say(" mmap huge: %s", name_of((long)mmap(NULL, 1ul << 60, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)));
	}
}

/* ---- madvise */

static void advise(struct random *r)
{
	static const int kinds[] = { MADV_DONTNEED, MADV_DONTNEED, MADV_FREE, MADV_REMOVE, MADV_WIPEONFORK, MADV_KEEPONFORK, MADV_DONTFORK,
		MADV_DOFORK, MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_COLD, MADV_PAGEOUT, MADV_POPULATE_READ,
		MADV_POPULATE_WRITE, MADV_DONTDUMP, MADV_DODUMP, MADV_MERGEABLE, MADV_UNMERGEABLE, MADV_DONTNEED_LOCKED, MADV_RANDOM };
	struct area *a = some(r, IS_HEAP | IS_FILE | FIXED_SIZE);
	const int kind = kinds[below(r, sizeof(kinds) / sizeof(kinds[0]))];
	unsigned first, n;
	long ret;

	range(r, a, &first, &n);
	if (kind == MADV_WIPEONFORK || kind == MADV_KEEPONFORK || kind == MADV_DONTFORK || kind == MADV_DOFORK) {
		first = 0;
		n = a->pages;
	}
	ret = madvise(a->at + first * PAGE, n * PAGE, kind);
	a->flags |= n < a->pages ? IS_SPLIT : 0;
	say(" %d, %u pages of %u%s: %s", kind, n, a->pages, a->flags & IS_SHARED ? " shared" : "", name_of(ret));
	/* what it came to before it was refused */
	for (unsigned i = first; i < first + n && ret; i++)
		if (!(a->flags & IS_SHARED)) {
			mprotect(a->at + i * PAGE, PAGE, RW);
			fill(a->at + i * PAGE, a->page[i].stamp);
			mprotect(a->at + i * PAGE, PAGE, a->page[i].prot);
		}
	for (unsigned i = first; i < first + n && !ret; i++)
		if (!(a->flags & IS_SHARED) && (kind == MADV_DONTNEED || kind == MADV_DONTNEED_LOCKED))
			a->page[i].stamp = 0;
		else if (kind == MADV_REMOVE)
			a->page[i].stamp = 0;
		else if (kind == MADV_FREE && (a->page[i].prot & RW) == RW)
			fill(a->at + i * PAGE, a->page[i].stamp);
		else if (kind == MADV_FREE)	/* may be there, or not: look no more */
			a->page[i].prot = PROT_NONE, mprotect(a->at + i * PAGE, PAGE, PROT_NONE);
	if (!ret && kind == MADV_WIPEONFORK)
		a->flags |= WIPED;
	if (!ret && kind == MADV_KEEPONFORK)
		a->flags &= ~(unsigned)WIPED;
	if (!ret && kind == MADV_DONTFORK)
		a->flags |= NOT_FORKED;
	if (!ret && kind == MADV_DOFORK)
		a->flags &= ~(unsigned)NOT_FORKED;
	write_some(r, a);
}

/* Pages that fault, without a mapping of their own (Linux 6.13). */
static void guard(struct random *r)
{
	struct area *a = area_private(r, 24);
	struct sigaction sa = { .sa_sigaction = on_segv, .sa_flags = SA_SIGINFO | SA_NODEFER }, old;
	const unsigned i = below(r, a->pages);
	long ret = madvise(a->at + i * PAGE, PAGE, MADV_GUARD_INSTALL);
	int code = 0;

	say(" %s", name_of(ret));
	if (ret)
		return;
	sigaction(SIGSEGV, &sa, &old);
	code = sigsetjmp(way_out, 1);
	if (!code)
		*(volatile char *)(a->at + i * PAGE) = 1;
	sigaction(SIGSEGV, &old, NULL);
	say(", code %d, removed: %s", code, name_of(madvise(a->at + i * PAGE, PAGE, MADV_GUARD_REMOVE)));
	a->page[i].stamp = 0;
}

static void seal(struct random *r)
{
	struct area *a = area_private(r, 8);
	long ret = syscall(SYS_mseal, a->at, a->pages * PAGE, 0ul);

	say(" %s", name_of(ret));
	if (ret)
		return;
	a->flags |= IS_SEALED | FIXED_SIZE;
	say(", munmap %s", name_of(munmap(a->at, PAGE)));
	say(", mmap %s", name_of((long)mmap(a->at, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)));
	say(", mremap %s", name_of((long)mremap(a->at, a->pages * PAGE, (a->pages + 1) * PAGE, MREMAP_MAYMOVE)));
	say(", shrink %s", name_of((long)mremap(a->at, a->pages * PAGE, PAGE, 0)) );
	say(", mprotect %s", name_of(mprotect(a->at, PAGE, PROT_READ)));
	write_some(r, a);
}

static void lock(struct random *r)
{
	struct area *a = some(r, IS_HEAP);
	unsigned first, n;

	range(r, a, &first, &n);
	a->flags |= IS_SPLIT;	/* what is mapped over it later is another mapping */
	switch (below(r, 4)) {
	case 0: say(" mlock: %s", name_of(mlock(a->at + first * PAGE, n * PAGE))); break;
	case 1: say(" mlock2: %s", name_of(mlock2(a->at + first * PAGE, n * PAGE, MLOCK_ONFAULT))); break;
	case 2: say(" munlock: %s", name_of(munlock(a->at, a->pages * PAGE))); break;
	default:
		if (background_on)	/* which would find its memory locked, or not */
			break;
		if (geteuid())		/* all of the address space counts, and a recorded one has more of it */
			break;
		say(" all: %s", name_of(mlockall(chance(r, 50) ? MCL_CURRENT : MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)));
		if (madvise(a->at, PAGE, MADV_DONTNEED) == -1)
			say(", advice %s", name_of(-1));
		else if (!(a->flags & (IS_SHARED | IS_FILE)))
			a->page[0].stamp = 0;
		say(", none: %s", name_of(munlockall()));
	}
	write_some(r, a);
}

/* ---- the heap */

static void heap(struct random *r)
{
	char *block[24];
	unsigned bytes[24], wrong = 0;

	for (int i = 0; i < 24; i++) {
		bytes[i] = chance(r, 20) ? 100000 + below(r, 300000) : 1 + below(r, 9000);
		block[i] = chance(r, 20) ? calloc(1, bytes[i]) : chance(r, 20) ? memalign(1ul << (4 + below(r, 12)), bytes[i]) : malloc(bytes[i]);
		memset(block[i], i + 1, bytes[i]);
		if (i && chance(r, 40)) {
			const unsigned k = below(r, (unsigned)i), more = bytes[k] + below(r, 200000);
			const unsigned had = bytes[k];

			block[k] = realloc(block[k], more);
			for (unsigned b = 0; b < had; b++)
				wrong += block[k][b] != (char)(k + 1);
			memset(block[k], (int)k + 1, more);
			bytes[k] = more;
		}
	}
	for (unsigned i = 0; i < 24; i++) {
		for (unsigned b = 0; b < bytes[i]; b++)
			wrong += block[i][b] != (char)(i + 1);
		free(block[i]);
	}
	if (chance(r, 50))
		malloc_trim(0);
	say(" %u wrong", wrong);
	if (chance(r, 40)) {
		const unsigned pages = 1 + below(r, 60);
		char *p = calloc(pages, PAGE);
		struct area *a = area_new(p, pages, RW, IS_HEAP | FIXED_SIZE);

		if (a)
			write_some(r, a);
	}
}

static void breaks(struct random *r)
{
	const unsigned pages = 1 + below(r, 40);
	char *p = sbrk((intptr_t)(pages * PAGE));
	unsigned wrong = 0;

	if (p == (char *)-1) {
		say(" %s", name_of(-1));
		return;
	}
	for (unsigned i = 0; i < pages * PAGE; i++)
		wrong += p[i] != 0;
	memset(p, 7, pages * PAGE);
	if (sbrk(0) == p + pages * PAGE) {
		sbrk(-(intptr_t)(pages * PAGE));
		p = sbrk((intptr_t)(pages * PAGE));
		for (unsigned i = 0; p != (char *)-1 && i < pages * PAGE; i++)
			wrong += p[i] != 0 && i % PAGE == 0 && i;
	}
	say(" %u pages, %u wrong", pages, wrong);
}

/* ---- the kernel reads and writes */

static void io(struct random *r)
{
	struct area *a = area_private(r, 12), *b = area_private(r, 12);
	const unsigned how = below(r, 6), i = below(r, a->pages), k = below(r, b->pages);
	char *from = a->at + i * PAGE, *to = b->at + k * PAGE;
	struct iovec x = { from, PAGE }, y = { to, PAGE };
	int fd, pipes[2];
	ssize_t n = -1;

	if (how < 3 && pipe2(pipes, O_CLOEXEC))
		return;
	switch (how) {
	case 0:
		n = write(pipes[1], from, PAGE);
		n = read(pipes[0], to, PAGE);
		break;
	case 1:
		n = vmsplice(pipes[1], &x, 1, 0);
		n = read(pipes[0], to, PAGE);
		break;
	case 2:
		n = writev(pipes[1], &x, 1);
		n = readv(pipes[0], &y, 1);
		break;
	case 3:
		n = process_vm_readv(getpid(), &y, 1, &x, 1, 0);
		break;
	case 4:
		n = process_vm_writev(getpid(), &x, 1, &y, 1, 0);
		break;
	default:	/* not into what may not be written: shared memory refuses that (docs/how/collector-user.md) */
		fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
		n = pread(fd, to, PAGE, (off_t)from);
		n = pwrite(fd, to, PAGE, (off_t)to);
		close(fd);
		break;
	}
	say(" way %u: %ld %s", how, (long)n, n < 0 ? name_of(-1) : "");
	if (how < 3) {
		close(pipes[0]);
		close(pipes[1]);
	}
	if (n == PAGE)
		b->page[k].stamp = a->page[i].stamp;
}

/* A ring whose buffers are pinned, if the kernel lets us have one. */
int kernel_has_threads;

static int ring_setup(struct io_uring_params *p, char **sq, char **sqes)
{
	int fd = (int)syscall(SYS_io_uring_setup, 4, p);
	size_t n;

	if (fd < 0)
		return -1;
	kernel_has_threads = 1;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	n = p->sq_off.array + p->sq_entries * sizeof(unsigned);
	if (n < p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe))
		n = p->cq_off.cqes + p->cq_entries * sizeof(struct io_uring_cqe);
	*sq = mmap(NULL, n, RW, MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQ_RING);
	*sqes = mmap(NULL, p->sq_entries * sizeof(struct io_uring_sqe), RW, MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQES);
	return fd;
}

static int ring_read(int ring, const struct io_uring_params *p, char *sq, char *sqes, int fd, char *to, int pinned)
{
	struct io_uring_sqe *e = (struct io_uring_sqe *)(void *)sqes;
	unsigned *tail = (unsigned *)(void *)(sq + p->sq_off.tail), mask = *(unsigned *)(void *)(sq + p->sq_off.ring_mask);
	unsigned *head = (unsigned *)(void *)(sq + p->cq_off.head);
	struct io_uring_cqe *c;
	const unsigned at = *tail & mask;

	memset(&e[at], 0, sizeof(*e));
	e[at].opcode = pinned ? IORING_OP_READ_FIXED : IORING_OP_READ;
	e[at].fd = fd;
	e[at].addr = (uint64_t)to;
	e[at].len = PAGE;
	((unsigned *)(void *)(sq + p->sq_off.array))[at] = at;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	while (__atomic_load_n((unsigned *)(void *)(sq + p->cq_off.tail), __ATOMIC_ACQUIRE) == *head)
		syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	c = (struct io_uring_cqe *)(void *)(sq + p->cq_off.cqes) + (*head & *(unsigned *)(void *)(sq + p->cq_off.ring_mask));
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return c->res;
}

static void pinned(struct random *r)
{
	struct io_uring_params p = { 0 };
	char *sq, *sqes;
	const uint32_t stamp = (uint32_t)next(r) | 1;
	struct area *a = area_private(r, 16);
	int ring = ring_setup(&p, &sq, &sqes), fd = own_file(r, 1, stamp), fixed;
	const unsigned i = below(r, a->pages);
	struct iovec v = { a->at, a->pages * PAGE };
	long ret;

	if (ring < 0) {
		say(" %s", name_of(-1));
		close(fd);
		return;
	}
	ret = syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, &v, 1);
	fixed = !ret;
	say(" buffers %s", name_of(ret));
	if (chance(r, 60)) {	/* and a process meanwhile */
		pid_t pid = (pid_t)(chance(r, 50) ? fork() : syscall(SYS_clone, SIGCHLD | (chance(r, 50) ? CLONE_FILES : 0), 0, 0, 0, 0));

		if (!pid)
			_exit(is_filled(a->at, a->page[0].stamp));
		if (pid > 0)
			tell_status("child", pid);
	}
	lseek(fd, 0, SEEK_SET);
	ret = ring_read(ring, &p, sq, sqes, fd, a->at + i * PAGE, fixed);
	say(", read %ld", ret);
	if (ret == PAGE)
		a->page[i].stamp = stamp;
	munmap(sq, PAGE);
	munmap(sqes, p.sq_entries * sizeof(struct io_uring_sqe));
	close(ring);
	close(fd);
}

static int uffd;

static void *serve(void *arg)
{
	struct uffd_msg m;
	char page[PAGE];
	int n = *(int *)arg;

	for (; n > 0; n--) {
		struct uffdio_copy c = { 0 };

		while (read(uffd, &m, sizeof(m)) != sizeof(m))
			if (errno != EINTR && errno != EAGAIN)
				return NULL;
		fill(page, 77);
		c.dst = m.arg.pagefault.address & ~(PAGE - 1);
		c.src = (uint64_t)page;
		c.len = PAGE;
		ioctl(uffd, UFFDIO_COPY, &c);
	}
	return NULL;
}

/* The program's own userfaultfd: missing pages come from a thread. */
static void own_faults(struct random *r)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct area *a;
	int n = 0;
	pthread_t t;
	char *p;

	uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (uffd < 0 || ioctl(uffd, UFFDIO_API, &api)) {
		say(" %s", name_of(-1));
		return;
	}
	p = mmap(NULL, 8 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	a = area_new(p, 8, RW, FIXED_SIZE);
	for (int i = 0; i < 8; i++)
		if (chance(r, 50))
			fill(p + i * (long)PAGE, a->page[i].stamp = 55);
	reg.range.start = (uint64_t)p;
	reg.range.len = 8 * PAGE;
	if (ioctl(uffd, UFFDIO_REGISTER, &reg)) {
		say(" register %s", name_of(-1));
		close(uffd);
		return;
	}
	for (int i = 0; i < 8; i++)
		n += !a->page[i].stamp;
	pthread_create(&t, NULL, serve, &n);
	for (int i = 0; i < 8; i++) {
		if (!a->page[i].stamp)
			a->page[i].stamp = 77;
		if (!is_filled(p + i * (long)PAGE, a->page[i].stamp))
			say(" WRONG %d", i);
	}
	pthread_join(t, NULL);
	close(uffd);
	say(" %d pages served", n);
}

/* ---- code */

static void code(struct random *r)
{
#ifdef __x86_64__
	static const uint8_t model[] = { 0xb8, 0, 0, 0, 0, 0xc3 };	/* mov $n, %eax; ret */
	const unsigned separate = chance(r, 50);
	char *p = mmap(NULL, 3 * PAGE, separate ? RW : RW | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t sum = 0;

	for (unsigned k = 0; k < 4; k++) {
		const uint32_t n = (uint32_t)next(r);
		char *at = p + (k % 3) * PAGE + below(r, 4000);

		if (separate)
			mprotect(p, 3 * PAGE, RW);
		memcpy(at, model, sizeof(model));
		memcpy(at + 1, &n, 4);
		if (separate)
			mprotect(p, 3 * PAGE, PROT_READ | PROT_EXEC);
		sum += ((uint32_t (*)(void))(uintptr_t)at)() ^ n;
	}
	say(" %u wrong", sum);
	munmap(p, 3 * PAGE);
#else
	(void)r;
#endif
}

/* ---- more kinds of memory */

static void segment(struct random *r)
{
	const unsigned pages = 1 + below(r, 16);
	int id = shmget(IPC_PRIVATE, pages * PAGE, IPC_CREAT | 0600);
	char *p = shmat(id, NULL, 0), *q;
	struct area *a = p == (char *)-1 ? NULL : area_new(p, pages, RW, IS_SHARED | FIXED_SIZE);

	say(" %s", name_of((long)p));
	if (!a)
		return;
	q = shmat(id, NULL, SHM_RDONLY);
	write_some(r, a);
	for (unsigned i = 0; i < pages; i++)
		if (!is_filled(q + i * PAGE, a->page[i].stamp))
			say(" WRONG %u", i);
	say(", detach %s %s", name_of(shmdt(q)), name_of(shmctl(id, IPC_RMID, NULL)));
}

static void aliases(struct random *r)
{
	const unsigned pages = 2 + below(r, 12);
	const uint32_t stamp = (uint32_t)next(r) | 1;
	int fd = own_file(r, pages, stamp);
	char *p = mmap(NULL, pages * PAGE, RW, MAP_SHARED, fd, 0), *q = mmap(NULL, pages * PAGE, PROT_READ, MAP_SHARED, fd, 0);
	char *c = mmap(NULL, pages * PAGE, RW, MAP_PRIVATE, fd, 0);
	unsigned wrong = 0, k = below(r, pages);

	fill(c + k * PAGE, 3);
	for (unsigned i = 0; i < pages; i++) {
		fill(p + i * PAGE, stamp + 100 + i);
		wrong += (unsigned)!is_filled(q + i * PAGE, stamp + 100 + i) + (unsigned)!is_filled(c + i * PAGE, i == k ? 3 : stamp + 100 + i);
	}
	if (remap_file_pages(p, PAGE, 0, 1, 0) == 0)
		wrong += (unsigned)!is_filled(p, stamp + 101);
	say(" %u pages, %u wrong, ", pages, wrong);
	if (ftruncate(fd, PAGE))
		say("?");
	say("fd %s", name_of(madvise(c, pages * PAGE, MADV_DONTNEED)));
	say(", first %d", is_filled(c, stamp + 100));
	munmap(p, pages * PAGE);
	munmap(q, pages * PAGE);
	munmap(c, pages * PAGE);
	close(fd);
}

static void reserve(struct random *r)
{
	const size_t bytes = 1ul << (24 + below(r, 14));
	char *p = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	unsigned wrong = 0, at[6];

	if (p == MAP_FAILED) {
		say(" %s", name_of(-1));
		return;
	}
	for (unsigned i = 0; i < 6; i++) {
		at[i] = i * 4 + below(r, 4);
		mprotect(p + bytes / 32 * at[i], 2 * PAGE, RW);
		fill(p + bytes / 32 * at[i] + PAGE, i + 1);
	}
	for (unsigned i = 0; i < 6; i++) {
		wrong += (unsigned)!is_filled(p + bytes / 32 * at[i], 0) + (unsigned)!is_filled(p + bytes / 32 * at[i] + PAGE, i + 1);
		madvise(p + bytes / 32 * at[i], 2 * PAGE, MADV_DONTNEED);
		wrong += (unsigned)!is_filled(p + bytes / 32 * at[i] + PAGE, 0);
	}
	say(" %u wrong, %s", wrong, name_of(munmap(p, bytes)));
}

static void grows_down(struct random *r)
{
	char *top = fixed_place(r) + (1ul << 28);
	char *p = mmap(top, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED, -1, 0);
	unsigned n = 1 + below(r, 12), wrong = 0;

	say(" %s", name_of((long)p));
	if (p == MAP_FAILED)
		return;
	for (unsigned i = 0; i < n; i++)
		fill(p - i * PAGE, i + 1);
	for (unsigned i = 0; i < n; i++)
		wrong += (unsigned)!is_filled(p - i * PAGE, i + 1);
	say(" %u wrong", wrong);
	munmap(p - (n - 1) * PAGE, n * PAGE);
}

static void huge(struct random *r)
{
	char *p = mmap(NULL, 2ul << 20, RW, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE * chance(r, 0), -1, 0);

	say(" hugetlb %s", name_of((long)p));
	if (p != MAP_FAILED) {
		fill(p + PAGE, 5);
		say(" %d", is_filled(p + PAGE, 5));
		munmap(p, 2ul << 20);
	}
	p = mmap(NULL, 6ul << 20, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	say(", advised %s", name_of(madvise(p, 6ul << 20, MADV_HUGEPAGE)));
	for (unsigned i = 0; i < 6; i++)
		fill(p + i * (1ul << 20) + below(r, 250) * PAGE, i + 1);
	say(", %s", name_of(munmap(p, 6ul << 20)));
}

static void keys(struct random *r)
{
	struct area *a = area_private(r, 4);
	int key = pkey_alloc(0, 0);
	struct sigaction sa = { .sa_sigaction = on_segv, .sa_flags = SA_SIGINFO | SA_NODEFER }, old;
	int code;

	if (key < 0) {
		say(" %s", name_of(-1));
		return;
	}
	say(" %s", name_of(pkey_mprotect(a->at, PAGE, RW, key)));
	pkey_set(key, PKEY_DISABLE_ACCESS);
	sigaction(SIGSEGV, &sa, &old);
	code = sigsetjmp(way_out, 1);
	if (!code)
		*(volatile char *)a->at;
	sigaction(SIGSEGV, &old, NULL);
	pkey_set(key, 0);
	say(", code %d", code);
	pkey_mprotect(a->at, PAGE, RW, 0);
	pkey_free(key);
}

static uint64_t __attribute__((noinline)) deep(unsigned n, uint64_t seed)
{
	volatile uint64_t frame[100];
	uint64_t sum = 0;

	for (int i = 0; i < 100; i++)
		frame[i] = seed + (unsigned)i;
	if (n)
		sum = deep(n - 1, seed * 31);
	for (int i = 0; i < 100; i++)
		sum += frame[i] ^ (seed + (unsigned)i);
	return sum;
}

static void stack(struct random *r)
{
	say(" %lu wrong", (unsigned long)deep(below(r, deepest), next(r)));
}

static ucontext_t contexts[3];
static unsigned turns;

static void coroutine(int k)
{
	volatile uint64_t own[64];

	for (int i = 0; i < 64; i++)
		own[i] = (uint64_t)(k * 1000 + i);
	for (int round = 0; round < 5; round++) {
		char *p = mmap(NULL, PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		*p = 1;
		swapcontext(&contexts[k], &contexts[0]);
		munmap(p, PAGE);
		for (int i = 0; i < 64; i++)
			turns += own[i] != (uint64_t)(k * 1000 + i);
	}
}

static void coroutines(struct random *r)
{
	char *stacks[3];

	turns = 0;
	for (int k = 1; k < 3; k++) {
		stacks[k] = mmap(NULL, 16 * PAGE, RW, MAP_PRIVATE | MAP_ANONYMOUS | (chance(r, 50) ? MAP_STACK : 0), -1, 0);
		getcontext(&contexts[k]);
		contexts[k].uc_stack = (stack_t){ .ss_sp = stacks[k], .ss_size = 16 * PAGE };
		contexts[k].uc_link = &contexts[0];
		makecontext(&contexts[k], (void (*)(void))coroutine, 1, k);
	}
	for (int i = 0; i < 12; i++)
		swapcontext(&contexts[0], &contexts[1 + i % 2]);
	munmap(stacks[1], 16 * PAGE);
	munmap(stacks[2], 16 * PAGE);
	say(" %u wrong", turns);
}

static void libraries(struct random *r)
{
	static const char *const names[] = { "libresolv.so.2", "libm.so.6", "libutil.so.1", "libanl.so.1", "libBrokenLocale.so.1", "libgcc_s.so.1",
					     "libnss_compat.so.2", "no-such-library.so", "libstdc++.so.6" };
	const unsigned n = 1 + below(r, 4);
	const unsigned elsewhere = chance(r, 15);

	for (unsigned i = 0; i < n; i++) {
		void *h = elsewhere ? dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW) : dlopen(names[below(r, 9)], chance(r, 50) ? RTLD_NOW : RTLD_LAZY);

		say(" %s", h ? "opened" : "not there");
		if (h && elsewhere) {
			double (*f)(double) = (double (*)(double))dlsym(h, "floor");

			say(" %d", f ? (int)f(2.5) : -1);
		}
		if (h && chance(r, 80))
			say(" %d", dlclose(h));
	}
}

const struct step memory_steps[] = {
	{ "map", map, 8, 9 }, { "map file", map_file, 5, 9 }, { "map over", map_over, 5, 9 }, { "unmap", unmap, 6, 9 },
	{ "protect", protect, 6, 9 }, { "refused", refused, 4, 9 }, { "remap", remap, 9, 9 }, { "odd", odd, 3, 9 }, { "advise", advise, 14, 9 },
	{ "guard", guard, 2, 9 }, { "seal", seal, 2, 9 }, { "lock", lock, 4, 9 }, { "heap", heap, 4, 9 }, { "break", breaks, 3, 9 },
	{ "io", io, 6, 9 }, { "pinned", pinned, 3, 9 }, { "own faults", own_faults, 2, 0 }, { "code", code, 3, 9 },
	{ "segment", segment, 3, 9 }, { "aliases", aliases, 3, 9 }, { "reserve", reserve, 3, 9 }, { "grows down", grows_down, 2, 9 },
	{ "huge", huge, 2, 9 }, { "keys", keys, 2, 9 }, { "stack", stack, 3, 9 }, { "coroutines", coroutines, 2, 9 },
	{ "libraries", libraries, 3, 9 }, { NULL, NULL, 0, 0 },
};
