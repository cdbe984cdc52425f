// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.sql;

import java.util.List;

import org.eclipse.swt.widgets.Composite;
import org.memtrace.analysis.answer.AnswerChart;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.views.paint.SceneCanvas;
import org.memtrace.views.util.Accessibility;

/** Paints the chart of an answer. */
final class ChartCanvas extends SceneCanvas {
	private AnswerChart chart;

	ChartCanvas(Composite parent) {
		super(parent);
		Accessibility.graphic(this, () -> "Chart of the answer", () -> chart == null ? "" : chart.title(), null);
	}

	/** @param now null for nothing */
	void show(AnswerChart now) {
		chart = now;
		sceneChanged();
	}

	AnswerChart chart() {
		return chart;
	}

	@Override
	protected Scene scene(int width, int height, Palette palette, TextMeter meter, double size) {
		return chart == null ? new Scene(width, height, palette.background(), List.of()) : chart.scene(width, height, palette, meter, size);
	}
}
