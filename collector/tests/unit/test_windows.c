// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// uses: cli/record/windows.c cli/table/args.c cli/base/util.c common/out.c
// includes: preload/exact/windows.c
// libs: -lm -lzstd -lz
/* record --exact --windows: what may be asked for, and when the monitor turns the gates. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness.h"
#include "cli/table/args.h"
#include "cli/table/command.h"
#include "cli/base/util.h"
#include "cli/record/windows.h"
#include "preload/exact/windows.c"

/* cli/table/args.c wants the commands. */
const struct mt_command mt_commands[] = { { .name = NULL } };
const struct mt_command mt_common = { .name = NULL };

struct mt_process mt_process;
uint32_t gates_are_open;
static int asked;		/* of the monitor by threads: the last, 1 open, 2 close; 0 nothing */

void gates_set(bool open)
{
	gates_are_open = open;
}

static void turn(bool open)
{
	asked = open ? 1 : 2;
}

int mt_process_is_own(void)
{
	return 1;
}

void *mt_rawmap(size_t bytes)
{
	return calloc(1, bytes);
}

void mt_rawunmap(void *p, size_t bytes)
{
	(void)bytes;
	free(p);
}

static void parses(void)
{
	static const struct {
		const char *text;
		enum mt_window_kind kind;
		uint64_t open_ns, period_ns;
		int signal;
	} good[] = {
		{ NULL, MT_WINDOW_NONE, 0, 0, 0 }, { "10%", MT_WINDOW_SHARE, 10000000, 100000000, 0 },
		{ "0.5%", MT_WINDOW_SHARE, 10000000, 2000000000, 0 }, { "90%", MT_WINDOW_SHARE, 10000000, 11111111, 0 },
		{ "100ms/1s", MT_WINDOW_EACH, 100000000, 1000000000, 0 }, { "1ms/2ms", MT_WINDOW_EACH, 1000000, 2000000, 0 },
		{ "api", MT_WINDOW_API, 0, 0, 0 }, { "signal", MT_WINDOW_SIGNAL, 0, 0, SIGUSR2 },
		{ "signal:USR1", MT_WINDOW_SIGNAL, 0, 0, SIGUSR1 }, { "signal:SIGHUP", MT_WINDOW_SIGNAL, 0, 0, SIGHUP },
	};
	static const char *const bad[] = { "", "10", "0%", "0.05%", "91%", "nan%", "%", "1s/1s", "2s/1s", "100us/1s", "1s/2h", "1s/", "/1s",
		"signal:", "signal:KILL", "signals", "apis" };
	struct mt_window_spec s;
	char *why;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CHECK(mt_windows_parse(good[i].text, &s, &why) && !why);
		CHECK_EQ(s.kind, good[i].kind);
		CHECK_EQ(s.open_ns, good[i].open_ns);
		CHECK_EQ(s.period_ns, good[i].period_ns);
		CHECK_EQ(s.signal, good[i].signal);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(!mt_windows_parse(bad[i], &s, &why));
		CHECK(why && strlen(why) > 20);
		free(why);
	}
}

static char folder[] = "/tmp/mt-windows-XXXXXX";
static struct mt_config config;
static struct mt_image img = { .config = &config, .pid = 7 };

static void begin(enum mt_window_kind kind, uint64_t open_ns, uint64_t period_ns, uint64_t now)
{
	unlinkat(img.dirfd, "windows.csv", 0);
	config.windows = kind;
	config.window_open_ns = open_ns;
	config.window_period_ns = period_ns;
	strcpy(config.dir, folder);
	CHECK_EQ(windows_start(&img, now), 0);
}

/* At each time in turn: is it due, and to what? The gates follow. */
static void due(uint64_t now, bool is, bool open)
{
	bool to = !open;

	CHECK_EQ(windows_due(now, &to), is);
	if (!is)
		return;
	CHECK_EQ(to, open);
	w.open = open;			/* windows_turn() with a clock of ours */
	if (open)
		w.opened_ns = now;
	plan(now, open);
}

static void each_period(void)
{
	gates_are_open = 1;
	begin(MT_WINDOW_EACH, 100, 1000, 5000);
	CHECK_EQ(gates_are_open, 0);
	due(5000, true, true);
	due(5099, false, false);
	due(5103, true, false);
	CHECK_EQ(windows_next(), 6000);		/* by the clock, not by when it was closed */
	due(5999, false, false);
	due(6000, true, true);
	due(6100, true, false);
	due(7030, true, true);			/* late: no longer open for it */
	CHECK_EQ(windows_next(), 7100);
	due(7100, true, false);
	due(8050, true, true);
	due(10090, true, false);		/* so late that a period is over, and the next one runs: for its rest */
	CHECK_EQ(windows_next(), 10000);
	due(10091, true, true);
	CHECK_EQ(windows_next(), 10100);
	due(10100, true, false);
	CHECK_EQ(windows_next(), 11000);
}

