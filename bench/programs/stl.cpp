// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
#include <algorithm>
#include <iostream>
#include <map>
#include <vector>

int main()
{
	std::map<std::string, int> m;
	std::vector<int> v{3, 1, 2};

	m["x"]++;
	std::sort(v.begin(), v.end());
	std::cout << m.size() << v.front() << '\n';
}
