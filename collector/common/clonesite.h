// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * clonesite.h - where a C library without _Fork (glibc before 2.34) makes processes: clone(2) in the middle of fork(), and of
 * system() before 2.29. Found by decoding the code, never by a version or an offset. x86-64 only.
 *
 * And where any other object makes one by an instruction of its own: fork(2), or clone(2) and clone3(2) that may not share memory,
 * with the number as a constant; or may make one, since the number comes from elsewhere.
 *
 * A place is a run of whole instructions around the system call which may be executed elsewhere and be replaced by a jump:
 * none depends on its address, and nothing jumps into the middle.
 */
#ifndef MEMTRACE_CLONESITE_H
#define MEMTRACE_CLONESITE_H

#include <stddef.h>
#include <stdint.h>

#define MT_SITE_MIN 14	/* bytes of a jump to anywhere */
#define MT_SITE_NEAR 5	/* bytes of a jump to what is not farther than 2 GiB */
#define MT_SITE_MAX 28	/* it ends with the instruction that reaches it, of 15 bytes at most */
#define MT_SITES 4
#define MT_SITE_TARGETS 64

struct mt_clone_site {
	const uint8_t *at;	/* the first byte of the place */
	unsigned int before;	/* bytes of instructions before the system call, which has two */
	unsigned int after;	/* and behind it */
	unsigned int padding;	/* and of what nobody reaches behind that */
	uint64_t flags;		/* of the process: a constant in the code, and there is no stack of its own; not of mt_process_sites() */
	int number;		/* of the system call; 0: only the running program knows it (mt_process_sites()) */
};

enum mt_clone_found {
	MT_CLONE_NONE,		/* no clone(2) in it */
	MT_CLONE_FOUND,
	MT_CLONE_UNKNOWN,	/* there is, or may be, but not as above */
};

/* Jumps that leave a function, for MT_SITE_TARGETS of them; more make it unknown. */
struct mt_clone_jumps {
	const uint8_t *to[MT_SITE_TARGETS];
	int n;
};

/* Looks at one function. Nothing is called or changed. @jumps may be NULL. */
enum mt_clone_found mt_clone_site(const uint8_t *code, size_t len, struct mt_clone_site *s, struct mt_clone_jumps *jumps);

/* Does this code jump into the middle of the place? 1 also when it cannot be read. */
int mt_clone_jumps_into(const uint8_t *code, size_t len, const struct mt_clone_site *s);

/*
 * All of them in the C library of this process. Calls libc (dlsym, dl_iterate_phdr): when a program or a library begins.
 * Returns how many, at least the one of fork(); 0 with a sentence in *why when one is not recognised.
 */
int mt_clone_sites(struct mt_clone_site *s, const char **why);

/* Code of an object, and its table of functions. */
struct mt_code {
	const uint8_t *text, *text_end;	/* where it is executed, readable */
	const uint8_t *frames;		/* .eh_frame_hdr, NULL: there is none */
	const uint8_t *frames_end;
	intptr_t shift;			/* from where the table is read to where it is in the process */
};

/*
 * The places at which the code makes processes by itself, at most @room, without those that share memory for certain; of at least
 * MT_SITE_NEAR bytes. How many, or -1 when one cannot be replaced, but for those whose number is not known, of which half the room is
 * for as many as are read without a doubt. *@calls: there are system calls in it, or something that looks so. Any context that may read
 * the code.
 */
int mt_process_sites(const struct mt_code *c, struct mt_clone_site *s, int room, int *calls);

#endif
