// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.profile;

import java.util.function.Consumer;
import java.util.function.Predicate;

import org.eclipse.swt.SWT;
import org.eclipse.swt.accessibility.ACC;
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
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.views.paint.SceneCanvas;
import org.memtrace.views.util.Accessibility;

/** The flame graph. A click makes a bar as wide as the canvas, again takes it back; arrows go from bar to bar. */
final class FlameCanvas extends SceneCanvas {
	private Profile profile;
	private Look look = Look.ALL;
	private FlamePicture picture;
	private Consumer<Place> onSelect = place -> {
	};

	FlameCanvas(Composite parent) {
		super(parent);
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

	/** What was painted last, null for nothing. */
	FlamePicture picture() {
		return picture;
	}

	private void change(Look now) {
		look = now;
		picture = null;
		setToolTipText(null);
		sceneChanged();
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
		if (profile == null) {
			return new Scene(width, height, palette.background(), java.util.List.of());
		}
		picture = FlamePicture.build(profile, look, width, height, palette, meter, size);
		return picture.scene();
	}

	private void describe() {
		Accessibility.graphic(this, () -> "Flame graph; the table beside it has the same numbers", null, () -> {
			Bar bar = picture == null ? null : picture.of(look.selected());
			return bar == null ? null : picture.describe(bar);
		});
	}
}
