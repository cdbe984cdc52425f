// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * check TRACE TRUTH: is every true access in the trace, in its interval and
 * process? Prints one line of "name value" pairs; exit status 1 when a page is
 * missing. Percentages are of distinct (page, interval[, thread]).
 */
#include "kt.h"

struct entry {
	u64 page;
	u32 interval, pid, tid;		/* tid 0: any */
	u32 flags;
	u32 first, t_first;		/* the first thread with a fault, and in truth; for tid 0 */
	u64 start, closed;		/* of the interval, for this process */
};

enum { USED = 1, FAULT = 2, INFERRED = 4, WRITTEN = 8, T_SEEN = 16, T_WRITTEN = 32, T_DONE = 64, SHARED = 128, T_SHARED = 256 };

static struct entry *table;
static const size_t cap = 1 << 22;
static size_t used;

static struct entry *find(u64 page, u32 interval, u32 pid, u32 tid, int add)
{
	u64 h = (page * 0x9e3779b97f4a7c15ull) ^ (interval * 0xc2b2ae3d27d4eb4full) ^ (tid * 0x165667b19e3779f9ull) ^
		pid * 0x27d4eb2f165667c5ull;
	size_t i;

	h ^= h >> 29;
	for (i = h & (cap - 1); table[i].flags; i = (i + 1) & (cap - 1))
		if (table[i].page == page && table[i].interval == interval && table[i].pid == pid && table[i].tid == tid)
			return &table[i];
	if (!add)
		return NULL;
	if (++used > cap / 4 * 3)
		DIE("table full");
	table[i] = (struct entry){ .page = page, .interval = interval, .pid = pid, .tid = tid, .flags = USED };
	return &table[i];
}

/* Was an access at that time in the bounds of the record? Clocks of user space and kernel differ by less than 20 us. */
static int timely(const struct entry *e, const struct truth *t)
{
	return e && e->start < t->until + 20000 && t->from < e->closed + 20000;
}

