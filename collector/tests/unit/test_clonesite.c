// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// includes: common/clonesite.c
// uses: common/x86code.c
// libs: -ldl
/* The system call in a fork() of glibc before 2.34, found in code: short functions as compilers make them, and what is not one. */
#include "harness.h"

#include <stdlib.h>

#include "common/clonesite.c"

static uint8_t code[1024];
static struct mt_clone_site site;
static struct mt_clone_jumps jumps;

/* "90 c3": bytes in hexadecimal; returns how many. What follows them is no instruction. */
static size_t put(uint8_t *to, const char *hex)
{
	size_t n = 0;

	for (char *end; *hex; hex = end) {
		to[n++] = (uint8_t)strtoul(hex, &end, 16);
		while (*end == ' ')
			end++;
	}
	return n;
}

static enum mt_clone_found look(const char *hex)
{
	memset(code, 0x06, sizeof(code));
	memset(&site, 0, sizeof(site));
	return mt_clone_site(code, put(code, hex), &site, &jumps);
}

/* Found there, with so many bytes of instructions before the call and behind it. */
static void found(int line, const char *hex, size_t at, unsigned int before, unsigned int after, uint64_t flags)
{
	const enum mt_clone_found f = look(hex);

	if (f != MT_CLONE_FOUND || site.at != code + at || site.before != before || site.after != after || site.flags != flags)
		printf("line %d: %d, at %td, %u before, %u after, flags %llx\n", line, f, site.at - code, site.before, site.after,
		       (unsigned long long)site.flags);
	CHECK(f == MT_CLONE_FOUND);
	CHECK(site.at == code + at);
	CHECK_EQ(site.before, before);
	CHECK_EQ(site.after, after);
	CHECK_EQ(site.flags, flags);
}
#define FOUND(...) found(__LINE__, __VA_ARGS__)
#define UNKNOWN(hex) CHECK_EQ(look(hex), MT_CLONE_UNKNOWN)

#define SELF "64 4c 8b 0c 25 10 00 00 00 "	/* mov %fs:16, %r9 */
#define TLS "45 31 c0 "				/* xor %r8d, %r8d */
#define CHILD "4d 8d 91 d0 02 00 00 "		/* lea 720(%r9), %r10 */
#define PARENT "31 d2 "				/* xor %edx, %edx */
#define STACK "31 f6 "				/* xor %esi, %esi */
#define FLAGS "bf 11 00 20 01 "			/* mov $0x1200011, %edi */
#define NUMBER "b8 38 00 00 00 "		/* mov $56, %eax */
#define CALL_IT "0f 05 "
#define COMPARE "48 3d 00 f0 ff ff "		/* cmp $-4096, %rax */
#define KEEP "41 89 c5 "			/* mov %eax, %r13d */
#define RET "c3 "
#define RIP "48 8b 05 77 90 10 00 "		/* mov 0x109077(%rip), %rax */

static void as_compilers_do(void)
{
	/* glibc 2.31 of Debian 11 */
	FOUND(SELF TLS CHILD PARENT STACK FLAGS NUMBER CALL_IT COMPARE KEEP RET, 21, 12, 0, 0x1200011);
	/* the number first */
	FOUND(SELF NUMBER FLAGS PARENT STACK CHILD CALL_IT COMPARE RET, 14, 16, 0, 0x1200011);
	/* system() of 2.28: the id is stored for the parent, which the kernel does before the child runs */
	FOUND("31 f6 48 8d 54 24 0c bf 11 00 10 00 " NUMBER CALL_IT COMPARE RET, 2, 15, 0, 0x100011);
	/* constants come by way of other registers, wide and narrow */
	FOUND("41 bc 11 00 20 01 31 db 44 89 e7 48 89 de " NUMBER CALL_IT RET, 6, 13, 0, 0x1200011);
	FOUND("48 c7 c7 11 00 20 01 48 31 f6 48 c7 c0 38 00 00 00 " CALL_IT RET, 0, 17, 0, 0x1200011);
	/* what other calls of the kernel do is of no interest, before and after */
	FOUND("b8 27 00 00 00 0f 05 " STACK FLAGS NUMBER CALL_IT "b8 e7 00 00 00 0f 05 " RET, 7, 12, 0, 0x1200011);
	CHECK_EQ(look("31 ff b8 27 00 00 00 0f 05 c3"), MT_CLONE_NONE);
	/* the number of the call is not known: syscall() of libc */
	CHECK_EQ(look("48 89 f8 48 89 f7 0f 05 c3"), MT_CLONE_NONE);
	/* no system call: not even looked at */
	CHECK_EQ(look("06 06 06"), MT_CLONE_NONE);
}

