/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <hwloc.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/backend/backend.h"
#include "cli/finish/manifest.h"
#include "cli/trace/tracedir.h"
#include "cli/trace/unrecorded.h"
#include "cli/names/unseen.h"
#include "cli/base/util.h"
#include "cli/finish/windowseen.h"
#include "cli/finish/finebins.h"
#include "cli/finish/slower.h"
#include "cli/finish/zoomcost.h"
#include "cli/ticks/ticks.h"

extern char **environ;

static char *cpu_model(void)
{
	char *info = mt_read_file("/proc/cpuinfo", NULL);
	char *p = info ? strstr(info, "model name") : NULL, *e;

	if (p && (p = strchr(p, ':'))) {
		p += strspn(p, ": \t");
		e = strchr(p, '\n');
		if (e)
			*e = 0;
		p = mt_strdup(p);
	}
	free(info);
	return p;
}

static char *os_name(void)
{
	char *info = mt_read_file("/etc/os-release", NULL);
	char *p = info ? strstr(info, "PRETTY_NAME=") : NULL, *e;

	if (p) {
		p += 12;
		p += *p == '"';
		e = strpbrk(p, "\"\n");
		if (e)
			*e = 0;
		p = mt_strdup(p);
	}
	free(info);
	return p;
}

static void setting(json_t *o, const char *name, const char *path)
{
	char *v = mt_read_line(path);

	/* "always [madvise] never": the chosen one */
	if (v && strchr(v, '[') && strchr(v, ']')) {
		char *b = strchr(v, '[') + 1;

		*strchr(v, ']') = 0;
		memmove(v, b, strlen(b) + 1);
	}
	json_object_set_new(o, name, v && *v ? json_string(v) : json_null());
	free(v);
}

/*
 * Without the plugins of hwloc, which link OpenCL, X and libxml2 (with 30 MB of tables of ICU) and take longer to load than the rest
 * of our start: they tell about devices, which are not asked for, and write the same XML as hwloc itself. And without asking the
 * processors: hwloc goes to each of them for that, though the kernel has told the same.
 */
