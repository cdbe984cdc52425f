// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include "preload/monitor/ledger.h"

#include <fcntl.h>
#include <string.h>

#include "common/rawsys.h"

#define BUFFER 4096ul
#define TICK_NS 10000000ull	/* of USER_HZ */
/* System time per fault tells its price after so many of both. System calls are in it: it is believed up to some times the measured one. */
#define LEARN_FAULTS 10000
#define LEARN_NS 200000000ull
#define FACTOR 1.6		/* until then: half of ten programs had more (monitor.c) */
#define FACTOR_MAX 6.0

static double less(double a, double b)
{
	return a < b ? a : b;
}

void zap_slower_of(const struct zap_costs *c, uint64_t system_ns, uint64_t faults, struct zap_slower *s)
{
	const double alone = (double)c->fault_ns, own = c->faults > c->new_pages ? (double)(c->faults - c->new_pages) : 0;
	double dear = alone * FACTOR, busy = less((double)c->program_ns, (double)c->wall_ns), cpu, low, all, run;

	if (faults >= LEARN_FAULTS && system_ns >= LEARN_NS)
		dear = less((double)system_ns / (double)faults, alone * FACTOR_MAX);
	if (dear < alone)
		dear = alone;
	all = (double)(c->faults > c->new_pages ? c->faults : c->new_pages) * dear + (double)c->hook_ns;
	low = own * alone;
	if (c->busiest_ns && c->busiest_ns < c->program_ns)
		busy = (double)c->busiest_ns;
	if (c->processors && busy < (double)c->program_ns / c->processors)
		busy = (double)c->program_ns / c->processors;
	/* faults that are told to cost more than half of the time were cheaper than that */
	cpu = (double)c->program_ns;
	low = less(low, cpu / 2);
	run = busy - less(cpu > 0 ? all * busy / cpu : 0, busy / 2);
	s->run_ns = run > 0 ? (uint64_t)run : 0;
	s->low_ns = c->start_ns + (cpu > 0 ? (uint64_t)(low / (cpu - low) * run) : 0);
	s->high_ns = c->start_ns + (uint64_t)all + c->monitor_ns;
	if (s->high_ns < s->low_ns)
		s->high_ns = s->low_ns;
	s->fault_ns = (uint64_t)dear;
}

void zap_ledger_open(struct zap_ledger *l, int dirfd, int pid)
{
	char *buf = mt_rawmap(BUFFER);

	memset(l, 0, sizeof(*l));
	l->pid = pid;
	if (!buf)
		return;
	mt_out_init(&l->out, (int)mt_sys(SYS_openat, dirfd, "overhead.csv", O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644), buf,
		    BUFFER);
	mt_out_str(&l->out, "Interval,Faults,NewPages,FaultNs,HookNs,StartNs,MonitorCpuNs,ProgramCpuNs,BusiestCpuNs,LowNs,HighNs,RunNs\n");
}

/* Of the process, all its threads: the fifteenth field of its stat, the second behind which are ticks. 0 not known. */
static uint64_t system_time(int pid)
{
	char text[512], path[48] = "/proc/", *p;
	uint64_t v = 0;
	long fd, n;

	memcpy(mt_put_u64(path + 6, (uint64_t)pid), "/stat", 6);
	fd = mt_sys(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	n = mt_sys(SYS_read, fd, text, sizeof(text) - 1);
	mt_sys(SYS_close, fd);
	text[n > 0 ? n : 0] = 0;
	p = strrchr(text, ')');	/* a name may have blanks */
	for (int field = 2; p && field < 15; field++)
		p = strchr(p + 1, ' ');
	for (p = p ? p + 1 : text + n; *p >= '0' && *p <= '9'; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	return v * TICK_NS;
}

void zap_ledger_interval(struct zap_ledger *l, const struct zap_costs *c)
{
	const uint64_t system_ns = l->out.buf ? system_time(l->pid) : 0;
	struct zap_slower s;

	if (!l->out.buf)
		return;
	l->faults += c->faults > c->new_pages ? c->faults : c->new_pages;
	if (system_ns > l->system_ns)	/* nothing is left of a process that has ended */
		l->system_ns = system_ns;
	zap_slower_of(c, l->system_ns, l->faults, &s);
	mt_out_fmt(&l->out, "%u,%llu,%llu,%llu,%llu,%llu,", c->interval, (unsigned long long)c->faults, (unsigned long long)c->new_pages,
		   (unsigned long long)s.fault_ns, (unsigned long long)c->hook_ns, (unsigned long long)c->start_ns);
	mt_out_fmt(&l->out, "%llu,%llu,%llu,%llu,%llu,%llu\n", (unsigned long long)c->monitor_ns, (unsigned long long)c->program_ns,
		   (unsigned long long)c->busiest_ns, (unsigned long long)s.low_ns, (unsigned long long)s.high_ns,
		   (unsigned long long)s.run_ns);
	mt_out_flush(&l->out);
}

void zap_ledger_after_fork(struct zap_ledger *l)
{
	mt_rawunmap(l->out.buf, BUFFER);
	memset(l, 0, sizeof(*l));
}
