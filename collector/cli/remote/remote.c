/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * remote.c - `record --host`, the part that works here. The system's ssh does the connection and who may have one;
 * its commands are fixed words, what a user has typed travels in a file. While the node has the trace, host.json in
 * the folder here says where; manifest.json comes last, so that a part of a trace is not taken for a trace.
 */
#include "cli/remote/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include "cli/backend/backend.h"
#include "cli/remote/connection.h"
#include "cli/remote/luggage.h"
#include "cli/remote/on_node.h"
#include "cli/trace/tracedir.h"
#include "cli/base/util.h"

#define KERNEL_MINOR 10		/* of Linux 5: nothing older was tried */
#define ROOM_BYTES (1ull << 20)	/* beside the recorder, to begin with */
#define ATTEMPTS 3
#define N(a) (sizeof(a) / sizeof((a)[0]))

struct remote {
	const struct mt_args *a;
	char *host, *folder;	/* of the node; NULL: there is none yet */
	const char *dir, *shown;
	struct mt_ssh ssh;
	int code;		/* of ssh while the program ran; -1: it was not us */
};

/* -------------------------------------------------------------- the node */

/* The line that begins what on-node or our script says; the login shell may have said something without a line feed. */
static bool is_hello(const char *line)
{
	const size_t n = strlen(line), k = strlen(MT_NODE_HELLO);

	return n >= k && !strcmp(line + n - k, MT_NODE_HELLO);
}

static void remote_free(struct remote *r)
{
	mt_ssh_close(&r->ssh);
	free(r->host);
	free(r->folder);
}

/* What `sh` of the node says about it. */
struct facts {
	char *os, *machine, *kernel, *glibc, *folder, *refused, *room, *here;
};

static void facts_free(struct facts *f)
{
	free(f->os);
	free(f->machine);
	free(f->kernel);
	free(f->glibc);
	free(f->folder);
	free(f->refused);
	free(f->room);
	free(f->here);
}

static const char question[] =
	"echo '" MT_NODE_HELLO "'\n"
	"echo \"os $(uname -s)\"\n"
	"echo \"machine $(uname -m)\"\n"
	"echo \"kernel $(uname -r)\"\n"
	"glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null) || glibc=$(ldd --version 2>&1 | head -n 1)\n"
	"echo \"glibc $glibc\"\n"
	"test -n \"$base\" || base=${TMPDIR:-/var/tmp}\n"
	"umask 077\n"
	"if folder=$(mktemp -d \"$base/memtrace.XXXXXXXXXX\" 2>&1); then\n"
	"	folder=$(cd \"$folder\" && pwd -P)\n"
	"	echo \"room $(df -Pk \"$folder\" | sed -n '2s/.* \\([0-9][0-9]*\\)  *[0-9][0-9]*% .*/\\1/p')\"\n"
	"	echo \"folder $folder\"\n"
	"else\n"
	"	echo \"refused $folder\"\n"
	"fi\n"
	"test -z \"$here\" || ! cd \"$here\" 2>/dev/null || echo \"here $here\"\n"
	"exit 0\n";

static int unreachable(const struct remote *r, int code)
{
	return mt_fail(r->a, MT_EXIT_UNAVAILABLE, "%s cannot be asked by ssh (exit code %d); 'ssh %s true' must work without a question",
		       r->host, code, r->host);
}

