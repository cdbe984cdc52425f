/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * finish.c - from raw log, objects and debug information to the finished files.
 *
 * Everything is made new from what the program wrote, so that the command can
 * be run again, and on a trace whose recorder was killed.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/arch.h"
#include "cli/trace/accesses.h"
#include "cli/names/ctxlog.h"
#include "cli/names/finish.h"
#include "cli/names/library.h"
#include "cli/trace/intervals.h"
#include "common/out.h"
#include "cli/names/site.h"
#include "cli/names/symbols.h"
#include "cli/names/unseen.h"
#include "cli/trace/tracedir.h"
#include "cli/names/types.h"
#include "cli/base/util.h"
#include "cli/names/variables.h"

#define MIN_STATIC 8		/* when the manifest does not say it */

struct progress {
	bool on, shown;
	uint64_t begin, last;
	const char *image;
};

static void progress(struct progress *p, const char *what, size_t done, size_t all)
{
	uint64_t now;

	if (!p->on || (done & 1023))
		return;
	now = mt_monotonic_ns();
	if (now - p->begin < 1000000000ull || now - p->last < 200000000ull)
		return;
	p->last = now;
	p->shown = true;
	fprintf(stderr, "\rmemtrace: %s: %s %zu of %zu\033[K", p->image, what, done, all);
	fflush(stderr);
}

static void progress_end(struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
}

static void remove_finished(const char *dir)
{
	for (const char *const *name = mt_finished_files; *name; name++) {
		char *p = mt_printf("%s/%s", dir, *name);

		unlink(p);
		free(p);
	}
}

/* ----------------------------------------------------- objects from maps */

static bool is_elf(const char *path)
{
	char b[4] = "";
	FILE *f = mt_is_file(path) ? fopen(path, "re") : NULL;
	bool yes = f && fread(b, 1, 4, f) == 4 && !memcmp(b, "\177ELF", 4);

	if (f)
		fclose(f);
	return yes;
}

/*
 * Without a log (the context library could not write) the objects come from
 * /proc/PID/maps: a file mapped with offset 0 begins at its load address. The
 * bias is that address minus the first segment's virtual address.
 */
static uint64_t first_vaddr(const char *path)
{
	/* Elf64_Ehdr.e_phoff at 32, e_phentsize at 54, e_phnum at 56 */
	size_t len;
	char *d = mt_read_file(path, &len);
	uint64_t v = 0;

	if (d && len > 64 && d[4] == 2) {
		uint64_t off;
		uint16_t size, n;

		memcpy(&off, d + 32, 8);
		memcpy(&size, d + 54, 2);
		memcpy(&n, d + 56, 2);
		for (uint16_t i = 0; i < n && off + (uint64_t)(i + 1) * size <= len; i++) {
			uint32_t type;

			memcpy(&type, d + off + (uint64_t)i * size, 4);
			if (type == 1) {
				memcpy(&v, d + off + (uint64_t)i * size + 16, 8);
				break;
			}
		}
	}
	free(d);
	return v & ~(MT_PAGE - 1);
}

/* The heap that exists before the log begins. */
static void early_heap(struct mt_context *c, const char *trace, const char *image, int64_t start)
{
	char *path = mt_printf("%s/%s/" MT_FILE_MAPS, trace, image);
	char *data = mt_read_file(path, NULL), *at = data ? strstr(data, "[heap]") : NULL;
	uint64_t a, b;

	free(path);
	while (at && at > data && at[-1] != '\n')
		at--;
	if (at && sscanf(at, "%" SCNx64 "-%" SCNx64, &a, &b) == 2) {
		size_t i;

		/* what the log has of it begins or ends in it; the heaps of further threads do not */
		for (i = 0; i < c->n && (c->s[i].kind != MT_BRK || c->s[i].start > b || c->s[i].end < a); i++)
			;
		if (i == c->n)
			i = mt_context_add_heap(c, a, b, start);
		if (a < c->s[i].start)
			c->s[i].start = a;
		if (b > c->s[i].end)
			c->s[i].end = b;
		c->s[i].birth = start;
	}
	free(data);
}

