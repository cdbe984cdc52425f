// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.difference;

import java.util.List;
import java.util.function.Consumer;

import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Composite;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.diff.DiffMap;
import org.memtrace.analysis.diff.DiffPicture;
import org.memtrace.analysis.diff.StructureDiff;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.views.paint.SceneCanvas;
import org.memtrace.views.util.Accessibility;

/** The picture of a difference. A click chooses a structure; resting the pointer tells the numbers. */
final class DifferenceCanvas extends SceneCanvas {
	private DiffMap map;
	private DiffMap.Values values;
	private String selected;
	private DiffPicture picture;

	DifferenceCanvas(Composite parent, Consumer<StructureDiff> onSelect) {
		super(parent);
		addListener(SWT.MouseDown, e -> {
			setFocus();
			StructureDiff s = picture == null ? null : picture.structureAt(e.x, e.y);
			if (s != null) {
				onSelect.accept(s);
			}
		});
		tellsAtPointer((x, y) -> picture == null ? "" : picture.textAt(x, y));
		canHaveFocus();
		Accessibility.graphic(this, () -> "Where and when both traces differ; the table beside it has the numbers of each structure", null,
				() -> selected);
	}

	/** @param now null for nothing */
	void show(DiffMap of, DiffMap.Values now) {
		map = of;
		values = now;
		setToolTipText(null);
		picture = null;
		sceneChanged();
	}

	/** @param name of a structure, null none */
	void select(String name) {
		selected = name;
		sceneChanged();
	}

	/** What was painted last, null for nothing. */
	DiffPicture picture() {
		return picture;
	}

	@Override
	protected Scene scene(int width, int height, Palette palette, TextMeter meter, double size) {
		if (values == null) {
			return new Scene(width, height, palette.background(), List.of());
		}
		picture = DiffPicture.build(map, values, selected, width, height, palette, meter, size);
		return picture.scene();
	}
}
