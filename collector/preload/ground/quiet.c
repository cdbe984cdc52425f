// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/ground/quiet.h"

#include <errno.h>
#include <link.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "preload/ground/process.h"
#include "common/quietwords.h"
#include "common/rawsys.h"
#include "common/settings.h"
#include "preload/ground/thread.h"

#define SCRATCH_BYTES (256ul << 10)
#define FEW_DESCRIPTORS 64
/* The path as CSV, when each of its bytes is a quote, and the numbers. */
#define LINE_BYTES (2 * 4096 + 256)

/*
 * Only the one thread that there is changes this. Children of vfork() run in our memory with a process id of
 * their own: they are not us.
 */
static struct {
	const struct mt_config *config;
	int pid;		/* 0: not watched */
	int has_image;		/* so it need not be counted */
	int may_count;		/* children, too */
	int forked;		/* from a process that is recorded or watched */
	int hurry;		/* is recorded with the next memory that it gets */
	int stays;		/* it cannot be recorded, nor can its children */
	uint64_t bytes;		/* asked for */
	void (*start)(void);
	const char *why, *how;
} quiet;

static const char *program(char *buf, size_t cap)
{
	long n = mt_sys_readlink("/proc/self/exe", buf, cap - 1);

	buf[n > 0 ? n : 0] = 0;
	return buf;
}

static uint64_t cpu_ns(void)
{
	return mt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* One line, one write: many processes append. A line that cannot be written is one process fewer in the count. */
static void note(const char *event, const char *how)
{
	/* a signal handler on a small stack may end the process, or be the one that asks for memory */
	static char line[LINE_BYTES], path[sizeof(quiet.config->dir) + 32], exe[4097];
	const struct mt_config *c = quiet.config;
	size_t n = strlen(c->dir);
	struct mt_out o;
	long fd;

	if (quiet.has_image)
		return;
	memcpy(path, c->dir, n);
	memcpy(path + n, "/" MT_FILE_UNRECORDED, sizeof("/" MT_FILE_UNRECORDED));
	fd = mt_sys(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
	if (fd < 0)
		return;
	mt_out_init(&o, (int)fd, line, sizeof(line));
	mt_out_fmt(&o, "%llu,%d,%s,%s,%s,%d,%llu,%llu,", (unsigned long long)mt_now_ns(), mt_getpid(), event, how, quiet.why,
		   (int)mt_sys(SYS_getppid), (unsigned long long)cpu_ns(), (unsigned long long)quiet.bytes);
	mt_out_csv(&o, program(exe, sizeof(exe)));
	mt_out_char(&o, '\n');
	mt_out_flush(&o);
	mt_sys(SYS_close, fd);
}

static int matches(const char *pattern, const char *text)
{
	regex_t r;
	int ret;

	if (regcomp(&r, pattern, REG_EXTENDED | REG_NOSUB))
		return 0;
	ret = !regexec(&r, text, 0, NULL, 0);
	regfree(&r);
	return ret;
}

/* The first object is the program. */
static int add_static_data(struct dl_phdr_info *info, size_t size, void *sum)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_W)
			*(uint64_t *)sum += info->dlpi_phdr[i].p_memsz;
	return 1;
}

/* What runs other programs, and is rarely what a person wants to look at. */
static int is_shell(const char *path)
{
	static const char *const names[] = { "sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "busybox" };
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(base, names[i]))
			return 1;
	return 0;
}

/* What the loader says to debuggers when nothing is being loaded; a constant where the program has a copy of it. */
static int at_rest;

enum mt_start mt_quiet_choose(const struct mt_config *c, int *root, void (*start)(void))
{
	const char *follow = getenv(MT_VARIABLE(MEMTRACE_FOLLOW)), *skip = getenv(MT_VARIABLE(MEMTRACE_SKIP));
	const char *first = getenv(MT_VARIABLE(MEMTRACE_ROOT));
	const int counts = c->min_process_bytes && (mt_traces(c->library) || c->library == MT_LIBRARY_NO_ACCESSES);
	uint64_t bytes = 0;
	char exe[4097];

