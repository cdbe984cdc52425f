/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * symbols.c - one Dwfl per file, opened when it is first asked for and kept for
 * the life of the process.
 *
 * A trace may have hundreds of images with the same libraries at different
 * places: everything is computed and cached with the addresses of the file, the
 * bias is added at the end. One Dwfl for a whole image would moreover refuse
 * two libraries that were at the same place one after the other.
 */
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scopes.h"
#include "symbols.h"
#include "util.h"

struct entry {
	uint64_t key;		/* 0 = free */
	struct mt_frames frames;
};

/* A defined symbol with an address; name is in the file's string table or the Dwfl's. */
struct symbol {
	uint64_t start, size;	/* as in the file */
	const char *name;
	uint64_t limit;		/* end of its section, as far as known */
	unsigned char bind, type;
};

struct variable {
	uint64_t start, size;	/* as in the file */
	char *name, *site;
};

struct segment {
	uint64_t start, end;
};

struct module {
	const char *path;
	bool opened, system;
	Dwfl *dwfl;
	Dwfl_Module *mod;
	struct mt_scopes *scopes;
	Elf *elf;		/* has their names; for the life of the process, or NULL */
	struct symbol *symbols;	/* sorted by address; of one address the best first */
	uint64_t *reach;	/* the greatest end of symbols 0 .. i */
	size_t n_symbols;
	bool have_symbols;
	struct entry *cache;	/* of frames, by address in the file */
	size_t mask, used;
	struct variable *variables;
	size_t n_variables;
	uint64_t min_bytes;	/* of variables; 0: not read yet */
	struct segment *segments;
	size_t n_segments;
	bool have_segments;
	struct module *next;
};

struct mt_symbols {
	const struct mt_object *o;
	struct module **m;	/* per object */
	size_t n;
};

static struct module *modules;
static struct module unknown = { .path = "", .opened = true };

static struct name {
	char *text;
	struct name *next;
} *all_names[4096];

static char *debug_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debug_path,
};

/* Libraries of the system are not what a person looks for in a name. */
static bool is_system_path(const char *p)
{
	static const char *const dirs[] = { "/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/",
		"/usr/include/", "/usr/local/include/c++/" };

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (!strncmp(p, dirs[i], strlen(dirs[i])))
			return true;
	return strstr(p, "/include/c++/") || strstr(p, "linux-vdso") || !p[0];
}

static struct module *module_for(const char *path, bool program)
{
	/* the program itself is never "system", wherever it is installed */
	bool system = !program && is_system_path(path);
	struct module *m;

	for (m = modules; m; m = m->next)
		if (m->system == system && !strcmp(m->path, path))
			return m;
	m = mt_alloc(sizeof(*m));
	m->path = mt_strdup(path);
	m->system = system;
	m->next = modules;
	modules = m;
	return m;
}

struct mt_symbols *mt_symbols_new(const struct mt_object *objects, size_t n)
{
	struct mt_symbols *s = mt_alloc(sizeof(*s));

	unsetenv("DEBUGINFOD_URLS");	/* no network, no surprise */
	s->m = mt_alloc((n + 1) * sizeof(*s->m));
	s->o = objects;
	s->n = n;
	for (size_t i = 0; i < n; i++)
		s->m[i] = module_for(objects[i].path, i == 0);
	return s;
}

void mt_symbols_free(struct mt_symbols *s)
{
	free(s->m);
	free(s);
}

static Dwfl_Module *module_open(struct module *m)
{
	if (m->opened)
		return m->mod;
	m->opened = true;
	if (m->path[0] != '/')	/* vdso */
		return NULL;
	m->dwfl = dwfl_begin(&callbacks);
	if (!m->dwfl)
		return NULL;
	dwfl_report_begin(m->dwfl);
	m->mod = dwfl_report_elf(m->dwfl, mt_base(m->path), m->path, -1, 0, true);
	dwfl_report_end(m->dwfl, NULL, NULL);
	return m->mod;
}

/* Strings of libdw die with their module, demangled ones at once: keep one copy. */
static const char *keep(const char *text)
{
	unsigned int h = 5381;
	struct name *k;

	if (!text)
		return NULL;
	for (const char *p = text; *p; p++)
		h = h * 33 + (unsigned char)*p;
	for (k = all_names[h & 4095]; k; k = k->next)
		if (!strcmp(k->text, text))
			return k->text;
	k = mt_alloc(sizeof(*k));
	k->text = mt_strdup(text);
	k->next = all_names[h & 4095];
	all_names[h & 4095] = k;
	return k->text;
}

