// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: common/sanitizer.c common/rawmem.c
/* Which sanitizer a program was built with, by its dynamic strings; and files that are not as they should be. */
#include "common/sanitizer.h"

#include "harness.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define BASE 0x400000u

static struct file {
	Elf64_Ehdr e;
	Elf64_Phdr ph[2];
	Elf64_Dyn dynamic[3];
	char strings[128];
} file;

/* @strings: names, each with its end. */
static void begin(const char *strings, size_t bytes)
{
	memset(&file, 0, sizeof(file));
	memcpy(file.e.e_ident, ELFMAG, SELFMAG);
	file.e.e_ident[EI_CLASS] = ELFCLASS64;
	file.e.e_phentsize = sizeof(file.ph[0]);
	file.e.e_phoff = offsetof(struct file, ph);
	file.e.e_phnum = 2;
	file.ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_filesz = sizeof(file), .p_vaddr = BASE };
	file.ph[1] = (Elf64_Phdr){ .p_type = PT_DYNAMIC, .p_offset = offsetof(struct file, dynamic), .p_filesz = sizeof(file.dynamic) };
	file.dynamic[0] = (Elf64_Dyn){ .d_tag = DT_STRTAB, .d_un.d_ptr = BASE + offsetof(struct file, strings) };
	file.dynamic[1] = (Elf64_Dyn){ .d_tag = DT_STRSZ, .d_un.d_val = sizeof(file.strings) };
	memcpy(file.strings, strings, bytes);
}

static const char *name_of(size_t bytes)
{
	const int fd = memfd_create("program", MFD_CLOEXEC);
	const char *name;
	char path[32];

	if (fd < 0 || write(fd, &file, bytes) != (ssize_t)bytes)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	name = mt_sanitizer_of_file(AT_FDCWD, path);
	close(fd);
	return name ? name : "none";
}

#define IS(strings, name) do { \
	begin("\0" strings, sizeof(strings) + 1); \
	CHECK_STR(name_of(sizeof(file)), name); \
} while (0)

static void names(void)
{
	IS("libc.so.6\0printf", "none");
	IS("libc.so.6\0__asan_init", "AddressSanitizer");
	IS("libasan.so.8\0libc.so.6", "AddressSanitizer");
	IS("__hwasan_init_static\0libc.so.6", "HWAddressSanitizer");
	IS("__msan_init\0", "MemorySanitizer");
	IS("libc.so.6\0liblsan.so.0", "LeakSanitizer");
	IS("x\0__lsan_init_recoverable", "LeakSanitizer");
	/* the name must begin so; other sanitizers bear the library */
	IS("my_libasan.so.8\0not__asan_init", "none");
	IS("libubsan.so.1\0libtsan.so.2\0__ubsan_handle_add_overflow", "none");
	IS("__asan_ini", "none");
}

/* What lies behind the end of the table, or of the file, is not read. */
static void ends(void)
{
	begin("\0libasan.so.8", 14);
	file.dynamic[1].d_un.d_val = 5;
	CHECK_STR(name_of(sizeof(file)), "none");
	begin("\0libasan.so.8", 14);
	file.dynamic[1].d_un.d_val = UINT64_MAX;
	CHECK_STR(name_of(sizeof(file)), "AddressSanitizer");
	CHECK_STR(name_of(offsetof(struct file, strings) + 5), "none");
	CHECK_STR(name_of(offsetof(struct file, strings)), "none");
	begin("\0libasan.so.8", 14);
	file.dynamic[0].d_un.d_ptr = BASE - 1;
	CHECK_STR(name_of(sizeof(file)), "none");
	file.dynamic[0].d_un.d_ptr = UINT64_MAX;
	CHECK_STR(name_of(sizeof(file)), "none");
	/* the segment lies elsewhere */
	begin("\0libasan.so.8", 14);
	file.ph[0].p_offset = UINT64_MAX - 16;
	CHECK_STR(name_of(sizeof(file)), "none");
	/* the last name has no end */
	begin("", 1);
	memset(file.strings, 'x', sizeof(file.strings));
	CHECK_STR(name_of(sizeof(file)), "none");
}

static void headers(void)
{
	for (size_t bytes = 0; bytes < offsetof(struct file, dynamic); bytes += 13) {
		begin("\0libasan.so.8", 14);
		CHECK_STR(name_of(bytes), "none");
	}
	file.e.e_ident[EI_CLASS] = ELFCLASS32;
	CHECK_STR(name_of(sizeof(file)), "none");
	begin("\0libasan.so.8", 14);
	file.e.e_ident[0] = 0;
	CHECK_STR(name_of(sizeof(file)), "none");
	begin("\0libasan.so.8", 14);
	file.e.e_phnum = UINT16_MAX;
	CHECK_STR(name_of(sizeof(file)), "none");
	begin("\0libasan.so.8", 14);
	file.e.e_phoff = UINT64_MAX - 7;
	CHECK_STR(name_of(sizeof(file)), "none");
	begin("\0libasan.so.8", 14);
	file.ph[1].p_filesz = UINT64_MAX;
	CHECK_STR(name_of(sizeof(file)), "none");
	begin("\0libasan.so.8", 14);
	file.ph[1].p_offset++;
	CHECK_STR(name_of(sizeof(file)), "none");
	CHECK(!mt_sanitizer_of_file(AT_FDCWD, "/"));
	CHECK(!mt_sanitizer_of_file(AT_FDCWD, "/no/such/file"));
	CHECK(!mt_sanitizer_of_file(AT_FDCWD, "/dev/null"));
}

int main(void)
{
	names();
	ends();
	headers();
	return mt_test_done();
}
