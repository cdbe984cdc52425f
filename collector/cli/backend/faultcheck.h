/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * faultcheck.h - what the backends that see page faults in the program need (zap, rwp): the library, the page table, the events. Each
 * function tries it and notes a facility.
 */
#ifndef MEMTRACE_CLI_FAULTCHECK_H
#define MEMTRACE_CLI_FAULTCHECK_H

#include <stdbool.h>

#include "cli/backend/probe.h"

/* bits of mt_backend_probe.found */
#define FOUND_PERF 1u		/* faults are attributed to threads */
#define FOUND_PERF_KERNEL 2u	/* accesses of the kernel too */

enum mt_works mt_check_preload(const struct mt_probe *p, struct mt_backend_probe *b);
enum mt_works mt_check_pagemap(struct mt_backend_probe *b);
/* *fix: one command that would change it, which the caller frees, or unchanged. */
enum mt_works mt_check_perf(struct mt_backend_probe *b, char **fix);
/* An event of the faults of this thread, disabled; those of system calls, too (@kernel). A descriptor, or -1 and errno. */
int mt_open_fault_event(bool kernel);
/* What a page is, where it is not what nearly everybody has. */
const char *mt_page_words(void);

#endif