static bool topology(const char *trace)
{
	static const char plugins[] = "HWLOC_PLUGINS_PATH";
	const bool ours = !getenv(plugins);
	hwloc_topology_t t;
	char *path = mt_printf("%s/topology.xml", trace);
	bool ok = false;

	if (ours)
		setenv(plugins, "/nonexistent", 1);
	if (hwloc_topology_init(&t) == 0) {
		if (mt_exists("/sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_map") &&
		    mt_exists("/sys/devices/system/cpu/cpu0/topology/core_id"))
			hwloc_topology_set_components(t, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
		ok = hwloc_topology_load(t) == 0 && hwloc_topology_export_xml(t, path, 0) == 0;
		hwloc_topology_destroy(t);
	}
	if (ours)
		unsetenv(plugins);
	if (!ok)
		unlink(path);
	free(path);
	return ok;
}

json_t *mt_machine_describe(void)
{
	/* what changes how memory is placed, how fast the machine is, and what a recorder may do */
	static const struct {
		const char *name, *path;
	} settings[] = {
		{ "numa_balancing", "/proc/sys/kernel/numa_balancing" },
		{ "randomize_va_space", "/proc/sys/kernel/randomize_va_space" },
		{ "transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled" },
		{ "transparent_hugepage_defrag", "/sys/kernel/mm/transparent_hugepage/defrag" },
		{ "huge_pages", "/proc/sys/vm/nr_hugepages" },
		{ "perf_event_paranoid", "/proc/sys/kernel/perf_event_paranoid" },
		{ "perf_event_mlock_kb", "/proc/sys/kernel/perf_event_mlock_kb" },
		{ "unprivileged_userfaultfd", "/proc/sys/vm/unprivileged_userfaultfd" },
		{ "overcommit_memory", "/proc/sys/vm/overcommit_memory" },
		{ "max_map_count", "/proc/sys/vm/max_map_count" },
		{ "swappiness", "/proc/sys/vm/swappiness" },
		{ "cpu_governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor" },
		{ "cpu_boost", "/sys/devices/system/cpu/cpufreq/boost" },
		{ "cpu_no_turbo", "/sys/devices/system/cpu/intel_pstate/no_turbo" },
		{ "isolated_cpus", "/sys/devices/system/cpu/isolated" },
		{ "cpus_online", "/sys/devices/system/cpu/online" },
		{ "smt_active", "/sys/devices/system/cpu/smt/active" },
	};
	char *model = cpu_model(), *os = os_name();
	json_t *s = json_object(), *m;
	struct utsname u;
	DIR *in = opendir("/sys/devices/system/node");
	struct dirent *e;
	int nodes = 0;

	memset(&u, 0, sizeof(u));
	uname(&u);
	while (in && (e = readdir(in)))
		nodes += !strncmp(e->d_name, "node", 4) && e->d_name[4] >= '0' && e->d_name[4] <= '9';
	if (in)
		closedir(in);
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		setting(s, settings[i].name, settings[i].path);
	m = json_pack("{s:s, s:s?, s:s, s:s, s:s, s:s?, s:I, s:I, s:i, s:I, s:I, s:o}", "name", u.nodename, "os", os, "kernel", u.release,
		"kernel_version", u.version, "arch", u.machine, "cpu_model", model,
		"cpus_online", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "cpus_configured", (json_int_t)sysconf(_SC_NPROCESSORS_CONF),
		"numa_nodes", nodes ? nodes : 1, "memory_bytes", (json_int_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE),
		"page_size_bytes", (json_int_t)sysconf(_SC_PAGESIZE), "settings", s);
	free(model);
	free(os);
	return m;
}

json_t *mt_host_describe(const char *trace)
{
	json_t *h = mt_machine_describe();
	char user[128], *boot;

	if (getenv("USER"))
		snprintf(user, sizeof(user), "%s", getenv("USER"));
	else
		snprintf(user, sizeof(user), geteuid() ? "uid %d" : "root", (int)geteuid());
	setting(json_object_get(h, "settings"), "loadavg_at_start", "/proc/loadavg");
	json_object_set_new(h, "topology", topology(trace) ? json_string("topology.xml") : json_null());
	json_object_set_new(h, "user", json_string(user));
	boot = mt_read_line("/proc/sys/kernel/random/boot_id");
	if (boot)
		json_object_set_new(h, "boot_id", json_string(boot));
	free(boot);
	return h;
}

json_t *mt_environment_describe(void)
{
	static const char *const prefixes[] = { "OMP_", "GOMP_", "KMP_", "MALLOC_", "LD_", "LC_",
		"GLIBC_", "MKL_", "OPENBLAS_", "NUMA", "HWLOC_", "I_MPI_", "OMPI_", "SLURM_", "MV2_", "MPI_LOCAL",
		"PMI_RANK", "PMI_SIZE", "PMIX_RANK", "PMIX_NAMESPACE", "PBS_JOBID",
		"TBB_", "GFORTRAN_", "ACC_" };
	static const char *const names[] = { "PATH", "LANG", "TZ", "SHELL", "PWD" };
	json_t *o = json_object();

	for (char **e = environ; *e; e++) {
		const char *eq = strchr(*e, '=');
		size_t n = eq ? (size_t)(eq - *e) : 0;
		bool take = false;
		char *name;

		for (size_t i = 0; n && i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
			take |= !strncmp(*e, prefixes[i], strlen(prefixes[i]));
		for (size_t i = 0; n && i < sizeof(names) / sizeof(names[0]); i++)
			take |= strlen(names[i]) == n && !strncmp(*e, names[i], n);
		if (!take)
			continue;
		name = strndup(*e, n);
		if (name) {
			json_t *v = json_string(eq + 1);	/* NULL when it is not UTF-8 */

			json_object_set_new(o, name, v ? v : json_string("(not UTF-8)"));
		}
		free(name);
	}
	return o;
}

json_t *mt_revision_describe(const char *directory)
{
	char *dir = realpath(directory, NULL), *head = NULL, *git, *commit = NULL;
	const char *branch = NULL;
	json_t *out = NULL;

	while (dir && *dir) {
		char *slash;

		git = mt_printf("%s/.git", dir);
		head = mt_printf("%s/HEAD", git);
		commit = mt_read_line(head);
		free(head);
		if (!commit) {		/* a worktree: .git is a file "gitdir: PATH" */
			char *link = mt_read_line(git), *common;

			if (link && !strncmp(link, "gitdir: ", 8)) {
				head = mt_printf("%s/HEAD", link + 8);
				commit = mt_read_line(head);
				free(head);
				/* its branches are in the directory of the repository */
				head = mt_printf("%s/commondir", link + 8);
				common = mt_read_line(head);
				free(head);
				if (common) {
					free(git);
					git = *common == '/' ? mt_strdup(common) : mt_printf("%s/%s", link + 8, common);
				}
				free(common);
			}
			free(link);
		}
		if (commit) {
			if (!strncmp(commit, "ref: ", 5)) {
				char *ref = mt_strdup(commit + 5), *path = mt_printf("%s/%s", git, ref);
				char *value = mt_read_line(path);

				free(path);
				if (!value) {	/* packed */
					char *all, *at;

					path = mt_printf("%s/packed-refs", git);
					all = mt_read_file(path, NULL);
					at = all ? strstr(all, ref) : NULL;
					if (at && at - all >= 41)
						value = strndup(at - 41, 40);
					free(all);
					free(path);
				}
				branch = mt_base(ref);
				out = json_pack("{s:s, s:s?, s:s}", "directory", dir, "commit",
						value, "branch", branch);
				free(value);
				free(ref);
			} else {
				out = json_pack("{s:s, s:s}", "directory", dir, "commit", commit);
			}
			free(commit);
			free(git);
			break;
		}
		free(git);
		slash = strrchr(dir, '/');
		*slash = 0;
	}
	free(dir);
	return out;
}

char *mt_build_id(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *out = NULL;
	size_t n = 0;
	Elf *elf;

	if (fd < 0)
		return NULL;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_getphdrnum(elf, &n) == 0) {
		for (size_t i = 0; i < n && !out; i++) {
			GElf_Phdr ph;
			Elf_Data *d;
			GElf_Nhdr nh;
			size_t off = 0, name, desc;

			if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_NOTE)
				continue;
			d = elf_getdata_rawchunk(elf, (int64_t)ph.p_offset, ph.p_filesz, ELF_T_NHDR);
			while (d && !out && (off = gelf_getnote(d, off, &nh, &name, &desc)) > 0) {
				if (nh.n_type != NT_GNU_BUILD_ID || nh.n_namesz != 4 ||
				    memcmp((char *)d->d_buf + name, "GNU", 4))
					continue;
				out = mt_alloc(2 * nh.n_descsz + 1);
				for (size_t k = 0; k < nh.n_descsz; k++)
					sprintf(out + 2 * k, "%02x",
						((unsigned char *)d->d_buf)[desc + k]);
			}
		}
	}
	elf_end(elf);
	close(fd);
	return out;
}

