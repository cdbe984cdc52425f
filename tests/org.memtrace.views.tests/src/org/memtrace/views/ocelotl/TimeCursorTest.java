// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import java.util.ArrayList;
import java.util.List;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.ImageData;
import org.eclipse.swt.graphics.RGB;
import org.eclipse.swt.graphics.Rectangle;
import org.eclipse.swt.widgets.Canvas;
import org.eclipse.swt.widgets.Listener;
import org.junit.jupiter.api.Test;
import org.memtrace.analysis.selection.PointedTime;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.table.EventColumn;
import org.memtrace.views.SampleTrace;
import org.memtrace.views.UiTest;
import org.memtrace.views.density.DensityCanvas;
import org.memtrace.views.density.DensityView;
import org.memtrace.views.events.EventsView;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.preferences.Settings;
import org.memtrace.views.session.ViewIds;
import org.memtrace.views.view.TraceView;

/** The time under the mouse is shown by all views of the trace. */
class TimeCursorTest extends UiTest {
	private PictureCanvas picture;
	private DensityCanvas density;

	private void open() {
		OcelotlView ocelotl = bot.ui(() -> show(ViewIds.OCELOTL));
		DensityView view = bot.ui(() -> show(ViewIds.DENSITY));
		picture = ocelotl.canvas();
		density = view.canvas();
		bot.run(() -> session.opener().open(sample));
		waitForPicture("small matmul");
		waitForViews();
		bot.waitFor("both painted", () -> density.picture() != null && picture.picture() != null);
	}

	private Rectangle plot() {
		return bot.ui(() -> picture.picture().plot());
	}

	/** Moves the mouse over the picture, to a share of its time. */
	private void pointInPicture(double share) {
		Rectangle plot = plot();
		int x = plot.x + (int) (share * plot.width);
		bot.move(picture, x - 1, plot.y + plot.height / 2);
		bot.move(picture, x, plot.y + plot.height / 2);
	}

	private long pointed() {
		return bot.ui(() -> session.trace().selection().pointed().timeNs());
	}

	private int line() {
		return bot.ui(() -> density.timeCursor().x());
	}

	@Test
	void theTimeUnderTheMouseIsSeenInOtherViews() throws Exception {
		open();
		pointInPicture(0.6);
		bot.waitFor("the line", () -> density.timeCursor().x() >= 0);
		ViewState s = bot.ui(() -> session.trace().selection().state());
		assertEquals(s.fromNs() + 0.6 * s.durationNs(), pointed(), 0.01 * s.durationNs());
		assertEquals(bot.ui(() -> density.picture().xOf(pointed())), line(), 1);
		bot.waitFor("its time, the middle of 50 ms and a tenth", () -> density.timeCursor().text().matches("30(\\.\\d*)? ms"));
		assertEquals(-1, bot.ui(() -> picture.timeCursor().x()), "where the mouse is, there is none");
		bot.waitFor("a line from the top to the bottom", () -> isPainted(line()));
		bot.shot("time-cursor");

		// the other way round, from a view of another kind
		double y = bot.ui(() -> density.picture().plotY() + 5);
		int quarter = (int) bot.ui(() -> density.picture().xOf(s.fromNs() + s.durationNs() / 4)).doubleValue();
		bot.move(density, quarter - 1, (int) y);
		bot.move(density, quarter, (int) y);
		bot.waitFor("the line in the picture", () -> picture.timeCursor().x() >= 0 && density.timeCursor().x() < 0);
		Rectangle plot = plot();
		assertEquals(plot.x + plot.width / 4.0, bot.ui(() -> picture.timeCursor().x()), 2);
		bot.shot("time-cursor-density");

		// it goes with the mouse
		bot.move(picture, 2, 2);
		bot.waitFor("no line", () -> picture.timeCursor().x() < 0 && density.timeCursor().x() < 0);
		assertEquals(PointedTime.NONE, pointed());

		// and is not there for who does not want it
		pointInPicture(0.3);
		bot.waitFor("the line", () -> density.timeCursor().x() >= 0);
		bot.run(() -> Settings.store().setValue(Settings.TIME_CURSOR, false));
		pointInPicture(0.5);
		bot.waitFor("no line", () -> density.timeCursor().x() < 0);
		bot.run(() -> Settings.store().setToDefault(Settings.TIME_CURSOR));

		// keys point, too
		bot.run(picture::setFocus);
		bot.hold("shift", () -> bot.key("Right"));
		bot.waitFor("the time of the block that the keys are at", () -> picture.looked() != null && picture.looked().fromNs() == pointed());
		bot.move(density, 1, 1);
	}

