// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.scene;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

/** Texts of instants. */
class TimeAxisTest {
	/** The text has the unit of the axis, and as many digits as a pixel tells. */
	@Test
	void anInstantIsAsExactAsAPixel() {
		long s = 1_000_000_000L;
		assertEquals("3.25 s", TimeAxis.at(s, s, 11 * s, 1000, s + 3_254_999_999L, false));
		assertEquals("3.255 s", TimeAxis.at(s, s, 11 * s, 10_000, s + 3_254_999_999L, false));
		assertEquals("0 s", TimeAxis.at(s, s, 11 * s, 1000, s, false));
		assertEquals("12.35 ms", TimeAxis.at(0, 12_000_000, 13_000_000, 100, 12_345_678, false));
		assertEquals("12.346 ms", TimeAxis.at(0, 12_000_000, 13_000_000, 1000, 12_345_678, false));
		assertEquals("1,234 ticks", TimeAxis.at(0, 0, 2000, 4000, 1234, true));
	}
}
