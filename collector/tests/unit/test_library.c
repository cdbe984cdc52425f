// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/names/library.c cli/names/demangle.c cli/base/util.c
// libs: -ldl -liberty
/* Code that allocates for somebody else: by its names, by names of the user; names of Rust as its compilers mangle them. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness.h"
#include "cli/names/demangle.h"
#include "cli/names/library.h"
#include "cli/base/util.h"

static void demangles(const char *symbol, const char *want)
{
	char *name = mt_symbols_demangle(symbol);

	CHECK_STR(name ? name : "(none)", want);
	free(name);
}

int main(void)
{
	char path[] = "/tmp/mt-wrappers-XXXXXX", *list;
	static const char text[] = "# of our framework\nacme::*\n  pool_get  # in C\n\n*/acme/detail/*\n";
	int fd;

	demangles("_RNvNtCslNYArtu3iFV_5alloc5alloc5alloc", "alloc::alloc::alloc");
	demangles("_RNvMs4_NtCslNYArtu3iFV_5alloc7raw_vecNtB5_11RawVecInner15try_allocate_inCsduwmD7cSIQq_5gimli",
		  "<alloc::raw_vec::RawVecInner>::try_allocate_in");
	demangles("_ZN1r4main17h086b0cfd890a8ea9E", "r::main");
	demangles("_ZN9hashbrown3raw13RawTableInner17new_uninitialized17hf23be39490b295c6E", "hashbrown::raw::RawTableInner::new_uninitialized");
	demangles("_ZN3sim5Grid17fillEi", "(none)");
	demangles("_ZN3sim4fillEi", "sim::fill(int)");
	demangles("_Rubbish", "(none)");
	demangles("main", "(none)");

	CHECK(mt_library_function("std::vector<double, std::allocator<double> >::_M_default_append(unsigned long)"));
	CHECK(mt_library_function("void std::vector<double>::_M_realloc_insert<double>(double*)"));
	CHECK(mt_library_function("operator new(unsigned long)"));
	CHECK(mt_library_function("<alloc::raw_vec::RawVecInner>::try_allocate_in"));
	CHECK(mt_library_function("Kokkos::View<double*>::View(char const*)"));
	CHECK(mt_library_function("Eigen::internal::aligned_malloc(unsigned long)"));
	CHECK(mt_library_function("_gfortran_allocate"));
	CHECK(!mt_library_function("main"));
	CHECK(!mt_library_function("mystd::make(int)"));
	CHECK(!mt_library_function("r::main"));
	CHECK(!mt_library_function("make(std::vector<double>&)"));
	CHECK(!mt_library_function("std_make"));
	CHECK(!mt_library_function(NULL));
	CHECK(mt_library_source("/rustc/59807616e1/library/alloc/src/alloc.rs"));
	CHECK(mt_library_source("/home/me/.cargo/registry/src/x/ndarray-0.15/src/lib.rs"));
	CHECK(!mt_library_source("/home/me/src/main.rs"));
	CHECK(!mt_library_source(NULL));
	CHECK(mt_library_allocates("xmalloc"));
	CHECK(!mt_library_allocates("fill"));
	CHECK(!mt_library_allocates(NULL));

	CHECK(!mt_library_function("acme::Buffer::Buffer(int)") && !mt_library_function("pool_get"));
	CHECK_EQ(mt_library_add("one,two_*"), 0);
	CHECK(mt_library_function("one") && mt_library_function("two_three") && !mt_library_function("ones"));
	fd = mkstemp(path);
	CHECK(fd >= 0 && write(fd, text, sizeof(text) - 1) == sizeof(text) - 1);
	close(fd);
	list = mt_printf("@%s,last", path);
	CHECK_EQ(mt_library_add(list), 0);
	CHECK(mt_library_function("acme::Buffer::Buffer(int)") && mt_library_function("pool_get") && mt_library_function("last"));
	CHECK(mt_library_source("/src/acme/detail/buffer.h") && !mt_library_source("/src/acme/buffer.h"));
	unlink(path);
	fflush(stderr);
	CHECK_EQ(mt_library_add(list), -ENOENT);
	free(list);
	return mt_test_done();
}