/*
 * Without a log: the main thread has the number of the process; a recorder that
 * attached to a process wrote its other threads, "TaskId Name", into
 * threads-start.txt.
 */
static void threads_without_log(struct mt_context *c, const char *trace, const char *image, int64_t start)
{
	json_t *j = mt_image_read(trace, image);
	int64_t pid = json_integer_value(json_object_get(j, "pid"));
	char *path = mt_printf("%s/%s/threads-start.txt", trace, image);
	char *data = mt_read_file(path, NULL), *save = NULL;

	free(path);
	json_decref(j);
	if (!c->n_threads && pid > 0) {	/* gone before anybody could look at it */
		MT_GROW(c->threads, c->n_threads, c->cap_threads);
		c->threads[c->n_threads++] = (struct mt_thread){ pid, -1, NULL, start, -1, 0, 0, 0, -1, 0 };
	}
	if (c->n_threads && c->threads[0].tid < 0 && pid > 0)
		c->threads[0].tid = pid;
	for (char *l = data ? strtok_r(data, "\n", &save) : NULL; l; l = strtok_r(NULL, "\n", &save)) {
		char *name;
		int64_t tid = strtoll(l, &name, 10);

		if (*name != ' ')
			continue;
		if (tid == pid && c->n_threads && !c->threads[0].name) {
			c->threads[0].name = mt_strdup(name + 1);
		} else if (tid != pid) {
			MT_GROW(c->threads, c->n_threads, c->cap_threads);
			c->threads[c->n_threads++] = (struct mt_thread){ tid, -1, mt_strdup(name + 1), start, -1, 0, 0, 0, -1, 0 };
		}
	}
	free(data);
}

static void objects_from_maps(struct mt_context *c, const char *trace, const char *image,
			      int64_t start)
{
	char *path = mt_printf("%s/%s/" MT_FILE_MAPS, trace, image);
	char *data = mt_read_file(path, NULL), *save = NULL;

	free(path);
	for (char *l = data ? strtok_r(data, "\n", &save) : NULL; l; l = strtok_r(NULL, "\n", &save)) {
		uint64_t a, b, off;
		int at = 0;
		struct mt_object *o;

		if (sscanf(l, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %n", &a, &b, &off,
			   &at) < 3 || !at)
			continue;
		if (strstr(l, "[stack]") && !c->n_threads) {
			MT_GROW(c->threads, c->n_threads, c->cap_threads);
			c->threads[c->n_threads++] = (struct mt_thread){ -1, -1, NULL, start, -1,
				a, b, 0, -1, 0 };
		}
		if (l[at] != '/')
			continue;
		o = c->n_objects ? &c->objects[c->n_objects - 1] : NULL;
		if (o && !strcmp(o->path, l + at)) {
			o->end = b;
			continue;
		}
		if (off || !is_elf(l + at))
			continue;
		MT_GROW(c->objects, c->n_objects, c->cap_objects);
		c->objects[c->n_objects++] = (struct mt_object){ a - first_vaddr(l + at), a, b, start,
			-1, strstr(l + at, "libmemtrace-preload") != NULL, mt_strdup(l + at), 0, 0 };
	}
	free(data);
}

/* -------------------------------------------------- statics and segments */

struct gather {
	struct mt_context *c;
	const struct mt_object *o;
	bool whole;	/* one object is all thread-local data of o */
};

/* Fortran: __mod_MOD_var is mod::var */
static char *fortran_static(const char *name)
{
	const char *mod = !strncmp(name, "__", 2) ? strstr(name, "_MOD_") : NULL;

	return mod ? mt_printf("%.*s::%s", (int)(mod - name - 2), name + 2, mod + 5) : mt_strdup(name);
}

static void on_static(void *arg, const struct mt_variable *v, uint64_t start)
{
	struct gather *g = arg;
	size_t i = mt_context_add(g->c);
	struct mt_structure *s = &g->c->s[i];

	s->kind = MT_STATIC;
	s->start = start;
	s->end = start + v->size;
	s->birth = g->o->birth;
	s->death = g->o->death;
	s->name = fortran_static(v->name);
	s->site = v->site ? mt_strdup(v->site) : NULL;
	s->type = v->type ? mt_strdup(v->type) : NULL;
	s->members = v->members;
}

