// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: common/out.c common/rawmem.c
// includes: preload/ground/quiet.c
/* Which processes are recorded from their beginning, later, or never, and what is told about the others. */
#include "harness.h"

#include <stdlib.h>
#include <unistd.h>

#include "preload/ground/quiet.c"

static int started;

static void start(void)
{
	started++;
}

int mt_process_is_alone(void)
{
	return 1;
}

long mt_call_on_stack(void *top, long (*fn)(void *), void *arg)
{
	(void)top;
	return fn(arg);
}

static enum mt_start choice(struct mt_config *c, const char *follow, const char *skip, int *root)
{
	setenv("MEMTRACE_FOLLOW", follow, 1);
	setenv("MEMTRACE_SKIP", skip, 1);
	return mt_quiet_choose(c, root, start);
}

static void who_is_recorded(void)
{
	struct mt_config c = { .parent_image = 3, .library = MT_LIBRARY_TRACES };
	char pid[32];
	int root;

	/* this program is called test_quiet, has little static data, and is no shell */
	CHECK_EQ(choice(&c, "", "", &root), MT_START_NOW);	/* no limit */
	CHECK_EQ(root, 0);
	c.min_process_bytes = 1ull << 40;
	CHECK_EQ(choice(&c, "", "", &root), MT_START_LATER);
	CHECK_EQ(choice(&c, "test_quiet$", "", &root), MT_START_NOW);
	CHECK_EQ(choice(&c, "other", "", &root), MT_START_NEVER);
	CHECK_EQ(choice(&c, "", "test_[a-r]", &root), MT_START_NEVER);
	CHECK_EQ(choice(&c, "test_quiet", "quiet", &root), MT_START_NEVER);	/* --skip wins */
	CHECK_EQ(choice(&c, "(", "", &root), MT_START_NEVER);	/* the launcher refuses such a pattern */
	CHECK_EQ(choice(&c, "", "(", &root), MT_START_LATER);
	c.min_process_bytes = 1;
	CHECK_EQ(choice(&c, "", "", &root), MT_START_NOW);	/* static data is enough */
	c.min_process_bytes = 1ull << 40;
	c.library = MT_LIBRARY_COUNTS;				/* costs nothing */
	CHECK_EQ(choice(&c, "", "", &root), MT_START_NOW);
	c.library = MT_LIBRARY_NO_ACCESSES;				/* a start costs what it costs with accesses */
	CHECK_EQ(choice(&c, "", "", &root), MT_START_LATER);
	c.library = MT_LIBRARY_TRACES;
	c.parent_image = -1;					/* what the user named, and no shell */
	CHECK_EQ(choice(&c, "", "", &root), MT_START_NOW);
	CHECK_EQ(root, 1);
	c.parent_image = 0;
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	setenv("MEMTRACE_ROOT", pid, 1);
	CHECK_EQ(choice(&c, "", "", &root), MT_START_NOW);
	CHECK_EQ(root, 1);
	setenv("MEMTRACE_ROOT", "1", 1);
	CHECK_EQ(choice(&c, "", "", &root), MT_START_LATER);
	CHECK_EQ(root, 0);
}

static void shells(void)
{
	CHECK(is_shell("/bin/sh"));
	CHECK(is_shell("/usr/bin/bash"));
	CHECK(is_shell("busybox"));
	CHECK(!is_shell("/bin/sh/program"));
	CHECK(!is_shell("/usr/bin/bash2"));
	CHECK(!is_shell("/usr/bin/ash.sh"));
	CHECK(!is_shell(""));
}

/* As the constructor of a process for which @choice was made. */
static void begin(const struct mt_config *c, enum mt_start choice, const char *how)
{
	memset(&quiet, 0, sizeof(quiet));
	quiet.config = c;
	quiet.start = start;
	mt_quiet_begin(choice, 0, how);
}

