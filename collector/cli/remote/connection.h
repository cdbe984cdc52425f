/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * connection.h - commands on a node, by the system's ssh. While one of them is waited for, signals are numbers in a pipe: those that a
 * program would get are passed on or end us. One connection at a time, from the thread that took the signals.
 */
#ifndef MEMTRACE_CLI_CONNECTION_H
#define MEMTRACE_CLI_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

extern int mt_ssh_events[2];	/* numbers of signals, to be read from the first */
extern int mt_ssh_stop;	/* one that ends us, when there is no program to pass it to; 0: none */

/* Signals go to mt_ssh_events from now on. 0 or a negative errno. */
int mt_ssh_signals_take(void);
/* Takes what is in the pipe: mt_ssh_stop. */
void mt_ssh_signals_look(void);
/*
 * Waits until a file can be read or written; -1 as a file: for that time. 0, -EINTR after a signal that ends us, or -ETIMEDOUT.
 */
int mt_ssh_ready(int fd, short what, int wait_ms);

struct mt_ssh {
	char **words;		/* before the command */
	char *control;		/* folder of the socket of our own connection, or NULL */
};

/* A connection that the user's own ssh shares already is used, else we share one of ours. */
void mt_ssh_open(struct mt_ssh *s, const char *host);
/* Ends our own connection; also one that was never opened. */
void mt_ssh_close(struct mt_ssh *s);
/* Runs ssh with @command; a file of -1 is /dev/null. Signals do not reach it: the program gets them, or we end it. */
pid_t mt_ssh_spawn(const struct mt_ssh *s, const char *command, int in, int out, bool silent);
/* Its exit code; 255 also when a signal ended it. */
int mt_ssh_join(pid_t pid);

/* A command of the node, with ends of its input and output here. */
struct mt_talk {
	pid_t pid;
	int in, out;
	char data[64 << 10];
	size_t at, end;
};

/* 0 or a negative errno. */
int mt_talk_begin(const struct mt_ssh *s, struct mt_talk *t, const char *command);
/* @talk: a struct mt_talk. 0 or a negative errno, -EINTR after a signal that ends us. */
int mt_talk_put(void *talk, const void *data, size_t n);
/* That was all of the input. */
void mt_talk_said(struct mt_talk *t);
/* Reads on when nothing is left. 0, -EPIPE at the end, -EINTR. */
int mt_talk_more(struct mt_talk *t);
/* Text to the next @end, without it; NULL with *err. To be freed. */
char *mt_talk_text(struct mt_talk *t, char end, int *err);
/* Ends it, at once when @now. Exit code. */
int mt_talk_end(struct mt_talk *t, bool now);

void mt_remove_tree(const char *path);

#endif
