// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* sanitizer.c - see sanitizer.h. Names of symbols and libraries that a program needs or has stand in its dynamic string table. */
#include "common/sanitizer.h"

#include "common/elffile.h"

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

			if (ph[i].p_offset > bytes || in >= bytes - ph[i].p_offset)
				return 0;
			*offset = ph[i].p_offset + in;
			return ph[i].p_filesz - in < bytes - *offset ? ph[i].p_filesz - in : bytes - *offset;
		}
	return 0;
}

static const char *sanitizer_of(const struct mt_elf_file *f)
{
	uint64_t strings = 0, length = 0, offset;
	size_t there;

	for (int i = 0; i < f->n; i++) {
		const Elf64_Dyn *d = (const Elf64_Dyn *)mt_elf_contents(f, &f->ph[i]);

		if (f->ph[i].p_type != PT_DYNAMIC || f->ph[i].p_offset % 8 || !d)
			continue;
		for (size_t k = 0; k < f->ph[i].p_filesz / sizeof(*d) && d[k].d_tag != DT_NULL; k++)
			if (d[k].d_tag == DT_STRTAB)
				strings = d[k].d_un.d_ptr;
			else if (d[k].d_tag == DT_STRSZ)
				length = d[k].d_un.d_val;
	}
	there = strings ? in_file(f->ph, f->n, strings, f->bytes, &offset) : 0;
	return there ? find((const char *)f->at + offset, (const char *)f->at + offset + (length < there ? length : there)) : NULL;
}

/* musl, Android's bionic, uClibc: how the names of their loaders begin. */
static const char *other_loader(const struct mt_elf_file *f)
{
	static const char *const begins[] = { "ld-musl", "linker64", "ld64-uClibc" };

	for (int i = 0; i < f->n; i++) {
		const char *at = f->ph[i].p_type == PT_INTERP ? (const char *)mt_elf_contents(f, &f->ph[i]) : NULL;
		size_t n = at ? f->ph[i].p_filesz : 0, name = n;

		while (name && at[name - 1] != '/')
			name--;
		for (size_t k = 0; k < sizeof(begins) / sizeof(*begins); k++) {
			size_t same = 0;

			while (begins[k][same] && name + same < n && at[name + same] == begins[k][same])
				same++;
			if (!begins[k][same])
				return begins[k];
		}
	}
	return NULL;
}

/* What @say says of the file; NULL as well where it cannot be read. */
static const char *of_file(int dir, const char *path, const char *(*say)(const struct mt_elf_file *f))
{
	const long fd = mt_sys(SYS_openat, dir, path, O_RDONLY | O_CLOEXEC, 0);
	const char *name = NULL;
	struct mt_elf_file f;

	if (fd < 0)
		return NULL;
	if (!mt_elf_map(&f, (int)fd)) {
		name = say(&f);
		mt_elf_unmap(&f);
	}
	mt_sys(SYS_close, fd);
	return name;
}

const char *mt_sanitizer_of_file(int dir, const char *path)
{
	return of_file(dir, path, sanitizer_of);
}

int mt_is_of_other_libc(int dir, const char *path)
{
	return of_file(dir, path, other_loader) != NULL;
}
