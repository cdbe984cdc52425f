/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * suspect.c - where the structures are that the recorder was asked to look at closely (record --zoom).
 *
 * The recorder says it in MEMTRACE_ZOOM, a line each (numbers are hexadecimal, a path is the rest of its line):
 *
 *	range START END		addresses
 *	static OFFSET BYTES PATH	a static object: where it is in a file
 *	site			blocks that were allocated with the call stack of the following lines, innermost frame first
 *	frame OFFSET PATH	a return address in a file
 *
 * Ranges come when an object is loaded or a block is allocated, and go with it. They are in slots that are claimed and given
 * back without a lock: threads of the program write them inside of hooks, the monitor reads them.
 */
#include <string.h>

#include "preload/ground/context.h"
#include "preload/context/ctx.h"

#define MAX_FILES 64
#define MAX_STATICS 256
#define MAX_SITES 64
#define MAX_BLOCKS 1024
#define CLAIMED 1u		/* of a slot whose end is not there yet */

struct file {
	char path[1024];
	uintptr_t bias, start, end;	/* end 0: not loaded */
};

struct slot {
	_Atomic uintptr_t start, end;	/* start 0: free */
};

static struct file files[MAX_FILES];
static struct {
	int file;
	uintptr_t offset, bytes;
} statics[MAX_STATICS];
static struct {
	int n;
	int file[CTX_MAX_DEPTH];
	uintptr_t offset[CTX_MAX_DEPTH];
} sites[MAX_SITES];
static int n_files, n_statics, n_sites;
static struct slot slots[MAX_BLOCKS];
static _Atomic unsigned int used;	/* slots that were ever used */
static _Atomic uint64_t version, no_room;
static _Atomic int64_t stacks[MAX_SITES];	/* ids + 1 of stacks that are one of the sites */
bool ctx_suspecting;

static const char *number(const char *p, uintptr_t *v)
{
	*v = 0;
	while (*p == ' ')
		p++;
	for (;; p++) {
		int d = *p >= '0' && *p <= '9' ? *p - '0' : *p >= 'a' && *p <= 'f' ? *p - 'a' + 10 : -1;

		if (d < 0)
			return p;
		*v = *v << 4 | (uintptr_t)d;
	}
}

/* The file of the path that ends at the end of the line, -1: no room. */
static int file_of(const char *p, const char *end)
{
	size_t n;

	while (p < end && *p == ' ')
		p++;
	n = (size_t)(end - p);
	if (!n || n >= sizeof(files[0].path))
		return -1;
	for (int i = 0; i < n_files; i++)
		if (!strncmp(files[i].path, p, n) && !files[i].path[n])
			return i;
	if (n_files == MAX_FILES)
		return -1;
	memcpy(files[n_files].path, p, n);
	files[n_files].path[n] = 0;
	return n_files++;
}

static void add(uintptr_t start, uintptr_t end)
{
	for (unsigned int i = 0; i < MAX_BLOCKS; i++) {
		uintptr_t free = 0;
		unsigned int n = atomic_load(&used);

		if (!atomic_compare_exchange_strong(&slots[i].start, &free, CLAIMED))
			continue;
		while (n <= i && !atomic_compare_exchange_strong(&used, &n, i + 1))
			;
		atomic_store(&slots[i].end, end);
		atomic_store(&slots[i].start, start);
		atomic_fetch_add(&version, 1);
		return;
	}
	atomic_fetch_add(&no_room, 1);
}

/* Those that begin in [start, end); how many there were. */
static int drop(uintptr_t start, uintptr_t end)
{
	unsigned int n = atomic_load(&used);
	int dropped = 0;

	for (unsigned int i = 0; i < n; i++) {
		uintptr_t s = atomic_load(&slots[i].start);

		if (s > CLAIMED && s >= start && s < end && atomic_compare_exchange_strong(&slots[i].start, &s, 0)) {
			atomic_fetch_add(&version, 1);
			dropped++;
		}
	}
	return dropped;
}

