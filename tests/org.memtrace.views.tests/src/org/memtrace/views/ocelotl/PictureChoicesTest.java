// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;

import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Shell;
import org.eclipse.swt.widgets.Table;
import org.eclipse.swt.widgets.ToolBar;
import org.eclipse.swt.widgets.ToolItem;
import org.eclipse.swt.widgets.Tree;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.memtrace.aggregation.engine.InitialLevel;
import org.memtrace.analysis.overview.Picture;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.preferences.Settings;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.view.SaveSnapshot;
import org.memtrace.views.view.Snapshot;

/** What a person chooses for the picture alone: kind, types, overview, content of blocks, saved parameters. */
class PictureChoicesTest extends UiTest {
	private static final long WHOLE_NS = SampleTrace.STEPS * SampleTrace.STEP_NS;

	private OcelotlView view;

	@BeforeEach
	void openSample() {
		view = bot.ui(() -> show(ViewIds.OCELOTL));
		bot.run(() -> {
			view.choose(Choice.DEFAULT); // a view keeps what was chosen
			session.opener().open(sample);
		});
		settle();
		bot.run(() -> {
			view.canvas().getShell().forceActive();
			view.canvas().forceFocus();
		});
	}

	private void settle() {
		bot.waitFor("picture of the current state", () -> session.trace() != null && session.opening() == null && view.isSettled());
	}

	private ViewState state() {
		return bot.ui(() -> session.trace().selection().state());
	}

	private Point at(double x, double y) {
		Rectangle r = bot.ui(() -> view.canvas().picture().plot());
		return new Point(r.x + (int) (x * r.width), r.y + (int) (y * r.height));
	}

	/** The picture takes the place of what stands beside it, and gives it back. */
	@Test
	void sidePanelCanBeHidden() {
		int before = bot.ui(() -> view.canvas().getSize().x);
		int side = bot.ui(() -> view.level().getSize().x);
		int plot = bot.ui(() -> view.canvas().picture().plot().width);
		ToolItem button = bot.ui(() -> bot.all(ToolBar.class).stream().flatMap(b -> Arrays.stream(b.getItems()))
				.filter(i -> String.valueOf(i.getToolTipText()).startsWith("Show overview")).findFirst().orElseThrow());
		bot.click(bot.ui(button::getParent), bot.ui(button::getBounds));
		bot.waitFor("wider picture", () -> view.isSettled() && view.canvas().getSize().x >= before + side
				&& view.canvas().picture().plot().width >= plot + side);
		assertFalse(bot.ui(() -> view.level().isVisible()));
		bot.shot("picture-alone");
		bot.click(bot.ui(button::getParent), bot.ui(button::getBounds));
		bot.waitFor("side panel", () -> view.isSettled() && view.canvas().getSize().x == before && view.level().isVisible());
	}

	/** Who changes a default means the picture before the eyes, too. */
	@Test
	void settingsAreSeenAtOnce() {
		try {
			bot.run(() -> Settings.store().setValue(Settings.SLICES, 20));
			bot.run(() -> Settings.store().setValue(Settings.PRECISION, 0.01));
			settle();
			assertEquals(20, bot.ui(() -> view.canvas().picture().model().sliceCount()));
			assertEquals(0.01, bot.ui(() -> view.choice().precision()));
		} finally {
			bot.run(() -> {
				Settings.store().setToDefault(Settings.SLICES);
				Settings.store().setToDefault(Settings.PRECISION);
			});
		}
		settle();
		assertEquals(50, bot.ui(() -> view.canvas().picture().model().sliceCount()));
	}

	@Test
	void pictureOfTimeIsZoomedInTimeOnly() {
		bot.run(() -> view.bar().kind().setFocus());
		bot.key("Down");
		bot.key("Down");
		bot.waitFor("profile", () -> view.choice().kind() == PictureKind.PROFILE && view.isSettled());
		assertFalse(bot.ui(() -> view.canvas().picture().hasRows()));
		bot.shot("profile");
		ViewState before = state();
		bot.drag(view.canvas(), 1, at(0.3, 0.2), at(0.6, 0.9));
		bot.waitFor("zoom", () -> session.trace().selection().state().durationNs() < WHOLE_NS / 2);
		assertEquals(before.producer(), state().producer());
		settle();
		assertEquals(PictureKind.PROFILE, bot.ui(() -> view.canvas().picture().choice().kind()));
	}

	@Test
	void typesAreHiddenByLegendTableAndKeys() {
		int blocks = bot.ui(() -> view.canvas().picture().partition().blockCount());
		Picture.LegendItem item = bot.ui(() -> view.canvas().picture().picture().legend().get(0));
		bot.click(view.canvas(), (int) (item.x() + item.width() / 2), (int) (item.y() + item.height() / 2));
		bot.waitFor("hidden", () -> view.choice().hidden().equals(Set.of("Private_Read")) && view.isSettled());
		assertEquals(blocks, bot.ui(() -> view.canvas().picture().partition().blockCount()), "the aggregation stays");
		Table table = bot.ui(() -> view.types().table());
		assertFalse(bot.ui(() -> table.getItem(0).getChecked()));
		assertTrue(bot.ui(() -> table.getItem(1).getChecked()));
		bot.shot("hidden");
		bot.run(() -> view.canvas().setFocus());
		bot.key("3");
		bot.waitFor("two hidden", () -> view.choice().hidden().equals(Set.of("Private_Read", "Shared_Read")));
		bot.key("0");
		bot.waitFor("all shown", () -> view.choice().hidden().isEmpty() && view.isSettled());
	}

