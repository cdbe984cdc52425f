// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.binding;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

import org.eclipse.swt.dnd.Clipboard;
import org.eclipse.swt.dnd.TextTransfer;
import org.eclipse.swt.widgets.Button;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.analysis.binding.BindingPicture;
import org.memtrace.analysis.binding.SharingGraph.Cells;
import org.memtrace.analysis.binding.ThreadBinding.Kind;
import org.memtrace.analysis.binding.ThreadBinding.Outcome;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.FilterSet;
import org.memtrace.analysis.filter.TraceFilter;
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
import org.memtrace.views.session.ViewIds;

/** The proposed binding of eight threads, of which i and i + 4 write the same pages, on two packages of four cores. */
class BindingViewTest extends UiTest {
	private static final int THREADS = 8;
	private static final int STEPS = 40;
	private static final long STEP_NS = 1_000_000;
	private static final int PAGES = 8;

	/** Thread i was on CPU i. */
	private TraceInfo pairs() throws Exception {
		try (TraceWriter writer = session.catalogue().create("pairs")) {
			writer.note(TraceStore.NOTE_TOPOLOGY,
					Files.readAllBytes(Path.of(System.getProperty("memtrace.root"), "testdata/machines/two-packages.xml")));
			List<ThreadInfo> threads = new ArrayList<>();
			List<BitSet> cpus = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				threads.add(new ThreadInfo(i, 0, 100 + i, i == 0 ? "main" : "worker " + i, 0, Long.MAX_VALUE, "", i == 0));
				cpus.add(BitSet.valueOf(new long[] {1L << i}));
			}
			writer.threads(threads);
			ProducerTreeBuilder tree = new ProducerTreeBuilder(4096);
			tree.begin(ProducerKind.ROOT, "MemoryRoot", 0, 0, -1);
			long base = 0x7f0000000000L;
			tree.begin(ProducerKind.STRUCTURE, "data", base, base + THREADS / 2 * PAGES * 4096L, 0);
			int[] page = new int[THREADS / 2 * PAGES];
			for (int p = 0; p < page.length; p++) {
				page[p] = tree.leaf(ProducerKind.PAGE, "data [page " + p + "]", base + p * 4096L, base + (p + 1) * 4096L, 0);
			}
			tree.end();
			tree.end();
			writer.structures(List.of(new Structure(0, 0, StructureKind.HEAP, "data", base, base + page.length * 4096L, 0, Long.MAX_VALUE, 100,
					-1, "pairs.c:1")));
			var producers = tree.build();
			writer.producers(producers);
			writer.cpuSets(cpus);
			AccessBatch batch = new AccessBatch(STEPS * THREADS * PAGES);
			for (int step = 0; step < STEPS; step++) {
				for (int t = 0; t < THREADS; t++) {
					for (int p = 0; p < PAGES; p++) {
						batch.add(step * STEP_NS, (step + 1) * STEP_NS, page[t % (THREADS / 2) * PAGES + p], t, t, 1, 1, 2, 0, 0, 0);
					}
				}
			}
			writer.accesses(batch);
			return writer.commit(new TraceInfo(-1, "pairs", "pairs", TraceInfo.TYPE_MEMTRACE, "/usr/bin/pairs", "testhost", "Linux", 16, 0,
					producers.size(), 0, STEPS * STEP_NS, Instant.parse("2026-11-20T05:30:00Z"), 4096, "", Map.of("command", "./pairs")), "{}",
					Progress.NONE);
		}
	}

	private String clipboard() {
		return bot.ui(() -> {
			Clipboard clipboard = new Clipboard(page().getWorkbenchWindow().getShell().getDisplay());
			try {
				return (String) clipboard.getContents(TextTransfer.getInstance());
			} finally {
				clipboard.dispose();
			}
		});
	}

	@Test
	void pairsComeTogether() throws Exception {
		BindingView view = bot.ui(() -> showAlone(ViewIds.BINDING));
		TraceInfo trace = pairs();
		bot.run(() -> session.opener().open(trace));
		bot.waitFor("the binding", () -> session.trace() != null && view.isSettled() && view.binding() != null);
		var binding = bot.ui(view::binding);
		assertEquals(Outcome.BETTER, binding.outcome(), binding.verdict());
		assertTrue(binding.of(Kind.PROPOSED).distance() < binding.of(Kind.RECORDED).distance(), binding.verdict());
		assertEquals((long) STEPS * PAGES, binding.graph().weight(1, 5));
		int[] proposed = binding.of(Kind.PROPOSED).cpuOf();
		for (int i = 0; i < 4; i++) {
			assertEquals(binding.of(Kind.PROPOSED).distance(), binding.machine().between(binding.machine().cpu(proposed[i]),
					binding.machine().cpu(proposed[i + 4])), 1e-9, "threads " + i + " and " + (i + 4));
		}
		String told = bot.ui(view::sentences);
		assertTrue(told.startsWith(binding.verdict()) && told.contains("as recorded ") && told.contains("proposed "), told);
		bot.waitFor("painted", () -> view.canvas().picture() != null && bot.colours(view.canvas()).size() > 5);
		bot.shot("binding");
		bot.run(() -> page().toggleZoom(page().findViewReference(ViewIds.BINDING)));
		bot.waitFor("the view as it is at first", () -> view.isSettled() && view.canvas().picture() != null);
		bot.shot("binding-low");
		bot.run(() -> page().toggleZoom(page().findViewReference(ViewIds.BINDING)));
		bot.waitFor("painted again", () -> view.canvas().picture() != null
				&& view.canvas().picture().scene().width() == view.canvas().getSize().x);

		// a cell of the matrix: its numbers, and its thread in the table
		int[] at = bot.ui(() -> {
			BindingPicture picture = view.canvas().picture();
			for (int y = 0; y < view.canvas().getSize().y; y += 2) {
				for (int x = 0; x < view.canvas().getSize().x; x += 2) {
					BindingPicture.Cell cell = picture.at(x, y);
					if (cell != null && cell.row() == 5 && cell.column() == 1) {
						return new int[] {x + 2, y + 2};
					}
				}
			}
			return null;
		});
		String text = bot.ui(() -> view.canvas().picture().textAt(at[0], at[1]));
		assertTrue(text.startsWith("Threads 5 worker 5 and 1 worker 1\n320 pages in an interval that both used"), text);
		bot.click(view.canvas(), at[0], at[1]);
		bot.waitFor("selected", () -> view.grid().selectedRow() == 5);

		// what is to be pasted
		Button copy = bot.ui(() -> view.copyOf("openmp"));
		assertTrue(bot.ui(copy::isEnabled));
		bot.click(bot.ui(copy::getParent), bot.ui(copy::getBounds));
		bot.waitFor("copied", () -> clipboard() != null && clipboard().startsWith("OMP_NUM_THREADS=8 OMP_PROC_BIND=close OMP_PLACES=\"{"));
		assertTrue(clipboard().endsWith("\" ./pairs"), clipboard());
		bot.click(bot.ui(() -> view.copyOf("likwid-pin").getParent()), bot.ui(() -> view.copyOf("likwid-pin").getBounds()));
		bot.waitFor("copied", () -> clipboard().startsWith("likwid-pin -c "));

		// another question
		bot.run(() -> view.counted().get(0).setFocus());
		bot.key("Down");
		bot.waitFor("pages", () -> view.isSettled() && view.binding() != null && view.binding().graph().question().cells() == Cells.PAGES);
		assertEquals((long) PAGES, bot.ui(view::binding).graph().weight(1, 5));

		// the filters of the group hold here, too
		TreeSet<Integer> some = new TreeSet<>(List.of(1, 5));
		bot.run(() -> session.trace().selection().filters(
				new FilterSet(List.of(TraceFilter.only(Condition.Value.numbers(BasicDimensions.THREAD.id(), some))))));
		bot.waitFor("two threads", () -> view.isSettled() && view.binding() != null && view.binding().graph().threads().size() == 2);
		bot.run(() -> session.trace().selection().back());
		bot.waitFor("all again", () -> view.isSettled() && view.binding() != null && view.binding().graph().threads().size() == THREADS);
	}

	/** A trace that does not tell its machine: a sentence, and nothing to copy. */
	@Test
	void withoutAMachine() {
		BindingView view = bot.ui(() -> showAlone(ViewIds.BINDING));
		bot.run(() -> session.opener().open(sample));
		bot.waitFor("a sentence", () -> session.trace() != null && view.isSettled());
		assertEquals("'small matmul' does not tell on which machine it was recorded; memtrace bind --topology proposes a binding for another one.",
				bot.ui(view::sentences));
		assertFalse(bot.ui(() -> view.copyOf("taskset").isEnabled()));
	}
}
