// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: common/maps.c common/rawmem.c common/out.c preload/memory/ranges.c preload/ground/symbol.c
// includes: preload/process/stacks.c
// libs: -lpthread -ldl
/* What libc's lists are made of, taken over from another memory file while a thread changes it. */
#include "harness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/memory/space.h"

struct zap_space zap_space;

#include "preload/process/stacks.c"

int zap_is_mapping(const struct mt_map *m, uint64_t dev, uint64_t ino)
{
	(void)dev;
	return m->shared && m->ino == ino && m->offset == m->start;
}

/* The child's memory at its address, and the parent's file as the writer sees it. */
enum { HEAD = 1, GUARD = 4, STACK = 5, LIVE = 9, PAGES = 12 };

static int theirs, mine;
static char *base, *parent;
static atomic_int stop;

static uint64_t *word(char *memory, int page, size_t at)
{
	return (uint64_t *)(memory + (size_t)page * MT_PAGE + at);
}

/* In a stack with a guard the descriptor is at the end; in another one the robust list says where. */
#define IN_STACK (2 * MT_PAGE - MT_DESCRIPTOR_BYTES + 0x2c0)
#define IN_LIVE (MT_PAGE - LINK_BEFORE + 16)	/* over the border of a page */

static void nap_ns(long ns)
{
	const struct timespec ts = { 0, ns };

	nanosleep(&ts, NULL);
}

static void *writer(void *arg)
{
	for (uint64_t v = 1; !stop; v++) {
		__atomic_store_n(word(parent, HEAD, 64), v, __ATOMIC_SEQ_CST);
		__atomic_store_n(word(parent, STACK, IN_STACK), v, __ATOMIC_SEQ_CST);
		__atomic_store_n(word(parent, LIVE, IN_LIVE), v, __ATOMIC_SEQ_CST);
		__atomic_store_n(word(parent, HEAD, 72), v, __ATOMIC_SEQ_CST);
		if (v % 7 == 0)
			nap_ns(20000);
	}
	return arg;
}

static uint64_t inode(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

static void make(void)
{
	const size_t bytes = PAGES * MT_PAGE;

	theirs = memfd_create("theirs", MFD_CLOEXEC);
	mine = memfd_create("mine", MFD_CLOEXEC);
	base = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(!ftruncate(theirs, (off_t)((uintptr_t)base + bytes)) && !ftruncate(mine, (off_t)((uintptr_t)base + bytes)));
	parent = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, theirs, (off_t)(uintptr_t)base);
	CHECK(parent != MAP_FAILED);
}

/* Maps @fd where the program has its memory: heads, a guard, a stack of two pages, a gap, memory of its own. */
static void show(int fd)
{
	static const struct { int from, to, prot; } part[] = {
		{ HEAD, HEAD + 1, PROT_READ | PROT_WRITE }, { GUARD, GUARD + 1, PROT_NONE },
		{ STACK, STACK + 2, PROT_READ | PROT_WRITE }, { LIVE, LIVE + 2, PROT_READ | PROT_WRITE },
	};

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		char *at = base + (size_t)part[i].from * MT_PAGE;

		CHECK(mmap(at, (size_t)(part[i].to - part[i].from) * MT_PAGE, part[i].prot, MAP_SHARED | MAP_FIXED, fd,
			   (off_t)(uintptr_t)at) == at);
	}
}

static void consistent(void)
{
	uint64_t heads[1] = { (uint64_t)word(base, LIVE, IN_LIVE) + LINK_BEFORE };
	struct mt_stacks s = { heads, 1, 0 };
	struct mt_maps maps = { 0 };
	pthread_t t;
	int torn = 0, settled = 0, copies, passes;

	show(theirs);
	CHECK(!mt_maps_read_self(&maps));
	show(mine);
	CHECK(!pthread_create(&t, NULL, writer, NULL));
	/* on a busy machine the writer may not run for a while: go on until it has written between two pages */
	for (copies = 0; copies < 400 || (!torn && copies < 200000); copies++) {
		uint64_t first, stack, live, last;

		/* the copy of a fork: page after page, with time between them */
		memcpy(word(base, LIVE, 0), word(parent, LIVE, 0), 2 * MT_PAGE);
		memcpy(word(base, STACK, 0), word(parent, STACK, 0), 2 * MT_PAGE);
		nap_ns(30000);
		memcpy(word(base, HEAD, 0), word(parent, HEAD, 0), MT_PAGE);
		torn += *word(base, HEAD, 72) != *word(base, LIVE, IN_LIVE);
		passes = mt_stacks_settle(&s, &maps, 0, inode(theirs), theirs);
		first = *word(base, HEAD, 64);
		stack = *word(base, STACK, IN_STACK);
		live = *word(base, LIVE, IN_LIVE);
		last = *word(base, HEAD, 72);
		/* at one instant each is as new as the next one, or one step ahead */
		settled += passes > 0 && passes < MAX_PASSES && first >= stack && stack >= live && live >= last && first <= last + 1;
	}
	stop = 1;
	pthread_join(t, NULL);
	CHECK(torn > 0);
	CHECK_EQ(settled, copies);
	mt_maps_free(&maps);
}

