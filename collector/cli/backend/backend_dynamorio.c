/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * backend_dynamorio.c - every access of any program is counted by a client of DynamoRIO (engines/dynamorio/), under which the
 * program runs; the preload library, in the program, asks it for the counts and writes them (preload/exact/counting.c).
 * DynamoRIO is not ours: it is found by DYNAMORIO_HOME, or by drrun in PATH.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/backend/backend.h"
#include "cli/base/program.h"
#include "cli/base/self.h"
#include "cli/base/util.h"

struct session {
	char *drrun, *client, *preload;
};

/* The client is in a folder beside the preload library. To be freed. */
static char *client_of(const char *preload)
{
	return mt_printf("%.*sdynamorio/client.so", (int)(mt_base(preload) - preload), preload);
}

/* NULL: there is none. To be freed. */
static char *find_drrun(void)
{
	const char *home = getenv("DYNAMORIO_HOME");
	char *path, real[PATH_MAX];
	int code;

	if (home && *home) {
		path = mt_printf("%s/bin64/drrun", home);
		if (!access(path, X_OK))
			return path;
		free(path);
		return NULL;
	}
	path = mt_program_find("drrun", &code);
	/* it looks for its libraries beside itself */
	if (!path || !realpath(path, real)) {
		free(path);
		return NULL;
	}
	free(path);
	return mt_strdup(real);
}

/* The words that run a program under the client. NULL-ended, with room for @more words behind them. */
static char **words_of(const char *drrun, const char *client, const char *preload, size_t more)
{
	char **v = mt_alloc((more + 12) * sizeof(*v));
	size_t k = 0;

	v[k++] = (char *)drrun;
	v[k++] = (char *)"-quiet";
	v[k++] = (char *)"-c";
	v[k++] = (char *)client;
	v[k++] = (char *)preload;
	v[k++] = (char *)"--";
	v[k] = NULL;
	return v;
}

static size_t count_of(char *const v[])
{
	size_t n = 0;

	while (v[n])
		n++;
	return n;
}

