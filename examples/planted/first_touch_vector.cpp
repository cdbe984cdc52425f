/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/* finds: first-touch samples */
/* A std::vector touches its elements in its constructor, in the main thread. The repair leaves them as they are, and fills them in parallel. */
#include <memory>
#include <vector>

#include "planted.h"

static const long N = 448L * PAGE / sizeof(double);

int main(int argc, char **argv)
{
	struct planted p = planted_start(argc, argv);
	std::vector<double> samples;
	std::unique_ptr<double[]> raw;
	double *x;

	if (p.repaired) {
		raw.reset(new double[N]);
		x = raw.get();
#pragma omp parallel for schedule(static) num_threads(p.threads)
		for (long i = 0; i < N; i++)
			x[i] = 1;
	} else {
		samples.resize(N, 1.0);
		x = samples.data();
	}
	while (planted_more(&p)) {
#pragma omp parallel for schedule(static) num_threads(p.threads)
		for (long i = 0; i < N; i++)
			for (int k = 0; k < 20; k++)
				x[i] = 0.5 * x[i] + 0.25;
	}
	printf("%g\n", x[N / 2]);
	return 0;
}
