/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
#include "cli/base/processes.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/base/util.h"

static const char *proc = "/proc";	/* tests have one of their own */

/* The next name that is a number, 0: there is none. */
static pid_t next_number(DIR *d)
{
	for (struct dirent *e; d && (e = readdir(d));)
		if (isdigit((unsigned char)e->d_name[0]))
			return (pid_t)strtol(e->d_name, NULL, 10);
	return 0;
}

void mt_threads_open(struct mt_threads *t, pid_t pid)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/%d/task", proc, (int)pid);
	t->pid = pid;
	t->dir = opendir(path);
}

pid_t mt_threads_next(struct mt_threads *t)
{
	pid_t tid = next_number(t->dir);

	if (!tid && t->dir) {
		closedir(t->dir);
		t->dir = NULL;
	}
	return tid;
}

/* Reads as much of a file as there is room for, in pieces, with a 0 at the end. 0: there is nothing. */
static size_t slurp(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t n;

	while (fd >= 0 && have + 1 < size && (n = read(fd, text + have, size - 1 - have)) > 0)
		have += (size_t)n;
	if (fd >= 0)
		close(fd);
	text[have] = 0;
	return have;
}

bool mt_thread_file(pid_t pid, pid_t tid, const char *name, char *text, size_t size)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%d/task/%d/%s", proc, (int)pid, (int)tid, name);
	return slurp(path, text, size) > 0;
}

int mt_thread_running(pid_t pid, pid_t tid)
{
	char text[1024];
	const char *state, *cpu;

	if (!mt_thread_file(pid, tid, "stat", text, sizeof(text)))
		return -1;
	state = mt_stat_field(text, 3);
	cpu = mt_stat_field(text, 39);
	return state && *state == 'R' && cpu && isdigit((unsigned char)*cpu) ? (int)strtol(cpu, NULL, 10) : -1;
}

/* The inode number of the process namespace of a process ("self": this one), 0: it is not told. */
static uint64_t namespace_of(const char *process)
{
	char path[400];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s/ns/pid", proc, process);
	return stat(path, &st) ? 0 : (uint64_t)st.st_ino;
}

/* The number of a process in its own namespace: the last one of NSpid (Linux 4.1). */
static pid_t innermost(pid_t pid)
{
	char path[400], text[4096], *at;

	snprintf(path, sizeof(path), "%s/%d/status", proc, (int)pid);
	at = slurp(path, text, sizeof(text)) ? strstr(text, "\nNSpid:") : NULL;
	if (!at)
		return 0;
	at[strcspn(at + 1, "\n") + 1] = 0;
	at = strrchr(at, '\t');
	return at ? (pid_t)strtol(at, NULL, 10) : 0;
}

pid_t mt_process_of_namespace(uint64_t ns, pid_t pid)
{
	static uint64_t ended;		/* a namespace that is over stays so: many images may have been in it */
	pid_t found = 0, there;
	bool any = false;
	DIR *d;

	if (!ns || ns == namespace_of("self"))
		return pid;
	if (ns == ended)
		return 0;
	d = opendir(proc);
	while (!found && (there = next_number(d))) {
		char name[16];

		snprintf(name, sizeof(name), "%d", (int)there);
		if (namespace_of(name) != ns)
			continue;
		any = true;
		if (innermost(there) == pid)
			found = there;
	}
	if (d)
		closedir(d);
	if (!any)
		ended = ns;
	return found;
}

bool mt_processes_has(const struct mt_processes *p, pid_t pid)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->pid[i] == pid)
			return true;
	return false;
}

void mt_processes_add(struct mt_processes *p, pid_t pid)
{
	if (mt_processes_has(p, pid))
		return;
	MT_GROW(p->pid, p->n, p->cap);
	p->pid[p->n++] = pid;
}

/* Adds what the kernel lists as the children of a thread. */
static void add_listed(struct mt_processes *p, pid_t pid, pid_t tid)
{
	char path[400], *text;

	snprintf(path, sizeof(path), "%s/%d/task/%d/children", proc, (int)pid, (int)tid);
	text = mt_read_file(path, NULL);
	for (char *at = text, *end; at && *at; at = end) {
		long child = strtol(at, &end, 10);

		if (end == at)
			break;
		if (child > 0)
			mt_processes_add(p, (pid_t)child);
	}
	free(text);
}

/* Without lists (CONFIG_PROC_CHILDREN): the parents of all processes, in whatever order /proc has them. */
static void add_by_parents(struct mt_processes *p)
{
	size_t last;

	do {
		DIR *d = opendir(proc);
		pid_t pid;

		last = p->n;
		while ((pid = next_number(d))) {
			char path[300], text[1024];
			const char *parent;

			if (mt_processes_has(p, pid))
				continue;
			snprintf(path, sizeof(path), "%s/%d/stat", proc, (int)pid);
			parent = slurp(path, text, sizeof(text)) > 0 ? mt_stat_field(text, 4) : NULL;
			if (parent && mt_processes_has(p, (pid_t)strtol(parent, NULL, 10)))
				mt_processes_add(p, pid);
		}
		if (d)
			closedir(d);
	} while (p->n > last);
}

size_t mt_processes_below(struct mt_processes *p, void (*thread)(void *arg, pid_t pid, pid_t tid), void *arg)
{
	const size_t before = p->n;
	char path[300];
	bool listed;

	snprintf(path, sizeof(path), "%s/thread-self/children", proc);
	listed = mt_exists(path);
	if (!listed)
		add_by_parents(p);
	for (size_t i = 0; i < p->n && (listed || thread); i++) {
		struct mt_threads t;

		mt_threads_open(&t, p->pid[i]);
		for (pid_t tid; (tid = mt_threads_next(&t));) {
			if (listed)
				add_listed(p, p->pid[i], tid);
			if (thread)
				thread(arg, p->pid[i], tid);
		}
	}
	return p->n - before;
}
