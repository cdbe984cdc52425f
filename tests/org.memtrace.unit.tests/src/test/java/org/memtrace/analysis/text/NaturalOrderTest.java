// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import org.junit.jupiter.api.Test;

class NaturalOrderTest {
	@Test
	void numbersByValue() {
		List<String> right = List.of("", "A [page 2]", "a [page 0010]", "a [page 10]", "b9", "b12345678901234567890", "C");
		List<String> mixed = new ArrayList<>(right);
		Collections.shuffle(mixed, new Random(4));
		mixed.sort(NaturalOrder.INSTANCE);
		assertEquals(right, mixed);
	}
}
