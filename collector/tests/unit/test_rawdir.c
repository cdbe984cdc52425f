// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* Numbers that are names in a directory: all of them once, in as many pieces as the kernel gives, and nothing else. */
#include "harness.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/rawdir.h"

enum { MOST = 300 };

static const char *const others[] = { "x", "1a", "a1", "-1", " 7", "1.5", "a-name-that-is-much-longer-than-all-the-others-and-takes-room" };

static const char *name(const char *dir, int i, int n)
{
	static char path[200];

	if (i < n)
		snprintf(path, sizeof(path), "%s/%d", dir, i);
	else
		snprintf(path, sizeof(path), "%s/%s", dir, others[i - n]);
	return path;
}

/* Numbers 0 to @n - 1 in a folder of their own, between names that are no numbers. */
static void folder(int n)
{
	char dir[] = "/tmp/rawdirXXXXXX", seen[MOST] = { 0 };
	struct mt_rawdir d;
	int found = 0;
	long number;

	CHECK(mkdtemp(dir) != NULL);
	for (int i = 0; i < n + 7; i++)
		close(open(name(dir, i, n), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	CHECK_EQ(mt_rawdir_open(&d, dir), 0);
	while ((number = mt_rawdir_number(&d)) >= 0) {
		CHECK(number < n && !seen[number]);
		seen[number % MOST] = 1;
		found++;
	}
	CHECK_EQ(found, n);
	CHECK_EQ(d.fd, -1);
	CHECK_EQ(mt_rawdir_number(&d), -1);
	for (int i = 0; i < n + 7; i++)
		unlink(name(dir, i, n));
	CHECK(!rmdir(dir));
}

static void *wait_for(void *gate)
{
	pthread_mutex_lock(gate);
	pthread_mutex_unlock(gate);
	return NULL;
}

int main(void)
{
	static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	static const int sizes[] = { 0, 1, 2, 31, 32, 33, 64, MOST };
	struct mt_rawdir d;
	pthread_t other;
	int tasks = 0, fds = 0;
	long number;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		folder(sizes[i]);
	CHECK(mt_rawdir_open(&d, "/proc/no-such-folder") < 0);
	CHECK_EQ(mt_rawdir_number(&d), -1);
	mt_rawdir_close(&d);
	pthread_mutex_lock(&gate);
	CHECK(!pthread_create(&other, NULL, wait_for, &gate));
	CHECK_EQ(mt_rawdir_open(&d, "/proc/self/task"), 0);
	while ((number = mt_rawdir_number(&d)) >= 0)
		tasks += number >= getpid();
	CHECK_EQ(tasks, 2);
	pthread_mutex_unlock(&gate);
	pthread_join(other, NULL);
	/* the descriptor of the folder itself is among them, and may be passed over by its number */
	CHECK_EQ(mt_rawdir_open(&d, "/proc/thread-self/fd"), 0);
	while ((number = mt_rawdir_number(&d)) >= 0)
		fds += number == 1 || number == d.fd;
	CHECK_EQ(fds, 2);
	/* closed before its end */
	CHECK_EQ(mt_rawdir_open(&d, "/proc/self/task"), 0);
	mt_rawdir_close(&d);
	CHECK_EQ(d.fd, -1);
	CHECK_EQ(mt_rawdir_number(&d), -1);
	return mt_test_done();
}
