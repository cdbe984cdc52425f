// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * patch.h - replaces functions of libc for all callers, those inside libc included.
 */
#ifndef MEMTRACE_PATCH_H
#define MEMTRACE_PATCH_H

#include "common/clonesite.h"

struct mt_patch {
	const char *name;	/* of a function exported by libc */
	void *replacement;
	/*
	 * Not NULL: a libc that lacks the function makes the system call clone(2) elsewhere, in the middle of functions. There
	 * this takes its place: it has the arguments of the system call, in its order, and returns what it returns.
	 */
	void *clone_call;
	int absent;		/* 1, for tests: as if libc lacked it. MT_PATCH_OPTIONAL: left out where libc lacks it */
};
#define MT_PATCH_OPTIONAL 2

/*
 * Overwrites the entries of the functions with a jump to their replacements.
 * constructor, single-threaded. All or nothing: 0, or negative errno with the name
 * of the function, or a sentence, in *failed and nothing changed.
 */
int mt_patch_all(const struct mt_patch *p, int n, const char **failed);

/*
 * The dynamic loader maps libraries with functions of its own that have no names. They are
 * found by what they do: test the offset, then the system call. Either, both, or none may be
 * found, and are replaced then; the loader's errno is not set by a replacement that fails.
 * constructor. Returns how many were replaced.
 */
int mt_patch_loader(void *mmap_replacement, void *munmap_replacement);

/* From @at on stands a jump to @to, of MT_JUMP_MAX bytes. One at a time; nobody executes what is there. 0 or negative errno. */
int mt_patch_jump(void *at, void *to);
/*
 * In the place of the system call @to is called, which has its arguments (and the number as the sixth, where that is not known before) and
 * returns what it returns, or MT_CALL_IT. @i, below MT_PATCH_CALLS: which of the rooms for moved code it gets; these lie near the call, on
 * pages of their own, and stay when that is not there any more. As above.
 */
#define MT_PATCH_CALLS 256
int mt_patch_call(const struct mt_clone_site *s, int i, void *to);

#endif