/* An object with a copy in each thread; start is its offset in the block of g->o. */
static void on_thread_local(void *arg, const struct mt_variable *v, uint64_t start)
{
	struct gather *g = arg;

	if (start + v->size > g->o->tls_size)
		return;
	g->whole |= v->size == g->o->tls_size;
	for (size_t t = 0; t < g->c->n_threads; t++) {
		const struct mt_thread *of = &g->c->threads[t];
		const size_t i = g->c->n;

		if (!of->pointer)
			continue;
		on_static(g, v, of->pointer + (uint64_t)g->o->tls_offset + start);
		g->c->s[i].tid = of->tid;
		g->c->s[i].birth = of->birth;
		g->c->s[i].death = of->death;
		/* it lies in no mapping of its library: the site says where it is from */
		if (!g->c->s[i].site && !strncmp(mt_base(g->o->path), "lib", 3))
			g->c->s[i].site = mt_printf("%s+0x%" PRIx64, mt_base(g->o->path), start);
	}
}

/* All of it, for what has no symbol; nothing where one object is all of it. */
static void thread_local_block(struct gather *g)
{
	struct mt_variable all = { .size = g->o->tls_size };

	if (g->whole)
		return;
	all.name = mt_printf("%s thread-local data", mt_base(g->o->path));
	on_thread_local(g, &all, 0);
	free(all.name);
}

#define DESCRIPTOR_BYTES 4096u	/* behind the pointer, at most; 2.3 KB in glibc 2.36 */
#define DESCRIPTOR_BEFORE 1792u	/* before it, on arm64, glibc 2.36 */

/* Some processors have thread-local data behind the thread pointer, and what the C library knows of the thread before it. */
static bool data_is_behind(const struct mt_context *c)
{
	for (size_t i = 0; i < c->n_objects; i++)
		if (c->objects[i].tls_size)
			return c->objects[i].tls_offset >= 0;
	return false;
}

/* What the C library knows of a thread lies at its thread pointer: its number, its locks, the stack protector's word. */
static void thread_descriptors(struct mt_context *c)
{
	const bool before = data_is_behind(c);
	const char *libc = NULL;

	for (size_t i = 0; i < c->n_objects && !libc; i++)
		if (!strncmp(mt_base(c->objects[i].path), "libc.so", 7))
			libc = mt_base(c->objects[i].path);
	for (size_t t = 0; libc && t < c->n_threads; t++) {
		const struct mt_thread *of = &c->threads[t];
		const uint64_t at = before && of->pointer ? of->pointer - DESCRIPTOR_BEFORE : of->pointer;
		uint64_t end = before ? of->pointer : (at + DESCRIPTOR_BYTES) & ~4095ull;
		size_t i;

		if (!at)
			continue;
		if (at >= of->stack_start && at < of->stack_end && end > of->stack_end)
			end = of->stack_end;
		i = mt_context_add(c);
		c->s[i].kind = MT_STATIC;
		c->s[i].start = at;
		c->s[i].end = end;
		c->s[i].birth = of->birth;
		c->s[i].death = of->death;
		c->s[i].tid = of->tid;
		c->s[i].name = mt_strdup("thread descriptor");
		c->s[i].site = mt_printf("%s+0x0", libc);
	}
}

/*
 * The mapping in which the thread-local data of the main thread lie: the loader makes it before
 * anything can be logged, and puts data of its own there.
 */
static void main_thread_data(struct mt_context *c, const char *trace, const char *image)
{
	const uint64_t at = c->n_threads ? c->threads[0].pointer : 0;
	char *path, *data, *save = NULL;

	if (!at)
		return;
	path = mt_printf("%s/%s/" MT_FILE_MAPS, trace, image);
	data = mt_read_file(path, NULL);
	free(path);
	for (char *l = data ? strtok_r(data, "\n", &save) : NULL; l; l = strtok_r(NULL, "\n", &save)) {
		uint64_t a, b;
		size_t i;

		if (sscanf(l, "%" SCNx64 "-%" SCNx64, &a, &b) != 2 || at < a || at >= b)
			continue;
		i = mt_context_add(c);
		c->s[i].kind = MT_FILE;
		c->s[i].start = a;
		c->s[i].end = b;
		c->s[i].birth = c->threads[0].birth;
		c->s[i].tid = c->threads[0].tid;
		c->s[i].name = mt_strdup("thread-local data of main thread");
		break;
	}
	free(data);
}