/* Did the log of the context library come to its orderly end? */
static bool orderly(const char *trace, const char *image)
{
	char *path = mt_printf("%s/%s/" MT_FILE_CONTEXT, trace, image), b[4097];
	FILE *f = fopen(path, "re");
	bool yes = false;
	size_t n;

	free(path);
	if (!f)
		return false;
	fseek(f, -4096, SEEK_END);
	n = fread(b, 1, 4096, f);
	b[n] = 0;
	for (char *p = b; (p = strstr(p, "\nE ")); p++)
		yes = true;
	fclose(f);
	return yes;
}

static json_int_t number_of(const json_t *image, const char *key)
{
	return json_integer_value(json_object_get(image, key));
}

/* Is an image another one, or does it descend from it? Images are numbered in the order of their start. */
static bool descends(const json_t *image, json_int_t from, json_t *const *all, size_t n)
{
	json_int_t index = number_of(image, "index");

	for (size_t i = n; i-- > 0 && index > from;)
		if (all[i] && number_of(all[i], "index") == index)
			index = number_of(all[i], "parent");
	return index == from;
}

/*
 * A program learns the image that it comes from by its environment. Who starts programs with a copy of an older one, as
 * mpirun and shells do, hands on that of an ancestor: the last image of this process before it is meant.
 */
