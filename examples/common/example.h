// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * What the examples share: clock, options, a hash for check sums, pinning of
 * nothing. Everything here is static and allocates nothing, so that the only
 * memory that a picture shows is the memory of the example.
 *
 * Every example prints one line with its check sum on stdout, the same for
 * every number of threads and with or without memtrace, and its times on
 * stderr.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXAMPLE_PAGE 4096UL
#define EXAMPLE_MAX_THREADS 256

/* Seconds of CLOCK_MONOTONIC, the clock of the trace. */
static inline double ex_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* splitmix64: a good 64-bit hash of a counter; makes data that do not depend
 * on the order in which threads make them. */
static inline uint64_t ex_hash(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ULL;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

struct ex_option {
	char letter;
	const char *text;	/* one line for the usage */
	long *value;
	long min, max;
};

static inline void ex_usage(FILE *f, const char *program, const char *variants,
			    const struct ex_option *o)
{
	fprintf(f, "usage: %s [%s] [options]\n", program, variants);
	for (; o->letter; o++)
		fprintf(f, "  -%c N   %s (%ld)\n", o->letter, o->text, *o->value);
}

/*
 * Reads "[VARIANT] [-x N]...". @variants is "a|b|c"; returns the index of the
 * chosen one, 0 when none is given. Leaves with status 2 and one sentence on
 * stderr for anything else.
 */
static inline int ex_options(int argc, char **argv, const char *variants,
			     const struct ex_option *opts)
{
	const char *program = strrchr(argv[0], '/');
	int variant = 0;

	program = program ? program + 1 : argv[0];
	for (int a = 1; a < argc; a++) {
		const struct ex_option *o;
		char *end;
		long v;

		if (!strcmp(argv[a], "-h") || !strcmp(argv[a], "--help")) {
			ex_usage(stdout, program, variants, opts);
			exit(0);
		}
		if (argv[a][0] != '-') {
			const char *v0 = variants;
			size_t len = strlen(argv[a]);
			int found = -1;

			for (int i = 0; v0 && *v0; i++) {
				const char *bar = strchr(v0, '|');
				size_t l = bar ? (size_t)(bar - v0) : strlen(v0);

				if (l == len && !memcmp(v0, argv[a], len))
					found = i;
				v0 = bar ? bar + 1 : NULL;
			}
			if (found < 0) {
				fprintf(stderr, "%s: unknown variant '%s' (one of %s)\n",
					program, argv[a], variants);
				exit(2);
			}
			variant = found;
			continue;
		}
		for (o = opts; o->letter; o++)
			if (argv[a][1] == o->letter && !argv[a][2])
				break;
		if (!o->letter || a + 1 >= argc) {
			ex_usage(stderr, program, variants, opts);
			exit(2);
		}
		errno = 0;
		v = strtol(argv[++a], &end, 10);
		if (errno || *end || end == argv[a] || v < o->min || v > o->max) {
			fprintf(stderr, "%s: -%c needs a number from %ld to %ld, not '%s'\n",
				program, o->letter, o->min, o->max, argv[a]);
			exit(2);
		}
		*o->value = v;
	}
	return variant;
}

/* Leaves with a sentence when an allocation of the example failed. */
static inline void ex_need(const void *p, const char *what, size_t bytes)
{
	if (p)
		return;
	fprintf(stderr, "cannot allocate %zu bytes for %s\n", bytes, what);
	exit(1);
}

#endif