/* How much address space the mappings of the file of the parent take. */
static uint64_t bytes_of(struct mt_maps *maps)
{
	struct mt_map m;
	uint64_t bytes = 0;

	mt_maps_rewind(maps);
	while (mt_maps_next(maps, &m))
		if (m.ino == inode(theirs))
			bytes += m.end - m.start;
	return bytes;
}

/* Nothing outside of the lists is touched, and nothing at all without other threads. */
static void nothing_else(void)
{
	uint64_t heads[1] = { (uint64_t)word(base, LIVE, IN_LIVE) + LINK_BEFORE };
	struct mt_stacks s = { heads, 0, 0 };
	struct mt_maps maps = { 0 };

	show(theirs);
	CHECK(!mt_maps_read_self(&maps));
	show(mine);
	memset(parent + HEAD * MT_PAGE, 1, MT_PAGE);
	memset(parent + STACK * MT_PAGE, 1, 2 * MT_PAGE);
	memset(parent + LIVE * MT_PAGE, 1, 2 * MT_PAGE);
	memset(word(base, HEAD, 0), 2, MT_PAGE);
	memset(word(base, STACK, 0), 2, 2 * MT_PAGE);
	memset(word(base, LIVE, 0), 2, 2 * MT_PAGE);
	CHECK_EQ(mt_stacks_settle(&s, &maps, 0, inode(theirs), theirs), 0);
	CHECK_EQ(*word(base, HEAD, 0), 0x0202020202020202ull);
	s.n = 1;
	CHECK_EQ(mt_stacks_settle(&s, &maps, 0, inode(theirs), theirs), 2);
	CHECK_EQ(*word(base, HEAD, 0), 0x0101010101010101ull);
	CHECK_EQ(*word(base, HEAD, 120), 0x0101010101010101ull);
	CHECK_EQ(*word(base, HEAD, 128), 0x0202020202020202ull);
	CHECK_EQ(*word(base, STACK, 2 * MT_PAGE - MT_DESCRIPTOR_BYTES - 8), 0x0202020202020202ull);
	CHECK_EQ(*word(base, STACK, 2 * MT_PAGE - MT_DESCRIPTOR_BYTES), 0x0101010101010101ull);
	CHECK_EQ(*word(base, STACK, 2 * MT_PAGE - 8), 0x0101010101010101ull);
	CHECK_EQ(*word(base, LIVE, IN_LIVE - 8), 0x0202020202020202ull);
	CHECK_EQ(*word(base, LIVE, IN_LIVE), 0x0101010101010101ull);
	CHECK_EQ(*word(base, LIVE, IN_LIVE + LINK_BYTES), 0x0202020202020202ull);
	/* a thread whose list is nowhere here, before one that is */
	{
		uint64_t two[2] = { 4096, heads[0] };
		struct mt_stacks both = { two, 2, 0 };
		struct mt_maps then = { 0 }, now = { 0 };

		memset(word(base, LIVE, 0), 2, 2 * MT_PAGE);
		CHECK(!mt_maps_read_self(&then));
		CHECK_EQ(mt_stacks_settle(&both, &maps, 0, inode(theirs), theirs), 2);
		CHECK_EQ(*word(base, LIVE, IN_LIVE), 0x0101010101010101ull);
		CHECK_EQ(*word(base, LIVE, IN_LIVE - 8), 0x0202020202020202ull);
		/* of what it looked at in the other file, nothing stays mapped */
		CHECK(!mt_maps_read_self(&now));
		CHECK_EQ(bytes_of(&now), bytes_of(&then));
		mt_maps_free(&then);
		mt_maps_free(&now);
	}
	mt_maps_free(&maps);
}

static pthread_barrier_t met;

/* A thread tells the kernel its robust list when it begins. */
static void *waits(void *arg)
{
	pthread_barrier_wait(&met);
	pthread_barrier_wait(&met);
	return arg;
}

/* A link points to another thread's or to a head. */
static int is_link(const struct mt_stacks *s, uint64_t to)
{
	for (size_t k = 0; k < s->n; k++)
		if (to == s->robust[k] - LINK_BEFORE)
			return 1;
	return to >= lists.start && to < lists.end;
}

/* The end of a stack that libc has made holds its descriptor, the link in it included. */
static void at_the_end(pthread_t t)
{
	pthread_attr_t a;
	void *stack = NULL;
	size_t bytes = 0;

	CHECK(!pthread_getattr_np(t, &a) && !pthread_attr_getstack(&a, &stack, &bytes));
	pthread_attr_destroy(&a);
	CHECK((uint64_t)stack + bytes - MT_DESCRIPTOR_BYTES <= (uint64_t)t + 0x2c0 && (uint64_t)t < (uint64_t)stack + bytes);
}

