/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * kmod_drain.c - see kmod_drain.h. One thread uses a drain at a time.
 *
 * A block that arrives before the directory of its image is kept in memory;
 * usually the library makes the directory within the first interval.
 *
 * intervals.csv: the module counts for the session, not per image. Faults,
 * records and unattributed ones are counted here per image; what cannot be
 * divided (CPU times, scan times, resident pages, losses) stands in the line
 * of the oldest image that lives, so that sums over all images are right.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memtrace/abi.h>

#include "cli/backend/kmod/kmod_drain.h"
#include "cli/base/processes.h"
#include "cli/base/program.h"
#include "common/rawplace.h"
#include "cli/trace/tracedir.h"
#include "common/tracefile.h"
#include "common/tracenames.h"
#include "cli/base/util.h"

#define OUT_BYTES (256u << 10)
/* how long a process with the library may take to its constructor, without one until we look */
#define PATIENCE_NS 30000000000ull
#define LOOK_NS 300000000ull

/* The end of an interval, as one image sees it. */
struct end {
	struct memtrace_interval iv;
	bool shares;			/* its line has what is not divided */
	bool last;			/* the image ends with it */
	uint64_t region, other;
};

struct kept {				/* a block, or the end of an interval */
	struct kept *next;
	struct memtrace_block *block;
	struct end *end;
};

struct image {
	struct image *next;
	struct memtrace_image info;
	bool ended, closed;
	uint64_t end_ns;
	char *maps;			/* read while it lived, for a directory of ours */
	/* its directory */
	char *dir;
	struct mt_tracefile file;
	int dirfd;			/* -1: closed */
	bool told;			/* a file could not be made: said once */
	int32_t monitor_tid;		/* thread of the library: left out; 0 none */
	uint64_t own_start, own_end;	/* code and data of the library: left out, and then its buffers */
	struct kept *kept, **kept_tail;
	uint64_t blocks;		/* that came for it */
	/* the running interval */
	bool has;			/* blocks came for it */
	uint64_t faults, records, unattributed;
	uint64_t closed_ns;		/* of the last one with accesses */
};

struct known {				/* a directory that the library made */
	char *name;
	int32_t pid, monitor_tid;
	uint64_t start_ns;
	bool taken;
};

struct mt_kmod_drain {
	struct mt_kmod_drain_options o;
	struct image *images, **tail, *last;
	struct known *known;
	size_t n_known, cap_known;
	struct mt_kmod_totals totals;
	uint64_t orphans;		/* records of images that were not announced, since the last interval */
};

struct mt_kmod_drain *mt_kmod_drain_new(const struct mt_kmod_drain_options *o)
{
	struct mt_kmod_drain *d = mt_alloc(sizeof(*d));

	d->o = *o;
	d->tail = &d->images;
	return d;
}

/* ---- directories */

static void look_for_directories(struct mt_kmod_drain *d)
{
	size_t n;
	char **v = mt_trace_images(d->o.trace, &n);

	for (size_t i = 0; i < n; i++) {
		struct known k = { 0 };
		json_t *j;
		size_t x;

		for (x = 0; x < d->n_known && strcmp(d->known[x].name, v[i]); x++)
			;
		if (x < d->n_known)
			continue;
		j = mt_image_read(d->o.trace, v[i]);
		if (!j)
			continue;	/* not complete yet */
		k.pid = (int32_t)json_integer_value(json_object_get(j, "pid"));
		k.start_ns = (uint64_t)json_integer_value(json_object_get(j, "start_ns"));
		k.monitor_tid = (int32_t)json_integer_value(json_object_get(j, "monitor_tid"));
		k.name = mt_strdup(v[i]);
		json_decref(j);
		MT_GROW(d->known, d->n_known, d->cap_known);
		d->known[d->n_known++] = k;
	}
	mt_names_free(v, n);
}

