/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* advice.h - what the program advised about huge pages, and where it holds. */
#ifndef MEMTRACE_CLI_ADVICE_H
#define MEMTRACE_CLI_ADVICE_H

#include "cli/names/context.h"

/* An advice (0: none any more) for the pages of [start, start + len), from a time on. Of what is unmapped only what had one is kept. */
void mt_advise(struct mt_context *c, int64_t time, uint64_t start, uint64_t len, int what);
/* The advice for an address that is in force before a time. */
int mt_advice_at(const struct mt_context *c, uint64_t addr, int64_t until);
/* Bytes of a structure for which an advice is in force at its death, or at the end. */
uint64_t mt_context_advised(const struct mt_context *c, const struct mt_structure *s, int advice);

#endif