/* Asks, and makes the folder. 0, or an exit code after a message. */
static int ask(struct remote *r, struct facts *f)
{
	const struct { const char *name; char **to; } table[] = {
		{ "os ", &f->os }, { "machine ", &f->machine }, { "kernel ", &f->kernel }, { "glibc ", &f->glibc },
		{ "room ", &f->room }, { "folder ", &f->folder }, { "refused ", &f->refused }, { "here ", &f->here },
	};
	const char *work = mt_args_get(r->a, "host-work");
	char *cwd = getcwd(NULL, 0), *base = mt_shell_word(work ? work : ""), *here, *script, *line;
	bool known = false;
	struct mt_talk *t = mt_alloc(sizeof(*t));
	int err, code;

	/* lines of an answer: a folder with a line feed in its name is not asked for */
	here = cwd && !strchr(cwd, '\n') ? mt_shell_word(cwd) : mt_strdup("''");
	script = mt_printf("base=%s\nhere=%s\n%s", base, here, question);
	err = mt_talk_begin(&r->ssh, t, "exec sh");
	if (!err) {
		err = mt_talk_put(t, script, strlen(script));
		mt_talk_said(t);
		while (err != -EINTR && (line = mt_talk_text(t, '\n', &err))) {
			known |= is_hello(line);
			for (size_t i = 0; known && i < N(table); i++)
				if (!strncmp(line, table[i].name, strlen(table[i].name)) && !*table[i].to)
					*table[i].to = mt_strdup(line + strlen(table[i].name));
			free(line);
		}
		code = mt_talk_end(t, err == -EINTR);
		r->folder = f->folder ? mt_strdup(f->folder) : NULL;
		err = mt_ssh_stop ? 128 + mt_ssh_stop : code || !known ? unreachable(r, code) : 0;
	} else {
		err = mt_fail(r->a, MT_EXIT_INTERNAL, "cannot start ssh: %s", strerror(-err));
	}
	free(t);
	free(cwd);
	free(base);
	free(here);
	free(script);
	return err;
}

/* The N of "... 2.N", or -1. */
static int minor_of_glibc(const char *text)
{
	const char *word = text ? strrchr(text, ' ') : NULL;

	word = word ? word + 1 : text;
	return word && !strncmp(word, "2.", 2) && word[2] >= '0' && word[2] <= '9' ? atoi(word + 2) : -1;
}

