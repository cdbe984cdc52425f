// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.record;

import org.eclipse.jface.layout.GridDataFactory;
import org.eclipse.jface.layout.GridLayoutFactory;
import org.eclipse.swt.SWT;
import org.eclipse.swt.widgets.Combo;
import org.eclipse.swt.widgets.Composite;
import org.eclipse.swt.widgets.Label;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.live.LivePicture;
import org.memtrace.analysis.live.LiveTable;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.model.LivePages;
import org.memtrace.views.paint.SceneCanvas;
import org.memtrace.views.util.Accessibility;

/** The pages of the last intervals by structure or thread, while a program is recorded; rows and colours can be chosen. */
final class LiveCanvas extends Composite {
	private static final int FONT = 12;

	private final Combo rows;
	private final Combo colours;
	private final Label left;
	private final SceneCanvas canvas;
	private LivePages pages = LivePages.none();
	/** What was painted last. */
	private LivePicture picture;

	LiveCanvas(Composite parent) {
		super(parent, SWT.NONE);
		GridLayoutFactory.fillDefaults().spacing(0, 4).applyTo(this);
		Composite bar = new Composite(this, SWT.NONE);
		GridLayoutFactory.fillDefaults().numColumns(5).spacing(6, 0).applyTo(bar);
		GridDataFactory.fillDefaults().grab(true, false).applyTo(bar);
		new Label(bar, SWT.NONE).setText("Pages in the last intervals by");
		rows = choice(bar, "Rows of the picture", "structure", "thread");
		new Label(bar, SWT.NONE).setText("colour");
		colours = choice(bar, "Colour of the cells", "pages touched", "part that is shared");
		left = new Label(bar, SWT.NONE);
		GridDataFactory.fillDefaults().grab(true, false).align(SWT.FILL, SWT.CENTER).applyTo(left);
		canvas = new Cells();
		GridDataFactory.fillDefaults().grab(true, true).hint(SWT.DEFAULT, 150).applyTo(canvas);
		Accessibility.graphic(canvas, () -> "Pages in the last intervals", () -> "", () -> picture == null ? "" : picture.description());
	}

	private Combo choice(Composite bar, String name, String... items) {
		Combo combo = new Combo(bar, SWT.READ_ONLY);
		combo.setItems(items);
		combo.select(0);
		Accessibility.name(combo, name);
		combo.addListener(SWT.Selection, e -> canvas.sceneChanged());
		return combo;
	}

	/** Shows a state. */
	void show(LivePages now) {
		pages = now;
		String text = LiveTable.left(now);
		if (!left.getText().equals(text)) {
			left.setText(text);
			left.setToolTipText(text.isEmpty() ? null : text + " All of it is in the trace.");
		}
		canvas.sceneChanged();
	}

	/** What was painted last, null before. */
	LivePicture picture() {
		return picture;
	}

	private final class Cells extends SceneCanvas {
		Cells() {
			super(LiveCanvas.this, SWT.BORDER);
			tellsAtPointer((x, y) -> picture == null ? "" : picture.textAt(x, y));
		}

		@Override
		protected Scene scene(int width, int height, Palette palette, TextMeter meter, double size) {
			picture = new LivePicture(pages, rows.getSelectionIndex() == 1,
					colours.getSelectionIndex() == 1 ? LivePicture.Colour.SHARED : LivePicture.Colour.PAGES, width, height, FONT, palette);
			return picture.scene();
		}
	}
}
