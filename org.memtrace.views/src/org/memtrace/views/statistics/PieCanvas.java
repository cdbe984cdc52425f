// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.statistics;

import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Composite;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.statistics.PieModel;
import org.memtrace.analysis.statistics.PieModel.Slice;
import org.memtrace.analysis.statistics.PiePicture;
import org.memtrace.analysis.statistics.PieRules;
import org.memtrace.analysis.statistics.Statistics;
import org.memtrace.analysis.text.Units;
import org.memtrace.views.paint.SceneCanvas;
import org.memtrace.views.util.Accessibility;

/** The pie. A click selects a slice, with Ctrl another one too; a double click opens it. */
final class PieCanvas extends SceneCanvas {
	private static final PieModel NOTHING = PieModel.of(Statistics.Sum.ACCESSES, org.memtrace.aggregation.BasicDimensions.TYPE,
			java.util.List.of(), PieRules.NONE);

	private PieModel model = NOTHING;
	private Set<String> selected = Set.of();
	private PiePicture picture;
	private BiConsumer<Slice, Boolean> onSelect = (slice, add) -> {
	};
	private Consumer<Slice> onOpen = slice -> {
	};

	PieCanvas(Composite parent) {
		super(parent);
		addListener(SWT.MouseDown, e -> {
			if (e.button == 1 || e.button == 3) {
				Slice s = sliceAt(e.x, e.y);
				if (e.button == 1 || s != null && !selected.contains(s.key())) {
					onSelect.accept(s, e.button == 1 && (e.stateMask & SWT.MOD1) != 0);
				}
			}
		});
		addListener(SWT.MouseDoubleClick, e -> {
			Slice s = sliceAt(e.x, e.y);
			if (s != null) {
				onOpen.accept(s);
			}
		});
		addListener(SWT.MouseMove, e -> {
			Slice s = sliceAt(e.x, e.y);
			String tip = s == null ? null : s.name() + "\n" + model.text(s.value()) + " "
					+ model.counted() + ", " + Units.percent(s.percent());
			if (tip == null ? getToolTipText() != null : !tip.replace("&", "&&").equals(getToolTipText())) {
				setToolTipText(tip == null ? null : tip.replace("&", "&&"));
			}
		});
		Accessibility.name(this, "Pie; the table beside it has the same numbers");
	}

	void onSelect(BiConsumer<Slice, Boolean> listener) {
		onSelect = listener;
	}

	void onOpen(Consumer<Slice> listener) {
		onOpen = listener;
	}

	/** @param now null for nothing */
	void show(PieModel now, Set<String> keys) {
		model = now == null ? NOTHING : now;
		selected = Set.copyOf(keys);
		picture = null;
		sceneChanged();
	}

	private Slice sliceAt(int x, int y) {
		return picture == null ? null : picture.sliceAt(x, y);
	}

	/** For tests. */
	PiePicture picture() {
		return picture;
	}

	@Override
	protected Scene scene(int width, int height, Palette palette, TextMeter meter, double size) {
		picture = PiePicture.build(model, selected, false, width, height, palette, meter, size);
		return picture.scene();
	}
}