/* The demangler of libstdc++ if this machine has one. */
static char *demangle(const char *name)
{
	static char *(*fn)(const char *, char *, size_t *, int *);
	static bool tried;
	int status = 0;

	if (strncmp(name, "_Z", 2))
		return NULL;
	if (!tried) {
		void *lib = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);

		tried = true;
		if (lib)
			fn = (__typeof__(fn))dlsym(lib, "__cxa_demangle");
	}
	return fn ? fn(name, NULL, NULL, &status) : NULL;
}

static const char *readable(const char *name)
{
	char *d = name ? demangle(name) : NULL;
	const char *k = keep(d ? d : name);

	free(d);
	return k;
}

static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	const char *n = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a))
		n = dwarf_formstring(&a);
	if (!n && dwarf_attr_integrate(die, DW_AT_name, &a))
		n = dwarf_formstring(&a);
	return readable(n);
}

static const char *absolute(const char *file, const char *dir)
{
	char *p;
	const char *k;

	if (!file || file[0] == '/' || !dir)
		return keep(file);
	p = mt_printf("%s/%s", dir, !strncmp(file, "./", 2) ? file + 2 : file);
	k = keep(p);
	free(p);
	return k;
}

/* Index of the object at an address; of several the one that was loaded last. -1: none. */
static long object_at(const struct mt_symbols *s, uint64_t addr)
{
	long best = -1;

	for (size_t i = 0; i < s->n; i++)
		if (addr >= s->o[i].start && addr < s->o[i].end &&
		    (best < 0 || s->o[i].birth >= s->o[best].birth))
			best = (long)i;
	return best;
}

/* --------------------------------------------------------------- symbols */

static int bind_rank(int bind)
{
	return bind == STB_GLOBAL || bind == STB_GNU_UNIQUE ? 0 : bind == STB_WEAK ? 1 : 2;
}

static size_t underscores(const char *s)
{
	return strspn(s, "_");
}

/*
 * Several symbols can name one address (aliases). The better one is global
 * before weak before local; then the larger; then the one with fewer leading
 * underscores (environ, not __environ); then the shorter; then the first in
 * alphabetical order. Negative: a is better.
 */
int mt_symbol_prefer(int bind_a, uint64_t size_a, const char *a, int bind_b, uint64_t size_b,
		     const char *b)
{
	size_t la = strlen(a), lb = strlen(b);

	if (bind_rank(bind_a) != bind_rank(bind_b))
		return bind_rank(bind_a) - bind_rank(bind_b);
	if (size_a != size_b)
		return size_a > size_b ? -1 : 1;
	if (underscores(a) != underscores(b))
		return underscores(a) < underscores(b) ? -1 : 1;
	if (la != lb)
		return la < lb ? -1 : 1;
	return strcmp(a, b);
}

static int by_address(const void *x, const void *y)
{
	const struct symbol *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return mt_symbol_prefer(a->bind, a->size, a->name, b->bind, b->size, b->name);
}

/* TLS symbols have offsets, no addresses. */
static bool names_memory(unsigned char type, unsigned int section)
{
	return type != STT_SECTION && type != STT_FILE && type != STT_TLS && section != SHN_UNDEF && section != SHN_ABS;
}

/*
 * The symbol table of the file itself, read as it lies there: through gelf, which asks for the
 * section of each symbol, it costs ten times as much. false: it has none (stripped), or is of
 * another machine.
 */
static bool read_symtab(struct module *m, size_t *cap)
{
	int fd = m->path[0] == '/' ? open(m->path, O_RDONLY | O_CLOEXEC) : -1;
	Elf_Scn *scn = NULL;
	bool found = false;
	unsigned int section = SHN_UNDEF;
	uint64_t limit = 0;
	Elf *elf;

	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	while (elf && !found && gelf_getclass(elf) == ELFCLASS64 && (scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh, sh_names;
		Elf_Data *d, *names;
		Elf_Scn *scn_names;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_SYMTAB)
			continue;
		scn_names = elf_getscn(elf, sh.sh_link);
		d = elf_getdata(scn, NULL);
		names = scn_names ? elf_getdata(scn_names, NULL) : NULL;
		if (!d || !names || !gelf_getshdr(scn_names, &sh_names) || !names->d_size ||
		    ((char *)names->d_buf)[names->d_size - 1])
			continue;
		found = true;
		for (size_t i = 1; i < d->d_size / sizeof(Elf64_Sym); i++) {
			const Elf64_Sym *sym = (const Elf64_Sym *)d->d_buf + i;
			const unsigned char type = ELF64_ST_TYPE(sym->st_info);

			if (!sym->st_name || sym->st_name >= names->d_size || !names_memory(type, sym->st_shndx))
				continue;
			if (sym->st_shndx != section) {
				GElf_Shdr in;
				Elf_Scn *of = elf_getscn(elf, sym->st_shndx);

				section = sym->st_shndx;
				limit = of && gelf_getshdr(of, &in) ? in.sh_addr + in.sh_size : UINT64_MAX;
			}
			MT_GROW(m->symbols, m->n_symbols, *cap);
			m->symbols[m->n_symbols++] = (struct symbol){ sym->st_value, sym->st_size,
				(char *)names->d_buf + sym->st_name, limit, ELF64_ST_BIND(sym->st_info), type };
		}
	}
	if (found)
		m->elf = elf;
	else
		elf_end(elf);
	close(fd);
	return found;
}

