// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * The ends of an image: exec and exit. Both end the current interval first, so that
 * nothing is lost; a fatal signal loses at most the interval in which it came.
 */
#include "preload/process/calls.h"
#include "preload/ground/process.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "preload/exact/counting.h"
#include "preload/exact/gates.h"
#include "preload/ground/quiet.h"
#include "common/out.h"
#include "common/rawsys.h"
#include "common/sanitizer.h"
#include "preload/monitor/monitor.h"

/* Only at the end it is certain that no code that counts came. */
static void describe_end(void)
{
	struct mt_process *p = &mt_process;

	if (p->config.library == MT_LIBRARY_COUNTS && p->tracing && !cnt_has_code())
		mt_image_describe(&p->image, MT_NO_BACKEND, "no part of this program was built with memtrace cc");
	else if (p->config.library == MT_LIBRARY_COUNTS && p->tracing && gates_broken())
		mt_image_describe(&p->image, MT_NO_BACKEND, gates_broken());
}

#define LIBRARY "/libmemtrace-preload.so"
#define VARIABLE "LD_PRELOAD="
#define MAX_ENVIRONMENT 512
#define MAX_VALUE 1024

/*
 * Is it a program of another class or processor, whose loader would complain on stderr that our library is not for it, one of another C
 * library, whose loader ends it, or one whose sanitizer refuses our library? Of a script: its interpreter.
 */
static int refuses_us(int dir, const char *path)
{
	char head[256], name[256], *p, *end;

	for (int depth = 0; depth < 4; depth++, dir = AT_FDCWD) {
		const long fd = mt_sys(SYS_openat, dir, path, O_RDONLY | O_CLOEXEC, 0);
		long n;

		if (fd < 0)
			return 0;
		n = mt_sys(SYS_read, fd, head, sizeof(head) - 1);
		mt_sys(SYS_close, fd);
		if (n >= 20 && !memcmp(head, ELFMAG, SELFMAG)) {
			uint16_t machine;

			memcpy(&machine, head + 18, sizeof(machine));
			return head[EI_CLASS] != ELFCLASS64 || machine != MT_ELF_MACHINE || mt_is_of_other_libc(dir, path) ||
			       mt_sanitizer_of_file(dir, path);
		}
		if (n < 3 || memcmp(head, "#!", 2))
			return 0;
		head[n] = 0;
		for (p = head + 2; *p == ' ' || *p == '\t'; p++)
			;
		for (end = p; *end && *end != ' ' && *end != '\t' && *end != '\n'; end++)
			;
		*end = 0;
		path = memcpy(name, p, (size_t)(end - p) + 1);
	}
	return 0;
}

/* @value, a list, without our library, as a variable in @to. 0: there is no room. */
static int without_us(char *to, const char *value)
{
	size_t n = sizeof(VARIABLE) - 1;

	memcpy(to, VARIABLE, n);
	while (*value) {
		const size_t len = strcspn(value, " :"), ours = sizeof(LIBRARY) - 1;

		if (len && (len < ours || memcmp(value + len - ours, LIBRARY, ours))) {
			if (n + len + 2 > MAX_VALUE)
				return 0;
			if (n > sizeof(VARIABLE) - 1)
				to[n++] = ':';
			memcpy(to + n, value, len);
			n += len;
		}
		value += len + (value[len] != 0);
	}
	to[n] = 0;
	return 1;
}

/* execve(2), or execveat(2) where @dir or @flags want it: what one says is not in all what the other does. */
static long exec(int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
	return dir == AT_FDCWD && !flags ? mt_sys(SYS_execve, path, argv, envp) : mt_sys(SYS_execveat, dir, path, argv, envp, flags);
}

/* With an environment that does not name our library. On the stack: a child of vfork() must leave nothing behind. */
static long exec_foreign(int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
	char *own[MAX_ENVIRONMENT + 1], text[MAX_VALUE];
	size_t n = 0;

	for (char *const *v = envp; *v; v++) {
		const int ours = !strncmp(*v, VARIABLE, sizeof(VARIABLE) - 1);

		if (n == MAX_ENVIRONMENT || (ours && !without_us(text, *v + sizeof(VARIABLE) - 1)))
			return exec(dir, path, argv, envp, flags);
		/* no variable where nothing is left, as alone */
		if (!ours || text[sizeof(VARIABLE) - 1])
			own[n++] = ours ? text : *v;
	}
	own[n] = NULL;
	return exec(dir, path, argv, own, flags);
}

/* A file that is given by its descriptor alone has a name below /proc. */
static const char *name_of_file(int dir, const char *path, int flags, char *room)
{
	char first = 0;

	if (!(flags & AT_EMPTY_PATH) || mt_can_read(path, &first, 1) || first || dir == AT_FDCWD)
		return path;
	memcpy(room, "/proc/self/fd/", 14);
	*mt_put_u64(room + 14, (uint64_t)(unsigned)dir) = 0;
	return room;
}

/*
 * Children of vfork() and posix_spawn() come here too, in our memory but with a
 * process id of their own: they just exec.
 */
static int go_on_as(int dir, const char *path, char *const argv[], char *const envp[], int flags)
{
	char room[40];
	const char *name = name_of_file(dir, path, flags, room);
	long ret;
	int told = 0;

	/* most failing calls are the search along PATH: these must not cost an interval each */
	if (mt_process_is_own() && mt_sys(SYS_faccessat, dir, name, 1 /* X_OK */) == 0) {
		mt_monitor_finish_interval(MT_EVENT_EXEC);
		describe_end();
		told = 1;
	}
	ret = envp && refuses_us(dir, name) ? exec_foreign(dir, path, argv, envp, flags) : exec(dir, path, argv, envp, flags);
	if (told)
		mt_monitor_exec_failed();
	errno = (int)-ret;
	return -1;
}

int mt_hook_execve(const char *path, char *const argv[], char *const envp[])
{
	return go_on_as(AT_FDCWD, path, argv, envp, 0);
}

int mt_hook_execveat(int fd, const char *path, char *const argv[], char *const envp[], int flags)
{
	return go_on_as(fd, path, argv, envp, flags);
}

/* As libc does it, which says EINVAL of what it is not given. */
int mt_hook_fexecve(int fd, char *const argv[], char *const envp[])
{
	if (fd < 0 || !argv || !envp) {
		errno = EINVAL;
		return -1;
	}
	return go_on_as(fd, "", argv, envp, AT_EMPTY_PATH);
}

void mt_hook_exit(int status)
{
	if (mt_process_is_own()) {
		mt_monitor_finish_interval(MT_EVENT_EXIT);
		describe_end();
	}
	mt_quiet_end();
	for (;;) {
		mt_sys(SYS_exit_group, status);
		mt_sys(SYS_exit, status);
	}
}
