// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Symbol interposition does not see calls inside libc (malloc's mmap, the stacks of
 * pthread_create, fork's _Fork), so the code itself is patched. The replacements do
 * the whole work with raw system calls and never call the original; so no
 * instruction has to be moved, and any function of at least JUMP bytes will do.
 * Only where libc has no _Fork, a system call in the middle of fork() is replaced
 * (common/clonesite.h), and the instructions around it move to a page of this library.
 *
 * The page stays executable while it is writable, since libc may be on it. Where the
 * system refuses that, it is not executable for a moment: there is one thread, and
 * the system calls here are our own.
 */
#include "preload/ground/patch.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "preload/ground/asm.h"
#include "preload/ground/symbol.h"
#include "common/calls.h"
#include "common/clonesite.h"
#include "common/rawsys.h"
#include "engines/valgrind/request.h"

static void *libc_symbol(const char *name, size_t *size)
{
	const struct link_map *libc = mt_libc_map();
	const ElfW(Sym) *sym = libc ? mt_symbol_in(libc, name) : NULL;

	*size = sym ? sym->st_size : 0;
	return sym && ELF64_ST_TYPE(sym->st_info) == STT_FUNC ? (void *)(libc->l_addr + sym->st_value) : NULL;
}

static long protect(void *at, size_t n, int prot)
{
	uintptr_t start = (uintptr_t)at & ~(MT_PAGE - 1);
	uintptr_t end = ((uintptr_t)at + n + MT_PAGE - 1) & ~(MT_PAGE - 1);

	return mt_sys(SYS_mprotect, start, end - start, prot);
}

/* The code of the object that @known lies in. */
struct object {
	uintptr_t known;
	uintptr_t text, text_end;
	const uint8_t *frames;		/* .eh_frame_hdr: all functions, sorted; NULL: there is none */
};

static int find_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct object *o = arg;
	const uint8_t *frames = NULL;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && start <= o->known && o->known < start + p->p_filesz) {
			o->text = start;
			o->text_end = start + p->p_filesz;
		} else if (p->p_type == PT_GNU_EH_FRAME) {
			frames = (const uint8_t *)start;
		}
	}
	o->frames = o->text ? frames : NULL;
	return o->text != 0;
}

/* Code that is writable now, so that it need not be made so for each place: [start, end). */
static struct {
	uintptr_t start, end;
} window;

/*
 * All code of an object: a part of it would be a mapping of its own afterwards, since the kernel counts what was writable, and programs
 * look for the code of libc in /proc/self/maps. Where the system refuses it each place is opened by itself.
 */
static void open_window(const struct object *o)
{
	const uintptr_t start = o->text, end = o->text_end;

	if (start < end && !protect((void *)start, end - start, PROT_READ | PROT_WRITE | PROT_EXEC)) {
		/* pages: what else stands on them is writable, too, and must not make them unwritable again */
		window.start = start & ~(MT_PAGE - 1);
		window.end = (end + MT_PAGE - 1) & ~(MT_PAGE - 1);
	}
}

static long close_window(void)
{
	const uintptr_t start = window.start, bytes = window.end - start;

	window.start = window.end = 0;
	return bytes ? protect((void *)start, bytes, PROT_READ | PROT_EXEC) : 0;
}

/* Of libc, where system calls are made. */
static struct {
	const uint8_t *code;
	size_t bytes;
} caller;

/* Calls nothing while the page may not be executable: memcpy may live on it, and the place of our system calls. */
static long write_code(void *at, const uint8_t *code, size_t n)
{
	const int open = window.start <= (uintptr_t)at && (uintptr_t)at + n <= window.end;
	volatile uint8_t *dst = at;
	long ret = open ? 0 : protect(at, n, PROT_READ | PROT_WRITE | PROT_EXEC);

	if (ret) {
		mt_calls_from(NULL, 0);
		ret = protect(at, n, PROT_READ | PROT_WRITE);
	}
	for (size_t i = 0; i < n && !ret; i++)
		dst[i] = code[i];
	if (!open && !ret)
		ret = protect(at, n, PROT_READ | PROT_EXEC);
	mt_calls_from(caller.code, caller.bytes);
	if (!ret && !open && (uintptr_t)at < window.end && (uintptr_t)at + n > window.start)
		ret = protect((void *)window.start, window.end - window.start, PROT_READ | PROT_WRITE | PROT_EXEC);
	if (!ret)
		mt_arch_code_changed(at, n);
	/* it takes the code of files for unchanging */
	mt_valgrind_request(0, MT_VALGRIND_DISCARD, (uint64_t)at, n);
	return ret;
}

