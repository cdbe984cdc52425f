/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/trace/unrecorded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/arch.h"
#include "common/tracenames.h"
#include "cli/base/util.h"

static const char header[] = "Time,Pid,Event,How,Why,Parent,CpuNs,Bytes,Program\n";
#define TOLD 3		/* programs that are named */

struct program {
	char *name;
	int64_t processes;
};

/* Why, as in docs/reference/trace-format.md, beside "small". */
static const struct {
	const char *why, *text;
	bool kmod;		/* the kernel module records them */
} reasons[] = {
	{ "left-out", "left out by --follow or --skip", false },
	{ "static", "statically linked", true },
	{ "foreign", "not a " MT_ARCH_NAME " program of glibc", true },
	{ "sanitizer", "built with a sanitizer that bears no library before its own", true },
	{ "privileges", "whose program gains privileges (setuid, setgid or file capabilities)", true },
	{ "not-loaded", "that did not get the library, or must not write the trace (another user, another environment)", true },
	{ "no-hook", "made by a system call of the program itself, which no hook sees", true },
};
#define REASONS (sizeof(reasons) / sizeof(reasons[0]))
#define REASON_SHIFT 28
#define PROGRAM_MASK ((1u << REASON_SHIFT) - 1)
#define MAX_PID (1 << 22)	/* PID_MAX_LIMIT */

struct sums {
	uint32_t *begun;	/* by pid: the program that is counted for it, its index + 1, and the reason, its index + 1 */
	size_t n_begun;
	int64_t processes, reason[REASONS], threads, descriptors, pinned;	/* of processes, these three: that grew, but cannot be recorded */
	uint64_t cpu_ns;
	struct program *program;
	size_t n, cap;
};

int mt_unrecorded_create(const char *trace)
{
	char *path = mt_printf("%s/" MT_FILE_UNRECORDED, trace);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), err = fd < 0 ? -errno : 0;

	if (fd >= 0 && write(fd, header, sizeof(header) - 1) != (ssize_t)sizeof(header) - 1)
		err = -EIO;
	if (fd >= 0)
		close(fd);
	free(path);
	return err;
}

static size_t index_of(struct sums *s, const char *program)
{
	const char *name = mt_base(program);

	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->program[i].name, name))
			return i;
	MT_GROW(s->program, s->n, s->cap);
	s->program[s->n] = (struct program){ mt_strdup(name), 0 };
	return s->n++;
}

/* What is counted for this process, as index + 1; NULL: no such process can be. */
static uint32_t *begun(struct sums *s, long pid)
{
	size_t n = s->n_begun;

	if (pid <= 0 || pid > MAX_PID)
		return NULL;
	if ((size_t)pid >= n) {
		uint32_t *more;

		for (n = n ? n : 4096; n <= (size_t)pid; n *= 2)
			;
		more = realloc(s->begun, n * sizeof(*more));
		if (!more)
			return NULL;
		memset(more + s->n_begun, 0, (n - s->n_begun) * sizeof(*more));
		s->begun = more;
		s->n_begun = n;
	}
	return &s->begun[pid];
}

static void take_back(struct sums *s, uint32_t *of)
{
	if (!*of)
		return;
	s->program[(*of & PROGRAM_MASK) - 1].processes--;
	s->processes--;
	if (*of >> REASON_SHIFT)
		s->reason[(*of >> REASON_SHIFT) - 1]--;
	*of = 0;
}

static int by_processes(const void *x, const void *y)
{
	const struct program *a = x, *b = y;

	return a->processes != b->processes ? (a->processes < b->processes ? 1 : -1) : strcmp(a->name, b->name);
}

/* "true 300, sed 12, make 1, and others" */
static char *programs(const struct sums *s)
{
	char *text = mt_strdup("");
	size_t told = 0;

	for (size_t i = 0; i < s->n && s->program[i].processes > 0; i++, told++) {
		char *next = told == TOLD ? mt_printf("%s and others", text) :
			     mt_printf("%s%s%s %lld", text, told ? ", " : "", s->program[i].name, (long long)s->program[i].processes);

		free(text);
		text = next;
		if (told == TOLD)
			break;
	}
	return text;
}

/* Appends to a text that was made by mt_printf(). */
static char *and(char *text, char *more)
{
	char *next = mt_printf("%s%s", text, more);

	free(text);
	free(more);
	return next;
}

