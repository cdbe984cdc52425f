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

#include "common/arch.h"
#include "cli/names/scopes.h"
#include "cli/names/demangle.h"
#include "cli/names/generated.h"
#include "cli/names/symbols.h"
#include "cli/names/types.h"
#include "cli/base/util.h"
#include "cli/names/variables.h"

struct entry {
	uint64_t key;		/* 0 = free */
	struct mt_frames frames;
};

struct segment {
	uint64_t start, end;
	const char *table;	/* a section in one */
};

/* Code of a compilation unit, in the addresses of its debug information. */
struct unit {
	uint64_t start, end;
	Dwarf_Die *die;
};

struct module {
	const char *path;
	bool opened, system;
	Dwfl *dwfl;
	Dwfl_Module *mod;
	struct mt_scopes *scopes;
	struct unit *units;	/* sorted by start; read when they are needed */
	size_t n_units;
	bool have_units;
	Elf *elf;		/* has their names; for the life of the process, or NULL */
	struct mt_symbol *symbols;	/* sorted by address; of one address the best first */
	uint64_t *reach;	/* the greatest end of symbols 0 .. i */
	const char **shown;	/* names as a person reads them, of those that were asked for */
	size_t n_symbols;
	struct mt_symbol *tls;	/* of thread-local data, sorted likewise */
	size_t n_tls;
	bool have_symbols;
	struct entry *cache;	/* of frames, by address in the file */
	size_t mask, used;
	struct mt_variables variables, tls_variables;
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
	struct mt_generated generated;
};

static struct module *modules;
static struct module unknown = { .path = "", .opened = true };

/* Without the network, for libraries of the system: there are many, and their variables are not what a person looks for. */
static int find_debuginfo_here(Dwfl_Module *mod, void **data, const char *name, Dwarf_Addr base, const char *file,
			       const char *link, GElf_Word crc, char **found)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	char *kept = urls ? mt_strdup(urls) : NULL;
	int fd;

	unsetenv("DEBUGINFOD_URLS");
	fd = dwfl_standard_find_debuginfo(mod, data, name, base, file, link, crc, found);
	if (kept)
		setenv("DEBUGINFOD_URLS", kept, 1);
	free(kept);
	return fd;
}

static char *debug_path;
static const Dwfl_Callbacks callbacks[2] = {
	{
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debug_path,
	},
	{
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = find_debuginfo_here,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &debug_path,
	},
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

	setenv("DEBUGINFOD_TIMEOUT", "10", 0);	/* s; a server that does not answer must not hold the end of a recording */
	s->m = mt_alloc((n + 1) * sizeof(*s->m));
	s->o = objects;
	s->n = n;
	for (size_t i = 0; i < n; i++)
		s->m[i] = module_for(objects[i].path, i == 0);
	return s;
}

void mt_symbols_free(struct mt_symbols *s)
{
	mt_generated_free(&s->generated);
	free(s->m);
	free(s);
}

static Dwfl_Module *module_open(struct module *m)
{
	if (m->opened)
		return m->mod;
	m->opened = true;
	if (m->path[0] != '/' || !mt_is_file(m->path))	/* vdso, or memory of a device */
		return NULL;
	m->dwfl = dwfl_begin(&callbacks[m->system]);
	if (!m->dwfl)
		return NULL;
	dwfl_report_begin(m->dwfl);
	m->mod = dwfl_report_elf(m->dwfl, mt_base(m->path), m->path, -1, 0, true);
	dwfl_report_end(m->dwfl, NULL, NULL);
	return m->mod;
}

static const char *readable(const char *name)
{
	char *d = name ? mt_symbols_demangle(name) : NULL;
	const char *k = mt_symbols_keep(d ? d : name);

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
static int prefer(int bind_a, uint64_t size_a, const char *a, int bind_b, uint64_t size_b, const char *b)
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
	const struct mt_symbol *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return prefer(a->bind, a->size, a->name, b->bind, b->size, b->name);
}

static bool names_memory(unsigned char type, unsigned int section)
{
	return type != STT_SECTION && type != STT_FILE && section != SHN_UNDEF && section != SHN_ABS;
}

/* What a section means for its symbols. */
struct section {
	unsigned int index;
	uint64_t limit;
	bool writable;		/* not what the loader relocates and then protects */
};

