/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/* otf2_library.c - see otf2_library.h. */
#include "cli/otf2/otf2_library.h"

#include <dlfcn.h>
#include <stdio.h>

#define MISSING								\
	"libotf2 is not here: install libopen-trace-format2-10 (Debian 12) or libopen-trace-format2-10t64 (Debian 13), " \
	"or add the folder with libotf2.so.10 to LD_LIBRARY_PATH"

char mt_otf2_error[512];
static const char *(*describe)(otf2_error);

otf2_error mt_otf2_on_error(void *user __attribute__((unused)), const char *file __attribute__((unused)),
			    uint64_t line __attribute__((unused)), const char *function __attribute__((unused)), otf2_error code,
			    const char *format, va_list va)
{
	int n;

	if (code != OTF2_OK && !*mt_otf2_error) {
		n = snprintf(mt_otf2_error, sizeof mt_otf2_error, "%s: ", describe ? describe(code) : "an error");
		if (n > 0 && (size_t)n < sizeof mt_otf2_error)
			vsnprintf(mt_otf2_error + n, sizeof mt_otf2_error - (size_t)n, format, va);
	}
	return code;
}

void *mt_otf2_symbol(void *library, const char *name)
{
	void *s = dlsym(library, name);

	if (!s && !*mt_otf2_error)
		snprintf(mt_otf2_error, sizeof mt_otf2_error, "%s is missing", name);
	return s;
}

void *mt_otf2_library(void)
{
	static const char *const names[] = { "libotf2.so.10", "libopen-trace-format2.so.10", NULL };
	void *library = NULL;

	for (int i = 0; names[i] && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		snprintf(mt_otf2_error, sizeof mt_otf2_error, MISSING);
		return NULL;
	}
	describe = (const char *(*)(otf2_error))mt_otf2_symbol(library, "OTF2_Error_GetDescription");
	return library;
}
