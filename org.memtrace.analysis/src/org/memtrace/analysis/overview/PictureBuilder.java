// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.overview;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

import org.memtrace.aggregation.BasicDimensions;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.engine.BlockTree;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.scene.PictureTitle;
import org.memtrace.analysis.scene.PlotMargins;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TimeAxis;
import org.memtrace.analysis.text.ModelText;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.tree.ProducerKind;

/**
 * Draws a partition: memory down, time to the right, a strip with the hierarchy on the left, a time axis, a legend and the
 * figures that tell what the picture leaves out. Of a partition of two hierarchies the second one is to the right instead of time.
 */
public final class PictureBuilder {
	/** Share lost inside of a block from which it is marked. */
	private static final double LOSS_MARKED = 0.2;
	/** Height of a picture from which rows are made lower to fit in: not all viewers know higher ones. */
	public static final int MOST_PIXELS = 10_000;
	/** Heights of rows that differ by less are to scale. */
	private static final double TO_SCALE = 1.25;
	/** Threads that a legend of first touches names. */
	private static final int MOST_TOUCHERS = 8;

	private final PictureOptions o;
	private final Partition partition;
	private final MicroscopicModel model;
	private final Hierarchy hierarchy;
	private final NodeNames names;
	private final RowLayout layout;
	private final Palette palette;
	private final double f;
	private final List<Shape> shapes = new ArrayList<>();
	private final List<Picture.Drawn> drawn = new ArrayList<>();
	private final List<Picture.Strip> strips = new ArrayList<>();
	private final List<Picture.LegendItem> legend = new ArrayList<>();
	private final List<Picture.Part> parts = new ArrayList<>();
	private final TypeShares shares;
	private final StripLosses lost;
	private double plotX;
	private double plotY;
	private double plotWidth;
	private double plotHeight;
	private Picture geometry;
	private int[] labelledNodes;

	private PictureBuilder(Partition partition, NodeNames names, RowLayout layout, PictureOptions options) {
		this.layout = layout;
		this.o = options;
		this.partition = partition;
		this.model = partition.model();
		this.hierarchy = model.hierarchy();
		this.names = names;
		this.palette = options.palette;
		this.f = options.fontSize;
		this.shares = new TypeShares(model, o.hiddenTypes, palette);
		this.lost = new StripLosses(partition, layout, o);
	}

	/**
	 * Draws.
	 *
	 * @param layout how high the rows are; the one that the aggregation was made for
	 */
	public static Picture build(Partition partition, NodeNames names, RowLayout layout, PictureOptions options) {
		return new PictureBuilder(partition, names, layout, options).build();
	}

	/**
	 * Draws all rows, for a file: where they need more height than there is, the picture is as high as that, at most
	 * {@link #MOST_PIXELS}.
	 *
	 * @param options whose height may become another
	 */
	public static Picture whole(Partition partition, NodeNames names, RowLayout layout, PictureOptions options) {
		options.scrolled = true;
		Picture first = build(partition, names, layout, options);
		options.scrolled = false;
		if (!first.isPart()) {
			return first;
		}
		options.height = Math.max(options.height, Math.min(MOST_PIXELS, first.wholeHeight()));
		return build(partition, names, layout, options);
	}