static void look_at_section(Elf *elf, unsigned int index, struct section *s)
{
	size_t names;
	GElf_Shdr sh;
	Elf_Scn *of;
	const char *name;

	if (s->index == index)
		return;
	*s = (struct section){ index, UINT64_MAX, false };
	of = elf ? elf_getscn(elf, index) : NULL;
	if (!of || !gelf_getshdr(of, &sh))
		return;
	s->limit = sh.sh_addr + sh.sh_size;
	name = elf_getshdrstrndx(elf, &names) == 0 ? elf_strptr(elf, names, sh.sh_name) : NULL;
	s->writable = sh.sh_flags & SHF_WRITE && name && strncmp(name, ".data.rel.ro", 12) && strncmp(name, ".got", 4);
}

/* Thread-local symbols have offsets, no addresses. */
static void add_symbol(struct module *m, size_t cap[2], const struct mt_symbol *sym)
{
	if (sym->type == STT_TLS) {
		MT_GROW(m->tls, m->n_tls, cap[1]);
		m->tls[m->n_tls++] = *sym;
	} else {
		MT_GROW(m->symbols, m->n_symbols, cap[0]);
		m->symbols[m->n_symbols++] = *sym;
	}
}

/*
 * The symbol table of the file itself, read as it lies there: through gelf, which asks for the
 * section of each symbol, it costs ten times as much. false: it has none (stripped), or is of
 * another machine.
 */
static bool read_symtab(struct module *m, size_t cap[2])
{
	int fd = m->path[0] == '/' && mt_is_file(m->path) ? open(m->path, O_RDONLY | O_CLOEXEC) : -1;
	Elf_Scn *scn = NULL;
	bool found = false;
	struct section in = { SHN_UNDEF, 0, false };
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
			look_at_section(elf, sym->st_shndx, &in);
			add_symbol(m, cap, &(struct mt_symbol){ sym->st_value, sym->st_size,
				   (char *)names->d_buf + sym->st_name, in.limit, ELF64_ST_BIND(sym->st_info), type,
				   in.writable });
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
static void read_dwfl(struct module *m, size_t cap[2])
{
	Dwfl_Module *mod = module_open(m);
	int n = mod ? dwfl_module_getsymtab(mod) : 0;
	struct section in = { SHN_UNDEF, 0, false };
	Elf *of = NULL;

	for (int k = 1; k < n; k++) {
		GElf_Sym sym;
		GElf_Addr addr;
		GElf_Word shndx;
		Elf *elf;
		const char *name = dwfl_module_getsym_info(mod, k, &sym, &addr, &shndx, &elf, NULL);
		const unsigned char type = GELF_ST_TYPE(sym.st_info);

		if (!name || !*name || !names_memory(type, shndx))
			continue;
		if (elf != of)
			in.index = SHN_UNDEF;
		of = elf;
		look_at_section(elf, shndx, &in);
		/* the section is where the file has it, the address where the module lies */
		add_symbol(m, cap, &(struct mt_symbol){ type == STT_TLS ? sym.st_value : addr, sym.st_size, name,
			   in.limit == UINT64_MAX ? UINT64_MAX : addr + (in.limit - sym.st_value),
			   GELF_ST_BIND(sym.st_info), type, in.writable });
	}
}

static void read_symbols(struct module *m)
{
	size_t cap[2] = { 0, 0 };
	uint64_t end = 0;

	m->have_symbols = true;
	if (!read_symtab(m, cap))
		read_dwfl(m, cap);
	if (m->n_tls)
		qsort(m->tls, m->n_tls, sizeof(*m->tls), by_address);
	if (!m->n_symbols)
		return;
	m->shown = mt_alloc(m->n_symbols * sizeof(*m->shown));
	m->reach = mt_alloc(m->n_symbols * sizeof(*m->reach));
	for (size_t i = 0; i < m->n_symbols; i++)
		m->reach[i] = m->symbols[i].start;
	mt_sort(m->symbols, m->n_symbols, sizeof(*m->symbols), m->reach, by_address);
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
	const struct mt_symbol *no_size = NULL, *best = NULL;
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
		const struct mt_symbol *s = &m->symbols[lo];

		if (best && s->start != best->start)
			break;
		if (addr - s->start < s->size)
			best = s;	/* of one address the first is the best: go on to it */
		else if (!s->size && addr - s->start < NO_SIZE_REACH && addr < s->limit && (!no_size || s->start == no_size->start))
			no_size = s;
		if (!best && m->reach[lo] <= addr && addr - s->start >= NO_SIZE_REACH)
			break;
	}
	if (!best)
		best = no_size;
	if (!best)
		return NULL;
	lo = (size_t)(best - m->symbols);
	if (!m->shown[lo])
		m->shown[lo] = readable(best->name);
	return m->shown[lo];
}

