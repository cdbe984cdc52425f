// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.density;

import org.eclipse.swt.SWT;
import org.eclipse.swt.graphics.GC;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Control;
import org.eclipse.swt.widgets.Event;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.statistics.DensityModel;
import org.memtrace.analysis.statistics.DensityPicture;
import org.memtrace.views.paint.AlignedPlot;
import org.memtrace.views.paint.SceneCanvas;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.paint.TimeCursor;
import org.memtrace.views.util.Accessibility;

/**
 * The histogram. Drag: zoom to a time; wheel: zoom about the pointer, with Shift move; double click or W: all; Left and Right:
 * move; + and -: zoom; Esc: end the drag, else back.
 */
public final class DensityCanvas extends SceneCanvas {
	private static final double STEP = 1.25;
	/** A shorter drag is a click. */
	private static final int LEAST_DRAG = 4;
	private static final int WHEEL_REST_MS = 400;

	private String empty = "";
	private DensityModel model;
	private TraceSelection selection;
	private DensityPicture picture;
	private int dragFrom = -1;
	private int dragTo;
	private final Runnable wheelRests;
	private final AlignedPlot aligned;
	/** The time at which somebody points in another view. */
	private final TimeCursor timeCursor = new TimeCursor(this, this::timeScale, true);

	/**
	 * @param view all of the view
	 * @param binsChanged other bins fit in
	 */
	DensityCanvas(Composite parent, Control view, Runnable binsChanged) {
		super(parent);
		aligned = new AlignedPlot(this, view, () -> {
			sceneChanged();
			if (model != null && model.bins() != bins()) {
				binsChanged.run();
			}
		});
		wheelRests = () -> {
			if (selection != null) {
				selection.endGesture();
			}
		};
		addListener(SWT.MouseDown, this::pressed);
		addListener(SWT.MouseMove, this::moved);
		addListener(SWT.MouseUp, this::released);
		addListener(SWT.MouseExit, e -> setToolTipText(null));
		addListener(SWT.MouseDoubleClick, e -> whole());
		addListener(SWT.MouseWheel, this::wheel);
		addListener(SWT.KeyDown, this::key);
		addListener(SWT.Traverse, e -> e.doit = e.detail == SWT.TRAVERSE_TAB_NEXT || e.detail == SWT.TRAVERSE_TAB_PREVIOUS);
		addListener(SWT.FocusIn, e -> redraw());
		addListener(SWT.FocusOut, e -> redraw());
		Accessibility.name(this, "Density over time");
	}

	/** @param now null for nothing */
	void show(DensityModel now, TraceSelection of) {
		model = now;
		selection = of;
		timeCursor.follow(of);
		if (now == null) {
			aligned.needs(null);
		}
		picture = null;
		sceneChanged();
	}

	private TimeCursor.Scale timeScale() {
		return picture == null ? null : new TimeCursor.Scale(picture.plotX(), picture.plotY(), picture.plotWidth(), picture.plotHeight(),
				model.fromNs(), model.toNs(), model.originNs(), model.isInTicks());
	}

	/** Whether its edges are those of the plots above and below. */
	boolean isAligned() {
		return !aligned.isPending();
	}

	/** For tests. */
	public TimeCursor timeCursor() {
		return timeCursor;
	}

	/** What stands there without a model. */
	void setEmpty(String text) {
		empty = text;
		sceneChanged();
	}

	DensityModel model() {
		return model;
	}

	/** What is painted, null before; for tests. */
	public DensityPicture picture() {
		return picture;
	}

	/** Bins that fit. */
	int bins() {
		return DensityPicture.bins(getSize().x, fontSize(), aligned.margins());
	}

	@Override
	protected Scene scene(int width, int height, Palette palette, TextMeter meter, double size) {
		if (model == null) {
			return new Scene(width, height, palette.background(), java.util.List.of(new Shape.Text(width / 2.0, height / 2.0,
					empty, size, false, palette.mutedText(), Shape.Anchor.MIDDLE, false)));
		}
		picture = DensityPicture.build(model, width, height, palette, meter, size, aligned.margins());
		aligned.needs(picture.margins());
		return picture.scene();
	}

