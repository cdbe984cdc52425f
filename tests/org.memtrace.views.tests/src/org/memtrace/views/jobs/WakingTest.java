// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.jobs;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.concurrent.atomic.AtomicBoolean;

import org.eclipse.swt.widgets.Display;
import org.eclipse.ui.PlatformUI;
import org.junit.jupiter.api.Test;
import org.memtrace.views.Bot;

/** Who sleeps until another thread has done something wakes, although nobody tells the display. */
class WakingTest {
	private final Bot bot = new Bot(PlatformUI.getWorkbench().getDisplay());

	@Test
	void aLostWakeIsNotWaitedForForEver() {
		AtomicBoolean done = new AtomicBoolean();
		bot.run(() -> {
			Display display = Display.getCurrent();
			Thread other = new Thread(() -> done.set(true)); // it wakes nobody
			try (Waking waking = new Waking(display)) {
				other.start();
				while (!done.get()) {
					while (display.readAndDispatch()) {
						// until there is nothing to do
					}
					display.sleep();
				}
				display.sleep();
				display.sleep();
			}
			assertFalse(display.isDisposed());
		});
	}
}
