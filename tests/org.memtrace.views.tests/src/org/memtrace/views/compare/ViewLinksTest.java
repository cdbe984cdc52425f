// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.compare;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;

import org.eclipse.core.runtime.jobs.Job;
import org.eclipse.swt.dnd.Clipboard;
import org.eclipse.swt.dnd.ImageTransfer;
import org.eclipse.swt.dnd.TextTransfer;
import org.eclipse.swt.graphics.ImageData;
import org.eclipse.swt.widgets.Button;
import org.eclipse.swt.widgets.Label;
import org.eclipse.swt.widgets.Link;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.analysis.filter.Condition;
import org.memtrace.analysis.filter.TraceFilter;
import org.memtrace.analysis.selection.SharedView;
import org.memtrace.analysis.selection.StateRequest;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.TraceInfo;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.session.RecentList;
import org.memtrace.views.session.ViewIds;

/**
 * What one person looks at is shown by another one, from a link, a file, or options of the command line; and what was shown last is found
 * again.
 */
class ViewLinksTest extends UiTest {
	private void open() {
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		bot.run(() -> page().activate(page().findView(ViewIds.OCELOTL)));
		waitForViews();
	}

	private Object clipboard(org.eclipse.swt.dnd.Transfer kind) {
		return bot.ui(() -> {
			Clipboard clipboard = new Clipboard(bot.display);
			Object contents = clipboard.getContents(kind);
			clipboard.dispose();
			return contents;
		});
	}

	@Test
	void aLinkShowsTheSameInAnotherCatalogue() throws Exception {
		open();
		ViewState state = bot.ui(() -> {
			show(ViewIds.GANTT);
			var s = session.trace().selection();
			s.viewpoint(BasicDimensions.THREAD);
			s.addFilter(TraceFilter.only(Condition.thread(1)));
			s.zoom(12 * SampleTrace.STEP_NS, 30 * SampleTrace.STEP_NS, SampleTrace.C);
			s.markAll(SampleTrace.C);
			return s.state();
		});
		waitForViews();
		bot.key("ctrl+shift+k");
		bot.waitFor("link on the clipboard", () -> clipboard(TextTransfer.getInstance()) instanceof String s && s.startsWith(SharedView.LINK));
		Path file = directory.resolve("it" + SharedView.ENDING);
		bot.run(() -> {
			try {
				ViewLinks.write(page(), session.trace(), file);
			} catch (java.io.IOException e) {
				throw new AssertionError(e);
			}
		});
		// the other machine: the trace has another number and name there
		Path other = directory.resolve("other machine");
		bot.run(() -> session.useCatalogue(other));
		SampleTrace.write(session.catalogue().create("first"), "first", java.time.Instant.parse("2026-11-19T05:30:00Z"));
		TraceInfo there = SampleTrace.write(session.catalogue(), "their matmul");
		bot.run(() -> {
			session.catalogueChanged();
			show(ViewIds.STRUCTURES);
		});
		bot.key("ctrl+shift+o");
		Button open = bot.find(Button.class, b -> b.getText().equals("Open") && b.isEnabled());
		bot.find(Label.class, l -> l.getText().startsWith("A view of small matmul, recorded 2026-11-20 05:30:00 UTC on testhost"));
		bot.shot("open-link");
		bot.close(open);
		waitForPicture("their matmul");
		assertTrue(bot.ui(() -> session.trace().isListed(there)));
		assertEquals(state, bot.ui(() -> session.trace().selection().state()));
		assertArrayEquals(new int[] { SampleTrace.C }, bot.ui(() -> session.trace().selection().marks()));
		assertEquals(ViewIds.GANTT, bot.ui(() -> page().getActivePart().getSite().getId()), "the view that was in front");
		bot.shot("opened-link");

		bot.run(() -> {
			session.closeShown();
			session.opener().open(List.of(file.toString()), new StateRequest(null, "40ms", null, null, null));
		});
		waitForPicture("their matmul");
		assertEquals(40 * SampleTrace.STEP_NS, bot.ui(() -> session.trace().selection().state().toNs()),
				"the command line is stronger than the link");
		assertEquals(0, bot.ui(() -> session.trace().selection().state().fromNs()));

		session.catalogue().delete(there.id());
		bot.run(() -> session.useCatalogue(other));
		bot.run(() -> session.opener().open(file.toString()));
		Label said = bot.find(Label.class, l -> l.getText().contains("neither in the catalogue nor open"));
		assertTrue(bot.ui(said::getText).startsWith("The view is of small matmul, recorded"), bot.ui(said::getText));
		bot.close(bot.find(Button.class, b -> b.getText().equals("OK")));
		forgive("neither in the catalogue nor open");
	}

