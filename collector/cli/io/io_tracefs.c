/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/io/io_tracefs.h"

#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cli/base/util.h"

#ifndef FSCONFIG_CMD_CREATE
#define FSCONFIG_CMD_CREATE 6
#endif

enum { CALLS, BLOCK, INSTANCES };

static const char *const instance_name[INSTANCES] = { "calls", "block" };

/* SYSTEM/EVENT of each instance. What a kernel does not have is told in io.json. */
static const char *const calls_events[] = {
	"task/task_newtask", "task/task_rename",
	"filemap/mm_filemap_add_to_page_cache", "filemap/mm_filemap_get_pages", "filemap/mm_filemap_fault",
	"writeback/writeback_dirty_folio", "writeback/writeback_dirty_page",
	"ext4/ext4_da_write_begin", "ext4/ext4_write_begin", "ext4/ext4_sync_file_enter", "ext4/ext4_sync_file_exit",
	"ext4/ext4_fallocate_enter", "ext4/ext4_fallocate_exit", "ext4/ext4_truncate_enter", "ext4/ext4_truncate_exit",
	"ext4/ext4_read_folio", "ext4/ext4_readpage", "ext4/ext4_writepages", "ext4/ext4_writepages_result",
	"iomap/iomap_dio_rw_begin", "iomap/iomap_dio_complete", "iomap/iomap_readpage", "iomap/iomap_readahead",
	"iomap/iomap_writepage", "iomap/iomap_writeback_folio",
	"xfs/xfs_file_buffered_read", "xfs/xfs_file_direct_read", "xfs/xfs_file_buffered_write", "xfs/xfs_file_direct_write",
	"xfs/xfs_file_fsync", "btrfs/btrfs_sync_file",
};
static const char *const block_events[] = {
	"block/block_rq_issue", "block/block_rq_complete",
	"ext4/ext4_ext_map_blocks_exit", "ext4/ext4_ind_map_blocks_exit", "iomap/iomap_iter_dstmap",
};
static const char *const system_calls[] = {
	"read", "write", "pread64", "pwrite64", "readv", "writev", "preadv", "pwritev", "preadv2", "pwritev2",
	"fsync", "fdatasync", "sync_file_range", "msync", "sendfile64", "copy_file_range", "splice", "fallocate", "ftruncate",
	"io_submit", "io_getevents", "io_uring_enter", "open", "openat", "openat2", "creat", "close",
	"dup", "dup2", "dup3", "fcntl",
};

#if defined(__x86_64__)
#define A0 "%di"
#define A1 "%si"
#define A2 "%dx"
#define A3 "%cx"
#elif defined(__aarch64__)
#define A0 "%x0"
#define A1 "%x1"
#define A2 "%x2"
#define A3 "%x3"
#endif

/* Functions of the C library, and their arguments in registers. */
static const struct function {
	const char *name, *arguments;
} functions[] = {
	{ "read", "fd=" A0 ":s32 count=" A2 ":u64" }, { "write", "fd=" A0 ":s32 count=" A2 ":u64" },
	{ "pread64", "fd=" A0 ":s32 count=" A2 ":u64 pos=" A3 ":s64" }, { "pwrite64", "fd=" A0 ":s32 count=" A2 ":u64 pos=" A3 ":s64" },
	{ "readv", "fd=" A0 ":s32" }, { "writev", "fd=" A0 ":s32" },
	{ "preadv64", "fd=" A0 ":s32 pos=" A3 ":s64" }, { "pwritev64", "fd=" A0 ":s32 pos=" A3 ":s64" },
	{ "fsync", "fd=" A0 ":s32" }, { "fdatasync", "fd=" A0 ":s32" }, { "close", "fd=" A0 ":s32" },
	{ "open64", "path=+0(" A0 "):ustring" }, { "openat64", "path=+0(" A1 "):ustring" }, { "fopen64", "path=+0(" A0 "):ustring" },
	{ "fread", "size=" A1 ":u64 items=" A2 ":u64" }, { "fwrite", "size=" A1 ":u64 items=" A2 ":u64" }, { "fflush", "" },
};
#define N(a) (sizeof(a) / sizeof((a)[0]))

struct cpu {
	int number, pipe;
	FILE *out;
	uint64_t unwritten;	/* bytes */
};

