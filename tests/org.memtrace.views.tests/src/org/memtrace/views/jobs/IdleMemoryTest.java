// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.jobs;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;

import org.eclipse.core.runtime.jobs.Job;
import org.junit.jupiter.api.Test;
import org.memtrace.views.UiTest;

/** When memory is given back. */
class IdleMemoryTest extends UiTest {
	@Test
	void onlyWhenNobodyWorks() {
		AtomicInteger collections = new AtomicInteger();
		IdleMemory memory = bot.ui(() -> new IdleMemory(bot.display, collections::incrementAndGet));
		long later = System.nanoTime() + 3_600_000_000_000L;
		assertFalse(bot.ui(() -> memory.look(System.nanoTime())), "somebody has just worked");
		bot.waitFor("no jobs", () -> Job.getJobManager().isIdle());
		assertTrue(bot.ui(() -> memory.look(later)));
		bot.waitFor("a collection", () -> collections.get() == 1);
		assertFalse(bot.ui(() -> memory.look(later)), "nothing was used since");
	}
}
