// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * gates.h - opens and closes the gates of the code that counts (count/service.h): by one byte of each, in the code
 * itself, while threads run it.
 */
#ifndef MEMTRACE_GATES_H
#define MEMTRACE_GATES_H

#include <stdbool.h>
#include <stdint.h>

#include "count/service.h"

/* There are windows: all modules have to have gates, and these are closed from here on. Before any module comes, and once. */
void gates_use(void);
/* Are accesses counted now? For mt_count_service. */
extern uint32_t gates_are_open;
/*
 * Opens or closes all gates that are known; nothing to do where they are so. When it returns, each access that a thread begins then, is
 * counted or not counted accordingly. Any thread.
 */
void gates_set(bool open);
/* For mt_count_service. Any thread of the program, signal handlers, too. */
void gates_module(struct mt_count_module *m);
void gates_module_gone(struct mt_count_module *m);
void gates_idle_call(const void *hook, const void *back);
/*
 * Why the gates of a module cannot be used, in a sentence without a subject, NULL: they can. Then the module's accesses are
 * not counted in windows, or always: nothing that was counted from here on may be told.
 */
const char *gates_broken(void);

/* fork: before; after it in the parent and in the child. */
void gates_fork_prepare(void);
void gates_fork_done(void);

#endif