/* What dwfl finds: dynamic symbols, a separate debug file, compressed symbols. */
static void read_dwfl(struct module *m, size_t *cap)
{
	Dwfl_Module *mod = module_open(m);
	int n = mod ? dwfl_module_getsymtab(mod) : 0;

	for (int k = 1; k < n; k++) {
		GElf_Sym sym;
		GElf_Addr addr;
		GElf_Word shndx;
		const char *name = dwfl_module_getsym_info(mod, k, &sym, &addr, &shndx, NULL, NULL);

		if (!name || !*name || !names_memory(GELF_ST_TYPE(sym.st_info), shndx))
			continue;
		MT_GROW(m->symbols, m->n_symbols, *cap);
		m->symbols[m->n_symbols++] = (struct symbol){ addr, sym.st_size, name, UINT64_MAX, GELF_ST_BIND(sym.st_info),
			GELF_ST_TYPE(sym.st_info) };
	}
}

static void read_symbols(struct module *m)
{
	size_t cap = 0;
	uint64_t end = 0;

	m->have_symbols = true;
	if (!read_symtab(m, &cap))
		read_dwfl(m, &cap);
	if (!m->n_symbols)
		return;
	qsort(m->symbols, m->n_symbols, sizeof(*m->symbols), by_address);
	m->reach = mt_alloc(m->n_symbols * sizeof(*m->reach));
	for (size_t i = 0; i < m->n_symbols; i++) {
		if (m->symbols[i].start + m->symbols[i].size > end)
			end = m->symbols[i].start + m->symbols[i].size;
		m->reach[i] = end;
	}
}

#define NO_SIZE_REACH 4096	/* a symbol without a size (assembler) is taken for so many bytes behind it */

/*
 * The innermost symbol that holds the address, else one without a size that begins shortly before.
 * A stripped file has few symbols: none is stretched over a gap.
 */
static const char *symbol_at(struct module *m, uint64_t addr)
{
	const struct symbol *no_size = NULL, *best = NULL;
	size_t lo = 0, hi;

	if (!m->have_symbols)
		read_symbols(m);
	hi = m->n_symbols;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->symbols[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo--) {
		const struct symbol *s = &m->symbols[lo];

		if (best && s->start != best->start)
			break;
		if (addr - s->start < s->size)
			best = s;	/* of one address the first is the best: go on to it */
		else if (!s->size && addr - s->start < NO_SIZE_REACH && addr < s->limit && (!no_size || s->start == no_size->start))
			no_size = s;
		if (!best && m->reach[lo] <= addr && addr - s->start >= NO_SIZE_REACH)
			break;
	}
	return best ? best->name : no_size ? no_size->name : NULL;
}

#define MAX_CHAIN 63		/* functions inlined into each other */