static char *sentence(const struct sums *s)
{
	char *which = programs(s), *text = mt_printf("%lld process%s not recorded: ", (long long)s->processes, s->processes == 1 ? "" : "es");
	int64_t small = s->processes;
	bool more = false, kmod = false;

	for (size_t i = 0; i < REASONS; i++)
		small -= s->reason[i];
	if (small > 0) {
		text = and(text, mt_printf("%lld that asked for little memory (--min-process)", (long long)small));
		more = true;
	}
	for (size_t i = 0; i < REASONS; i++) {
		if (s->reason[i] <= 0)
			continue;
		text = and(text, mt_printf("%s%lld %s", more ? ", " : "", (long long)s->reason[i], reasons[i].text));
		more = true;
		kmod |= reasons[i].kmod;
	}
	if (s->threads)
		text = and(text, mt_printf("; %lld of them grew, but made threads without libc", (long long)s->threads));
	if (s->descriptors)
		text = and(text, mt_printf("; %lld of them grew, but may have too few descriptors", (long long)s->descriptors));
	if (s->pinned)
		text = and(text, mt_printf("; %lld of them grew, but have memory that the kernel has pinned", (long long)s->pinned));
	text = and(text, mt_printf("; %s", which));
	if (kmod)
		text = and(text, mt_strdup("; --backend kmod records them all"));
	free(which);
	return text;
}

static uint32_t reason_of(const char *why)
{
	for (size_t i = 0; i < REASONS; i++)
		if (!strcmp(why, reasons[i].why))
			return (uint32_t)i + 1;
	return 0;
}

json_t *mt_unrecorded_describe(const char *trace)
{
	char *path = mt_printf("%s/" MT_FILE_UNRECORDED, trace), *text;
	struct sums s = { 0 };
	json_t *j = NULL;
	struct mt_csv c;

	if (mt_csv_open(&c, path) == 0) {
		const int pid = mt_csv_column(&c, "Pid"), how = mt_csv_column(&c, "How"),
			  event = mt_csv_column(&c, "Event"), why = mt_csv_column(&c, "Why"), cpu = mt_csv_column(&c, "CpuNs"),
			  program = mt_csv_column(&c, "Program");

		while (mt_csv_next(&c)) {
			const char *e = mt_csv_get(&c, event);
			const uint32_t reason = reason_of(mt_csv_get(&c, why));
			uint32_t *of = begun(&s, strtol(mt_csv_get(&c, pid), NULL, 10));

			if (c.n < c.n_columns || !of)
				continue;
			if (!strcmp(e, "begin")) {
				/* a child that goes on as another program is one process */
				if (!strcmp(mt_csv_get(&c, how), "exec"))
					take_back(&s, of);
				*of = (uint32_t)index_of(&s, mt_csv_get(&c, program)) + 1;
				s.program[*of - 1].processes++;
				s.processes++;
				if (reason)
					s.reason[reason - 1]++;
				*of |= reason << REASON_SHIFT;
			} else if (!strcmp(e, "recorded")) {
				take_back(&s, of);
			} else if (!strcmp(e, "stays")) {
				s.threads += !strcmp(mt_csv_get(&c, why), "threads");
				s.descriptors += !strcmp(mt_csv_get(&c, why), "descriptors");
				s.pinned += !strcmp(mt_csv_get(&c, why), "pinned");
			} else if (!strcmp(e, "end")) {
				s.cpu_ns += strtoull(mt_csv_get(&c, cpu), NULL, 10);
				*of = 0;
			}
		}
		mt_csv_close(&c);
	}
	if (s.processes > 0) {
		int64_t unreached = 0;

		qsort(s.program, s.n, sizeof(*s.program), by_processes);
		for (size_t i = 0; i < REASONS; i++)
			unreached += reasons[i].kmod && s.reason[i] > 0 ? s.reason[i] : 0;
		text = sentence(&s);
		j = json_pack("{s:I, s:I, s:I, s:I, s:s}", "processes", (json_int_t)s.processes, "left_out", (json_int_t)s.reason[0],
			      "unreached", (json_int_t)unreached, "cpu_ns", (json_int_t)s.cpu_ns, "text", text);
		free(text);
	}
	for (size_t i = 0; i < s.n; i++)
		free(s.program[i].name);
	free(s.program);
	free(s.begun);
	free(path);
	return j;
}
