/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * variables.h - the static and thread-local objects of a file: ranges from its
 * symbols; names, members of Fortran COMMON blocks, types and lines from its
 * debug information.
 */
#ifndef MEMTRACE_CLI_VARIABLES_H
#define MEMTRACE_CLI_VARIABLES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A defined symbol; name is in the file's string table or the Dwfl's. */
struct mt_symbol {
	uint64_t start, size;	/* as in the file; of thread-local data: from the begin of the block */
	const char *name;
	uint64_t limit;		/* end of its section, as far as known */
	unsigned char bind, type;
	bool writable;		/* also after the loader has relocated it */
};

/* An object. Strings are the owner's. */
struct mt_variable {
	uint64_t start, size;	/* as those of its symbol */
	char *name;
	char *site;		/* file:line, NULL unknown */
	char *type;		/* as it is declared: "double[64][64]"; NULL unknown */
	char *members;		/* of its type or of its elements, see mt_type_members(); NULL: none, or type is */
};

struct mt_variables {
	struct mt_variable *v;	/* by ascending start, one for each address */
	size_t n, cap;
};

/* The debug information of a file, read once for plain and thread-local objects. */
struct mt_places;

/* @mod may be NULL: nothing is known then. */
struct mt_places *mt_places_read(Dwfl_Module *mod);
void mt_places_free(struct mt_places *p);

/*
 * The objects of at least @min_bytes, in memory that is written of at least
 * @min_written_bytes, among symbols that are sorted by address, of one address
 * the best first. @tls: the symbols are thread-local.
 */
void mt_variables_find(struct mt_variables *out, const struct mt_symbol *s, size_t n, bool tls, struct mt_places *p,
		       uint64_t min_bytes, uint64_t min_written_bytes);
void mt_variables_free(struct mt_variables *v);

#endif
