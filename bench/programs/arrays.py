# SPDX-FileCopyrightText: memtrace contributors
# SPDX-License-Identifier: EPL-2.0
import numpy as np

rng = np.random.default_rng(1)
a, b = rng.random((600, 600)), rng.random((600, 600))
for i in range(4):
	c = a @ b
	a = c / c.max()
s = np.sort(rng.random(2_000_000))
f = np.fft.fft(rng.random(1 << 18))
print(round(float(a.sum()), 3), np.histogram(s, 100)[0].sum(), round(float(abs(f).max()), 3))