static void correct_parents(json_t *const *all, size_t n)
{
	for (size_t j = 0; j < n; j++) {
		const char *how = json_string_value(json_object_get(all[j], "how"));
		const json_t *last = NULL;

		if (!how || strcmp(how, "exec"))
			continue;
		for (size_t i = 0; i < n; i++)
			if (all[i] && number_of(all[i], "pid") == number_of(all[j], "pid") &&
			    number_of(all[i], "pid_namespace") == number_of(all[j], "pid_namespace") &&
			    number_of(all[i], "index") < number_of(all[j], "index") &&
			    (!last || number_of(all[i], "index") > number_of(last, "index")))
				last = all[i];
		if (last && descends(last, number_of(all[j], "parent"), all, n))
			json_object_set_new(all[j], "parent", json_integer(number_of(last, "index")));
	}
}

/* What the images say of themselves, NULL where one does not. To be freed, and each unreferenced. */
static json_t **read_images(const char *trace, char *const *dirs, size_t n)
{
	json_t **all = mt_alloc((n + 1) * sizeof(*all));

	for (size_t i = 0; i < n; i++)
		all[i] = mt_image_read(trace, dirs[i]);
	correct_parents(all, n);
	return all;
}

static const char *image_state(const json_t *image, json_t *const *all, size_t n,
			       const struct mt_totals *t, const char *trace, const char *dir)
{
	for (size_t i = 0; i < n; i++) {
		const char *how = json_string_value(json_object_get(all[i], "how"));

		if (how && !strcmp(how, "exec") && number_of(all[i], "parent") == number_of(image, "index") &&
		    number_of(all[i], "pid") == number_of(image, "pid"))
			return "exec";		/* went on as another program */
	}
	if (mt_image_alive(image))
		return "running";
	return t->ended || orderly(trace, dir) ? "complete" : "aborted";
}

/* The sentence for a person about intervals that took longer than they should; mean and longest of all of them. */
static json_t *late_of(uint64_t late, uint64_t intervals, uint64_t mean_ns, uint64_t longest_ns, uint64_t asked_ns)
{
	char *asked = asked_ns ? mt_printf(", where %s were asked for", mt_human_ns(asked_ns)) : mt_strdup("");
	char *text = mt_printf("%s of %s intervals took longer than they should (%s on average, %s the longest%s): "
			       "the resolution in time is coarser, nothing is lost by it", mt_human_count(late),
			       mt_human_count(intervals), mt_human_ns(mean_ns), mt_human_ns(longest_ns), asked);
	json_t *j = json_pack("{s:I, s:I, s:s}", "intervals", (json_int_t)late, "of", (json_int_t)intervals, "text", text);

	free(asked);
	free(text);
	return j;
}

