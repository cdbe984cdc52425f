// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* A unit test is a main() of CHECKs that ends with `return mt_test_done();`. */
#ifndef MEMTRACE_TEST_HARNESS_H
#define MEMTRACE_TEST_HARNESS_H

#include <stdio.h>
#include <string.h>

static int mt_passed, mt_wrong;

#define CHECK(cond) mt_check((cond) != 0, __FILE__, __LINE__, #cond)
#define CHECK_EQ(got, want) mt_check_eq((long long)(got), (long long)(want), __FILE__, __LINE__, #got)
#define CHECK_STR(got, want) mt_check_str((got), (want), __FILE__, __LINE__, #got)

static inline void mt_check(int ok, const char *file, int line, const char *what)
{
	if (ok) {
		mt_passed++;
		return;
	}
	mt_wrong++;
	printf("%s:%d: FAILED %s\n", file, line, what);
}

static inline void mt_check_eq(long long got, long long want, const char *file, int line, const char *what)
{
	if (got != want)
		printf("%s:%d: got %lld, want %lld\n", file, line, got, want);
	mt_check(got == want, file, line, what);
}

static inline void mt_check_str(const char *got, const char *want, const char *file, int line, const char *what)
{
	int same = !strcmp(got, want);

	if (!same)
		printf("%s:%d: got  %s\n%s:%d: want %s\n", file, line, got, file, line, want);
	mt_check(same, file, line, what);
}

/* The last line is read by run.sh. A test that has checked nothing fails. */
static inline int mt_test_done(void)
{
	printf("checks: %d passed, %d failed\n", mt_passed, mt_wrong);
	return mt_wrong || !mt_passed;
}

#endif
