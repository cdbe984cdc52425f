// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.grid;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;

import org.junit.jupiter.api.Test;

/** Which columns get the width that is left over, and which give some. */
class GridWidthsTest {
	/** Two of texts, one of numbers, two of texts. */
	private static final int[] WANTED = {200, 100, 80, 100, 260};
	private static final boolean[] FIXED = {false, false, true, false, false};

	@Test
	void textsShareWhatIsLeftOver() {
		assertArrayEquals(new int[] {220, 110, 80, 110, 286}, Grid.filled(WANTED, FIXED, 740 + 66));
		assertArrayEquals(new int[] {600, 300, 80, 300, 780}, Grid.filled(WANTED, FIXED, 9_000), "not more than three times");
	}

	@Test
	void theLastGiveFirst() {
		assertArrayEquals(new int[] {200, 100, 80, 100, 160}, Grid.filled(WANTED, FIXED, 640));
		assertArrayEquals(new int[] {200, 100, 80, 80, 130}, Grid.filled(WANTED, FIXED, 590), "half of the last, then the one before");
		assertArrayEquals(new int[] {200, 60, 80, 50, 130}, Grid.filled(WANTED, FIXED, 520));
		assertArrayEquals(WANTED, Grid.filled(WANTED, FIXED, 519), "it does not fit: all of it, to be scrolled");
	}

	@Test
	void whatIsFixedStays() {
		boolean[] all = {true, true, true, true, true};
		assertArrayEquals(WANTED, Grid.filled(WANTED, all, 2_000));
		assertArrayEquals(WANTED, Grid.filled(WANTED, all, 100));
	}
}
