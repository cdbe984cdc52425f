/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * forks NUMBER [live]: a process with 4 MiB forks children, which write 16 pages of it. Without "live" one after the other;
 * with it all live at once, and the last line of standard error has the memory of this machine that they take, in KiB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES (4ul << 20)

static long available(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static void child(char *memory, int i)
{
	unsigned long sum = 0;

	for (size_t k = 0; k < 16; k++)
		memory[k * 65536] = (char)i;
	for (size_t k = 0; k < BYTES; k += 4096)
		sum += (unsigned char)memory[k];
	if (sum != 16ul * (unsigned char)i + (BYTES / 4096 - 16))
		_exit(1);
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 200, live = argc > 2;
	char *memory = malloc(BYTES), byte;
	int go[2], ready[2], status, bad = 0;
	long before;

	memset(memory, 1, BYTES);
	if (pipe(go) || pipe(ready))
		return 2;
	before = available();
	for (int i = 0; i < n; i++) {
		pid_t c = fork();

		if (c < 0)
			return 3;
		if (!c) {
			child(memory, i);
			if (live) {
				close(go[1]);
				if (write(ready[1], "x", 1) != 1 || read(go[0], &byte, 1) != 0)
					_exit(2);
			}
			_exit(0);
		}
		if (!live) {
			waitpid(c, &status, 0);
			bad += status != 0;
		}
	}
	for (int i = 0; live && i < n; i++)
		if (read(ready[0], &byte, 1) != 1)
			bad++;
	if (live)
		fprintf(stderr, "%ld\n", before - available());
	close(go[1]);
	for (int i = 0; live && i < n; i++) {
		wait(&status);
		bad += status != 0;
	}
	printf("%d of %d children had what they should\n", n - bad, n);
	return bad != 0;
}
