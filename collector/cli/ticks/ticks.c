/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * A tick is told at the instruction where the thread is when the interrupt is taken. Which one waited is asked of the processor once
 * (calibrate.h); where it is the one in front, that is
 *   - the one in front in memory, if it does not always jump away
 *   - at the head of a loop the last one of the loop, since a loop comes from there more often than from above
 *   - in front of a branch that is done together with a comparison, the comparison.
 * A tick in the kernel stands at the instruction that made the fault, or behind the one that made the system call; registers are those of
 * then.
 */
#include "cli/ticks/ticks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/util.h"
#include "cli/ticks/calibrate.h"
#include "cli/ticks/decode.h"
#include "cli/trace/tracedir.h"
#include "common/tracenames.h"

#define MOST_CODE 64

/* Code around an address, and what was decoded of it. */
struct place {
	uint64_t ip;
	uint8_t behind[MOST_CODE], before[MOST_CODE];
	size_t n_behind, n_before;
	struct mt_insn at, waited;
	bool told;		/* waited was looked for; its length is 0: it is not known */
	bool in_call;		/* the instruction in front is a system call */
};

/* From where a place is jumped to: the comparison before the jump, or the jump. */
struct way {
	uint64_t to;
	bool back;
	struct mt_insn from;
};

struct ticks {
	FILE *in;
	struct place *place;
	struct way *way;
	size_t n, cap, n_ways, ways_cap;
	uint32_t *slot;		/* number of the place + 1, by address; a power of two of them */
	size_t slots;
	int skid, n_regs, reg_ip;
	char arch[32];
	uint64_t period_ns, weight;
	FILE *out;
	void (*on_ip)(void *arg, uint64_t ip);
	void *arg;
};

/* ---- code */

static uint32_t *slot_of(struct ticks *t, uint64_t ip)
{
	size_t at = (size_t)(ip * 0x9e3779b97f4a7c15ull >> 20) & (t->slots - 1);

	while (t->slot[at] && t->place[t->slot[at] - 1].ip != ip)
		at = (at + 1) & (t->slots - 1);
	return &t->slot[at];
}

static struct place *find(struct ticks *t, uint64_t ip)
{
	const uint32_t at = t->slots ? *slot_of(t, ip) : 0;

	return at ? &t->place[at - 1] : NULL;
}

static struct place *add(struct ticks *t, uint64_t ip)
{
	struct place *p = find(t, ip);

	if (p)
		return p;
	if (!t->place)
		t->n = t->cap = 0;	/* for the static analysis, which cannot know */
	if (2 * (t->n + 1) > t->slots) {
		t->slots = t->slots ? 2 * t->slots : 1024;
		free(t->slot);
		t->slot = mt_alloc(t->slots * sizeof(*t->slot));
		for (size_t i = 0; i < t->n; i++)
			*slot_of(t, t->place[i].ip) = (uint32_t)i + 1;
	}
	MT_GROW(t->place, t->n, t->cap);
	p = &t->place[t->n];
	memset(p, 0, sizeof(*p));
	p->ip = ip;
	*slot_of(t, ip) = (uint32_t)++t->n;
	return p;
}

static size_t bytes_of(const char *hex, uint8_t *to)
{
	size_t n = 0;
	unsigned int v;

	for (; n < MOST_CODE && sscanf(hex + 2 * n, "%2x", &v) == 1 && hex[2 * n + 1] >= '0'; n++)
		to[n] = (uint8_t)v;
	return n;
}

/* Jumps in the code behind a place: with each the comparison in front of it, if they are done together. */
static void find_ways(struct ticks *t, const struct place *p)
{
	struct mt_insn last = { 0 }, x;

	for (size_t at = 0; at < p->n_behind; last = x, at += x.length) {
		mt_decode(p->ip + at, p->behind + at, p->n_behind - at, &x);
		if (!x.length)
			break;
		if (x.target && x.target != x.ip) {
			MT_GROW(t->way, t->n_ways, t->ways_cap);
			t->way[t->n_ways++] = (struct way){ x.target, x.target < x.ip, !x.always && last.compares ? last : x };
		}
		if (x.always)
			break;	/* what is behind may be no code */
	}
}

static void on_code(struct ticks *t, char *line)
{
	char *hex = strchr(line, ','), *before = hex ? strchr(hex + 1, ',') : NULL;
	struct place *p;

	if (!before)
		return;
	p = add(t, strtoull(line, NULL, 16));
	p->n_behind = bytes_of(hex + 1, p->behind);
	p->n_before = bytes_of(before + 1, p->before);
	p->told = p->in_call = false;
	mt_decode(p->ip, p->behind, p->n_behind, &p->at);
	find_ways(t, p);
}

/* The last way to a place that is taken again and again: from below. Else, with @any, one from elsewhere. */
static const struct way *way_to(const struct ticks *t, uint64_t ip, bool any)
{
	for (int back = 1; back >= !any; back--)
		for (size_t i = 0; i < t->n_ways; i++)
			if (t->way[i].to == ip && t->way[i].back == back)
				return &t->way[i];
	return NULL;
}

