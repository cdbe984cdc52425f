// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/names/scopes.c cli/base/util.c
// libs: -ldw -lelf -ljansson
/* Functions around each instruction of this program, compared with dwarf_getscopes(). */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "cli/names/scopes.h"

static inline __attribute__((always_inline)) int innermost(int v)
{
	for (int i = 0; i < 3; i++)
		v = (int)((unsigned int)v * 31 + (unsigned int)i);
	return v;
}

static inline __attribute__((always_inline)) int between(int v)
{
	int sum = 0;

	for (int i = 0; i < v; i++) {
		int twice = innermost(i);

		sum += twice > 5 ? innermost(sum) : twice;
	}
	return sum;
}

static __attribute__((noinline)) int outer(int v)
{
	return between(v) + between(v + 1);
}

static char *debug_path;
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf, .find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address, .debuginfo_path = &debug_path,
};

/* What symbols.c did before: a walk over the whole unit. */
static int slow(Dwarf_Die *cu, Dwarf_Addr pc, Dwarf_Die *out)
{
	Dwarf_Die *scopes = NULL, *chain = NULL;
	int n_scopes = dwarf_getscopes(cu, pc, &scopes), n_chain, n = 0, i;

	for (i = 0; i < n_scopes; i++)
		if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram || dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine)
			break;
	n_chain = i < n_scopes ? dwarf_getscopes_die(&scopes[i], &chain) : 0;
	for (i = 0; i < n_chain; i++) {
		int tag = dwarf_tag(&chain[i]);

		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
			out[n++] = chain[i];
		if (tag == DW_TAG_subprogram)
			break;
	}
	free(scopes);
	free(chain);
	return n;
}

static void test_every_instruction(void)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);
	struct mt_scopes *s = mt_scopes_new();
	extern const char __executable_start[], etext[];
	size_t functions = 0, inlined = 0, wrong = 0;
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	Dwfl_Module *mod;

	path[len > 0 ? len : 0] = 0;
	dwfl_report_begin(dwfl);
	mod = dwfl_report_elf(dwfl, "self", path, -1, 0, true);
	dwfl_report_end(dwfl, NULL, NULL);
	CHECK(mod);
	for (Dwarf_Addr at = 0; at < (Dwarf_Addr)(etext - __executable_start); at++) {
		Dwarf_Addr bias;
		Dwarf_Die *cu = dwfl_module_addrdie(mod, at, &bias), fast_chain[64], slow_chain[64];
		int n, m;

		if (!cu)
			continue;
		n = mt_scopes_at(s, cu, at - bias, fast_chain, 64);
		m = slow(cu, at - bias, slow_chain);
		functions += n > 0;
		inlined += n > 2;
		wrong += n != m;
		for (int i = 0; i < n && i < m; i++)
			wrong += dwarf_dieoffset(&fast_chain[i]) != dwarf_dieoffset(&slow_chain[i]);
	}
	CHECK(functions > 500);
	CHECK(inlined > 20);
	CHECK_EQ(wrong, 0);
	mt_scopes_free(s);
	dwfl_end(dwfl);
}


int main(void)
{
	CHECK(outer(3) != 1);
	test_every_instruction();
	mt_scopes_free(NULL);
	return mt_test_done();
}
