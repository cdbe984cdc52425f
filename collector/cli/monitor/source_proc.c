/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * source_proc.c - what the kernel tells of itself in /proc and /sys, to everybody.
 *
 * PU and what has PUs: shares of the time since the sample before (mean over the PUs).
 * NUMANode: its memory. Machine: the program (with all that it started), or everything when there is none.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/base/util.h"
#include "cli/monitor/source.h"

/* cpuN of /proc/stat: user nice system idle iowait irq softirq steal guest guest_nice */
enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, N_TICKS };

enum kind { CPULOAD, IOWAITING, IRQS, SOFTIRQS, MINOR, MAJOR, VSIZE, RSS, BLKIO, MEMTOTAL, MEMFREE, MEMUSED, LOCAL, REMOTE, N_KINDS };
enum where { ON_PU = 1, ON_NODE = 2, ON_MACHINE = 4 };

static const struct {
	const char *name;
	int where;
	const char *text;
} kinds[N_KINDS] = {
	[CPULOAD] = { "cpuload", ON_PU | ON_MACHINE, "share of the time that was worked; of the machine, PUs' worth of work of the program" },
	[IOWAITING] = { "iowait", ON_PU, "share of the time that was idle while something waited for a disk" },
	[IRQS] = { "irq", ON_PU, "share of the time in interrupts" },
	[SOFTIRQS] = { "softirq", ON_PU, "share of the time in what interrupts left to do" },
	[MINOR] = { "minor_faults", ON_MACHINE, "page faults without reading a disk" },
	[MAJOR] = { "major_faults", ON_MACHINE, "page faults that read a disk" },
	[VSIZE] = { "vsize", ON_MACHINE, "address space of the program, bytes" },
	[RSS] = { "rss", ON_MACHINE, "memory of the program, bytes" },
	[BLKIO] = { "blkio_ticks", ON_MACHINE, "time that the program waited for disks, ticks" },
	[MEMTOTAL] = { "memtotal", ON_NODE, "memory of the node, bytes" },
	[MEMFREE] = { "memfree", ON_NODE, "of it free, bytes" },
	[MEMUSED] = { "memused", ON_NODE, "of it used, bytes" },
	[LOCAL] = { "local_hit", ON_NODE, "pages that programs of this node got here" },
	[REMOTE] = { "remote_hit", ON_NODE, "pages that programs of other nodes got here" },
};

struct state {
	hwloc_obj_t obj;
	int where, n;
	bool begun;
	uint64_t before_ns;
	double before[N_KINDS];			/* cumulated: program or node */
	uint64_t *ticks;			/* of each PU of the place, N_TICKS */
	int n_pus;
	unsigned int *pu;
	enum kind event[];
};

static int kind_of(const char *name)
{
	for (int i = 0; i < N_KINDS; i++)
		if (!strcmp(kinds[i].name, name))
			return i;
	return -1;
}

static bool proc_knows(const struct mon_context *c, const char *event)
{
	(void)c;
	return kind_of(event) >= 0;
}

static void proc_list(const struct mon_context *c, struct mon_listing *to)
{
	(void)c;
	for (int i = 0; i < N_KINDS; i++)
		to->event(to, &(struct mon_listed){ .name = kinds[i].name, .text = kinds[i].text,
			.places = kinds[i].where == ON_NODE ? "NUMANode" : kinds[i].where == ON_MACHINE ? "Machine" : "PU and above" });
}

static char buffer[1 << 18];	/* /proc/stat of 1024 PUs has 150 KB, most of it interrupts */

static char *slurp(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0;

	if (fd < 0)
		return NULL;
	while (n < sizeof(buffer) - 1) {
		ssize_t k = read(fd, buffer + n, sizeof(buffer) - 1 - n);

		if (k <= 0)
			break;
		n += (size_t)k;
	}
	close(fd);
	buffer[n] = 0;
	return buffer;
}

static void proc_close(void *state)
{
	struct state *s = state;

	free(s->ticks);
	free(s->pu);
	free(s);
}

