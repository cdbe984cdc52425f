// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * Symbol interposition does not see calls inside libc (malloc's mmap, the stacks of
 * pthread_create, fork's _Fork), so the code itself is patched. The replacements do
 * the whole work with raw system calls and never call the original; so no
 * instruction has to be moved, and any function of at least JUMP bytes will do.
 *
 * The page is made writable without being executable at the same time: nothing of
 * libc runs meanwhile, the system calls here are our own.
 */
#include "patch.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>

#include "rawsys.h"

#define JUMP 14		/* jmp *0(%rip), then the address */
#define PAGE 4096ul

static void *libc_symbol(const char *name, size_t *size)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), *p;
	const ElfW(Sym) *sym = NULL;
	Dl_info info;

	if (!libc)
		return NULL;
	p = dlsym(libc, name);
	dlclose(libc);
	if (p && dladdr1(p, &info, (void **)&sym, RTLD_DL_SYMENT) && sym)
		*size = sym->st_size;
	else
		*size = 0;
	return p;
}

static long protect(void *at, int prot)
{
	uintptr_t start = (uintptr_t)at & ~(PAGE - 1);
	uintptr_t end = ((uintptr_t)at + JUMP + PAGE - 1) & ~(PAGE - 1);

	return mt_sys(SYS_mprotect, start, end - start, prot);
}

/* Calls nothing while the page is not executable: memcpy may live on it. */
static long write_code(void *at, const uint8_t *code)
{
	volatile uint8_t *dst = at;
	long ret = protect(at, PROT_READ | PROT_WRITE);

	if (ret)
		return ret;
	for (int i = 0; i < JUMP; i++)
		dst[i] = code[i];
	return protect(at, PROT_READ | PROT_EXEC);
}

static long patch_one(void *at, void *to, uint8_t *saved)
{
	uint8_t code[JUMP] = { 0xff, 0x25, 0, 0, 0, 0 };

	for (int i = 0; i < 8; i++)
		code[6 + i] = (uint8_t)((uintptr_t)to >> 8 * i);
	memcpy(saved, at, JUMP);
	return write_code(at, code);
}

int mt_patch_all(const struct mt_patch *p, int n, const char **failed)
{
	uint8_t saved[n][JUMP];
	void *at[n];
	long ret = 0;
	int i;

	for (i = 0; i < n; i++) {
		size_t size;

		*failed = p[i].name;
		at[i] = libc_symbol(p[i].name, &size);
		if (!at[i] || size < JUMP)
			return -ENOENT;
	}
	for (i = 0; i < n && !ret; i++) {
		*failed = p[i].name;
		ret = patch_one(at[i], p[i].replacement, saved[i]);
	}
	if (!ret)
		return 0;
	/* the one that failed is unchanged, or only its protection could not be restored */
	for (i--; i >= 0; i--)
		write_code(at[i], saved[i]);
	return (int)ret;
}

/* ---- the loader */

struct loader {
	uintptr_t text, text_end;
	const uint8_t *frames;		/* .eh_frame_hdr: all functions, sorted */
};

/* The object that holds __tls_get_addr(), which is the loader's. */
static int find_loader(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct loader *l = arg;
	const uintptr_t known = (uintptr_t)dlsym(RTLD_DEFAULT, "__tls_get_addr");
	struct loader here = { 0, 0, NULL };

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && start <= known && known < start + p->p_filesz) {
			here.text = start;
			here.text_end = start + p->p_filesz;
		} else if (p->p_type == PT_GNU_EH_FRAME) {
			here.frames = (const uint8_t *)start;
		}
	}
	if (!here.text || !here.frames)
		return 0;
	*l = here;
	return 1;
}

static int holds(const uint8_t *code, size_t len, const char *bytes, size_t n)
{
	return memmem(code, len, bytes, n) != NULL;
}

/* Of at most this many bytes from the beginning; what they call or jump to is of no interest. */
#define LOOK_AT 96

static int is_mmap(const uint8_t *code, size_t len)
{
	static const char checks_offset[] = "\x41\xf7\xc1\xff\x0f\0\0", calls[] = "\xb8\x09\0\0\0\x0f\x05";

	return holds(code, len, checks_offset, sizeof(checks_offset) - 1) && holds(code, len, calls, sizeof(calls) - 1);
}

static int is_munmap(const uint8_t *code, size_t len)
{
	static const char endbr[] = "\xf3\x0f\x1e\xfa", calls[] = "\xb8\x0b\0\0\0\x0f\x05";

	if (len > 4 && !memcmp(code, endbr, 4)) {
		code += 4;
		len -= 4;
	}
	return len >= sizeof(calls) - 1 && !memcmp(code, calls, sizeof(calls) - 1);
}

int mt_patch_loader(void *mmap_replacement, void *munmap_replacement)
{
	/* version 1; count: 4 bytes; table: 4 bytes each, relative to the header */
	static const uint8_t known[] = { 1, 0x1b, 0x03, 0x3b };
	struct loader l = { 0, 0, NULL };
	uint8_t *mmap_at = NULL, *munmap_at = NULL, saved[JUMP];
	uint32_t count;
	int n = 0;

	if (!dl_iterate_phdr(find_loader, &l) || memcmp(l.frames, known, sizeof(known)))
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
		if (at < l.text || end > l.text_end || end < at + JUMP)
			continue;
		len = end - at < LOOK_AT ? end - at : LOOK_AT;
		if (is_mmap((uint8_t *)at, len)) {
			if (mmap_at)
				return 0;	/* two: we do not know what this is */
			mmap_at = (uint8_t *)at;
		} else if (is_munmap((uint8_t *)at, len)) {
			if (munmap_at)
				return 0;
			munmap_at = (uint8_t *)at;
		}
	}
	n += mmap_at && !patch_one(mmap_at, mmap_replacement, saved);
	n += munmap_at && !patch_one(munmap_at, munmap_replacement, saved);
	return n;
}
