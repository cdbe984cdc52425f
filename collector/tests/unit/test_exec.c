// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: preload/ground/process.c common/out.c common/sanitizer.c common/rawmem.c
// includes: preload/process/exec.c
/* The ends of an image: which calls end the interval, and what is told when the program goes on. */
#include "harness.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload/process/exec.c"


/* What was called, a letter each: X and E an interval that ends, d described, f exec failed, q quiet ends. */
static char calls[64];
static int code_counts;

static void called(char what)
{
	size_t n = strlen(calls);

	if (n < sizeof(calls) - 1)
		calls[n] = what;
}

void mt_monitor_finish_interval(enum mt_event ev)
{
	called(ev == MT_EVENT_EXEC ? 'X' : ev == MT_EVENT_EXIT ? 'E' : '?');
}

void mt_monitor_exec_failed(void)
{
	called('f');
}

static const char *broken;	/* gates */

const char *gates_broken(void)
{
	return broken;
}

int mt_image_describe(const struct mt_image *img, const char *backend, const char *message)
{
	called(img != &mt_process.image || strcmp(backend, "none") ? '?' :
	       strstr(message, "memtrace cc") ? 'd' : !strcmp(message, broken) ? 'b' : '?');
	return 0;
}

int cnt_has_code(void)
{
	return code_counts;
}

/* Tells the test how it ends: a process that exits cannot say it. */
static int pipe_of_end[2];

void mt_quiet_end(void)
{
	called('q');
	if (pipe_of_end[1])
		mt_sys(SYS_write, pipe_of_end[1], calls, strlen(calls));
}

static const char *exec_of(const char *path)
{
	char *argv[] = { "x", NULL };

	memset(calls, 0, sizeof(calls));
	errno = 0;
	CHECK_EQ(mt_hook_execve(path, argv, argv + 1), -1);
	return calls;
}

static void failing_exec(const char *not_a_program)
{
	CHECK_STR(exec_of("/no/such/program"), "");	/* the search along PATH costs no interval */
	CHECK_EQ(errno, ENOENT);
	CHECK_EQ(chmod(not_a_program, 0644), 0);
	CHECK_STR(exec_of(not_a_program), "");
	CHECK_EQ(errno, EACCES);
	CHECK_EQ(chmod(not_a_program, 0755), 0);
	CHECK_STR(exec_of(not_a_program), "Xf");
	CHECK_EQ(errno, ENOEXEC);
	mt_process.monitored = 0;
	CHECK_STR(exec_of(not_a_program), "");
	CHECK_EQ(errno, ENOEXEC);
	mt_process.monitored = 1;
	mt_process.image.pid++;				/* the child of a vfork() */
	CHECK_STR(exec_of(not_a_program), "");
	mt_process.image.pid--;
	mt_process.tracing = 1;
	mt_process.config.library = MT_LIBRARY_COUNTS;
	CHECK_STR(exec_of(not_a_program), "Xdf");	/* no code of it counts, which is told */
	code_counts = 1;
	CHECK_STR(exec_of(not_a_program), "Xf");
	broken = "no gates";
	CHECK_STR(exec_of(not_a_program), "Xbf");
	broken = NULL;
	CHECK_STR(exec_of(not_a_program), "Xf");
	code_counts = 0;
	mt_process.tracing = 0;
	CHECK_STR(exec_of(not_a_program), "Xf");
	mt_process.tracing = 1;
	mt_process.config.library = MT_LIBRARY_TRACES;
	CHECK_STR(exec_of(not_a_program), "Xf");
}

/* Ends a child by @end; returns its status, and in calls what was called. */
static int ended(void (*end)(void))
{
	char text[64] = "";
	int status = -1;
	pid_t pid;

	CHECK_EQ(pipe(pipe_of_end), 0);
	pid = fork();
	if (!pid) {
		memset(calls, 0, sizeof(calls));
		mt_process.image.pid = getpid();
		end();
		_exit(99);
	}
	close(pipe_of_end[1]);
	CHECK(read(pipe_of_end[0], text, sizeof(text) - 1) >= 0);
	close(pipe_of_end[0]);
	pipe_of_end[0] = pipe_of_end[1] = 0;
	waitpid(pid, &status, 0);
	memcpy(calls, text, sizeof(text));
	return status;
}

static void exit_7(void)
{
	mt_hook_exit(7);
}

