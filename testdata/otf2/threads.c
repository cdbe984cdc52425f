/* SPDX-FileCopyrightText: memtrace contributors */
/* SPDX-License-Identifier: EPL-2.0 */
/* Threads that write files: what traces of I/O have. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void *work(void *number)
{
	char name[32], block[4096];
	int fd;

	snprintf(name, sizeof name, "data.%ld", (long)number);
	fd = open(name, O_CREAT | O_RDWR | O_TRUNC, 0600);
	memset(block, (int)(long)number, sizeof block);
	for (int i = 0; i < 3; i++)
		if (write(fd, block, sizeof block) < 0)
			perror(name);
	close(fd);
	unlink(name);
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
