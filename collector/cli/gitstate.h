/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#ifndef MEMTRACE_GITSTATE_H
#define MEMTRACE_GITSTATE_H

#include <stdint.h>

/*
 * How many files that git knows differ from the commit in the working directory of a repository, by git itself, which is
 * waited for so many milliseconds at most. -1: not known (git is not installed, refuses the repository of another user,
 * or takes longer).
 */
int64_t mt_git_modified(const char *directory, int milliseconds);

#endif
