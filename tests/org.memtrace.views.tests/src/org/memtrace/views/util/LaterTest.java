// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.util;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;

import org.eclipse.swt.widgets.Shell;
import org.eclipse.ui.PlatformUI;
import org.junit.jupiter.api.Test;
import org.memtrace.views.Bot;

/** What is done a little later. */
class LaterTest {
	private final Bot bot = new Bot(PlatformUI.getWorkbench().getDisplay());
	private final List<String> done = new ArrayList<>();

	@Test
	void eachIsDoneOnceInTheOrderOfTheFirstRequests() {
		Shell[] shell = new Shell[1];
		bot.run(() -> {
			shell[0] = new Shell(bot.display);
			Later a = new Later(shell[0], () -> done.add("a"));
			Later b = new Later(shell[0], () -> {
				done.add("b");
				a.request();
			});
			b.request();
			a.request();
			b.request();
			a.request();
			assertEquals(List.of(), done);
		});
		bot.waitFor("the request in a request", () -> done.size() == 2);
		assertEquals(List.of("b", "a"), bot.ui(() -> List.copyOf(done)));
		bot.run(() -> shell[0].dispose());
	}

	/** Nothing is done with a control that is gone, and the next one has its turn. */
	@Test
	void aControlMayBeGoneMeanwhile() {
		Shell[] shell = new Shell[1];
		bot.run(() -> {
			Shell gone = new Shell(bot.display);
			shell[0] = new Shell(bot.display);
			Later lost = new Later(gone, () -> done.add("lost"));
			lost.request();
			new Later(shell[0], () -> done.add("next")).request();
			gone.dispose();
			lost.request();
		});
		bot.waitFor("the next one", () -> !done.isEmpty());
		assertEquals(List.of("next"), bot.ui(() -> List.copyOf(done)));
		bot.run(() -> shell[0].dispose());
	}
}
