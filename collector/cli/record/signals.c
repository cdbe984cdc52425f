/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/record/signals.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cli/record/windows.h"

#define TERM_PATIENCE_S 5	/* then a program that SIGTERM does not end is killed */
#define TERM_AGAIN_MS 1000	/* a SIGTERM so long after the first one says it again: timeout(1) sends two at once */
#define N(a) (sizeof(a) / sizeof((a)[0]))

static const int forwarded[MT_SIGNALS_FORWARDED] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGVTALRM,
						     SIGPROF, SIGPIPE };
/* SIGXFSZ: where files are limited, a write of ours fails and is reported */
static const int ignored[MT_SIGNALS_IGNORED] = { SIGTSTP, SIGTTIN, SIGTTOU, SIGXFSZ };
static const int stopping[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };

/* What a handler needs: it has no argument of ours. */
static struct {
	volatile sig_atomic_t child, own, killed, asked_to_end, stopped;
	int window;
	pid_t on_node;
} at;

static void kill_program(void)
{
	at.killed = 1;
	kill(at.child, SIGKILL);
}

/* SIGTERM went to the program: it has to end. In a handler, with all signals blocked. */
static void expect_end(void)
{
	static uint64_t asked_ns;
	struct timespec now;
	uint64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &now);
	ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	if (!at.asked_to_end) {
		at.asked_to_end = 1;
		asked_ns = ns;
		alarm(TERM_PATIENCE_S);
	} else if (ns - asked_ns >= TERM_AGAIN_MS * 1000000ull) {
		kill_program();
	}
}

/*
 * A signal sent by a process (not by the terminal): hand it on. The parent on a node is the terminal: what it sends
 * for Ctrl-C and Ctrl-\ it sends to the whole group.
 */
static void forward(int sig, siginfo_t *si, void *uc)
{
	int err = errno;

	(void)uc;
	if (sig == SIGALRM && si->si_code > 0 && at.asked_to_end) {
		if (at.child > 0)	/* our patience is over */
			kill_program();
	} else if (at.window && sig == at.window) {
		mt_windows_signalled();
	} else if (at.child > 0 && si->si_code <= 0 && si->si_pid != at.child &&
	    !(at.on_node && si->si_pid == at.on_node && (sig == SIGINT || sig == SIGQUIT))) {
		kill(at.child, sig);
		if (sig == SIGTERM && at.own)
			expect_end();
	}
	errno = err;
}

void mt_signals_take(struct mt_signals *s, int window, pid_t on_node)
{
	struct sigaction a = { .sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction ign = { .sa_handler = SIG_IGN };

	at.window = window;
	at.on_node = on_node;
	sigprocmask(SIG_SETMASK, NULL, &s->mask);
	sigfillset(&a.sa_mask);
	for (size_t i = 0; i < N(forwarded); i++)
		sigaction(forwarded[i], &a, &s->forwarded[i]);
	for (size_t i = 0; i < N(ignored); i++)
		sigaction(ignored[i], &ign, &s->ignored[i]);
}

void mt_signals_give_back(const struct mt_signals *s)
{
	for (size_t i = 0; i < N(forwarded); i++)
		sigaction(forwarded[i], &s->forwarded[i], NULL);
	for (size_t i = 0; i < N(ignored); i++)
		sigaction(ignored[i], &s->ignored[i], NULL);
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
}

/* For the runs of --repeat: the recorder of the run gets what was sent to us alone, and there is no further run. */
static void stop_repeating(int sig, siginfo_t *si, void *uc)
{
	at.stopped = sig;
	forward(sig, si, uc);
}

/* Ends like the program did, without a second core file. */
void mt_end_by_signal(int sig)
{
	struct rlimit none = { 0, 0 };
	sigset_t set;

	setrlimit(RLIMIT_CORE, &none);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	fflush(NULL);
	raise(sig);
}

void mt_signals_child(pid_t child, bool own)
{
	at.own = own;
	at.child = child;
}

bool mt_signals_killed(void)
{
	return at.killed;
}

void mt_signals_repeat(pid_t on_node)
{
	struct sigaction act = { .sa_sigaction = stop_repeating, .sa_flags = SA_SIGINFO | SA_RESTART };

	at.on_node = on_node;
	for (size_t i = 0; i < N(stopping); i++)
		sigaction(stopping[i], &act, NULL);
}

void mt_signals_default(void)
{
	for (size_t i = 0; i < N(stopping); i++)
		signal(stopping[i], SIG_DFL);
}

int mt_signals_stopped(void)
{
	return at.stopped;
}
