// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.profile;

import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;

import org.eclipse.swt.SWT;
import org.eclipse.swt.accessibility.ACC;
import org.eclipse.swt.graphics.Point;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Event;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.profile.FlamePicture.Bar;
import org.memtrace.analysis.profile.FlamePicture.Look;
import org.memtrace.analysis.profile.FlamePicture.Way;
import org.memtrace.analysis.profile.FlamePicture;
import org.memtrace.analysis.profile.Profile;
import org.memtrace.analysis.profile.ProfileTable.Place;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;
import org.memtrace.views.jobs.LatestResult;
import org.memtrace.views.paint.SceneCanvas;
import org.memtrace.views.paint.ScenePainter;
import org.memtrace.views.util.Accessibility;
import org.memtrace.views.util.WhenSeen;

/**
 * The flame graph. A click makes a bar as wide as the canvas, again takes it back; arrows go from bar to bar. It is laid out by a job:
 * until that is done, what was drawn before is seen, and clicks and keys are about it.
 */
final class FlameCanvas extends SceneCanvas {
	/** Everything that the picture depends on. */
	private record Input(Profile profile, Look look, int width, int height, Palette palette, double fontSize) {
	}

	private final LatestResult<Input, FlamePicture> drawing;
	private final WhenSeen draw;
	private Profile profile;
	private Look look = Look.ALL;
	private FlamePicture picture;
	/** What {@link #picture} was made of, or what could not be drawn; null for nothing. */
	private Input drawn;
	/** What stands there when there is no picture. */
	private String message = "";
	private Consumer<Place> onSelect = place -> {
	};

	FlameCanvas(Composite parent) {
		super(parent);
		drawing = new LatestResult<>("Flame graph", this, LatestResult.Policy.ONLY_NEWEST) {
			@Override
			protected FlamePicture compute(Input in, Progress progress) throws CancelledException {
				return FlamePicture.build(in.profile(), in.look(), in.width(), in.height(), in.palette(), TextMeter.DEFAULT, in.fontSize(),
						progress);
			}

			@Override
			protected void show(Input in, FlamePicture result) {
				drawn(in, result, "");
			}

			@Override
			protected void failed(Input in, String text) {
				drawn(in, null, text);
			}

			@Override
			protected void progress(String step, double fraction) {
				if (picture == null) {
					message = step + (fraction < 0 ? "…" : "… " + (int) (100 * fraction) + " %");
					sceneChanged();
				}
			}
		};
		draw = new WhenSeen(this, this::draw);
		addListener(SWT.Resize, e -> draw.request());
		addListener(SWT.MouseDown, this::mouseDown);
		addListener(SWT.MouseMove, e -> {
			Bar bar = picture == null ? null : picture.at(e.x, e.y);
			String tip = bar == null ? null : picture.describe(bar).replace("&", "&&");
			if (tip == null ? getToolTipText() != null : !tip.equals(getToolTipText())) {
				setToolTipText(tip);
			}
		});
		addListener(SWT.KeyDown, this::key);
		addListener(SWT.Traverse, e -> e.doit = e.detail != SWT.TRAVERSE_RETURN && e.detail != SWT.TRAVERSE_ESCAPE);
		describe();
	}

	/** Called when the user has selected a bar. */
	void onSelect(Consumer<Place> listener) {
		onSelect = listener;
	}

	/** @param now with contexts; null for nothing */
	void show(Profile now) {
		profile = now;
		change(look);
	}

	/** Whether what is wanted is drawn, or nobody sees it. */
	boolean isSettled() {
		boolean seen = isVisible() && getSize().x > 0 && getSize().y > 0;
		return profile == null || !seen || !draw.isWaiting() && !drawing.isBusy() && drawn != null && drawn.equals(wanted());
	}

	/** No more is drawn. */
	void stop() {
		drawing.cancel();
	}