/* ip is an address in the file. */
static void resolve(struct module *m, uint64_t ip, bool is_return, struct mt_frames *out)
{
	uint64_t addr = is_return ? ip - 1 : ip;
	struct mt_frame f[MAX_CHAIN + 1];
	Dwarf_Addr bias = 0;
	Dwfl_Module *mod;
	Dwfl_Line *line;
	Dwarf_Die *cu, chain[MAX_CHAIN];
	const char *comp_dir = NULL;
	int n = 1, n_chain, i;

	memset(f, 0, sizeof(f));
	if (m == &unknown)
		goto out;
	f[0].object = m->path;
	f[0].offset = ip;
	f[0].system = m->system;
	f[0].function = readable(symbol_at(m, addr));
	/* unpacking the debug information of libc alone costs more than all other work here */
	mod = m->system ? NULL : module_open(m);
	if (!mod)
		goto out;
	line = dwfl_module_getsrc(mod, addr);
	if (line) {
		int no, column = 0;

		comp_dir = dwfl_line_comp_dir(line);
		f[0].file = absolute(dwfl_lineinfo(line, NULL, &no, &column, NULL, NULL),
				     comp_dir);
		f[0].line = no;
		f[0].column = column;
	}
	cu = dwfl_module_addrdie(mod, addr, &bias);
	if (!cu)
		goto out;
	/* the physical nesting: inlined ... inlined, subprogram */
	if (!m->scopes)
		m->scopes = mt_scopes_new();
	n_chain = mt_scopes_at(m->scopes, cu, addr - bias, chain, MAX_CHAIN);
	n = 0;
	for (i = 0; i < n_chain; i++) {
		int tag = dwarf_tag(&chain[i]);
		Dwarf_Attribute a;
		Dwarf_Word w;
		Dwarf_Files *files;
		size_t n_files;
		const char *name;

		if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
			continue;
		name = die_name(&chain[i]);
		if (name)
			f[n].function = name;
		f[n].object = f[0].object;
		f[n].offset = f[0].offset;
		f[n].system = m->system || (f[n].file && is_system_path(f[n].file));
		if (tag == DW_TAG_subprogram) {
			n++;
			break;
		}
		f[n].inlined = true;
		/* where it was called is the position in the next frame */
		if (dwarf_formudata(dwarf_attr(&chain[i], DW_AT_call_line, &a), &w) == 0)
			f[n + 1].line = (int)w;
		if (dwarf_formudata(dwarf_attr(&chain[i], DW_AT_call_column, &a), &w) == 0)
			f[n + 1].column = (int)w;
		if (dwarf_formudata(dwarf_attr(&chain[i], DW_AT_call_file, &a), &w) == 0 &&
		    dwarf_getsrcfiles(cu, &files, &n_files) == 0 && w < n_files)
			f[n + 1].file = absolute(dwarf_filesrc(files, w, NULL, NULL), comp_dir);
		n++;
	}
	if (!n)
		n = 1;
	else
		f[n - 1].inlined = false;
out:
	out->n = n;
	out->f = mt_alloc((size_t)n * sizeof(*f));
	memcpy(out->f, f, (size_t)n * sizeof(*f));
}

static size_t slot(const struct module *m, uint64_t key)
{
	size_t i = key * 0x9e3779b97f4a7c15ull >> 20 & m->mask;

	while (m->cache[i].key && m->cache[i].key != key)
		i = (i + 1) & m->mask;
	return i;
}

static const struct mt_frames *look_up(struct mt_symbols *s, uint64_t ip, bool is_return)
{
	long at = object_at(s, is_return ? ip - 1 : ip);
	struct module *m = at < 0 ? &unknown : s->m[at];
	uint64_t addr = at < 0 ? ip : ip - s->o[at].bias, key = addr << 1 | is_return;
	size_t i;

	if (!key)
		key = 2;
	if (!m->cache || m->used * 2 > m->mask) {
		struct entry *old = m->cache;
		size_t n = old ? m->mask + 1 : 0;

		m->mask = n ? n * 2 - 1 : 255;
		m->cache = mt_alloc((m->mask + 1) * sizeof(*m->cache));
		for (size_t k = 0; k < n; k++)
			if (old[k].key)
				m->cache[slot(m, old[k].key)] = old[k];
		free(old);
	}
	i = slot(m, key);
	if (!m->cache[i].key) {
		m->cache[i].key = key;
		m->used++;
		resolve(m, addr, is_return, &m->cache[i].frames);
	}
	return &m->cache[i].frames;
}

const struct mt_frames *mt_symbols_frames(struct mt_symbols *s, uint64_t return_address)
{
	return look_up(s, return_address, true);
}

const struct mt_frames *mt_symbols_function(struct mt_symbols *s, uint64_t entry)
{
	return look_up(s, entry, false);
}

/* --------------------------------------------------------------- statics */

/* Definition places of variables with a fixed address, sorted. */
struct place {
	uint64_t addr;
	const char *file;
	int line;
};

struct places {
	struct place *p;
	size_t n, cap;
	unsigned int budget;	/* DIEs that may still be looked at */
};

static int by_place(const void *x, const void *y)
{
	const struct place *a = x, *b = y;

	return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static void variable(Dwarf_Die *cu, Dwarf_Die *die, Dwarf_Addr bias, struct places *out)
{
	Dwarf_Attribute a;
	Dwarf_Op *op;
	size_t n, n_files;
	Dwarf_Word file, line;
	Dwarf_Files *files;
	Dwarf_Attribute dir;
	const char *comp_dir = NULL;

	if (!dwarf_attr(die, DW_AT_location, &a) || dwarf_getlocation(&a, &op, &n) || n != 1 ||
	    op[0].atom != DW_OP_addr)
		return;
	if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_line, &a), &line) ||
	    dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &a), &file) ||
	    dwarf_getsrcfiles(cu, &files, &n_files) || file >= n_files)
		return;
	if (dwarf_attr(cu, DW_AT_comp_dir, &dir))
		comp_dir = dwarf_formstring(&dir);
	MT_GROW(out->p, out->n, out->cap);
	out->p[out->n++] = (struct place){ op[0].number + bias,
		absolute(dwarf_filesrc(files, file, NULL, NULL), comp_dir), (int)line };
}