	@Test
	void optionsOfTheCommandLineChooseWhatIsShown() {
		bot.run(() -> session.opener().open(List.of("small matmul"), new StateRequest("10ms", "20ms", null, "thread", "B")));
		waitForPicture("small matmul");
		ViewState s = bot.ui(() -> session.trace().selection().state());
		assertEquals(new ViewState(10 * SampleTrace.STEP_NS, 20 * SampleTrace.STEP_NS, SampleTrace.B, BasicDimensions.THREAD,
				ViewState.AUTOMATIC_P), s);
		bot.display.asyncExec(() -> session.opener().apply(new StateRequest(null, null, null, null, "Z")));
		Label said = bot.find(Label.class, l -> l.getText().contains("no structure with 'Z'"));
		assertEquals("The trace is shown, but not the part that was asked for: small matmul has no structure with 'Z' in its name.", bot.ui(said::getText));
		bot.close(bot.find(Button.class, b -> b.getText().equals("OK")));
		assertEquals(s, bot.ui(() -> session.trace().selection().state()));
	}

	@Test
	void thePictureIsCopied() throws Exception {
		open();
		bot.key("ctrl+shift+p");
		Job.getJobManager().join(LatestResult.class, null);
		bot.waitFor("picture on the clipboard", () -> clipboard(ImageTransfer.getInstance()) != null);
		ImageData picture = (ImageData) clipboard(ImageTransfer.getInstance());
		assertTrue(picture.width > 800 && picture.height > 200, picture.width + " x " + picture.height);
		long colours = java.util.stream.IntStream.range(0, picture.width).mapToLong(x ->
				picture.getPixel(x, picture.height / 2)).distinct().count();
		assertTrue(colours > 5, "it is not empty: " + colours);
	}

	@Test
	void whatWasShownLastIsOpenedAgain() throws Exception {
		TraceInfo second = SampleTrace.write(session.catalogue(), "second");
		open();
		bot.run(() -> session.opener().open(second));
		waitForPicture("second");
		assertEquals(List.of("second", "small matmul"), bot.ui(() -> RecentList.list(session).stream().map(r -> r.name()).toList()));
		bot.run(session::closeShown);
		bot.find(Link.class, l -> l.getText().equals("<a>second</a>")); // the list is that of now
		Link link = bot.find(Link.class, l -> l.getText().equals("<a>small matmul</a>"));
		bot.run(session::catalogueChanged);
		Job.getJobManager().join(LatestResult.class, null);
		waitForViews();
		assertFalse(link.isDisposed(), "the links of the same list stay");
		bot.shot("recent");
		bot.click(link, 10, bot.ui(() -> link.getSize().y / 2));
		waitForPicture("small matmul");
		assertEquals(List.of("small matmul", "second"), bot.ui(() -> RecentList.list(session).stream().map(r -> r.name()).toList()));
		session.catalogue().delete(second.id());
		bot.run(() -> RecentList.open(session, RecentList.list(session).get(1)));
		bot.find(Label.class, l -> l.getText().startsWith("The trace second is not there any more"));
		bot.close(bot.find(Button.class, b -> b.getText().equals("OK")));
		assertEquals(1, bot.ui(() -> RecentList.list(session).size()));
		waitForViews();
	}
}