static void on_segment(void *arg, uint64_t start, uint64_t end, const char *table)
{
	struct gather *g = arg;
	size_t i = mt_context_add(g->c);
	struct mt_structure *s = &g->c->s[i];

	s->kind = MT_FILE;
	s->start = start;
	s->end = end;
	s->birth = g->o->birth;
	s->death = g->o->death;
	s->name = table ? mt_printf("%s call table (%s)", mt_base(g->o->path), table) : mt_printf("%s data", mt_base(g->o->path));
}

/* ------------------------------------------------------------ the output */

static int by_life(const void *x, const void *y)
{
	const struct mt_structure *a = x, *b = y;

	if (a->birth != b->birth)
		return a->birth < b->birth ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->kind != b->kind)
		return (int)a->kind - (int)b->kind;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return strcmp(a->name ? a->name : "", b->name ? b->name : "");
}

static void sort_by_life(struct mt_context *c)
{
	uint64_t *key = mt_alloc((c->n + 1) * sizeof(*key));

	for (size_t i = 0; i < c->n; i++)
		key[i] = MT_SIGNED_KEY(c->s[i].birth);
	mt_sort(c->s, c->n, sizeof(*c->s), key, by_life);
	free(key);
}

/* The type without the dimensions of an array: "struct cell" of "struct cell[10][4]". The caller's. */
static char *element_of(const char *type)
{
	size_t n = strlen(type), k;

	for (;;) {
		k = n;
		if (!k || type[k - 1] != ']')
			break;
		for (k--; k && isdigit((unsigned char)type[k - 1]); k--)
			;
		if (!k || type[k - 1] != '[')
			break;
		n = k - 1;
	}
	if (n && type[n - 1] == ')') {	/* of Fortran */
		k = n - 1;
		while (k && (isdigit((unsigned char)type[k - 1]) || strchr(":,-", type[k - 1])))
			k--;
		if (k && type[k - 1] == '(')
			n = k - 1;
	}
	return mt_printf("%.*s", (int)n, type);
}

static int compare_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Are these members written for this type for the first time? Files may have different types of one name. */
static bool first_of_type(void **seen, const char *type, const char *members)
{
	char *element = element_of(type), *key = mt_printf("%s\n%s", element, members);
	const bool first = !tfind(key, seen, compare_text) && tsearch(key, seen, compare_text);

	free(element);
	if (!first)
		free(key);
	return first;
}

/* Fields with the comma behind them: fprintf would take a third of the time of all this. */
static void put_dec(FILE *f, int64_t v)
{
	char b[24], *p = b;

	if (v < 0)
		*p++ = '-';
	p = mt_put_u64(p, v < 0 ? -(uint64_t)v : (uint64_t)v);
	*p++ = ',';
	fwrite_unlocked(b, 1, (size_t)(p - b), f);
}

static void put_hex(FILE *f, uint64_t v)
{
	char b[24], *p = mt_put_hex(b, v);

	*p++ = ',';
	fwrite_unlocked(b, 1, (size_t)(p - b), f);
}

static void put_text(FILE *f, const char *s)
{
	mt_csv_put(f, s ? s : "");
	putc_unlocked(',', f);
}