struct mt_io_tracefs {
	char *root;		/* tracefs */
	int mount;		/* our own one that is nowhere in the tree of files, or -1 */
	char *instance[INSTANCES];
	char *folder;		/* or NULL */
	FILE *formats;		/* or NULL */
	char *group;		/* of the uprobes */
	bool probes;
	json_t *missing, *user;
	struct cpu *cpu[INSTANCES];
	size_t n_cpu[INSTANCES];
	size_t page_bytes, commit_offset, data_offset;
	unsigned char *page;
};

/* 0 or a negative errno. @flags: O_TRUNC or O_APPEND. */
static int put_flags(const char *folder, const char *name, const char *text, int flags)
{
	char *path = mt_printf("%s/%s", folder, name);
	const int fd = open(path, O_WRONLY | O_CLOEXEC | flags);
	int err = 0;

	free(path);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int put(const char *folder, const char *name, const char *text)
{
	return put_flags(folder, name, text, O_TRUNC);
}

static char *get(const char *folder, const char *name)
{
	char *path = mt_printf("%s/%s", folder, name), *text = mt_read_file(path, NULL);

	free(path);
	return text;
}

/* Where tracefs is; *mount_fd is that of a mount of our own, which no path leads to. NULL with errno. */
static char *find(int *mount_fd)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	int fs;

	*mount_fd = -1;
	for (size_t i = 0; i < N(places); i++) {
		char *path = mt_printf("%s/instances", places[i]);
		const bool there = mt_exists(path);

		free(path);
		if (there)
			return mt_strdup(places[i]);
	}
	fs = (int)syscall(SYS_fsopen, "tracefs", 1 /* FSOPEN_CLOEXEC */);
	if (fs < 0)
		return NULL;
	if (!syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		*mount_fd = (int)syscall(SYS_fsmount, fs, 1 /* FSMOUNT_CLOEXEC */, 0);
	if (*mount_fd < 0) {
		const int err = errno;

		close(fs);
		errno = err;
		return NULL;
	}
	close(fs);
	return mt_printf("/proc/self/fd/%d", *mount_fd);
}

/* Lines of uprobe_events that remove the probes of a group. */
static void remove_probes(const char *root, const char *group)
{
	char *text = get(root, "uprobe_events"), *save = NULL;
	char *mark = mt_printf(":%s/", group);

	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
		char *at = strstr(line, mark), *end, *command;

		if (!at)
			continue;
		end = at + strcspn(at, " ");
		command = mt_printf("-%.*s\n", (int)(end - at), at);
		put_flags(root, "uprobe_events", command, O_APPEND);
		free(command);
	}
	free(mark);
	free(text);
}

/* A recorder that was killed leaves its instances: those of processes that are no more are removed. */
static void remove_stale(const char *root)
{
	char *path = mt_printf("%s/instances", root);
	DIR *d = opendir(path);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		char *instance, *group, *end;
		long pid;

		if (strncmp(e->d_name, "memtrace-", 9) || !isdigit((unsigned char)e->d_name[9]))
			continue;
		pid = strtol(e->d_name + 9, &end, 10);
		if (*end != '-' || pid <= 0 || !kill((pid_t)pid, 0) || errno != ESRCH)
			continue;
		instance = mt_printf("%s/%s", path, e->d_name);
		group = mt_printf("memtrace_%ld", pid);
		put(instance, "events/enable", "0");
		rmdir(instance);
		remove_probes(root, group);
		free(group);
		free(instance);
	}
	if (d)
		closedir(d);
	free(path);
}

/* Adds a file of tracefs to the file of formats of the trace, behind the line "## NAME". */
static void keep(struct mt_io_tracefs *t, const char *from, const char *name)
{
	char *text = t->formats ? get(t->root, from) : NULL;

	if (text)
		fprintf(t->formats, "## %s\n%s\n", name, text);
	free(text);
}

/* Enables an event in an instance, and keeps its format under @as (SYSTEM/EVENT). 0 or a negative errno. */
static int enable(struct mt_io_tracefs *t, int which, const char *event, const char *as)
{
	char *name = mt_printf("events/%s/enable", event);
	int err = put(t->instance[which], name, "1");

	free(name);
	if (!err) {
		char *from = mt_printf("events/%s/format", event);

		keep(t, from, as);
		free(from);
	}
	return err;
}

