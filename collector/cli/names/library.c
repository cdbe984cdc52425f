/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* library.c - code that allocates for somebody else. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/names/library.h"
#include "cli/base/util.h"

static char **added;
static size_t n_added, cap_added;

static bool is_one_of(const char *text, const char *const *names, size_t n, bool whole)
{
	for (size_t i = 0; i < n; i++)
		if (whole ? !strcmp(text, names[i]) : !strncmp(text, names[i], strlen(names[i])))
			return true;
	return false;
}

#define IS_ONE_OF(text, names, whole) is_one_of(text, names, sizeof(names) / sizeof((names)[0]), whole)

static bool is_added(const char *text, bool path)
{
	for (size_t i = 0; i < n_added; i++)
		if (path == (strchr(added[i], '/') != NULL) && !fnmatch(added[i], text, 0))
			return true;
	return false;
}

/* Behind what stands before the name of a function: its type, the < of an implementation in Rust. */
static const char *own_name(const char *function)
{
	const char *at = function;
	int depth = 0;

	/* "void std::vector<int>::f(int)": the type ends at the last blank outside of brackets before the parameters */
	for (const char *p = function; *p && *p != '('; p++) {
		depth += (*p == '<') - (*p == '>' && (p == function || p[-1] != '-'));
		if (*p == ' ' && !depth && strncmp(p, " as ", 4) != 0 && strncmp(p - (p - function >= 8 ? 8 : 0), "operator", 8) != 0)
			at = p + 1;
	}
	while (*at == '<' || *at == '&' || *at == '*')
		at++;
	return at;
}

bool mt_library_function(const char *function)
{
	/* namespaces and prefixes; alloc, core and std are Rust's, too */
	static const char *const names[] = {
		"std::", "__gnu_cxx::", "__cxxabiv1::", "operator new", "alloc::", "core::", "hashbrown::", "__rust", "__rg_", "__rdl_",
		"Eigen::", "Kokkos::", "thrust::", "tbb::", "oneapi::tbb::", "boost::", "absl::", "folly::", "xt::", "arma::",
		"_gfortran_", "_gfortrani_", "MPI_", "PMPI_", "ompi_", "opal_", "MPID_", "MPIR_", "MPIDI_", "hwloc_", "GOMP_", "gomp_",
		"__kmp", "g_malloc", "g_realloc", "g_try_malloc", "g_slice_", "g_array_", "g_ptr_array_", "g_byte_array_", "g_string_",
		"g_hash_table_", "g_strdup", "g_strndup", "g_new", "apr_palloc", "apr_pcalloc", "apr_pool_", "apr_allocator_", "apr_array_",
	};

	if (!function)
		return false;
	return IS_ONE_OF(own_name(function), names, false) || (n_added && is_added(function, false));
}

bool mt_library_source(const char *path)
{
	static const char *const parts[] = { "/include/c++/", "/rustc/", "/rust/deps/", "/.cargo/registry/", "/.cargo/git/", "/include/eigen3/",
		"/rustlib/src/", "/library/alloc/src/", "/library/core/src/", "/library/std/src/", "/Eigen/src/", "/Kokkos_" };

	for (size_t i = 0; path && i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(path, parts[i]))
			return true;
	return path && n_added && is_added(path, true);
}

bool mt_library_allocates(const char *function)
{
	return function && (strcasestr(function, "alloc") || !strcmp(function, "mmap") || mt_library_function(function));
}

bool mt_library_starts(const char *function)
{
	static const char *const names[] = { "start_thread", "clone", "__clone", "clone3", "__clone3", "_start", "thread_start" };

	return function && (IS_ONE_OF(function, names, true) || !strncmp(function, "__libc_start", 12));
}

bool mt_library_object(const char *path)
{
	static const char *const names[] = { "libc.so", "libc-", "ld-linux", "ld-2", "libpthread", "libdl", "librt.", "libm.",
		"libstdc++", "libgcc_s", "libgomp", "libomp", "libiomp", "libgfortran", "libmvec", "libjemalloc", "libtcmalloc",
		"libmimalloc", "linux-vdso" };
	const char *base = path ? mt_base(path) : "";

	return !*base || IS_ONE_OF(base, names, false);
}

static void add(const char *from, size_t n)
{
	while (n && strchr(" \t\r", *from)) {
		from++;
		n--;
	}
	while (n && strchr(" \t\r", from[n - 1]))
		n--;
	if (!n)
		return;
	MT_GROW(added, n_added, cap_added);
	added[n_added++] = mt_printf("%.*s", (int)n, from);
}

static int add_file(const char *path)
{
	char *data = mt_read_file(path, NULL);
	int err = data ? 0 : -errno;

	if (err)
		mt_error("%s, the list of --wrapper: %s", path, strerror(-err));
	for (const char *p = data; p && *p;) {
		const size_t n = strcspn(p, "\n");

		add(p, strcspn(p, "#\n"));
		p += n + (p[n] == '\n');
	}
	free(data);
	return err;
}

int mt_library_add(const char *list)
{
	int err = 0;

	for (const char *p = list; p && *p;) {
		const size_t n = strcspn(p, ",");

		if (*p == '@') {
			char *path = mt_printf("%.*s", (int)n - 1, p + 1);

			err = add_file(path);
			free(path);
			if (err)
				return err;
		} else {
			add(p, n);
		}
		p += n + (p[n] == ',');
	}
	return 0;
}
