/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "unrecorded.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

static const char header[] = "Time,Pid,Event,How,Why,Parent,CpuNs,Bytes,Program\n";
#define TOLD 3		/* programs that are named */

struct program {
	char *name;
	int64_t processes;
};

#define LEFT_OUT 0x80000000u
#define MAX_PID (1 << 22)	/* PID_MAX_LIMIT */

struct sums {
	uint32_t *begun;	/* by pid: the program that is counted for it, its index + 1, and LEFT_OUT */
	size_t n_begun;
	int64_t processes, left_out, threads;
	uint64_t cpu_ns;
	struct program *program;
	size_t n, cap;
};

int mt_unrecorded_create(const char *trace)
{
	char *path = mt_printf("%s/unrecorded.csv", trace);
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
	s->program[(*of & ~LEFT_OUT) - 1].processes--;
	s->processes--;
	s->left_out -= (*of & LEFT_OUT) != 0;
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

static char *sentence(const struct sums *s)
{
	char *which = programs(s), *text, *left = NULL, *threads = NULL;
	const int64_t small = s->processes - s->left_out;

	if (s->left_out)
		left = mt_printf("%s%lld left out by --follow or --skip", small ? ", " : "", (long long)s->left_out);
	if (s->threads)
		threads = mt_printf("; %lld of them grew, but made threads without libc", (long long)s->threads);
	text = mt_printf("%lld process%s not recorded: ", (long long)s->processes, s->processes == 1 ? "" : "es");
	if (small) {
		char *next = mt_printf("%s%lld that asked for little memory (--min-process)", text, (long long)small);

		free(text);
		text = next;
	}
	{
		char *next = mt_printf("%s%s%s; %s", text, left ? left : "", threads ? threads : "", which);

		free(text);
		text = next;
	}
	free(left);
	free(threads);
	free(which);
	return text;
}

json_t *mt_unrecorded_describe(const char *trace)
{
	char *path = mt_printf("%s/unrecorded.csv", trace), *text;
	struct sums s = { 0 };
	json_t *j = NULL;
	struct mt_csv c;

	if (mt_csv_open(&c, path) == 0) {
		const int pid = mt_csv_column(&c, "Pid"), how = mt_csv_column(&c, "How"),
			  event = mt_csv_column(&c, "Event"), why = mt_csv_column(&c, "Why"), cpu = mt_csv_column(&c, "CpuNs"),
			  program = mt_csv_column(&c, "Program");

		while (mt_csv_next(&c)) {
			const char *e = mt_csv_get(&c, event);
			const bool left_out = !strcmp(mt_csv_get(&c, why), "left-out");
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
				s.left_out += left_out;
				*of |= left_out ? LEFT_OUT : 0;
			} else if (!strcmp(e, "recorded")) {
				take_back(&s, of);
			} else if (!strcmp(e, "stays")) {
				s.threads++;
			} else if (!strcmp(e, "end")) {
				s.cpu_ns += strtoull(mt_csv_get(&c, cpu), NULL, 10);
				*of = 0;
			}
		}
		mt_csv_close(&c);
	}
	if (s.processes > 0) {
		qsort(s.program, s.n, sizeof(*s.program), by_processes);
		text = sentence(&s);
		j = json_pack("{s:I, s:I, s:I, s:s}", "processes", (json_int_t)s.processes, "left_out", (json_int_t)s.left_out,
			      "cpu_ns", (json_int_t)s.cpu_ns, "text", text);
		free(text);
	}
	for (size_t i = 0; i < s.n; i++)
		free(s.program[i].name);
	free(s.program);
	free(s.begun);
	free(path);
	return j;
}
