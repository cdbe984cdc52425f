/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * quietwords.h - why the program itself has an image without accesses though nothing is wrong: the library writes it as
 * backend_message of image.json, and the launcher knows such images by it.
 */
#ifndef MEMTRACE_QUIETWORDS_H
#define MEMTRACE_QUIETWORDS_H

#define MT_QUIET_LEFT_OUT "the program is left out (--follow, --skip)"
#define MT_QUIET_SHELL "a shell that asked for little memory is not recorded, what it starts is (--min-process 0 records it, too)"

/* How the message of an image begins that was recorded only up to some moment. */
#define MT_STOPPED "recorded only at its beginning: "

/* What the kernel calls the processes of a recording beside a program, as ps shows it. */
#define MT_OUR_COMM "memtrace"

#endif
