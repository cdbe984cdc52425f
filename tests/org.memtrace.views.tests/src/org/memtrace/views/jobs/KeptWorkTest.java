// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

import org.eclipse.swt.widgets.Button;
import org.junit.jupiter.api.Test;
import org.memtrace.views.UiTest;

/** Who leaves the workbench while something is imported or written is asked. */
class KeptWorkTest extends UiTest {
	private AtomicReference<Boolean> leave() {
		AtomicReference<Boolean> answer = new AtomicReference<>();
		bot.display.asyncExec(() -> answer.set(KeptWork.mayLeave(page().getWorkbenchWindow().getShell())));
		return answer;
	}

	private void answer(String label) {
		bot.close(bot.find(Button.class, b -> b.getText().replace("&", "").equals(label)));
	}

	@Test
	void nobodyIsAskedWithoutWork() {
		AtomicReference<Boolean> answer = leave();
		bot.waitFor("an answer", () -> answer.get() != null);
		assertTrue(answer.get());
	}

	@Test
	void workIsWaitedForOrLost() throws InterruptedException {
		CountDownLatch end = new CountDownLatch(1);
		Thread work = new Thread(() -> {
			try {
				KeptWork.run("Import of a trace", () -> {
					end.await();
					return null;
				});
			} catch (InterruptedException e) {
				Thread.currentThread().interrupt();
			}
		});
		work.start();
		bot.waitFor("work", () -> !KeptWork.running().isEmpty());
		assertEquals(List.of("Import of a trace"), KeptWork.running());

		AtomicReference<Boolean> stay = leave();
		answer(KeptWork.STAY);
		bot.waitFor("an answer", () -> stay.get() != null);
		assertEquals(false, stay.get());

		AtomicReference<Boolean> quit = leave();
		answer(KeptWork.QUIT);
		bot.waitFor("an answer", () -> quit.get() != null);
		assertEquals(true, quit.get());

		AtomicReference<Boolean> wait = leave();
		answer(KeptWork.WAIT);
		assertEquals(null, wait.get());
		end.countDown();
		bot.waitFor("an answer", () -> wait.get() != null);
		assertEquals(true, wait.get());
		work.join();
		assertEquals(List.of(), KeptWork.running());
	}
}