static void what_cannot_be_moved_stays(void)
{
	/* relative to the instruction: what lies behind it and the call, and what follows */
	FOUND(STACK FLAGS "4c 8b 05 77 90 10 00 " NUMBER CALL_IT COMPARE KEEP RET, 14, 5, 9, 0x1200011);
	/* the end of the function, and what fills the room up to the next one */
	FOUND(STACK FLAGS "4c 8b 05 77 90 10 00 " NUMBER CALL_IT COMPARE RET, 14, 5, 7, 0x1200011);
	CHECK_EQ(site.padding, 0);
	FOUND(STACK FLAGS "4c 8b 05 77 90 10 00 " NUMBER CALL_IT RET "66 0f 1f 44 00 00 90 90 90 ", 14, 5, 1, 0x1200011);
	CHECK_EQ(site.padding, 6);
	UNKNOWN(STACK FLAGS "4c 8b 05 77 90 10 00 " NUMBER CALL_IT RET "90 90 90 90 90 ");
	UNKNOWN(STACK FLAGS "4c 8b 05 77 90 10 00 " NUMBER CALL_IT RET "90 90 90 90 90 31 c0 c3 ");
	UNKNOWN(STACK FLAGS "4c 8b 05 77 90 10 00 " NUMBER CALL_IT COMPARE "0f 87 00 00 00 00 " KEEP RET);
	UNKNOWN(STACK FLAGS "4c 8b 05 77 90 10 00 " NUMBER CALL_IT RIP KEEP RET);
	/* a call between them, with the constants behind it: not moved, and not enough is left */
	UNKNOWN("e8 00 00 00 00 31 f6 40 b7 11 " NUMBER CALL_IT COMPARE RET);
	FOUND("e8 00 00 00 00 " STACK FLAGS NUMBER CALL_IT COMPARE RET, 5, 12, 0, 0x1200011);
	/* cpuid, of which nothing is known here */
	UNKNOWN(FLAGS STACK NUMBER "0f a2 " CALL_IT COMPARE KEEP KEEP RET);
	FOUND("0f a2 " STACK FLAGS NUMBER CALL_IT COMPARE KEEP RET, 2, 12, 0, 0x1200011);
}

static void jumps_into_the_place(void)
{
	/* to its beginning: allowed */
	FOUND("85 c0 74 00 " STACK FLAGS NUMBER CALL_IT COMPARE RET, 4, 12, 0, 0x1200011);
	/* to the second instruction: esi is not known there */
	UNKNOWN("85 c0 74 02 " STACK FLAGS NUMBER CALL_IT COMPARE RET);
	/* to the system call, to its middle, from behind */
	UNKNOWN(STACK FLAGS NUMBER CALL_IT COMPARE "74 f6 " RET);
	UNKNOWN(STACK FLAGS NUMBER CALL_IT COMPARE "74 f7 " RET);
	/* to what follows the call: it stays, and the place ends before it */
	FOUND(STACK FLAGS "4c 8b 05 77 90 10 00 " NUMBER CALL_IT COMPARE KEEP "75 00 " RET, 14, 5, 9, 0x1200011);
	UNKNOWN(STACK FLAGS "4c 8b 05 77 90 10 00 " NUMBER CALL_IT COMPARE KEEP "75 f5 " RET);
	UNKNOWN(STACK FLAGS "4c 8b 05 77 90 10 00 " NUMBER CALL_IT COMPARE KEEP "75 fb " RET);
	/* a jump by a table could come anywhere */
	UNKNOWN(STACK FLAGS NUMBER CALL_IT COMPARE "ff e0 ");
	/* into the middle of an instruction: it was not read as it is executed */
	UNKNOWN("74 01 " STACK FLAGS NUMBER CALL_IT COMPARE RET);
	/* back behind a jump that always goes: what was known before it is not */
	UNKNOWN(STACK FLAGS "eb 00 " NUMBER CALL_IT COMPARE KEEP KEEP RET);
	UNKNOWN(STACK FLAGS "c3 " NUMBER CALL_IT COMPARE KEEP KEEP RET);
}

