// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.machine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.memtrace.views.UiTest;

/** Monitors of this machine, seen while they measure; without the collector (only Maven has run) it is skipped. */
class MonitorDialogTest extends UiTest {
	private static final Path LAUNCHER = Path.of(System.getProperty("memtrace.root")).normalize().resolve("build/collector/memtrace");

	@BeforeEach
	void monitors() {
		assumeTrue(Files.isExecutable(LAUNCHER), "the collector is not built");
		System.setProperty("memtrace.launcher", LAUNCHER.toString());
	}

	@AfterEach
	void noMonitors() {
		System.clearProperty("memtrace.launcher");
	}

	@Test
	void valuesAreSeenWhileTheyAreMeasured() throws Exception {
		Path file = Files.createTempDirectory("monitor").resolve("f.mon");
		Files.writeString(file, "pu { OBJ:=PU; PERF_LIB:=fake; EVSET:=formula; REDUCTION:=f=$0; }\n"
				+ "all { OBJ:=Machine; PERF_LIB:=accumulate; EVSET:=pu; REDUCTION:=sum=$0; }\n");
		MonitorDialog dialog = bot.ui(() -> MonitorDialog.open(page().getWorkbenchWindow()));
		bot.run(() -> {
			dialog.fill(file + "x", "", "10ms");
			dialog.press();
		});
		assertTrue(bot.ui(dialog::status).startsWith("The definition file"), bot.ui(dialog::status));
		bot.run(() -> {
			dialog.fill(file.toString(), "", "10ms");
			dialog.press();
		});
		bot.waitFor("values", () -> dialog.canvas().frame() != null);
		String first = bot.ui(() -> dialog.canvas().frame().summary());
		assertTrue(first.startsWith("sum of Machine; f of CPU"), first);
		bot.waitFor("later values", () -> !dialog.canvas().frame().summary().equals(first));
		bot.shot("monitor-live");
		long earlier = bot.ui(() -> {
			dialog.bar().replay().share(0);
			return dialog.bar().replay().atNs();
		});
		long end = bot.ui(() -> dialog.bar().replay().toNs());
		bot.waitFor("more values", () -> dialog.bar().replay().toNs() > end);
		assertEquals(earlier, bot.ui(() -> dialog.bar().replay().atNs()), "who looks back stays there");
		bot.run(dialog::press);
		bot.waitFor("the end", dialog::isIdle);
		assertTrue(bot.ui(dialog::status).startsWith("The values are in the list of traces"), bot.ui(dialog::status));
		bot.waitFor("the trace", () -> session.trace() != null && session.trace().info().type().equals("monitors"));
		bot.run(() -> dialog.close());
	}

	@Test
	void whatCannotBeMeasuredIsSaid() throws Exception {
		Path file = Files.createTempDirectory("monitor").resolve("wrong.mon");
		Files.writeString(file, "pu { OBJ:=PU; NONSENSE:=fake; }\n");
		MonitorDialog dialog = bot.ui(() -> MonitorDialog.open(page().getWorkbenchWindow()));
		bot.run(() -> {
			dialog.fill(file.toString(), "", "10ms");
			dialog.press();
		});
		bot.waitFor("the reason", dialog::isIdle);
		assertTrue(bot.ui(dialog::status).contains("wrong.mon:1:15: there is no field 'NONSENSE'"), bot.ui(dialog::status));
		forgive("there is no field 'NONSENSE'");
		bot.run(() -> dialog.close());
	}
}