static bool is_call(const struct place *p, bool arm64)
{
	const uint8_t *e = p->before + p->n_before;

	if (p->n_before < 4)
		return false;
	return arm64 ? e[-4] == 1 && e[-3] == 0 && e[-2] == 0 && e[-1] == 0xd4 : e[-2] == 0x0f && e[-1] == 5;
}

/* The instruction that a tick of the program stands for. */
static void find_waited(const struct ticks *t, struct place *p)
{
	const struct way *w;
	struct mt_insn front, more;
	size_t left;

	p->told = true;
	p->in_call = is_call(p, t->n_regs == 33);
	memset(&p->waited, 0, sizeof(p->waited));
	if (t->skid < 0)
		return;
	if (t->skid == 0 || p->at.repeats) {
		p->waited = p->at;
		return;
	}
	w = way_to(t, p->ip, false);
	if (!w && (!mt_decode_before(p->ip, p->before + p->n_before, p->n_before, &front) || front.always))
		w = way_to(t, p->ip, true);
	else if (!w)
		p->waited = front;
	if (w) {
		p->waited = w->from;
	} else if (p->waited.length && p->waited.jumps) {
		left = p->n_before - p->waited.length;
		if (mt_decode_before(p->waited.ip, p->before + left, left, &more) && more.compares)
			p->waited = more;
	}
}

/* ---- ticks */

static const char *access_word(const struct mt_insn *x)
{
	static const char *const words[] = { "?", "r", "w", "rw" };

	return !x->length ? "" : !x->memory ? "-" : words[x->access & 3];
}

static void on_tick(struct ticks *t, char *line)
{
	uint64_t time, reg[MT_TICK_REGS] = { 0 }, address = 0;
	unsigned int tid, kernel;
	struct place *p = NULL;
	struct mt_insn none = { 0 }, *x = &none;
	int cpu, n = 0, at = 0;
	bool known = false;
	char *s;

	if (sscanf(line, "%" SCNu64 ",%u,%d,%u%n", &time, &tid, &cpu, &kernel, &at) != 4)
		return;
	for (s = line + at; *s == ',' && n < t->n_regs; n++) {
		reg[n] = strtoull(s + 1, &s, 16);
		if (*s != ',' && *s)
			return;		/* a line in which another one begins */
	}
	if (n == t->n_regs)
		p = find(t, reg[t->reg_ip]);
	if (p && !p->told)
		find_waited(t, p);
	if (p) {
		x = kernel ? p->in_call ? &none : &p->at : &p->waited;
		known = mt_decode_address(x, reg, !kernel && t->skid == 1 && !p->at.repeats, &address);
	}
	fprintf(t->out, "%" PRIu64 ",%u,%d,%s,%" PRIx64 ",", time, tid, cpu, !kernel ? "u" : p && p->in_call ? "s" : "f",
		x->length ? x->ip : n == t->n_regs ? reg[t->reg_ip] : 0);
	if (known)
		fprintf(t->out, "%" PRIx64, address);
	fprintf(t->out, ",%u,%s,%" PRIu64 "\n", x->memory ? x->bytes : 0, access_word(x), t->period_ns * t->weight);
	if (n == t->n_regs)
		t->on_ip(t->arg, x->length ? x->ip : reg[t->reg_ip]);
}

/* The first line says what kind of ticks there are. false: none. */
static bool begin(struct ticks *t, const char *line)
{
	unsigned int kernel;

	return sscanf(line, "H,%" SCNu64 ",%31[^,],%u", &t->period_ns, t->arch, &kernel) == 3 && t->period_ns && mt_decode_knows(t->arch);
}

/* Which instruction ticks of the recorded machine name: what the manifest knows, or what this one says if it is the same. */
static struct mt_skid skid_of(const char *trace)
{
	struct mt_skid s = { .behind = -1 };
	char *path = mt_printf("%s/manifest.json", trace), *boot = mt_read_line("/proc/sys/kernel/random/boot_id");
	json_t *m = json_load_file(path, 0, NULL), *known = json_object_get(json_object_get(m, "ticks"), "skid");
	const char *there = json_string_value(json_object_get(json_object_get(m, "host"), "boot_id"));

	if (json_is_integer(known))
		s.behind = (int)json_integer_value(known);
	else if (boot && there && !strcmp(boot, there))
		s = mt_skid_here();
	json_decref(m);
	free(boot);
	free(path);
	return s;
}

/* Is there a tick in what follows? */
static bool has_ticks(FILE *f)
{
	char *line = NULL;
	size_t cap = 0;
	bool any = false;

	while (!any && getline(&line, &cap, f) > 0)
		any = line[0] == 'T';
	free(line);
	return any;
}

/* Two passes: code first, since a place may be jumped to from code that is met later. */
static void pass(struct ticks *t, bool write)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	rewind(t->in);
	t->weight = 1;
	while ((n = getline(&line, &cap, t->in)) > 2 || (n > 0 && line[0] == '\n')) {
		if (line[n - 1] != '\n')
			break;
		line[n - 1] = 0;
		if (line[0] == 'C')
			on_code(t, line + 2);
		else if (write && line[0] == 'W')
			t->weight = strtoull(line + 2, NULL, 10);
		else if (write && line[0] == 'T')
			on_tick(t, line + 2);
	}
	free(line);
}