	private Picture build() {
		double pad = f;
		double top = o.title == null ? pad * 0.5 : pad + 3.4 * f;
		ColumnAxis columnAxis = o.axis && o.columns != null ? new ColumnAxis(o, shapes) : null;
		double axisHeight = columnAxis != null ? columnAxis.height() : o.axis ? 2.2 * f : 0.5 * f;
		int[] labelled = layout.sectionNodes();
		labelledNodes = labelled;
		double labelWidth = o.hierarchy ? labelWidth(labelled) : 0;
		int levels = o.hierarchy ? o.width >= 500 ? 4 : 2 : 0;
		double stripWidth = levels * (0.75 * f + 1);
		double column = o.firstTouch == null ? 0 : Math.rint(0.85 * f);
		Legend explained = o.legend ? legend(labelled) : null;
		double legendHeight = explained == null ? 0 : explained.height();
		PlotMargins own = new PlotMargins((int) Math.rint(o.hierarchy ? pad + labelWidth + 0.5 * f + stripWidth + 4 : pad)
				+ (column > 0 ? (int) column + 4 : 0), (int) Math.ceil(1.5 * pad));
		PlotMargins margins = own.atLeast(o.margins);
		labelWidth += o.hierarchy ? margins.left() - own.left() : 0;
		plotX = margins.left();
		plotY = Math.rint(top);
		plotWidth = Math.max(40, o.width - plotX - margins.right());
		plotHeight = Math.max(30, Math.floor(o.height - plotY - axisHeight - legendHeight - 0.5 * pad));
		double rowsHeight = o.scrolled ? Math.max(plotHeight, layout.height(f)) : plotHeight;
		double rowsTop = Math.rint(Math.max(0, Math.min(rowsHeight - plotHeight, o.rowsTop)));
		geometry = new Picture(new Scene(1, 1, 0, List.of()), partition, layout, plotX, plotY, plotWidth, plotHeight, own, rowsTop, rowsHeight,
				List.of(), List.of(), List.of(), o.columns, List.of());
		shapes.add(new Shape.Rect(plotX, plotY, plotWidth, plotHeight, palette.plotBackground(), 0));
		blocks();
		for (Picture.Drawn d : drawn) {
			if (d.block() >= 0) {
				lossMark(d.block());
			}
		}
		separators(labelled);
		if (o.hierarchy) {
			hierarchyStrip(labelled, levels, pad, labelWidth);
		}
		if (o.firstTouch != null) {
			new FirstTouchDrawing(o.firstTouch, geometry, palette, shapes).draw(plotX - column - 3, column);
		}
		if (columnAxis != null) {
			columnAxis.draw(plotY + plotHeight, geometry, parts);
		} else if (o.axis) {
			axis();
		}
		if (o.title != null) {
			title(pad);
		}
		if (explained != null) {
			explained.draw(shapes, legend);
		}
		return new Picture(new Scene(o.width, o.height, palette.background(), shapes), partition, layout, plotX, plotY,
				plotWidth, plotHeight, own, rowsTop, rowsHeight, drawn, strips, legend, o.columns, parts);
	}

	/** What the picture may have, so that the legend stays when only p is changed. */
	private Legend legend(int[] labelled) {
		List<Legend.Mark> marks = new ArrayList<>();
		if (o.colouring == PictureOptions.Colouring.DOMINANT_TYPE && model.typeCount() > 1) {
			marks.add(Legend.Mark.MIXTURE);
		}
		marks.add(Legend.Mark.LOSS);
		boolean scaled = true;
		for (int i = 0; i < labelled.length && scaled; i++) {
			scaled = layout.magnification(i) < TO_SCALE;
		}
		if (!scaled && o.hierarchy) {
			marks.add(Legend.Mark.NOT_TO_SCALE);
		}
		if (o.minBlockHeight > 0 && hasLowBlocks()) {
			marks.add(Legend.Mark.SMALL);
			marks.add(Legend.Mark.SMALL_IN_TIME);
		}
		if (o.firstTouch == null) {
			return Legend.of(o, model, marks, List.of());
		}
		marks.add(Legend.Mark.FIRST_TOUCH);
		return Legend.of(o, model, marks, model.viewpoint() == BasicDimensions.THREAD ? List.of()
				: FirstTouchDrawing.touchers(o.firstTouch, hierarchy, MOST_TOUCHERS));
	}

	/** Whether some blocks are drawn together. */
	private boolean hasLowBlocks() {
		double least = o.minBlockHeight / Math.max(30, Math.max(o.height - 8 * f, o.scrolled ? layout.height(f) : 0));
		for (int b = 0; b < partition.blockCount(); b++) {
			if (layout.height(partition.leafFrom(b), partition.leafTo(b)) < least) {
				return true;
			}
		}
		return false;
	}

	// ---- blocks

	/** Within the plot. */
	private double y(int leaf) {
		return geometry.seenY(leaf);
	}

	/** Height of some leaves, also of those that are not seen. */
	private double height(int leafFrom, int leafTo) {
		return geometry.yOf(leafTo) - geometry.yOf(leafFrom);
	}

