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
