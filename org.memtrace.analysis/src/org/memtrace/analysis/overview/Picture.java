// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import java.util.List;

import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.scene.PlotMargins;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.text.NodeNames;

/**
 * A drawn partition: the shapes, and where what is. Made by {@link PictureBuilder}; immutable.
 */
public final class Picture {
	/**
	 * Something drawn for cells of the model.
	 *
	 * @param leafFrom first row
	 * @param leafTo row after the last
	 * @param firstSlice first slice
	 * @param endSlice slice after the last
	 * @param block block of the partition; -1 when several small ones are drawn together
	 */
	public record Drawn(int leafFrom, int leafTo, int firstSlice, int endSlice, int block) {
	}

	/**
	 * A rectangle of the hierarchy strip.
	 *
	 * @param node node of the hierarchy; for a run of small siblings their parent
	 * @param leafFrom first row
	 * @param leafTo row after the last
	 */
	public record Strip(double x, double y, double width, double height, int node, int leafFrom, int leafTo) {
	}

	/**
	 * An entry of the legend.
	 *
	 * @param type index of the type in the model
	 */
	public record LegendItem(double x, double y, double width, double height, int type) {
	}

	/**
	 * A rectangle of the second hierarchy below the blocks.
	 *
	 * @param node node of that hierarchy
	 */
	public record Part(double x, double y, double width, double height, int node) {
	}

	/** What is at a point. */
	public enum Area {
		PLOT, HIERARCHY, OUTSIDE
	}

	/**
	 * What is at a point.
	 *
	 * @param area where
	 * @param node smallest node of the hierarchy that holds the rows; -1 outside
	 * @param leafFrom first row
	 * @param leafTo row after the last
	 * @param firstSlice first slice
	 * @param endSlice slice after the last
	 * @param block block of the partition, -1 if several or none
	 */
	public record Hit(Area area, int node, int leafFrom, int leafTo, int firstSlice, int endSlice, int block) {
		static final Hit OUTSIDE = new Hit(Area.OUTSIDE, -1, 0, 0, 0, 0, -1);
	}

	private final Scene scene;
	private final Partition partition;
	private final RowLayout layout;
	private final double plotX;
	private final double plotY;
	private final double plotWidth;
	private final double plotHeight;
	private final PlotMargins margins;
	/** Pixels of rows above those that are shown, and of all rows. */
	private final double rowsTop;
	private final double rowsHeight;
	private final List<Drawn> drawn;
	private final List<Strip> strips;
	private final List<LegendItem> legend;
	private final NodeNames columns;
	private final List<Part> parts;

	/**
	 * Made by builders.
	 *
	 * @param margins that it needs
	 * @param rowsTop pixels of rows above those that are shown
	 * @param rowsHeight pixels of all rows; not less than {@code plotHeight}
	 * @param columns names of the second hierarchy; null where time is to the right
	 * @param parts where its nodes are
	 */
	Picture(Scene scene, Partition partition, RowLayout layout, double plotX, double plotY, double plotWidth, double plotHeight,
			PlotMargins margins, double rowsTop, double rowsHeight,
			List<Drawn> drawn, List<Strip> strips, List<LegendItem> legend, NodeNames columns, List<Part> parts) {
		this.scene = scene;
		this.partition = partition;
		this.layout = layout;
		this.plotX = plotX;
		this.plotY = plotY;
		this.plotWidth = plotWidth;
		this.plotHeight = plotHeight;
		this.margins = margins;
		this.rowsTop = rowsTop;
		this.rowsHeight = rowsHeight;
		this.drawn = List.copyOf(drawn);
		this.strips = List.copyOf(strips);
		this.legend = List.copyOf(legend);
		this.columns = columns;
		this.parts = List.copyOf(parts);
	}

	public Scene scene() {
		return scene;
	}

	public Partition partition() {
		return partition;
	}

	public MicroscopicModel model() {
		return partition.model();
	}

	/** How high the rows are. */
	public RowLayout layout() {
		return layout;
	}

	/** Left edge of the area of the blocks. */
	public double plotX() {
		return plotX;
	}

	public double plotY() {
		return plotY;
	}

	public double plotWidth() {
		return plotWidth;
	}

	public double plotHeight() {
		return plotHeight;
	}

	/** What it needs beside the plot; it may have more. */
	public PlotMargins margins() {
		return margins;
	}

	/** Everything that was drawn for cells. */
	public List<Drawn> drawn() {
		return drawn;
	}

	/** Rectangles of the hierarchy strip. */
	public List<Strip> strips() {
		return strips;
	}

	/** Entries of the legend. */
	public List<LegendItem> legend() {
		return legend;
	}

	/** Names of the second hierarchy; null where time is to the right. */
	public NodeNames columns() {
		return columns;
	}

	/** Rectangles of the second hierarchy below the blocks. */
	public List<Part> parts() {
		return parts;
	}

