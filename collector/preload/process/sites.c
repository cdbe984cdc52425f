// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/process/sites.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>

#include "preload/ground/asm.h"
#include "common/clonesite.h"
#include "common/elffile.h"
#include "preload/ground/patch.h"
#include "preload/process/calls.h"
#include "preload/ground/process.h"
#include "common/rawsys.h"

#define NOTE_ALIGN(n) (((n) + 3ul) & ~3ul)

static const char not_go[] = "the system calls of its Go runtime are not recognised, with which it gives memory back",
	two_go[] = "it has two Go runtimes, which give memory back by system calls of their own",
	not_recognised[] = "it makes processes by a system call instruction of its own, in code that was not recognised",
	not_replaced[] = "system calls in its code cannot be replaced";

/* An object: its file, or, with no @bytes, as the loader has mapped it. */
static const uint8_t *contents(const struct mt_elf_file *o, const ElfW(Phdr) *p)
{
	return o->bytes ? mt_elf_contents(o, p) : o->at + p->p_vaddr;
}

/*
 * What Go says about a build, at a multiple of 16. Read by ourselves: what lies between the variables of a program that was built with
 * ASan may be read, but not by libc's functions.
 */
__attribute__((no_sanitize("address")))
static int says_built(const char *at, const char *end)
{
	static const char built[] = "\xff Go buildinf:";

	for (at = (const char *)(((uintptr_t)at + 15) & ~15ul); end - at >= 16; at += 16) {
		size_t i = 0;

		while (i < sizeof(built) - 1 && at[i] == built[i])
			i++;
		if (i == sizeof(built) - 1)
			return 1;
	}
	return 0;
}

/* Has it the note with Go's id of a build, or, where that was left out, what Go says about the build? */
static int is_go(const struct mt_elf_file *o)
{
	static const char name[] = "Go";

	for (int i = 0; i < o->n; i++) {
		const ElfW(Phdr) *p = &o->ph[i];
		const char *at = (const char *)contents(o, p), *end = at + p->p_filesz;

		if (!at)
			continue;
		if (p->p_type == PT_LOAD && (p->p_flags & (PF_W | PF_R)) == (PF_W | PF_R) && says_built(at, end))
			return 1;
		if (p->p_type != PT_NOTE)
			continue;
		while (at + sizeof(ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *n = (const ElfW(Nhdr) *)at;

			if (n->n_type == 4 && at + sizeof(*n) + sizeof(name) <= end && n->n_namesz >= sizeof(name) &&
			    !memcmp(n + 1, name, sizeof(name)))
				return 1;
			at += sizeof(*n) + NOTE_ALIGN(n->n_namesz) + NOTE_ALIGN(n->n_descsz);
		}
	}
	return 0;
}

/* ---- what is found, and replaced when all of it is known */

#define MAX_RAW MT_PATCH_CALLS

static struct {
	struct mt_clone_site raw[MAX_RAW];
	struct mt_go_site go[MT_GO_SITES];
	int n_raw, n_go;
	int raw_replaced, go_replaced;	/* so many of them */
	int runtimes;			/* of Go */
} sites;

/* All of it in one segment of code. NULL, or why it cannot be replaced. */
static const char *find(const struct mt_elf_file *o, const struct mt_code *c)
{
	struct mt_clone_site *const s = sites.raw + sites.n_raw;
	int calls, advises = 1;
	const int n = mt_process_sites(c, s, MAX_RAW - sites.n_raw, &calls);

	if (!calls)
		return NULL;
	/* the functions of Go are in no table */
	if (o && is_go(o)) {
		if (!sites.n_go)
			sites.n_go = mt_arch_find_go(c->text, (size_t)(c->text_end - c->text), sites.go, &advises);
		else if (sites.go_replaced)
			return two_go;
		return advises ? NULL : not_go;
	}
	if (n < 0)
		return not_recognised;
	sites.n_raw += n;
	return NULL;
}

static void *replacement(int number)
{
	return !number ? (void *)mt_raw_any : number == SYS_clone3 ? (void *)mt_raw_clone3 : number == SYS_clone ? (void *)mt_raw_clone :
	       (void *)mt_raw_fork;
}

static const char *replace(void)
{
	for (; sites.raw_replaced < sites.n_raw; sites.raw_replaced++) {
		const struct mt_clone_site *s = &sites.raw[sites.raw_replaced];

		if (mt_patch_call(s, sites.raw_replaced, replacement(s->number)))
			return not_replaced;
	}
	mt_arch_go_call = mt_go_call;
	for (; sites.go_replaced < sites.n_go; sites.go_replaced++)
		if (mt_patch_jump((void *)(uintptr_t)sites.go[sites.go_replaced].at, sites.go[sites.go_replaced].to))
			return not_replaced;
	return NULL;
}

/* ---- what is loaded */

struct search {
	uintptr_t libc;		/* an address in its code; it is replaced by function */
	const char *why;
};

static int has(const struct dl_phdr_info *info, uintptr_t at)
{
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && at - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
			return 1;
	}
	return 0;
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	const struct mt_elf_file o = { (const uint8_t *)info->dlpi_addr, 0, info->dlpi_phdr, info->dlpi_phnum };
	struct mt_code c = { .shift = 0 };

	(void)size;
	if (has(info, (uintptr_t)&sites) || has(info, s->libc))
		return 0;
	for (int i = 0; i < o.n; i++)
		if (o.ph[i].p_type == PT_GNU_EH_FRAME) {
			c.frames = contents(&o, &o.ph[i]);
			c.frames_end = c.frames + o.ph[i].p_filesz;
		}
	for (int i = 0; i < o.n && !s->why; i++) {
		if (o.ph[i].p_type != PT_LOAD || (o.ph[i].p_flags & (PF_X | PF_R)) != (PF_X | PF_R))
			continue;
		c.text = contents(&o, &o.ph[i]);
		c.text_end = c.text + o.ph[i].p_filesz;
		s->why = find(&o, &c);
	}
	return s->why != NULL;
}