	/** Colours are others. */
	void coloursChanged() {
		draw.request();
	}

	private Input wanted() {
		Point size = getSize();
		return new Input(profile, look, size.x, size.y, ScenePainter.palette(this), fontSize());
	}

	private void draw() {
		if (profile != null) {
			drawing.submit(wanted());
		}
	}

	private void drawn(Input of, FlamePicture now, String text) {
		drawn = of;
		picture = now;
		message = text;
		setToolTipText(null);
		sceneChanged();
	}

	/** Shows all bars, and nothing selected, as for another trace. */
	void forget() {
		change(new Look(null, null, look.lit()));
	}

	/** @param lit names of regions that are meant, null for all */
	void light(Predicate<String> lit) {
		change(new Look(look.root(), look.selected(), lit));
	}

	/** @param place null for nothing; listeners are not told */
	void select(Place place) {
		change(new Look(look.root(), place, look.lit()));
	}

	/** @param place what is to be as wide as the canvas, null for all */
	void zoom(Place place) {
		change(new Look(place, look.selected(), look.lit()));
	}

	/** How it is drawn. */
	Look look() {
		return look;
	}

	/** What is shown, null for nothing. */
	FlamePicture picture() {
		return picture;
	}

	private void change(Look now) {
		look = now;
		if (profile == null) {
			drawing.cancel();
			drawn(null, null, "");
		} else {
			draw.request();
		}
	}

	private void mouseDown(Event e) {
		setFocus();
		Bar bar = picture == null ? null : picture.at(e.x, e.y);
		if (bar == null || e.button != 1 && e.button != 3) {
			return;
		}
		Bar root = picture.root();
		select(bar.place());
		if (e.button == 1 && root != null && bar.place().equals(root.place())) {
			zoomOut();
		} else if (e.button == 1) {
			zoom(bar.place());
		}
		onSelect.accept(bar.place());
	}

	/** From a region to the one around it, from there to the group, to all. */
	private void zoomOut() {
		Place at = look.root();
		if (at != null) {
			zoom(at.path().isEmpty() ? null : new Place(at.producer(), at.path().subList(0, at.path().size() - 1)));
		}
	}

	private void key(Event e) {
		if (picture == null || picture.bars().isEmpty()) {
			return;
		}
		Bar bar = picture.of(look.selected());
		switch (e.keyCode) {
		case SWT.ARROW_UP -> go(bar, Way.UP);
		case SWT.ARROW_DOWN -> go(bar, Way.DOWN);
		case SWT.ARROW_LEFT -> go(bar, Way.LEFT);
		case SWT.ARROW_RIGHT -> go(bar, Way.RIGHT);
		case SWT.CR, SWT.KEYPAD_CR -> {
			if (bar != null) {
				zoom(bar.place());
			}
		}
		case SWT.BS -> zoomOut();
		case SWT.ESC, SWT.HOME -> zoom(null);
		default -> {
			// not ours
		}
		}
	}

	private void go(Bar from, Way way) {
		Bar to = from == null ? picture.root() == null ? picture.bars().get(0) : picture.root() : picture.next(from, way);
		select(to.place());
		onSelect.accept(to.place());
		getAccessible().selectionChanged();
		getAccessible().sendEvent(ACC.EVENT_VALUE_CHANGED, null);
	}

	@Override
	protected Scene scene(int width, int height, Palette palette, TextMeter meter, double size) {
		if (picture == null) {
			return new Scene(width, height, palette.background(), List.of(new Shape.Text(width / 2.0, height / 2.0, message, size, false,
					palette.mutedText(), Shape.Anchor.MIDDLE, false)));
		}
		return picture.scene();
	}

	private void describe() {
		Accessibility.graphic(this, () -> "Flame graph; the table beside it has the same numbers", null, () -> {
			Bar bar = picture == null ? null : picture.of(look.selected());
			return bar == null ? null : picture.describe(bar);
		});
	}
}