/* The next address space of the same process: its directory is not ours. */
static uint64_t successor_ns(const struct mt_kmod_drain *d, const struct image *im)
{
	uint64_t best = UINT64_MAX;

	for (const struct image *x = d->images; x; x = x->next)
		if (x != im && x->info.pid == im->info.pid && x->info.time_ns > im->info.time_ns &&
		    x->info.time_ns < best)
			best = x->info.time_ns;
	return best;
}

static struct known *match(struct mt_kmod_drain *d, const struct image *im)
{
	const uint64_t until = successor_ns(d, im);
	struct known *best = NULL;

	for (size_t i = 0; i < d->n_known; i++) {
		struct known *k = &d->known[i];

		if (!k->taken && k->pid == im->info.pid && k->start_ns >= im->info.time_ns && k->start_ns < until &&
		    (!best || k->start_ns < best->start_ns))
			best = k;
	}
	return best;
}

static void cannot_make(const struct mt_kmod_drain *d, struct image *im, const char *what, int err)
{
	if (err && !im->told)
		mt_error("record: cannot make %s in %s/%s: %s; its accesses are lost", what, d->o.trace, im->dir,
			 strerror(-err));
	im->told |= err != 0;
}

static void open_image(struct mt_kmod_drain *d, struct image *im)
{
	char *path = mt_printf("%s/%s", d->o.trace, im->dir);

	im->dirfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(path);
	cannot_make(d, im, MT_FILE_INTERVALS, mt_tracefile_open(&im->file, im->dirfd, mt_alloc(OUT_BYTES), OUT_BYTES,
							      mt_alloc(OUT_BYTES / 16), OUT_BYTES / 16));
	cannot_make(d, im, "the first chunk", mt_tracefile_accesses(&im->file));
	d->totals.images++;
}

static void close_image(struct image *im)
{
	mt_tracefile_close(&im->file);
	if (im->dirfd >= 0)
		close(im->dirfd);
	im->dirfd = -1;
}

static char *proc_file(int32_t pid, const char *name, size_t *len)
{
	char *path = mt_printf("/proc/%d/%s", pid, name), *text = mt_read_file(path, len);

	free(path);
	return text;
}

/*
 * Has the process the library, or will it have it when the dynamic linker has
 * done its work? 1 yes, 0 no, -1 the process is gone.
 */
static int preloaded(struct mt_kmod_drain *d, const struct image *im)
{
	char *maps, *environ_, *exe, *which = NULL;
	size_t n = 0;
	int yes;

	if (d->o.has_preload)
		return d->o.has_preload(im->info.pid);
	maps = proc_file(im->info.pid, "maps", NULL);
	if (!maps || !*maps) {
		free(maps);
		return -1;
	}
	yes = strstr(maps, "libmemtrace-preload.so") != NULL;
	free(maps);
	if (yes)
		return 1;
	environ_ = proc_file(im->info.pid, "environ", &n);
	for (size_t i = 0; environ_ && i < n; i += strlen(environ_ + i) + 1)
		yes |= !strncmp(environ_ + i, "LD_PRELOAD=", 11) && strstr(environ_ + i, "libmemtrace-preload.so");
	free(environ_);
	exe = mt_printf("/proc/%d/exe", im->info.pid);
	if (yes && mt_program_obstacle(exe, &which))
		yes = 0;
	free(which);
	free(exe);
	return yes;
}

static void write_text(const struct mt_kmod_drain *d, const struct image *im, const char *name, const char *text)
{
	char *path = mt_printf("%s/%s/%s", d->o.trace, im->dir, name);
	FILE *f = fopen(path, "we");

	if (!f || fputs(text, f) < 0 || fclose(f))
		mt_error("record: cannot write %s: %s", path, strerror(errno));
	free(path);
}

