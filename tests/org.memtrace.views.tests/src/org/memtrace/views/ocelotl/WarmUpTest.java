// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/** What the workbench draws at its start for nobody. */
class WarmUpTest {
	private static final int TIMES = 8;

	/** All kinds of windows and viewpoints, without an error. */
	@Test
	void itDrawsPictures() throws Exception {
		assertEquals(TIMES, WarmUp.draw(TIMES, Long.MAX_VALUE, Progress.NONE));
	}

	/** The workbench may end meanwhile. */
	@Test
	void itEndsWhenItIsCancelled() throws Exception {
		int[] asked = {0};
		Progress progress = Progress.cancelledWhen(() -> ++asked[0] > 20);
		boolean cancelled = false;
		try {
			WarmUp.draw(Integer.MAX_VALUE, Long.MAX_VALUE, progress);
		} catch (CancelledException e) {
			cancelled = true;
		}
		assertTrue(cancelled);
	}
}
