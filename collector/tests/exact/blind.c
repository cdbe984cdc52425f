// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * blind.c - a program that maps memory of many kinds, touches each page of it, and says where it was:
 *
 *	region PID NAME START BYTES
 *
 * one line for each range that is touched as a whole, addresses hexadecimal. unseen.py compares two recordings of it. Expects
 * ./file (FILE_BYTES) and ./large.so, a library with a megabyte or more of constants; makes and removes its own other files.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define FILE_BYTES (64 * PAGE)

static volatile long sum;

static void say(const char *name, const void *at, size_t bytes)
{
	printf("region %d %s %lx %zu\n", (int)getpid(), name, (unsigned long)at, bytes);
	fflush(stdout);
}

static void *must(void *at, const char *what)
{
	if (at == MAP_FAILED || !at) {
		perror(what);
		exit(3);
	}
	return at;
}

static void touch(const char *name, void *at, size_t bytes, int writing)
{
	for (size_t i = 0; i < bytes; i += PAGE) {
		if (writing)
			((volatile char *)at)[i] = 1;
		else
			sum += ((volatile char *)at)[i];
	}
	say(name, at, bytes);
}

int main(void)
{
	const int file = open("file", O_RDWR), reading = open("file", O_RDONLY), memory = (int)syscall(SYS_memfd_create, "seen-and-not", 0);
	char path[64];
	void *large, *p;
	int segment, again;
	pid_t child;

	touch("private", must(mmap(NULL, 40 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), "private"), 40 * PAGE, 1);
	touch("shared-anonymous", must(mmap(NULL, 24 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), "shared"),
	      24 * PAGE, 1);
	touch("file-shared-read", must(mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, reading, 0), "file"), FILE_BYTES, 0);
	touch("file-private-read", must(mmap(NULL, FILE_BYTES / 2, PROT_READ, MAP_PRIVATE, file, 0), "file"), FILE_BYTES / 2, 0);
	p = must(mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0), "file");
	touch("file-private-write", p, FILE_BYTES, 1);
	p = must(mmap(NULL, FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), "file");
	touch("file-shared-write", p, FILE_BYTES, 1);

	if (ftruncate(memory, 16 * PAGE))
		return 3;
	touch("memfd-write", must(mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0), "memfd"), 16 * PAGE, 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	again = open(path, O_RDONLY);
	touch("memfd-read", must(mmap(NULL, 16 * PAGE, PROT_READ, MAP_SHARED, again, 0), "memfd"), 16 * PAGE, 0);

	segment = shmget(IPC_PRIVATE, 8 * PAGE, IPC_CREAT | 0600);
	if (segment >= 0) {
		p = must(shmat(segment, NULL, SHM_RDONLY), "shmat");
		shmctl(segment, IPC_RMID, NULL);
		touch("sysv-read", p, 8 * PAGE, 0);
	}
	p = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (p != MAP_FAILED)
		touch("huge", p, 4 << 20, 1);
	p = must(mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN, -1, 0), "grows down");
	touch("grows-down", p, 16 * PAGE, 1);
	/* a way around libc: found when the maps are looked at, so it stays */
	{
		register long r10 __asm__("r10") = MAP_PRIVATE | MAP_ANONYMOUS, r8 __asm__("r8") = -1, r9 __asm__("r9") = 0;
		long at;

		__asm__ volatile("syscall" : "=a"(at) : "a"(SYS_mmap), "D"(0L), "S"(12L * PAGE), "d"((long)(PROT_READ | PROT_WRITE)), "r"(r10),
				 "r"(r8), "r"(r9) : "rcx", "r11", "memory");
		touch("outside-of-libc", (void *)at, 12 * PAGE, 1);
	}
	/* short lives: mapped, read, gone */
	for (int i = 0; i < 100; i++) {
		p = must(mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, reading, 0), "short");
		sum += *(volatile char *)p + ((volatile char *)p)[PAGE];
		munmap(p, 2 * PAGE);
	}
	p = must(mmap(NULL, 100, PROT_READ, MAP_PRIVATE, open("small", O_RDONLY), 0), "small");	/* less than a page */
	touch("file-small", p, 100, 0);

	large = must(dlopen("./large.so", RTLD_NOW), "large.so");
	{
		const char *(*constants)(size_t *) = (const char *(*)(size_t *))must(dlsym(large, "constants"), "constants");
		size_t bytes;
		const char *c = constants(&bytes);

		touch("constants", (void *)c, bytes, 0);
	}
	child = fork();
	if (!child) {
		const int own = open("own", O_RDONLY);

		touch("child-file-read", must(mmap(NULL, 32 * PAGE, PROT_READ, MAP_PRIVATE, own, 0), "own"), 32 * PAGE, 0);
		touch("child-private", must(mmap(NULL, 20 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), "own"), 20 * PAGE, 1);
		usleep(200000);
		exit(0);
	}
	waitpid(child, NULL, 0);
	usleep(200000);		/* some looks more */
	return 0;
}
