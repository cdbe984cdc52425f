// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.binding;

import java.util.List;
import java.util.function.IntConsumer;

import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Composite;
import org.memtrace.analysis.binding.BindingPicture;
import org.memtrace.analysis.binding.ThreadBinding;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.views.paint.SceneCanvas;
import org.memtrace.views.util.Accessibility;

/** The matrix of sharing, by number and by proposed CPU. Resting the pointer tells the numbers, a click chooses the thread of a row. */
final class MatrixCanvas extends SceneCanvas {
	private ThreadBinding binding;
	private BindingPicture picture;

	MatrixCanvas(Composite parent, IntConsumer chosen) {
		super(parent);
		addListener(SWT.MouseDown, e -> {
			setFocus();
			BindingPicture.Cell cell = picture == null ? null : picture.at(e.x, e.y);
			if (cell != null) {
				chosen.accept(cell.row());
			}
		});
		tellsAtPointer((x, y) -> picture == null ? "" : picture.textAt(x, y));
		canHaveFocus();
		Accessibility.graphic(this, () -> "What each two threads share; the table beside it says where each thread is", null,
				() -> binding == null ? null : binding.verdict());
	}

	/** @param now null for nothing */
	void show(ThreadBinding now) {
		binding = now;
		picture = null;
		setToolTipText(null);
		sceneChanged();
	}

	/** What was painted last, null for nothing. */
	BindingPicture picture() {
		return picture;
	}

	@Override
	protected Scene scene(int width, int height, Palette palette, TextMeter meter, double size) {
		if (binding == null) {
			return new Scene(width, height, palette.background(), List.of());
		}
		picture = BindingPicture.build(binding, width, height, palette, null);
		return picture.scene();
	}
}
