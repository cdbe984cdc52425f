/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * signals.h - signals while a program is recorded: those that are sent to the recorder alone go to the program; those of the terminal
 * reach it anyway. A program that SIGTERM does not end is killed.
 */
#ifndef MEMTRACE_CLI_SIGNALS_H
#define MEMTRACE_CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#define MT_SIGNALS_FORWARDED 11
#define MT_SIGNALS_IGNORED 4

/* As they were. */
struct mt_signals {
	struct sigaction forwarded[MT_SIGNALS_FORWARDED], ignored[MT_SIGNALS_IGNORED];
	sigset_t mask;
};

/* From now on. @window: the signal of --windows, or 0; @on_node: the parent that is the terminal there, or 0. */
void mt_signals_take(struct mt_signals *s, int window, pid_t on_node);
void mt_signals_give_back(const struct mt_signals *s);
/* Who gets signals; 0: nobody. @own: it is the program, not a recorder of a run of --repeat. */
void mt_signals_child(pid_t child, bool own);
/* We killed it. */
bool mt_signals_killed(void);
/* For --repeat: takes what ends a repetition and hands it on to the recorder of the run. */
void mt_signals_repeat(pid_t on_node);
void mt_signals_default(void);
/* What ended the repetition, or 0. */
int mt_signals_stopped(void);
/* Ends like the program did, without a second core file. */
void mt_end_by_signal(int sig);

#endif
