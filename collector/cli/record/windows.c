/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/record/windows.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/table/args.h"
#include "cli/base/util.h"
#include "common/tracenames.h"

#define SHARE_OPEN_NS 10000000u	/* how long a window of a share is open */
#define SHORTEST_NS 1000000u
#define LONGEST_NS 3600000000000ull
#define FORMS "a share (10%%), open times and periods (100ms/1s), api, or signal"

static const struct {
	const char *name;
	int number;
} signals[] = { { "USR1", SIGUSR1 }, { "USR2", SIGUSR2 }, { "HUP", SIGHUP }, { "ALRM", SIGALRM }, { "WINCH", SIGWINCH },
		{ "VTALRM", SIGVTALRM }, { "PROF", SIGPROF } };

static uint32_t *turns;		/* of the file */

static bool parse_share(const char *text, struct mt_window_spec *s, char **why)
{
	char *end;
	const double percent = strtod(text, &end);

	if (end == text || strcmp(end, "%"))
		return false;
	if (!(percent >= 0.1 && percent <= 90))
		*why = mt_printf("'%s': a share is 0.1%% to 90%%", text);
	s->kind = MT_WINDOW_SHARE;
	s->open_ns = SHARE_OPEN_NS;
	s->period_ns = *why ? 0 : (uint64_t)(SHARE_OPEN_NS * 100.0 / percent + 0.5);
	return true;
}

static bool parse_times(const char *text, struct mt_window_spec *s, char **why)
{
	const char *slash = strchr(text, '/');
	char *open = slash ? strndup(text, (size_t)(slash - text)) : NULL;
	const bool is = open && !mt_parse_duration_ns(open, &s->open_ns) && !mt_parse_duration_ns(slash + 1, &s->period_ns);

	free(open);
	if (is && (s->open_ns < SHORTEST_NS || s->period_ns <= s->open_ns || s->period_ns > LONGEST_NS))
		*why = mt_printf("'%s': a window is open for at least 1ms, and its period is longer, up to an hour", text);
	s->kind = MT_WINDOW_EACH;
	return is;
}

bool mt_windows_parse(const char *text, struct mt_window_spec *s, char **why)
{
	memset(s, 0, sizeof(*s));
	*why = NULL;
	if (!text)
		return true;
	if (!strcmp(text, "api")) {
		s->kind = MT_WINDOW_API;
	} else if (!strcmp(text, "signal") || !strncmp(text, "signal:", 7)) {
		const char *name = text[6] ? text + 7 : "USR2";

		s->kind = MT_WINDOW_SIGNAL;
		name += strncmp(name, "SIG", 3) ? 0 : 3;
		for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
			if (!strcmp(name, signals[i].name))
				s->signal = signals[i].number;
		if (!s->signal)
			*why = mt_printf("'%s': signal:USR1, USR2, HUP, ALRM, WINCH, VTALRM or PROF", text);
	} else if (!parse_share(text, s, why) && !parse_times(text, s, why)) {
		*why = mt_printf("'%s' is none of these: " FORMS, text);
	}
	return !*why;
}

int mt_windows_share(const char *trace)
{
	char *path = mt_printf("%s/" MT_FILE_TURNS, trace);
	const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int err = fd < 0 || ftruncate(fd, 4096) ? -errno : 0;
	void *p = err ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (!err && p == MAP_FAILED)
		err = -errno;
	if (!err)
		turns = p;
	if (fd >= 0)
		close(fd);
	free(path);
	return err;
}

void mt_windows_signalled(void)
{
	if (turns)
		__atomic_add_fetch(turns, 1, __ATOMIC_RELEASE);
}

void mt_windows_unshare(const char *trace)
{
	char *path = mt_printf("%s/" MT_FILE_TURNS, trace);
	uint32_t *p = turns;

	turns = NULL;
	if (p)
		munmap(p, 4096);
	unlink(path);
	free(path);
}
