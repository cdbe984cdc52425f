/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/io/io.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/io/io_tracefs.h"
#include "cli/base/processes.h"
#include "cli/base/user.h"
#include "cli/base/util.h"

#define DRAIN_NS 20000000ull		/* between two looks at the buffers and at the open files */

/* A file that a process had open when it was looked at. */
struct open_file {
	pid_t pid;
	int fd;
	dev_t dev;
	ino_t ino;
	uint64_t look;		/* the last one that saw it */
};

struct mt_io {
	struct mt_io_tracefs *tracefs;	/* or NULL */
	char *folder, *trace, *sentence;
	uint64_t interval_ns, start_ns;
	pid_t pid;
	pthread_t thread;
	bool started;
	atomic_bool end;
	pthread_mutex_t lock;		/* of all below */
	FILE *counters, *files;
	uint64_t samples, looks;
	struct open_file *open;
	size_t n_open, cap_open;
};

enum mt_io_source mt_io_probe(char **why)
{
	struct mt_io_tracefs *t = NULL;

	*why = NULL;
	mt_user_raise();
	if (geteuid())
		*why = mt_strdup("tracefs needs root");
	else
		t = mt_io_tracefs_open(NULL, 1 << 20, false, why);
	if (t)
		mt_io_tracefs_close(t);
	mt_user_lower();
	if (t)
		return MT_IO_TRACEFS;
	return mt_exists("/proc/self/io") ? MT_IO_PROC : MT_IO_NOTHING;
}

/* What the kernel counts of a process, of its threads that are no more and of the children that it has waited for. */
static bool sample_process(struct mt_io *io, pid_t pid, uint64_t now)
{
	static const char *const keys[] = { "rchar:", "wchar:", "syscr:", "syscw:", "read_bytes:", "write_bytes:", "cancelled_write_bytes:" };
	char *path = mt_printf("/proc/%d/io", pid), *text = mt_read_file(path, NULL), *name, *stat;
	const char *parent;
	uint64_t v[sizeof(keys) / sizeof(keys[0])];

	free(path);
	if (!text)
		return false;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *at = text;

		/* at the beginning of a line: "cancelled_write_bytes:" ends like another key */
		while ((at = strstr(at, keys[i])) && at != text && at[-1] != '\n')
			at++;
		v[i] = at ? strtoull(at + strlen(keys[i]), NULL, 10) : 0;
	}
	free(text);
	path = mt_printf("/proc/%d/stat", pid);
	stat = mt_read_file(path, NULL);
	free(path);
	parent = stat ? mt_stat_field(stat, 4) : NULL;
	path = mt_printf("/proc/%d/comm", pid);
	name = mt_read_line(path);
	free(path);
	fprintf(io->counters, "%" PRIu64 ",%d,%ld,", now, pid, parent ? strtol(parent, NULL, 10) : 0);
	mt_csv_put(io->counters, name ? name : "");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		fprintf(io->counters, ",%" PRIu64, v[i]);
	fputc('\n', io->counters);
	free(name);
	free(stat);
	return true;
}

static void sample(struct mt_io *io, const struct mt_processes *all)
{
	const uint64_t now = mt_monotonic_ns();

	for (size_t i = 0; i < all->n; i++)
		sample_process(io, all->pid[i], now);
	io->samples++;
}

static struct open_file *known(struct mt_io *io, pid_t pid, int fd)
{
	for (size_t i = 0; i < io->n_open; i++)
		if (io->open[i].pid == pid && io->open[i].fd == fd)
			return &io->open[i];
	return NULL;
}