/* What devices and virtual machines do to the memory of the program is not seen, whatever else is. */
static void add_followed(const json_t *m, json_t *unseen)
{
	const json_int_t n = json_integer_value(json_object_get(json_object_get(m, "followed"), "processes"));
	const char *text = json_string_value(json_object_get(unseen, "text"));
	const bool all = !strcmp(json_string_value(json_object_get(unseen, "state")), "all");
	char *more, *whole;

	if (!n)
		return;
	more = mt_printf("what devices or virtual machines (a GPU, RDMA, KVM) access of %lld process%s by page tables of their own",
			 (long long)n, n == 1 ? "" : "es");
	whole = all ? mt_printf("not seen: %s; else %s", more, text) : mt_printf("%s; %s", text, more);
	json_object_set_new(unseen, "text", json_string(whole));
	if (all)
		json_object_set_new(unseen, "state", json_string("some"));
	free(whole);
	free(more);
}

/* Blocks that no structure stands for, of all images; NULL: none. */
static json_t *unlisted_of(const char *trace, char **dirs, size_t n)
{
	uint64_t blocks = 0, bytes = 0;
	json_t *j;
	char *text;

	for (size_t i = 0; i < n; i++) {
		char *path = mt_printf("%s/%s/unlisted.csv", trace, dirs[i]), line[128];
		FILE *f = fopen(path, "re");
		unsigned long long b, k;

		while (f && fgets(line, sizeof(line), f))
			if (sscanf(line, "brief,%llu,%llu", &b, &k) == 2) {
				blocks += b;
				bytes += k;
			}
		if (f)
			fclose(f);
		free(path);
	}
	if (!blocks)
		return NULL;
	text = mt_printf("%s block%s (%s) that lived shortly, among many such, %s no structure: the budget leaves room for a part of them "
			 "(--max-overhead 0 lists all)", mt_human_count(blocks), blocks == 1 ? "" : "s", mt_human_bytes(bytes),
			 blocks == 1 ? "is" : "are");
	j = json_pack("{s:I, s:I, s:s}", "blocks", (json_int_t)blocks, "bytes", (json_int_t)bytes, "text", text);
	free(text);
	return j;
}

/* What was looked at in another way than by complete looks of all the run. */
static void looked(json_t *m, const char *trace)
{
	const json_t *asked = json_object_get(m, "parameters");
	json_t *ticks = mt_ticks_describe(trace, m);

	json_object_del(m, "windows");
	if (json_object_get(asked, "windows"))
		json_object_set_new(m, "windows", mt_windows_describe(trace, json_string_value(json_object_get(asked, "windows"))));
	json_object_del(m, "zoom");
	if (json_object_get(asked, "zoom"))
		json_object_set_new(m, "zoom", mt_zoom_describe(trace, json_object_get(asked, "zoom"),
								 json_number_value(json_object_get(asked, "zoom_cpu"))));
	mt_fine_describe(m, trace);
	mt_slower_describe(m, trace);
	json_object_del(m, "ticks");
	if (ticks)
		json_object_set_new(m, "ticks", ticks);
}

/* What the totals of all images are together. */
struct sums {
	uint64_t lost[5], lost_total;	/* lost by reason, lost_reason[] */
	uint64_t program_cpu_ns, monitor_cpu_ns, faults, intervals, governor_changes;
	uint64_t late, length_ns, longest_ns;
	int64_t end;
};

static const char *const lost_reason[] = { "ring_overflow", "table_full", "unmapped", "region", "write_error" };

/* Adds an image to the sums; returns how many accesses it lost. */
static uint64_t add_totals(struct sums *sums, const struct mt_totals *t)
{
	uint64_t by[5] = { t->lost_ring, t->lost_table }, lost = 0;

	memcpy(by + 2, t->lost_other, sizeof(t->lost_other));
	for (int k = 0; k < 5; k++) {
		sums->lost[k] += by[k];
		lost += by[k];
	}
	sums->lost_total += lost;
	sums->program_cpu_ns += t->program_cpu_ns;
	sums->monitor_cpu_ns += t->monitor_cpu_ns;
	sums->faults += t->faults;
	sums->intervals += t->intervals;
	sums->governor_changes += t->governor_changes;
	sums->late += t->late;
	sums->length_ns += t->length_ns;
	if (t->longest_ns > sums->longest_ns)
		sums->longest_ns = t->longest_ns;
	if (t->end > sums->end)
		sums->end = t->end;
	return lost;
}