/* @since: what died before is left out. */
static int write_structures(struct mt_context *c, const char *dir, int64_t since)
{
	struct mt_newfile out;
	void *seen = NULL;
	int err = mt_newfile(&out, dir, "structures.csv");

	if (err)
		return err;
	fputs("Id,Kind,Name,Start,End,Birth,Death,TaskId,Stack,Site,Type,Members,Segment,HugeBytes,NoHugeBytes\n", out.f);
	for (size_t i = 0; i < c->n; i++) {
		const struct mt_structure *s = &c->s[i];

		if (s->death >= 0 && s->death < since)
			continue;
		put_dec(out.f, (int64_t)i);
		put_text(out.f, mt_kind_name[s->kind]);
		put_text(out.f, s->name);
		put_hex(out.f, s->start);
		put_hex(out.f, s->end);
		put_dec(out.f, s->birth);
		put_dec(out.f, s->death);
		put_dec(out.f, s->tid);
		put_dec(out.f, s->stack);
		mt_csv_put(out.f, s->site ? s->site : "");
		putc_unlocked(',', out.f);
		mt_csv_put(out.f, s->type ? s->type : "");
		putc_unlocked(',', out.f);
		if (s->type && s->members && first_of_type(&seen, s->type, s->members))
			mt_csv_put(out.f, s->members);
		putc_unlocked(',', out.f);
		if (s->segment)
			fprintf(out.f, "%" PRIx64 ":%" PRIx64 ":%" PRIx64, s->seg_device, s->seg_inode, s->seg_offset);
		putc_unlocked(',', out.f);
		put_dec(out.f, (int64_t)mt_context_advised(c, s, MADV_HUGEPAGE));
		fprintf(out.f, "%" PRIu64 "\n", mt_context_advised(c, s, MADV_NOHUGEPAGE));
	}
	tdestroy(seen, free);
	return mt_newfile_commit(&out);
}

/* Object, offset in it, function, file and line of a frame, and the end of the line. */
static void put_frame(FILE *out, const struct mt_frame *f)
{
	put_text(out, f->object);
	if (f->object)
		put_hex(out, f->offset);
	else
		putc_unlocked(',', out);
	put_text(out, f->function);
	put_text(out, f->file);
	if (f->line > 0)
		fprintf(out, "%d\n", f->line);
	else
		putc_unlocked('\n', out);
}

static int write_stacks(struct mt_context *c, struct mt_symbols *sy, const char *dir,
			struct progress *pr)
{
	struct mt_newfile out;
	int err = mt_newfile(&out, dir, "stacks.csv");

	if (err)
		return err;
	fputs("Stack,Depth,Ip,Object,Offset,Function,File,Line\n", out.f);
	for (size_t i = 0; i < c->n_stacks; i++) {
		int depth = 0;

		progress(pr, "stacks", i, c->n_stacks);
		for (int k = 0; k < c->stacks[i].n; k++) {
			uint64_t ip = c->stacks[i].ip[k];
			const struct mt_frames *fr = mt_symbols_frames(sy, ip);

			for (int j = 0; j < fr->n; j++) {
				const struct mt_frame *f = &fr->f[j];

				put_dec(out.f, (int64_t)i);
				put_dec(out.f, depth++);
				put_hex(out.f, ip);
				put_frame(out.f, f);
			}
		}
	}
	return mt_newfile_commit(&out);
}

/* Threads that a run-time library starts, when its symbols are stripped. */
static char *runtime_name(const struct mt_frame *f)
{
	static const char *const known[][2] = { { "libstdc++", "std::thread" },
		{ "libgomp", "OpenMP worker" }, { "libomp", "OpenMP worker" },
		{ "libiomp", "OpenMP worker" }, { "libtbb", "TBB worker" } };

	for (size_t i = 0; !f->function && f->object && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strncmp(mt_base(f->object), known[i][0], strlen(known[i][0])))
			return mt_strdup(known[i][1]);
	return NULL;
}

static int write_threads(struct mt_context *c, struct mt_symbols *sy, const char *dir)
{
	struct mt_newfile out;
	int err = mt_newfile(&out, dir, "threads.csv");

	if (err)
		return err;
	fputs("TaskId,Name,Birth,Death,StackStart,StackEnd,Start,CpuNs\n", out.f);
	for (size_t i = 0; i < c->n_threads; i++) {
		const struct mt_thread *t = &c->threads[i];

		fprintf(out.f, "%" PRId64 ",", t->tid);
		mt_csv_put(out.f, t->name ? t->name : "");
		fprintf(out.f, ",%" PRId64 ",%" PRId64 ",%" PRIx64 ",%" PRIx64 ",", t->birth, t->death,
			t->stack_start, t->stack_end);
		if (t->start_routine) {
			const struct mt_frames *fr = mt_symbols_function(sy, t->start_routine);
			/* the function itself, not what is inlined at its begin */
			struct mt_frame f = fr->f[fr->n - 1];
			char *n;

			f.line = 0;
			n = runtime_name(&f);
			if (!n)
				n = mt_site_of_frame(&f, t->start_routine);
			mt_csv_put(out.f, n);
			free(n);
		}
		fprintf(out.f, ",%" PRId64 "\n", t->cpu_ns);
	}
	return mt_newfile_commit(&out);
}