/* Memory that several processes share, and the file behind the backend zap, are "files" of a device of the kernel. */
static void without_shared_memory(struct mt_io_tracefs *t)
{
	static const char *const filters[][2] = {
		{ "events/filemap/mm_filemap_add_to_page_cache/filter", "s_dev" },
		{ "events/filemap/mm_filemap_get_pages/filter", "s_dev" },
		{ "events/filemap/mm_filemap_fault/filter", "s_dev" },
	};
	const int fd = memfd_create("memtrace", MFD_CLOEXEC);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st))
		for (size_t i = 0; i < N(filters); i++) {
			/* dev_t within the kernel: 12 bits, 20 bits */
			char *filter = mt_printf("%s != %u", filters[i][1], major(st.st_dev) << 20 | minor(st.st_dev));

			put(t->instance[CALLS], filters[i][0], filter);
			free(filter);
		}
	if (fd >= 0)
		close(fd);
}

struct place {
	const void *address;
	uint64_t offset;	/* in the file */
	bool found;
};

static int in_object(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct place *p = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		const uintptr_t begin = info->dlpi_addr + h->p_vaddr, at = (uintptr_t)p->address;

		if (h->p_type != PT_LOAD || at < begin || at >= begin + h->p_filesz)
			continue;
		p->offset = at - begin + h->p_offset;
		p->found = true;
		return 1;
	}
	return 0;
}

/* Probes at the functions of the C library that we have, too. What does not work is missing, and told. */
static void probe_user(struct mt_io_tracefs *t)
{
	for (size_t i = 0; i < N(functions); i++) {
		const struct function *f = &functions[i];
		struct place p = { .address = dlsym(RTLD_DEFAULT, f->name) };
		char *text, *event, *back, *as;
		Dl_info where;

		if (!p.address || !dladdr(p.address, &where) || !dl_iterate_phdr(in_object, &p) || !p.found)
			continue;
		text = mt_printf("p:%s/%s %s:0x%" PRIx64 " %s\nr:%s/%s_ret %s:0x%" PRIx64 " ret=$retval:s64\n", t->group, f->name,
				 where.dli_fname, p.offset, f->arguments, t->group, f->name, where.dli_fname, p.offset);
		event = mt_printf("%s/%s", t->group, f->name);
		back = mt_printf("%s_ret", event);
		as = mt_printf("user/%s", f->name);
		if (!put_flags(t->root, "uprobe_events", text, O_APPEND)) {
			char *as_back = mt_printf("%s_ret", as);

			t->probes = true;
			if (!enable(t, CALLS, event, as) && !enable(t, CALLS, back, as_back))
				json_array_append_new(t->user, json_string(f->name));
			free(as_back);
		}
		free(text);
		free(event);
		free(back);
		free(as);
	}
}

/* Sizes and places of the header of a page, as the kernel tells them. */
static bool read_header(struct mt_io_tracefs *t)
{
	char *text = get(t->root, "events/header_page"), *commit = text ? strstr(text, "commit;") : NULL;
	char *data = text ? strstr(text, "data;") : NULL;
	unsigned int commit_offset = 0, offset = 0, size = 0;
	const bool known = commit && data && sscanf(commit, "commit; offset:%u;", &commit_offset) == 1 &&
			   sscanf(data, "data; offset:%u; size:%u;", &offset, &size) == 2 && size >= 64 && size <= 1 << 24 &&
			   commit_offset + 4 <= offset && offset <= 64;

	free(text);
	t->commit_offset = commit_offset;
	t->data_offset = offset;
	t->page_bytes = (size_t)offset + size;
	return known;
}