static void line(const char *p, const char *end)
{
	uintptr_t a, b;

	if (!strncmp(p, "range ", 6)) {
		p = number(p + 6, &a);
		number(p, &b);
		if (a < b)
			add(a, b);
	} else if (!strncmp(p, "static ", 7) && n_statics < MAX_STATICS) {
		p = number(p + 7, &a);
		p = number(p, &b);
		statics[n_statics].offset = a;
		statics[n_statics].bytes = b;
		statics[n_statics].file = file_of(p, end);
		n_statics += statics[n_statics].file >= 0;
	} else if (!strncmp(p, "site", 4) && n_sites < MAX_SITES) {
		sites[n_sites++].n = 0;
	} else if (!strncmp(p, "frame ", 6) && n_sites && sites[n_sites - 1].n < CTX_MAX_DEPTH) {
		int n = sites[n_sites - 1].n;

		p = number(p + 6, &a);
		sites[n_sites - 1].offset[n] = a;
		sites[n_sites - 1].file[n] = file_of(p, end);
		sites[n_sites - 1].n++;
	}
}

void ctx_suspect_init(const char *spec)
{
	if (!spec || !*spec || ctx_suspecting)
		return;
	while (*spec) {
		const char *end = spec;

		while (*end && *end != '\n')
			end++;
		line(spec, end);
		spec = *end ? end + 1 : end;
	}
	ctx_suspecting = true;
}

void ctx_suspect_object(const char *path, uintptr_t bias, uintptr_t start, uintptr_t end)
{
	for (int i = 0; i < n_files; i++) {
		if (strcmp(files[i].path, path))
			continue;
		files[i].bias = bias;
		files[i].start = start;
		files[i].end = end;
		for (int k = 0; k < n_statics; k++)
			if (statics[k].file == i)
				add(bias + statics[k].offset, bias + statics[k].offset + statics[k].bytes);
	}
}

void ctx_suspect_object_gone(uintptr_t start)
{
	for (int i = 0; i < n_files; i++)
		if (files[i].end && files[i].start == start) {
			drop(start, files[i].end);
			files[i].end = 0;
		}
}

/* Is the stack one of the sites? The shorter one decides: it may be cut. */
static bool is_site(int k, const uintptr_t *ip, int n)
{
	int common = n < sites[k].n ? n : sites[k].n;

	for (int i = 0; i < common; i++) {
		int f = sites[k].file[i];

		if (f < 0 || !files[f].end || ip[i] - files[f].bias != sites[k].offset[i])
			return false;
	}
	return common > 0;
}

void ctx_suspect_stack(int64_t id, const uintptr_t *ip, int n)
{
	for (int k = 0; k < n_sites; k++) {
		if (!is_site(k, ip, n))
			continue;
		for (int i = 0; i < MAX_SITES; i++) {
			int64_t none = 0;

			if (atomic_compare_exchange_strong(&stacks[i], &none, id + 1))
				return;
		}
		atomic_fetch_add(&no_room, 1);
		return;
	}
}

void ctx_suspect_born(int64_t stack, uintptr_t addr, size_t bytes)
{
	for (int i = 0; i < MAX_SITES; i++) {
		int64_t s = atomic_load_explicit(&stacks[i], memory_order_relaxed);

		if (!s)
			return;
		if (s == stack + 1) {
			drop(addr, addr + bytes);	/* what was there, and whose end was not seen */
			add(addr, addr + bytes);
			return;
		}
	}
}

void ctx_suspect_gone(uintptr_t addr, size_t bytes)
{
	drop(addr, addr + bytes);
}

void ctx_suspect_moved(uintptr_t from, size_t bytes, uintptr_t to, size_t to_bytes)
{
	if (drop(from, from + bytes))
		add(to, to + to_bytes);
}

uint64_t ctx_suspects_version(void)
{
	return atomic_load(&version);
}

size_t ctx_suspects(uint64_t (*to)[2], size_t room, uint64_t *left_out)
{
	unsigned int n = atomic_load(&used);
	size_t k = 0;

	*left_out = atomic_load(&no_room);
	for (unsigned int i = 0; i < n; i++) {
		uintptr_t start = atomic_load(&slots[i].start), end = atomic_load(&slots[i].end);

		if (start <= CLAIMED || atomic_load(&slots[i].start) != start)
			continue;
		if (k == room) {
			++*left_out;
			continue;
		}
		to[k][0] = start;
		to[k++][1] = end;
	}
	return k;
}
