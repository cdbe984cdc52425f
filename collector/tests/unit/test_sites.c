// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// includes: preload/process/sites.c
// uses: common/rawmem.c
/*
 * Which code of what is being loaded is looked at, with which table of functions, and what becomes of what is found. How code is read is in
 * test_clonesite.c, how it is replaced in test_patch.c; here both only say what they are asked for.
 */
#include "harness.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/process/sites.c"

static struct mt_code asked;	/* the last code that was looked at */
static size_t asked_at, asked_bytes;	/* the same, from what was mapped on */
static int looks, found, there, numbers[4], room;

int mt_process_sites(const struct mt_code *c, struct mt_clone_site *s, int n, int *calls)
{
	looks++;
	asked = *c;
	room = n;
	*calls = there;
	for (int i = 0; i < found && i < n; i++)
		s[i] = (struct mt_clone_site){ .at = c->text + 16 * i, .number = numbers[i] };
	return found;
}

static int patched[8], n_patched, cannot_patch, jumps, advised, go_sites;
static void *patched_to[8];

int mt_patch_call(const struct mt_clone_site *s, int i, void *to)
{
	if (cannot_patch)
		return -EACCES;
	CHECK(s->at >= asked.text && s->at < asked.text_end);
	patched[n_patched] = i;
	patched_to[n_patched++] = to;
	return 0;
}

int mt_patch_jump(void *at, void *to)
{
	CHECK(at != NULL && to != NULL);
	jumps++;
	return 0;
}

long (*mt_arch_go_call)(const long *call);

int mt_arch_find_go(const uint8_t *code, size_t len, struct mt_go_site site[MT_GO_SITES], int *advises)
{
	CHECK(code == asked.text && len == (size_t)(asked.text_end - asked.text));
	for (int i = 0; i < go_sites; i++)
		site[i] = (struct mt_go_site){ code + i, &jumps };
	*advises = advised;
	return go_sites;
}

long mt_go_call(const long *call) { return call[0]; }
long mt_raw_fork(void) { return 1; }
long mt_raw_clone(unsigned long flags, void *stack, int *p, long d, long e) { return (long)flags + (stack != p) + d + e; }
long mt_raw_clone3(const void *args, size_t size) { return (args != NULL) + (long)size; }
long mt_raw_any(long a, long b, long c, long d, long e, long number) { return a + b + c + d + e + number; }

#define TEXT 4096u	/* offset and bytes of the code in the file */
#define FRAMES 64u	/* bytes of the table behind it */

/* A file as a linker makes it: headers, code, the table of functions, data. */
static struct file {
	Elf64_Ehdr e;
	Elf64_Phdr ph[4];
	uint8_t rest[TEXT - sizeof(Elf64_Ehdr) - 4 * sizeof(Elf64_Phdr)];
	uint8_t text[TEXT], frames[TEXT], data[TEXT];
} file;

static void begin(void)
{
	memset(&file, 0, sizeof(file));
	memcpy(file.e.e_ident, ELFMAG, SELFMAG);
	file.e.e_ident[EI_CLASS] = ELFCLASS64;
	file.e.e_phentsize = sizeof(file.ph[0]);
	file.e.e_phoff = offsetof(struct file, ph);
	file.e.e_phnum = 4;
	file.ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_offset = offsetof(struct file, text), .p_filesz = TEXT,
				   .p_vaddr = 0x11000 };
	file.ph[1] = (Elf64_Phdr){ .p_type = PT_GNU_EH_FRAME, .p_flags = PF_R, .p_offset = offsetof(struct file, frames), .p_filesz = FRAMES,
				   .p_vaddr = 0x22000 };
	file.ph[2] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_offset = offsetof(struct file, data), .p_filesz = TEXT,
				   .p_vaddr = 0x33000 };
	file.ph[3] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_flags = PF_R, .p_offset = offsetof(struct file, rest), .p_filesz = 20 };
	memset(&sites, 0, sizeof(sites));
	memset(&asked, 0, sizeof(asked));
	looks = found = n_patched = cannot_patch = jumps = go_sites = 0;
	there = advised = 1;
}

/* @bytes of the file from @offset on are mapped. The answer. */
static const char *load(uint64_t offset, size_t len, size_t bytes)
{
	const int fd = memfd_create("object", MFD_CLOEXEC);
	const char *why;
	uint8_t *at;

	if (fd < 0 || write(fd, &file, bytes) != (ssize_t)bytes)
		abort();
	at = mmap(NULL, len, PROT_READ, MAP_PRIVATE, fd, (off_t)offset);
	why = mt_sites_mapped(at, len, fd, offset);
	asked_at = (uintptr_t)(asked.text ? asked.text - at : 0);
	asked_bytes = (size_t)(asked.text_end - asked.text);
	close(fd);	/* it stays mapped, so that the next one lies elsewhere */
	return why;
}

static const char *load_text(void)
{
	return load(offsetof(struct file, text), TEXT, sizeof(file));
}