	/** Blocks by tree node, then the tree from the root: what a node does not cover is drawn by its children. */
	private void blocks() {
		BlockTree tree = partition.tree();
		int[] from = new int[tree.size() + 1];
		for (int b = 0; b < partition.blockCount(); b++) {
			from[partition.treeNode(b) + 1]++;
		}
		for (int n = 0; n < tree.size(); n++) {
			from[n + 1] += from[n];
		}
		int[] list = new int[partition.blockCount()];
		int[] next = from.clone();
		for (int b = 0; b < list.length; b++) {
			list[next[partition.treeNode(b)]++] = b; // blocks are ordered by row and time, so by time within a node
		}
		int[] stack = new int[96];
		int depth = 0;
		stack[depth++] = 0;
		stack[depth++] = 0;
		stack[depth++] = model.sliceCount();
		while (depth > 0) {
			int end = stack[--depth];
			int begin = stack[--depth];
			int n = stack[--depth];
			int at = begin;
			int childCount = countChildren(tree, n);
			for (int x = from[n]; x < from[n + 1] && at < end; x++) {
				int b = list[x];
				if (partition.endSlice(b) <= begin) {
					continue;
				}
				if (partition.firstSlice(b) >= end) {
					break;
				}
				if (partition.firstSlice(b) > at) {
					stack = room(stack, depth + 3 * childCount);
					depth = children(tree, n, at, partition.firstSlice(b), stack, depth);
				}
				block(b);
				at = partition.endSlice(b);
			}
			if (at < end) {
				stack = room(stack, depth + 3 * childCount);
				depth = children(tree, n, at, end, stack, depth);
			}
		}
	}

	private static int countChildren(BlockTree tree, int n) {
		int count = 0;
		for (int c = n + 1; c < tree.end(n); c = tree.end(c)) {
			count++;
		}
		return count;
	}

	private static int[] room(int[] stack, int needed) {
		return needed > stack.length ? Arrays.copyOf(stack, 2 * needed) : stack;
	}

	/** Children over an interval that their parent does not cover: large ones later, runs of small ones at once. */
	private int children(BlockTree tree, int n, int begin, int end, int[] stack, int depthBefore) {
		int depth = depthBefore;
		int runFrom = -1;
		int runTo = -1;
		for (int c = n + 1; c < tree.end(n); c = tree.end(c)) {
			if (!geometry.isSeen(tree.leafFrom(c), tree.leafTo(c))) {
				continue; // above or below what is shown, so never between two of a run
			}
			boolean small = height(tree.leafFrom(c), tree.leafTo(c)) < o.minBlockHeight;
			if (small) {
				runFrom = runFrom < 0 ? tree.leafFrom(c) : runFrom;
				runTo = tree.leafTo(c);
				if (height(runFrom, runTo) >= o.minBlockHeight && height(runTo, tree.leafTo(n)) >= o.minBlockHeight) {
					merged(runFrom, runTo, begin, end);
					runFrom = -1;
				}
				continue;
			}
			if (runFrom >= 0) {
				merged(runFrom, runTo, begin, end);
				runFrom = -1;
			}
			stack[depth++] = c;
			stack[depth++] = begin;
			stack[depth++] = end;
		}
		if (runFrom >= 0) {
			merged(runFrom, runTo, begin, end);
		}
		return depth;
	}

	private void block(int b) {
		int from = partition.leafFrom(b);
		int to = partition.leafTo(b);
		int first = partition.firstSlice(b);
		int end = partition.endSlice(b);
		if (!geometry.isSeen(from, to)) {
			return;
		}
		drawn.add(new Picture.Drawn(from, to, first, end, b));
		cell(from, to, first, end, b);
	}

	/**
	 * Small siblings together. They are cut in time wherever one of them is cut, so that diagonals stay diagonals; each piece
	 * has the mean of its cells. Pieces too narrow to be seen are joined.
	 */
	private void merged(int leafFrom, int leafTo, int begin, int end) {
		int firstBlock = partition.firstBlockFrom(leafFrom);
		BitSet cuts = new BitSet();
		for (int b = firstBlock; b < partition.blockCount() && partition.leafFrom(b) < leafTo; b++) {
			if (partition.firstSlice(b) < end && partition.endSlice(b) > begin) {
				cuts.set(Math.max(begin, partition.firstSlice(b)));
			}
		}
		int at = begin;
		boolean joined = false;
		for (int bound = cuts.nextSetBit(begin + 1); at < end; bound = cuts.nextSetBit(bound + 1)) {
			int to = bound < 0 || bound >= end ? end : bound;
			if (to < end && geometry.xOfSlice(to) - geometry.xOfSlice(at) < 2.5) {
				joined = true;
				continue;
			}
			mergedPiece(leafFrom, leafTo, at, to, firstBlock, joined);
			joined = false;
			at = to;
			if (to == end) {
				break;
			}
		}
	}