/* CPU time of threads as it grew; no file when nothing is known. */
static int write_thread_times(struct mt_context *c, const char *dir)
{
	struct mt_newfile out;
	int err = c->n_cpu ? mt_newfile(&out, dir, "threadtimes.csv") : 0;

	if (err || !c->n_cpu)
		return err;
	fputs("TaskId,Time,CpuNs\n", out.f);
	for (size_t i = 0; i < c->n_cpu; i++)
		fprintf(out.f, "%" PRId64 ",%" PRId64 ",%" PRIu64 "\n", c->cpu[i].tid, c->cpu[i].time, c->cpu[i].cpu_ns);
	return mt_newfile_commit(&out);
}

/* Blocks that are not in structures.csv; no file when there are none. */
static int write_unlisted(const struct mt_context *c, const char *dir)
{
	struct mt_newfile out;
	int err = c->brief_count ? mt_newfile(&out, dir, "unlisted.csv") : 0;

	if (err || !c->brief_count)
		return err;
	fprintf(out.f, "Kind,Blocks,Bytes\nbrief,%" PRIu64 ",%" PRIu64 "\n", c->brief_count, c->brief_bytes);
	return mt_newfile_commit(&out);
}

/* Different code addresses of the records: open addressing, 0 is a free place. */
struct code {
	uint64_t *ip;
	size_t n, cap;
};

static void code_put(struct code *t, uint64_t ip)
{
	size_t at = (size_t)(ip * 0x9e3779b97f4a7c15ull) & (t->cap - 1);

	while (t->ip[at] && t->ip[at] != ip)
		at = (at + 1) & (t->cap - 1);
	t->n += !t->ip[at];
	t->ip[at] = ip;
}

static void add_code(struct code *t, uint64_t ip)
{
	if (2 * t->n >= t->cap) {
		struct code old = *t;

		t->cap = old.cap ? 2 * old.cap : 1024;
		t->n = 0;
		t->ip = mt_alloc(t->cap * sizeof(*t->ip));
		for (size_t i = 0; i < old.cap; i++)
			if (old.ip[i])
				code_put(t, old.ip[i]);
		free(old.ip);
	}
	code_put(t, ip);
}

static bool on_code(void *arg, const struct mt_access *a)
{
	if (a->ip)
		add_code(arg, a->ip);
	return true;
}

/* Those of instructions.csv, which need not be there: the third field. */
static void add_instructions(struct code *t, const char *dir)
{
	char *path = mt_printf("%s/" MT_FILE_INSTRUCTIONS, dir), line[1024];
	FILE *f = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f)) {
		const char *comma = strchr(line, ',');
		uint64_t ip;

		comma = comma ? strchr(comma + 1, ',') : NULL;
		if (comma && sscanf(comma + 1, "%" SCNx64 ",", &ip) == 1 && ip)
			add_code(t, ip);
	}
	if (f)
		fclose(f);
	free(path);
}

static int by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Function and line of each code address of the records and instructions, innermost frame; no file when there is no address. */
static int write_code(struct mt_symbols *sy, const char *trace, const char *image, const char *dir, struct progress *pr)
{
	struct mt_access_counts counts = { 0 };
	struct code t = { NULL, 0, 0 };
	struct mt_newfile out;
	size_t n = 0;
	int err;

	mt_accesses_read(trace, image, on_code, &t, &counts);	/* what cannot be read was told */
	add_instructions(&t, dir);
	for (size_t i = 0; i < t.cap; i++)
		if (t.ip[i])
			t.ip[n++] = t.ip[i];
	err = n ? mt_newfile(&out, dir, "code.csv") : 0;
	if (err || !n)
		goto out;
	qsort(t.ip, n, sizeof(*t.ip), by_address);
	fputs("Ip,Object,Offset,Function,File,Line\n", out.f);
	for (size_t i = 0; i < n; i++) {
		/* the address of the instruction itself, no return address */
		const struct mt_frame *f = &mt_symbols_function(sy, t.ip[i])->f[0];

		progress(pr, "code", i, n);
		put_hex(out.f, t.ip[i]);
		put_frame(out.f, f);
	}
	err = mt_newfile_commit(&out);
out:
	free(t.ip);
	return err;
}

