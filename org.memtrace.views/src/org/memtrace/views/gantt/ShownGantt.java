// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.gantt;

import java.util.List;

import org.eclipse.swt.graphics.Device;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.gantt.GanttModel;
import org.memtrace.analysis.gantt.GanttOptions;
import org.memtrace.analysis.gantt.GanttPicture;
import org.memtrace.analysis.gantt.GanttRows;
import org.memtrace.analysis.gantt.GanttStyle;
import org.memtrace.analysis.gantt.Marker;
import org.memtrace.analysis.scene.PlotMargins;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.model.MemtraceException;
import org.memtrace.model.Progress;
import org.memtrace.views.paint.SceneRuns;
import org.memtrace.views.session.OpenTrace;

/**
 * A drawn chart with what it was drawn from.
 *
 * @param runs of its scene, to be disposed; null when the display thread makes them
 */
record ShownGantt(Input input, GanttPicture picture, SceneRuns runs) {
	/**
	 * Everything that the picture depends on.
	 *
	 * @param margins pixels beside the plot that there are at least
	 * @param device for which runs are made; null when they are not
	 */
	record Input(OpenTrace trace, GanttModel model, GanttRows rows, ViewState state, int firstRow, int width, int height,
			double fontSize, double labelWidth, Palette palette, GanttStyle style, PlotMargins margins, List<Marker> markers, Device device) {
		GanttOptions options() {
			GanttOptions o = new GanttOptions();
			o.width = width;
			o.height = height;
			o.fontSize = fontSize;
			o.palette = palette;
			o.rowHeight = style.rowHeight();
			o.labelWidth = labelWidth;
			o.margins = margins;
			o.fromNs = state.fromNs();
			o.toNs = state.toNs();
			o.originNs = trace.info().startNs();
			o.firstRow = firstRow;
			o.links = style.links();
			o.sameScale = style.sameScale();
			o.values = style.values();
			o.markers = markers;
			o.hiddenTypes = style.hidden(model.source().types());
			return o;
		}
	}

	static ShownGantt draw(Input input, Progress progress) throws MemtraceException {
		GanttPicture picture = GanttPicture.build(input.model(), input.rows(), input.options(), progress);
		return new ShownGantt(input, picture, input.device() == null ? null : new SceneRuns(input.device(), picture.scene()));
	}

	/** Display thread. */
	void dispose() {
		if (runs != null) {
			runs.dispose();
		}
	}

	/** Whether it is what another input asks for. */
	boolean shows(Input other) {
		return other != null && input.equals(other);
	}
}