static void walk(Dwarf_Die *cu, Dwarf_Die *parent, Dwarf_Addr bias, struct places *out, int depth)
{
	Dwarf_Die die;

	if (depth > 12 || dwarf_child(parent, &die))
		return;
	do {
		if (!out->budget)
			return;
		out->budget--;
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
			variable(cu, &die, bias, out);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:		/* Fortran */
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
		case DW_TAG_common_block:
			walk(cu, &die, bias, out, depth + 1);
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

static void read_variables(struct module *m, uint64_t min_bytes)
{
	Dwfl_Module *mod = module_open(m);
	struct symbol *v = NULL;
	struct places places = { NULL, 0, 0, 3000000 };
	size_t n = 0, cap = 0, cap_out = 0;

	m->n_variables = 0;
	if (!mod)
		return;
	if (!m->have_symbols)
		read_symbols(m);
	for (size_t k = 0; k < m->n_symbols; k++) {	/* in the order of their addresses */
		const struct symbol *sym = &m->symbols[k];

		if ((sym->type != STT_OBJECT && sym->type != STT_COMMON) || sym->size < min_bytes || !sym->size)
			continue;
		MT_GROW(v, n, cap);
		v[n++] = *sym;
	}
	if (n) {
		Dwarf_Addr bias;
		Dwarf_Die *cu = NULL;

		if (!m->system)
			while ((cu = dwfl_module_nextcu(mod, cu, &bias)))
				walk(cu, cu, bias, &places, 0);
		if (places.n)
			qsort(places.p, places.n, sizeof(*places.p), by_place);
	}
	for (size_t k = 0; k < n; k++) {
		struct place want = { v[k].start, NULL, 0 }, *p;
		char *d;

		if (k && v[k].start == v[k - 1].start)
			continue;
		p = places.n ? bsearch(&want, places.p, places.n, sizeof(want), by_place) : NULL;
		d = demangle(v[k].name);
		MT_GROW(m->variables, m->n_variables, cap_out);
		m->variables[m->n_variables++] = (struct variable){ v[k].start, v[k].size,
			mt_strdup(d ? d : v[k].name),
			p && p->file ? mt_printf("%s:%d", p->file, p->line) : NULL };
		free(d);
	}
	free(v);
	free(places.p);
}

int mt_symbols_statics(struct mt_symbols *s, size_t i, uint64_t min_bytes, mt_static_fn found,
		       void *arg)
{
	struct module *m = s->m[i];

	if (m->min_bytes != min_bytes + 1)
		read_variables(m, min_bytes);
	m->min_bytes = min_bytes + 1;	/* 0 stands for "never read" */
	for (size_t k = 0; k < m->n_variables; k++)
		found(arg, m->variables[k].name, m->variables[k].start + s->o[i].bias,
		      m->variables[k].size, m->variables[k].site);
	return m->mod ? 0 : -ENOENT;
}

static void read_segments(struct module *m)
{
	int fd = m->path[0] == '/' ? open(m->path, O_RDONLY | O_CLOEXEC) : -1;
	size_t n = 0, cap = 0;
	Elf *elf;

	m->have_segments = true;
	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_getphdrnum(elf, &n) == 0) {
		for (size_t k = 0; k < n; k++) {
			GElf_Phdr ph;

			if (!gelf_getphdr(elf, (int)k, &ph) || ph.p_type != PT_LOAD ||
			    !(ph.p_flags & PF_W))
				continue;
			MT_GROW(m->segments, m->n_segments, cap);
			m->segments[m->n_segments++] = (struct segment){ ph.p_vaddr & ~4095ull,
				(ph.p_vaddr + ph.p_memsz + 4095) & ~4095ull };
		}
	}
	elf_end(elf);
	close(fd);
}

int mt_symbols_segments(struct mt_symbols *s, size_t i, mt_segment_fn found, void *arg)
{
	struct module *m = s->m[i];

	if (!m->have_segments)
		read_segments(m);
	for (size_t k = 0; k < m->n_segments; k++)
		found(arg, m->segments[k].start + s->o[i].bias, m->segments[k].end + s->o[i].bias);
	return m->n_segments ? 0 : -ENOENT;
}