static json_t *image_entry(const char *dir, const json_t *image, const char *state, uint64_t records, uint64_t lost)
{
	static const char *const keys[] = { "pid", "parent", "how", "executable", "backend" };
	json_t *entry = json_pack("{s:s}", "dir", dir);

	for (size_t k = 0; image && k < sizeof(keys) / sizeof(keys[0]); k++) {
		json_t *v = json_object_get(image, keys[k]);

		if (v)
			json_object_set(entry, keys[k], v);
	}
	json_object_set_new(entry, "state", json_string(state));
	json_object_set_new(entry, "accesses", json_integer((json_int_t)records));
	json_object_set_new(entry, "losses", json_integer((json_int_t)lost));
	return entry;
}

/* The first image with a backend, else the first: a shell that is not recorded itself is no sign of what worked. */
static const json_t *image_that_worked(json_t *const *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = json_string_value(json_object_get(all[i], "backend"));

		if (name && strcmp(name, MT_NO_BACKEND))
			return all[i];
	}
	return n ? all[0] : NULL;
}

/* The backend of the manifest is the one of this image. */
static void tell_backend(json_t *m, const json_t *image)
{
	json_t *b = json_object_get(m, "backend"), *name = json_object_get(image, "backend");
	const char *msg = json_string_value(json_object_get(image, "backend_message"));
	const struct mt_backend *backend;

	if (!json_is_string(name) || !b)
		return;
	json_object_set(b, "name", name);
	if (msg && *msg)
		json_object_set_new(b, "message", json_string(msg));
	/* what was promised is what works in the program, and that may be nothing */
	backend = mt_backend_find(json_string_value(name));
	if (backend && !(backend->abilities & MT_ABILITY_ACCESSES))
		json_object_set_new(b, "guarantee", backend->guarantee(NULL, NULL));
}

static json_t *losses_of(const struct sums *sums)
{
	json_t *by = json_object();

	for (int k = 0; k < 5; k++)
		json_object_set_new(by, lost_reason[k], json_integer((json_int_t)sums->lost[k]));
	return json_pack("{s:I, s:o}", "total", (json_int_t)sums->lost_total, "by_reason", by);
}

/* Takes the value; NULL: what the manifest had under the key goes. */
static void set_or_remove(json_t *m, const char *key, json_t *value)
{
	if (value)
		json_object_set_new(m, key, value);
	else
		json_object_del(m, key);
}

/* old: the overhead that the manifest had; recorder_cpu_ns < 0: as in it. */
static json_t *overhead_of(const json_t *old, const struct sums *s, const char *trace, long long recorder_cpu_ns)
{
	uint64_t program = s->program_cpu_ns;

	if (recorder_cpu_ns < 0)
		recorder_cpu_ns = json_integer_value(json_object_get(old, "recorder_cpu_ns"));
	if (!program)
		program = (uint64_t)json_integer_value(json_object_get(old, "program_cpu_ns"));
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
		"program_cpu_ns", (json_int_t)program, "monitor_cpu_ns", (json_int_t)s->monitor_cpu_ns,
		"recorder_cpu_ns", (json_int_t)recorder_cpu_ns, "faults", (json_int_t)s->faults, "zaps",
		(json_int_t)s->intervals, "scans", (json_int_t)s->intervals, "bytes_written",
		(json_int_t)mt_tree_bytes(trace), "intervals", (json_int_t)s->intervals,
		"governor_changes", (json_int_t)s->governor_changes, "late_intervals", (json_int_t)s->late, "mean_interval_ns",
		(json_int_t)(s->intervals ? s->length_ns / s->intervals : 0), "longest_interval_ns", (json_int_t)s->longest_ns);
}

