/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/names/unseen.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libelf.h>
#include <gelf.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cli/backend/backend.h"
#include "cli/names/ctxlog.h"
#include "common/quietwords.h"
#include "common/tracenames.h"
#include "cli/trace/tracedir.h"
#include "cli/base/util.h"

#define NAMES_TOLD 3		/* in a sentence, of each kind */
#define NAMES_KEPT 8		/* in the manifest, of each kind */
#define CONSTANTS_TOLD (3ull << 19)	/* constants of an object, bytes from which on they are told like a file */

/* In the order in which a sentence tells them; the words of docs/reference/trace-files.md. */
enum kind {
	FILE_READ, FILE_PRIVATE, FILE_SHARED, SHARED, DEVICE, HUGE, PRIVATE, CONSTANTS, CODE, ARGUMENTS, KINDS
};
static const struct {
	const char *word, *one, *many;	/* "%s in 1 file ..."; NULL: "%s of ..." */
} kinds[KINDS] = {
	[FILE_READ] = { "file-read", "file mapped for reading", "files mapped for reading" },
	[FILE_PRIVATE] = { "file-private", "file mapped for private writing", "files mapped for private writing" },
	[FILE_SHARED] = { "file-shared", "file mapped for shared writing", "files mapped for shared writing" },
	[SHARED] = { "shared-memory", NULL, "shared memory" },
	[DEVICE] = { "device", NULL, "memory of devices" },
	[HUGE] = { "huge-pages", NULL, "huge pages" },
	[PRIVATE] = { "private", NULL, "private memory that could not be traced" },
	[CONSTANTS] = { "constants", NULL, "constants" },
	[CODE] = { "code", NULL, "code" },
	[ARGUMENTS] = { "arguments", NULL, "arguments and environment" },
};

static bool is_usual(int kind)
{
	return kind == CONSTANTS || kind == CODE || kind == ARGUMENTS;
}

/* ------------------------------------------------------------------- kinds */

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/*
 * The loader knows an object by the path that it was asked for, the kernel by what this path leads to: libstdc++.so.6 is
 * libstdc++.so.6.0.30. Where the link is not here any more (a container), the names tell.
 */
static bool leads_to(const char *asked, const char *file)
{
	char *real = realpath(asked, NULL);
	bool yes = real ? mt_unseen_same_path(real, file) : begins(mt_base(file), mt_base(asked));

	free(real);
	return yes;
}

static bool is_part_of(const struct mt_unseen_range *r, const struct mt_object *o)
{
	return r->path && r->start < o->end && r->end > o->start &&
	       (strlen(r->path) >= MT_UNSEEN_PATH_CUT || !strcmp(mt_base(o->path), mt_base(r->path)) ||
		mt_unseen_same_path(o->path, r->path) || leads_to(o->path, r->path));
}

static const struct mt_object *object_at(const struct mt_context *c, const struct mt_unseen_range *r)
{
	for (size_t i = 0; r->path && i < c->n_objects; i++)
		if (is_part_of(r, &c->objects[i]))
			return &c->objects[i];
	return NULL;
}

/* Does the program run code of this file? Then it is an object, also where it is not known (unloaded, replaced on disk). */
static bool has_code(const struct mt_context *c, const char *path)
{
	for (size_t i = 0; i < c->unseen.n; i++)
		if (c->unseen.r[i].prot & PROT_EXEC && mt_unseen_same_path(c->unseen.r[i].path, path))
			return true;
	return false;
}

static bool on_hugetlbfs(const char *path)
{
	struct statfs fs;

	return path[0] == '/' && !statfs(path, &fs) && (unsigned long)fs.f_type == HUGETLBFS_MAGIC;
}

static enum kind kind_of(const struct mt_context *c, const struct mt_unseen_range *r)
{
	const char *path = r->path ? r->path : "";
	const bool writable = r->prot & PROT_WRITE;

