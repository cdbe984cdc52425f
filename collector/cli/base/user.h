/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * user.h - `sudo memtrace record` needs root for the module, not for the
 * program, and not for the trace. The recorder works as the user who called sudo
 * and is root again where it has to be. Without sudo nothing of this does anything.
 * One thread at a time; all threads of the recorder change together.
 */
#ifndef MEMTRACE_CLI_USER_H
#define MEMTRACE_CLI_USER_H

#include <stdbool.h>

/*
 * Are we root by sudo? Then everything from here on is done as the user who called
 * it. NULL: no; else his name, or his number when he has none; not to be freed.
 */
const char *mt_user_lower_for_good(void);
/* Root for a while, and back. Pairs, not nested. Where the system refuses, the process ends (exit code 1): rights are never kept. */
void mt_user_raise(void);
void mt_user_lower(void);
/* In a child before exec: the user and nothing else. 0 or a negative errno. */
int mt_user_become(void);

#endif
