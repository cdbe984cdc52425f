/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * backend_valgrind.c - every access of any program is counted by a tool of Valgrind (engines/valgrind/), under which the
 * program runs; the preload library, in the program, asks it for the counts and writes them (preload/exact/counting.c).
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engines/valgrind/alone.h"
#include "cli/backend/backend.h"
#include "cli/base/program.h"
#include "cli/base/self.h"
#include "cli/base/util.h"
#include "cli/backend/valgrind_alone.h"

#define LOG "valgrind-"		/* files of the trace until its end; Valgrind puts the process id behind it */

struct session {
	char *trace;
	char *folder;		/* of the tool */
	bool instructions;
};

/* The folder beside the preload library, which has it. To be freed. */
static char *folder_of(const char *preload)
{
	return mt_printf("%.*svalgrind", (int)(mt_base(preload) - preload), preload);
}

/* What a start of the tool says: "valgrind-3.19.0". NULL, with *err: it does not start. To be freed. */
static char *version(const char *folder, int *err)
{
	char *launcher = mt_printf("%s/launcher", folder), text[128];
	int out[2] = { -1, -1 }, status = 0;
	ssize_t n;
	pid_t pid;

	if (access(launcher, X_OK) || pipe(out)) {
		*err = errno;
		free(launcher);
		return NULL;
	}
	pid = fork();
	if (!pid) {
		char *const words[] = { launcher, (char *)"--command-line-only=yes", (char *)"--version", NULL };

		dup2(out[1], 1);
		dup2(out[1], 2);
		setenv("VALGRIND_LIB", folder, 1);
		execv(launcher, words);
		_exit(126);
	}
	*err = pid < 0 ? errno : EIO;
	close(out[1]);
	n = read(out[0], text, sizeof(text) - 1);
	close(out[0]);
	if (pid > 0)
		waitpid(pid, &status, 0);
	free(launcher);
	if (pid < 0 || n <= 0 || status || strncmp(text, "valgrind-", 9))
		return NULL;
	text[n] = 0;
	text[strcspn(text, "\n")] = 0;
	return mt_strdup(text);
}

static void probe(const struct mt_probe *p, struct mt_backend_probe *b)
{
	char *folder, *found;
	int err;

	if (!p->preload) {
		b->why = mt_strdup("libmemtrace-preload.so is not beside this program");
		return;
	}
	folder = folder_of(p->preload);
	found = version(folder, &err);
	if (found) {
		b->works = MT_YES;
		b->why = mt_strdup("every access of any program is counted, libraries, stack and system calls included; a program takes 1.5 to 25 times "
				   "the CPU time, and its threads run one at a time");
		mt_probe_note(b, "tool", MT_YES, "%s", found);
		mt_probe_note(b, "processor", MT_PARTLY, "as far as Valgrind knows it: the program is told that there is no AVX-512");
		mt_probe_note(b, "programs", MT_PARTLY, "those for 64 bits, and what they start, of static ones without their allocations; none that gain privileges");
	} else if (err == ENOENT) {
		b->why = mt_strdup("this memtrace was built without its tool of Valgrind, because the package valgrind was not there");
		b->fix = mt_strdup("apt-get install valgrind && memtrace build");
	} else {
		b->why = mt_printf("%s/launcher does not run: %s", folder, strerror(err));
	}
	free(found);
	free(folder);
}

static json_t *guarantee(const struct mt_backend_probe *b, const struct mt_backend_request *r)
{
	(void)b, (void)r;
	return json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s}", "granularity_bytes", 4096, "pages", "complete", "threads", "all",
			 "writes", "exact", "kernel_accesses", "attributed", "counts", "exact", "code", "all");
}

static int fits(const char *program, char **why)
{
	char *which = NULL;
	const char *obstacle = mt_program_obstacle(program, &which);

	if (obstacle && mt_obstacle_is_static(obstacle)) {
		free(which);
		return 4;
	}
	if (obstacle)
		*why = mt_printf("%s %s", which, obstacle);
	free(which);
	return obstacle ? 0 : 5;
}

static void *open_session(const struct mt_backend_request *r, char **why, char **fix)
{
	char *preload = mt_preload_path();
	struct session *s;

	(void)fix;
	if (!preload) {
		*why = mt_strdup("libmemtrace-preload.so is not beside this program");
		return NULL;
	}
	s = mt_alloc(sizeof(*s));
	s->trace = mt_strdup(r->trace);
	s->folder = folder_of(preload);
	s->instructions = r->instructions;
	free(preload);
	mt_note("the program runs under Valgrind: its threads run one at a time, and it takes 1.5 to 25 times the CPU time");
	return s;
}