/* The lines of unrecorded.csv, without the time. */
static int lines(const char *dir, char *text, size_t cap)
{
	char path[4200], line[8192];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/unrecorded.csv", dir);
	f = fopen(path, "re");
	*text = 0;
	while (f && fgets(line, sizeof(line), f)) {
		char *p = strchr(line, ',');

		n++;
		if (p && strlen(text) + strlen(p) < cap)
			strcat(text, p);
	}
	if (f)
		fclose(f);
	return n;
}

static void small_processes_are_counted(void)
{
	struct mt_config c = { .min_process_bytes = 1000 };
	char text[16384], want[256], path[sizeof(c.dir) + 32];
	FILE *f;

	snprintf(c.dir, sizeof(c.dir), "%s/test_quiet.XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
	CHECK(mkdtemp(c.dir) != NULL);
	CHECK(!mt_is_quiet());
	mt_quiet_grow(5000);		/* nobody watches */
	CHECK_EQ(started, 0);
	/* without the file nothing is told, and nothing is made */
	begin(&c, MT_START_NEVER, "exec");
	mt_quiet_end();
	CHECK_EQ(lines(c.dir, text, sizeof(text)), 0);
	memset(&quiet, 0, sizeof(quiet));

	snprintf(path, sizeof(path), "%s/unrecorded.csv", c.dir);
	f = fopen(path, "we");
	CHECK(f != NULL);
	fclose(f);
	begin(&c, MT_START_NEVER, "exec");
	mt_quiet_grow(5000);		/* left out: it stays so */
	CHECK_EQ(started, 0);
	mt_quiet_end();			/* it is not watched: who was killed has no end either */
	CHECK_EQ(lines(c.dir, text, sizeof(text)), 1);
	snprintf(want, sizeof(want), ",%d,begin,exec,left-out,%d,", (int)getpid(), (int)getppid());
	CHECK(strstr(text, want) == text);
	CHECK(strstr(text, "/test_quiet") != NULL);

	memset(&quiet, 0, sizeof(quiet));
	begin(&c, MT_START_LATER, "fork");
	CHECK(mt_is_quiet());
	mt_quiet_grow(400);
	mt_quiet_grow(599);
	CHECK_EQ(started, 0);
	mt_quiet_end();
	CHECK_EQ(lines(c.dir, text, sizeof(text)), 3);
	snprintf(want, sizeof(want), ",%d,end,,small,%d,", (int)getpid(), (int)getppid());
	CHECK(strstr(text, want) != NULL);
	CHECK(strstr(text, ",999,") != NULL);
	mt_quiet_grow(1);
	CHECK_EQ(started, 1);
	CHECK(!mt_is_quiet());
	mt_quiet_grow(100000);
	CHECK_EQ(started, 1);
	lines(c.dir, text, sizeof(text));
	CHECK(strstr(text, ",begin,fork,small,") != NULL);
	CHECK(strstr(text, ",recorded,") != NULL);

	/* a child of one that is recorded: what it has worked counts as well, and so does what waits in its log */
	c.min_process_bytes = 1ull << 40;
	begin(&c, MT_START_LATER, "fork");
	mt_quiet_fork_child();
	mt_quiet_hurry();
	CHECK_EQ(started, 1);
	CHECK(mt_is_quiet());
	mt_quiet_grow(1);
	CHECK_EQ(started, 2);
	begin(&c, MT_START_LATER, "fork");
	mt_quiet_fork_child();
	while (cpu_ns() <= MT_QUIET_WORKED_NS)
		;
	CHECK_EQ(started, 2);
	mt_quiet_grow(1);
	CHECK_EQ(started, 3);
	begin(&c, MT_START_LATER, "exec");	/* a program that was started is small until it has the memory */
	mt_quiet_grow(1);
	CHECK_EQ(started, 3);
	mt_quiet_end();
	remove(path);
	rmdir(c.dir);
}

int main(void)
{
	CHECK(strstr(mt_quiet_message(MT_START_NEVER), "--skip") != NULL);
	CHECK(strstr(mt_quiet_message(MT_START_LATER), "--min-process") != NULL);
	shells();
	who_is_recorded();
	small_processes_are_counted();
	return mt_test_done();
}
