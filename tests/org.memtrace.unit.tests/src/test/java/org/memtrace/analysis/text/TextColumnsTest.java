// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class TextColumnsTest {
	@Test
	void cutsInTheMiddleButKeepsTheNameOfAFile() {
		assertEquals("matrix", TextColumns.cut("matrix", 6));
		assertEquals("std…ain", TextColumns.cut("std::vector<int> main", 7));
		assertEquals("…/io/reader.c:120", TextColumns.cut("/home/somebody/project/src/io/reader.c:120", 20));
		assertEquals("…/reader.c:120", TextColumns.cut("/home/somebody/project/src/io/reader.c:120", 14));
		assertEquals("/home/….c:120", TextColumns.cut("/home/src/an_endless_name_of_a_reader.c:120", 13));
	}
}