	@Override
	protected void paintOver(GC gc, Palette palette) {
		if (picture == null) {
			return;
		}
		if (dragFrom >= 0 && Math.abs(dragTo - dragFrom) >= LEAST_DRAG) {
			int x = (int) Math.max(picture.plotX(), Math.min(dragFrom, dragTo));
			int right = (int) Math.min(picture.plotX() + picture.plotWidth(), Math.max(dragFrom, dragTo));
			gc.setBackground(ScenePainter.color(palette.highlight()));
			gc.setForeground(ScenePainter.color(palette.highlight()));
			gc.setAlpha(50);
			gc.fillRectangle(x, (int) picture.plotY(), right - x, (int) picture.plotHeight());
			gc.setAlpha(255);
			gc.drawRectangle(x, (int) picture.plotY(), right - x, (int) picture.plotHeight() - 1);
		} else if (isFocusControl()) {
			gc.setForeground(ScenePainter.color(palette.highlight()));
			gc.drawRectangle((int) picture.plotX(), (int) picture.plotY(), (int) picture.plotWidth() - 1,
					(int) picture.plotHeight() - 1);
		}
		timeCursor.paint(gc);
	}

	private void pressed(Event e) {
		setFocus();
		if (e.button == 1 && picture != null && picture.binAt(e.x, picture.plotY() + 1) >= 0) {
			dragFrom = e.x;
			dragTo = e.x;
		}
	}

	private void moved(Event e) {
		if (dragFrom >= 0) {
			dragTo = e.x;
			setToolTipText(null);
			redraw();
			return;
		}
		String tip = picture == null ? "" : picture.textAt(e.x, e.y);
		String shown = getToolTipText() == null ? "" : getToolTipText();
		if (!tip.replace("&", "&&").equals(shown)) {
			setToolTipText(tip.isEmpty() ? null : tip.replace("&", "&&"));
		}
	}

	private void released(Event e) {
		if (e.button == 1 && dragFrom >= 0) {
			int from = Math.min(dragFrom, e.x);
			int to = Math.max(dragFrom, e.x);
			dragFrom = -1;
			redraw();
			step();
			if (to - from >= LEAST_DRAG && selection != null) {
				selection.window(picture.timeAt(from), picture.timeAt(to));
			}
		}
	}

	/** A new step of the history begins, also soon after the wheel. */
	private void step() {
		if (selection != null) {
			selection.endGesture();
		}
	}

	private void whole() {
		step();
		if (selection != null) {
			selection.window(selection.initial().fromNs(), selection.initial().toNs());
		}
	}

	private void wheel(Event e) {
		if (selection == null || picture == null || e.count == 0) {
			return;
		}
		selection.beginGesture();
		ViewState s = selection.state();
		if ((e.stateMask & SWT.SHIFT) != 0) {
			move(e.count > 0 ? -0.1 : 0.1);
		} else {
			// the time under the pointer stays there, also while the picture is not yet that of the window
			double share = Math.max(0, Math.min(1, (e.x - picture.plotX()) / picture.plotWidth()));
			zoom(s.fromNs() + (long) (share * s.durationNs()), Math.pow(STEP, -Math.signum(e.count)));
		}
		getDisplay().timerExec(WHEEL_REST_MS, wheelRests);
	}

	/** @param factor length of the new window over the old */
	private void zoom(long about, double factor) {
		ViewState s = selection.state();
		long length = (long) Math.min(selection.initial().durationNs(), Math.max(1, s.durationNs() * factor));
		double share = (double) (about - s.fromNs()) / s.durationNs();
		long from = about - (long) (share * length);
		selection.window(from, from + length);
	}

	private void move(double share) {
		ViewState s = selection.state();
		long by = (long) (share * s.durationNs());
		long from = Math.max(selection.initial().fromNs(), Math.min(selection.initial().toNs() - s.durationNs(), s.fromNs() + by));
		selection.window(from, from + s.durationNs());
	}

	private void key(Event e) {
		if (selection == null) {
			return;
		}
		step();
		ViewState s = selection.state();
		long middle = s.fromNs() + s.durationNs() / 2;
		switch (e.keyCode) {
		case SWT.ARROW_LEFT -> move(-0.1);
		case SWT.ARROW_RIGHT -> move(0.1);
		case SWT.KEYPAD_ADD -> zoom(middle, 1 / STEP);
		case SWT.KEYPAD_SUBTRACT -> zoom(middle, STEP);
		case SWT.ESC -> {
			if (dragFrom >= 0) {
				dragFrom = -1;
				redraw();
			} else {
				selection.back();
			}
		}
		default -> {
			switch (e.character) {
			case '+' -> zoom(middle, 1 / STEP);
			case '-' -> zoom(middle, STEP);
			case 'w', 'W' -> whole();
			case SWT.BS -> selection.back();
			default -> {
			}
			}
		}
		}
	}

	/** What is under a point, as lines; for tests. */
	String textAt(int x, int y) {
		return picture == null ? "" : picture.textAt(x, y);
	}

	/** The window as a text. */
	String window() {
		return model == null ? "" : model.duration(model.toNs() - model.fromNs());
	}
}