static int unit_order(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void read_units(struct module *m, Dwfl_Module *mod)
{
	size_t cap = 0;
	Dwarf_Addr bias;

	for (Dwarf_Die *cu = NULL; (cu = dwfl_module_nextcu(mod, cu, &bias));) {
		Dwarf_Addr base, start, end;

		for (ptrdiff_t at = 0; (at = dwarf_ranges(cu, at, &base, &start, &end)) > 0;) {
			MT_GROW(m->units, m->n_units, cap);
			m->units[m->n_units++] = (struct unit){ start, end, cu };
		}
	}
	if (m->n_units)
		qsort(m->units, m->n_units, sizeof(*m->units), unit_order);
	m->have_units = true;
}

/*
 * The unit of an address. A table of the file (.debug_aranges) has those of most compilers, and libdw takes it for complete;
 * but clang writes none, so that its units are missing, or another one is found, where gcc made a part of the program.
 */
static Dwarf_Die *unit_at(struct module *m, Dwfl_Module *mod, uint64_t addr, Dwarf_Addr *bias)
{
	Dwarf_Die *cu = dwfl_module_addrdie(mod, addr, bias);
	size_t lo = 0, hi;

	if ((cu && dwarf_haspc(cu, addr - *bias) > 0) || !dwfl_module_getdwarf(mod, bias))
		return cu;
	if (!m->have_units)
		read_units(m, mod);
	for (hi = m->n_units; lo < hi;) {
		const size_t mid = (lo + hi) / 2;

		if (m->units[mid].start <= addr - *bias)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && addr - *bias < m->units[lo - 1].end ? m->units[lo - 1].die : NULL;
}

#define MAX_CHAIN 63		/* functions inlined into each other */

/* ip is an address in the file. */
static void resolve(struct module *m, uint64_t ip, bool is_return, struct mt_frames *out)
{
	uint64_t addr = is_return ? ip - 1 : ip;
	struct mt_frame f[MAX_CHAIN + 1];
	Dwarf_Addr bias = 0;
	Dwfl_Module *mod;
	Dwarf_Line *line;
	Dwarf_Attribute dir;
	Dwarf_Die *cu, chain[MAX_CHAIN];
	const char *comp_dir;
	int n = 1, n_chain, i;

	memset(f, 0, sizeof(f));
	if (m == &unknown)
		goto out;
	f[0].object = m->path;
	f[0].offset = ip;
	f[0].system = m->system;
	f[0].function = symbol_at(m, addr);
	/* unpacking the debug information of libc alone costs more than all other work here */
	mod = m->system ? NULL : module_open(m);
	if (!mod)
		goto out;
	/* dwfl_module_getsrc() has the line before the address, of whatever unit .debug_aranges knows: Go's units are not in it */
	cu = unit_at(m, mod, addr, &bias);
	if (!cu)
		goto out;
	comp_dir = dwarf_formstring(dwarf_attr(cu, DW_AT_comp_dir, &dir));
	line = dwarf_getsrc_die(cu, addr - bias);
	if (line) {
		f[0].file = mt_symbols_absolute(dwarf_linesrc(line, NULL, NULL), comp_dir);
		dwarf_lineno(line, &f[0].line);
		dwarf_linecol(line, &f[0].column);
	}
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
			f[n + 1].file = mt_symbols_absolute(dwarf_filesrc(files, w, NULL, NULL), comp_dir);
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

bool mt_symbols_perf_map(struct mt_symbols *s, const char *path)
{
	return mt_generated_read(&s->generated, path);
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

	if (at < 0) {
		const struct mt_frames *made = mt_generated_at(&s->generated, is_return ? ip - 1 : ip);

		if (made)
			return made;
	}
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

/* The functions around a return address, innermost first, and their unit; how many, 0: none is known. */
static int functions_at(struct mt_symbols *s, uint64_t return_address, Dwarf_Die *chain, Dwarf_Die **cu, Dwarf_Addr *pc)
{
	const long at = object_at(s, return_address - 1);
	struct module *m = at < 0 ? &unknown : s->m[at];
	const uint64_t addr = at < 0 ? 0 : return_address - 1 - s->o[at].bias;
	Dwfl_Module *mod = at < 0 || m->system ? NULL : module_open(m);
	Dwarf_Addr bias;

	*cu = mod ? unit_at(m, mod, addr, &bias) : NULL;
	if (!*cu)
		return 0;
	if (!m->scopes)
		m->scopes = mt_scopes_new();
	*pc = addr - bias;
	return mt_scopes_at(m->scopes, *cu, *pc, chain, MAX_CHAIN);
}

bool mt_symbols_block(struct mt_symbols *s, uint64_t return_address, int frame, const char *name, struct mt_element *out)
{
	Dwarf_Die chain[MAX_CHAIN], *cu;
	Dwarf_Addr pc;
	const int n = functions_at(s, return_address, chain, &cu, &pc);

	return frame < n && mt_type_of_block(cu, chain + frame, n - frame, pc, name, out);
}

char *mt_symbols_declared(struct mt_symbols *s, uint64_t return_address, int frame)
{
	const struct mt_frames *fr = mt_symbols_frames(s, return_address);
	Dwarf_Die chain[MAX_CHAIN], *cu;
	Dwarf_Addr pc;
	const int n = functions_at(s, return_address, chain, &cu, &pc);

	return frame < n && frame < fr->n && fr->f[frame].line > 0 ? mt_scopes_declared(&chain[frame], fr->f[frame].line) : NULL;
}

/* --------------------------------------------------------------- statics */

static void read_variables(struct module *m, uint64_t min_bytes)
{
	Dwfl_Module *mod = m->system ? NULL : module_open(m);
	struct mt_places *places;
	struct mt_symbol *v = NULL;
	size_t n = 0, cap = 0;
	/* in libraries of the system a small object tells a person nothing; of what is only read neither */
	const uint64_t large = min_bytes > MT_MIN_STATIC_SYSTEM ? min_bytes : MT_MIN_STATIC_SYSTEM;
	const uint64_t written = m->system ? large : min_bytes;

	mt_variables_free(&m->variables);
	mt_variables_free(&m->tls_variables);
	if (!m->have_symbols)
		read_symbols(m);
	for (size_t k = 0; k < m->n_symbols; k++)
		if (m->symbols[k].type == STT_OBJECT || m->symbols[k].type == STT_COMMON) {
			MT_GROW(v, n, cap);
			v[n++] = m->symbols[k];
		}
	places = mt_places_read(mod);
	mt_variables_find(&m->variables, v, n, false, places, large, written);
	mt_variables_find(&m->tls_variables, m->tls, m->n_tls, true, places, large, written);
	mt_places_free(places);
	free(v);
}

static void have_variables(struct module *m, uint64_t min_bytes)
{
	if (m->min_bytes != min_bytes + 1)
		read_variables(m, min_bytes);
	m->min_bytes = min_bytes + 1;	/* 0 stands for "never read" */
}

int mt_symbols_statics(struct mt_symbols *s, size_t i, uint64_t min_bytes, mt_static_fn found,
		       void *arg)
{
	struct module *m = s->m[i];

	have_variables(m, min_bytes);
	for (size_t k = 0; k < m->variables.n; k++)
		found(arg, &m->variables.v[k], m->variables.v[k].start + s->o[i].bias);
	return m->n_symbols || m->mod ? 0 : -ENOENT;
}

void mt_symbols_thread_locals(struct mt_symbols *s, size_t i, uint64_t min_bytes, mt_static_fn found, void *arg)
{
	struct module *m = s->m[i];

	have_variables(m, min_bytes);
	for (size_t k = 0; k < m->tls_variables.n; k++)
		found(arg, &m->tls_variables.v[k], m->tls_variables.v[k].start);
}

static void read_segments(struct module *m)
{
	int fd = m->path[0] == '/' && mt_is_file(m->path) ? open(m->path, O_RDONLY | O_CLOEXEC) : -1;
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
			m->segments[m->n_segments++] = (struct segment){ ph.p_vaddr & ~(MT_PAGE - 1),
				(ph.p_vaddr + ph.p_memsz + MT_PAGE - 1) & ~(MT_PAGE - 1), NULL };
		}
	}
	for (Elf_Scn *scn = NULL; elf && elf_getshdrstrndx(elf, &n) == 0 && (scn = elf_nextscn(elf, scn)); ) {
		GElf_Shdr sh;
		const char *name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, n, sh.sh_name) : NULL;

		if (!name || strncmp(name, ".got", 4) || !sh.sh_size)
			continue;
		MT_GROW(m->segments, m->n_segments, cap);
		m->segments[m->n_segments++] = (struct segment){ sh.sh_addr, sh.sh_addr + sh.sh_size, mt_symbols_keep(name) };
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
		found(arg, m->segments[k].start + s->o[i].bias, m->segments[k].end + s->o[i].bias,
		      m->segments[k].table);
	return m->n_segments ? 0 : -ENOENT;
}