/* The threads that there are now, for finish.c. */
static void write_threads(const struct mt_kmod_drain *d, const struct image *im)
{
	char *text = mt_strdup("");
	struct mt_threads t;

	mt_threads_open(&t, (pid_t)im->info.pid);
	for (pid_t tid; (tid = mt_threads_next(&t));) {
		char name[64], *next;

		if (!mt_thread_file(t.pid, tid, "comm", name, sizeof(name)))
			continue;
		name[strcspn(name, "\n")] = 0;
		next = mt_printf("%s%d %s\n", text, (int)tid, name);
		free(text);
		text = next;
	}
	write_text(d, im, "threads-start.txt", text);
	free(text);
}

/* Where the library lies in the process: what it does is not the program's. */
static void find_library(const struct mt_kmod_drain *d, struct image *im)
{
	char *path = mt_printf("%s/%s/" MT_FILE_MAPS, d->o.trace, im->dir), *text = mt_read_file(path, NULL), *save = NULL;

	free(path);
	for (char *l = text ? strtok_r(text, "\n", &save) : NULL; l; l = strtok_r(NULL, "\n", &save)) {
		uint64_t start, end;

		if (!strstr(l, "/libmemtrace-preload.so") || sscanf(l, "%" SCNx64 "-%" SCNx64, &start, &end) != 2)
			continue;
		if (!im->own_start || start < im->own_start)
			im->own_start = start;
		if (end > im->own_end)
			im->own_end = end;
	}
	free(text);
}

/* A directory for a program without the library. */
static void make_directory(struct mt_kmod_drain *d, struct image *im)
{
	static const char *const hows[] = { "root", "fork", "exec" };
	char exe[PATH_MAX] = "", *link, *args = NULL, *path;
	size_t n_args = 0;
	json_t *j, *argv = json_array();
	struct image *p;
	long parent = -1;
	ssize_t n;
	int number;

	for (number = 0; ; number++) {
		im->dir = mt_printf("p%04d", number);
		path = mt_printf("%s/%s", d->o.trace, im->dir);
		n = mkdir(path, 0777);
		free(path);
		if (!n)
			break;
		if (errno != EEXIST || number > 999999) {
			mt_error("record: cannot make a directory for process %d: %s", im->info.pid, strerror(errno));
			break;
		}
		free(im->dir);
	}
	for (p = d->images; p; p = p->next)
		if (p->info.image == im->info.parent && p->dir)
			parent = strtol(p->dir + 1, NULL, 10);
	link = mt_printf("/proc/%d/exe", im->info.pid);
	n = im->ended ? -1 : readlink(link, exe, sizeof(exe) - 1);
	free(link);
	exe[n > 0 ? n : 0] = 0;
	if (!im->ended)
		args = proc_file(im->info.pid, "cmdline", &n_args);
	for (size_t i = 0; args && i < n_args; i += strlen(args + i) + 1) {
		json_t *s = json_string(args + i);

		json_array_append_new(argv, s ? s : json_string("?"));
	}
	free(args);
	if (!json_array_size(argv))
		json_array_append_new(argv, json_stringn(im->info.comm, strnlen(im->info.comm, sizeof(im->info.comm))));
	j = json_pack("{s:i, s:i, s:i, s:s, s:s, s:o, s:I, s:s, s:s, s:i}", "index", number,
		      "pid", im->info.pid, "parent", (int)parent,
		      "how", parent < 0 ? "root" : hows[im->info.how < 3 ? im->info.how : 0], "executable",
		      *exe ? exe : im->info.comm, "arguments", argv, "start_ns", (json_int_t)im->info.time_ns,
		      "backend", "kmod", "backend_message",
		      parent < 0 && im->info.how == MEMTRACE_HOW_ATTACH ?
		      "recorded while it ran: accesses and static data, no allocations, because the recorder's library was not there when it began" :
		      "the program did not load the recorder's library: no allocations, no thread names",
		      "page_size_bytes", (int)d->o.page_size);
	if (j) {
		char *text = json_dumps(j, JSON_INDENT(1) | JSON_PRESERVE_ORDER);

		write_text(d, im, MT_FILE_IMAGE, text);
		free(text);
		json_decref(j);
	}
	if (im->maps)
		write_text(d, im, MT_FILE_MAPS, im->maps);
	if (!im->ended)
		write_threads(d, im);
	open_image(d, im);
}