int mt_ticks_write(const char *trace, const char *image, const char *dir, void (*on_ip)(void *arg, uint64_t ip), void *arg)
{
	struct ticks t = { .on_ip = on_ip, .arg = arg };
	char *path = mt_printf("%s/%s/" MT_FILE_TICKS_RAW, trace, image), *line = NULL;
	struct mt_newfile out;
	size_t cap = 0;
	bool any;
	int err = 0;

	t.in = fopen(path, "re");
	if (!t.in || getline(&line, &cap, t.in) < 0 || !begin(&t, line))
		goto done;
	/* short programs may have none, and the decoder is large */
	any = has_ticks(t.in);
	if (any) {
		err = mt_decode_open(t.arch);
		if (err)
			goto done;
		t.n_regs = mt_decode_registers(&t.reg_ip);
		t.skid = skid_of(trace).behind;
	}
	err = mt_newfile(&out, dir, MT_FILE_TICKS);
	if (err)
		goto done;
	t.out = out.f;
	fputs("Time,TaskId,Cpu,Mode,Ip,@Virt,Bytes,Access,CpuNs\n", out.f);
	if (any) {
		pass(&t, false);
		pass(&t, true);
	}
	err = mt_newfile_commit(&out);
done:
	if (t.in)
		fclose(t.in);
	free(line);
	free(path);
	free(t.place);
	free(t.way);
	free(t.slot);
	return err;
}

/* ---- what a trace says */

struct sums {
	uint64_t images, without, ticks, lost, period_ns, largest_weight;
	bool in_kernel;
	int err;
	char why[64];
};

static void add_image(struct sums *s, const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	uint64_t weight = 1;

	if (!f)
		return;
	s->images++;
	while (getline(&line, &cap, f) > 0) {
		unsigned int kernel = 0;

		if (line[0] == 'H' && sscanf(line, "H,%" SCNu64 ",%*[^,],%u", &s->period_ns, &kernel) == 2) {
			s->in_kernel |= kernel;
		} else if (line[0] == 'E') {
			s->without++;
			sscanf(line, "E,%d,%63[^\n]", &s->err, s->why);
		} else if (line[0] == 'W') {
			weight = strtoull(line + 2, NULL, 10);
			s->largest_weight = weight > s->largest_weight ? weight : s->largest_weight;
		} else if (line[0] == 'T') {
			s->ticks++;
		} else if (line[0] == 'L' && strchr(line + 2, ',')) {
			s->lost += strtoull(strchr(line + 2, ',') + 1, NULL, 10);
		}
	}
	free(line);
	fclose(f);
}

static char *text_of(const struct sums *s, int skid)
{
	char *lost, *text;

	if (s->images == s->without)
		return mt_printf("no ticks: it is not known where the program's time goes (%s%s%s)",
				 s->images ? s->why : "the program wrote none", s->images ? ": " : "", s->images ? strerror(s->err) : "");
	lost = s->lost ? mt_printf(", %s lost", mt_human_count(s->lost)) : mt_strdup("");
	text = mt_printf("%s ticks of %s of CPU time%s%s%s%s", mt_human_count(s->ticks), mt_human_ns(s->period_ns), lost,
			 s->largest_weight > 1 ? ", later ones stand for several" : "",
			 s->in_kernel ? "" : "; not known: time in the kernel (perf_event_paranoid > 1)",
			 s->ticks && skid < 0 ? "; not known: addresses, since it could not be found out here which instruction a tick names" : "");
	free(lost);
	return text;
}

json_t *mt_ticks_describe(const char *trace, const json_t *m)
{
	const int64_t hz = json_integer_value(json_object_get(json_object_get(m, "parameters"), "ticks_hz"));
	struct sums s = { 0 };
	struct mt_skid skid;
	json_t *j;
	char **images, *text;
	size_t n;

	if (!hz)
		return NULL;
	images = mt_trace_images(trace, &n);
	for (size_t i = 0; i < n; i++) {
		char *path = mt_printf("%s/%s/" MT_FILE_TICKS_RAW, trace, images[i]);

		add_image(&s, path);
		free(path);
	}
	mt_names_free(images, n);
	/* asking the processor costs more than a program that is over before its first tick */
	skid = s.ticks ? skid_of(trace) : (struct mt_skid){ .behind = -1 };
	text = text_of(&s, skid.behind);
	j = json_pack("{s:I, s:I, s:I, s:I, s:I, s:b, s:s}", "ticks", (json_int_t)s.ticks, "lost", (json_int_t)s.lost, "period_ns",
		      (json_int_t)s.period_ns, "images", (json_int_t)s.images, "images_without", (json_int_t)s.without, "kernel", s.in_kernel,
		      "text", text);
	if (skid.behind >= 0)
		json_object_set_new(j, "skid", json_integer(skid.behind));
	free(text);
	return j;
}