	@Test
	void keysGoFromBlockToBlockAndOpenTheContent() {
		bot.run(() -> view.canvas().setFocus());
		bot.key("shift+Right");
		bot.waitFor("first block", () -> view.canvas().looked() != null);
		ShownPicture.Hit first = bot.ui(() -> view.canvas().looked());
		bot.key("shift+Right");
		bot.waitFor("next block", () -> !view.canvas().looked().equals(first));
		ShownPicture.Hit next = bot.ui(() -> view.canvas().looked());
		assertEquals(first.toNs(), next.fromNs());
		bot.key("Return");
		Shell content = bot.find(Shell.class, s -> s.getText().startsWith("Content of"));
		Table blocks = bot.find(Table.class, t -> t.getShell() == content && t.getItemCount() > 0);
		assertTrue(bot.ui(() -> blocks.getItem(0).getText(0)).length() > 0);
		bot.shot("content");
		bot.key("Escape");
		bot.waitFor("closed", content::isDisposed);
		bot.key("h");
		Shell hierarchy = bot.find(Shell.class, s -> s.getText().equals("Hierarchy"));
		Tree tree = bot.find(Tree.class, t -> t.getShell() == hierarchy && t.getSelectionCount() == 1);
		bot.shot("hierarchy");
		bot.key("Up");
		bot.key("Return");
		bot.waitFor("closed", tree::isDisposed);
		settle();
		bot.run(() -> view.canvas().setFocus());
	}

	@Test
	void tipOfABlockDoesNotCoverTheAxis() {
		Point low = at(0.5, 0.97);
		bot.move(view.canvas(), low.x - 3, low.y - 3);
		bot.move(view.canvas(), low.x, low.y);
		bot.waitFor("tip", () -> view.canvas().tip().bounds() != null);
		Rectangle tip = bot.ui(() -> view.canvas().tip().bounds());
		Rectangle plot = bot.ui(() -> view.canvas().picture().plot());
		assertTrue(tip.y + tip.height <= plot.y + plot.height, tip + " in " + plot);
		assertFalse(tip.contains(low), "the pointer is beside it");
		bot.shot("tip");
	}

	@Test
	void frameOfTheOverviewMovesTheWindow() {
		bot.run(() -> session.trace().selection().window(0, WHOLE_NS / 4));
		settle();
		Rectangle frame = bot.ui(() -> view.overview().frame());
		Point middle = new Point(frame.x + frame.width / 2, frame.y + frame.height / 2);
		bot.drag(view.overview(), 1, middle, new Point(middle.x + frame.width, middle.y));
		bot.waitFor("moved", () -> session.trace().selection().state().fromNs() > WHOLE_NS / 8);
		settle();
		assertEquals(WHOLE_NS / 4, state().durationNs());
		assertEquals(WHOLE_NS / 4, state().fromNs(), WHOLE_NS / 20.0);
		bot.shot("overview");
		bot.run(() -> session.trace().selection().back());
		assertEquals(0, state().fromNs(), "a drag is one step");
	}

	@Test
	void parametersComeBack() throws Exception {
		bot.run(() -> {
			session.trace().selection().zoom(SampleTrace.STEP_NS, WHOLE_NS / 2, SampleTrace.B);
			session.trace().selection().p(0.25);
			view.choose(view.choice().withKind(PictureKind.PARTS).withSlices(30).withNormalised(true).withPrecision(0.01)
					.withInitial(InitialLevel.LARGEST_CHANGE).withHidden(Set.of("Private_Write")));
		});
		settle();
		ViewState state = state();
		Choice choice = bot.ui(view::choice);
		Snapshot snapshot = bot.ui(() -> view.snapshot());
		Path json = directory.resolve("picture.json");
		SaveSnapshot.write(snapshot, SaveSnapshot.Format.JSON, json, 0, 0, 1);
		assertTrue(snapshot.csv().get().startsWith("producer,producer_id,pages,"));
		bot.run(() -> {
			view.choose(Choice.DEFAULT);
			session.trace().selection().reset();
		});
		settle();
		assertNotEquals(state, state());
		bot.run(() -> view.load(json));
		settle();
		assertEquals(state, state());
		assertEquals(choice.kind(), bot.ui(view::choice).kind());
		assertEquals(choice.withMetric(null), bot.ui(view::choice).withMetric(null));
		Files.writeString(json, "[1, 2");
		bot.run(() -> view.load(json));
		assertEquals(state, state(), "what is not understood changes nothing");
	}
}