/* What stood there, which is as long as what stands there now. */
struct saved {
	void *at;
	uint8_t code[MT_JUMP_MAX > MT_SITE_MAX ? MT_JUMP_MAX : MT_SITE_MAX];
	size_t n;
};

static long patch_one(void *at, void *to, struct saved *saved)
{
	uint8_t code[MT_JUMP_MAX];

	saved->at = at;
	saved->n = mt_arch_jump(code, at, to);
	memcpy(saved->code, at, saved->n);
	return write_code(at, code, saved->n);
}

/* The place of a system call jumps to what does the same with a call of @to, the @i-th of them. */
static long patch_site(const struct mt_clone_site *s, int i, void *to, struct saved *saved)
{
	uint8_t code[MT_SITE_MAX], elsewhere[MT_MOVED_MAX];
	uint8_t *moved = (uint8_t *)mt_arch_moved + (size_t)i * MT_MOVED_MAX;
	const size_t bytes = s->before + 2 + s->after + s->padding;
	long ret;

	saved->at = (void *)s->at;
	saved->n = bytes;
	memcpy(saved->code, s->at, bytes);
	memset(elsewhere, 0, sizeof(elsewhere));
	ret = write_code(moved, elsewhere, mt_arch_move(elsewhere, s->at, s->before, s->after, to, s->number));
	if (ret)
		return ret;
	memset(code, MT_NEVER_REACHED, sizeof(code));
	mt_arch_jump(code, s->at, moved);
	return write_code(saved->at, code, bytes);
}

int mt_patch_all(const struct mt_patch *p, int n, const char **failed)
{
	struct saved saved[n + MT_SITES];
	struct mt_clone_site sites[MT_SITES];
	void *at[n];
	struct object libc = { 0 };
	long ret = 0, closed;
	int i, done = 0;

	for (i = 0; i < n; i++) {
		size_t size;

		*failed = p[i].name;
		at[i] = p[i].absent == 1 ? NULL : libc_symbol(p[i].name, &size);
		if (at[i] && p[i].absent == MT_PATCH_OPTIONAL && size < MT_JUMP_MAX)
			at[i] = NULL;
		if (!at[i] ? !p[i].clone_call && p[i].absent != MT_PATCH_OPTIONAL : size < MT_JUMP_MAX)
			return -ENOENT;
		if (at[i])
			libc.known = (uintptr_t)at[i];
	}
	dl_iterate_phdr(find_object, &libc);
	open_window(&libc);
	for (i = 0; i < n && !ret; i++) {
		int found;

		*failed = p[i].name;
		if (at[i]) {
			ret = patch_one(at[i], p[i].replacement, &saved[done++]);
			continue;
		}
		if (p[i].absent == MT_PATCH_OPTIONAL)
			continue;
		found = mt_clone_sites(sites, failed);
		if (!found)
			ret = -ENOENT;
		for (int k = 0; k < found && !ret; k++)
			ret = patch_site(&sites[k], k, p[i].clone_call, &saved[done++]);
	}
	closed = close_window();
	if (!ret)
		ret = closed;
	if (!ret) {
		caller.code = libc_symbol("getpid", &caller.bytes);
		mt_calls_from(caller.code, caller.bytes);
		return 0;
	}
	/* the one that failed is unchanged, or only its protection could not be restored */
	while (done--)
		write_code(saved[done].at, saved[done].code, saved[done].n);
	return (int)ret;
}

/* ---- the loader */

/* Of at most this many bytes from the beginning; what they call or jump to is of no interest. */
#define LOOK_AT 96

