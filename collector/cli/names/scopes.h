/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * scopes.h - which functions, inlined ones included, an instruction belongs to, by debug information.
 *
 * dwarf_getscopes() walks all of a compilation unit for each address. Here the functions of a unit
 * are listed once, when the first address in it is asked for; an address then costs a search and a
 * walk within one function. Not for several threads at once.
 */
#ifndef MEMTRACE_SCOPES_H
#define MEMTRACE_SCOPES_H

#include <elfutils/libdw.h>

struct mt_scopes;		/* of one file */

struct mt_scopes *mt_scopes_new(void);
void mt_scopes_free(struct mt_scopes *s);
/*
 * The functions around the address @pc of the unit @cu, as the debug information has it (without bias):
 * inlined ones (DW_TAG_inlined_subroutine) from the innermost on, then the function that holds them
 * (DW_TAG_subprogram). At most @max into @chain; returns how many, 0 = none is known.
 */
int mt_scopes_at(struct mt_scopes *s, Dwarf_Die *cu, Dwarf_Addr pc, Dwarf_Die *chain, int max);

/*
 * The only variable that a function declares on a line and that can hold a block, which a number cannot; also in its blocks, not of
 * functions inlined into it. The caller's; NULL: none, or several.
 */
char *mt_scopes_declared(Dwarf_Die *function, int line);

#endif
