// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import java.util.BitSet;

import org.memtrace.aggregation.engine.PartLosses;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.PlotMargins;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.model.CountUnit;

/** How a picture is drawn. A mutable bag of settings with useful defaults; set what differs. */
public final class PictureOptions {
	/** What colours mean. */
	public enum Colouring {
		/** The type with most accesses; intensity by their density. */
		DOMINANT_TYPE,
		/** One colour per block, to see the partition itself. */
		PARTS
	}

	/** Pixels. */
	public int width = 1200;
	public int height = 800;
	public Palette palette = Palette.LIGHT;
	public TextMeter meter = TextMeter.DEFAULT;
	/** Pixels beside the plot that there are at least. */
	public PlotMargins margins = PlotMargins.NONE;
	/** Height of the normal font in pixels; everything follows it. */
	public double fontSize = 12;
	/** First line, bold; null for no title lines at all. */
	public String title;
	/** Right of the title, such as {@code recorder lost 12 accesses}; empty if nothing is wrong. */
	public String warning = "";
	public boolean legend = true;
	public boolean hierarchy = true;
	public boolean axis = true;
	/** Names of the parts that stand to the right instead of time, of a partition of two hierarchies; null: time. */
	public NodeNames columns;
	/** Time 0 of the axis: the start of the trace. */
	public long originNs;
	/** Whether times are ticks of a logical clock, as in traces of Moca ({@link org.memtrace.model.TraceInfo#isInTicks}). */
	public boolean ticks;
	/** What reads and writes count ({@link org.memtrace.model.TraceInfo#counts}). */
	public CountUnit counts = CountUnit.RECORDS;
	public Colouring colouring = Colouring.DOMINANT_TYPE;
	/** Blocks lower than this are drawn together with their neighbours, hatched; 0 to draw everything. */
	public double minBlockHeight = 1.5;
	/** Where each page was touched first; null: not drawn. */
	public FirstTouchLayer firstTouch;
	/** Losses of the {@link RowLayout#largeSections()}; null: the builder finds them, which takes a look at all values. */
	public PartLosses losses;
	/** Whether the picture shows a part of the rows if they need more height than there is ({@link RowLayout#height(double)}). */
	public boolean scrolled;
	/** With that, pixels of rows above those that are shown; clamped. */
	public double rowsTop;
	/** Types that are left out when the strongest is looked for. */
	public BitSet hiddenTypes = new BitSet();
}