/* The part of a function that a compiler puts elsewhere: a jump of the function leads to it, and it may lead back. */
static void other_parts(void)
{
	uint8_t *cold = code + 512;
	size_t n;

	FOUND("85 c0 0f 84 f8 01 00 00 " STACK FLAGS NUMBER CALL_IT COMPARE RET, 8, 12, 0, 0x1200011);
	CHECK_EQ(jumps.n, 1);
	CHECK(jumps.to[0] == cold);
	n = put(cold, "90 e9 02 fe ff ff");	/* jmp to 8, the beginning */
	CHECK(!mt_clone_jumps_into(cold, n, &site));
	for (int at = 9; at <= 21; at++) {
		const int32_t to = at - (512 + 6);

		memcpy(cold + 2, &to, 4);
		CHECK(mt_clone_jumps_into(cold, n, &site));
	}
	put(cold, "90 e9 10 fe ff ff");		/* behind it */
	CHECK(!mt_clone_jumps_into(cold, n, &site));
	put(cold, "90 74 00 06 06 06");		/* it cannot be read */
	CHECK(mt_clone_jumps_into(cold, n, &site));
	put(cold, "90 c3 06 06 06 06");		/* but behind its end there may be anything */
	CHECK(!mt_clone_jumps_into(cold, n, &site));
	/* too many of them to look at */
	memset(code, 0x90, sizeof(code));
	for (int i = 0; i <= MT_SITE_TARGETS; i++)
		put(code + 6 * i, "0f 84 00 04 00 00");
	n = 6 * (MT_SITE_TARGETS + 1);
	n += put(code + n, STACK FLAGS NUMBER CALL_IT COMPARE RET);
	CHECK_EQ(mt_clone_site(code, n, &site, NULL), MT_CLONE_FOUND);
	CHECK_EQ(mt_clone_site(code, n, &site, &jumps), MT_CLONE_UNKNOWN);
}

static void what_it_would_be(void)
{
	/* memory is shared: a thread, posix_spawn(); a stack of its own; flags and stack not known */
	UNKNOWN(STACK "bf 11 41 00 00 " NUMBER CALL_IT COMPARE RET);
	UNKNOWN("be 00 10 00 00 " FLAGS NUMBER CALL_IT COMPARE RET);
	UNKNOWN(FLAGS "48 89 c6 " NUMBER CALL_IT COMPARE RET);
	UNKNOWN(STACK "48 8b 3c 24 " NUMBER CALL_IT COMPARE RET);
	UNKNOWN(STACK FLAGS "81 cf 00 01 00 00 " NUMBER CALL_IT COMPARE RET);	/* or $CLONE_VM, %edi */
	UNKNOWN(STACK FLAGS "48 83 ce 01 " NUMBER CALL_IT COMPARE RET);
	UNKNOWN(STACK FLAGS "5f " NUMBER CALL_IT COMPARE RET);			/* pop %rdi */
	UNKNOWN(STACK FLAGS "66 bf 11 01 " NUMBER CALL_IT COMPARE RET);
	UNKNOWN(STACK FLAGS "40 b7 01 " NUMBER CALL_IT COMPARE RET);
	UNKNOWN(STACK FLAGS "0f 44 f8 " NUMBER CALL_IT COMPARE RET);		/* cmov %eax, %edi */
	UNKNOWN(STACK FLAGS "87 fe " NUMBER CALL_IT COMPARE RET);		/* xchg */
	UNKNOWN(STACK FLAGS "f0 0f c1 3c 24 " NUMBER CALL_IT COMPARE RET);	/* lock xadd %edi, (%rsp) */
	UNKNOWN(STACK FLAGS "e8 00 00 00 00 " NUMBER CALL_IT COMPARE RET);
	/* twice */
	UNKNOWN(STACK FLAGS NUMBER CALL_IT STACK FLAGS NUMBER CALL_IT COMPARE RET);
	/* the number is another one, or no more */
	UNKNOWN(STACK FLAGS NUMBER "ff c0 " CALL_IT RET);
	UNKNOWN(STACK FLAGS NUMBER "b0 27 " CALL_IT RET);
	UNKNOWN(STACK FLAGS NUMBER "b4 01 " CALL_IT RET);			/* ah */
	UNKNOWN(STACK FLAGS NUMBER "88 cc " CALL_IT RET);
	UNKNOWN(STACK FLAGS NUMBER "66 b8 01 00 " CALL_IT RET);
	UNKNOWN("bb 38 00 00 00 " STACK FLAGS "48 8b 04 24 " CALL_IT RET);	/* it may come from there */
	CHECK_EQ(look(STACK FLAGS NUMBER "b8 27 00 00 00 " CALL_IT RET), MT_CLONE_NONE);
	CHECK_EQ(look(STACK FLAGS "b8 39 00 00 00 " CALL_IT RET), MT_CLONE_NONE);
	/* it cannot be read, or is cut */
	UNKNOWN("06 " STACK FLAGS NUMBER CALL_IT COMPARE RET);
	UNKNOWN(STACK FLAGS NUMBER CALL_IT "48 3d 00 f0 ");
	UNKNOWN(STACK FLAGS NUMBER CALL_IT COMPARE "06 ");
	FOUND(STACK FLAGS NUMBER CALL_IT COMPARE RET "06 ", 0, 12, 0, 0x1200011);
}