static void *proc_open(const struct mon_context *c, const struct mon_definition *d, hwloc_obj_t obj, struct mon_refusal *why)
{
	struct state *s;
	unsigned int cpu;
	int where = obj->type == HWLOC_OBJ_NUMANODE ? ON_NODE : obj->type == HWLOC_OBJ_MACHINE ? ON_MACHINE : ON_PU;

	if (!c->this_machine) {
		snprintf(why[0].why, sizeof(why[0].why), "proc tells of this machine only, and the topology is another one");
		return NULL;
	}
	s = mt_alloc(sizeof(*s) + d->n_events * sizeof(s->event[0]));
	s->obj = obj;
	s->where = where;
	s->n = (int)d->n_events;
	s->pu = mt_alloc((size_t)hwloc_bitmap_weight(obj->cpuset) * sizeof(*s->pu) + 1);
	s->ticks = mt_alloc((size_t)hwloc_bitmap_weight(obj->cpuset) * N_TICKS * sizeof(*s->ticks) + 1);
	hwloc_bitmap_foreach_begin(cpu, obj->cpuset)
		s->pu[s->n_pus++] = cpu;
	hwloc_bitmap_foreach_end();
	for (int i = 0; i < s->n; i++) {
		int k = kind_of(d->event[i].name);

		s->event[i] = N_KINDS;
		if (k < 0)
			snprintf(why[i].why, sizeof(why[i].why), "%s: proc has no such event; 'memtrace monitor --list' shows them",
				 d->event[i].name);
		else if (!(kinds[k].where & where) && !(kinds[k].where & ON_PU && where == ON_MACHINE))
			snprintf(why[i].why, sizeof(why[i].why), "%s is not told of this type of place: it is one of %s", d->event[i].name,
				 kinds[k].where & ON_NODE ? "a NUMANode" : kinds[k].where & ON_PU ? "a PU and what has PUs" : "the Machine");
		else if ((k == VSIZE || k == RSS || k == BLKIO) && !c->pid)
			snprintf(why[i].why, sizeof(why[i].why), "%s is that of a program: give one, or --pid", d->event[i].name);
		else
			s->event[i] = (enum kind)k;
	}
	return s;
}

/* Shares of the time of the PUs of the place since the last call. */
static void read_pus(struct state *s, double *share)
{
	char *text = slurp("/proc/stat");
	double sum[4] = { 0 };
	int have = 0;

	for (int i = 0; i < 4; i++)
		share[i] = NAN;
	if (!text)
		return;
	for (int k = 0; k < s->n_pus; k++) {
		char name[24], *at;
		uint64_t now[N_TICKS] = { 0 }, total = 0, *old = s->ticks + (size_t)k * N_TICKS;

		/* the lines stand in the order of the CPUs, and so do ours: searching goes on where it ended */
		snprintf(name, sizeof(name), "\ncpu%u ", s->pu[k]);
		at = strstr(text, name);
		if (!at)
			continue;	/* offline */
		text = at;
		at += strlen(name);
		for (int t = 0; t < N_TICKS; t++) {
			now[t] = strtoull(at, &at, 10);
			/* counts of idle time may go back a little */
			total += now[t] > old[t] ? now[t] - old[t] : 0;
		}
		if (s->begun && total) {
			uint64_t idle = (now[IDLE] > old[IDLE] ? now[IDLE] - old[IDLE] : 0) +
				(now[IOWAIT] > old[IOWAIT] ? now[IOWAIT] - old[IOWAIT] : 0);

			sum[0] += (double)(total - idle) / (double)total;
			sum[1] += now[IOWAIT] > old[IOWAIT] ? (double)(now[IOWAIT] - old[IOWAIT]) / (double)total : 0;
			sum[2] += now[IRQ] > old[IRQ] ? (double)(now[IRQ] - old[IRQ]) / (double)total : 0;
			sum[3] += now[SOFTIRQ] > old[SOFTIRQ] ? (double)(now[SOFTIRQ] - old[SOFTIRQ]) / (double)total : 0;
			have++;
		}
		memcpy(old, now, sizeof(now));
	}
	for (int i = 0; i < 4 && have; i++)
		share[i] = sum[i] / have;
}

