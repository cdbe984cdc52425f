// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.overview.Picture;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.importer.ImportOperation;
import org.memtrace.model.Progress;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.UiTest;
import org.memtrace.views.session.ViewIds;

/** The machine as a side of the picture, of a recorded trace of two CPUs. */
class AcrossMachinePictureTest extends UiTest {
	private OcelotlView view;

	@BeforeEach
	void openRecorded() throws Exception {
		Path recorded = Path.of(System.getProperty("memtrace.root"), "testdata/traces/bucketsort-fair");
		TraceInfo trace = new ImportOperation(List.of(recorded), System.in, session.catalogue()::create).call(Progress.NONE).trace();
		view = bot.ui(() -> show(ViewIds.OCELOTL));
		bot.run(() -> {
			view.choose(Choice.DEFAULT); // a view keeps what was chosen
			session.opener().open(trace);
		});
		settle();
		bot.run(() -> view.canvas().getShell().forceActive());
	}

	/** A view keeps what was chosen. */
	@AfterEach
	void usualPicture() {
		bot.run(() -> view.choose(Choice.DEFAULT));
	}

	private void settle() {
		bot.waitFor("picture of the current state", () -> session.trace() != null && session.opening() == null && view.isSettled());
	}

	/** Goes down the list with the keys. */
	private void choose(PictureKind kind) {
		bot.run(() -> view.bar().kind().setFocus());
		for (int i = 0; i < PictureKind.values().length && bot.ui(() -> view.choice().kind()) != kind; i++) {
			PictureKind before = bot.ui(() -> view.choice().kind());
			bot.key("Down");
			bot.waitFor("another kind", () -> view.choice().kind() != before);
		}
		assertEquals(kind, bot.ui(() -> view.choice().kind()));
		settle();
		bot.run(() -> view.canvas().forceFocus());
	}

	private ViewState state() {
		return bot.ui(() -> session.trace().selection().state());
	}

	private String filters() {
		return bot.ui(() -> session.trace().selection().state().filters().filters().stream().map(f -> f.text(List.of())).toList().toString());
	}

	private static double sum(MicroscopicModel m, int fromRow, int toRow, int fromColumn, int toColumn) {
		return Arrays.stream(m.sums(fromRow, toRow, fromColumn, toColumn)).sum();
	}

	private void clickPart(Picture.Part part) {
		bot.click(view.canvas(), (int) (part.x() + part.width() / 2), (int) (part.y() + part.height() / 2));
	}