static void code_and_its_table(void)
{
	begin();
	there = 0;
	CHECK(!load_text());
	CHECK_EQ(looks, 1);
	CHECK_EQ(asked_at, 0);
	CHECK_EQ(asked_bytes, TEXT);
	CHECK_EQ(asked.frames_end - asked.frames, FRAMES);
	CHECK_EQ(n_patched + jumps, 0);
	/* it is read where the file is, and says where things are in the process: 0x11000 behind the code */
	begin();
	load_text();
	CHECK_EQ(looks, 1);	/* once, also where there are calls */
	CHECK(asked.shift != 0);
	/* more than the code is mapped, and less */
	begin();
	CHECK(!load(0, sizeof(file), sizeof(file)));
	CHECK_EQ(asked_at, TEXT);
	CHECK_EQ(asked_bytes, TEXT);
	/* only data */
	begin();
	CHECK(!load(offsetof(struct file, data), TEXT, sizeof(file)));
	CHECK_EQ(looks, 0);
	/* behind the end of the file */
	CHECK(!load(2 * sizeof(file) & ~(TEXT - 1ull), TEXT, sizeof(file)));
	CHECK_EQ(looks, 0);
}

static void what_is_found(void)
{
	begin();
	found = 4;
	numbers[0] = SYS_clone3;
	numbers[1] = SYS_clone;
	numbers[2] = 57;
	numbers[3] = 0;
	CHECK(!load_text());
	CHECK_EQ(n_patched, 4);
	CHECK(patched_to[0] == (void *)mt_raw_clone3 && patched_to[1] == (void *)mt_raw_clone && patched_to[2] == (void *)mt_raw_fork &&
	      patched_to[3] == (void *)mt_raw_any);
	CHECK_EQ(patched[3], 3);
	CHECK_EQ(room, MAX_RAW);
	/* another one: its own rooms */
	found = 1;
	CHECK(!load(0, sizeof(file), sizeof(file)));
	CHECK_EQ(patched[4], 4);
	CHECK_EQ(room, MAX_RAW - 4);
	cannot_patch = 1;
	CHECK_STR(load_text(), not_replaced);
	begin();
	found = -1;
	CHECK_STR(load_text(), not_recognised);
	CHECK_EQ(n_patched, 0);
}

/* A plugin that comes and goes at the same place takes no more room each time. */
static void again_at_the_same_place(void)
{
	static uint8_t place[TEXT];
	int fd = memfd_create("object", MFD_CLOEXEC);

	begin();
	CHECK_EQ(write(fd, &file, sizeof(file)), sizeof(file));
	found = 2;
	for (int i = 0; i < 3; i++) {
		n_patched = 0;
		CHECK(!mt_sites_mapped(place, TEXT, fd, offsetof(struct file, text)));
		CHECK_EQ(n_patched, 2);
		CHECK_EQ(patched[1], 1);
	}
	CHECK_EQ(sites.n_raw, 2);
	close(fd);
}

/* Nothing is read that is not in the file. Code without headers has no functions, and all of it is looked at. */
static void files_that_are_cut(void)
{
	static const size_t cuts[] = { 1, 63, sizeof(Elf64_Ehdr), sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr) + 55 };

	for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
		begin();
		CHECK(!load(0, TEXT, cuts[i]));
		CHECK_EQ(looks, 1);
		CHECK_EQ(asked_bytes, cuts[i]);
		CHECK(!asked.frames);
	}
	begin();
	file.e.e_phoff = UINT64_MAX - 7;
	load_text();
	CHECK(!asked.frames && looks == 1);
	begin();
	file.e.e_phoff += 4;
	load_text();
	CHECK(!asked.frames && looks == 1);
	begin();
	file.e.e_phnum = UINT16_MAX;
	load_text();
	CHECK(!asked.frames && looks == 1);
	begin();
	file.e.e_ident[EI_CLASS] = ELFCLASS32;
	load_text();
	CHECK(!asked.frames && looks == 1);
	begin();
	file.ph[1].p_filesz = sizeof(file);
	load_text();
	CHECK(!asked.frames && looks == 1);
	begin();
	file.ph[1].p_offset = UINT64_MAX;
	load_text();
	CHECK(!asked.frames && looks == 1);
	/* the code itself is not all there */
	begin();
	file.ph[0].p_filesz = 2 * sizeof(file);
	CHECK(!load_text());
	CHECK_EQ(looks, 0);
}

static void go_note(size_t at)
{
	static const struct {
		Elf64_Nhdr n;
		char name[4];
	} note = { { 4, 0, 4 }, "Go" };

	memcpy(file.rest + at, &note, sizeof(note));
}

static void of_go(void)
{
	begin();
	go_note(0);
	go_sites = 2;
	CHECK(!load_text());
	CHECK_EQ(jumps, 2);
	CHECK(mt_arch_go_call == mt_go_call);
	/* a second one */
	CHECK_STR(load_text(), two_go);
	begin();
	go_note(0);
	advised = 0;
	CHECK_STR(load_text(), not_go);
	/* by what Go says about the build, in data that may be written to */
	begin();
	memcpy(file.data + 32, "\xff Go buildinf:", 14);
	go_sites = 1;
	CHECK(!load_text());
	CHECK_EQ(jumps, 1);
	begin();
	memcpy(file.data + 33, "\xff Go buildinf:", 14);
	go_sites = 1;
	CHECK(!load_text());
	CHECK_EQ(jumps, 0);
	/* a note that is longer than it can be */
	begin();
	((Elf64_Nhdr *)(void *)file.rest)->n_namesz = UINT32_MAX;
	((Elf64_Nhdr *)(void *)file.rest)->n_type = 4;
	CHECK(!load_text());
	CHECK_EQ(jumps, 0);
	/* without calls it is of no interest */
	begin();
	go_note(0);
	there = 0;
	CHECK(!load_text());
	CHECK_EQ(jumps, 0);
}

int main(void)
{
	code_and_its_table();
	what_is_found();
	again_at_the_same_place();
	files_that_are_cut();
	of_go();
	return mt_test_done();
}
