// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * usage: generated SEED [STEP,STEP...]	runs the program of the seed, or these of its steps only
 *	  generated -l SEED		lists its steps
 *	  generated tail SEED ...	what a step goes on as by exec
 */
#include "plan.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_STEPS 24

int depth;
const char *own_path;

uint64_t next(struct random *r)	/* splitmix64 */
{
	uint64_t z = (r->state += 0x9e3779b97f4a7c15ul);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ul;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebul;
	return z ^ (z >> 31);
}

unsigned below(struct random *r, unsigned n)
{
	return (unsigned)((next(r) >> 33) % n);
}

int chance(struct random *r, unsigned percent)
{
	return below(r, 100) < percent;
}

/* Lines of this process. No stdio: its buffer would be in children, too. */
static char text[16384];
static size_t text_n;

void flush(void)
{
	size_t done = 0;

	while (done < text_n) {
		ssize_t n = write(1, text + done, text_n - done);

		if (n < 0 && errno != EINTR)
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	text_n = 0;
}

void say(const char *format, ...)
{
	va_list args;
	int n;

	if (text_n > sizeof(text) - 512)
		flush();
	va_start(args, format);
	n = vsnprintf(text + text_n, 500, format, args);
	va_end(args);
	text_n += n < 500 ? (size_t)n : 499;
}

const char *name_of(long result)
{
	const char *name = result == -1 ? strerrorname_np(errno) : "ok";

	return name ? name : "?";
}

static const struct step *choose(struct random *r)
{
	const struct step *lists[] = { memory_steps, process_steps, thread_steps };
	unsigned total = 0, at;

	for (int i = 0; i < 3; i++)
		for (const struct step *s = lists[i]; s->name; s++)
			if (depth <= (int)s->max_depth)
				total += s->weight;
	at = below(r, total);
	for (int i = 0; i < 3; i++)
		for (const struct step *s = lists[i]; s->name; s++) {
			if (depth > (int)s->max_depth)
				continue;
			if (at < s->weight)
				return s;
			at -= s->weight;
		}
	return memory_steps;
}

static void run_step(const struct step *s, struct random *r, unsigned i)
{
	say("%*s%u %s:", depth * 2, "", i, s->name);
	s->run(r);
	say("\n");
	check_areas(s->name);
	flush();
}

void run_steps(struct random *r, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct random own = { next(r) };

		run_step(choose(&own), &own, i);
	}
	say("%*ssum %016lx\n", depth * 2, "", (unsigned long)sum_areas());
	flush();
}

static int is_wanted(const char *list, unsigned i)
{
	while (list && *list) {
		char *end;

		if (strtoul(list, &end, 10) == i)
			return 1;
		list = *end ? end + 1 : end;
	}
	return !list;
}

int main(int argc, char **argv)
{
	struct random r;
	int list = argc > 2 && !strcmp(argv[1], "-l");
	unsigned n;

	own_path = argv[0];
	if (argc > 1 && !strcmp(argv[1], "tail"))
		return exec_tail(argc, argv);
	if (argc < 2) {
		fputs("usage: generated [-l] SEED [STEP,STEP...]\n", stderr);
		return 2;
	}
	r.state = strtoul(argv[list ? 2 : 1], NULL, 10) * 0x2545f4914f6cdd1dul + 1;
	n = 4 + below(&r, MAX_STEPS - 4);
	for (unsigned i = 0; i < n; i++) {
		struct random own = { next(&r) };
		const struct step *s = choose(&own);

		if (list)
			printf("%u %s\n", i, s->name);
		else if (is_wanted(argc > 2 ? argv[2] : NULL, i))
			run_step(s, &own, i);
	}
	if (list)
		return 0;
	timer_stop();
	background_stop();
	check_areas("end");
	say("sum %016lx\n", (unsigned long)sum_areas());
	flush();
	if (is_wanted(argc > 2 ? argv[2] : NULL, n))
		leave(&r);
	return 0;
}
