/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * processes.h - processes and threads that run now, as /proc has them. What ends meanwhile is left out.
 */
#ifndef MEMTRACE_PROCESSES_H
#define MEMTRACE_PROCESSES_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* for (tid...; (tid = mt_threads_next(&t));) after mt_threads_open() */
struct mt_threads {
	pid_t pid;
	DIR *dir;
};

/* The threads of @pid, in the order of /proc; none, if there is no such process. */
void mt_threads_open(struct mt_threads *t, pid_t pid);
/* 0: there are no more, and the directory is closed. */
pid_t mt_threads_next(struct mt_threads *t);

/* Reads the file @name of a thread into @text, with a 0 at its end. Returns whether there was something. */
bool mt_thread_file(pid_t pid, pid_t tid, const char *name, char *text, size_t size);

/* The CPU on which a thread runs or waits to run, -1: it does neither. */
int mt_thread_running(pid_t pid, pid_t tid);

/*
 * The process that is called @pid in the process namespace with inode number @ns (of /proc/PID/ns/pid), by the number it
 * has here; 0: there is none, or it must not be looked at. With @ns 0 and in this process's own namespace that is @pid.
 */
pid_t mt_process_of_namespace(uint64_t ns, pid_t pid);

struct mt_processes {
	pid_t *pid;
	size_t n, cap;
};

bool mt_processes_has(const struct mt_processes *p, pid_t pid);
void mt_processes_add(struct mt_processes *p, pid_t pid);	/* once */

/*
 * Adds the children of those in @p, and theirs. @thread, if there is one, is called for each thread of all of them
 * that is met on the way. Returns how many processes were new.
 */
size_t mt_processes_below(struct mt_processes *p, void (*thread)(void *arg, pid_t pid, pid_t tid), void *arg);

#endif
