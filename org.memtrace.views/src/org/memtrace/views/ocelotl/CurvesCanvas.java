// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.util.function.DoubleConsumer;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.widgets.Canvas;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Event;
import org.eclipse.swt.widgets.Menu;
import org.eclipse.swt.widgets.MenuItem;
import org.memtrace.aggregation.engine.SignificantLevels.Level;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.overview.CurvePicture;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.text.Units;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.util.Accessibility;

/**
 * The quality curves over p, rising (what is lost and reduced) or falling (what is left). A click or drag chooses p. They
 * are a few hundred lines at most and drawn on the display thread. While levels are looked for, what was computed is shown as points.
 */
final class CurvesCanvas extends Canvas {
	private static final double FONT_PIXELS = 11;

	private final DoubleConsumer choose;
	private Description description;
	private CurvePicture curves;
	private CurvePicture.Direction direction = CurvePicture.Direction.RISING;
	private double p;
	private boolean dragging;
	/** How much of the axis has all its levels, -1 when not known. */
	private double found = -1;

	CurvesCanvas(Composite parent, DoubleConsumer choose) {
		super(parent, SWT.DOUBLE_BUFFERED);
		this.choose = choose;
		setCursor(getDisplay().getSystemCursor(SWT.CURSOR_CROSS));
		addListener(SWT.Paint, this::paint);
		addListener(SWT.Resize, e -> curves = null);
		addListener(SWT.MouseDown, e -> {
			dragging = e.button == 1;
			choose(e);
		});
		addListener(SWT.MouseMove, this::choose);
		addListener(SWT.MouseUp, e -> dragging = false);
		addListener(SWT.MouseHover, this::hint);
		Menu menu = new Menu(this);
		for (CurvePicture.Direction d : CurvePicture.Direction.values()) {
			MenuItem item = new MenuItem(menu, SWT.RADIO);
			item.setText(d == CurvePicture.Direction.RISING ? "Rising: what is lost and reduced" : "Falling: what is left");
			item.setSelection(d == direction);
			item.addListener(SWT.Selection, e -> {
				direction = d;
				curves = null;
				redraw();
			});
		}
		setMenu(menu);
		Accessibility.graphic(this, () -> "Complexity reduction and information loss over p", null, null);
	}

	/** The levels of a description and the p in force; null: nothing. */
	void show(Description d, double newP) {
		if (d != description) {
			found = -1;
		}
		description = d;
		p = newP;
		curves = null;
		redraw();
	}

	/** How far the search for levels is, 0 to 1; -1 when not known. */
	void found(double fraction) {
		if (fraction != found) {
			found = fraction;
			if (description != null && !description.isComplete()) {
				curves = null;
				redraw();
			}
		}
	}

	/** What is said while not all levels are known. */
	String computing() {
		return found < 0 ? "computing…" : "computing… " + (int) (100 * found) + " %";
	}

	CurvePicture picture() {
		return curves;
	}

	private void paint(Event e) {
		Point size = getSize();
		if (description == null) {
			e.gc.setBackground(ScenePainter.color(ScenePainter.palette(this).background()));
			e.gc.fillRectangle(0, 0, size.x, size.y);
			return;
		}
		if (curves == null) {
			Palette palette = ScenePainter.palette(this);
			curves = description.isComplete()
					? CurvePicture.build(description.levels(), p, direction, size.x, size.y, palette, TextMeter.DEFAULT, FONT_PIXELS)
					: CurvePicture.partial(description.levels(), p, direction, size.x, size.y, palette, TextMeter.DEFAULT, FONT_PIXELS,
							computing());
		}
		ScenePainter.paint(curves.scene(), e.gc);
	}

	private void choose(Event e) {
		if (dragging && curves != null) {
			choose.accept(curves.pAt(e.x));
		}
	}

	private void hint(Event e) {
		if (description == null || curves == null) {
			setToolTipText(null);
			return;
		}
		double at = curves.pAt(e.x);
		if (!description.isComplete()) {
			setToolTipText("p = " + Units.p(at) + "\nThe curves are not computed yet: points are the levels that were found.");
			return;
		}
		Level level = description.levels().at(at);
		setToolTipText("p = " + Units.p(at) + "\ninformation loss " + Units.percent(level.partition().lossPercent())
				+ "\ncomplexity reduction " + Units.percent(level.partition().reductionPercent()) + "\n"
				+ Units.plural(level.partition().blockCount(), "block"));
	}
}