	at_rest = (int)_r_debug.r_state;
	quiet.config = c;
	quiet.start = start;
	quiet.may_count = counts && !(follow && *follow);
	*root = c->parent_image < 0 || (first && atoi(first) == mt_getpid());
	program(exe, sizeof(exe));
	if (skip && *skip && matches(skip, exe))
		return MT_START_NEVER;
	if (follow && *follow)
		return matches(follow, exe) ? MT_START_NOW : MT_START_NEVER;
	/* what counts or is watched from outside begins with the process */
	if (!counts || (*root && !is_shell(exe)))
		return MT_START_NOW;
	dl_iterate_phdr(add_static_data, &bytes);
	return bytes >= c->min_process_bytes ? MT_START_NOW : MT_START_LATER;
}

const char *mt_quiet_message(enum mt_start choice)
{
	return choice == MT_START_NEVER ? MT_QUIET_LEFT_OUT : MT_QUIET_SHELL;
}

void mt_quiet_begin(enum mt_start choice, int root, const char *how)
{
	quiet.why = choice == MT_START_NEVER ? "left-out" : "small";
	quiet.has_image = root;
	quiet.how = how;
	if (choice == MT_START_LATER)
		quiet.pid = mt_getpid();
	note("begin", how);
}

int mt_quiet_may_count(void)
{
	return quiet.may_count;
}

const char *mt_quiet_how(void)
{
	return quiet.how;
}

int mt_is_quiet(void)
{
	return quiet.pid != 0;
}

static int is_own(void)
{
	return quiet.pid && quiet.pid == mt_getpid();
}

/* A process that may have so few descriptors wants all of them, and ours are made late. */
static int has_room(void)
{
	struct rlimit rl = { 0, 0 };

	mt_sys(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, &rl);
	return rl.rlim_cur >= FEW_DESCRIPTORS;
}

/* Pages that the kernel writes to by themselves, as buffers of io_uring are: where the memory is another one it would not see them. */
static int has_pinned(void)
{
	uint64_t kb;

	return !mt_proc_number("/proc/thread-self/status", "\nVmPin:", &kb) && kb;
}

static long start_on_scratch(void *arg)
{
	const char *why = !has_room() ? "descriptors" : has_pinned() ? "pinned" : NULL;

	(void)arg;
	if (why) {
		quiet.stays = 1;
		quiet.why = why;
		note("stays", "");
		return 0;
	}
	quiet.pid = 0;
	if (mt_process_is_alone()) {
		note("recorded", "");
		quiet.start();
	} else {
		/* threads that libc does not know: nothing can be converted under them */
		quiet.why = "threads";
		note("stays", "");
	}
	return 0;
}

static void start_now(void)
{
	uint64_t mask = mt_block_signals();
	char *scratch = quiet.stays ? NULL : mt_rawmap(SCRATCH_BYTES);
	const int err = errno;

	if (scratch) {
		mt_call_on_stack(scratch + SCRATCH_BYTES, start_on_scratch, NULL);
		mt_rawunmap(scratch, SCRATCH_BYTES);
	}
	errno = err;
	mt_restore_signals(mask);
}

void mt_quiet_grow(uint64_t bytes)
{
	if (!is_own())
		return;
	quiet.bytes += bytes;
	/* a handler that asks for memory while dlopen() or dlclose() is at work: the next one begins the recording */
	if ((quiet.bytes >= quiet.config->min_process_bytes || quiet.hurry || (quiet.forked && cpu_ns() > MT_QUIET_WORKED_NS)) &&
	    (int)_r_debug.r_state == at_rest)
		start_now();
}

void mt_quiet_hurry(void)
{
	quiet.hurry = 1;
}

void mt_quiet_thread(void)
{
	if (is_own())
		start_now();
}

void mt_quiet_stop(void)
{
	quiet.pid = 0;
}

void mt_quiet_fork_child(void)
{
	quiet.pid = mt_getpid();
	quiet.bytes = 0;
	quiet.has_image = quiet.hurry = 0;
	quiet.forked = 1;
	quiet.why = "small";
	quiet.how = "fork";
	note("begin", quiet.how);
}

void mt_quiet_end(void)
{
	if (is_own())
		note("end", "");
}
