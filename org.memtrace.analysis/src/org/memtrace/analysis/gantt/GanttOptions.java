// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.gantt;

import java.util.BitSet;
import java.util.List;
import java.util.function.ToIntFunction;

import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.PlotMargins;
import org.memtrace.analysis.scene.TextMeter;

/** How a Gantt chart is drawn. A mutable bag of settings with useful defaults; set what differs. */
public final class GanttOptions {
	/** Pixels. */
	public int width = 1200;
	public int height = 800;
	public Palette palette = Palette.LIGHT;
	public TextMeter meter = TextMeter.DEFAULT;
	/** Pixels beside the plot that there are at least. */
	public PlotMargins margins = PlotMargins.NONE;
	/** Height of the normal font in pixels. */
	public double fontSize = 12;
	/** Height of a row; rows lower than the font have no label. */
	public double rowHeight = 18;
	/** First line, bold; null for no title. */
	public String title;
	/** Right of the title; empty if nothing is wrong. */
	public String warning = "";
	public boolean legend = true;
	/** Whether the whole trace is shown small above the rows. */
	public boolean minimap = true;
	/** Time 0 of the axis: the start of the trace. */
	public long originNs;
	/** Window. */
	public long fromNs;
	public long toNs;
	/** First row that is shown. */
	public int firstRow;
	/** Width of the labels, negative to choose. */
	public double labelWidth = -1;
	/** Types that are not shown, by index. */
	public BitSet hiddenTypes = new BitSet();
	public boolean links = true;
	/** Whether the same strength means the same in all rows, else each row has its own scale. */
	public boolean sameScale;
	/** Whether counts, values and names of states are written into bars that have room. */
	public boolean values = true;
	public List<Marker> markers = List.of();
	/** Colour of a type; null to take the palette's. */
	public ToIntFunction<GanttType> colours;

	int color(GanttType type) {
		return colours == null ? palette.color(type.model()) : colours.applyAsInt(type);
	}
}