static void lengths(void)
{
	static const struct {
		const char *hex;
		size_t len;
	} known[] = {
		{ "90", 1 }, { "f3 0f 1e fa", 4 }, { "64 8b 2c 25 18 00 00 00", 8 }, { "48 b8 1 2 3 4 5 6 7 8", 10 },
		{ "66 b8 1 2", 4 }, { "c7 80 18 09 00 00 01 00 00 00", 10 }, { "f6 c4 80", 3 }, { "f7 d8", 2 }, { "f7 c1 1 2 3 4", 6 },
		{ "66 0f 1f 84 00 00 00 00 00", 9 }, { "0f 11 80 18 09 00 00", 7 }, { "c5 f9 6f 04 24", 5 }, { "c4 e3 7d 39 c1 01", 6 },
		{ "62 f1 7c 48 10 44 24 01", 8 }, { "66 0f 3a 63 c1 1a", 6 }, { "c8 00 00 00", 4 }, { "a1 1 2 3 4 5 6 7 8", 9 },
		{ "67 a1 1 2 3 4", 6 }, { "06", 0 }, { "0f 04", 0 }, { "66", 0 }, { "c5 f9", 0 }, { "c4 e7 00 00 00 00", 0 },
		{ "44 48 29 d7", 0 }, { "48 66 90", 0 }, { "48 f3 90", 0 },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		const size_t n = put(code, known[i].hex);

		CHECK_EQ(mt_x86_length(code, n), known[i].len);
		for (size_t cut = 0; cut < known[i].len; cut++)
			CHECK_EQ(mt_x86_length(code, cut), 0);
	}
	/* more than 15 bytes are no instruction */
	memset(code, 0x66, sizeof(code));
	code[14] = 0x90;
	CHECK_EQ(mt_x86_length(code, 64), 15);
	memset(code, 0x66, sizeof(code));
	code[15] = 0x90;
	CHECK_EQ(mt_x86_length(code, 64), 0);
}

/* Newer C libraries make the same call in _Fork(), and nowhere else. */
static void this_library(void)
{
	struct mt_clone_site s[MT_SITES] = { 0 };
	const char *why = NULL;
	const int n = mt_clone_sites(s, &why);

#ifdef __x86_64__
	CHECK(n >= 1 && n < MT_SITES);
	for (int i = 0; i < n; i++) {
		const size_t bytes = s[i].before + 2 + s[i].after;

		CHECK(bytes >= MT_SITE_MIN && bytes <= MT_SITE_MAX);
		CHECK(!memcmp(s[i].at + s[i].before, "\x0f\x05", 2));
	}
	CHECK_EQ(s[0].flags, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | 17);
#else
	CHECK_EQ(n, 0);
#endif
	CHECK(why != NULL);
}

#ifdef __x86_64__
/* Wherever it stands, also where less than a vector is left. */
static void the_number_is_found(void)
{
	for (size_t len = 6; len < 80; len++)
		for (size_t i = 1; i + 4 <= len; i++) {
			memset(code, 0x38, sizeof(code));
			put(code + i - 1, "b8 38 00 00 00");
			CHECK(next_number(code + 1, code + len) == code + i);
			CHECK(next_number(code + 1, code + i + 3) == NULL);
			code[i - 1] = 0xb9;
			CHECK(next_number(code + 1, code + len) == NULL);
		}
}
#else
static void the_number_is_found(void)
{
}
#endif

