/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* worker.c - which word of a command is the program that does the work. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/program.h"
#include "cli/base/util.h"
#include "cli/record/worker.h"

enum { MOST_WORDS = 32 };

/* Programs that start the one behind their options. */
static const struct starter {
	const char *name;
	const char *values;	/* options with their value in the next word, each with a blank around it */
	int words;		/* words between the options and the program */
	bool assigns;		/* NAME=VALUE may be there, too */
} starters[] = {
	{ "env", " -u --unset -C --chdir ", 0, true },
	{ "nice", " -n --adjustment ", 0, false },
	{ "ionice", " -c --class -n --classdata ", 0, false },
	{ "nohup", " ", 0, false },
	{ "setsid", " ", 0, false },
	{ "stdbuf", " -i --input -o --output -e --error ", 0, false },
	{ "time", " -f --format -o --output ", 0, false },
	{ "timeout", " -s --signal -k --kill-after ", 1, false },
	{ "chrt", " -T --sched-runtime -P --sched-period -D --sched-deadline ", 1, false },
	{ "taskset", " ", 1, false },
	{ "numactl", " -N --cpunodebind -m --membind -C --physcpubind -i --interleave -p --preferred ", 0, false },
};

static const struct starter *starter_of(const char *word)
{
	for (size_t i = 0; i < sizeof(starters) / sizeof(starters[0]); i++)
		if (!strcmp(starters[i].name, mt_base(word)))
			return &starters[i];
	return NULL;
}

static bool has_value(const struct starter *s, const char *option)
{
	char *padded = mt_printf(" %s ", option);
	const bool has = strstr(s->values, padded);

	free(padded);
	return has;
}

/* Number of the word behind the options of the starter at word 0; @argc when there is none. */
static int behind(const struct starter *s, int argc, char *const *argv)
{
	int i = 1;

	while (i < argc && (argv[i][0] == '-' || (s->assigns && strchr(argv[i], '=')))) {
		if (!strcmp(argv[i], "--"))
			return i + 1 + s->words;
		if (!strcmp(argv[i], "-S") || !strncmp(argv[i], "--split-string", strlen("--split-string")) || !strcmp(argv[i], "-p"))
			return argc;	/* the command is one word; or a process that runs already */
		i += has_value(s, argv[i]) ? 2 : 1;
	}
	return i + s->words;
}

static bool is_shell(const char *word)
{
	const char *b = mt_base(word);

	return !strcmp(b, "sh") || !strcmp(b, "dash") || !strcmp(b, "bash") || !strcmp(b, "zsh") || !strcmp(b, "ksh");
}

/* The one command of sh -c TEXT as words in @words, which point into the text that is returned; NULL when it is none, or not certain. */
static char *command_of_shell(int argc, char *const *argv, char **words, int *count)
{
	char *text, *save = NULL;

	if (argc < 3 || strcmp(argv[1], "-c") || strpbrk(argv[2], ";&|\n`$(){}\"'\\*?["))
		return NULL;
	text = mt_strdup(argv[2]);
	*count = 0;
	for (char *w = strtok_r(text, " \t", &save); w && *count < MOST_WORDS; w = strtok_r(NULL, " \t", &save))
		if (*count || (strcmp(w, "exec") && !strchr(w, '=')))
			words[(*count)++] = w;
	return text;
}

static char *name_of(int argc, char *const *argv, int depth)
{
	const struct starter *s = starter_of(argv[0]);
	char *words[MOST_WORDS], *text, *path, *name = NULL;
	int code, count = 0, at;

	if (!s && !is_shell(argv[0])) {
		path = mt_program_find(argv[0], &code);
		name = path ? mt_strdup(mt_base(argv[0])) : NULL;
		free(path);
	} else if (depth && s) {
		at = behind(s, argc, argv);
		name = at < argc ? name_of(argc - at, argv + at, depth - 1) : NULL;
	} else if (depth) {
		text = command_of_shell(argc, argv, words, &count);
		name = text && count ? name_of(count, words, depth - 1) : NULL;
		free(text);
	}
	return name;
}

char *mt_worker_name(int argc, char *const *argv)
{
	enum { MOST_STARTERS = 8 };
	char *name = name_of(argc, argv, MOST_STARTERS);

	return name ? name : mt_strdup(mt_base(argv[0]));
}
