// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.BitSet;
import java.util.List;
import java.util.Map;

import org.eclipse.swt.custom.StyledText;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Label;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.model.CallFrame;
import org.memtrace.model.CodePlaces;
import org.memtrace.model.Progress;
import org.memtrace.model.ThreadInfo;
import org.memtrace.model.TraceInfo;
import org.memtrace.model.memory.Structure;
import org.memtrace.model.memory.StructureKind;
import org.memtrace.model.store.AccessBatch;
import org.memtrace.model.store.TraceStore;
import org.memtrace.model.store.TraceWriter;
import org.memtrace.model.tree.ProducerKind;
import org.memtrace.model.tree.ProducerTreeBuilder;
import org.memtrace.views.UiTest;
import org.memtrace.views.events.EventsView;
import org.memtrace.views.preferences.Settings;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.structures.StructuresView;

/** From a structure and from an access to the line, with what the line did. */
class SourceViewTest extends UiTest {
	private static final String TEXT = """
			#include <stdlib.h>

			static double *make(size_t n) {
				return malloc(n * sizeof(double));
			}

			static void init(double *a, size_t n) {
				for (size_t i = 0; i < n; i++) a[i] = 0;
			}

			static void work(double *a, size_t n) {
				for (size_t i = 0; i < n; i++)
					a[i] += 1;
			}
			""";
	private static final int PAGES = 8;
	private static final int STEPS = 10;
	private static final long STEP_NS = 1_000_000;
	private static final long INIT = 0x1000;
	private static final long WORK = 0x2000;
	private static final long NO_SOURCE = 0x3000;

	/** In the first step main writes all pages; then two threads change each page: 8 + 9 * 2 * 8 records. */
	private TraceInfo write(String file) throws Exception {
		try (TraceWriter writer = session.catalogue().create("with source")) {
			writer.threads(List.of(new ThreadInfo(0, 0, 100, "main", 0, Long.MAX_VALUE, "", true),
					new ThreadInfo(1, 0, 101, "worker", 0, Long.MAX_VALUE, "", false)));
			ProducerTreeBuilder tree = new ProducerTreeBuilder(4096);
			tree.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
			long start = 0x7f0000000000L;
			Structure a = new Structure(0, 0, StructureKind.HEAP, "A", start, start + PAGES * 4096L, 0, Long.MAX_VALUE, 100, 0, "work.c:4");
			tree.begin(ProducerKind.STRUCTURE, "A", start, start + PAGES * 4096L, 0);
			int[] page = new int[PAGES];
			for (int p = 0; p < PAGES; p++) {
				page[p] = tree.leaf(ProducerKind.PAGE, "A [page " + p + "]", start + p * 4096L, start + (p + 1) * 4096L, 0);
			}
			tree.end();
			tree.end();
			writer.structures(List.of(a));
			var producers = tree.build();
			writer.producers(producers);
			BitSet cpu = new BitSet();
			cpu.set(0);
			writer.cpuSets(List.of(cpu));
			writer.stack(0, List.of(new CallFrame(5, "app", "make", file, 4), new CallFrame(6, "app", "main", file.replace("work.c", "main.c"), 9)));
			CodePlaces.Builder code = new CodePlaces.Builder();
			code.add(0, new CallFrame(INIT, "app", "init", file, 8));
			code.add(0, new CallFrame(WORK, "app", "work", file, 13));
			code.add(0, new CallFrame(NO_SOURCE, "libc", "memset", "", 0));
			writer.note(TraceStore.NOTE_CODE, code.build().toBytes());
			AccessBatch batch = new AccessBatch(1000);
			for (int step = 0; step < STEPS; step++) {
				long t = step * STEP_NS;
				for (int p = 0; p < PAGES; p++) {
					if (step == 0) {
						batch.add(t, t + STEP_NS, page[p], 0, 0, 0, 3, 1, 0, 0, p == 0 ? NO_SOURCE : INIT);
					} else {
						batch.add(t, t + STEP_NS, page[p], 0, 0, 2, 1, 2, 0, 0, WORK);
						batch.add(t, t + STEP_NS, page[p], 1, 0, 1, 1, 2, 0, 0, WORK);
					}
				}
			}
			writer.accesses(batch);
			return writer.commit(new TraceInfo(-1, "with source", "with source", TraceInfo.TYPE_MEMTRACE, "/app", "host", "Linux", 2,
					0, producers.size(), 0,
					STEPS * STEP_NS, Instant.parse("2100-01-01T00:00:00Z"), 4096, "", Map.of()), "{}", Progress.NONE);
		}
	}

	private SourceView view() {
		bot.waitFor("source", () -> page().findView(ViewIds.SOURCE) instanceof SourceView v && page().isPartVisible(v));
		waitForViews();
		return bot.ui(() -> (SourceView) page().findView(ViewIds.SOURCE));
	}