	if ((r->flags & MAP_HUGETLB && r->flags & MAP_ANONYMOUS) || begins(path, "/anon_hugepage") || begins(path, "/dev/hugepages/"))
		return HUGE;
	if (r->segment || begins(path, "/memfd:") || begins(path, "/SYSV") || begins(path, "/dev/zero") || begins(path, "/dev/shm/") ||
	    (!*path && r->shared))
		return SHARED;
	if (!strcmp(path, "[stack]") || (!*path && r->start >= c->unseen.stack_start && r->end <= c->unseen.stack_end))
		return ARGUMENTS;	/* the stack itself is traced; this is above its begin */
	if (*path && (path[0] != '/' || begins(path, "/dev/") || begins(path, "/sys/") || begins(path, "/proc/") || begins(path, "/dmabuf:")) &&
	    path[0] != '[')
		return DEVICE;
	if (r->prot & PROT_EXEC)
		return CODE;
	if (path[0] != '/')
		return PRIVATE;
	if (object_at(c, r) || has_code(c, path))
		return writable ? PRIVATE : CONSTANTS;
	if (on_hugetlbfs(path))
		return HUGE;
	return !writable ? FILE_READ : r->shared ? FILE_SHARED : FILE_PRIVATE;
}

static char *name_of(const struct mt_context *c, const struct mt_unseen_range *r, enum kind kind)
{
	const struct mt_object *o = kind == CODE || kind == CONSTANTS ? object_at(c, r) : NULL;

	if (o) {	/* never cut */
		char *real = realpath(o->path, NULL);

		return real ? real : mt_strdup(o->path);
	}
	if (kind == ARGUMENTS || !r->path || !*r->path || !strcmp(r->path, "/dev/zero (deleted)") || begins(r->path, "/anon_hugepage"))
		return mt_strdup(r->segment ? "System V" : "");
	return mt_strdup(r->path);
}

/* ------------------------------------------------------------- unseen.csv */

struct row {
	enum kind kind;
	char *name;
	const struct mt_unseen_range *r;
	int64_t death;
	uint64_t times, most;
};

static int by_name_and_range(const void *x, const void *y)
{
	const struct row *a = x, *b = y;
	int d = a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : strcmp(a->name, b->name);

	if (d)
		return d;
	if (a->r->start != b->r->start)
		return a->r->start < b->r->start ? -1 : 1;
	if (a->r->end != b->r->end)
		return a->r->end < b->r->end ? -1 : 1;
	return a->r->birth != b->r->birth ? (a->r->birth < b->r->birth ? -1 : 1) : 0;
}

struct step {
	int64_t time;
	int64_t bytes;
};

static int by_time(const void *x, const void *y)
{
	const struct step *a = x, *b = y;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->bytes != b->bytes ? (a->bytes < b->bytes ? -1 : 1) : 0;	/* first what goes */
}

/* The most bytes of these mappings that were there at a time. */
static uint64_t most_at_a_time(const struct row *row, size_t n)
{
	struct step *s = mt_alloc((2 * n + 1) * sizeof(*s));
	int64_t now = 0, most = 0;

	for (size_t i = 0; i < n; i++) {
		const int64_t bytes = (int64_t)(row[i].r->end - row[i].r->start);

		s[2 * i] = (struct step){ row[i].r->birth, bytes };
		s[2 * i + 1] = (struct step){ row[i].r->death < 0 ? INT64_MAX : row[i].r->death, -bytes };
	}
	qsort(s, 2 * n, sizeof(*s), by_time);
	for (size_t i = 0; i < 2 * n; i++) {
		now += s[i].bytes;
		most = now > most ? now : most;
	}
	free(s);
	return (uint64_t)most;
}

