// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/names/symbols.c cli/names/variables.c cli/names/types.c cli/names/scopes.c cli/base/util.c cli/names/demangle.c cli/names/generated.c
// libs: -ldw -lelf -ljansson -liberty
/* Functions of this program and of the C library by address, compared with libdwfl's own search. */
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "cli/names/symbols.h"

/* Symbols of an assembler: without a size, one inside another, an alias. */
asm(".text\n"
    ".type outer_fn, @function\n.globl outer_fn\nouter_fn: .fill 16, 1, 0x90\n"
    ".type inner_fn, @function\ninner_fn: .fill 16, 1, 0x90\n.size inner_fn, 16\n"
    ".fill 16, 1, 0x90\nret\n.size outer_fn, 49\n"
    ".globl __outer_alias\n.set __outer_alias, outer_fn\n.type __outer_alias, @function\n"
    ".balign 64\nno_size_label: .fill 8192, 1, 0x90\nret\n"
    ".type last_fn, @function\nlast_fn: ret\n.size last_fn, 1\n");
extern const char outer_fn[], inner_fn[], no_size_label[], last_fn[];
asm(".globl inner_fn\n.globl no_size_label\n.globl last_fn\n");

struct found {
	struct mt_object o[2];
	size_t n;
};

static int on_object(struct dl_phdr_info *i, size_t size, void *arg)
{
	struct found *f = arg;
	struct mt_object *o = &f->o[f->n];
	uint64_t lo = UINT64_MAX, hi = 0;

	(void)size;
	if (f->n == 2 || (*i->dlpi_name && !strstr(i->dlpi_name, "libc.so")))
		return 0;
	for (int k = 0; k < i->dlpi_phnum; k++)
		if (i->dlpi_phdr[k].p_type == PT_LOAD) {
			const uint64_t a = i->dlpi_addr + i->dlpi_phdr[k].p_vaddr;

			lo = a < lo ? a : lo;
			hi = a + i->dlpi_phdr[k].p_memsz > hi ? a + i->dlpi_phdr[k].p_memsz : hi;
		}
	o->bias = i->dlpi_addr;
	o->start = lo;
	o->end = hi;
	o->death = -1;
	o->path = *i->dlpi_name ? strdup(i->dlpi_name) : realpath("/proc/self/exe", NULL);
	f->n++;
	return 0;
}

static const char *function(struct mt_symbols *s, const void *at)
{
	const char *name = mt_symbols_function(s, (uint64_t)at)->f[0].function;

	return name ? name : "(none)";
}

static char *debug_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf, .find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address, .debuginfo_path = &debug_path,
};

/* At many addresses of an object: the same symbol, or another name of the same place. */
static void compare(struct mt_symbols *s, const struct mt_object *o)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *mod;
	size_t same = 0, other = 0, named = 0;
	uint64_t seed = 88172645463325252ull;

	dwfl_report_begin(dwfl);
	mod = dwfl_report_elf(dwfl, "x", o->path, -1, 0, true);
	dwfl_report_end(dwfl, NULL, NULL);
	for (int i = 0; i < 3000; i++) {
		uint64_t at;
		GElf_Sym sym, ours;
		GElf_Off off;
		const struct mt_frames *frames;
		const char *want, *got;
		bool right;

		seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
		at = seed % (o->end - o->start) + o->start - o->bias;
		want = dwfl_module_addrinfo(mod, at, &off, &sym, NULL, NULL, NULL);
		if (want && !(off < sym.st_size || (sym.st_size == 0 && off < 4096)))
			want = NULL;
		if (want && !strncmp(want, "_Z", 2))
			continue;
		frames = mt_symbols_function(s, at + o->bias);
		got = frames->f[frames->n - 1].function;	/* what is inlined has no symbol */
		named += want != NULL;
		/* debug information has no suffixes of the compiler ("walk.part.0"), nor versions */
		right = !want == !got && (!want || !strncmp(want, got, strlen(got)));
		same += right;
		if (right || !want || !got)
			continue;
		/* an alias? */
		for (int k = 1, n = dwfl_module_getsymtab(mod); k < n && !right; k++) {
			GElf_Addr a;
			const char *name = dwfl_module_getsym_info(mod, k, &ours, &a, NULL, NULL, NULL);

			right = name && !strcmp(name, got) && a == at - off;
		}
		other += right;
	}
	printf("%s: %zu same, %zu aliases, %zu named\n", o->path, same, other, named);
	CHECK(same + other >= 2990);
	CHECK(named > 500);
	dwfl_end(dwfl);
}

/*
 * A library of three sources: with debug information and code at its begin (what is cold) and its end, with it but not in
 * .debug_aranges (as Go and clang do), and without. What lies between the parts of the first one is not of it.
 */