/* An object: a table of functions, then their code; each begins at a multiple of 64. */
static int sites(const char *const *function, int n, struct mt_clone_site *s, int room, int *calls)
{
	static uint8_t object[2048];
	uint8_t *const text = object + 512;
	struct mt_code c = { text, text + 64 * n, object, object + 512, 0 };
	const uint32_t count = (uint32_t)n;

	memset(object, 0x90, sizeof(object));
	memcpy(object, "\1\x1b\3\x3b", 4);
	memcpy(object + 8, &count, 4);
	for (int i = 0; i < n; i++) {
		const int32_t offset = 512 + 64 * i;

		memcpy(object + 12 + 8 * i, &offset, 4);
		put(text + 64 * i, function[i]);
	}
	return mt_process_sites(&c, s, room, calls);
}

static int one(const char *function, struct mt_clone_site *s)
{
	int calls;

	return sites(&function, 1, s, 1, &calls);
}

static void processes_of_a_program(void)
{
	static const char *const several[] = {
		"b8 39 00 00 00 0f 05 c3", "48 89 f8 0f 05 c3", "31 f6 bf 11 00 00 00 b8 38 00 00 00 0f 05 c3", "c3",
		"b8 b3 01 00 00 48 89 f7 be 58 00 00 00 0f 05 85 c0 c3"
	};
	struct mt_clone_site s[4] = { { .number = 0 } };
	int calls = 2;

	CHECK_EQ(sites(several, 5, s, 4, &calls), 4);
	CHECK_EQ(calls, 1);
	CHECK_EQ(s[0].number, 57);
	CHECK_EQ(s[0].before, 5);
	CHECK_EQ(s[0].after, 0);
	CHECK_EQ(s[0].padding, 0);
	/* only the running program knows the number */
	CHECK_EQ(s[1].number, 0);
	CHECK_EQ(s[1].before, 3);
	CHECK_EQ(s[2].number, 56);
	CHECK_EQ(s[3].number, 435);
	/* no room for all of them: that without a number is left out first */
	CHECK_EQ(sites(several, 5, s, 2, &calls), -1);
	CHECK_EQ(sites(several, 5, s, 3, &calls), 3);
	CHECK_EQ(s[1].number, 56);
	CHECK_EQ(sites(several + 3, 1, s, 4, &calls), 0);
	CHECK_EQ(calls, 0);
	CHECK_EQ(sites(several + 1, 1, s, 4, &calls), 1);
	CHECK_EQ(calls, 1);
	/* where only two bytes can be moved, and where the function is read in another way, it stays */
	CHECK_EQ(one("74 03 48 89 f8 0f 05 85 c0 75 fc c3", s), 0);
	CHECK_EQ(one("ff e0 48 89 f8 0f 05 c3", s), 0);
	/* memory is shared for certain; it may be */
	CHECK_EQ(one("bf 11 01 00 00 b8 38 00 00 00 0f 05 c3", s), 0);
	CHECK_EQ(one("89 f7 b8 38 00 00 00 0f 05 85 c0 75 00 c3", s), 1);
	CHECK_EQ(one("89 f7 b8 38 00 00 00 0f 05 85 c0 89 c1 89 c3 75 00 c3", s), 1);
	/* other ways to say the number: found, and not followed */
	CHECK_EQ(one("6a 39 58 0f 05 89 c1 89 c1 89 c1 89 c1 c3", s), -1);
	CHECK_EQ(one("b0 39 0f 05 89 c1 89 c1 89 c1 89 c1 c3", s), -1);
	CHECK_EQ(one("48 c7 c0 39 00 00 00 31 d2 0f 05 48 89 c3 c3", s), 1);
	/* another number comes between, or a call; bytes that only look like it; too short a function */
	CHECK_EQ(one("b8 39 00 00 00 b8 27 00 00 00 0f 05 c3", s), 0);
	CHECK_EQ(one("b8 39 00 00 00 e8 00 00 00 00 0f 05 c3", s), 0);
	CHECK_EQ(one("b8 39 00 00 00 48 05 0f 05 00 00 c3", s), 0);
	CHECK_EQ(one("48 8b 05 77 90 10 00 b8 39 00 00 00 0f 05 48 8b 05 77 90 10 00 c3", s), 1);
	CHECK_EQ(one("b8 39 00 00 00 74 00 0f 05 85 c0 75 fc c3", s), -1);
	/* jumped to between number and call */
	CHECK_EQ(one("74 05 b8 39 00 00 00 31 d2 0f 05 48 89 c3 c3", s), -1);
}

int main(void)
{
	processes_of_a_program();
	the_number_is_found();
	as_compilers_do();
	what_cannot_be_moved_stays();
	jumps_into_the_place();
	other_parts();
	what_it_would_be();
	lengths();
	this_library();
	return mt_test_done();
}