/* Objects that came and went between two looks: what their file says. */
static void add_objects(struct mt_context *c)
{
	for (size_t i = 0; i < c->n_objects; i++) {
		const struct mt_object *o = &c->objects[i];
		bool known = o->ours || o->path[0] != '/';
		size_t n = 0;
		Elf *elf;
		int fd;

		for (size_t k = 0; !known && k < c->unseen.n; k++)
			known = is_part_of(&c->unseen.r[k], o);
		fd = known ? -1 : open(o->path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		elf_version(EV_CURRENT);
		elf = elf_begin(fd, ELF_C_READ, NULL);
		if (elf)
			elf_getphdrnum(elf, &n);
		for (size_t k = 0; k < n; k++) {
			struct mt_unseen_range r = { .birth = o->birth, .death = o->death, .path = o->path };
			GElf_Phdr ph;

			if (!gelf_getphdr(elf, (int)k, &ph) || ph.p_type != PT_LOAD || ph.p_flags & PF_W)
				continue;
			r.prot = PROT_READ | (ph.p_flags & PF_X ? PROT_EXEC : 0);
			r.start = (o->bias + ph.p_vaddr) & ~(c->page_bytes - 1);
			r.end = (o->bias + ph.p_vaddr + ph.p_memsz + c->page_bytes - 1) & ~(c->page_bytes - 1);
			mt_unseen_add(&c->unseen, &r);
		}
		elf_end(elf);
		close(fd);
	}
}

/*
 * What the image began with, and what is private and not written, or a file: it may be gone before the first look. What can be
 * traced is, from the start.
 */
static void add_inherited(struct mt_context *c, const char *trace, const char *image, int64_t start)
{
	char *path = mt_printf("%s/%s/" MT_FILE_MAPS, trace, image);
	char *data = mt_read_file(path, NULL), *save = NULL;

	free(path);
	for (char *l = data ? strtok_r(data, "\n", &save) : NULL; l; l = strtok_r(NULL, "\n", &save)) {
		struct mt_unseen_range r = { .birth = start, .death = -1 };
		char prot[5] = "";
		bool known;
		int at = 0;

		if (sscanf(l, "%" SCNx64 "-%" SCNx64 " %4s %*s %*s %*s %n", &r.start, &r.end, prot, &at) < 3 || !at)
			continue;
		if (!strcmp(l + at, "[stack]")) {
			c->unseen.stack_start = r.start;
			c->unseen.stack_end = r.end;
		}
		if (l[at] != '/' || prot[1] == 'w' || prot[0] != 'r' || strstr(l + at, "libmemtrace-preload") || begins(l + at, "/memfd:"))
			continue;
		known = mt_unseen_is_seen(&c->unseen, r.start, r.end);
		for (size_t k = 0; !known && k < c->unseen.n; k++)
			known = c->unseen.r[k].start < r.end && c->unseen.r[k].end > r.start && mt_unseen_same_path(c->unseen.r[k].path, l + at);
		r.path = l + at;
		r.prot = PROT_READ | (prot[2] == 'x' ? PROT_EXEC : 0);
		r.shared = prot[3] == 's';
		if (!known)
			mt_unseen_add(&c->unseen, &r);
	}
	free(data);
}

/* Does the backend see what is of this kind, wherever it is? */
static bool sees_kind(const struct mt_backend *b, enum kind kind)
{
	return b->abilities & MT_ABILITY_ANY_MEMORY && kind != DEVICE && kind != HUGE;
}

static int write_rows(struct row *row, size_t n, const char *dir)
{
	struct mt_newfile out;
	int err = mt_newfile(&out, dir, "unseen.csv");

	if (err)
		return err;
	fputs("Kind,Name,Start,End,Birth,Death,Times,Most\n", out.f);
	for (size_t i = 0; i < n; i++) {
		fprintf(out.f, "%s,", kinds[row[i].kind].word);
		mt_csv_put(out.f, row[i].name);
		fprintf(out.f, ",%" PRIx64 ",%" PRIx64 ",%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64 "\n", row[i].r->start, row[i].r->end,
			row[i].r->birth, row[i].death, row[i].times, row[i].most);
	}
	return mt_newfile_commit(&out);
}

int mt_unseen_write(struct mt_context *c, const char *trace, const char *image, const char *dir)
{
	json_t *j = mt_image_read(trace, image);
	const char *name = json_string_value(json_object_get(j, "backend"));
	const struct mt_backend *backend = name ? mt_backend_find(name) : NULL;
	const bool told = backend && mt_traces(backend->library);
	struct row *row;
	size_t n = 0, w = 0;
	int err;

	/* of an older recorder, or nothing of the log is left; backends that count see all that their code does */
	if (!backend || (told && !c->unseen.looked) || (!told && !(backend->abilities & MT_ABILITY_ANY_MEMORY))) {
		char *path = mt_printf("%s/unseen.csv", dir);

		unlink(path);
		free(path);
		json_decref(j);
		return 0;
	}
	if (told) {
		add_inherited(c, trace, image, json_integer_value(json_object_get(j, "start_ns")));
		add_objects(c);
	}
	row = mt_alloc((c->unseen.n + 1) * sizeof(*row));
	for (size_t i = 0; i < c->unseen.n; i++) {
		const struct mt_unseen_range *r = &c->unseen.r[i];
		const enum kind kind = kind_of(c, r);

		/* a reservation is no memory that anybody could use */
		if (!(r->prot & (PROT_READ | PROT_WRITE | PROT_EXEC)) || sees_kind(backend, kind))
			continue;
		row[n++] = (struct row){ kind, name_of(c, r, kind), r, r->death, 1, 0 };
	}
	qsort(row, n, sizeof(*row), by_name_and_range);
	for (size_t i = 0, k; i < n; i = k) {
		uint64_t most;

		for (k = i + 1; k < n && row[k].kind == row[i].kind && !strcmp(row[k].name, row[i].name); k++)
			;
		most = most_at_a_time(row + i, k - i);
		for (size_t a = i; a < k; a++) {
			struct row *last = a > i ? &row[w - 1] : NULL;

			if (last && last->r->start == row[a].r->start && last->r->end == row[a].r->end) {
				last->times++;
				last->death = last->death < 0 || row[a].death < 0 ? -1 : row[a].death > last->death ? row[a].death : last->death;
				free(row[a].name);
				continue;
			}
			row[w] = row[a];
			row[w++].most = most;
		}
	}
	err = write_rows(row, w, dir);
	for (size_t i = 0; i < w; i++)
		free(row[i].name);
	free(row);
	json_decref(j);
	return err;
}

/* ---------------------------------------------------------- the manifest */

struct name {
	enum kind kind;
	char *name;
	uint64_t bytes, mappings, processes;
	size_t image;		/* the last one that was added */
};

struct names {
	struct name *p;
	size_t n, cap;
};

static int by_kind_and_name(const void *x, const void *y)
{
	const struct name *a = x, *b = y;

	return a->kind != b->kind ? (a->kind < b->kind ? -1 : 1) : strcmp(a->name, b->name);
}

static int by_kind_and_bytes(const void *x, const void *y)
{
	const struct name *a = x, *b = y;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->bytes != b->bytes ? (a->bytes > b->bytes ? -1 : 1) : strcmp(a->name, b->name);
}

/* False: the image has no such file. */
static bool add_image(struct names *all, const char *trace, const char *dir, size_t image)
{
	char *path = mt_printf("%s/%s/unseen.csv", trace, dir);
	struct mt_csv c;
	int kind, name, times, most;
	size_t begin = all->n;
	const bool there = !mt_csv_open(&c, path);

	free(path);
	if (!there)
		return false;
	kind = mt_csv_column(&c, "Kind");
	name = mt_csv_column(&c, "Name");
	times = mt_csv_column(&c, "Times");
	most = mt_csv_column(&c, "Most");
	while (mt_csv_next(&c)) {
		const char *word = mt_csv_get(&c, kind), *text = mt_csv_get(&c, name);
		struct name *last;
		int k = 0;

		while (k < KINDS && strcmp(kinds[k].word, word) != 0)
			k++;
		if (k == KINDS || c.n < c.n_columns)
			continue;
		last = all->n > begin ? &all->p[all->n - 1] : NULL;
		if (!last || (int)last->kind != k || strcmp(last->name, text) != 0) {
			MT_GROW(all->p, all->n, all->cap);
			last = &all->p[all->n++];
			*last = (struct name){ (enum kind)k, mt_strdup(text), strtoull(mt_csv_get(&c, most), NULL, 10), 0, 1, image };
		}
		last->mappings += strtoull(mt_csv_get(&c, times), NULL, 10);
	}
	mt_csv_close(&c);
	return true;
}

/* One entry for each name. */
static void join(struct names *all)
{
	size_t w = 0;

	if (all->n)
		qsort(all->p, all->n, sizeof(*all->p), by_kind_and_name);
	for (size_t i = 0; i < all->n; i++) {
		struct name *last = w ? &all->p[w - 1] : NULL;

		if (last && !by_kind_and_name(last, &all->p[i])) {
			last->bytes += all->p[i].bytes;
			last->mappings += all->p[i].mappings;
			last->processes += all->p[i].processes;
			free(all->p[i].name);
		} else {
			all->p[w++] = all->p[i];
		}
	}
	all->n = w;
	if (w)
		qsort(all->p, all->n, sizeof(*all->p), by_kind_and_bytes);
}

static char *append(char *text, char *more)
{
	char *both = mt_printf("%s%s", text, more);

	free(text);
	free(more);
	return both;
}

/* "32.0 MiB in 2 files mapped for reading (model.bin, 30 MiB; index)" of names p[0..n) */
static char *piece(const struct name *p, size_t n)
{
	uint64_t bytes = 0, processes = 0;
	size_t told = 0;
	char *text;

	for (size_t i = 0; i < n; i++) {
		bytes += p[i].bytes;
		processes = p[i].processes > processes ? p[i].processes : processes;
	}
	if (kinds[p->kind].one)
		text = mt_printf("%s in %zu %s", mt_human_bytes(bytes), n, n == 1 ? kinds[p->kind].one : kinds[p->kind].many);
	else
		text = mt_printf("%s of %s", mt_human_bytes(bytes), kinds[p->kind].many);
	for (size_t i = 0; i < n && told < NAMES_TOLD; i++) {
		/* people know files by their names, and shared memory by its path */
		const char *name = p->kind == SHARED || p->kind == DEVICE ? p[i].name : mt_base(p[i].name);

		if (*name)
			text = append(text, mt_printf("%s%s", told++ ? ", " : " (", name));
	}
	if (told)
		text = append(text, n > told ? mt_printf(" and %zu more)", n - told) : mt_strdup(")"));
	if (processes > 1)
		text = append(text, mt_printf(" in %" PRIu64 " processes", processes));
	return text;
}

static json_t *kind_json(const struct name *p, size_t n)
{
	json_t *names = json_array(), *o;
	uint64_t bytes = 0, mappings = 0, more = 0;

	for (size_t i = 0; i < n; i++) {
		bytes += p[i].bytes;
		mappings += p[i].mappings;
		if (i < NAMES_KEPT)
			json_array_append_new(names, json_pack("{s:s, s:I, s:I, s:I}", "name", p[i].name, "bytes", (json_int_t)p[i].bytes,
				"mappings", (json_int_t)p[i].mappings, "processes", (json_int_t)p[i].processes));
		else
			more += p[i].bytes;
	}
	o = json_pack("{s:s, s:I, s:I, s:I, s:o}", "kind", kinds[p->kind].word, "bytes", (json_int_t)bytes, "mappings",
		      (json_int_t)mappings, "of", (json_int_t)n, "names", names);
	if (n > NAMES_KEPT) {
		json_object_set_new(o, "more_names", json_integer((json_int_t)(n - NAMES_KEPT)));
		json_object_set_new(o, "more_bytes", json_integer((json_int_t)more));
	}
	return o;
}

/* What is known about the images of a trace. */
struct known {
	size_t told, exact, blind, cut, unknown;
	bool instrumented;
	const char *why;	/* of the first blind one */
};

/* Code, constants and arguments of a program are never seen by page faults of data. */
static char *usual_text(uint64_t bytes, const struct names *all)
{
	const struct name *largest = NULL;

	for (size_t i = 0; i < all->n; i++)
		if (is_usual((int)all->p[i].kind) && *all->p[i].name && (!largest || all->p[i].bytes > largest->bytes))
			largest = &all->p[i];
	return mt_printf("code, constants and arguments (%s%s%s)", mt_human_bytes(bytes), largest ? ", most in " : "",
			 largest ? mt_base(largest->name) : "");
}

static char *sentence(const struct names *all, const struct known *k, bool others, bool *some)
{
	char *text = mt_strdup(""), *usual;
	uint64_t of_usual = 0;

	*some = false;
	for (size_t i = 0, j; i < all->n; i = j) {
		size_t n = 0;

		for (j = i; j < all->n && all->p[j].kind == all->p[i].kind; j++) {
			/* the largest come first */
			n += !is_usual((int)all->p[j].kind) || (all->p[j].kind == CONSTANTS && all->p[j].bytes / all->p[j].processes >= CONSTANTS_TOLD);
			if (j - i >= n)
				of_usual += all->p[j].bytes;
		}
		if (n) {
			text = append(text, mt_printf("%s", *some ? "; " : ""));
			text = append(text, piece(all->p + i, n));
			*some = true;
		}
	}
	usual = of_usual ? usual_text(of_usual, all) : NULL;
	if (k->blind) {
		text = append(text, mt_printf("%sall memory of %zu process image%s%s%s", *some ? "; " : "", k->blind, k->blind == 1 ? "" : "s",
					      k->why && *k->why ? ": " : "", k->why ? k->why : ""));
		*some = true;
	}
	if (*some) {
		char *old = text;

		text = mt_printf("not seen: %s%s%s", old, usual ? "; besides " : "", usual ? usual : "");
		free(old);
	} else if (k->told || k->exact) {
		free(text);
		text = mt_printf("all memory%s seen%s%s%s", others ? " of the recorded processes" : "",
				 k->instrumented ? ", by the code that was built with memtrace cc" : "", usual ? " but " : "", usual ? usual : "");
	}
	free(usual);
	if (k->unknown || k->cut) {
		const char *why = k->cut ? "the recording was cut off: not known what was not seen after the last interval" :
				  "not known what was not seen";

		text = append(text, mt_printf("%s%s%s", *text ? "; " : "", why, !k->cut && k->told + k->exact + k->blind ? " in the other images" : ""));
	}
	return text;
}

json_t *mt_unseen_describe(const char *trace, char *const *dirs, const char *const *state, size_t n, bool others)
{
	struct names all = { NULL, 0, 0 };
	struct known k = { 0 };
	uint64_t bytes = 0, usual = 0, shared = 0, file = 0;
	json_t *list = json_array(), *out;
	char *why = NULL, *text;
	bool some;

	for (size_t i = 0; i < n; i++) {
		json_t *j = mt_image_read(trace, dirs[i]);
		const char *name = json_string_value(json_object_get(j, "backend"));
		const struct mt_backend *b = name ? mt_backend_find(name) : NULL;

		const char *message = json_string_value(json_object_get(j, "backend_message"));

		if (message && (!strcmp(message, MT_QUIET_SHELL) || !strcmp(message, MT_QUIET_LEFT_OUT))) {
			others = true;
		} else if ((b && !(b->abilities & MT_ABILITY_ACCESSES)) || (message && !strncmp(message, MT_STOPPED, sizeof(MT_STOPPED) - 1))) {
			if (!k.blind++)
				why = message ? mt_strdup(message) : NULL;
		} else if (b && b->abilities & MT_ABILITY_EXACT) {
			k.exact++;
			k.instrumented |= b->library == MT_LIBRARY_COUNTS;
		} else if (add_image(&all, trace, dirs[i], i)) {
			k.told++;
			k.cut += !strcmp(state[i], "aborted") || !strcmp(state[i], "running");
		} else {
			k.unknown++;
		}
		json_decref(j);
	}
	k.why = why;
	join(&all);
	for (size_t i = 0, j; i < all.n; i = j) {
		for (j = i; j < all.n && all.p[j].kind == all.p[i].kind; j++) {
			if (is_usual((int)all.p[j].kind))
				usual += all.p[j].bytes;
			else
				bytes += all.p[j].bytes;
			shared += all.p[j].kind == SHARED ? all.p[j].bytes : 0;
			file += all.p[j].kind <= FILE_SHARED ? all.p[j].bytes : 0;
		}
		json_array_append_new(list, kind_json(all.p + i, j - i));
	}
	text = sentence(&all, &k, others, &some);
	out = json_pack("{s:s, s:I, s:I, s:I, s:I, s:o, s:s}", "state", k.unknown || k.cut ? "unknown" : some ? "some" : "all",
			"bytes", (json_int_t)bytes, "usual_bytes", (json_int_t)usual, "shared_bytes", (json_int_t)shared,
			"file_bytes", (json_int_t)file, "kinds", list, "text", text);
	if (!n) {
		json_decref(out);
		out = NULL;
	}
	for (size_t i = 0; i < all.n; i++)
		free(all.p[i].name);
	free(all.p);
	free(why);
	free(text);
	return out;
}