/* Names of the files that are open now, for the numbers of inodes in the events. */
static void look_at_files(struct mt_io *io, const struct mt_processes *all)
{
	const uint64_t look = ++io->looks;
	char own[4096], other[4096];
	const ssize_t own_n = readlink("/proc/self/exe", own, sizeof(own));
	size_t kept = 0;

	for (size_t i = 0; i < all->n; i++) {
		char *folder = mt_printf("/proc/%d/fd", all->pid[i]), *exe = mt_printf("/proc/%d/exe", all->pid[i]);
		const ssize_t n_exe = readlink(exe, other, sizeof(other));
		/* before exec it has our files */
		DIR *d = n_exe == own_n && n_exe > 0 && !memcmp(own, other, (size_t)n_exe) ? NULL : opendir(folder);
		struct dirent *e;

		while (d && (e = readdir(d))) {
			const int fd = (int)strtol(e->d_name, NULL, 10);
			struct open_file *f;
			char target[4097];
			struct stat st;
			ssize_t n;

			if (*e->d_name == '.' || fstatat(dirfd(d), e->d_name, &st, 0))
				continue;
			f = known(io, all->pid[i], fd);
			if (f && f->dev == st.st_dev && f->ino == st.st_ino) {
				f->look = look;
				continue;
			}
			n = readlinkat(dirfd(d), e->d_name, target, sizeof(target) - 1);
			if (n < 0)
				continue;
			target[n] = 0;
			if (!f) {
				MT_GROW(io->open, io->n_open, io->cap_open);
				f = &io->open[io->n_open++];
			}
			*f = (struct open_file){ all->pid[i], fd, st.st_dev, st.st_ino, look };
			fprintf(io->files, "%" PRIu64 ",%d,%d,%u,%u,%llu,%ld,", mt_monotonic_ns(), all->pid[i], fd, major(st.st_dev),
				minor(st.st_dev), (unsigned long long)st.st_ino, (long)st.st_blksize);
			mt_csv_put(io->files, target);
			fputc('\n', io->files);
		}
		if (d)
			closedir(d);
		free(folder);
		free(exe);
	}
	for (size_t i = 0; i < io->n_open; i++)		/* those that were closed are new when they come again */
		if (io->open[i].look == look)
			io->open[kept++] = io->open[i];
	io->n_open = kept;
}

static void *work(void *arg)
{
	struct mt_io *io = arg;
	uint64_t next_sample = 0;

	while (!atomic_load(&io->end)) {
		struct mt_processes all = { 0 };
		const uint64_t now = mt_monotonic_ns();

		mt_processes_add(&all, io->pid);
		mt_processes_below(&all, NULL, NULL);
		pthread_mutex_lock(&io->lock);
		look_at_files(io, &all);
		if (now >= next_sample) {
			sample(io, &all);
			next_sample = now + io->interval_ns;
		}
		pthread_mutex_unlock(&io->lock);
		free(all.pid);
		if (io->tracefs)
			mt_io_tracefs_drain(io->tracefs);
		nanosleep(&(struct timespec){ .tv_nsec = (long)(io->interval_ns < DRAIN_NS ? io->interval_ns : DRAIN_NS) }, NULL);
	}
	return NULL;
}

static FILE *csv(const struct mt_io *io, const char *name, const char *header)
{
	char *path = mt_printf("%s/%s", io->folder, name);
	FILE *f = fopen(path, "we");

	free(path);
	if (f)
		fputs(header, f);
	return f;
}

struct mt_io *mt_io_open(const struct mt_io_request *r)
{
	struct mt_io *io = mt_alloc(sizeof(*io));
	char *why = NULL;

	pthread_mutex_init(&io->lock, NULL);
	io->trace = mt_strdup(r->trace);
	io->folder = mt_printf("%s/io", r->trace);
	io->interval_ns = r->interval_ns;
	io->start_ns = mt_monotonic_ns();
	if (!mkdir(io->folder, 0777)) {
		io->counters = csv(io, "counters.csv", "time_ns,pid,parent,name,rchar,wchar,syscr,syscw,read_bytes,write_bytes,"
				   "cancelled_write_bytes\n");
		io->files = csv(io, "files.csv", "time_ns,pid,fd,major,minor,inode,block_bytes,path\n");
	}
	if (!io->counters || !io->files) {
		const int err = errno;

		if (io->counters)
			fclose(io->counters);
		pthread_mutex_destroy(&io->lock);
		free(io->folder);
		free(io->trace);
		free(io);
		errno = err;
		return NULL;
	}
	mt_user_raise();
	if (geteuid())
		why = mt_strdup("tracefs needs root");
	else
		io->tracefs = mt_io_tracefs_open(io->folder, r->buffer_bytes, r->user, &why);
	mt_user_lower();
	if (!io->tracefs)
		io->sentence = mt_printf("the levels of the I/O are not told apart: %s; instead the counters of /proc/PID/io are recorded", why);
	free(why);
	return io;
}

int mt_io_attach(struct mt_io *io, pid_t pid)
{
	int err = 0;

	io->pid = pid;
	if (io->tracefs) {
		mt_user_raise();
		err = mt_io_tracefs_follow(io->tracefs, pid);
		mt_user_lower();
	}
	if (!err)
		err = -pthread_create(&io->thread, NULL, work, io);
	io->started = !err;
	return err;
}

void mt_io_ended(struct mt_io *io)
{
	struct mt_processes all = { 0 };

	mt_processes_add(&all, io->pid);
	pthread_mutex_lock(&io->lock);
	sample(io, &all);
	pthread_mutex_unlock(&io->lock);
	free(all.pid);
}