static char **command(void *session, const char *program, char *const argv[])
{
	const struct session *s = session;
	size_t n = 0, k = 0;
	char **v;

	while (argv[n])
		n++;
	v = mt_alloc((n + 16) * sizeof(*v));
	v[k++] = mt_printf("%s/launcher", s->folder);
	/* no options of the user for other tools */
	v[k++] = (char *)"--command-line-only=yes";
	v[k++] = (char *)"--quiet";
	v[k++] = mt_printf("--log-file=%s/" LOG "%%p", s->trace);
	v[k++] = mt_printf("--log-prefix=%s/" LOG, s->trace);
	if (s->instructions)
		v[k++] = (char *)"--instructions=yes";
	v[k++] = (char *)"--trace-children=yes";
	v[k++] = (char *)"--vgdb=no";
	/* else a thread that spins keeps the others from running */
	v[k++] = (char *)"--fair-sched=try";
	v[k++] = (char *)"--max-threads=1000";
	/* else a load is left out whose register is written again before it is read; and signal handlers see registers of before */
	v[k++] = (char *)"--px-default=allregs-at-mem-access";
	v[k++] = (char *)"--px-file-backed=allregs-at-mem-access";
	/* the program sees its name as it was typed; Valgrind looks in PATH, too */
	v[k++] = n && !strchr(argv[0], '/') ? argv[0] : (char *)program;
	for (size_t i = 1; i < n; i++)
		v[k++] = argv[i];
	v[k] = NULL;
	setenv("VALGRIND_LIB", s->folder, 1);
	return v;
}

/*
 * The signal that ended a process, by what Valgrind wrote of it; 0: none. It sends itself the signal that was fatal. Where threads of
 * the program are about to end, one of them may take that signal, after Valgrind has set back its own handler: then Valgrind says that
 * this is impossible, and exits with 1.
 */
static int signal_of(const char *log)
{
	static const char says[] = "Process terminating with default action of signal ";
	const char *at = strstr(log, "signal was supposed to be fatal") ? strstr(log, says) : NULL;
	const int sig = at ? atoi(at + strlen(says)) : 0;

	return sig > 0 && sig < NSIG ? sig : 0;
}

static int ended(void *session, pid_t pid, int status)
{
	const struct session *s = session;
	char *path, *log;
	size_t n;
	int sig;

	if (!WIFEXITED(status) || WEXITSTATUS(status) != 1)
		return status;
	path = mt_printf("%s/" LOG "%d", s->trace, (int)pid);
	log = mt_read_file(path, &n);
	sig = log ? signal_of(log) : 0;
	if (sig)
		unlink(path);
	free(log);
	free(path);
	return sig ? W_EXITCODE(0, sig) : status;
}

/* A line in which Valgrind says why it cannot go on, without what stands before it. NULL: none. To be freed. */
static char *complaint(char *text)
{
	static const char *const signs[] = { "valgrind: ", "Unsupported", "unhandled", "impossible", "Max number of threads", "Can't execute" };
	char *save = NULL;

	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
			if (strstr(l, signs[i])) {
				const char *said = strncmp(l, "==", 2) ? NULL : strstr(l + 2, "== ");

				return mt_strdup(said ? said + 3 : l);
			}
	return NULL;
}

/* What Valgrind said is kept where it says why a process ended. */
static void finish(void *session, struct mt_backend_result *r)
{
	struct session *s = session;
	DIR *d = opendir(s->trace);
	struct dirent *e;
	bool told = false;

	(void)r;
	mt_alone_convert(s->trace, LOG);
	while (d && (e = readdir(d))) {
		char *path, *text, *line;
		size_t n;

		if (strncmp(e->d_name, LOG, strlen(LOG)) || strstr(e->d_name, ALONE_SUFFIX))
			continue;
		path = mt_printf("%s/%s", s->trace, e->d_name);
		text = mt_read_file(path, &n);
		line = text ? complaint(text) : NULL;
		if (line && !told)
			mt_note("Valgrind says: %s (%s)", line, path);
		told |= line != NULL;
		if (!line)
			unlink(path);
		free(line);
		free(text);
		free(path);
	}
	if (d)
		closedir(d);
	free(s->trace);
	free(s->folder);
	free(s);
}

const struct mt_backend mt_backend_valgrind = {
	.name = "valgrind",
	.on_demand = true,
	.title = "Exact counts, any program",
	.abilities = MT_ABILITY_ACCESSES | MT_ABILITY_EXACT | MT_ABILITY_INSTRUCTIONS,
	.takes_static = true,
	.library = MT_LIBRARY_ASKS_TOOL,
	.probe = probe,
	.guarantee = guarantee,
	.fits = fits,
	.open = open_session,
	.command = command,
	.ended = ended,
	.finish = finish,
};