/* What a command says, at most @bytes - 1 of it, and its status of wait(2); -1: it was not run. */
static int run(char **words, char *text, size_t bytes)
{
	int out[2] = { -1, -1 }, status = -1;
	size_t have = 0;
	ssize_t n;
	pid_t pid;

	text[0] = 0;
	if (pipe(out))
		return -1;
	pid = fork();
	if (!pid) {
		dup2(out[1], 1);
		dup2(out[1], 2);
		close(out[0]);
		close(out[1]);
		unsetenv("LD_PRELOAD");
		execv(words[0], words);
		_exit(126);
	}
	close(out[1]);
	while (have < bytes - 1 && (n = read(out[0], text + have, bytes - 1 - have)) > 0)
		have += (size_t)n;
	text[have] = 0;
	close(out[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

/* "11.3.0"; NULL: it does not run. To be freed. */
static char *version(const char *drrun)
{
	char *words[] = { (char *)drrun, (char *)"-version", NULL }, text[200], *v;

	if (run(words, text, sizeof(text)) || !(v = strstr(text, "version ")))
		return NULL;
	v += 8;
	v[strcspn(v, " \n")] = 0;
	return mt_strdup(v);
}

/* Does it run a program with our client? What it says if not. To be freed. */
static char *complaint(const char *drrun, const char *client, const char *preload)
{
	char **words = words_of(drrun, client, preload, 2), text[400];
	const size_t n = count_of(words);
	int status;

	words[n] = (char *)"/bin/true";
	words[n + 1] = NULL;
	status = run(words, text, sizeof(text));
	free(words);
	text[strcspn(text, "\n")] = 0;
	if (!status)
		return NULL;
	return mt_strdup(*text ? text : "it ends without a word");
}

static void probe(const struct mt_probe *p, struct mt_backend_probe *b)
{
	char *drrun, *client, *found = NULL, *said = NULL;

	if (!p->preload) {
		b->why = mt_strdup("libmemtrace-preload.so is not beside this program");
		return;
	}
	drrun = find_drrun();
	client = client_of(p->preload);
	if (!drrun) {
		b->why = mt_strdup("there is no DynamoRIO: DYNAMORIO_HOME is not the folder of one, and drrun is not in PATH");
		b->fix = mt_strdup("export DYNAMORIO_HOME=FOLDER");
	} else if (!(found = version(drrun))) {
		b->why = mt_printf("%s does not run", drrun);
	} else if (access(client, R_OK)) {
		b->why = mt_printf("this memtrace was built without its client of DynamoRIO, because DYNAMORIO_HOME was not set then; %s is DynamoRIO %s",
				   drrun, found);
		b->fix = mt_printf("DYNAMORIO_HOME=%.*s memtrace build", (int)(strlen(drrun) - strlen("/bin64/drrun")), drrun);
	} else if ((said = complaint(drrun, client, p->preload))) {
		b->why = mt_printf("%s does not run the client of this memtrace: %s", drrun, said);
		b->fix = mt_printf("DYNAMORIO_HOME=%.*s memtrace build", (int)(strlen(drrun) - strlen("/bin64/drrun")), drrun);
	} else {
		b->works = MT_YES;
		b->why = mt_strdup("every access of any program is counted, libraries, stack and system calls included; a program takes 1.5 to 12 times "
				   "the CPU time, and its threads run in parallel");
		mt_probe_note(b, "tool", MT_YES, "DynamoRIO %s (%s)", found, drrun);
		mt_probe_note(b, "programs", MT_PARTLY, "dynamically linked ones for 64 bits, and what they start; none that gain privileges");
	}
	free(said);
	free(found);
	free(client);
	free(drrun);
}

static json_t *guarantee(const struct mt_backend_probe *b, const struct mt_backend_request *r)
{
	(void)b, (void)r;
	return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s}", "granularity_bytes", 4096, "pages", "complete", "threads", "all",
			 "writes", "exact", "kernel_accesses", "attributed", "counts", "exact", "code", "all");
}

/* Faster than Valgrind, where it is there; hooks are faster, where the program has them. */
static int fits(const char *program, char **why)
{
	char *which = NULL;
	const char *obstacle = mt_program_obstacle(program, &which);

	if (obstacle)
		*why = mt_printf("%s %s", which, obstacle);
	free(which);
	return obstacle ? 0 : 6;
}

static void *open_session(const struct mt_backend_request *r, char **why, char **fix)
{
	struct session *s;
	char *preload = mt_preload_path(), *drrun = find_drrun();

	(void)r, (void)fix;
	if (!preload || !drrun) {
		*why = mt_strdup(preload ? "there is no DynamoRIO" : "libmemtrace-preload.so is not beside this program");
		free(preload);
		free(drrun);
		return NULL;
	}
	s = mt_alloc(sizeof(*s));
	s->drrun = drrun;
	s->client = client_of(preload);
	s->preload = preload;
	mt_note("the program runs under DynamoRIO: it takes 1.5 to 12 times the CPU time");
	return s;
}

static char **command(void *session, const char *program, char *const argv[])
{
	const struct session *s = session;
	const size_t n = count_of(argv);
	char **v = words_of(s->drrun, s->client, s->preload, n + 1);
	size_t k = count_of(v);

	/* the program sees its name as it was typed; drrun looks in PATH, too */
	v[k++] = n && !strchr(argv[0], '/') ? argv[0] : (char *)program;
	for (size_t i = 1; i < n; i++)
		v[k++] = argv[i];
	v[k] = NULL;
	return v;
}

static void finish(void *session, struct mt_backend_result *r)
{
	struct session *s = session;

	(void)r;
	free(s->drrun);
	free(s->client);
	free(s->preload);
	free(s);
}

const struct mt_backend mt_backend_dynamorio = {
	.name = "dynamorio",
	.title = "Exact counts, any program, in parallel",
	.abilities = MT_ABILITY_ACCESSES | MT_ABILITY_EXACT,
	.library = MT_LIBRARY_ASKS_TOOL,
	.probe = probe,
	.guarantee = guarantee,
	.fits = fits,
	.open = open_session,
	.command = command,
	.finish = finish,
};
