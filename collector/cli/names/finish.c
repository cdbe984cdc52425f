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
#include "cli/names/advice.h"
#include "cli/names/ctxlog.h"
#include "cli/names/finish.h"
#include "cli/names/library.h"
#include "cli/trace/intervals.h"
#include "common/out.h"
#include "cli/names/site.h"
#include "cli/names/small.h"
#include "cli/names/symbols.h"
#include "cli/names/tables.h"
#include "cli/names/unseen.h"
#include "cli/trace/tracedir.h"
#include "cli/names/types.h"
#include "cli/base/util.h"
#include "cli/names/variables.h"

#define MIN_STATIC 8		/* when the manifest does not say it */

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
static void name_blocks(struct mt_context *c, struct mt_site_names *sites, struct mt_progress *pr)
{
	for (size_t i = 0; i < c->n; i++) {
		struct mt_structure *s = &c->s[i];

		mt_progress(pr, "structures", i, c->n);
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
	struct mt_progress pr = { o->progress && isatty(2), false, mt_monotonic_ns(), 0, image };
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
	mt_small_places(&c, sites);

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
	mt_tables_sort(&c);

	err = mt_tables_state(&c, sy, dir, o->into ? o->since : INT64_MIN);
	if (!err && !o->into)
		err = mt_tables_rest(&c, sy, trace, image, &pr);
	if (!err && !o->into)
		err = mt_unseen_write(&c, trace, image, dir);
	mt_progress_end(&pr);
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
