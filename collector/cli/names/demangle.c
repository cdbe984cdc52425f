/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* demangle.c - names and paths of debug information as people read them, each text once. */
#include <dlfcn.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "cli/names/demangle.h"
#include "cli/base/opened.h"
#include "cli/base/util.h"

static struct name {
	char *text;
	struct name *next;
} *all_names[4096];

/* Strings of libdw die with their module, demangled ones at once: keep one copy. */
const char *mt_symbols_keep(const char *text)
{
	unsigned int h = 5381;
	struct name *k;

	if (!text)
		return NULL;
	for (const char *p = text; *p; p++)
		h = h * 33 + (unsigned char)*p;
	for (k = all_names[h & 4095]; k; k = k->next)
		if (!strcmp(k->text, text))
			return k->text;
	k = mt_alloc(sizeof(*k));
	k->text = mt_strdup(text);
	k->next = all_names[h & 4095];
	all_names[h & 4095] = k;
	return k->text;
}

/* Rust's names, without the hash of the crate; those of C++ by the demangler of libstdc++, if this machine has one. */
char *mt_symbols_demangle(const char *name)
{
	static char *(*fn)(const char *, char *, size_t *, int *);
	static bool tried;
	int status = 0;
	char *rust;

	if (strncmp(name, "_Z", 2) && strncmp(name, "_R", 2))
		return NULL;
	rust = rust_demangle(name, DMGL_NO_OPTS);
	if (rust || name[1] == 'R')
		return rust;
	if (!tried) {
		void *lib = dlopen(MT_OPENED_STDCXX, RTLD_LAZY | RTLD_LOCAL);

		tried = true;
		if (lib)
			fn = (__typeof__(fn))dlsym(lib, "__cxa_demangle");
	}
	return fn ? fn(name, NULL, NULL, &status) : NULL;
}

const char *mt_symbols_absolute(const char *file, const char *dir)
{
	char *p;
	const char *k;

	if (!file || file[0] == '/' || !dir)
		return mt_symbols_keep(file);
	p = mt_printf("%s/%s", dir, !strncmp(file, "./", 2) ? file + 2 : file);
	k = mt_symbols_keep(p);
	free(p);
	return k;
}
