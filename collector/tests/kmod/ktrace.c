// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/*
 * ktrace [options] -- program args: trace a program, keep the raw messages.
 *   -i MS interval  -s N subphases  -b BLOCKS pool  -o FILE messages  -L MS reading period
 *   -w write tracking  -f the program inherits the descriptor  -l PPM load limit
 *   -a subphases spare pages that have their threads
 *   -p PID instead of a program  -d SECONDS with -p  -S print all counters  -C do not follow children
 * Exit status is the program's.
 */
#include "kt.h"
#include "common/thp.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static int dev, out = -1;
static char *buf;
static const size_t cap = 1 << 20;
static u64 bytes, records, blocks;

static void drain(void)
{
	for (;;) {
		ssize_t n = read(dev, buf, cap);

		if (n < 0)
			DIE("read");
		if (!n)
			return;
		bytes += (u64)n;
		for (char *p = buf; p < buf + n; p += ((struct memtrace_head *)p)->bytes) {
			if (((struct memtrace_head *)p)->kind == MEMTRACE_BLOCK) {
				records += ((struct memtrace_block *)p)->records;
				blocks++;
			}
			if (((struct memtrace_head *)p)->bytes < sizeof(struct memtrace_head))
				DIE("message of %u bytes", ((struct memtrace_head *)p)->bytes);
		}
		if (out >= 0 && write(out, buf, (size_t)n) != n)
			DIE("write");
	}
}

int main(int argc, char **argv)
{
	struct memtrace_config c = { .interval_ns = 50000000, .subphases = 1, .pool_blocks = 8192,
				     .flags = MEMTRACE_CONFIG_CHILDREN | MEMTRACE_CONFIG_PHYSICAL,
				     .fault_cost_ns = 1000 };
	struct memtrace_attach a = { .flags = MEMTRACE_ATTACH_ON_EXEC };
	struct memtrace_stats st;
	int opt, status = 0, period = 100, inherit = 0, all = 0, go[2];
	double seconds = 0;
	pid_t pid = 0, target = 0;

	while ((opt = getopt(argc, argv, "+i:s:b:o:L:wafl:p:d:SC")) > 0)
		switch (opt) {
		case 'i': c.interval_ns = (u64)(atof(optarg) * 1e6); break;
		case 's': c.subphases = (u32)atoi(optarg); break;
		case 'b': c.pool_blocks = (u32)atoi(optarg); break;
		case 'o': out = open(optarg, O_CREAT | O_TRUNC | O_WRONLY, 0644); break;
		case 'L': period = atoi(optarg); break;
		case 'w': c.flags |= MEMTRACE_CONFIG_WRITES; break;
		case 'a': c.flags |= MEMTRACE_CONFIG_SPARING; break;
		case 'f': inherit = 1; break;
		case 'l': c.max_load_ppm = (u32)atoi(optarg); break;
		case 'p': target = atoi(optarg); break;
		case 'd': seconds = atof(optarg); break;
		case 'S': all = 1; break;
		case 'C': c.flags &= ~MEMTRACE_CONFIG_CHILDREN; break;
		default: return 2;
		}
	buf = malloc(cap);
	dev = open(MEMTRACE_DEVICE, O_RDWR | (inherit ? 0 : O_CLOEXEC));
	if (dev < 0)
		DIE("open");
	if (ioctl(dev, MEMTRACE_CONFIGURE, &c))
		DIE("configure");
	if (target) {
		a.pid = target;
		a.flags = 0;
	} else {
		if (pipe(go))
			DIE("pipe");
		pid = fork();
		if (!pid) {
			char x, fd[16];

			close(go[1]);
			if (read(go[0], &x, 1) != 1)
				_exit(98);
			close(go[0]);
			snprintf(fd, sizeof(fd), "%d", dev);
			if (inherit)
				setenv(KT_FD_VARIABLE, fd, 1);
			if (out >= 0)
				close(out);
			prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
			execvp(argv[optind], argv + optind);
			_exit(127);
		}
		a.pid = pid;
		close(go[0]);
	}
	if (ioctl(dev, MEMTRACE_ATTACH, &a))
		DIE("attach %d", a.pid);
	if (target && mt_split_huge_pages(target))
		printf("ktrace: huge pages are not split\n");
	if (pid) {
		if (write(go[1], "x", 1) != 1)
			DIE("go");
		close(go[1]);
	}
	for (double end = kt_now() + seconds;;) {
		struct pollfd p = { .fd = dev, .events = POLLIN };

		poll(&p, 1, period);
		usleep((useconds_t)period * 1000);
		drain();
		if (pid && waitpid(pid, &status, WNOHANG) == pid)
			break;
		if (!pid && (kill(target, 0) || (seconds > 0 && kt_now() > end)))
			break;
	}
	/* the descendants: wait until nobody is traced any more, at most 20 s */
	for (int i = 0; pid && i < 200; i++) {
		if (ioctl(dev, MEMTRACE_STATS, &st))
			DIE("stats");
		if (!st.tasks)
			break;
		usleep(100000);
		drain();
	}
	if (ioctl(dev, MEMTRACE_STOP))
		DIE("stop");
	drain();
	if (ioctl(dev, MEMTRACE_STATS, &st))
		DIE("stats");
	printf("ktrace: records %llu blocks %llu bytes %llu intervals %llu late %llu interval_ns %llu longest_us %llu pool_low %u pool_free %u missed %llu sweep_us %llu flush_us %llu newborn_us %llu",
	       (unsigned long long)records, (unsigned long long)blocks, (unsigned long long)bytes,
	       (unsigned long long)st.intervals, (unsigned long long)st.late_intervals,
	       (unsigned long long)st.interval_ns, (unsigned long long)st.longest_ns / 1000, st.pool_low, st.pool_free,
	       (unsigned long long)st.missed_probes, (unsigned long long)st.sweep_ns / 1000,
	       (unsigned long long)st.flush_ns / 1000, (unsigned long long)st.newborn_ns / 1000);
	for (int i = 0; i < MEMTRACE_C_N; i++)
		if (all || st.counter[i])
			printf(" %s %llu", kt_counter_name[i], (unsigned long long)st.counter[i]);
	printf("\n");
	if (pid && WIFSIGNALED(status))
		return 128 + WTERMSIG(status);
	return pid ? WEXITSTATUS(status) : 0;
}