static void mixed(void)
{
	static const char build[] =
		"set -e; cd $DIR; printf 'int a(int x)\\n{\\n\\treturn x + 1;\\n}\\nvoid abort(void);\\n' >a.c;"
		" printf 'int d(int x)\\n{\\n\\tif (x < 0)\\n\\t\\tabort();\\n\\treturn x;\\n}\\n' >>a.c;"
		" printf '\\n\\n\\nint b(int x)\\n{\\n\\treturn x * 3;\\n}\\n' >b.c; printf 'int c(int x) { return x * 5; }\\n' >c.c;"
		" ${CC:-cc} -g -O2 -fPIC -c a.c b.c; ${CC:-cc} -g0 -O2 -fPIC -c c.c;"
		" objcopy --remove-section .debug_aranges --remove-section .rela.debug_aranges b.o;"
		" ${CC:-cc} -shared -o mixed.so b.o c.o a.o";
	char dir[] = "/tmp/memtrace-symbols-XXXXXX", *path;
	struct mt_object o = { .end = 1 << 20, .death = -1 };
	struct mt_symbols *s;
	const struct mt_frames *f;
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *mod;
	GElf_Addr at[3] = { 0 };

	CHECK(mkdtemp(dir) && asprintf(&path, "%s/mixed.so", dir) > 0);
	setenv("DIR", dir, 1);
	CHECK_EQ(system(build), 0);
	dwfl_report_begin(dwfl);
	mod = dwfl_report_elf(dwfl, "x", path, -1, 0, true);
	dwfl_report_end(dwfl, NULL, NULL);
	for (int k = 1, n = dwfl_module_getsymtab(mod); k < n; k++) {
		GElf_Sym sym;
		GElf_Addr a;
		const char *name = dwfl_module_getsym_info(mod, k, &sym, &a, NULL, NULL, NULL);

		if (name && *name >= 'a' && *name <= 'c' && !name[1])
			at[*name - 'a'] = a;
	}
	CHECK(at[1] && at[1] < at[2] && at[2] < at[0]);
	o.path = path;
	s = mt_symbols_new(&o, 1);
	f = mt_symbols_function(s, at[0]);
	CHECK_STR(f->f[0].function, "a");
	CHECK(f->f[0].file && strstr(f->f[0].file, "/a.c") && f->f[0].line == 3);
	f = mt_symbols_function(s, at[1]);
	CHECK_STR(f->f[0].function, "b");
	CHECK(f->f[0].file && strstr(f->f[0].file, "/b.c") && f->f[0].line == 6);
	f = mt_symbols_function(s, at[2]);
	CHECK_STR(f->f[0].function, "c");
	CHECK(!f->f[0].file && !f->f[0].line);	/* not the line before it */
	mt_symbols_free(s);
	dwfl_end(dwfl);
	CHECK_EQ(system("rm -r $DIR"), 0);
	free(path);
}

/* A symbol without a size, such as _init of a stripped program, is no name of what lies in the next section. */
static void stripped(void)
{
	static const char build[] =
		"set -e; cd $DIR; printf '%s' '__asm__(\".section .first,\\\"ax\\\",@progbits\\n.globl bare\\n.type bare,@function\\nbare: ret\\n"
		".section .second,\\\"ax\\\",@progbits\\n.fill 64,1,0x90\\n.globl after\\n.type after,@function\\nafter: ret\\n"
		".size after,1\\n.text\\n\");' >s.c; ${CC:-cc} -shared -o s.so s.c; strip s.so";
	char dir[] = "/tmp/memtrace-symbols-XXXXXX", *path;
	struct mt_object o = { .end = 1 << 20, .death = -1 };
	struct mt_symbols *s;
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *mod;
	GElf_Addr bare = 0, after = 0;

	CHECK(mkdtemp(dir) && asprintf(&path, "%s/s.so", dir) > 0);
	setenv("DIR", dir, 1);
	CHECK_EQ(system(build), 0);
	dwfl_report_begin(dwfl);
	mod = dwfl_report_elf(dwfl, "x", path, -1, 0, true);
	dwfl_report_end(dwfl, NULL, NULL);
	for (int k = 1, n = dwfl_module_getsymtab(mod); k < n; k++) {
		GElf_Sym sym;
		GElf_Addr a;
		const char *name = dwfl_module_getsym_info(mod, k, &sym, &a, NULL, NULL, NULL);

		if (name && !strcmp(name, "bare"))
			bare = a;
		if (name && !strcmp(name, "after"))
			after = a;
	}
	CHECK(bare && bare < after && after - bare < 4096);
	o.path = path;
	s = mt_symbols_new(&o, 1);
	CHECK_STR(function(s, (const void *)bare), "bare");
	CHECK_STR(function(s, (const void *)after), "after");
	CHECK_STR(function(s, (const void *)(after - 8)), "(none)");
	mt_symbols_free(s);
	dwfl_end(dwfl);
	CHECK_EQ(system("rm -r $DIR"), 0);
	free(path);
}

int main(void)
{
	static struct found f;
	struct mt_symbols *s;

	dl_iterate_phdr(on_object, &f);
	CHECK_EQ(f.n, 2);
	s = mt_symbols_new(f.o, f.n);
	CHECK_STR(function(s, main), "main");
	CHECK_STR(function(s, outer_fn), "outer_fn");		/* fewer underscores than its alias */
	CHECK_STR(function(s, outer_fn + 15), "outer_fn");
	CHECK_STR(function(s, inner_fn), "inner_fn");		/* the innermost */
	CHECK_STR(function(s, inner_fn + 15), "inner_fn");
	CHECK_STR(function(s, inner_fn + 16), "outer_fn");	/* behind it: the one around it */
	CHECK_STR(function(s, outer_fn + 48), "outer_fn");
	CHECK_STR(function(s, no_size_label), "no_size_label");
	CHECK_STR(function(s, no_size_label + 4095), "no_size_label");
	CHECK_STR(function(s, no_size_label + 4096), "(none)");	/* not stretched */
	CHECK_STR(function(s, last_fn), "last_fn");
	CHECK_STR(function(s, (void *)8), "(none)");
	for (size_t i = 0; i < f.n; i++)
		compare(s, &f.o[i]);
	mt_symbols_free(s);
	mixed();
	stripped();
	return mt_test_done();
}