/* Where partitions begin, as requests have sectors of the whole disk. */
static json_t *devices(void)
{
	json_t *all = json_array();
	DIR *d = opendir("/sys/dev/block");
	struct dirent *e;

	while (d && (e = readdir(d))) {
		unsigned int maj, min, disk_major, disk_minor;
		char *path, *start, *disk, *uevent, *name;
		json_t *o;

		if (sscanf(e->d_name, "%u:%u", &maj, &min) != 2)
			continue;
		path = mt_printf("/sys/dev/block/%s/start", e->d_name);
		start = mt_read_line(path);
		free(path);
		path = mt_printf("/sys/dev/block/%s/../dev", e->d_name);
		disk = start ? mt_read_line(path) : NULL;
		free(path);
		path = mt_printf("/sys/dev/block/%s/uevent", e->d_name);
		uevent = mt_read_file(path, NULL);
		free(path);
		name = uevent ? strstr(uevent, "DEVNAME=") : NULL;
		o = json_pack("{s:I, s:I}", "major", (json_int_t)maj, "minor", (json_int_t)min);
		if (name) {
			name += 8;
			name[strcspn(name, "\n")] = 0;
			json_object_set_new(o, "name", json_string(name));
		}
		if (start && disk && sscanf(disk, "%u:%u", &disk_major, &disk_minor) == 2) {
			json_object_set_new(o, "start_sector", json_integer(strtoll(start, NULL, 10)));
			json_object_set_new(o, "disk_major", json_integer(disk_major));
			json_object_set_new(o, "disk_minor", json_integer(disk_minor));
		}
		json_array_append_new(all, o);
		free(start);
		free(disk);
		free(uevent);
	}
	if (d)
		closedir(d);
	return all;
}

/* 0 or a negative errno, and closes. */
static int ended(FILE *f)
{
	const bool bad = ferror(f) != 0;

	return (fclose(f) || bad) ? -EIO : 0;
}

json_t *mt_io_finish(struct mt_io *io)
{
	json_t *o = json_object(), *m;
	uint64_t lost = 0;
	struct utsname u;
	char *path;
	int err;

	atomic_store(&io->end, true);
	if (io->started)
		pthread_join(io->thread, NULL);
	json_object_set_new(o, "schema", json_string("memtrace.io/1"));
	json_object_set_new(o, "source", json_string(io->tracefs ? "tracefs" : "proc"));
	if (io->sentence)
		json_object_set_new(o, "sentence", json_string(io->sentence));
	json_object_set_new(o, "clock", json_string("CLOCK_MONOTONIC"));
	json_object_set_new(o, "start_ns", json_integer((json_int_t)io->start_ns));
	json_object_set_new(o, "page_bytes", json_integer(sysconf(_SC_PAGESIZE)));
	json_object_set_new(o, "long_bytes", json_integer(sizeof(long)));
	json_object_set_new(o, "pid", json_integer(io->pid));
	if (!json_object_set_new(o, "trace_directory", json_string(io->trace)) && !uname(&u))
		json_object_set_new(o, "kernel", json_string(u.release));
	json_object_set_new(o, "devices", devices());
	json_object_set_new(o, "interval_ns", json_integer((json_int_t)io->interval_ns));
	json_object_set_new(o, "samples", json_integer((json_int_t)io->samples));
	if (io->tracefs) {
		mt_user_raise();
		mt_io_tracefs_stop(io->tracefs);
		mt_user_lower();
		while (mt_io_tracefs_drain(io->tracefs))
			;
		mt_user_raise();
		lost = mt_io_tracefs_describe(io->tracefs, o);
		mt_io_tracefs_close(io->tracefs);
		mt_user_lower();
	}
	json_object_set_new(o, "lost", json_integer((json_int_t)lost));
	json_object_set_new(o, "end_ns", json_integer((json_int_t)mt_monotonic_ns()));
	err = ended(io->counters);
	err = ended(io->files) ? -EIO : err;
	path = mt_printf("%s/io.json", io->folder);
	if (json_dump_file(o, path, JSON_INDENT(1) | JSON_PRESERVE_ORDER) || err)
		mt_error("record: the I/O could not be written whole into %s", io->folder);
	free(path);
	m = json_pack("{s:O, s:I}", "source", json_object_get(o, "source"), "lost", (json_int_t)lost);
	if (io->sentence)
		json_object_set_new(m, "text", json_string(io->sentence));
	json_decref(o);
	pthread_mutex_destroy(&io->lock);
	free(io->open);
	free(io->sentence);
	free(io->folder);
	free(io->trace);
	free(io);
	return m;
}