/* The lists of a real process, the loader's or those of libpthread, and its threads. */
static void of_this_process(void)
{
	struct mt_stacks s;
	pthread_t t[3];

	mt_stacks_init();
	CHECK(lists.end - lists.start > 1000);
	mt_stacks_read(&s);
	CHECK_EQ(s.n, 0);
	mt_stacks_free(&s);
	pthread_barrier_init(&met, NULL, 4);
	for (int i = 0; i < 3; i++)
		CHECK(!pthread_create(&t[i], NULL, waits, NULL));
	pthread_barrier_wait(&met);
	mt_stacks_read(&s);
	CHECK_EQ(s.n, 4);
	for (int i = 0; i < 3; i++) {
		int found = 0;

		/* pthread_t is the address of the descriptor */
		for (size_t k = 0; k < s.n; k++)
			found += s.robust[k] > (uint64_t)t[i] && s.robust[k] - (uint64_t)t[i] < MT_DESCRIPTOR_BYTES;
		CHECK_EQ(found, 1);
		at_the_end(t[i]);
	}
	for (size_t k = 0; k < s.n; k++)
		CHECK(is_link(&s, *(uint64_t *)(s.robust[k] - LINK_BEFORE)));
	mt_stacks_free(&s);
	pthread_barrier_wait(&met);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

static void *nothing(void *arg)
{
	return arg;
}

static atomic_int go, made;

static void *maker(void *arg)
{
	pthread_t t;

	while (!go)
		nap_ns(100000);
	CHECK_EQ(pthread_create(&t, NULL, nothing, NULL), 0);
	made = 1;
	pthread_join(t, NULL);
	return arg;
}

/* Lists are those of this libc only if all of them are lists, nothing is on its way, and the lock is free and inside of the object. */
static void recognised(void)
{
	struct stack_lists *l;
	struct list_head *head[3], torn = { NULL, NULL }, *next;
	const uint64_t end = lists.end;

	if (!list_lock)
		return;
	l = (struct stack_lists *)((char *)list_lock - offsetof(struct stack_lists, lock));
	head[0] = &l->used;
	head[1] = &l->user;
	head[2] = &l->cache;
#define FOUND() (list_lock = NULL, find_lock(), list_lock == &l->lock)
	CHECK(FOUND());
	lists.end = (uint64_t)&l->lock + 3;
	CHECK(!FOUND());
	lists.end = (uint64_t)&l->lock + 4;
	CHECK(FOUND());
	lists.end = end;
	for (int i = 0; i < 3; i++) {
		next = head[i]->next;
		head[i]->next = &torn;
		CHECK(!FOUND());
		head[i]->next = next;
	}
	l->in_flight = 8;
	CHECK(!FOUND());
	l->in_flight = 0;
	l->lock = 1;
	CHECK(!FOUND());
	CHECK_EQ(mt_stacks_lock(), 0);	/* no list, no lock */
	l->lock = 0;
	CHECK(FOUND());
#undef FOUND
}

static atomic_int holds;

static void *holder(void *arg)
{
	CHECK_EQ(mt_stacks_lock(), 1);
	holds = 1;
	nap_ns(20000000);
	mt_stacks_unlock(1);
	return arg;
}

/* Who waits for the lock has it when it is given back. */
static void handed_over(void)
{
	pthread_t t;
	int got = 0;

	CHECK_EQ(pthread_create(&t, NULL, holder, NULL), 0);
	while (!holds)
		nap_ns(100000);
	/* on a busy machine the other thread may keep it longer than anybody waits */
	for (int i = 0; i < 200 && !got; i++)
		got = mt_stacks_lock();
	CHECK_EQ(got, 1);
	mt_stacks_unlock(got);
	CHECK_EQ(*list_lock, 0);
	pthread_join(t, NULL);
}

/* While we hold libc's lock no thread comes into its lists; who holds it for long does not stop a fork. */
static void held(void)
{
	struct stack_lists *l;
	struct list_head used;
	pthread_t t;

	mt_stacks_init();
	if (!dlsym(RTLD_DEFAULT, "_Fork"))
		return;
	CHECK(list_lock != NULL);
	if (!list_lock)
		return;
	recognised();
	handed_over();
	l = (struct stack_lists *)((char *)list_lock - offsetof(struct stack_lists, lock));
	CHECK_EQ(pthread_create(&t, NULL, maker, NULL), 0);
	CHECK_EQ(mt_stacks_lock(), 1);
	CHECK_EQ(mt_stacks_lock(), 0);	/* it is ours, and nobody waits for it */
	used = l->used;
	CHECK(used.next != &l->used);
	go = 1;
	CHECK_EQ(mt_stacks_lock(), 0);
	CHECK_EQ(made, 0);
	CHECK(!memcmp(&used, &l->used, sizeof(used)));
	mt_stacks_unlock(0);
	CHECK_EQ(made, 0);
	mt_stacks_unlock(1);
	pthread_join(t, NULL);
	CHECK_EQ(made, 1);
	CHECK_EQ(mt_stacks_lock(), 1);
	mt_stacks_fork_child(1);
	CHECK_EQ(*list_lock, 0);
}

int main(void)
{
	held();
	make();
	of_this_process();
	lists.start = (uint64_t)word(base, HEAD, 0);
	lists.end = lists.start + 128;
	nothing_else();
	consistent();
	return mt_test_done();
}