/* ---- records */

#define MAX_CPUS 65536

/* Puts the CPUs of a record that is not a mask itself into one; returns how many of its words are in use. */
static unsigned int cpus_of(const struct memtrace_record *r, uint64_t *mask)
{
	unsigned int used = 1;

	mask[0] = 0;
	for (uint64_t list = r->flags & MEMTRACE_RECORD_CPU_LIST ? r->cpus : 0; list; list >>= 16) {
		unsigned int cpu = (unsigned int)(list & 0xffff) - 1;

		while (used <= cpu / 64)
			mask[used++] = 0;
		mask[cpu / 64] |= 1ull << (cpu % 64);
	}
	return used;
}

static unsigned int flags_of(uint32_t fl)
{
	return (fl & MEMTRACE_RECORD_INFERRED ? MT_ACCESS_FROM_SCAN : 0) | (fl & MEMTRACE_RECORD_DIRECTION ? MT_ACCESS_NO_DIRECTION : 0) |
	       (fl & MEMTRACE_RECORD_SHARED ? MT_ACCESS_SHARED : 0);
}

static void write_block(struct mt_kmod_drain *d, struct image *im, const struct memtrace_block *b)
{
	static const uint64_t unknown;
	static uint64_t cpus[MAX_CPUS / 64];

	const bool known = b->tid >= 0, masks = known && !d->o.modulo;
	/* what is the recorder's own, as a start and a length: one comparison each, for each of millions of records */
	const uint64_t own = im->own_start, own_bytes = im->own_end - own;
	const uint64_t place_bytes = im->own_end ? MT_PLACE_END - MT_PLACE_START : 0;	/* its buffers */
	const uint64_t in_page = d->o.page_size - 1, phys = d->o.physical ? ~0ull : 0;
	struct mt_access_row row = { .cpus = masks ? cpus : &unknown, .cpu_words = 1, .tid = b->tid };
	const struct memtrace_record *r = b->record, *end = r + b->records;
	uint64_t accesses = 0;
	uint32_t n = b->records;

	if (b->closed_ns > im->closed_ns)
		im->closed_ns = b->closed_ns;
	if (im->monitor_tid && b->tid == im->monitor_tid)
		return;
	mt_tracefile_interval_begin(&im->file, b->start_ns, b->end_ns);
	for (; r < end; r++) {
		const int offset = (int)(r->virt & in_page);
		const uint32_t fl = r->flags;

		if (r->virt - own < own_bytes || r->virt - MT_PLACE_START < place_bytes) {
			n--;
			continue;
		}
		accesses += r->reads + r->writes;
		row.virt = r->virt;
		row.phys = r->phys & phys;
		row.nreads = r->reads;
		row.nwrites = r->writes;
		row.ip = r->ip;
		row.node = r->node;
		/* the module knows the first access; which kind it was, if all were of one */
		row.read_at = r->writes || fl & MEMTRACE_RECORD_INFERRED ? -1 : offset;
		row.write_at = r->reads ? -1 : offset;
		row.flags = fl & (MEMTRACE_RECORD_INFERRED | MEMTRACE_RECORD_DIRECTION | MEMTRACE_RECORD_SHARED) ? flags_of(fl) : 0;
		cpus[0] = r->cpus;	/* not looked at where the masks are not known */
		if (fl & (MEMTRACE_RECORD_CPU_LIST | MEMTRACE_RECORD_CPUS_MANY) && masks) {
			row.cpu_words = (int)cpus_of(r, cpus);
			mt_tracefile_access(&im->file, &row);
			row.cpu_words = 1;
		} else {
			mt_tracefile_access(&im->file, &row);
		}
	}
	im->records += n;
	d->totals.records += n;
	if (known)
		im->faults += accesses;
	else
		im->unattributed += n;
	cannot_make(d, im, "the next chunk", mt_tracefile_turn(&im->file));
}

