/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
#include "cli/measure/measure.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli/base/cache.h"
#include "cli/base/util.h"
#include "cli/measure/parts.h"

#define SCHEMA "memtrace.measure/1"
#define LARGE (128u << 20)	/* bytes; more where the caches are larger */
#define LARGEST (512u << 20)

/* ---- the machine */

static size_t size_of(const char *path)
{
	char *v = mt_read_line(path), *end;
	size_t n = v ? strtoul(v, &end, 10) : 0;

	if (n)
		n <<= *end == 'K' ? 10 : *end == 'M' ? 20 : 0;
	free(v);
	return n;
}

static size_t cache_of(int level, size_t otherwise)
{
	size_t n = 0;

	for (int i = 0; i < 8 && !n; i++) {
		char *of = mt_printf("/sys/devices/system/cpu/cpu0/cache/index%d/level", i), *size;
		char *kind = mt_printf("/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
		char *l = mt_read_line(of), *k = mt_read_line(kind);

		if (l && k && atoi(l) == level && *k != 'I') {
			size = mt_printf("/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
			n = size_of(size);
			free(size);
		}
		free(of);
		free(kind);
		free(l);
		free(k);
	}
	return n ? n : otherwise;
}

/* Bytes of a huge page, if a program may have them by asking. */
static size_t huge_page(void)
{
	char *on = mt_read_line("/sys/kernel/mm/transparent_hugepage/enabled");
	const size_t n = on && !strstr(on, "[never]") ? size_of("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size") : 0;

	free(on);
	return n <= LARGE ? n : 0;
}

static char *model(void)
{
	char *info = mt_read_file("/proc/cpuinfo", NULL), *p = info ? strstr(info, "model name") : NULL, *v = NULL;

	p = p ? strchr(p, ':') : NULL;
	if (p) {
		p += strspn(p, ": \t");
		v = strndup(p, strcspn(p, "\n"));
	}
	free(info);
	return v;
}

/* What must be the same for figures to hold. */
static json_t *machine(void)
{
	char *cpu = model(), *huge = mt_read_line("/sys/kernel/mm/transparent_hugepage/enabled");
	struct utsname u;
	json_t *m;

	memset(&u, 0, sizeof(u));
	uname(&u);
	m = json_pack("{s:s, s:s, s:s, s:s?, s:I, s:s?}", "name", u.nodename, "kernel", u.release, "arch", u.machine, "cpu_model", cpu,
		      "cpus", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "transparent_hugepage", huge);
	free(cpu);
	free(huge);
	return m;
}

static json_t *load(void)
{
	double v[1];

	return getloadavg(v, 1) == 1 ? json_real((double)(long)(v[0] * 100 + 0.5) / 100) : json_null();
}

/* ---- all of it */

static void open_machine(struct mt_measuring *m, const cpu_set_t *allowed)
{
	m->page = (size_t)sysconf(_SC_PAGESIZE);
	m->huge = huge_page();
	m->l1 = cache_of(1, 32 << 10);
	m->l2 = cache_of(2, 512 << 10);
	m->l3 = cache_of(3, 4 * m->l2);
	m->large = LARGE;
	while (m->large < LARGEST && m->large < 4 * m->l3)
		m->large *= 2;
	/* a small machine keeps most of its memory for others */
	while (m->large > LARGE / 8 && m->large > (size_t)sysconf(_SC_AVPHYS_PAGES) * m->page / 4)
		m->large /= 2;
	for (int i = 0; i < CPU_SETSIZE && m->n_cpus < MT_MOST_CPUS; i++)
		if (CPU_ISSET(i, allowed))
			m->cpu[m->n_cpus++] = i;
}

json_t *mt_measure_now(uint64_t part_ns, uint64_t most_ns)
{
	struct mt_measuring *m = mt_alloc(sizeof(*m));
	const uint64_t begin = mt_monotonic_ns();
	json_t *out, *before = load();
	cpu_set_t allowed;
	struct tm tm;
	time_t now = time(NULL);
	char at[32];

	CPU_ZERO(&allowed);
	sched_getaffinity(0, sizeof(allowed), &allowed);
	open_machine(m, &allowed);
	m->part_ns = part_ns;
	m->until_ns = begin + most_ns;
	m->figures = json_object();
	if (m->n_cpus)
		mt_measure_pin(m->cpu[0]);
	mt_measure_lines(m);
	mt_measure_kernel(m);
	mt_measure_streams(m);
	mt_measure_loads(m);
	sched_setaffinity(0, sizeof(allowed), &allowed);
	gmtime_r(&now, &tm);
	strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%SZ", &tm);
	out = json_pack("{s:s, s:s, s:I, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:o}", "schema", SCHEMA, "at", at, "took_ns",
			(json_int_t)(mt_monotonic_ns() - begin), "load_before", before, "load_after", load(), "machine", machine(),
			"l1_bytes", (json_int_t)m->l1, "l2_bytes", (json_int_t)m->l2, "l3_bytes", (json_int_t)m->l3, "large_bytes",
			(json_int_t)m->large, "figures", m->figures);
	free(m);
	return out;
}

/* ---- what is kept */

/* A home folder may serve many machines: each has its file. */
static char *file_of(const char *dir)
{
	struct utsname u;
	char *path;

	memset(&u, 0, sizeof(u));
	uname(&u);
	path = mt_printf("%s/measured-%s.json", dir, *u.nodename && !strchr(u.nodename, '/') ? u.nodename : "here");
	return path;
}

json_t *mt_measure_known(void)
{
	char dir[PATH_MAX], *path;
	json_t *m = NULL, *here;

	if (mt_cache_dir(dir))
		return NULL;
	path = file_of(dir);
	m = json_load_file(path, 0, NULL);
	free(path);
	here = machine();
	if (m && (!json_equal(json_object_get(m, "machine"), here) || !json_is_object(json_object_get(m, "figures")) ||
		  strcmp(json_string_value(json_object_get(m, "schema")) ? json_string_value(json_object_get(m, "schema")) : "", SCHEMA))) {
		json_decref(m);
		m = NULL;
	}
	json_decref(here);
	return m;
}

int mt_measure_keep(const json_t *measured, char **path)
{
	char dir[PATH_MAX], *file;
	struct mt_newfile out;
	int err = mt_cache_dir(dir);

	if (err)
		return err;
	file = file_of(dir);
	err = mt_newfile(&out, dir, mt_base(file));
	if (!err) {
		json_dumpf(measured, out.f, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
		fputc('\n', out.f);
		err = mt_newfile_commit(&out);
	}
	if (path && !err)
		*path = file;
	else
		free(file);
	return err;
}
