/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * objects.c - which executables and libraries are loaded where, and when.
 *
 * dl_iterate_phdr gives the load bias itself, which /proc/PID/maps does not,
 * and its counters tell cheaply that nothing has changed. Scanned at the start,
 * when a call stack is seen for the first time, and at the end: always by a
 * thread of the program, because the loader's lock is recursive and needs the
 * identity of a real thread. No lock of ours is held then except scanning,
 * which is only tried: a thread that cannot have it leaves the scan to the
 * next one.
 */
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ctx.h"
#include "rawsys.h"
#include "thread.h"

#define MAX_OBJECTS 8192

struct object {
	uintptr_t base, start, end;
	unsigned int seen;
};

static struct object *objects;
static size_t n_objects;
static unsigned int round_no;
static unsigned long long adds, subs;
static uintptr_t our_start, our_end;
static _Atomic int scanning;

bool ctx_ip_is_ours(uintptr_t ip)
{
	return ip - our_start < our_end - our_start;
}

static int changed(struct dl_phdr_info *info, size_t size, void *arg)
{
	bool *yes = arg;

	(void)size;
	*yes = info->dlpi_adds != adds || info->dlpi_subs != subs;
	adds = info->dlpi_adds;
	subs = info->dlpi_subs;
	return 1;
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	uintptr_t lo = UINTPTR_MAX, hi = 0;
	const char *name = info->dlpi_name;
	char exe[1024];
	struct ctx_line l;
	uint64_t tls_size = 0;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_TLS)
			tls_size = p->p_memsz;
		if (p->p_type != PT_LOAD || !p->p_memsz)
			continue;
		if (info->dlpi_addr + p->p_vaddr < lo)
			lo = info->dlpi_addr + p->p_vaddr;
		if (info->dlpi_addr + p->p_vaddr + p->p_memsz > hi)
			hi = info->dlpi_addr + p->p_vaddr + p->p_memsz;
	}
	if (lo >= hi)
		return 0;
	if ((uintptr_t)&visit - lo < hi - lo) {
		our_start = lo;
		our_end = hi;
	}
	for (size_t i = 0; i < n_objects; i++) {
		if (objects[i].start == lo && objects[i].end == hi &&
		    objects[i].base == info->dlpi_addr) {
			objects[i].seen = round_no;
			return 0;
		}
	}
	if (n_objects == MAX_OBJECTS) {
		atomic_fetch_add(&ctx_lost_memory, 1);
		return 0;
	}
	objects[n_objects++] = (struct object){ info->dlpi_addr, lo, hi, round_no };
	if (!name || !*name) {
		long n = mt_sys(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", exe,
				sizeof(exe) - 1);

		exe[n > 0 ? n : 0] = 0;
		name = exe;
	}
	if (name[0] != '/' && __builtin_strchr(name, '/')) {
		/* dlopen("./lib.so"): relative to the directory of now */
		long n = mt_sys(SYS_getcwd, exe, sizeof(exe) - 1);
		size_t at = n > 1 ? (size_t)n - 1 : 0;	/* n counts the NUL */

		if (at && exe[0] == '/' && at + __builtin_strlen(name) + 2 < sizeof(exe)) {
			if (name[0] == '.' && name[1] == '/')
				name += 2;
			exe[at++] = '/';
			__builtin_memcpy(exe + at, name, __builtin_strlen(name) + 1);
			name = exe;
		}
	}
	if (ctx_suspecting)
		ctx_suspect_object(name, info->dlpi_addr, lo, hi);
	ctx_line_begin(&l, 'O');
	ctx_line_dec(&l, *(uint64_t *)arg);
	ctx_line_hex(&l, info->dlpi_addr);
	ctx_line_hex(&l, lo);
	ctx_line_hex(&l, hi);
	ctx_line_dec(&l, our_start == lo);
	ctx_line_str(&l, name);
	/* the first scan is before main: what has a block in this thread now has it in each, at the same distance */
	if (round_no == 1 && tls_size && size >= offsetof(struct dl_phdr_info, dlpi_tls_data) + sizeof(void *) &&
	    info->dlpi_tls_data) {
		ctx_line_int(&l, (int64_t)((uintptr_t)info->dlpi_tls_data - mt_thread_pointer()));
		ctx_line_dec(&l, tls_size);
	}
	ctx_line_end(&l);
	return 0;
}

void ctx_objects_lock(void)
{
	ctx_lock(&scanning);
}

void ctx_objects_unlock(void)
{
	ctx_unlock(&scanning);
}

static void scan(void)
{
	uint64_t now = ctx_now();
	bool any = false;
	size_t kept = 0;

	if (!objects) {
		objects = ctx_map(MAX_OBJECTS * sizeof(*objects));
		if (!objects)
			return;
	}
	dl_iterate_phdr(changed, &any);
	if (!any)
		return;
	round_no++;
	dl_iterate_phdr(visit, &now);
	for (size_t i = 0; i < n_objects; i++) {
		struct ctx_line l;

		if (objects[i].seen == round_no) {
			objects[kept++] = objects[i];
			continue;
		}
		if (ctx_suspecting)
			ctx_suspect_object_gone(objects[i].start);
		ctx_line_begin(&l, 'o');
		ctx_line_dec(&l, now);
		ctx_line_hex(&l, objects[i].start);
		ctx_line_end(&l);
	}
	n_objects = kept;
}

void ctx_objects_scan(void)
{
	if (atomic_exchange_explicit(&scanning, 1, memory_order_acquire))
		return;
	scan();
	ctx_objects_unlock();
}