static int64_t first_start(const char *trace, const char *image)
{
	json_t *j = mt_image_read(trace, image);
	int64_t t = j ? json_integer_value(json_object_get(j, "start_ns")) : 0;

	json_decref(j);
	return t;
}

/* What the recorder was told: the least static object, and the wrappers of the program, which are taken for the life of the process. */
static uint64_t min_static(const char *trace)
{
	static char *told;		/* of which trace the wrappers are */
	char *path = mt_printf("%s/manifest.json", trace);
	json_t *m = json_load_file(path, 0, NULL), *p = json_object_get(m, "parameters");
	json_t *v = json_object_get(p, "min_static_bytes");
	uint64_t n = json_is_integer(v) ? (uint64_t)json_integer_value(v) : MIN_STATIC;

	if (!told || strcmp(told, trace) != 0) {
		mt_library_add(json_string_value(json_object_get(p, "wrapper")));	/* a list that is not there was told */
		free(told);
		told = mt_strdup(trace);
	}
	json_decref(m);
	free(path);
	return n;
}

/*
 * Names of code that was made at run time are in /tmp/perf-PID.map, which belongs to the process and not to the trace:
 * it is copied, so that the trace can be finished again elsewhere. A file that is older than the image is of another
 * process with the same number; one of another user is not trusted.
 */
static void generated_code(struct mt_symbols *sy, const char *trace, const char *image, int64_t start)
{
	char *kept = mt_printf("%s/%s/perf.map", trace, image), *dir = mt_printf("%s/%s", trace, image), *there = NULL, *data;
	json_t *j = mt_image_read(trace, image);
	const int64_t pid = json_integer_value(json_object_get(j, "pid"));
	struct mt_newfile out;
	struct timespec now;
	struct stat st, own;
	size_t len;

	if (mt_symbols_perf_map(sy, kept) || pid <= 0)
		goto out;
	there = mt_printf("/tmp/perf-%" PRId64 ".map", pid);
	clock_gettime(CLOCK_REALTIME, &now);
	if (lstat(there, &st) || !S_ISREG(st.st_mode) || stat(dir, &own) || (st.st_uid != own.st_uid && st.st_uid != geteuid()) ||
	    (uint64_t)st.st_mtime * 1000000000ull + 1000000000ull <
	    (uint64_t)now.tv_sec * 1000000000ull - (mt_monotonic_ns() - (uint64_t)start))
		goto out;
	data = mt_read_file(there, &len);
	if (data && !mt_newfile(&out, dir, "perf.map")) {
		fwrite(data, 1, len, out.f);
		mt_newfile_commit(&out);
	}
	free(data);
	mt_symbols_perf_map(sy, kept);
out:
	json_decref(j);
	free(kept);
	free(dir);
	free(there);
}

/* What threads have as stacks, by their bounds. */
static void thread_stacks(struct mt_context *c)
{
	for (size_t i = 0; i < c->n_threads; i++) {
		struct mt_thread *t = &c->threads[i];
		size_t k;

		if (t->stack_end <= t->stack_start)
			continue;
		k = mt_context_add(c);
		c->s[k].kind = MT_STACK;
		c->s[k].start = t->stack_start;
		c->s[k].end = t->stack_end;
		c->s[k].birth = t->birth;
		c->s[k].death = t->death;
		c->s[k].tid = t->tid;
		c->s[k].name = i == 0 ? mt_strdup("stack of main thread") :
			t->name ? mt_printf("stack of thread %zu (%s)", i, t->name) :
				  mt_printf("stack of thread %zu", i);
	}
}