	private void mergedPiece(int leafFrom, int leafTo, int begin, int end, int firstBlock, boolean cutInTime) {
		int count = 0;
		int only = -1;
		int main = -2;
		double least = 2;
		double most = -1;
		for (int b = firstBlock; b < partition.blockCount() && partition.leafFrom(b) < leafTo; b++) {
			if (partition.firstSlice(b) < end && partition.endSlice(b) > begin) {
				count++;
				only = b;
				double[] sums = model.sums(partition.leafFrom(b), partition.leafTo(b), partition.firstSlice(b),
						partition.endSlice(b));
				int type = shares.strongest(sums);
				double intensity = type < 0 ? 0
						: intensity(shares.visible(sums), partition.leafFrom(b), partition.leafTo(b), partition.firstSlice(b),
								partition.endSlice(b));
				least = Math.min(least, intensity);
				most = Math.max(most, intensity);
				if (main != -2 && main != type) {
					least = -1; // different types
				}
				main = type;
			}
		}
		boolean single = count == 1 && partition.leafFrom(only) == leafFrom && partition.leafTo(only) == leafTo
				&& partition.firstSlice(only) == begin && partition.endSlice(only) == end;
		drawn.add(new Picture.Drawn(leafFrom, leafTo, begin, end, single ? only : -1));
		boolean something = cell(leafFrom, leafTo, begin, end, single ? only : firstBlock);
		double height = y(leafTo) - y(leafFrom);
		double width = geometry.xOfSlice(end) - geometry.xOfSlice(begin);
		// the marking says that the mean hides something: other types, or much more or less of the same
		if (count > 1 && something && most - least > 0.25 && height >= 2 && width >= 5) {
			shapes.add(new Shape.Hatch(geometry.xOfSlice(begin), y(leafFrom), width, height,
					cutInTime ? Shape.HatchStyle.IN_TIME_TOO : Shape.HatchStyle.IN_SPACE, palette.hatch()));
		}
	}

	private double intensity(double sum, int leafFrom, int leafTo, int first, int end) {
		long ns = Math.max(1, model.slices().boundNs(end) - model.slices().boundNs(first));
		return Palette.intensity(sum / ns / hierarchy.weight(leafFrom, leafTo), model.referenceDensity());
	}

	/** The rectangle of some cells; returns whether there is anything in it. */
	private boolean cell(int leafFrom, int leafTo, int first, int end, int number) {
		double[] sums = model.sums(leafFrom, leafTo, first, end);
		int main = shares.strongest(sums);
		if (main < 0) {
			return false;
		}
		double x1 = geometry.xOfSlice(first);
		double x2 = geometry.xOfSlice(end);
		double y1 = y(leafFrom);
		double y2 = y(leafTo);
		// a gap of one pixel where there is room for it
		double width = x2 - x1 - (x2 - x1 >= 7 ? 1 : 0);
		double height = y2 - y1 - (y2 - y1 >= 7 ? 1 : 0);
		if (o.colouring == PictureOptions.Colouring.PARTS) {
			shapes.add(new Shape.Rect(x1, y1, width, height, palette.color(new ModelType("", ModelType.Role.OTHER, number % 12)), 0));
		} else {
			double intensity = intensity(shares.visible(sums), leafFrom, leafTo, first, end);
			int[] eighths = shares.eighths(sums);
			if (eighths[main] == Shape.Mosaic.EIGHTHS) {
				shapes.add(new Shape.Rect(x1, y1, width, height, palette.shade(model.types().get(main), intensity), 0));
			} else {
				shapes.add(new Shape.Mosaic(x1, y1, width, height, shares.colors(eighths, Math.rint(12 * intensity) / 12)));
			}
			NotKnown.hatch(shapes, model.types(), eighths, x1, y1, width, height, palette);
		}
		return true;
	}

