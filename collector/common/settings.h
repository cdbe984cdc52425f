/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * settings.h - what `memtrace record` tells the library in the program by the environment. The settings stand in settings.list, each once;
 * who adds one reads docs/extend/recorder-option.md.
 */
#ifndef MEMTRACE_SETTINGS_H
#define MEMTRACE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

/* Who sees the accesses, and what the library does for that. */
enum mt_library {
#define LIBRARY(name, word) MT_LIBRARY_##name,
#include "common/settings.list"
	MT_N_LIBRARIES
};

/* When code in the program counts: always; a share of the time; in each period; where the program says; where a signal does. */
enum mt_window_kind { MT_WINDOW_NONE, MT_WINDOW_SHARE, MT_WINDOW_EACH, MT_WINDOW_API, MT_WINDOW_SIGNAL };

enum mt_setting {
#define SETTING(variable, ...) MT_SETTING_##variable,
#define TEXT(variable, ...) MT_SETTING_##variable,
#define INNER(variable, ...) MT_SETTING_##variable,
#define WORD(variable) MT_SETTING_##variable,
#include "common/settings.list"
};

/* The name of a variable as text. One that is not in settings.list does not compile. */
#define MT_VARIABLE(name) ((void)MT_SETTING_##name, #name)

/* The settings of a program, read once (preload/ground/settings.c). */
struct mt_config {
	char dir[4096];			/* the trace directory, absolute */
	char backend[32];		/* its name, for image.json */
	enum mt_library library;
#define SETTING(variable, field, type, ...) type field;
#define INNER(variable, field, type, ...) type field;
#include "common/settings.list"
	unsigned int without;		/* for tests: see mt_without() */
	bool zoom;			/* there are structures to look at closely; see preload/context/suspect.c */
	int parent_image;		/* -1 = this is the root */
	/*
	 * The process that takes orphans here; the process namespace, an inode, in which that is so; an orphan that ended before, and when
	 * (CLOCK_MONOTONIC): if it is still there long after, nobody waits for orphans. 0: the monitor cannot be a process of its own.
	 */
	int reaper, orphan;
	uint64_t reaper_ns_inode, orphan_ns;
};

struct mt_limits {
	uint64_t dflt, min, max;
};

/* What a number is without its variable, and what it is at least and at most. */
static inline struct mt_limits mt_limits(enum mt_setting setting)
{
	switch (setting) {
#define SETTING(variable, field, type, unit, option, dflt, min, max, ...) \
	case MT_SETTING_##variable: return (struct mt_limits){ dflt, min, max };
#define INNER(variable, field, type, dflt, min, max) case MT_SETTING_##variable: return (struct mt_limits){ dflt, min, max };
#include "common/settings.list"
	default: return (struct mt_limits){ 0, 0, UINT64_MAX };
	}
}

/* The library itself traces, by page faults. */
static inline bool mt_traces(enum mt_library l)
{
	return l == MT_LIBRARY_TRACES || l == MT_LIBRARY_HIDES;
}

/* The word for MEMTRACE_LIBRARY. */
static inline const char *mt_library_word(enum mt_library l)
{
	switch (l) {
#define LIBRARY(name, word) case MT_LIBRARY_##name: return word;
#include "common/settings.list"
	default: return "";
	}
}

#endif
