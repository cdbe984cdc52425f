/* SPDX-FileCopyrightText: memtrace contributors
 * SPDX-License-Identifier: EPL-2.0 */
/*
 * Large vectors of field elements: the constructor zeroes them in one thread, then all are filled in parallel. No code may be printed for it: what
 * fills the values once more only makes it slower.
 */
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
struct Field {
	std::array<std::uint64_t, 4> limbs;
	Field() noexcept : limbs{} {}
};
static std::vector<Field> column(std::size_t n, std::uint64_t seed) {
	std::vector<Field> values(n);
#pragma omp parallel for
	for (std::size_t i = 0; i < n; i++)
		for (int k = 0; k < 4; k++) values[i].limbs[k] = i * seed + k;
	return values;
}
int main(int argc, char **argv) {
	std::size_t n = 1 << 20;
	std::uint64_t sum = 0;
	for (int round = 0; round < (argc > 1 ? atoi(argv[1]) : 8); round++) {
		auto first = column(n, 3), last = column(n, 5), transition = column(n, 7);
#pragma omp parallel for reduction(+ : sum)
		for (std::size_t i = 0; i < n; i++) sum += first[i].limbs[0] * last[i].limbs[1] + transition[i].limbs[2];
	}
	printf("%lu\n", (unsigned long)sum);
}