	@Test
	void memoryAcrossTheMachine() throws Exception {
		long pages = bot.ui(() -> view.canvas().picture().model().hierarchy().weight(0));
		choose(PictureKind.MEMORY_MACHINE);
		assertFalse(bot.ui(() -> view.canvas().picture().columnsAreTime()));
		MicroscopicModel m = bot.ui(() -> view.canvas().picture().model());
		assertEquals(2, m.sliceCount(), "CPUs");
		assertEquals(pages, m.hierarchy().weight(0), "pages");
		double all = sum(m, 0, m.hierarchy().leafCount(), 0, 2);
		assertTrue(all > 1000, "accesses: " + all);
		// what has no place is told in the line above, too
		assertTrue(bot.ui(() -> view.bar().place()).endsWith("% without CPU"), bot.ui(() -> view.bar().place()));
		bot.shot("across-machine");

		// the level of detail
		Partition before = bot.ui(() -> view.canvas().picture().partition());
		assertTrue(before.blockCount() > 2 && before.lossPercent() < 60, before.blockCount() + " blocks");
		bot.run(() -> view.level().step(false));
		bot.waitFor("a simpler level", () -> view.isSettled() && view.canvas().picture().partition().blockCount() < before.blockCount());
		assertTrue(bot.ui(() -> view.canvas().picture().partition().lossPercent()) > before.lossPercent());
		bot.run(() -> view.level().automatic());
		settle();

		// a block: what it is of, and a click marks its structure
		int block = bot.ui(() -> {
			ShownPicture shown = view.canvas().picture();
			Partition p = shown.partition();
			for (int b = 0; b < p.blockCount(); b++) {
				if (p.endSlice(b) - p.firstSlice(b) == 1 && shown.yOfLeaf(p.leafTo(b)) - shown.yOfLeaf(p.leafFrom(b)) > 8
						&& sum(m, p.leafFrom(b), p.leafTo(b), p.firstSlice(b), p.endSlice(b)) > 0) {
					return b;
				}
			}
			return -1;
		});
		assertTrue(block >= 0, "a block of one CPU");
		ShownPicture.Hit hit = bot.ui(() -> {
			Partition p = view.canvas().picture().partition();
			return view.canvas().picture().hitCell(p.leafFrom(block), p.firstSlice(block));
		});
		String cpu = "CPU " + hit.what().firstSlice();
		assertEquals(cpu, hit.part().shortLabel());
		String text = HitText.of(bot.ui(() -> view.canvas().picture()), hit, Progress.NONE);
		assertTrue(text.contains("\n" + cpu + ", ") && text.contains("thread"), text);
		Rectangle r = hit.area();
		bot.click(view.canvas(), r.x + r.width / 2, r.y + r.height / 2);
		bot.waitFor("marked", () -> session.trace().selection().mark() == session.trace().memberOf(hit.producer()));
		assertEquals("[]", filters());
		bot.shot("across-machine-block");

		// the name of a CPU below the blocks filters all views; once more takes it back
		ShownPicture shown = bot.ui(() -> view.canvas().picture());
		Picture.Part one = shown.picture().parts().stream()
				.filter(p -> shown.partAt((int) (p.x() + 2), (int) (p.y() + 2)).shortLabel().equals("CPU 1")).findFirst().orElseThrow();
		clickPart(one);
		bot.waitFor("filter", () -> filters().equals("[CPU 1]"));
		settle();
		MicroscopicModel filtered = bot.ui(() -> view.canvas().picture().model());
		assertEquals(1, filtered.sliceCount(), "the other CPU has left the picture");
		int leaves = filtered.hierarchy().leafCount();
		assertEquals(sum(m, 0, m.hierarchy().leafCount(), 1, 2), sum(filtered, 0, leaves, 0, 1), 0.05 * all);
		bot.shot("across-machine-filtered");
		ShownPicture alone = bot.ui(() -> view.canvas().picture());
		Picture.Part again = alone.picture().parts().stream()
				.filter(p -> alone.partAt((int) (p.x() + 2), (int) (p.y() + 2)).shortLabel().equals("CPU 1")).findFirst().orElseThrow();
		clickPart(again);
		bot.waitFor("no filter", () -> filters().equals("[]"));
		settle();

		// zooming to the block is its memory and its CPU, one step of the history
		ViewState whole = state();
		bot.run(() -> view.canvas().forceFocus());
		bot.doubleClick(view.canvas(), r.x + r.width * 3 / 4, r.y + r.height / 2);
		bot.waitFor("zoomed", () -> filters().equals("[" + cpu + "]"));
		assertEquals(hit.producer(), state().producer());
		assertEquals(whole.fromNs(), state().fromNs());
		assertEquals(whole.toNs(), state().toNs());
		settle();
		bot.run(() -> session.trace().selection().back());
		assertEquals(whole, state());
		settle();

		// the numbers behind it
		String csv = bot.ui(() -> view.snapshot()).csv().get();
		assertTrue(csv.startsWith("producer,producer_id,pages,part,part_cpus,gain,loss,"), csv);
	}

	@Test
	void machineOverTime() {
		choose(PictureKind.MACHINE_TIME);
		MicroscopicModel m = bot.ui(() -> view.canvas().picture().model());
		assertEquals(2, m.hierarchy().weight(0), "CPUs");
		assertTrue(sum(m, 0, 2, 0, m.sliceCount()) > 1000);
		bot.run(() -> session.trace().selection().machine("pack:2 [numa] core:4 pu:1"));
		settle();
		MicroscopicModel other = bot.ui(() -> view.canvas().picture().model());
		assertEquals(8, other.hierarchy().weight(0), "CPUs of another machine");
		assertEquals(sum(m, 0, 2, 0, m.sliceCount()), sum(other, 0, 8, 0, other.sliceCount()), 1e-6);
		bot.shot("machine-over-time-given");
		bot.run(() -> session.trace().selection().machine(""));
		settle();
		bot.shot("machine-over-time");
		ViewState before = state();
		Rectangle plot = bot.ui(() -> view.canvas().picture().plot());
		// the upper row, the middle of the run
		bot.drag(view.canvas(), 1, new Point(plot.x + plot.width / 4, plot.y + plot.height / 8),
				new Point(plot.x + plot.width / 2, plot.y + plot.height / 4));
		bot.waitFor("zoomed", () -> session.trace().selection().state().durationNs() < before.durationNs() / 2);
		assertEquals("[CPU 0]", filters());
		assertEquals(before.producer(), state().producer());
		settle();
		assertEquals(1, (int) bot.ui(() -> view.canvas().picture().model().hierarchy().leafCount()), "the other CPU has left the picture");

		// the next trace does not tell its machine: what it has is shown; asked for, the reason is told and the picture stays
		bot.run(() -> session.opener().open(sample));
		bot.waitFor("another trace", () -> session.trace() != null && session.trace().name().equals(sample.alias()) && session.opening() == null
				&& view.isSettled());
		assertEquals(PictureKind.BLOCKS, bot.ui(() -> view.choice().kind()));
		bot.run(() -> view.choose(view.choice().withKind(PictureKind.MACHINE_TIME)));
		bot.waitFor("the reason", () -> view.bar().place().startsWith("The machine of this trace is not known"));
		assertEquals(PictureKind.BLOCKS, bot.ui(() -> view.canvas().picture().choice().kind()));
	}
}
