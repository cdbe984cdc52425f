// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.model;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;

/** What an array consists of, by its type. */
class StructureTest {
	@ParameterizedTest
	@CsvSource(delimiter = ';', value = { "double;double", "double[64][64];double", "double *[1000];double *",
			"struct particle[7];struct particle",
			"real(kind=8)(:,:);real(kind=8)", "real(kind=8)(100,-3);real(kind=8)", "type cell(:);type cell", "real(kind=8);real(kind=8)",
			"vector<int [3], std::allocator<int [3]> >[500];vector<int [3], std::allocator<int [3]> >", "char[];char", "'';''" })
	void elements(String typeName, String element) {
		assertEquals(element, new Structure(0, 0, StructureKind.HEAP, "a", 0, 8, 0, 1, -1, -1, "", typeName).elementType());
	}
}