	/** The mark of a block whose mean hides much, and how much where there is room. */
	private void lossMark(int b) {
		double loss = partition.loss(b);
		double all = loss + partition.gain(b);
		double share = all > 0 && loss > 1e-9 * partition.rootLoss() ? loss / all : 0;
		double x = geometry.xOfSlice(partition.firstSlice(b));
		double y = y(partition.leafFrom(b));
		double width = geometry.xOfSlice(partition.endSlice(b)) - x - 1;
		double height = y(partition.leafTo(b)) - y - 1;
		if (share < LOSS_MARKED || width < 9 || height < 7) {
			return;
		}
		Legend.lossMark(shapes, palette, f, x, y, width, height, "", 0);
		String text = Units.percent(100 * share);
		double w = o.meter.width(text, 0.8 * f, false);
		if (width >= w + 2.2 * f && height >= 1.5 * f) {
			double right = x + width - 0.9 * f;
			shapes.add(new Shape.Rect(right - w - 2, y + 1, w + 4, 1.05 * f, palette.background() & 0xffffff | 0xc0000000, 0));
			shapes.add(new Shape.Text(right, y + 0.9 * f, text, 0.8 * f, false, palette.text(), Shape.Anchor.END, false));
		}
	}

	// ---- hierarchy

	/** Height of the lowest child. */
	private double smallestChild(int n) {
		double smallest = Double.MAX_VALUE;
		for (int c = n + 1; c < hierarchy.end(n); c = hierarchy.end(c)) {
			smallest = Math.min(smallest, height(hierarchy.leafFrom(c), hierarchy.leafTo(c)));
		}
		return smallest;
	}

	private double labelWidth(int[] labelled) {
		double most = 4 * f;
		int small = 0;
		double limit = Math.max(6 * f, Math.min(18 * f, 0.22 * o.width));
		double all = o.scrolled ? Math.max(o.height, layout.height(f)) : o.height;
		for (int n : labelled) {
			if (layout.height(hierarchy.leafFrom(n), hierarchy.leafTo(n)) * all >= f) {
				most = Math.max(most, o.meter.width(names.name(n), f, true));
				most = Math.max(most, o.meter.width(names.detail(n) + " · loss 100 %", 0.9 * f, false));
				if (lost.leastPercent(n) >= StripLosses.LEAST_TOLD) {
					most = Math.max(most, o.meter.width("loss 100 % (100 % kept whole)", 0.9 * f, false));
				}
			} else {
				small++;
			}
		}
		return Math.min(limit, Math.max(most, small > 4 ? 12 * f : 0) + 2);
	}

	/** Lines between structures; among many small ones they would hide the picture. */
	private void separators(int[] labelled) {
		boolean large = false;
		for (int n : labelled) {
			if (!geometry.isSeen(hierarchy.leafFrom(n), hierarchy.leafTo(n))) {
				continue;
			}
			double top = y(hierarchy.leafFrom(n));
			boolean before = large;
			large = height(hierarchy.leafFrom(n), hierarchy.leafTo(n)) >= 0.8 * f;
			if ((large || before) && top > plotY + 2) {
				shapes.add(new Shape.Line(plotX, Math.rint(top) - 0.5, plotX + plotWidth, Math.rint(top) - 0.5,
						palette.separator(), 1, false));
			}
		}
	}