	/** Node of the second hierarchy that is drawn below the blocks at a point, -1 if none. */
	public int partAt(double x, double y) {
		for (Part p : parts) {
			if (x >= p.x && x < p.x + p.width && y >= p.y && y < p.y + p.height) {
				return p.node;
			}
		}
		return -1;
	}

	/** The smallest node of the second hierarchy that holds the columns of something; -1 where time is to the right. */
	public int partOf(Hit hit) {
		return columns == null || hit.area() == Area.OUTSIDE ? -1 : columns.hierarchy().smallestContaining(hit.firstSlice(), hit.endSlice());
	}

	/** Type whose entry of the legend is at a point, -1 if none. */
	public int legendAt(double x, double y) {
		for (LegendItem i : legend) {
			if (x >= i.x && x < i.x + i.width && y >= i.y && y < i.y + i.height) {
				return i.type;
			}
		}
		return -1;
	}

	/** Instant at an x, clamped to the window. */
	public long timeAt(double x) {
		double share = Math.min(1, Math.max(0, (x - plotX) / plotWidth));
		long from = model().slices().startNs();
		return from + Math.round(share * (model().slices().endNs() - from));
	}

	/** x of an instant. */
	public double xOf(long timeNs) {
		long from = model().slices().startNs();
		return plotX + plotWidth * ((double) (timeNs - from) / (model().slices().endNs() - from));
	}

	/** x of a slice bound. */
	public double xOfSlice(int bound) {
		return xOf(model().slices().boundNs(bound));
	}

	/** Slice at an x, clamped. */
	public int sliceAt(double x) {
		if (columns != null) {
			// bounds are numbers of CPUs: rounded to the next one, half of a column would belong to its neighbour
			int n = model().sliceCount();
			return Math.clamp((int) Math.floor((x - plotX) / plotWidth * n + 1e-9), 0, n - 1);
		}
		return model().slices().sliceOf(timeAt(x));
	}

	/** Pixels of rows above those that are shown; 0 unless it is a part of a higher picture. */
	public double rowsTop() {
		return rowsTop;
	}

	/** Pixels of all rows; more than {@link #plotHeight} in a part of a higher picture. */
	public double rowsHeight() {
		return rowsHeight;
	}

	/** Whether there are more rows than are shown. */
	public boolean isPart() {
		return rowsHeight > plotHeight;
	}

	/** Height of a picture like this one with all rows, in pixels. */
	public int wholeHeight() {
		return (int) Math.ceil(scene.height() - plotHeight + rowsHeight);
	}

	/**
	 * y of the upper edge of a leaf; of the lower end for {@code leafCount}. Above or below the plot if it is not among the rows that are
	 * shown.
	 */
	public double yOf(int leaf) {
		return plotY - rowsTop + rowsHeight * layout.top(leaf);
	}

	/** The same within the plot: where what is seen of a leaf begins. */
	public double seenY(int leaf) {
		double y = yOf(leaf);
		return isPart() ? Math.max(plotY, Math.min(plotY + plotHeight, y)) : y;
	}

	/** Whether something of some leaves is in the plot. */
	public boolean isSeen(int leafFrom, int leafTo) {
		return !isPart() || yOf(leafTo) > plotY && yOf(leafFrom) < plotY + plotHeight;
	}

	/** Leaf at a y, clamped. */
	public int leafAt(double y) {
		int low = 0;
		int high = model().hierarchy().leafCount() - 1;
		while (low < high) {
			int mid = (low + high + 1) >>> 1;
			if (yOf(mid) <= y) {
				low = mid;
			} else {
				high = mid - 1;
			}
		}
		return low;
	}

	/** What is at a point. */
	public Hit hit(double x, double y) {
		if (x >= plotX && x < plotX + plotWidth && y >= plotY && y < plotY + plotHeight) {
			return hitCell(leafAt(y), sliceAt(x));
		}
		for (Strip s : strips) {
			if (x >= s.x && x < s.x + s.width && y >= s.y && y < s.y + s.height) {
				return new Hit(Area.HIERARCHY, s.node, s.leafFrom, s.leafTo, 0, model().sliceCount(), -1);
			}
		}
		return Hit.OUTSIDE;
	}

	/** What a cell of the model is in, also where it is not among the rows that are shown. */
	public Hit hitCell(int leaf, int slice) {
		for (Drawn d : drawn) {
			if (leaf >= d.leafFrom && leaf < d.leafTo && slice >= d.firstSlice && slice < d.endSlice) {
				int node = d.block >= 0 ? partition.node(d.block) : model().hierarchy().smallestContaining(d.leafFrom, d.leafTo);
				return new Hit(Area.PLOT, node, d.leafFrom, d.leafTo, d.firstSlice, d.endSlice, d.block);
			}
		}
		int block = partition.blockAt(leaf, slice);
		return new Hit(Area.PLOT, partition.node(block), partition.leafFrom(block), partition.leafTo(block), partition.firstSlice(block),
				partition.endSlice(block), block);
	}
}