/* However long the machine lets windows be open, the share is that which was asked for. */
static void share(void)
{
	uint64_t now = 1000000, open = 0, first[20];
	const uint64_t begin_ns = now;
	unsigned int differ = 0;

	begin(MT_WINDOW_SHARE, 10000000, 100000000, now);
	CHECK(windows_next() >= now && windows_next() < now + 90000000);
	for (int i = 0; i < 4000; i++) {
		const uint64_t late = (uint64_t)i % 7 * 1000000;

		now = windows_next() + late;
		due(now - late - 1, false, false);
		due(now, true, true);
		open -= now;
		now = windows_next() + late;
		due(now, true, false);
		open += now;
		if (i < 20) {
			first[i] = windows_next() - now;
			differ += i && first[i] != first[i - 1];
		}
	}
	CHECK(differ == 19);			/* by chance, the seed of which is fixed here */
	CHECK(open * 1000 / (now - begin_ns) >= 95 && open * 1000 / (now - begin_ns) <= 105);
}

static void threads_ask(void)
{
	begin(MT_WINDOW_API, 0, 0, 1);
	mt_process.config.windows = MT_WINDOW_API;
	CHECK_EQ(windows_next(), ~0ull);
	CHECK_EQ(gates_are_open, 0);
	CHECK(windows_saw() == false);
	memtrace_gate_close(NULL);		/* of nobody */
	CHECK_EQ(asked, 0);
	memtrace_gate_open(NULL);
	CHECK_EQ(asked, 1);
	windows_turn(true);
	CHECK_EQ(gates_are_open, 1);
	asked = 0;
	memtrace_gate_open(NULL);
	memtrace_gate_close(NULL);
	CHECK_EQ(asked, 0);			/* nested */
	CHECK(windows_saw() && windows_saw());
	memtrace_gate_close(NULL);
	CHECK_EQ(asked, 2);
	windows_turn(false);
	CHECK_EQ(gates_are_open, 0);
	CHECK(windows_saw());			/* until it closed */
	CHECK(!windows_saw());
	/* another kind of windows: the calls do nothing */
	asked = 0;
	mt_process.config.windows = MT_WINDOW_EACH;
	memtrace_gate_open(NULL);
	CHECK_EQ(asked, 0);
	/* a child of fork in a window goes on in it */
	mt_process.config.windows = MT_WINDOW_API;
	memtrace_gate_open(NULL);
	api_lock.word = 1;			/* a thread of the parent, that the child does not have */
	windows_after_fork();
	begin(MT_WINDOW_API, 0, 0, 9);
	CHECK_EQ(gates_are_open, 1);
	CHECK(windows_saw());
	memtrace_gate_close(NULL);
	CHECK_EQ(asked, 2);
}

static void signals_turn(void)
{
	CHECK_EQ(mt_windows_share(folder), 0);
	gates_are_open = 0;
	begin(MT_WINDOW_SIGNAL, 0, 0, 1000);
	due(1000, false, false);
	CHECK_EQ(windows_next(), 1000 + LOOK_NS);
	mt_windows_signalled();
	due(1000 + LOOK_NS - 1, false, false);
	due(1000 + LOOK_NS, true, true);
	due(1000 + 2 * LOOK_NS, false, true);
	mt_windows_signalled();
	mt_windows_signalled();			/* between two looks: nothing to turn */
	due(1000 + 3 * LOOK_NS, false, true);
	mt_windows_signalled();
	due(1000 + 4 * LOOK_NS, true, false);
	mt_windows_unshare(folder);
	mt_windows_signalled();			/* too late, and harmless */
	begin(MT_WINDOW_SIGNAL, 0, 0, 1000);	/* the launcher is gone */
	due(1000, false, false);
}

static void told(void)
{
	char text[100] = "", want[100];
	int fd;

	begin(MT_WINDOW_API, 0, 0, 123);
	fd = openat(img.dirfd, "windows.csv", O_RDONLY);
	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	snprintf(want, sizeof(want), "Time,Open\n123,0\n");
	CHECK_STR(text, want);
	close(fd);
	begin(MT_WINDOW_NONE, 0, 0, 5);	/* none: always seen, and no file */
	CHECK(faccessat(img.dirfd, "windows.csv", F_OK, 0) != 0);
	CHECK(windows_saw() && windows_saw());
	CHECK_EQ(windows_next(), ~0ull);
	windows_turn(true);
	CHECK(faccessat(img.dirfd, "windows.csv", F_OK, 0) != 0);
}

int main(void)
{
	mt_windows_turn = turn;
	char *rm;

	if (!mkdtemp(folder))
		return 1;
	img.dirfd = open(folder, O_RDONLY | O_DIRECTORY);
	parses();
	each_period();
	share();
	threads_ask();
	signals_turn();
	told();
	rm = mt_printf("rm -r %s", folder);
	CHECK_EQ(system(rm), 0);
	free(rm);
	return mt_test_done();
}