static char *load(const char *name, size_t *n)
{
	int fd = open(name, O_RDONLY);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	char *p;

	if (size < 0)
		DIE("%s", name);
	*n = (size_t)size;
	p = mmap(NULL, *n ? *n : 1, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		DIE("mmap of %s", name);
	return p;
}

static double percent(u64 a, u64 b)
{
	return b ? 100.0 * (double)a / (double)b : 100;
}

int main(int argc, char **argv)
{
	u64 records = 0, inferred = 0, noframe = 0, bad = 0, last_end = 0, gaps = 0;
	u64 inside = 0, found = 0, byfault = 0, border = 0, border_found = 0, missing = 0;
	u64 untimely = 0;
	u64 threads = 0, threads_found = 0, shared = 0, shared_found = 0, writes = 0, writes_found = 0, noip = 0;
	u32 last_interval = ~0u;
	size_t n, m;
	char *trace;
	struct truth *t;

	if (argc != 3)
		return 2;
	trace = load(argv[1], &n);
	t = (struct truth *)load(argv[2], &m);
	m /= sizeof(*t);
	table = calloc(cap, sizeof(*table));
	for (size_t p = 0; p < n;) {
		struct memtrace_block *b = (struct memtrace_block *)(trace + p);

		if (b->head.bytes < sizeof(b->head) || p + b->head.bytes > n) {
			printf("bad message at %zu\n", p);
			return 2;
		}
		p += b->head.bytes;
		if (b->head.kind == MEMTRACE_INTERVAL) {
			struct memtrace_interval *iv = (struct memtrace_interval *)b;

			/* consecutive, without a gap in time */
			if (last_interval != ~0u && (iv->interval != last_interval + 1 || iv->start_ns != last_end))
				gaps++;
			last_interval = (u32)iv->interval;
			last_end = iv->end_ns;
		}
		if (b->head.kind != MEMTRACE_BLOCK)
			continue;
		if (!b->records || b->start_ns >= b->end_ns || b->head.pad || b->pad || b->closed_ns < b->end_ns)
			bad++;
		for (u32 i = 0; i < b->records; i++) {
			struct memtrace_record *r = &b->record[i];
			struct entry *e = find(r->virt / PAGE, (u32)b->interval, (u32)b->pid, 0, 1);
			int inf = r->flags & MEMTRACE_RECORD_INFERRED;

			records++;
			if (r->chain || !(r->reads + r->writes) || !!inf != (b->tid == -1))
				bad++;
			if (!r->phys)
				noframe++;
			if (inf) {
				inferred++;
			} else {
				/* one record per page, thread, interval */
				struct entry *x = find(r->virt / PAGE, (u32)b->interval, (u32)b->pid, (u32)b->tid, 1);

				if (x->flags & FAULT)
					bad++;
				x->flags |= FAULT;
				if (e->first && e->first != (u32)b->tid)
					e->flags |= SHARED;
				e->first = (u32)b->tid;
				if (!r->ip)
					noip++;
			}
			e->flags |= inf ? INFERRED : FAULT;
			if (r->writes)
				e->flags |= WRITTEN;
			e->start = b->start_ns;
			if (e->closed < b->closed_ns)
				e->closed = b->closed_ns;
		}
	}
	for (size_t i = 0; i < m; i++) {
		const u64 page = t[i].virt / PAGE;
		const u32 iv = t[i].before / 2;
		struct entry *e;
		int in_time = 0;

		if (t[i].before != t[i].after || (t[i].before & 1)) {
			int ok = 0;

			border++;
			for (u32 k = t[i].before / 2; k <= (t[i].after + 1) / 2 && !ok; k++)
				ok = find(page, k, t[i].pid, 0, 0) != NULL;
			border_found += (u64)ok;
			for (u32 k = t[i].before / 2; k <= (t[i].after + 1) / 2 && !in_time; k++)
				in_time = timely(find(page, k, t[i].pid, 0, 0), &t[i]);
			untimely += (u64)(ok && !in_time);
			continue;
		}
		e = find(page, iv, t[i].pid, 0, 0);
		if (!e) {
			inside++;
			if (missing++ < 5)
				printf("missing: page %llx interval %u pid %u tid %u write %u\n",
				       (unsigned long long)t[i].virt, iv, t[i].pid, t[i].tid, t[i].write);
			continue;
		}
		untimely += !timely(e, &t[i]);
		if (!(e->flags & T_SEEN)) {
			inside++;
			found++;
			byfault += !!(e->flags & FAULT);
			e->flags |= T_SEEN;
		}
		if (t[i].write && !(e->flags & T_WRITTEN)) {
			writes++;
			writes_found += !!(e->flags & WRITTEN);
			e->flags |= T_WRITTEN;
		}
		if (e->t_first && e->t_first != t[i].tid && !(e->flags & T_SHARED)) {
			e->flags |= T_SHARED;
			shared++;
			shared_found += !!(e->flags & SHARED);
		}
		e->t_first = t[i].tid;
		e = find(page, iv, t[i].pid, t[i].tid, 1);
		if (!(e->flags & T_DONE)) {
			threads++;
			threads_found += !!(e->flags & FAULT);
			e->flags |= T_DONE;
		}
	}
	printf("check: records %llu inferred %llu noframe %llu noip %llu bad %llu gaps %llu intervals %u truth %zu pairs %llu missing %llu found %.4f%% byfault %.2f%% border %llu border_found %.3f%% threads %.2f%% shared_found %.2f%% writes %llu writes_found %.2f%% untimely %llu\n",
	       (unsigned long long)records, (unsigned long long)inferred, (unsigned long long)noframe,
	       (unsigned long long)noip, (unsigned long long)bad, (unsigned long long)gaps, last_interval + 1, m,
	       (unsigned long long)inside, (unsigned long long)missing, percent(found, inside), percent(byfault, found),
	       (unsigned long long)border, percent(border_found, border), percent(threads_found, threads), percent(shared_found, shared),
	       (unsigned long long)writes, percent(writes_found, writes), (unsigned long long)untimely);
	return missing || bad || gaps || untimely;
}
