// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/exact/windows.h"

#include <string.h>

#include "preload/exact/gates.h"
#include "preload/ground/process.h"
#include "common/rawsys.h"

#define OUT_BYTES 4096
#define LOOK_NS 10000000	/* so often the monitor looks whether a signal came */

/* Of the monitor. */
static struct {
	const struct mt_config *config;
	uint64_t next_ns, period_ns, opened_ns;	/* period: when that of now began */
	uint64_t random;
	bool open, saw;
	const uint32_t *turns;		/* by signals, of the launcher; odd: open */
	struct mt_out out;
} w;
static char *out_buffer;

void (*mt_windows_turn)(bool open);

/* Windows of threads that are open. */
static struct mt_lock api_lock;
static uint32_t opens;

/* In [0, 1): xorshift64, by Marsaglia. */
static double chance(void)
{
	w.random ^= w.random << 13;
	w.random ^= w.random >> 7;
	w.random ^= w.random << 17;
	return (double)(w.random >> 11) / 9007199254740992.0;
}

static void tell(uint64_t at, bool open)
{
	mt_out_fmt(&w.out, "%llu,%d\n", (unsigned long long)at, (int)open);
	mt_out_flush(&w.out);
}

/* Of the turns of the launcher; NULL: it is gone, or there is no memory. */
static const uint32_t *map_turns(const char *trace)
{
	char path[sizeof(w.config->dir) + 16];
	size_t n = strlen(trace);
	long fd, p;

	memcpy(path, trace, n + 1);
	memcpy(path + n, "/" MT_FILE_TURNS, sizeof("/" MT_FILE_TURNS));
	fd = mt_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
	if (mt_failed(fd))
		return NULL;
	p = mt_sys(SYS_mmap, 0, MT_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	mt_sys(SYS_close, fd);
	return mt_failed(p) ? NULL : (const uint32_t *)p;
}

int windows_start(const struct mt_image *img, uint64_t now)
{
	const struct mt_config *c = img->config;
	int fd;

	memset(&w, 0, sizeof(w));
	w.config = c;
	w.next_ns = ~0ull;
	w.saw = true;
	if (!c->windows)
		return 0;
	if (!out_buffer)
		out_buffer = mt_rawmap(OUT_BYTES);
	if (!out_buffer)
		return -ENOMEM;
	fd = (int)mt_sys(SYS_openat, img->dirfd, MT_FILE_WINDOWS, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return fd;
	mt_out_init(&w.out, fd, out_buffer, OUT_BYTES);
	mt_out_str(&w.out, "Time,Open\n");
	w.random = (now ^ (uint64_t)img->pid << 40) | 1;
	w.period_ns = now;
	w.saw = false;
	switch (c->windows) {
	case MT_WINDOW_SHARE:
		gates_set(false);
		w.next_ns = now + (uint64_t)((double)(c->window_period_ns - c->window_open_ns) * chance());
		break;
	case MT_WINDOW_EACH:
		gates_set(false);
		w.next_ns = now;
		break;
	case MT_WINDOW_SIGNAL:
		w.turns = map_turns(c->dir);
		w.next_ns = now;
		break;
	default:
		gates_set(__atomic_load_n(&opens, __ATOMIC_ACQUIRE) != 0);
		break;
	}
	w.open = w.saw = gates_are_open != 0;
	tell(now, w.open);
	return 0;
}

uint64_t windows_next(void)
{
	return w.next_ns;
}

/* The turn after one to @open. */
static void plan(uint64_t now, bool open)
{
	const struct mt_config *c = w.config;

	if (c->windows == MT_WINDOW_SHARE) {
		/*
		 * Windows take as long as the machine lets them, so the time between them follows from the time they took,
		 * and the share is right. By chance it is half as long or up to half as long again, so that windows do not fall
		 * in step with the program.
		 */
		double closed = (double)(now - w.opened_ns) * (double)(c->window_period_ns - c->window_open_ns) / (double)c->window_open_ns;

		w.next_ns = now + (open ? c->window_open_ns : (uint64_t)(closed * (0.5 + chance())));
	} else if (c->windows == MT_WINDOW_EACH) {
		if (open) {
			w.next_ns = w.period_ns + c->window_open_ns;
		} else {
			do
				w.period_ns += c->window_period_ns;
			while (w.period_ns + c->window_open_ns <= now);
			w.next_ns = w.period_ns;
		}
	}
}

bool windows_due(uint64_t now, bool *open)
{
	if (now < w.next_ns)
		return false;
	*open = !w.open;
	if (w.config->windows == MT_WINDOW_SIGNAL) {
		w.next_ns = now + LOOK_NS;
		*open = w.turns && __atomic_load_n(w.turns, __ATOMIC_ACQUIRE) & 1;
	}
	return *open != w.open;
}

void windows_turn(bool open)
{
	uint64_t now;

	if (!w.config || !w.config->windows || open == w.open)
		return;
	gates_set(open);
	now = mt_now_ns();
	w.open = open;
	if (open) {
		w.opened_ns = now;
		w.saw = true;
	}
	tell(now, open);
	plan(now, open);
}

bool windows_saw(void)
{
	const bool saw = w.saw;

	w.saw = w.open || !w.config || !w.config->windows;
	return saw;
}

void windows_after_fork(void)
{
	mt_rawunmap(out_buffer, OUT_BYTES);
	out_buffer = NULL;
	api_lock.word = 0;
}

/* ---- for the program. Called by name only, through dlsym(), by count/api/memtrace.h. Threads of the program. */

#define EXPORTED __attribute__((visibility("default")))
EXPORTED void memtrace_gate_open(const char *unused);
EXPORTED void memtrace_gate_close(const char *unused);

static void count_open(bool open)
{
	uint64_t mask;

	if (mt_process.config.windows != MT_WINDOW_API || !mt_process_is_own())
		return;
	mask = mt_block_signals();
	mt_lock(&api_lock);
	if (open && !opens++)
		mt_windows_turn(true);
	else if (!open && opens && !--opens)
		mt_windows_turn(false);
	mt_unlock(&api_lock);
	mt_restore_signals(mask);
}

void memtrace_gate_open(const char *unused)
{
	(void)unused;
	count_open(true);
}

void memtrace_gate_close(const char *unused)
{
	(void)unused;
	count_open(false);
}
