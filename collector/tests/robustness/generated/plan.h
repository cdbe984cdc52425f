/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0
 *
 * A program made from a seed: a list of steps, each of them with numbers of its own, so that any of them can be left out
 * (generated.py). Memory is known page by page and looked at after every step; what is printed depends on the seed alone.
 */
#ifndef PLAN_H
#define PLAN_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define PAGE 4096ul
#define MAX_AREAS 12
#define MAX_PAGES 96

struct random {
	uint64_t state;
};

/* What a page has: the contents that follow from a stamp, 0: zeroes. */
struct page {
	uint32_t stamp;
	uint8_t prot;		/* PROT_* */
};

enum {
	IS_SHARED = 1,		/* MAP_SHARED: children have the same */
	NOT_FORKED = 2,
	WIPED = 4,		/* zeroes in children */
	FIXED_SIZE = 8,		/* neither moved nor cut: of a library, of the heap, of System V */
	IS_HEAP = 16,		/* begins in the middle of a page */
	IS_FILE = 32,
	IS_SEALED = 64,
	IS_SPLIT = 128,		/* several mappings for the kernel, which moves one only; recorded it may be one */
};

struct area {
	char *at;		/* NULL: free */
	unsigned pages, flags;
	struct page page[MAX_PAGES];
};

extern struct area areas[MAX_AREAS];
extern int depth;			/* 0: the program itself, 1: a child, 2: its child */
extern unsigned deepest;		/* frames of a KiB that the stack has room for */
extern const char *own_path;		/* of this program */

struct step {
	const char *name;
	void (*run)(struct random *r);
	unsigned weight, max_depth;
};
extern const struct step memory_steps[], process_steps[], thread_steps[];

/* plan.c */
uint64_t next(struct random *r);
unsigned below(struct random *r, unsigned n);
int chance(struct random *r, unsigned percent);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void flush(void);
void run_steps(struct random *r, unsigned n);
const char *name_of(long result);		/* "ok" or the name of errno */
void finish_timers(void);

/* memory.c */
void fill(char *page, uint32_t stamp);
int is_filled(const char *page, uint32_t stamp);
struct area *area_new(char *at, unsigned pages, int prot, unsigned flags);
struct area *area_private(struct random *r, unsigned max_pages);
struct area *pick(struct random *r, unsigned without);	/* NULL: there is none */
void write_some(struct random *r, struct area *a);
void check_areas(const char *when);
uint64_t sum_areas(void);
extern int kernel_has_threads;	/* of a ring */
void areas_in_child(void);
void areas_not_shared(void);

/* process.c */
extern int few_descriptors;	/* what is started would want them for the recorder */
void tell_status(const char *what, pid_t pid);
int exec_tail(int argc, char **argv);
void leave(struct random *r) __attribute__((noreturn));

/* thread.c */
extern volatile int background_on;	/* a thread works beside all steps */
void background_stop(void);
void timer_stop(void);
extern int libc_has_threads;	/* for timers; they do not end */
unsigned churn(struct random *r, unsigned rounds);	/* maps, writes, looks, unmaps: number of errors. Calls of the kernel only */

#endif
