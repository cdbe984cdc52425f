/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#ifndef MEMTRACE_GITSTATE_H
#define MEMTRACE_GITSTATE_H

#include <stdint.h>

/*
 * git is asked about folders that anybody may have made. So it starts nothing that a repository names: no monitor of the file
 * system, no hook, no filter, no program that shows differences, and no remote of a partial clone. The price: of a file with a
 * filter (Git LFS) that was touched, what lies in the folder is compared with what the filter had made of it, so that it counts
 * as modified; of a submodule only its commit is compared.
 */

/*
 * How many files that git knows differ from the commit in the working directory of a repository, by git itself, which is
 * waited for so many milliseconds at most. -1: not known (git is not installed, refuses the repository of another user,
 * or takes longer).
 */
int64_t mt_git_modified(const char *directory, int milliseconds);

/* Writes how they differ, as `git diff HEAD` does, to a descriptor; binary files by name. 0, or -1 as above: what is written is a part. */
int mt_git_diff(const char *directory, int fd, int milliseconds);

#endif