	private int line(SourceView view) {
		return bot.ui(() -> view.text().getLineAtOffset(view.text().getCaretOffset()) + 1);
	}

	private void go(SourceView view, int line) {
		bot.run(() -> view.text().setCaretOffset(view.text().getOffsetAtLine(line - 1)));
	}

	@Test
	void f3OpensTheLineWithWhatItDid() throws Exception {
		Path file = Files.writeString(Files.createDirectories(directory.resolve("src")).resolve("work.c"), TEXT);
		TraceInfo info = write(file.toString());
		bot.run(() -> session.opener().open(info));
		waitForPicture("with source");
		StructuresView structures = bot.ui(() -> show(ViewIds.STRUCTURES));
		waitForViews();
		bot.run(() -> session.trace().selection().mark(1));
		bot.run(() -> structures.grid().control().setFocus());
		bot.key("F3");
		SourceView view = view();
		assertEquals(TEXT, bot.ui(() -> view.text().getText()).replace("\r", ""));
		assertEquals(4, line(view), "where the structure is allocated");
		go(view, 8);
		assertEquals("Line 8: 0 reads, 21 writes, 1 thread, shared: 0 %.", bot.ui(view::said),
				"7 pages, 3 writes each; page 0 has code without source");
		go(view, 13);
		assertEquals("Line 13: 216 reads, 144 writes, 2 threads, shared: 100 %.", bot.ui(view::said));
		bot.shot("source");
		bot.run(() -> session.trace().selection().window(0, 2 * STEP_NS));
		waitForViews();
		assertEquals("Line 13: 24 reads, 16 writes, 2 threads, shared: 100 %.", bot.ui(view::said),
				"numbers are of what is shown, the line stays");
		bot.run(() -> session.trace().selection().addFilter(TraceFilter.only(Condition.thread(1))));
		waitForViews();
		assertEquals("Line 13: 8 reads, 8 writes, 1 thread, shared: 100 %.", bot.ui(view::said));
		bot.run(() -> session.trace().selection().reset());
		assertTrue(bot.ui(() -> view.snapshot().csv().get()).startsWith("line,reads,writes,threads,shared_percent,shared_not_known_percent\n"));

		bot.run(() -> session.trace().selection().filters(org.memtrace.analysis.filter.FilterSet.NONE));
		go(view, 8);
		EventsView events = bot.ui(() -> show(ViewIds.EVENTS));
		waitForViews();
		bot.run(() -> {
			events.grid().control().setVisible(false); // rows are read when they are drawn: of these nobody has seen one
			session.trace().selection().window(0, 3 * STEP_NS);
		});
		waitForViews();
		bot.run(() -> {
			events.grid().select(PAGES, true);
			events.openSource();
		});
		bot.waitFor("the line of the access", () -> view.said().startsWith("Line 13") && page().isPartVisible(view));
		bot.run(() -> events.grid().control().setVisible(true));
		bot.run(() -> page().hideView(view));
		assertNull(bot.ui(() -> page().findView(ViewIds.SOURCE)));
	}

	@Test
	void whatIsNotHereIsAskedForAndRemembered() throws Exception {
		TraceInfo info = write("/build/machine/src/work.c");
		bot.run(() -> session.opener().open(info));
		waitForPicture("with source");
		StructuresView structures = bot.ui(() -> show(ViewIds.STRUCTURES));
		bot.display.asyncExec(structures::openSource);
		bot.find(Label.class, l -> l.getText().startsWith("Nothing is chosen that has a place in the source"));
		bot.close(bot.find(Button.class, b -> b.getText().equals("OK")));
		bot.run(() -> {
			session.trace().selection().mark(2);
			structures.openSource();
		});
		SourceView view = view();
		assertEquals("work.c is not on this machine. It was recorded as /build/machine/src/work.c.", bot.ui(view::said));
		StyledText text = bot.ui(view::text);
		String known = bot.ui(() -> text.getText());
		assertTrue(known.startsWith("work.c:8  0 reads, 21 writes, 1 thread, shared: 0 %"), known);
		assertTrue(bot.ui(() -> view.places().isEnabled()));
		assertEquals(List.of("work.c:4  A", "main.c:9  main"), bot.ui(() -> List.of(view.places().getItems())));
		bot.find(Button.class, b -> b.getText().equals("Locate…") && b.isVisible());
		bot.shot("source-missing");
		Path here = Files.writeString(Files.createDirectories(directory.resolve("mine/src")).resolve("work.c"), TEXT);
		bot.run(() -> view.located(here));
		waitForViews();
		assertEquals(TEXT, bot.ui(text::getText).replace("\r", ""));
		assertEquals("/build/machine=" + directory.resolve("mine"), bot.ui(() -> Settings.store().getString(Settings.SOURCE_RULES)));
		assertFalse(bot.ui(() -> bot.all(Button.class).stream().anyMatch(b -> b.getText().equals("Locate…") && b.isVisible())));
		bot.run(() -> page().hideView(view));
	}
}