static void exit_unmonitored(void)
{
	mt_process.monitored = 0;
	mt_hook_exit(300);
}

static void exit_of_a_vfork_child(void)
{
	mt_process.image.pid++;
	mt_hook_exit(0);
}

static void exec_true(void)
{
	char *argv[] = { "sh", "-c", "exit 5", NULL };

	mt_sys(SYS_fcntl, pipe_of_end[1], F_SETFD, FD_CLOEXEC);
	mt_hook_execve("/bin/sh", argv, argv + 3);
}

static void exits(void)
{
	CHECK_EQ(ended(exit_7), 7 << 8);
	CHECK_STR(calls, "Eq");
	CHECK_EQ(ended(exit_unmonitored), (300 & 0xff) << 8);
	CHECK_STR(calls, "q");
	CHECK_EQ(ended(exit_of_a_vfork_child), 0);
	CHECK_STR(calls, "q");
	mt_process.config.library = MT_LIBRARY_COUNTS;
	CHECK_EQ(ended(exit_7), 7 << 8);
	CHECK_STR(calls, "Edq");
	mt_process.config.library = MT_LIBRARY_TRACES;
	CHECK_EQ(ended(exec_true), 5 << 8);
}

static void put(const char *path, const void *bytes, size_t n)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fwrite(bytes, 1, n, f) == n && !fclose(f));
}

/* What our library cannot be loaded into does not get its name: the loader would complain. */
static void foreign_programs(void)
{
	char elf[64] = "\177ELF\1", text[MAX_VALUE], long_value[MAX_VALUE + 8];
	static const char script[] = "#! ./foreign-elf -x\n";
	char dir[] = "/tmp/memtrace-exec-XXXXXX";

	CHECK(mkdtemp(dir) && !chdir(dir));
	put("foreign-elf", elf, sizeof(elf));
	CHECK(refuses_us(AT_FDCWD, "foreign-elf"));
	put("script", script, sizeof(script) - 1);
	CHECK(refuses_us(AT_FDCWD, "script"));
	elf[EI_CLASS] = ELFCLASS64;
	elf[18] = 1;
	put("foreign-elf", elf, sizeof(elf));
	CHECK(refuses_us(AT_FDCWD, "foreign-elf"));
	elf[18] = (char)MT_ELF_MACHINE;
	elf[19] = (char)(MT_ELF_MACHINE >> 8);
	put("foreign-elf", elf, sizeof(elf));
	CHECK(!refuses_us(AT_FDCWD, "foreign-elf"));
	CHECK(!refuses_us(AT_FDCWD, "script"));
	put("foreign-elf", "", 0);
	CHECK(!refuses_us(AT_FDCWD, "foreign-elf"));
	CHECK(!refuses_us(AT_FDCWD, "nothing"));
#ifdef __SANITIZE_ADDRESS__
	CHECK(refuses_us(AT_FDCWD, "/proc/self/exe"));	/* this program has been built with a sanitizer */
#else
	CHECK(!refuses_us(AT_FDCWD, "/proc/self/exe"));
#endif
	put("script", "#!./script\n", 11);
	CHECK(!refuses_us(AT_FDCWD, "script"));
	unlink("foreign-elf");
	unlink("script");
	CHECK(!chdir("/") && !rmdir(dir));

	CHECK(without_us(text, "/opt/m/libmemtrace-preload.so"));
	CHECK_STR(text, "LD_PRELOAD=");
	CHECK(without_us(text, "/opt/m/libmemtrace-preload.so:/a.so b.so"));
	CHECK_STR(text, "LD_PRELOAD=/a.so:b.so");
	CHECK(without_us(text, "x.so /opt/m/libmemtrace-preload.so"));
	CHECK_STR(text, "LD_PRELOAD=x.so");
	memset(long_value, 'x', sizeof(long_value) - 1);
	long_value[sizeof(long_value) - 1] = 0;
	CHECK(!without_us(text, long_value));
}

int main(void)
{
	char path[] = "/tmp/test_exec.XXXXXX";
	int fd = mkstemp(path);

	CHECK(fd >= 0 && write(fd, "\0not a program\n", 15) == 15 && !fchmod(fd, 0755));
	close(fd);
	mt_process.monitored = 1;
	mt_process.image.pid = getpid();
	CHECK(mt_process_is_own());
	failing_exec(path);
	exits();
	unlink(path);
	foreign_programs();
	return mt_test_done();
}