/* The program and what it started: sums since their beginning, the waited-for children included. */
static void read_program(const struct mon_context *c, double *v)
{
	for (size_t i = 0; i < c->tree.n; i++) {
		const char *at;
		char path[40], *end;
		unsigned long long f[45] = { 0 };

		snprintf(path, sizeof(path), "/proc/%d/stat", (int)c->tree.pid[i]);
		at = mt_stat_field(slurp(path), 4);
		if (!at)
			continue;
		for (int k = 4; k < 45; k++, at = end)
			f[k] = strtoull(at, &end, 10);
		v[MINOR] += (double)(f[10] + f[11]);
		v[MAJOR] += (double)(f[12] + f[13]);
		v[CPULOAD] += (double)(f[14] + f[15] + f[16] + f[17]) / (double)sysconf(_SC_CLK_TCK);
		v[VSIZE] += (double)f[23];
		v[RSS] += (double)f[24] * (double)sysconf(_SC_PAGESIZE);
		v[BLKIO] += (double)f[42];
	}
}

static double value_of(const char *text, const char *name)
{
	const char *at = text ? strstr(text, name) : NULL;

	return at ? strtod(at + strlen(name), NULL) : NAN;
}

static void read_node(const struct state *s, double *v)
{
	char path[80], *text;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/meminfo", s->obj->os_index);
	text = slurp(path);
	v[MEMTOTAL] = 1024 * value_of(text, "MemTotal:");
	v[MEMFREE] = 1024 * value_of(text, "MemFree:");
	v[MEMUSED] = 1024 * value_of(text, "MemUsed:");
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/numastat", s->obj->os_index);
	text = slurp(path);
	v[LOCAL] = value_of(text, "local_node ");
	v[REMOTE] = value_of(text, "other_node ");
}

static int proc_read(const struct mon_context *c, void *state, double *values)
{
	struct state *s = state;
	double now[N_KINDS] = { 0 }, share[4] = { NAN, NAN, NAN, NAN };
	double seconds = (double)(c->now_ns - s->before_ns) * 1e-9;
	bool pus = false;

	for (int i = 0; i < s->n; i++)
		pus |= s->event[i] < N_KINDS && kinds[s->event[i]].where & ON_PU && (s->where == ON_PU || s->event[i] != CPULOAD || !c->pid);
	if (pus)
		read_pus(s, share);
	if (s->where == ON_NODE)
		read_node(s, now);
	if (s->where == ON_MACHINE && c->pid)
		read_program(c, now);
	if (s->where == ON_MACHINE && !c->pid) {
		char *text = slurp("/proc/vmstat");

		now[MAJOR] = value_of(text, "\npgmajfault ");
		now[MINOR] = value_of(text, "\npgfault ") - now[MAJOR];
	}
	for (int i = 0; i < s->n; i++) {
		enum kind k = s->event[i];
		double d = k < N_KINDS ? now[k] - s->before[k] : NAN;

		if (k == N_KINDS)
			values[i] = NAN;
		else if (k == CPULOAD && s->where == ON_MACHINE)
			values[i] = !c->pid ? share[0] * s->n_pus : s->begun && seconds > 0 ? d / seconds : NAN;
		else if (k <= SOFTIRQS)
			values[i] = share[k];
		else if (k == VSIZE || k == RSS || k == MEMTOTAL || k == MEMFREE || k == MEMUSED)
			values[i] = now[k];
		else	/* what ended without being waited for takes its counts with it */
			values[i] = !s->begun ? NAN : d < 0 ? 0 : d;
	}
	memcpy(s->before, now, sizeof(now));
	s->before_ns = c->now_ns;
	s->begun = true;
	return 0;
}

const struct mon_source mon_source_proc = {
	.name = "proc", .text = "what the kernel tells of itself: load, faults, memory", .list = proc_list, .knows = proc_knows,
	.open = proc_open, .read = proc_read, .close = proc_close,
};
