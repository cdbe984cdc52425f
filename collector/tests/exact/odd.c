// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * odd.c - instructions that engines may count in a way of their own, and what is known of them, in the lines of
 * truth.c: strings in both directions, wide vectors at the border of pages, a block that ends by a fault.
 */
#include <immintrin.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096ul
#define PAGES 16u

static char *m;
static unsigned long did[PAGES][2];
static sigjmp_buf back;

static void know(const void *p, int write, unsigned long n)
{
	did[(unsigned long)((const char *)p - m) / PAGE][write] += n;
}

static void on_fault(int sig)
{
	(void)sig;
	siglongjmp(back, 1);
}

static void strings(void)
{
	char *to, *from;
	unsigned long n, found;

	/* 5000 bytes over a border: 4096 - 100 and 1004 */
	to = m + 100, from = m + 2 * PAGE + 100, n = 5000;
	asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	for (int w = 0; w < 2; w++) {
		know(m + (w ? 0 : 2) * PAGE, w, (PAGE - 100 + 15) / 16);
		know(m + (w ? 1 : 3) * PAGE, w, (5000 - (PAGE - 100) + 15) / 16);
	}
	/* from the end to the begin: the last element is at 4 * PAGE + 800 */
	to = m + 4 * PAGE + 800, n = 100;
	asm volatile("std; rep stosq; cld" : "+D"(to), "+c"(n) : "a"(7ul) : "memory");
	know(m + 4 * PAGE, 1, 50);
	/* not one element */
	to = m + 5 * PAGE, n = 0;
	asm volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(7) : "memory");
	/* ends when it finds: 32 bytes and one */
	memset(m + 6 * PAGE, 1, 64);
	m[6 * PAGE + 32] = 9;
	memset(did[6], 0, sizeof(did[6]));
	to = m + 6 * PAGE, found = 64;
	asm volatile("repne scasb" : "+D"(to), "+c"(found) : "a"(9) : "memory", "cc");
	know(m + 6 * PAGE, 0, 3);
}

static void vectors(void)
{
	/* 32 bytes are two accesses, over a border one and two, or two and one */
	for (int i = 0; i < 10; i++) {
		_mm256_storeu_si256((__m256i *)(m + 7 * PAGE + 64), _mm256_set1_epi8(1));
		know(m + 7 * PAGE, 1, 2);
		_mm256_storeu_si256((__m256i *)(m + 8 * PAGE - 8), _mm256_set1_epi8(1));
		know(m + 7 * PAGE, 1, 1);
		know(m + 8 * PAGE, 1, 2);
		_mm256_storeu_si256((__m256i *)(m + 9 * PAGE - 24), _mm256_set1_epi8(1));
		know(m + 8 * PAGE, 1, 2);
		know(m + 9 * PAGE, 1, 1);
	}
}

static void stacks(void)
{
	unsigned long sp;

	/* the stack pointer goes over a border of pages while registers are pushed */
	for (int i = 0; i < 10; i++)
		asm volatile("mov %%rsp, %0; mov %1, %%rsp; push %%rax; push %%rax; push %%rax; pop %%rcx; pop %%rcx; pop %%rcx; mov %0, %%rsp"
			     : "=&r"(sp) : "r"(m + 11 * PAGE + 16) : "rcx", "memory");
	for (int w = 0; w < 2; w++) {
		know(m + 11 * PAGE, w, 20);
		know(m + 10 * PAGE, w, 10);
	}
}

static void faults(void)
{
	struct sigaction act = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };
	char *none = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *a = m + 12 * PAGE;

	sigaction(SIGSEGV, &act, NULL);
	for (int i = 0; i < 20; i++)
		if (!sigsetjmp(back, 1))
			/* two accesses, the fault, and one that never comes */
			asm volatile("mov %%rax, (%0); addq $1, 8(%0); mov %%rax, (%1); mov %%rax, 16(%0)" : : "r"(a), "r"(none) : "memory");
	know(a, 1, 40);
	know(a, 0, 20);
}

int main(void)
{
	const int pid = getpid();

	m = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* not page 6, which is filled by a function */
	printf("block %d 0 %lx %lx\n", pid, (unsigned long)m, (unsigned long)m + 6 * PAGE);
	printf("block %d 0 %lx %lx\n", pid, (unsigned long)m + 7 * PAGE, (unsigned long)m + PAGES * PAGE);
	strings();
	vectors();
	stacks();
	faults();
	for (unsigned i = 0; i < PAGES; i++)
		if (i != 6 && (did[i][0] || did[i][1]))
			printf("count %d 0 %d %lx %lu %lu\n", pid, (int)syscall(SYS_gettid), (unsigned long)m + i * PAGE, did[i][0], did[i][1]);
	return 0;
}