	private void hierarchyStrip(int[] all, int allLevels, double pad, double labelWidth) {
		int[] labelled = Arrays.stream(all).filter(n -> geometry.isSeen(hierarchy.leafFrom(n), hierarchy.leafTo(n))).toArray();
		double right = pad + labelWidth;
		double columnWidth = 0.75 * f;
		int above = columnsAbove(labelled, allLevels - 1, right + 0.5 * f, columnWidth);
		int levels = allLevels - above;
		double x = right + 0.5 * f + above * (columnWidth + 1);
		int i = 0;
		while (i < labelled.length) {
			int n = labelled[i];
			int from = hierarchy.leafFrom(n);
			double height = y(hierarchy.leafTo(n)) - y(from);
			if (height >= 1.15 * f) {
				label(n, right, labelWidth, from, hierarchy.leafTo(n));
				columns(n, above, levels, x, columnWidth);
				i++;
				continue;
			}
			// a run of nodes too low for a label
			int j = i;
			double drawnTo = Double.NEGATIVE_INFINITY;
			while (j < labelled.length
					&& y(hierarchy.leafTo(labelled[j])) - y(hierarchy.leafFrom(labelled[j])) < 1.15 * f) {
				double bottom = y(hierarchy.leafTo(labelled[j]));
				if (bottom - drawnTo >= 0.5) { // of thousands in a pixel one is enough
					columns(labelled[j], above, levels, x, columnWidth);
					drawnTo = bottom;
				}
				j++;
			}
			int to = hierarchy.leafTo(labelled[j - 1]);
			if (y(to) - y(from) >= 0.8 * f) {
				String text = j - i == 1 ? fitName(n, 0.9 * f, false, labelWidth) : smallOnes(labelled, i, j, labelWidth);
				shapes.add(new Shape.Text(right, (y(from) + y(to)) / 2 + 0.32 * f, text, 0.9 * f, false, palette.mutedText(),
						Shape.Anchor.END, false));
				strips.add(new Picture.Strip(pad, y(from), labelWidth + 0.5 * f, y(to) - y(from),
						hierarchy.smallestContaining(from, to), from, to));
			}
			i = j;
		}
	}

	/**
	 * Columns for what is above the labelled nodes in a hierarchy of another tool, which has names of its own at each level: the
	 * machine, its nodes. What holds everything, or the same as what is below it, has none.
	 *
	 * @return how many columns there are
	 */
	private int columnsAbove(int[] labelled, int most, double x, double width) {
		if (names.kind(0) != ProducerKind.OTHER) {
			return 0;
		}
		TreeSet<Integer> above = new TreeSet<>();
		for (int n : labelled) {
			for (int p = hierarchy.parent(n); p > 0; p = hierarchy.parent(p)) {
				int parent = hierarchy.parent(p);
				boolean same = hierarchy.leafFrom(p) == hierarchy.leafFrom(parent) && hierarchy.leafTo(p) == hierarchy.leafTo(parent);
				if (!same && !above.add(p)) {
					break; // and all above it
				}
			}
		}
		int columns = 0;
		int[] depth = new int[hierarchy.size()];
		for (int n : above) { // parents come before their children
			int parent = hierarchy.parent(n);
			while (parent > 0 && !above.contains(parent)) {
				parent = hierarchy.parent(parent);
			}
			depth[n] = parent > 0 ? depth[parent] + 1 : 0;
			if (depth[n] < most) {
				strip(n, x + depth[n] * (width + 1), width, depth[n]);
				columns = Math.max(columns, depth[n] + 1);
			}
		}
		return columns;
	}

	/** The name of a node; without its parenthesis, and then without its middle, where the room is short. */
	private String fitName(int n, double size, boolean bold, double width) {
		String name = names.name(n);
		return o.meter.width(name, size, bold) <= width ? name : o.meter.fitMiddle(names.shortName(n), size, bold, width);
	}

	/**
	 * What is said of several nodes too low for labels of their own: how many, and the names that the program gave the most used
	 * of them as far as there is room for whole names.
	 */
	private String smallOnes(int[] labelled, int begin, int end, double width) {
		List<Integer> nodes = Arrays.stream(labelled, begin, end).boxed().toList();
		List<String> known = nodes.stream().filter(names::isNamedByProgram)
				.sorted(Comparator.comparingDouble((Integer n) -> -accesses(n)).thenComparing(n -> n)).map(names::shortName)
				.distinct().toList();
		for (int n = Math.min(3, known.size()); n >= 1; n--) {
			String text = nodes.size() + " small: " + String.join(", ", known.subList(0, n)) + (n < nodes.size() ? ", …" : "");
			if (o.meter.width(text, 0.9 * f, false) <= width) {
				return text;
			}
		}
		return o.meter.fit(nodes.size() + " small " + names.noun(nodes), 0.9 * f, false, width);
	}

	private double accesses(int n) {
		return Arrays.stream(model.sums(n, 0, model.sliceCount())).sum();
	}