static void write_end(struct mt_kmod_drain *d, struct image *im, const struct end *e)
{
	static const enum mt_stretch stretch[] = { MT_STRETCH_NONE, MT_STRETCH_LONGER, MT_STRETCH_SHORTER };
	const struct memtrace_interval *iv = &e->iv;
	struct mt_interval_row row = {
		.interval = iv->interval, .start = iv->start_ns, .end = iv->end_ns, .target = iv->target_ns,
		.closed = im->closed_ns, .subphases = iv->subphases, .faults = im->faults, .records = im->records,
		.unattributed = im->unattributed, .lost_table = e->other, .lost_region = e->region,
		.marks = e->last ? MT_MARK_EXIT : 0,
	};

	if (e->shares) {
		row.lost_ring = iv->dropped;
		row.resident = iv->resident * d->o.page_size;	/* it counts pages */
		row.scan_ns = iv->scan_ns;
		row.monitor_cpu_ns = iv->monitor_cpu_ns;
		row.program_cpu_ns = iv->program_cpu_ns;
		row.stretch = iv->stretch < 3 ? stretch[iv->stretch] : MT_STRETCH_NONE;
	}
	d->totals.lost_writes += mt_tracefile_interval_end(&im->file, &row);
	im->faults = im->records = im->unattributed = 0;
	if (e->last)
		close_image(im);
}

static struct kept *keep(struct image *im)
{
	struct kept *k = mt_alloc(sizeof(*k));

	*im->kept_tail = k;
	im->kept_tail = &k->next;
	return k;
}

static void settle(struct mt_kmod_drain *d, struct image *im)
{
	while (im->kept) {
		struct kept *k = im->kept;

		im->kept = k->next;
		if (d && k->block)
			write_block(d, im, k->block);
		if (d && k->end)
			write_end(d, im, k->end);
		free(k->block);
		free(k->end);
		free(k);
	}
	im->kept_tail = &im->kept;
}

/* Finds or makes the directories of images that have none. */
static void place(struct mt_kmod_drain *d, uint64_t now, bool last)
{
	bool looked = false;

	for (struct image *im = d->images; im; im = im->next) {
		struct known *k;

		if (im->dir)
			continue;
		if (!looked)
			look_for_directories(d);
		looked = true;
		if (!im->ended && !im->maps)
			im->maps = proc_file(im->info.pid, "maps", NULL);
		k = match(d, im);
		if (k) {
			k->taken = true;
			im->dir = mt_strdup(k->name);
			im->monitor_tid = k->monitor_tid;
			find_library(d, im);
			open_image(d, im);
			settle(d, im);
			continue;
		}
		if (!im->blocks)
			continue;	/* nothing to write yet, perhaps never */
		if (!last && !im->ended) {
			const uint64_t age = now > im->info.time_ns ? now - im->info.time_ns : 0;
			int has;

			if (age < LOOK_NS)
				continue;
			has = preloaded(d, im);
			if (has == 1 && age < PATIENCE_NS)
				continue;
			if (has == 0) {
				/* these are the maps of the program itself by now */
				free(im->maps);
				im->maps = proc_file(im->info.pid, "maps", NULL);
			}
		}
		make_directory(d, im);
		settle(d, im);
	}
}

static struct image *find(struct mt_kmod_drain *d, uint32_t number)
{
	if (d->last && d->last->info.image == number)
		return d->last;
	for (struct image *im = d->images; im; im = im->next)
		if (im->info.image == number)
			return d->last = im;
	return NULL;
}

