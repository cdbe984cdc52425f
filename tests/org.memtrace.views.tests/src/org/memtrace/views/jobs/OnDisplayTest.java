// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.jobs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import org.eclipse.swt.SWT;
import org.eclipse.swt.SWTException;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.ui.PlatformUI;
import org.junit.jupiter.api.Test;
import org.memtrace.views.Bot;

/** What other threads hand to the display comes too late when that is gone. */
class OnDisplayTest {
	private final Bot bot = new Bot(PlatformUI.getWorkbench().getDisplay());
	private final List<String> done = new ArrayList<>();

	@Test
	void whatIsGoneIsNotTold() {
		Shell shell = bot.ui(() -> new Shell(bot.display));
		bot.run(() -> {
			assertTrue(OnDisplay.later(shell, () -> done.add("there")));
			assertEquals(List.of(), done, "later");
		});
		bot.run(() -> {
			assertEquals(List.of("there"), done);
			assertTrue(OnDisplay.later(shell, () -> done.add("gone meanwhile")));
			shell.dispose();
		});
		assertFalse(OnDisplay.later(shell, () -> done.add("gone")));
		bot.run(() -> assertEquals(List.of("there"), done));
	}

	/** A workbench that is left while a job ends. */
	@Test
	void aDisplayThatIsGoneIsNoError() {
		assertFalse(OnDisplay.handedOver(() -> SWT.error(SWT.ERROR_DEVICE_DISPOSED)));
		int code = 0;
		try {
			OnDisplay.handedOver(() -> SWT.error(SWT.ERROR_THREAD_INVALID_ACCESS));
		} catch (SWTException e) {
			code = e.code;
		}
		assertEquals(SWT.ERROR_THREAD_INVALID_ACCESS, code, "another fault is not dropped");
	}

	/** Nobody asks isDisposed() first and then throws. */
	@Test
	void allGoThisWay() throws IOException {
		Path root = Path.of(System.getProperty("memtrace.root"));
		List<Path> others = new ArrayList<>();
		for (String bundle : List.of("org.memtrace.views", "org.memtrace.rcp")) {
			try (Stream<Path> files = Files.walk(root.resolve(bundle + "/src"))) {
				for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
					if (!file.endsWith("OnDisplay.java") && Files.readString(file).contains(".asyncExec(")) {
						others.add(root.relativize(file));
					}
				}
			}
		}
		assertEquals(List.of(), others);
	}
}
