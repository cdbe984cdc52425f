/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * types.h - types from debug information, as a person writes them: of variables, and of what lies in a block
 * that is assigned to one. C, C++ and Fortran.
 */
#ifndef MEMTRACE_CLI_TYPES_H
#define MEMTRACE_CLI_TYPES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

/* "double[4096][4096]", "struct particle", "real(kind=8)(512,512)". NULL: it has no name. The caller's. */
char *mt_type_declared(Dwarf_Die *type);

/*
 * The members of a type, or of the elements of an array, with those of structures in it and of base classes:
 * "24;0 8 pos.x double;8 8 pos.y double;16 8 next struct cell *": the bytes of one, then for each member offset, bytes, name and type.
 * The first 100 of them; of a number or a pointer only its bytes. NULL: not known. The caller's.
 */
char *mt_type_members(Dwarf_Die *type);

/* Types with the same one have the same members: arrays of one type do. NULL: nothing is known. */
const void *mt_type_members_key(Dwarf_Die *type);

/* What a block consists of. */
struct mt_element {
	char *name;		/* "double", "struct particle *"; NULL: not known */
	char *dims;		/* of the elements themselves, "[8]", or of an allocatable array, "(:,:)"; may be "" */
	char *members;		/* of one of them, as mt_type_members(); NULL: not known */
	uint64_t bytes;		/* of one, with its dimensions; 0: a block is not counted in them */
};

/*
 * The elements of a block that is assigned to @name ("A", "m->data", "rows[i].cells", "x%b", "*out"), as the code at @pc of
 * the unit @cu sees that name. @chain: the functions around @pc, from mt_scopes_at(). False: not known.
 */
bool mt_type_of_block(Dwarf_Die *cu, Dwarf_Die *chain, int n, Dwarf_Addr pc, const char *name, struct mt_element *out);
void mt_element_free(struct mt_element *e);
/* "double[1000]" for a block of 8,000 bytes; NULL: not known. The caller's. */
char *mt_element_type(const struct mt_element *e, uint64_t block_bytes);

#endif
