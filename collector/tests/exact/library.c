// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
/* library.c - a shared library with hooks of its own, for truth.c. */
long sum_and_set(long *p, long n);

long sum_and_set(long *p, long n)
{
	long s = 0;

	for (long i = 0; i < n; i++) {
		s += ((volatile long *)p)[i];
		((volatile long *)p)[i] = i;
	}
	return s;
}
