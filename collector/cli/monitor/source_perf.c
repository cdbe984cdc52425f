/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/*
 * source_perf.c - counters of the kernel and of the processor by perf_event_open().
 *
 * A place counts on each of its PUs, and the sum is its value. Normally a PU is counted with all that
 * runs on it, which needs CAP_PERFMON or kernel.perf_event_paranoid <= 0; with --running-only
 * only the program is, on each PU, which needs nothing. Counters that the processor
 * multiplexes are scaled by the time they were there.
 */
#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/base/util.h"
#include "cli/monitor/source.h"

#define CACHE(id, op, result) (PERF_COUNT_HW_CACHE_##id | PERF_COUNT_HW_CACHE_OP_##op << 8 | PERF_COUNT_HW_CACHE_RESULT_##result << 16)

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
	const char *text;
} known[] = {
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "time of the processor, ns" },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "time of the tasks, ns" },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "page faults" },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, "page faults without reading a disk" },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, "page faults that read a disk" },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, "changes of the task" },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, "tasks that came from another PU" },
	{ "alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, "accesses that the kernel had to repair" },
	{ "emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, "instructions that the kernel had to emulate" },
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cycles" },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "instructions" },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, "accesses to the last cache" },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, "misses of the last cache" },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "branches" },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, "branches that were predicted wrongly" },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, "cycles of the bus" },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, "cycles that waited for instructions" },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "cycles that waited for data and units" },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, "cycles at the nominal frequency" },
	{ "L1-dcache-loads", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, ACCESS), "loads" },
	{ "L1-dcache-load-misses", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS), "loads that miss the first data cache" },
	{ "L1-dcache-stores", PERF_TYPE_HW_CACHE, CACHE(L1D, WRITE, ACCESS), "stores" },
	{ "L1-icache-load-misses", PERF_TYPE_HW_CACHE, CACHE(L1I, READ, MISS), "misses of the first instruction cache" },
	{ "LLC-loads", PERF_TYPE_HW_CACHE, CACHE(LL, READ, ACCESS), "loads of the last cache" },
	{ "LLC-load-misses", PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS), "loads that miss the last cache" },
	{ "LLC-stores", PERF_TYPE_HW_CACHE, CACHE(LL, WRITE, ACCESS), "stores to the last cache" },
	{ "LLC-store-misses", PERF_TYPE_HW_CACHE, CACHE(LL, WRITE, MISS), "stores that miss the last cache" },
	{ "dTLB-loads", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, ACCESS), "translations for loads" },
	{ "dTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS), "translations that had to be walked" },
	{ "dTLB-store-misses", PERF_TYPE_HW_CACHE, CACHE(DTLB, WRITE, MISS), "the same of stores" },
	{ "iTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, MISS), "the same of instructions" },
	{ "node-loads", PERF_TYPE_HW_CACHE, CACHE(NODE, READ, ACCESS), "loads from memory" },
	{ "node-load-misses", PERF_TYPE_HW_CACHE, CACHE(NODE, READ, MISS), "loads from the memory of another node" },
	{ "node-stores", PERF_TYPE_HW_CACHE, CACHE(NODE, WRITE, ACCESS), "stores to memory" },
	{ "node-store-misses", PERF_TYPE_HW_CACHE, CACHE(NODE, WRITE, MISS), "stores to the memory of another node" },
};
#define N_KNOWN ((int)(sizeof(known) / sizeof(known[0])))

static const struct {
	const char *papi, *perf;
} presets[] = {
	{ "PAPI_TOT_CYC", "cycles" }, { "PAPI_TOT_INS", "instructions" }, { "PAPI_REF_CYC", "ref-cycles" },
	{ "PAPI_L3_TCM", "cache-misses" }, { "PAPI_L3_TCA", "cache-references" }, { "PAPI_L3_LDM", "LLC-load-misses" },
	{ "PAPI_L3_STM", "LLC-store-misses" }, { "PAPI_L1_DCM", "L1-dcache-load-misses" }, { "PAPI_L1_LDM", "L1-dcache-load-misses" },
	{ "PAPI_L1_ICM", "L1-icache-load-misses" }, { "PAPI_TLB_DM", "dTLB-load-misses" }, { "PAPI_TLB_IM", "iTLB-load-misses" },
	{ "PAPI_RES_STL", "stalled-cycles-backend" }, { "PAPI_BR_INS", "branches" }, { "PAPI_BR_MSP", "branch-misses" },
};

const char *mon_perf_for_papi(const char *event)
{
	for (size_t i = 0; i < sizeof(presets) / sizeof(presets[0]); i++)
		if (!strcmp(presets[i].papi, event))
			return presets[i].perf;
	return NULL;
}

/* cpu_clock is cpu-clock: in expressions of 2015 a - is a difference. */
static bool same(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (*a != *b && !(*a == '_' && *b == '-'))
			return false;
	return *a == *b;
}

/* rHEX is a raw event of the processor. */
static bool find(const char *name, uint32_t *type, uint64_t *config)
{
	const char *perf = mon_perf_for_papi(name);
	char *end;

	for (int i = 0; i < N_KNOWN; i++)
		if (same(perf ? perf : name, known[i].name)) {
			*type = known[i].type;
			*config = known[i].config;
			return true;
		}
	if (name[0] == 'r' && isxdigit((unsigned char)name[1]) && strlen(name) <= 17) {
		*config = strtoull(name + 1, &end, 16);
		*type = PERF_TYPE_RAW;
		return !*end;
	}
	return false;
}

static int counter(const struct mon_context *c, uint32_t type, uint64_t config, pid_t pid, int cpu)
{
	struct perf_event_attr a = {
		.size = sizeof(a), .type = type, .config = config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.inherit = c->running_only,
		.enable_on_exec = c->running_only && c->starts,
		.disabled = c->running_only && c->starts,
	};
	long fd = syscall(SYS_perf_event_open, &a, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	/* without privileges only what happens in user code */
	if (fd < 0 && (errno == EACCES || errno == EPERM) && pid != -1) {
		a.exclude_kernel = 1;
		a.exclude_hv = 1;
		fd = syscall(SYS_perf_event_open, &a, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return (int)fd;
}

static void refuse(const struct mon_context *c, const char *event, uint32_t type, int err, struct mon_refusal *why)
{
	char *paranoid = mt_read_line("/proc/sys/kernel/perf_event_paranoid");
	bool hardware = type != PERF_TYPE_SOFTWARE;

	why->command[0] = 0;
	if ((err == EACCES || err == EPERM) && paranoid && atoi(paranoid) > (c->running_only ? 2 : 0)) {
		snprintf(why->why, sizeof(why->why), "%s: counting %s is refused: kernel.perf_event_paranoid is %s%s", event,
			 c->running_only ? "a program" : "whole processors", paranoid,
			 c->running_only ? "" : "; with --running-only the program alone can be counted");
		snprintf(why->command, sizeof(why->command), "%ssysctl kernel.perf_event_paranoid=%d", mon_sudo(), c->running_only ? 2 : 0);
	} else if (err == EACCES || err == EPERM) {
		snprintf(why->why, sizeof(why->why), "%s: counting is refused (%s), probably by the container", event, strerror(err));
		snprintf(why->command, sizeof(why->command), "docker run --cap-add PERFMON --security-opt seccomp=unconfined ...");
	} else if (err == EMFILE) {
		snprintf(why->why, sizeof(why->why), "%s: too many counters: one is needed for each PU, event%s", event,
			 c->running_only ? " and thread" : "");
		snprintf(why->command, sizeof(why->command), "ulimit -n 65536");
	} else if (hardware && (err == ENOENT || err == EOPNOTSUPP || err == ENODEV)) {
		snprintf(why->why, sizeof(why->why), "%s: this processor has no such counter%s", event,
			 mt_exists("/sys/bus/event_source/devices/cpu") || mt_exists("/sys/bus/event_source/devices/cpu_core") ? "" :
			 "; it shows none at all, as in a virtual machine whose host does not pass them on");
	} else {
		snprintf(why->why, sizeof(why->why), "%s: %s", event, strerror(err));
	}
	free(paranoid);
}

struct one {				/* a counter on a PU */
	int fd, event;
	uint64_t value, enabled, running;
};

struct state {
	int n_events, n;
	bool *refused, begun;
	struct one one[];
};

static bool perf_knows(const struct mon_context *c, const char *event)
{
	uint32_t type;
	uint64_t config;

	(void)c;
	return find(event, &type, &config);
}

static void perf_list(const struct mon_context *c, struct mon_listing *to)
{
	struct mon_refusal why = { .why = "" };
	int refused = 0;
	char *note;

	for (int i = 0; i < N_KNOWN; i++) {
		int fd = counter(c, known[i].type, known[i].config, -1, 0);

		if (fd < 0) {
			refuse(c, known[i].name, known[i].type, errno, &why);
			refused++;
		}
		to->event(to, &(struct mon_listed){ .name = known[i].name, .text = known[i].text, .refused = fd < 0 });
		if (fd >= 0)
			close(fd);
	}
	to->event(to, &(struct mon_listed){ .name = "rHEX", .text = "a raw event of the processor", .pattern = true });
	if (!refused)
		return;
	note = mt_printf("not here, such as %s%s%s", why.why, why.command[0] ? ": " : "", why.command);
	to->note(to, note);
	free(note);
}

static void perf_close(void *state)
{
	struct state *s = state;

	for (int i = 0; i < s->n; i++)
		close(s->one[i].fd);
	free(s->refused);
	free(s);
}

struct threads {
	pid_t *tid;
	size_t n, cap;
};

static void add_thread(void *to, pid_t pid, pid_t tid)
{
	struct threads *t = to;

	(void)pid;
	MT_GROW(t->tid, t->n, t->cap);
	t->tid[t->n++] = tid;
}

/*
 * The threads of the program and of what it has started, or -1 for whatever runs on a PU. What they start later is
 * counted with them. The caller frees them.
 */
static struct threads threads(const struct mon_context *c)
{
	struct threads t = { NULL, 0, 0 };

	if (c->running_only && !c->starts) {
		struct mt_processes tree = { NULL, 0, 0 };

		mt_processes_add(&tree, c->pid);
		mt_processes_below(&tree, add_thread, &t);
		free(tree.pid);
	}
	if (!t.n)
		add_thread(&t, 0, c->running_only ? c->pid : -1);
	return t;
}

static void *perf_open(const struct mon_context *c, const struct mon_definition *d, hwloc_obj_t obj, struct mon_refusal *why)
{
	int pus = hwloc_bitmap_weight(obj->cpuset);
	struct threads thread = threads(c);
	struct state *s = mt_alloc(sizeof(*s) + d->n_events * (size_t)pus * thread.n * sizeof(s->one[0]));

	s->n_events = (int)d->n_events;
	s->refused = mt_alloc(d->n_events * sizeof(*s->refused));
	for (int e = 0; e < s->n_events; e++) {
		uint32_t type = 0;
		uint64_t config = 0;
		unsigned int cpu;
		int first = s->n;

		if (!find(d->event[e].name, &type, &config)) {
			s->refused[e] = true;
			snprintf(why[e].why, sizeof(why[e].why), "%s: perf has no such event; 'memtrace monitor --list' shows them",
				 d->event[e].name);
			continue;
		}
		if (!c->this_machine) {
			s->refused[e] = true;
			snprintf(why[e].why, sizeof(why[e].why), "%s: the topology is not that of this machine", d->event[e].name);
			continue;
		}
		hwloc_bitmap_foreach_begin(cpu, obj->cpuset)
			for (size_t t = 0; t < thread.n && !s->refused[e]; t++) {
				struct one o = { .event = e };

				o.fd = counter(c, type, config, thread.tid[t], (int)cpu);
				if (o.fd < 0 && errno == ESRCH)
					continue;	/* a thread that has ended */
				if (o.fd < 0) {
					refuse(c, d->event[e].name, type, errno, &why[e]);
					s->refused[e] = true;
				} else {
					s->one[s->n++] = o;
				}
			}
		hwloc_bitmap_foreach_end();
		while (s->refused[e] && s->n > first)
			close(s->one[--s->n].fd);
	}
	free(thread.tid);
	return s;
}

static int perf_read(const struct mon_context *c, void *state, double *values)
{
	struct state *s = state;

	for (int e = 0; e < s->n_events; e++)
		values[e] = s->refused[e] ? NAN : 0;
	for (int i = 0; i < s->n; i++) {
		struct one *o = &s->one[i];
		uint64_t now[3];	/* value, time enabled, time running */

		if (read(o->fd, now, sizeof(now)) != (ssize_t)sizeof(now)) {
			values[o->event] = NAN;
			continue;
		}
		if (s->begun) {
			double value = (double)(now[0] - o->value), enabled = (double)(now[1] - o->enabled);
			double running = (double)(now[2] - o->running);

			/*
			 * A counter of a task on one PU is enabled wherever the task runs, and running only there: the
			 * share says nothing about multiplexing.
			 */
			if (c->running_only)
				values[o->event] += value;
			else if (running > 0)
				values[o->event] += running < enabled ? value * enabled / running : value;
			else if (value > 0)
				values[o->event] += value;
			else if (enabled > 0)
				values[o->event] = NAN;	/* never on the processor in this period */
		}
		o->value = now[0];
		o->enabled = now[1];
		o->running = now[2];
	}
	s->begun = true;
	return 0;
}

const struct mon_source mon_source_perf = {
	.name = "perf", .text = "counters of the kernel and of the processor", .list = perf_list, .knows = perf_knows,
	.open = perf_open, .read = perf_read, .close = perf_close,
};