	private void label(int n, double right, double width, int from, int to) {
		double middle = (y(from) + y(to)) / 2;
		// neighbours that are hardly higher than a line would be a block of bold type
		boolean bold = y(to) - y(from) >= 1.7 * f;
		double size = bold ? f : 0.92 * f;
		String name = fitName(n, size, bold, width);
		String detail = lost.detail(n, names.detail(n), width);
		boolean two = !detail.isEmpty() && y(to) - y(from) >= 2.5 * f;
		shapes.add(new Shape.Text(right, middle + (two ? -0.12 * f : 0.35 * f), name, size, bold, palette.text(),
				Shape.Anchor.END, false));
		if (two) {
			shapes.add(new Shape.Text(right, middle + 1.05 * f, detail, 0.9 * f, false, palette.mutedText(), Shape.Anchor.END,
					false));
		}
		strips.add(new Picture.Strip(right - width, y(from), width + 0.5 * f, y(to) - y(from), n, from, to));
	}

	/** A labelled node and the levels below it, levels with one child fused; parts too low to be seen are left out. */
	private void columns(int root, int above, int levels, double x, double width) {
		List<Integer> level = List.of(root);
		for (int depth = 0; depth < levels && !level.isEmpty(); depth++) {
			List<Integer> below = new ArrayList<>();
			for (int n : level) {
				strip(n, x + depth * (width + 1), width, above + depth);
				int parent = n;
				while (hierarchy.firstChild(parent) >= 0 && hierarchy.end(parent + 1) == hierarchy.end(parent)) {
					parent++;
				}
				double lowest = hierarchy.isLeaf(parent) ? 0 : smallestChild(parent);
				if (lowest >= 3) {
					for (int c = parent + 1; c < hierarchy.end(parent); c = hierarchy.end(c)) {
						below.add(c);
					}
				}
			}
			level = below;
		}
	}

	/** Whether the rows of a labelled node are higher than to scale. */
	private boolean isMagnified(int node) {
		int at = Arrays.binarySearch(labelledNodes, node);
		return at >= 0 && layout.magnification(at) >= TO_SCALE;
	}

	/** A node in a column of the strip; neighbours are told apart where there is room. */
	private void strip(int node, double x, double width, int level) {
		if (!geometry.isSeen(hierarchy.leafFrom(node), hierarchy.leafTo(node))) {
			return;
		}
		double top = y(hierarchy.leafFrom(node));
		double height = y(hierarchy.leafTo(node)) - top;
		double gap = height >= 4 ? 1 : height >= 2 ? 0.5 : 0;
		if (level == 0 && isMagnified(node) && height >= 2) {
			Legend.notToScale(shapes, palette, x, top, width, Math.max(height - gap, 0.5));
		} else {
			shapes.add(new Shape.Rect(x, top, width, Math.max(height - gap, 0.5), palette.strip(level), 0));
		}
		strips.add(new Picture.Strip(x, top, width, height, node, hierarchy.leafFrom(node), hierarchy.leafTo(node)));
	}

	// ---- texts

	private void axis() {
		double y = plotY + plotHeight;
		shapes.add(new Shape.Line(plotX, y + 0.5, plotX + plotWidth, y + 0.5, palette.axis(), 1, false));
		int most = (int) Math.max(1, plotWidth / (7.5 * f));
		new TimeAxis(o.originNs, model.slices().startNs(), model.slices().endNs(), most, o.ticks).draw(shapes, palette, o.meter, f,
				plotX, y, o.width - 2, geometry::xOf);
	}

	private void title(double pad) {
		PictureTitle.draw(shapes, palette, o.meter, f, pad, o.width, o.title, o.warning, figures(partition));
	}

	/** What a picture of a partition leaves out, in one line. */
	public static String figures(Partition partition) {
		MicroscopicModel m = partition.model();
		int limited = partition.tree().limitedCount();
		String limit = limited == 0 ? "" : " · " + Units.plural(limited, "row") + " of several " + ModelText.row(m) + "s, kept whole";
		return "p = " + Units.p(partition.p()) + " · information loss " + Units.percent(partition.lossPercent())
				+ " · complexity reduction " + Units.percent(partition.reductionPercent()) + " · "
				+ Units.plural(partition.blockCount(), "block") + String.format(Locale.ROOT, " for %,d cells", m.cellCount())
				+ limit;
	}
}
