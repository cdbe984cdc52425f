/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: short-lived frame */
/* A function allocates a large vector in each step and drops it: its pages are touched for the first time again and again. The repair keeps one. */
#include <malloc.h>
#include <vector>

#include "planted.h"

static double step(std::vector<double> &frame, int k)
{
	for (int again = 0; again < 10; again++)
		for (double &x : frame)
			x = 0.5 * x + k;
	return frame[frame.size() / 2];
}

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);
	const size_t n = 128L * PAGE / sizeof(double);
	std::vector<double> kept(p.repaired ? n : 0);
	double sum = 0;

	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	for (int k = 0; planted_more(&p); k++) {
		if (p.repaired) {
			sum += step(kept, k);
		} else {
			std::vector<double> frame(n);

			sum += step(frame, k);
		}
	}
	printf("%g\n", sum);
	return 0;
}
