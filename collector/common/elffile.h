// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * elffile.h - an ELF file of 64 bits in memory, which may be anything: what is read of it lies in it. Any context; of libc memcmp() is
 * called only.
 */
#ifndef MEMTRACE_ELFFILE_H
#define MEMTRACE_ELFFILE_H

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "common/rawsys.h"

struct mt_elf_file {
	const uint8_t *at;
	size_t bytes;
	const Elf64_Phdr *ph;	/* NULL: it is no such file, or its headers are not all there */
	int n;
};

/* The program headers of the file at @f->at. */
static inline void mt_elf_headers(struct mt_elf_file *f)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)f->at;

	f->ph = NULL;
	f->n = 0;
	if (f->bytes < sizeof(*e) || memcmp(f->at, ELFMAG, SELFMAG) || f->at[EI_CLASS] != ELFCLASS64 || e->e_phentsize != sizeof(*f->ph) ||
	    e->e_phoff % 8 || e->e_phoff > f->bytes || e->e_phnum > (f->bytes - e->e_phoff) / sizeof(*f->ph))
		return;
	f->ph = (const Elf64_Phdr *)(f->at + e->e_phoff);
	f->n = e->e_phnum;
}

/* The whole regular file, to be given back by mt_elf_unmap(). 0 or negative errno. */
static inline long mt_elf_map(struct mt_elf_file *f, int fd)
{
	struct stat st;
	long ret = mt_sys(SYS_fstat, fd, &st);

	if (ret)
		return ret;
	if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		return -ENOEXEC;
	ret = mt_rawmap_at_place((size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mt_failed(ret))
		return ret;
	f->at = (const uint8_t *)ret;
	f->bytes = (size_t)st.st_size;
	mt_elf_headers(f);
	return 0;
}

static inline void mt_elf_unmap(const struct mt_elf_file *f)
{
	mt_sys(SYS_munmap, f->at, f->bytes);
}

/* What the file has of the segment, NULL: it is not there as a whole. */
static inline const uint8_t *mt_elf_contents(const struct mt_elf_file *f, const Elf64_Phdr *p)
{
	return p->p_offset <= f->bytes && p->p_filesz <= f->bytes - p->p_offset ? f->at + p->p_offset : NULL;
}

#endif