/* The pipes of all CPUs of an instance, and where their pages go. 0 or a negative errno. */
static int open_pipes(struct mt_io_tracefs *t, int which)
{
	char *path = mt_printf("%s/per_cpu", t->instance[which]);
	DIR *d = opendir(path);
	struct dirent *e;
	size_t cap = 0;
	int err = d ? 0 : -errno;

	while (d && !err && (e = readdir(d))) {
		struct cpu c = { .pipe = -1 };
		char *pipe_path, *out;

		if (strncmp(e->d_name, "cpu", 3) || !isdigit((unsigned char)e->d_name[3]))
			continue;
		c.number = (int)strtol(e->d_name + 3, NULL, 10);
		pipe_path = mt_printf("%s/%s/trace_pipe_raw", path, e->d_name);
		c.pipe = open(pipe_path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (c.pipe < 0)
			err = -errno;
		free(pipe_path);
		out = mt_printf("%s/%s-%d.raw", t->folder, instance_name[which], c.number);
		c.out = err ? NULL : fopen(out, "we");
		if (!err && !c.out)
			err = -errno;
		free(out);
		if (err) {
			if (c.pipe >= 0)
				close(c.pipe);
			break;
		}
		MT_GROW(t->cpu[which], t->n_cpu[which], cap);
		t->cpu[which][t->n_cpu[which]++] = c;
	}
	if (d)
		closedir(d);
	free(path);
	return err;
}

/* An instance with its clock and its size, switched off. 0 or a negative errno. */
static int make_instance(struct mt_io_tracefs *t, int which, uint64_t buffer_bytes)
{
	char *kib = mt_printf("%" PRIu64, buffer_bytes / 1024 ? buffer_bytes / 1024 : 1);
	int err = 0;

	t->instance[which] = mt_printf("%s/instances/memtrace-%d-%s", t->root, getpid(), instance_name[which]);
	if (mkdir(t->instance[which], 0700))
		err = -errno;
	if (err) {
		free(t->instance[which]);
		t->instance[which] = NULL;
	}
	if (!err)
		err = put(t->instance[which], "tracing_on", "0");
	if (!err)
		err = put(t->instance[which], "trace_clock", "mono");
	if (!err && t->folder)
		err = put(t->instance[which], "buffer_size_kb", kib);
	free(kib);
	return err;
}

/* The instances, and the pages of the kernel's buffers. The reason why not, which the caller frees, or NULL. */
static char *find_kernel(struct mt_io_tracefs *t, uint64_t buffer_bytes)
{
	const uint64_t block_bytes = buffer_bytes / 4 < 1 << 20 ? 1 << 20 : buffer_bytes / 4;
	int err = 0;

	t->root = find(&t->mount);
	if (!t->root)
		return mt_printf("there is no tracefs, and it cannot be mounted: %s", strerror(errno));
	remove_stale(t->root);
	for (int i = 0; i < INSTANCES && !err; i++)
		err = make_instance(t, i, i == CALLS ? buffer_bytes : block_bytes);
	if (err)
		return mt_printf("tracefs gives no instance of its own: %s", strerror(-err));
	if (!read_header(t))
		return mt_strdup("the pages of this kernel's trace buffers are not known");
	t->page = mt_alloc(t->page_bytes);
	return NULL;
}

/* The system calls, and the formats of their events where there is a folder for them. As find_kernel(). */
static char *enable_calls(struct mt_io_tracefs *t)
{
	static const char *const ends[] = { "enter", "exit" };

	if (t->folder) {
		char *path = mt_printf("%s/formats", t->folder);
		int err = 0;

		t->formats = fopen(path, "we");
		if (!t->formats)
			err = errno;
		free(path);
		if (err)
			return mt_printf("the formats of its events cannot be written: %s", strerror(err));
	}
	keep(t, "events/header_page", "header_page");
	keep(t, "events/header_event", "header_event");
	for (size_t i = 0; i < N(system_calls); i++) {
		for (size_t k = 0; k < N(ends); k++) {
			char *event = mt_printf("syscalls/sys_%s_%s", ends[k], system_calls[i]);

			if (enable(t, CALLS, event, event))
				json_array_append_new(t->missing, json_string(event));
			else if (!t->folder)	/* one is enough to know */
				i = N(system_calls) - 1;
			free(event);
		}
	}
	if (json_array_size(t->missing) == 2 * N(system_calls))
		return mt_strdup("this kernel has no events of system calls (CONFIG_FTRACE_SYSCALLS)");
	return NULL;
}

/* All other events, and the pipes through which they come. As find_kernel(). */
static char *enable_rest(struct mt_io_tracefs *t, bool user)
{
	int err = 0;

	for (size_t i = 0; i < N(calls_events); i++)
		if (enable(t, CALLS, calls_events[i], calls_events[i]))
			json_array_append_new(t->missing, json_string(calls_events[i]));
	for (size_t i = 0; i < N(block_events); i++)
		if (enable(t, BLOCK, block_events[i], block_events[i]))
			json_array_append_new(t->missing, json_string(block_events[i]));
	without_shared_memory(t);
	if (user)
		probe_user(t);
	if (fflush(t->formats))
		err = -errno;
	for (int i = 0; i < INSTANCES && !err; i++)
		err = open_pipes(t, i);
	return err ? mt_printf("the buffers of tracefs cannot be read: %s", strerror(-err)) : NULL;
}

struct mt_io_tracefs *mt_io_tracefs_open(const char *folder, uint64_t buffer_bytes, bool user, char **why)
{
	struct mt_io_tracefs *t = mt_alloc(sizeof(*t));

	t->mount = -1;
	t->missing = json_array();
	t->user = json_array();
	t->group = mt_printf("memtrace_%d", getpid());
	t->folder = folder ? mt_strdup(folder) : NULL;
	*why = find_kernel(t, buffer_bytes);
	if (!*why)
		*why = enable_calls(t);
	if (!*why && folder)
		*why = enable_rest(t, user);
	if (!*why)
		return t;
	mt_io_tracefs_close(t);
	return NULL;
}

int mt_io_tracefs_follow(struct mt_io_tracefs *t, pid_t pid)
{
	char *text = mt_printf("%d", pid);
	int err = put(t->instance[CALLS], "set_event_pid", text);

	free(text);
	if (!err)
		err = put(t->instance[CALLS], "options/event-fork", "1");
	for (int i = 0; i < INSTANCES && !err; i++)
		err = put(t->instance[i], "tracing_on", "1");
	return err;
}

/* A page without what is behind its events. */
static void write_page(struct mt_io_tracefs *t, struct cpu *c)
{
	uint32_t commit;
	size_t n;

	memcpy(&commit, t->page + t->commit_offset, sizeof(commit));
	n = t->data_offset + (commit & 0x7ffffff);
	if (commit >> 31 && commit >> 30 & 1)
		n += sizeof(long);	/* the number of lost events stands behind */
	if (n > t->page_bytes)
		n = t->page_bytes;
	if (n > t->data_offset && fwrite(t->page, 1, n, c->out) != n)
		c->unwritten += n;
}

uint64_t mt_io_tracefs_drain(struct mt_io_tracefs *t)
{
	uint64_t bytes = 0;

	for (int i = 0; i < INSTANCES; i++)
		for (size_t k = 0; k < t->n_cpu[i]; k++) {
			struct cpu *c = &t->cpu[i][k];
			ssize_t n;

			while ((n = read(c->pipe, t->page, t->page_bytes)) >= (ssize_t)t->data_offset) {
				if ((size_t)n < t->page_bytes)
					memset(t->page + n, 0, t->page_bytes - (size_t)n);
				write_page(t, c);
				bytes += (uint64_t)n;
			}
		}
	return bytes;
}

void mt_io_tracefs_stop(struct mt_io_tracefs *t)
{
	for (int i = 0; i < INSTANCES; i++)
		put(t->instance[i], "tracing_on", "0");
}

static uint64_t number(const char *text, const char *key)
{
	const char *at = text ? strstr(text, key) : NULL;

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

uint64_t mt_io_tracefs_describe(struct mt_io_tracefs *t, json_t *o)
{
	json_t *buffers = json_array();
	uint64_t lost = 0;

	for (int i = 0; i < INSTANCES; i++)
		for (size_t k = 0; k < t->n_cpu[i]; k++) {
			struct cpu *c = &t->cpu[i][k];
			char *name = mt_printf("per_cpu/cpu%d/stats", c->number), *text = get(t->instance[i], name);
			/* "overrun: N\ncommit overrun: N", behind "entries: N" */
			const uint64_t overrun = number(text, "\noverrun: "), commit = number(text, "\ncommit overrun: ");
			const uint64_t dropped = number(text, "\ndropped events: ");
			char *file = mt_printf("%s-%d.raw", instance_name[i], c->number);

			if (fflush(c->out))
				c->unwritten++;
			lost += overrun + commit + dropped;
			json_array_append_new(buffers, json_pack("{s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I}", "file", file, "instance",
				instance_name[i], "cpu", c->number, "overrun", (json_int_t)overrun, "commit_overrun", (json_int_t)commit,
				"dropped", (json_int_t)dropped, "read_events", (json_int_t)number(text, "\nread events: "),
				"unwritten_bytes", (json_int_t)c->unwritten));
			free(file);
			free(name);
			free(text);
		}
	json_object_set_new(o, "buffers", buffers);
	json_object_set(o, "missing", t->missing);
	json_object_set(o, "user_functions", t->user);
	return lost;
}

void mt_io_tracefs_close(struct mt_io_tracefs *t)
{
	for (int i = 0; i < INSTANCES; i++) {
		for (size_t k = 0; k < t->n_cpu[i]; k++) {
			close(t->cpu[i][k].pipe);
			fclose(t->cpu[i][k].out);
		}
		free(t->cpu[i]);
		if (t->instance[i]) {
			put(t->instance[i], "events/enable", "0");
			rmdir(t->instance[i]);
		}
		free(t->instance[i]);
	}
	if (t->probes)
		remove_probes(t->root, t->group);
	if (t->mount >= 0)
		close(t->mount);
	json_decref(t->missing);
	json_decref(t->user);
	if (t->formats)
		fclose(t->formats);
	free(t->root);
	free(t->folder);
	free(t->group);
	free(t->page);
	free(t);
}