/* Names of blocks and mappings, those of one call stack at once. */
static void name_blocks(struct mt_context *c, struct mt_site_names *sites, struct progress *pr)
{
	for (size_t i = 0; i < c->n; i++) {
		struct mt_structure *s = &c->s[i];

		progress(pr, "structures", i, c->n);
		if (s->kind != MT_HEAP && s->kind != MT_MMAP)
			continue;
		if (s->stack >= 0 && ((size_t)s->stack >= c->n_stacks || !c->stacks[s->stack].n))
			s->stack = -1;	/* its line was lost */
		if (s->stack >= 0) {
			const struct mt_site *at = mt_sites_at(sites, s->stack);

			s->site = at->site ? mt_strdup(at->site) : NULL;
			if (!s->path && at->name) {
				s->name = mt_strdup(at->name);
				s->type = mt_element_type(&at->element, s->end - s->start);
				s->members = at->element.members;
			}
		}
		if (s->path)
			s->name = mt_strdup(mt_base(s->path));
		if (!s->name)
			s->name = mt_strdup(s->kind == MT_HEAP ? "unnamed allocation" : "unnamed mapping");
	}
}

int mt_finish_image(const char *trace, const char *image, const struct mt_finish_options *o)
{
	struct progress pr = { o->progress && isatty(2), false, mt_monotonic_ns(), 0, image };
	uint64_t min = o->min_static_bytes ? o->min_static_bytes : min_static(trace);
	char *dir = mt_printf("%s/%s", o->into ? o->into : trace, image);
	int64_t start = first_start(trace, image);
	struct mt_symbols *sy;
	struct mt_context c;
	struct mt_site_names *sites;
	int err;

	if (!o->into)
		mt_intervals_complete(trace, image);	/* what cannot be completed was told and is as it was */
	err = mt_context_read(&c, trace, image);
	if (err == -EPROTO)
		goto free_dir;
	if (err && err != -ENOENT) {
		mt_error("%s/%s/" MT_FILE_CONTEXT ": %s", trace, image, strerror(-err));
		goto free_context;
	}
	if (!c.n_objects)
		objects_from_maps(&c, trace, image, start);
	/* no log, or one that ends before its first thread */
	if (err == -ENOENT || (c.n_threads && c.threads[0].tid < 0))
		threads_without_log(&c, trace, image, start);
	early_heap(&c, trace, image, start);
	sy = mt_symbols_new(c.objects, c.n_objects);
	if (!o->into)
		generated_code(sy, trace, image, start);

	thread_stacks(&c);
	sites = mt_sites_new(&c, sy);
	name_blocks(&c, sites, &pr);

	for (size_t i = 0; i < c.n_objects; i++) {
		struct gather g = { .c = &c, .o = &c.objects[i] };

		if (c.objects[i].ours)
			continue;
		mt_symbols_segments(sy, i, on_segment, &g);
		mt_symbols_statics(sy, i, min, on_static, &g);
		if (c.objects[i].tls_size) {
			mt_symbols_thread_locals(sy, i, min, on_thread_local, &g);
			thread_local_block(&g);
		}
	}
	main_thread_data(&c, trace, image);
	thread_descriptors(&c);
	sort_by_life(&c);

	err = write_threads(&c, sy, dir);
	if (!err && !o->into)
		err = write_stacks(&c, sy, dir, &pr);
	if (!err && !o->into)
		err = write_thread_times(&c, dir);
	if (!err && !o->into)
		err = write_unlisted(&c, dir);
	if (!err && !o->into)
		err = write_code(sy, trace, image, dir, &pr);
	if (!err)
		err = write_structures(&c, dir, o->into ? o->since : INT64_MIN);
	if (!err && !o->into)
		err = mt_unseen_write(&c, trace, image, dir);
	progress_end(&pr);
	if (err) {
		mt_error("%s: cannot write the finished files: %s", dir, strerror(-err));
		if (!o->into)
			remove_finished(dir);	/* all or none; and the manifest may need the room */
	}
	mt_sites_free(sites);
	mt_symbols_free(sy);
free_context:
	mt_context_free(&c);
free_dir:
	free(dir);
	return err;
}
