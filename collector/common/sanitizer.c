// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* sanitizer.c - see sanitizer.h. Names of symbols and libraries that a program needs or has stand in its dynamic string table. */
#include "common/sanitizer.h"

#include <elf.h>
#include <string.h>
#include <sys/stat.h>

#include "common/rawsys.h"

static const struct {
	const char *begins, *name;
} known[] = {
	{ "__asan_init", "AddressSanitizer" },
	{ "libasan.so", "AddressSanitizer" },
	{ "__hwasan_init", "HWAddressSanitizer" },
	{ "__msan_init", "MemorySanitizer" },
	{ "__lsan_init", "LeakSanitizer" },
	{ "liblsan.so", "LeakSanitizer" },
};

static const char *find(const char *at, const char *end)
{
	while (at < end) {
		for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
			const size_t n = strlen(known[i].begins);

			if ((size_t)(end - at) >= n && *at == *known[i].begins && !memcmp(at, known[i].begins, n))
				return known[i].name;
		}
		while (at < end && *at)
			at++;
		at++;
	}
	return NULL;
}

/* Where the address is in the file, and how many bytes are there; 0: nowhere. */
static size_t in_file(const Elf64_Phdr *ph, int n, uint64_t address, size_t bytes, uint64_t *offset)
{
	for (int i = 0; i < n; i++)
		if (ph[i].p_type == PT_LOAD && address >= ph[i].p_vaddr && address - ph[i].p_vaddr < ph[i].p_filesz) {
			const uint64_t in = address - ph[i].p_vaddr;

			*offset = ph[i].p_offset + in;
			return *offset < bytes ? (ph[i].p_filesz - in < bytes - *offset ? ph[i].p_filesz - in : bytes - *offset) : 0;
		}
	return 0;
}

/* The file is in memory. */
static const char *sanitizer_of(const uint8_t *file, size_t bytes)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)file;
	uint64_t strings = 0, length = 0, offset;
	const Elf64_Phdr *ph;
	size_t there;

	if (bytes < sizeof(*e) || memcmp(file, ELFMAG, SELFMAG) || file[EI_CLASS] != ELFCLASS64 || e->e_phentsize != sizeof(*ph) ||
	    e->e_phoff % 8 || e->e_phoff > bytes || e->e_phnum > (bytes - e->e_phoff) / sizeof(*ph))
		return NULL;
	ph = (const Elf64_Phdr *)(file + e->e_phoff);
	for (int i = 0; i < e->e_phnum; i++) {
		const Elf64_Dyn *d;

		if (ph[i].p_type != PT_DYNAMIC || ph[i].p_offset % 8 || ph[i].p_offset > bytes || ph[i].p_filesz > bytes - ph[i].p_offset)
			continue;
		d = (const Elf64_Dyn *)(file + ph[i].p_offset);
		for (size_t k = 0; k < ph[i].p_filesz / sizeof(*d) && d[k].d_tag != DT_NULL; k++)
			if (d[k].d_tag == DT_STRTAB)
				strings = d[k].d_un.d_ptr;
			else if (d[k].d_tag == DT_STRSZ)
				length = d[k].d_un.d_val;
	}
	there = strings ? in_file(ph, e->e_phnum, strings, bytes, &offset) : 0;
	return there ? find((const char *)file + offset, (const char *)file + offset + (length < there ? length : there)) : NULL;
}

const char *mt_sanitizer_of_file(int dir, const char *path)
{
	const long fd = mt_sys(SYS_openat, dir, path, O_RDONLY | O_CLOEXEC, 0);
	const char *name = NULL;
	struct stat st;
	long file;

	if (fd < 0)
		return NULL;
	if (!mt_sys(SYS_fstat, fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0) {
		file = mt_rawmap_at_place((size_t)st.st_size, PROT_READ, MAP_PRIVATE, (int)fd, 0);
		if (!mt_failed(file)) {
			name = sanitizer_of((const uint8_t *)file, (size_t)st.st_size);
			mt_sys(SYS_munmap, file, st.st_size);
		}
	}
	mt_sys(SYS_close, fd);
	return name;
}
