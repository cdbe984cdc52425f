// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
// probes memtrace|kprobe SECONDS: sessions that begin and end at once, so that the
// probes are put on and taken off all the time, while another process faults and forks, and a
// third reads the command line of the second (get_user_pages_remote).
// With "kprobe" the same by the kernel's own means (tracefs), without our module.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/memtrace/abi.h"

#define TRACEFS "/sys/kernel/tracing/"

static void faults(void)
{
	const size_t bytes = 64 * 4096;

	for (unsigned int n = 0;; n++) {
		char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			_exit(1);
		for (size_t i = 0; i < bytes; i += 4096)
			p[i] = 1;
		munmap(p, bytes);
		if (n % 4 == 0) {
			pid_t child = fork();

			if (child == 0)
				_exit(0);
			waitpid(child, NULL, 0);
		}
	}
}

static void command_lines(pid_t pid)
{
	char path[32], line[256];

	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	for (;;) {
		int fd = open(path, O_RDONLY);

		if (fd < 0 || read(fd, line, sizeof(line)) <= 0)
			_exit(1);
		close(fd);
	}
}

static void put(const char *file, const char *text)
{
	int fd = open(file, O_WRONLY | O_APPEND);

	if (fd < 0 || write(fd, text, strlen(text)) < 0) {
		fprintf(stderr, "probes: %s: %s\n", file, strerror(errno));
		exit(1);
	}
	close(fd);
}

static void session(void)
{
	struct memtrace_config c = {
		.flags = MEMTRACE_CONFIG_MANUAL, .interval_ns = 20000000, .subphases = 1, .pool_blocks = 4,
	};
	int fd = open(MEMTRACE_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, MEMTRACE_CONFIGURE, &c)) {
		fprintf(stderr, "probes: %s: %s\n", MEMTRACE_DEVICE, strerror(errno));
		exit(1);
	}
	close(fd);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	unsigned int rounds = 0;
	double seconds, end, said;
	pid_t pid, reader;
	int own;

	if (argc != 3 || (strcmp(argv[1], "memtrace") && strcmp(argv[1], "kprobe"))) {
		fprintf(stderr, "usage: probes memtrace|kprobe SECONDS\n");
		return 2;
	}
	own = !strcmp(argv[1], "memtrace");
	seconds = atof(argv[2]);
	if (!own)
		put(TRACEFS "kprobe_events", "p:probes/fault handle_mm_fault\n");
	pid = fork();
	if (!pid)
		faults();
	reader = fork();
	if (!reader)
		command_lines(pid);
	said = now();
	end = said + seconds;
	while (now() < end) {
		if (own) {
			session();
		} else {
			put(TRACEFS "events/probes/enable", "1\n");
			put(TRACEFS "events/probes/enable", "0\n");
		}
		rounds++;
		if (now() > said + 10) {	/* what is known when the machine dies */
			said = now();
			printf("probes: %u rounds so far\n", rounds);
			fflush(stdout);
		}
	}
	kill(reader, SIGKILL);
	waitpid(reader, NULL, 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (!own)
		put(TRACEFS "kprobe_events", "-:probes/fault\n");
	printf("probes on and off %u times (%s)\n", rounds, argv[1]);
	return 0;
}