	/** Whether the column of the line has the colour of texts everywhere in the plot. */
	private boolean isPainted(int x) {
		ImageData pixels = bot.pixels(density);
		RGB text = bot.ui(() -> ScenePainter.color(ScenePainter.palette(density).text()).getRGB());
		int y0 = bot.ui(() -> (int) Math.ceil(density.picture().plotY())) + 2;
		int y1 = bot.ui(() -> (int) (density.picture().plotY() + density.picture().plotHeight())) - 2;
		for (int y = y0; y < y1; y++) {
			if (!pixels.palette.getRGB(pixels.getPixel(x, y)).equals(text)) {
				return false;
			}
		}
		return x >= 0;
	}

	/** What is painted again for a move is a strip, not the picture. */
	@Test
	void onlyTheLineIsPaintedAgain() {
		open();
		bot.move(density, 1, 1);
		List<Rectangle> areas = List.of();
		int width = bot.ui(() -> density.getSize().x);
		// the window system may ask for the whole picture at any time; then the next move tells
		for (int tries = 0; tries < 20; tries++) {
			areas = paintedForAMove();
			if (areas.stream().allMatch(r -> r.width < width / 4)) {
				return;
			}
		}
		fail(areas + " of " + width);
	}

	private List<Rectangle> paintedForAMove() {
		List<Rectangle> areas = new ArrayList<>();
		Listener count = e -> areas.add(new Rectangle(e.x, e.y, e.width, e.height));
		Canvas canvas = density;
		bot.run(() -> {
			canvas.addListener(SWT.Paint, count);
			session.trace().selection().pointed().point(this, SampleTrace.STEP_NS * 10);
		});
		bot.waitFor("the line", () -> !areas.isEmpty());
		bot.run(() -> session.trace().selection().pointed().leave(this));
		bot.waitFor("no line", () -> areas.size() > 1);
		bot.run(() -> canvas.removeListener(SWT.Paint, count));
		return areas;
	}

	@Test
	void theRowOfTheTimeIsLitAndNotSelected() {
		open();
		bot.run(() -> {
			if (page().findView(ViewIds.EVENTS) != null) {
				page().hideView(page().findView(ViewIds.EVENTS)); // another test may have left it in another order
			}
		});
		EventsView events = bot.ui(() -> show(ViewIds.EVENTS));
		waitForViews();
		bot.run(() -> events.grid().select(0, true));
		assertTrue(bot.ui(() -> events.grid().visibleRows().end) < bot.ui(events::rowCount), "there are more rows than are seen");
		pointInPicture(0.5);
		bot.waitFor("a row", () -> events.grid().lit() > 0);
		waitForViews();
		int half = bot.ui(() -> events.grid().lit());
		assertTrue(bot.ui(() -> events.grid().visibleRows().start <= half && half < events.grid().visibleRows().end), "it is in sight");
		bot.waitFor("its text", () -> !events.text(EventColumn.START, half).isEmpty());
		bot.shot("time-cursor-events");
		pointInPicture(0.8);
		bot.waitFor("a later row", () -> events.grid().lit() > half);
		assertEquals(List.of(0), bot.ui(() -> events.grid().selectedRows(10)), "what was selected stays");
		bot.move(picture, 2, 2);
		bot.waitFor("none", () -> events.grid().lit() < 0);
	}

	/** A locked view of the same trace shows it, too. */
	@Test
	void lockedViewsAndTheDarkThemeHaveIt() throws Exception {
		open();
		TraceView locked = bot.ui(() -> (TraceView) page().findView(ViewIds.DENSITY));
		bot.run(locked::toggleLock);
		waitForViews();
		bot.run(() -> Settings.store().setValue(Settings.THEME, "dark"));
		bot.waitFor("dark", () -> ScenePainter.isDark(density));
		waitForViews();
		pointInPicture(0.4);
		bot.waitFor("the line", () -> density.timeCursor().x() >= 0);
		bot.waitFor("a line from the top to the bottom", () -> isPainted(line()));
		bot.shot("time-cursor-dark");
		bot.run(() -> Settings.store().setToDefault(Settings.THEME));
		bot.waitFor("light", () -> !ScenePainter.isDark(density));
		bot.run(locked::toggleLock);
	}
}
