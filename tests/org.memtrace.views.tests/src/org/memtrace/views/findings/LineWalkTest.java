// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.findings;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.eclipse.swt.custom.StyledText;
import org.eclipse.swt.widgets.Shell;
import org.junit.jupiter.api.Test;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.UiTest;
import org.memtrace.views.WindowPicture;
import org.memtrace.views.session.TraceImport;
import org.memtrace.views.session.ViewIds;

/** The walk of docs/start/line.md, with a program that is made here. Its pictures are in the folder of the shots (docs/images/walk.sh). */
class LineWalkTest extends UiTest {
	private static final Path ROOT = Path.of(System.getProperty("memtrace.root")).normalize();
	private static final Path PICTURES = Path.of(System.getProperty("memtrace.shots", "target/shots"));
	private static final String HISTOGRAM = """
			/* Four threads count the values of a field, each in its own quarter. */
			#include <pthread.h>
			#include <stdint.h>
			#include <stdio.h>
			#include <stdlib.h>

			#define N (32u << 20)
			#define THREADS 4
			#define ROUNDS 6

			static uint8_t *field;
			static uint32_t bins[THREADS][256];
			static double *weights;

			static void fill(void)
			{
				for (size_t i = 0; i < N; i++)
					field[i] = (uint8_t)(i * 2654435761u >> 13);
				for (size_t i = 0; i < N / 8; i++)
					weights[i] = 1.0 / (double)(i + 1);
			}

			static void *count(void *arg)
			{
				size_t me = (size_t)arg, from = N / THREADS * me, to = from + N / THREADS;

				for (int r = 0; r < ROUNDS; r++)
					for (size_t i = from; i < to; i++) {
						bins[me][field[i]]++;
						weights[i / 8] *= 0.999;
					}
				return NULL;
			}

			int main(void)
			{
				pthread_t t[THREADS];
				uint64_t sum = 0;

				field = malloc(N);
				weights = malloc(N / 8 * sizeof(*weights));
				fill();
				for (size_t k = 0; k < THREADS; k++)
					pthread_create(&t[k], NULL, count, (void *)k);
				for (size_t k = 0; k < THREADS; k++)
					pthread_join(t[k], NULL);
				for (size_t k = 0; k < THREADS; k++)
					for (int b = 0; b < 256; b++)
						sum += bins[k][b];
				printf("%llu\\n", (unsigned long long)sum);
				return 0;
			}
			""";

	private void picture(Shell shell, String name, String title) {
		bot.run(() -> WindowPicture.write(shell, title, PICTURES.resolve(name + ".svg")));
		bot.shot(name);
	}

	/** A program is recorded and opened, a card is read, F3 opens the line that must change. */
	@Test
	void fromTheProgramToTheLine() throws Exception {
		Path launcher = ROOT.resolve("build/collector/memtrace");
		assumeTrue(Files.isExecutable(launcher), "the collector is not built");
		Path source = Files.writeString(directory.resolve("histogram.c"), HISTOGRAM);
		Path program = directory.resolve("histogram");
		assumeTrue(run("gcc", "-g", "-O2", "-pthread", source.toString(), "-o", program.toString()), "there is no gcc");
		Path trace = directory.resolve("histogram.memtrace");
		assertTrue(run(launcher.toString(), "record", "-o", trace.toString(), "--", program.toString()), "recorded");
		TraceInfo info = TraceImport.once(session.catalogue(), trace, Progress.NONE);
		Shell window = bot.ui(() -> page().getWorkbenchWindow().getShell());
		bot.run(() -> window.setBounds(0, 0, Math.min(1400, bot.display.getBounds().width - 10),
				Math.min(900, bot.display.getBounds().height - 20)));
		bot.run(() -> session.opener().open(info));
		waitForPicture("histogram");
		bot.waitFor("findings", () -> page().findView(ViewIds.FINDINGS) instanceof FindingsView v && page().isPartVisible(v));
		FindingsView findings = bot.ui(() -> (FindingsView) page().findView(ViewIds.FINDINGS));
		waitForViews();
		List<String> first = bot.ui(() -> findings.presenter().cards().cards().get(0).finding().names());
		assertTrue(first.equals(List.of("weights")) || first.equals(List.of("field")), first.toString());
		picture(window, "walk-finding", "The first card");
		bot.run(() -> findings.cardControls().get(0).setFocus());
		bot.key("F3");
		StyledText text = bot.find(StyledText.class, t -> t.getText().contains("static void fill(void)") && t.isVisible());
		waitForViews();
		assertTrue(bot.ui(() -> text.getLine(text.getLineAtOffset(text.getCaretOffset()))).matches("\\s*" + first.get(0) + "\\[i] = .*"));
		picture(window, "walk-line", "The line that must change");
	}

	private boolean run(String... command) throws Exception {
		Path log = directory.resolve("log");
		try {
			return new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).directory(directory.toFile()).start()
					.waitFor() == 0;
		} catch (IOException e) {
			return false;
		}
	}
}