const char *mt_sites_replace(void)
{
	struct search s = { (uintptr_t)dlsym(RTLD_NEXT, "getpid"), NULL };

	sites.n_raw = sites.raw_replaced;
	dl_iterate_phdr(look_at, &s);
	return s.why ? s.why : replace();
}

/* ---- what is being loaded */

/* The code of it that lies in what was mapped, and the table of functions; 0: none. */
static int code_of(const struct mt_elf_file *o, const uint8_t *at, size_t len, uint64_t offset, struct mt_code *c)
{
	const ElfW(Phdr) *text = NULL, *frames = NULL;
	uint64_t from, bytes;

	for (int i = 0; i < o->n; i++)
		if (o->ph[i].p_type == PT_LOAD && o->ph[i].p_flags & PF_X && o->ph[i].p_offset < offset + len &&
		    o->ph[i].p_offset + o->ph[i].p_filesz > offset)
			text = &o->ph[i];
		else if (o->ph[i].p_type == PT_GNU_EH_FRAME)
			frames = &o->ph[i];
	if (!text || !contents(o, text))
		return 0;
	from = text->p_offset > offset ? text->p_offset : offset;
	bytes = text->p_offset + text->p_filesz - from;
	c->text = at + (from - offset);
	c->text_end = c->text + (bytes < len - (from - offset) ? bytes : len - (from - offset));
	if (!frames || !contents(o, frames))
		return 1;
	c->frames = contents(o, frames);
	c->frames_end = c->frames + frames->p_filesz;
	/* where the table will be, from where it is read here */
	c->shift = (intptr_t)((uintptr_t)c->text - (text->p_vaddr + (from - text->p_offset)) + frames->p_vaddr - (uintptr_t)c->frames);
	return 1;
}

/* What was found before at this place is gone. Its room is used again. */
static void forget(const uint8_t *at, size_t len)
{
	while (sites.n_raw && sites.raw[sites.n_raw - 1].at >= at && sites.raw[sites.n_raw - 1].at < at + len)
		sites.n_raw--;
	sites.raw_replaced = sites.n_raw;
}

/* Without headers that can be read the functions in it are not known. */
static const char *find_in_file(const struct mt_elf_file *o, const uint8_t *at, size_t len, uint64_t offset)
{
	struct mt_code c = { .text = at, .text_end = at + len };

	if (o->ph && !code_of(o, at, len, offset, &c))
		return NULL;
	return find(o->ph ? o : NULL, &c);
}

const char *mt_sites_mapped(const uint8_t *at, size_t len, int fd, uint64_t offset)
{
	struct mt_elf_file o = { .ph = NULL };
	const char *why;
	struct stat st;

	/* what is behind the end of the file cannot be read */
	if (mt_sys(SYS_fstat, fd, &st) || (uint64_t)st.st_size <= offset)
		return NULL;
	if (len > (uint64_t)st.st_size - offset)
		len = (uint64_t)st.st_size - offset;
	forget(at, len);
	if (mt_elf_map(&o, fd))
		return find_in_file(&o, at, len, offset);
	why = find_in_file(&o, at, len, offset);
	mt_elf_unmap(&o);
	return why ? why : replace();
}
