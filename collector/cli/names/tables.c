/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* tables.c - the finished tables of an image. */
#include <ctype.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/names/advice.h"
#include "cli/ticks/codes.h"
#include "cli/names/ctxlog.h"
#include "cli/names/site.h"
#include "cli/names/tables.h"
#include "cli/trace/tracedir.h"
#include "cli/base/util.h"
#include "common/out.h"

void mt_progress(struct mt_progress *p, const char *what, size_t done, size_t all)
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

void mt_progress_end(struct mt_progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
}

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

void mt_tables_sort(struct mt_context *c)
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
			struct mt_progress *pr)
{
	struct mt_newfile out;
	int err = mt_newfile(&out, dir, "stacks.csv");

	if (err)
		return err;
	fputs("Stack,Depth,Ip,Object,Offset,Function,File,Line\n", out.f);
	for (size_t i = 0; i < c->n_stacks; i++) {
		int depth = 0;

		mt_progress(pr, "stacks", i, c->n_stacks);
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

/* Function and line of each code address of the records, instructions and ticks, innermost frame; no file when there is no address. */
static int write_code(struct mt_symbols *sy, const char *trace, const char *image, const char *dir, struct mt_progress *pr)
{
	struct mt_newfile out;
	uint64_t *ip;
	size_t n;
	int err = mt_codes_of(trace, image, dir, &ip, &n);

	if (!err && n)
		err = mt_newfile(&out, dir, "code.csv");
	if (err || !n)
		goto out;
	fputs("Ip,Object,Offset,Function,File,Line\n", out.f);
	for (size_t i = 0; i < n; i++) {
		/* the address of the instruction itself, no return address */
		const struct mt_frame *f = &mt_symbols_function(sy, ip[i])->f[0];

		mt_progress(pr, "code", i, n);
		put_hex(out.f, ip[i]);
		put_frame(out.f, f);
	}
	err = mt_newfile_commit(&out);
out:
	free(ip);
	return err;
}

int mt_tables_state(struct mt_context *c, struct mt_symbols *sy, const char *dir, int64_t since)
{
	const int err = write_threads(c, sy, dir);

	return err ? err : write_structures(c, dir, since);
}

int mt_tables_rest(struct mt_context *c, struct mt_symbols *sy, const char *trace, const char *image, struct mt_progress *pr)
{
	char *dir = mt_printf("%s/%s", trace, image);
	int err = write_stacks(c, sy, dir, pr);

	if (!err)
		err = write_thread_times(c, dir);
	if (!err)
		err = write_unlisted(c, dir);
	if (!err)
		err = write_code(sy, trace, image, dir, pr);
	free(dir);
	return err;
}