int mt_patch_loader(void *mmap_replacement, void *munmap_replacement)
{
	/* version 1; count: 4 bytes; table: 4 bytes each, relative to the header */
	static const uint8_t known[] = { 1, 0x1b, 0x03, 0x3b };
	struct object l = { .known = (uintptr_t)dlsym(RTLD_DEFAULT, "__tls_get_addr") };	/* the loader's */
	uint8_t *mmap_at = NULL, *munmap_at = NULL;
	struct saved saved;
	uint32_t count;
	int n = 0;

	if (!dl_iterate_phdr(find_object, &l) || !l.frames || memcmp(l.frames, known, sizeof(known)))
		return 0;
	memcpy(&count, l.frames + 8, sizeof(count));
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *entry = l.frames + 12 + 8 * (size_t)i;
		uintptr_t at, end = l.text_end;
		int32_t offset;
		size_t len;

		memcpy(&offset, entry, sizeof(offset));
		at = (uintptr_t)l.frames + (uintptr_t)(intptr_t)offset;
		if (i + 1 < count) {
			memcpy(&offset, entry + 8, sizeof(offset));
			end = (uintptr_t)l.frames + (uintptr_t)(intptr_t)offset;
		}
		if (at < l.text || end > l.text_end || end < at + MT_JUMP_MAX)
			continue;
		len = end - at < LOOK_AT ? end - at : LOOK_AT;
		if (mt_arch_is_mmap((uint8_t *)at, len)) {
			if (mmap_at)
				return 0;	/* two: we do not know what this is */
			mmap_at = (uint8_t *)at;
		} else if (mt_arch_is_munmap((uint8_t *)at, len)) {
			if (munmap_at)
				return 0;
			munmap_at = (uint8_t *)at;
		}
	}
	if (mmap_at && munmap_at)
		open_window(&l);
	n += mmap_at && !patch_one(mmap_at, mmap_replacement, &saved);
	n += munmap_at && !patch_one(munmap_at, munmap_replacement, &saved);
	close_window();
	return n;
}

/* ---- code of the program */

int mt_patch_jump(void *at, void *to)
{
	struct saved saved;

	return (int)patch_one(at, to, &saved);
}

/* Rooms of MT_NEAR_MAX bytes: those that are taken, and what is left of the last pages. */
static uint8_t *near_room[MT_PATCH_CALLS], *near_free, *near_end;
#define NEAR_BYTES (4 * MT_PAGE)
#define NEAR_STEP (1l << 20)
#define NEAR_REACH ((1l << 31) - NEAR_STEP)

static int is_near(const uint8_t *at, const uint8_t *room)
{
	return room && room - at < NEAR_REACH && at - room < NEAR_REACH;
}

/*
 * New pages that a jump from @at reaches. Below it, if there is room: above a program is its heap, which grows. -ENOMEM: there is none.
 */
static long map_near(const uint8_t *at)
{
	for (int up = 0; up < 2; up++)
		for (long far = NEAR_STEP; far < NEAR_REACH; far += NEAR_STEP) {
			const uintptr_t to = ((uintptr_t)at & ~(MT_PAGE - 1)) + (uintptr_t)(up ? far : -far);
			long ret;

			if (!up && to > (uintptr_t)at)
				break;
			ret = mt_sys(SYS_mmap, to, NEAR_BYTES, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
			if (ret == (long)to) {
				near_free = (uint8_t *)to;
				near_end = near_free + NEAR_BYTES;
				return 0;
			}
			if (!mt_failed(ret))	/* Linux before 4.17 */
				mt_sys(SYS_munmap, ret, NEAR_BYTES);
		}
	return -ENOMEM;
}

int mt_patch_call(const struct mt_clone_site *s, int i, void *to)
{
	const size_t bytes = s->before + 2 + s->after + s->padding;
	uint8_t code[MT_SITE_MAX], moved[MT_NEAR_MAX];
	long ret = 0;

	if (!is_near(s->at, near_room[i])) {
		if (near_end - near_free < MT_NEAR_MAX || !is_near(s->at, near_free))
			ret = map_near(s->at);
		if (ret)
			return (int)ret;
		near_room[i] = near_free;
		near_free += MT_NEAR_MAX;
	}
	memset(moved, MT_NEVER_REACHED, sizeof(moved));
	mt_arch_move(moved, s->at, s->before, s->after, to, s->number);
	ret = write_code(near_room[i], moved, sizeof(moved));
	if (ret)
		return (int)ret;
	memset(code, MT_NEVER_REACHED, sizeof(code));
	if (!mt_arch_near_jump(code, s->at, near_room[i]))
		return -ERANGE;
	return (int)write_code((void *)(uintptr_t)s->at, code, bytes);
}