/* In LD_PRELOAD, and in the commands that ssh gives to a shell. */
static bool safe_folder(const char *f)
{
	return *f == '/' && !f[strspn(f, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+")];
}

/* Does the recorder fit? 0, or an exit code after a message. */
static int judge(const struct remote *r, const struct facts *f, const struct mt_luggage *l)
{
	const struct mt_backend *b = mt_backend_find(mt_args_get(r->a, "backend"));
	const int glibc = minor_of_glibc(f->glibc);
	int major = 0, minor = 0;
	struct utsname u;

	uname(&u);
	if (!f->os || strcmp(f->os, "Linux"))
		return mt_fail(r->a, MT_EXIT_UNAVAILABLE, "%s runs %s; the recorder is for Linux", r->host,
			       f->os && *f->os ? f->os : "an unknown system");
	if (!f->machine || strcmp(f->machine, u.machine))
		return mt_fail(r->a, MT_EXIT_UNAVAILABLE, "%s is a machine of the kind %s; this recorder is for %s", r->host,
			       f->machine ? f->machine : "?", u.machine);
	if (!f->kernel || sscanf(f->kernel, "%d.%d", &major, &minor) != 2 ||
	    ((major < 5 || (major == 5 && minor < KERNEL_MINOR)) && !(b && !(b->abilities & MT_ABILITY_ACCESSES))))
		return mt_fail(r->a, MT_EXIT_UNAVAILABLE, "%s runs Linux %s; recording needs 5.%d or newer (--backend none records structures only)",
			       r->host, f->kernel ? f->kernel : "?", KERNEL_MINOR);
	if (glibc < 0)
		return mt_fail(r->a, MT_EXIT_UNAVAILABLE, "%s has no GNU C library (it says: %s), which the recorder needs", r->host,
			       f->glibc ? f->glibc : "nothing");
	if (glibc < l->glibc_minor)
		return mt_fail(r->a, MT_EXIT_UNAVAILABLE, "%s has glibc 2.%d, and this recorder needs 2.%d or newer; "
			       "the memtrace of the portable archive (releng/portable.sh) is for older ones", r->host, glibc, l->glibc_minor);
	if (!f->folder)
		return mt_fail(r->a, MT_EXIT_UNAVAILABLE, "%s has no place to work in: %s; --host-work names another folder", r->host,
			       f->refused ? f->refused : "mktemp says nothing");
	if (!safe_folder(f->folder))
		return mt_fail(r->a, MT_EXIT_UNAVAILABLE, "the folder %s of %s has characters that LD_PRELOAD or a shell may misread; "
			       "--host-work names another one", f->folder, r->host);
	if (f->room && *f->room && strtoull(f->room, NULL, 10) < (l->bytes + ROOM_BYTES) >> 10)
		return mt_fail(r->a, MT_EXIT_UNAVAILABLE, "%s has %s left in %s, and the recorder and the beginning of a trace need %s; "
			       "--host-work names another folder", r->host, mt_human_bytes(strtoull(f->room, NULL, 10) << 10), f->folder,
			       mt_human_bytes(l->bytes + ROOM_BYTES));
	return 0;
}

/* Removes the folder of the node. Did it? */
static bool clean(struct remote *r)
{
	char *command, *word;
	pid_t pid;
	bool ok;

	if (!r->folder)
		return true;
	word = mt_shell_word(r->folder);
	command = mt_printf("rm -rf %s", word);
	free(word);
	pid = mt_ssh_spawn(&r->ssh, command, -1, -1, true);
	ok = pid > 0 && !mt_ssh_join(pid);
	if (!ok)
		mt_fail(r->a, 0, "%s is left on %s; 'ssh %s %s' removes it", r->folder, r->host, r->host, command);
	free(command);
	return ok;
}

/* The words of args: on_node.h. To be freed. */
static char *words(const struct remote *r, const char *cd, size_t *n)
{
	static const char *const ours[] = { "host", "host-work", "host-cd", "output", "repeat", "resume" };
	const struct mt_args *a = r->a;
	char *text = NULL;
	FILE *f = open_memstream(&text, n);

	fprintf(f, "%s%c%s%c", cd, 0, r->shown, 0);
	for (int i = 0; i < a->n_given; i++) {
		const struct mt_option *o = a->given[i].opt;
		bool skip = false;

		for (size_t k = 0; k < N(ours); k++)
			skip |= !strcmp(o->name, ours[k]);
		if (skip)
			continue;
		if (o->optional) {
			fprintf(f, "--%s=%s%c", o->name, a->given[i].value, 0);
			continue;
		}
		fprintf(f, "--%s%c", o->name, 0);
		if (o->type != MT_FLAG)
			fprintf(f, "%s%c", a->given[i].value, 0);
	}
	fprintf(f, "--%c", 0);
	for (int i = 0; i < a->argc; i++)
		fprintf(f, "%s%c", a->argv[i], 0);
	fclose(f);
	return text;
}

/* The recorder and what to record to the folder, and whether it runs there. 0, or an exit code after a message. */
static int copy(const struct remote *r, const struct mt_luggage *l, const char *cd)
{
	char *command = mt_printf("sh -c 'cd %s && tar -xf - && exec bin/memtrace version'", r->folder), *text, *line;
	struct mt_talk *t = mt_alloc(sizeof(*t));
	size_t n;
	bool works = false;
	int err = mt_talk_begin(&r->ssh, t, command), said, code;

	if (err) {
		free(command);
		free(t);
		return mt_fail(r->a, MT_EXIT_INTERNAL, "cannot start ssh: %s", strerror(-err));
	}
	text = words(r, cd, &n);
	for (size_t i = 0; i < l->n && !err; i++)
		err = mt_tar_file(mt_talk_put, t, l->file[i].path, l->file[i].name);
	if (!err)
		err = mt_tar_text(mt_talk_put, t, text, n, "args");
	if (!err)
		err = mt_tar_end(mt_talk_put, t);
	mt_talk_said(t);
	while (err != -EINTR && (line = mt_talk_text(t, '\n', &said))) {
		works |= !strncmp(line, "memtrace ", 9);
		free(line);
	}
	code = mt_talk_end(t, mt_ssh_stop);
	free(text);
	free(command);
	free(t);
	if (mt_ssh_stop)
		return 128 + mt_ssh_stop;
	if (!code && works && !err)
		return 0;
	if (code == 255)
		return unreachable(r, code);
	if (err && err != -EPIPE)
		return mt_fail(r->a, MT_EXIT_INTERNAL, "the recorder cannot be copied: %s", strerror(-err));
	return mt_fail(r->a, MT_EXIT_UNAVAILABLE, "the recorder was copied to %s of %s, but does not run there (a full disk, or a folder "
		       "without the right to run programs?); --host-work names another folder", r->folder, r->host);
}

/* ----------------------------------------------------------------- fetch */

static char *state_path(const char *dir)
{
	return mt_printf("%s/host.json", dir);
}

static int write_state(const struct remote *r)
{
	struct mt_newfile out;
	json_t *j = json_pack("{s:s, s:s, s:s}", "host", r->host, "folder", r->folder, "trace", r->shown);
	int err = mt_newfile(&out, r->dir, "host.json");

	if (!err && (!j || json_dumpf(j, out.f, JSON_INDENT(2)) || putc('\n', out.f) < 0)) {
		mt_newfile_discard(&out);
		err = -EIO;
	} else if (!err) {
		err = mt_newfile_commit(&out);
	}
	json_decref(j);
	return err;
}

/* Where a file of the node's folder is kept; NULL: it has no business here. To be freed. */
static char *place(const struct remote *r, const char *path)
{
	if (!strcmp(path, "out") || !strcmp(path, "err"))
		return mt_printf("%s/.%s", r->dir, path);
	if (strncmp(path, "trace/", 6) || path[6] == '/' || strstr(path, "/../") || mt_ends_with(path, "/..") || mt_ends_with(path, "/") ||
	    !strcmp(path + 6, "host.json"))
		return NULL;
	/* with a manifest it would be a trace */
	return mt_printf("%s/%s%s", r->dir, path + 6, strcmp(path, "trace/manifest.json") ? "" : ".part");
}

static struct mt_talk *have_to;
static size_t have_skip;

static int tell_have(const char *path, const struct stat *st, int type, struct FTW *f)
{
	const char *name = path + have_skip;
	char *entry;
	int err = 0;

	(void)f;
	if (type == FTW_F && strcmp(name, "host.json") && strncmp(name, "manifest.json", 13)) {
		const bool spooled = !strcmp(name, ".out") || !strcmp(name, ".err");

		entry = mt_printf("%" PRIu64 " %s%s", (uint64_t)st->st_size, spooled ? "" : "trace/", spooled ? name + 1 : name);
		err = mt_talk_put(have_to, entry, strlen(entry) + 1);
		free(entry);
	}
	return err;
}

/* What came of a fetch. */
struct got {
	bool over;		/* all of it */
	char state[32];		/* how record ended */
	uint64_t alive, total, bytes, files, bad;
	char *why;		/* the last of what went wrong here */
	uint64_t begin, shown;
};

static void show_progress(struct got *g, bool end)
{
	const uint64_t now = mt_monotonic_ns();

	if (mt_quiet || !isatty(2))
		return;
	if (end && g->shown) {
		fprintf(stderr, "\r\033[K");
	} else if (!end && now - g->begin > 1000000000ull && now - g->shown > 200000000ull) {
		g->shown = now;
		fprintf(stderr, "\rmemtrace: fetching the trace: %s of %s\033[K", mt_human_bytes(g->bytes), mt_human_bytes(g->total));
	}
}

static void wrong(struct got *g, char *why)
{
	g->bad++;
	free(g->why);
	g->why = why;
}

/* LENGTH bytes of a file, from OFFSET. 0 also when they cannot be written: then they are read and told. */
static int take_bytes(struct remote *r, struct mt_talk *t, struct got *g, const char *entry)
{
	uint64_t offset, left;
	int at = 0, fd = -1, err = 0;
	char *to;

	if (sscanf(entry, "F %" SCNu64 " %" SCNu64 " %n", &offset, &left, &at) != 2 || !at)
		return -EPROTO;
	to = place(r, entry + at);
	if (to) {
		for (char *s = strchr(to + strlen(r->dir) + 1, '/'); s; s = strchr(s + 1, '/')) {
			*s = 0;
			mkdir(to, 0777);
			*s = '/';
		}
		fd = open(to, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
		if (fd >= 0 && (ftruncate(fd, (off_t)offset) || lseek(fd, (off_t)offset, SEEK_SET) < 0)) {
			close(fd);
			fd = -1;
		}
	}
	if (fd < 0)
		wrong(g, mt_printf("%s cannot be written: %s", to ? to : entry + at, to ? strerror(errno) : "it is no file of a trace"));
	while (left && !err) {
		err = mt_talk_more(t);
		size_t n = t->end - t->at;

		n = n < left ? n : left;
		if (!err && fd >= 0 && write(fd, t->data + t->at, n) != (ssize_t)n) {
			wrong(g, mt_printf("%s cannot be written: %s", to, strerror(errno ? errno : ENOSPC)));
			close(fd);
			fd = -1;
		}
		if (!err) {
			t->at += n;
			left -= n;
			g->bytes += n;
			show_progress(g, false);
		}
	}
	if (fd >= 0 && close(fd))
		wrong(g, mt_printf("%s cannot be written: %s", to, strerror(errno)));
	free(to);
	return err;
}

/* Is the file here, read again from the disk, the one of the node? A wrong one is removed, so that it comes again. */
static int check_sum(const struct remote *r, struct got *g, const char *entry)
{
	static char data[64 << 10];
	uint64_t size, have = 0;
	uLong want, crc = crc32(0, NULL, 0);
	int at = 0;
	char *to;
	FILE *f;
	size_t n;

	if (sscanf(entry, "S %" SCNx64 " %lx %n", &size, &want, &at) != 2 || !at)
		return -EPROTO;
	to = place(r, entry + at);
	if (!to)
		return 0;	/* told when its bytes came */
	f = fopen(to, size ? "re" : "we");	/* an empty one has no bytes that came before */
	while (f && size && (n = fread(data, 1, sizeof(data), f)) > 0) {
		crc = crc32(crc, (const Bytef *)data, (uInt)n);
		have += n;
	}
	if (f)
		fclose(f);
	if (!f || have != size || crc != want) {
		if (f)
			wrong(g, mt_printf("%s is not what %s has (size or checksum)", to, r->host));
		else
			wrong(g, mt_printf("%s cannot be read: %s", to, strerror(errno)));
		unlink(to);
	}
	g->files++;
	free(to);
	return 0;
}

/* One connection that fetches what is missing. 0 when the node has said all, else a negative errno. */
static int fetch_once(struct remote *r, struct got *g)
{
	char *command = mt_printf("exec %s/bin/memtrace on-node send %s", r->folder, r->folder), *entry;
	struct mt_talk *t = mt_alloc(sizeof(*t));
	int err = mt_talk_begin(&r->ssh, t, command), code;
	uint64_t sent = g->bytes;

	memset(g->state, 0, sizeof(g->state));
	g->over = false;
	g->files = g->bad = g->alive = 0;
	free(g->why);
	g->why = NULL;
	free(command);
	if (err) {
		free(t);
		return err;
	}
	have_to = t;
	have_skip = strlen(r->dir) + 1;
	err = nftw(r->dir, tell_have, 16, FTW_PHYS);
	mt_talk_said(t);
	while (err != -EINTR && (entry = mt_talk_text(t, '\n', &err))) {
		const bool known = is_hello(entry);

		free(entry);
		if (known)
			break;
	}
	while (!err && !g->over && !g->alive && (entry = mt_talk_text(t, 0, &err))) {
		switch (entry[0]) {
		case 'X':
			snprintf(g->state, sizeof(g->state), "%.*s", (int)sizeof(g->state) - 1, entry + (strlen(entry) > 2 ? 2 : 1));
			break;
		case 'A':
			g->alive = strtoull(entry + 1, NULL, 10);
			break;
		case 'T':
			g->total = sent + strtoull(entry + 1, NULL, 10);
			g->begin = mt_monotonic_ns();
			break;
		case 'F':
			err = take_bytes(r, t, g, entry);
			break;
		case 'S':
			err = check_sum(r, g, entry);
			break;
		case 'L':
			wrong(g, mt_printf("%s of %s cannot be read", entry + 2, r->host));
			break;
		case 'E':
			g->over = strtoull(entry + 1, NULL, 10) == g->files;
			err = g->over || g->bad ? 0 : -EPROTO;
			g->over = true;
			break;
		default:
			err = -EPROTO;
		}
		free(entry);
	}
	show_progress(g, true);
	code = mt_talk_end(t, err);
	free(t);
	if (code == MT_EXIT_INPUT || code == 126 || code == 127)
		return -ENOENT;		/* the folder is not there any more */
	return err;
}

/* The output that nobody took while the connection was lost. */
static void print_spooled(const struct remote *r, const char *name, int to)
{
	char *path = mt_printf("%s/.%s", r->dir, name), *text;
	size_t n = 0, done = 0;

	text = mt_read_file(path, &n);
	while (text && done < n) {
		const ssize_t w = write(to, text + done, n - done);

		if (w < 0 && errno != EINTR)
			break;
		done += w > 0 ? (size_t)w : 0;
	}
	unlink(path);
	free(text);
	free(path);
}

static void say_where(const struct remote *r)
{
	char *word = mt_shell_word(r->shown);

	mt_fail(r->a, 0, "the trace stays on %s, in %s; 'memtrace record --resume %s' fetches the rest", r->host, r->folder, word);
	free(word);
}

/* All is here and was compared. Exit code. */
static int finish(struct remote *r, const struct got *g, int *sig)
{
	char *part = mt_printf("%s/manifest.json.part", r->dir), *manifest = mt_printf("%s/manifest.json", r->dir);
	char *state = state_path(r->dir);
	const char *s = g->state;
	const bool trace = mt_exists(part);
	const uint64_t dropped = strchr(s, ' ') ? strtoull(strchr(s, ' '), NULL, 10) : 0;
	const int expected = *s == 's' ? 128 + atoi(s + 1) : atoi(s);
	char *out = place(r, "out"), *errors = place(r, "err");
	int rc = 0, err = 0;

	if (mt_exists(out) || mt_exists(errors) || (r->code >= 0 && *s != '?' && r->code != expected))
		mt_note("the connection to %s was lost while the program ran there; what it wrote at that moment may be missing, "
			"what it wrote later follows", r->host);
	print_spooled(r, "out", 1);
	print_spooled(r, "err", 2);
	if (dropped)
		mt_error("record: %s of output of the program are lost: there was no room for them on %s", mt_human_bytes(dropped), r->host);
	if (trace) {	/* on the disk before the node is cleaned */
		const int fd = open(part, O_RDONLY | O_CLOEXEC);

		err = fd < 0 || syncfs(fd) || rename(part, manifest) ? -errno : 0;
		if (fd >= 0)
			close(fd);
	}
	if (err) {
		rc = mt_fail(r->a, MT_EXIT_INTERNAL, "%s cannot be written: %s", manifest, strerror(-err));
		say_where(r);
	} else {
		clean(r);
		unlink(state);
		if (!trace)
			mt_remove_tree(r->dir);
		else
			mt_note("%s from %s is in %s, compared with it; nothing is left there", mt_human_bytes(g->bytes), r->host, r->shown);
		if (*s == '?')
			rc = mt_fail(r->a, MT_EXIT_INTERNAL, "the recording was killed on %s%s", r->host,
				     trace ? "; the trace has what came before" : ", and there is no trace");
		else if (*s == 's')
			rc = 128 + (*sig = atoi(s + 1));
		else
			rc = expected;
	}
	free(out);
	free(errors);
	free(part);
	free(manifest);
	free(state);
	return rc;
}

/* Until all is here, the connection cannot be had any more, or the user has enough. Exit code. */
static int fetch(struct remote *r, int *sig)
{
	struct got g = { 0 };
	int err = -EPIPE, rc;

	for (int i = 0; i < ATTEMPTS && !mt_ssh_stop; i++) {
		if (i && mt_ssh_ready(-1, 0, 1000 << (i - 1)) == -EINTR)
			break;
		err = fetch_once(r, &g);
		if (err == -EINTR || err == -ENOENT || (!err && !g.bad))
			break;
		if (i + 1 < ATTEMPTS)
			mt_note("%s%s%s; trying again", g.why ? g.why : "the connection to ", g.why ? "" : r->host, g.why ? "" : " is lost");
	}
	if (err == -ENOENT) {
		rc = mt_fail(r->a, MT_EXIT_INPUT, "%s has no %s, or not all of it any more", r->host, r->folder);
	} else if (mt_ssh_stop) {
		rc = 128 + mt_ssh_stop;
		*sig = mt_ssh_stop;
		say_where(r);
	} else if (err) {
		rc = mt_fail(r->a, MT_EXIT_UNAVAILABLE, "the connection to %s is lost; a program that still runs there goes on", r->host);
		say_where(r);
	} else if (g.alive) {
		mt_note("%s process%s of the recording still run%s on %s", mt_human_count(g.alive), g.alive == 1 ? "" : "es",
			g.alive == 1 ? "s" : "", r->host);
		say_where(r);
		rc = *g.state == '?' ? MT_EXIT_INTERNAL : *g.state == 's' ? 128 + atoi(g.state + 1) : atoi(g.state);
	} else if (g.bad) {
		rc = mt_fail(r->a, MT_EXIT_INTERNAL, "%s", g.why);
		say_where(r);
	} else {
		rc = finish(r, &g, sig);
	}
	free(g.why);
	return rc;
}

/* ---------------------------------------------------------------- record */

/* Runs it with our own input and output, until ssh ends; signals go to the node. */
static void run(struct remote *r)
{
	char *command = mt_printf("exec %s/bin/memtrace on-node run %s", r->folder, r->folder);
	const pid_t pid = mt_ssh_spawn(&r->ssh, command, 0, 1, false);
	bool ended = pid < 0;

	free(command);
	while (!ended) {
		struct pollfd p = { mt_ssh_events[0], POLLIN, 0 };
		unsigned char s;

		poll(&p, 1, -1);
		while (read(mt_ssh_events[0], &s, 1) == 1) {
			int status;
			pid_t who;

			if (s != SIGCHLD) {
				command = mt_printf("exec %s/bin/memtrace on-node signal %s %d", r->folder, r->folder, s);
				mt_ssh_spawn(&r->ssh, command, -1, -1, true);
				free(command);
				continue;
			}
			while ((who = waitpid(-1, &status, WNOHANG)) > 0)
				if (who == pid) {
					ended = true;
					r->code = WIFEXITED(status) ? WEXITSTATUS(status) : 255;
				}
		}
	}
}

int mt_remote_record(const struct mt_args *a, const char *dir, const char *shown, int *sig)
{
	struct remote r = { .a = a, .dir = dir, .shown = shown, .code = -1, .host = mt_strdup(mt_args_get(a, "host")) };
	const char *cd = mt_args_get(a, "host-cd");
	struct mt_luggage l = { 0 };
	struct facts f = { 0 };
	char *why;
	int rc = 0, err;

	*sig = 0;
	why = mt_luggage_pack(&l);
	if (why) {
		rc = mt_fail(a, MT_EXIT_UNAVAILABLE, "%s", why);
		free(why);
		goto out;
	}
	err = mt_ssh_signals_take();
	if (err) {
		rc = mt_fail(a, MT_EXIT_INTERNAL, "cannot make a pipe: %s", strerror(-err));
		goto out;
	}
	mt_ssh_open(&r.ssh, r.host);
	rc = ask(&r, &f);
	if (!rc)
		rc = judge(&r, &f, &l);
	if (!rc) {
		cd = cd ? cd : f.here ? f.here : "";
		mt_note("%s: Linux %s, %s; the program works in %s", r.host, f.kernel, f.glibc, *cd ? cd : "the folder in which ssh begins");
		rc = copy(&r, &l, cd);
	}
	if (!rc) {
		err = write_state(&r);
		if (err)
			rc = mt_fail(a, MT_EXIT_INTERNAL, "%s/host.json cannot be written: %s", dir, strerror(-err));
	}
	mt_ssh_signals_look();
	if (!rc && mt_ssh_stop)
		rc = 128 + mt_ssh_stop;
	if (rc) {
		clean(&r);
		mt_remove_tree(dir);
		*sig = mt_ssh_stop;
		goto out;
	}
	run(&r);
	if (r.code == 255)
		mt_note("ssh ended with code 255, which is its sign of a lost connection: asking %s", r.host);
	rc = fetch(&r, sig);
out:
	remote_free(&r);
	facts_free(&f);
	mt_luggage_free(&l);
	return rc;
}

int mt_remote_resume(const struct mt_args *a, const char *dir, int *sig)
{
	struct remote r = { .a = a, .dir = dir, .shown = dir, .code = -1 };
	char *path = state_path(dir);
	json_t *j = json_load_file(path, 0, NULL);
	const char *host = json_string_value(json_object_get(j, "host")), *folder = json_string_value(json_object_get(j, "folder"));
	int rc, err;

	*sig = 0;
	if (!host || !folder || *host == '-' || !safe_folder(folder)) {
		rc = mt_fail(a, MT_EXIT_INPUT, mt_exists(path) ? "%s does not say where the trace is" :
			     "%s: there is no such file, so that nothing waits on a node for this trace", path);
		goto out;
	}
	r.host = mt_strdup(host);
	r.folder = mt_strdup(folder);
	err = mt_ssh_signals_take();
	if (err) {
		rc = mt_fail(a, MT_EXIT_INTERNAL, "cannot make a pipe: %s", strerror(-err));
		goto out;
	}
	mt_ssh_open(&r.ssh, r.host);
	rc = fetch(&r, sig);
out:
	remote_free(&r);
	json_decref(j);
	free(path);
	return rc;
}