static int block(struct mt_kmod_drain *d, const struct memtrace_block *b)
{
	struct image *im = find(d, b->image);
	struct kept *k;

	if (b->records > MEMTRACE_BLOCK_RECORDS ||
	    b->head.bytes != sizeof(*b) + b->records * sizeof(struct memtrace_record))
		return -EPROTO;
	if (!im) {		/* the kernel had no memory to announce it */
		d->orphans += b->records;
		return 0;
	}
	im->blocks++;
	im->has = true;
	if (im->dir) {
		write_block(d, im, b);
		return 0;
	}
	k = keep(im);
	k->block = mt_alloc(b->head.bytes);
	memcpy(k->block, b, b->head.bytes);
	return 0;
}

static void interval(struct mt_kmod_drain *d, const struct memtrace_interval *iv)
{
	uint64_t region = 0, other = 0;
	bool first = true;

	d->totals.intervals++;
	d->totals.dropped += iv->dropped;
	if (d->o.losses)
		d->o.losses(d->o.arg, &region, &other);
	other += d->orphans;
	d->orphans = 0;
	place(d, iv->end_ns, false);
	for (struct image *im = d->images; im; im = im->next) {
		struct end e = { .iv = *iv, .shares = first, .last = im->ended,
				 .region = first ? region : 0, .other = first ? other : 0 };

		/* a child of the boundary: the sweep that ends the interval saw its pages, or it is of the next one */
		if (im->closed || (!im->has && im->info.time_ns >= iv->end_ns))
			continue;
		im->has = false;
		im->closed = im->ended;
		if (im->dir) {
			write_end(d, im, &e);
		} else {
			struct kept *k = keep(im);

			k->end = mt_alloc(sizeof(e));
			*k->end = e;
			/* ended without a single record: there is no image of it, somebody else has the sums */
			if (im->ended && !im->blocks) {
				settle(NULL, im);
				continue;
			}
		}
		first = false;
	}
}

int mt_kmod_drain_feed(struct mt_kmod_drain *d, const void *messages, size_t bytes)
{
	const char *p = messages, *end = p + bytes;

	while (p < end) {
		const struct memtrace_head *h = (const void *)p;
		struct image *im;
		int err;

		if ((size_t)(end - p) < sizeof(*h) || h->bytes < sizeof(*h) || h->bytes > (size_t)(end - p))
			return -EPROTO;
		switch (h->kind) {
		case MEMTRACE_BLOCK:
			if (h->bytes < sizeof(struct memtrace_block))
				return -EPROTO;
			err = block(d, (const void *)p);
			if (err)
				return err;
			break;
		case MEMTRACE_INTERVAL:
			if (h->bytes < sizeof(struct memtrace_interval))
				return -EPROTO;
			interval(d, (const void *)p);
			break;
		case MEMTRACE_IMAGE:
			if (h->bytes < sizeof(struct memtrace_image))
				return -EPROTO;
			im = mt_alloc(sizeof(*im));
			memcpy(&im->info, p, sizeof(im->info));
			im->kept_tail = &im->kept;
			*d->tail = im;
			d->tail = &im->next;
			break;
		case MEMTRACE_IMAGE_END:
			if (h->bytes < sizeof(struct memtrace_image_end))
				return -EPROTO;
			im = find(d, ((const struct memtrace_image_end *)h)->image);
			if (im) {
				im->ended = true;
				im->end_ns = ((const struct memtrace_image_end *)h)->time_ns;
			}
			break;
		}
		p += h->bytes;
	}
	return 0;
}

void mt_kmod_drain_end(struct mt_kmod_drain *d, struct mt_kmod_totals *t)
{
	struct image *im, *next;

	place(d, UINT64_MAX, true);
	for (im = d->images; im; im = next) {
		next = im->next;
		settle(NULL, im);
		if (im->dir) {
			close_image(im);
			free(im->file.accesses.buf);
			free(im->file.intervals.buf);
		}
		free(im->dir);
		free(im->maps);
		free(im);
	}
	for (size_t i = 0; i < d->n_known; i++)
		free(d->known[i].name);
	free(d->known);
	if (t)
		*t = d->totals;
	free(d);
}
