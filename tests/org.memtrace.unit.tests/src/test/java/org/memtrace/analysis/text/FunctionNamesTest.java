// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FunctionNamesTest {
	@ParameterizedTest
	@CsvSource(delimiter = ';', value = {
			"step; step",
			"main program; main program",
			"mesh::smooth; mesh::smooth",
			"step(double*, int) const; step",
			"void std::fill<int*, int>(int*, int*, int const&); std::fill",
			"__gnu_cxx::__enable_if<!std::__is_scalar<P>::__value, void>::__type std::__fill_a1<P*, P>(P*, P*, P const&); std::__fill_a1",
			"std::vector<P, std::allocator<P> >::operator[](unsigned long); std::vector::operator[]",
			"std::ostream& operator<< <char>(std::ostream&, char const*); operator<<",
			"bool operator< <int>(A<int> const&, A<int> const&); operator<",
			"A::operator->() const; A::operator->",
			"A<int>::operator bool() const; A::operator bool",
			"operator new(unsigned long); operator new",
			"World::step(int)::{lambda(int, int)#1}::operator()(int, int) const; World::step::{lambda#1}::operator()",
			"(anonymous namespace)::run(int); (anonymous namespace)::run",
			"void (anonymous namespace)::run<int>(int) [clone .cold]; (anonymous namespace)::run",
			"int (*f<int>(int))(double); int (*f<int>(int))(double)",
			"broken<name(; broken<name(" })
	void brief(String name, String expected) {
		assertEquals(expected, FunctionNames.brief(name));
	}
}