void mt_manifest_complete(json_t *m, const char *trace, long long recorder_cpu_ns)
{
	struct sums sums = { .end = -1 };
	json_t *images = json_array(), *clock, *unrecorded, *unseen;
	const uint64_t asked = (uint64_t)json_integer_value(json_object_get(json_object_get(m, "parameters"), "interval_ns"));
	size_t n;
	char **dirs = mt_trace_images(trace, &n);
	json_t **all = read_images(trace, dirs, n);
	const char **states = mt_alloc((n + 1) * sizeof(*states));
	const json_t *worked = image_that_worked(all, n);

	for (size_t i = 0; i < n; i++) {
		struct mt_totals t;
		uint64_t lost;

		mt_image_totals(trace, dirs[i], asked, &t);
		lost = add_totals(&sums, &t);
		states[i] = image_state(all[i], all, n, &t, trace, dirs[i]);
		json_array_append_new(images, image_entry(dirs[i], all[i], states[i], t.records, lost));
	}
	if (worked)
		tell_backend(m, worked);
	json_object_set_new(m, "losses", losses_of(&sums));
	set_or_remove(m, "late", sums.late ? late_of(sums.late, sums.intervals, sums.length_ns / sums.intervals, sums.longest_ns, asked)
			: NULL);
	set_or_remove(m, "unlisted", unlisted_of(trace, dirs, n));
	unrecorded = mt_unrecorded_describe(trace);
	unseen = mt_unseen_describe(trace, dirs, states, n, unrecorded != NULL);
	set_or_remove(m, "unrecorded", unrecorded);
	if (unseen)
		add_followed(m, unseen);
	set_or_remove(m, "unseen", unseen);
	json_object_set_new(m, "images", images);
	json_object_set_new(m, "overhead", overhead_of(json_object_get(m, "overhead"), &sums, trace, recorder_cpu_ns));
	looked(m, trace);
	clock = json_object_get(m, "clock");
	if (clock && json_integer_value(json_object_get(clock, "end_ns")) <= 0 && sums.end > 0)
		json_object_set_new(clock, "end_ns", json_integer(sums.end));
	for (size_t i = 0; i < n; i++)
		json_decref(all[i]);
	free(all);
	free(states);
	mt_names_free(dirs, n);
}

int mt_manifest_repair(json_t *m, const char *trace)
{
	json_t *status = json_object_get(m, "status");
	const char *state = json_string_value(json_object_get(status, "state"));
	json_t *recorder = json_object_get(m, "recorder");

	if (!state)
		return 0;
	if (strcmp(state, "running")) {
		/* images that outlived the recorder may have ended since */
		json_t *images = json_object_get(m, "images"), *v;
		bool again = false;
		size_t i;

		json_array_foreach(images, i, v) {
			const char *dir = json_string_value(json_object_get(v, "dir"));
			const char *was = json_string_value(json_object_get(v, "state"));
			json_t *j = dir && was && !strcmp(was, "running") ?
				    mt_image_read(trace, dir) : NULL;

			again |= j && !mt_image_alive(j);
			json_decref(j);
		}
		if (!again)
			return 0;
		mt_manifest_complete(m, trace, -1);
		return mt_manifest_write(trace, m);
	}
	/* same machine and the process is still that one? */
	if (json_is_object(recorder)) {
		struct utsname u;
		const char *host = json_string_value(json_object_get(json_object_get(m, "host"),
								     "name"));

		if (!uname(&u) && host && !strcmp(host, u.nodename) && mt_image_alive(recorder))
			return 1;
	}
	mt_reserve_release(trace);
	json_object_set_new(status, "state", json_string("aborted"));
	json_object_set_new(status, "message", json_string(
		"the recorder was killed; the trace holds what was written until then"));
	mt_manifest_complete(m, trace, -1);
	return mt_manifest_write(trace, m);
}
