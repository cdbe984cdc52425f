// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.views.ocelotl;

import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.eclipse.swt.graphics.Rectangle;
import org.memtrace.aggregation.ModelType;
import org.memtrace.aggregation.engine.Partition;
import org.memtrace.aggregation.model.Hierarchy;
import org.memtrace.aggregation.model.MicroscopicModel;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.machine.MachineFilters;
import org.memtrace.analysis.machine.MachineSide;
import org.memtrace.analysis.machine.MachineTopology.MachineObject;
import org.memtrace.analysis.overview.PartitionTable;
import org.memtrace.analysis.overview.Picture;
import org.memtrace.analysis.overview.PictureBuilder;
import org.memtrace.analysis.overview.PictureOptions.Colouring;
import org.memtrace.analysis.overview.PictureOptions;
import org.memtrace.analysis.overview.TimePicture;
import org.memtrace.analysis.scene.PlotMargins;
import org.memtrace.analysis.selection.TraceSelection;
import org.memtrace.analysis.selection.ViewState;
import org.memtrace.analysis.text.NodeNames;
import org.memtrace.model.CancelledException;
import org.memtrace.model.tree.ProducerTree;
import org.memtrace.views.session.OpenTrace;
import org.memtrace.views.view.Snapshot;

/** A picture with the state that it shows, and where producers, times and structures are in it. Immutable. */
final class ShownPicture {
	/**
	 * What a picture is drawn from.
	 *
	 * @param choice how it is drawn; of the same description
	 * @param width pixels
	 * @param height pixels
	 * @param fontSize height of the normal font in pixels
	 * @param margins pixels beside the plot that there are at least
	 * @param rowsTop pixels of rows above those that are shown, where rows are scrolled
	 */
	record Input(Description description, ViewState state, Choice choice, int width, int height, double fontSize,
			Palette palette, PlotMargins margins, int rowsTop) {
		/** With the margins that it needs. */
		Input(Description description, ViewState state, Choice choice, int width, int height, double fontSize, Palette palette) {
			this(description, state, choice, width, height, fontSize, palette, PlotMargins.NONE, 0);
		}

		/** The p that is shown. */
		double p() {
			return description.effectiveP(state);
		}
	}

	/**
	 * A block, or several drawn together.
	 *
	 * @param producer smallest producer that holds it; where rows are no memory that of the picture
	 * @param fromNs start; where columns are no time that of the picture
	 * @param area pixels
	 * @param part what of the machine it is; null where the machine is no side of the picture
	 */
	record Hit(int producer, long fromNs, long toNs, Rectangle area, Picture.Hit what, MachineObject part) {
		/** The state in which it is all that is shown; a part of the machine is a filter. */
		ViewState zoomed(ViewState now) {
			ViewState to = now.withWindow(fromNs, toNs).withProducer(producer);
			return part == null ? to : to.withFilters(MachineFilters.only(now.filters(), part));
		}
	}

	/** Where a part of this picture belongs in the picture of another state. */
	record Mapping(Rectangle source, Rectangle target) {
	}

	private final Input input;
	private final Picture picture;
	private final Rectangle plot;

	private ShownPicture(Input input, Picture picture) {
		this.input = input;
		this.picture = picture;
		int x = round(picture.plotX());
		int y = round(picture.plotY());
		this.plot = new Rectangle(x, y, round(picture.plotX() + picture.plotWidth()) - x,
				round(picture.plotY() + picture.plotHeight()) - y);
	}

	/** Finds the partition and draws it; some ten milliseconds. */
	static ShownPicture compute(Input in) throws CancelledException {
		Partition partition = in.description().partition(in.p());
		PictureOptions o = new PictureOptions();
		o.scrolled = true;
		o.rowsTop = in.rowsTop();
		return new ShownPicture(in, build(in, partition, null, o));
	}

	/** What it needs beside the plot; null where columns are no time. */
	PlotMargins margins() {
		return columnsAreTime() ? picture.margins() : null;
	}

	/** Whether it was drawn with these margins at least. */
	boolean hasMargins(PlotMargins least) {
		return input.margins().equals(least);
	}

	/** The picture for a file: with a title, with all rows, in any size that these fit in; its numbers are those of the partition. */
	Snapshot snapshot() {
		ViewState s = input.state();
		Map<String, String> parameters = Parameters.of(trace(), s, input.choice(), model(), p());
		parameters.put("information_loss_percent", Double.toString(partition().lossPercent()));
		parameters.put("complexity_reduction_percent", Double.toString(partition().reductionPercent()));
		return new Snapshot(trace().name(), (palette, width, height) -> build(
				new Input(input.description(), s, input.choice(), width, height, input.fontSize(), palette), partition(),
				trace().name()).scene(), 
				() -> columnsAreTime() ? PartitionTable.csv(partition(), names()) : PartitionTable.csv(partition(), names(), picture.columns()),
				parameters);
	}

	/** The blocks alone, for an overview. */
	static ShownPicture small(Input in) throws CancelledException {
		PictureOptions o = new PictureOptions();
		o.hierarchy = false;
		o.legend = false;
		o.axis = false;
		return new ShownPicture(in, build(in, in.description().partition(in.p()), null, o));
	}

	private static Picture build(Input in, Partition partition, String title) {
		return build(in, partition, title, new PictureOptions());
	}

	private static Picture build(Input in, Partition partition, String title, PictureOptions o) {
		Description d = in.description();
		o.width = in.width();
		o.height = in.height();
		o.fontSize = in.fontSize();
		o.margins = in.margins();
		o.palette = in.palette();
		o.title = title;
		o.originNs = d.input().trace().info().startNs();
		o.ticks = d.input().trace().info().isInTicks();
		o.counts = d.input().trace().info().counts();
		if (title != null) {
			o.warning = Stream.of(d.input().trace().lossWarning(), d.machine() == null ? "" : d.machine().leftOut())
					.filter(s -> !s.isEmpty()).collect(Collectors.joining(", "));
		}
		o.columns = d.input().sides().columns(d.machine());
		Choice c = in.choice();
		o.colouring = c.kind() == PictureKind.PARTS ? Colouring.PARTS : Colouring.DOMINANT_TYPE;
		o.minBlockHeight = c.merged() ? o.minBlockHeight : 0;
		o.losses = d.losses();
		o.firstTouch = o.axis ? d.firstTouches() : null;
		List<ModelType> types = d.model().types();
		for (int k = 0; k < types.size(); k++) {
			o.hiddenTypes.set(k, c.hidden().contains(types.get(k).name()));
		}
		return c.kind().isOfTime() ? TimePicture.picture(partition, d.names(), c.kind().time(), o)
				: title == null ? PictureBuilder.build(partition, d.names(), d.rows(), o)
						: PictureBuilder.whole(partition, d.names(), d.rows(), o);
	}

	private static int round(double v) {
		return (int) Math.round(v);
	}

	ViewState state() {
		return input.state();
	}

	Choice choice() {
		return input.choice();
	}

	/** Whether there are rows: a picture of time has none. */
	boolean hasRows() {
		return !input.choice().kind().isOfTime();
	}

	/** Whether rows are memory, or event producers: there may be none, and they may be the machine. */
	boolean rowsAreMemory() {
		return hasRows() && input.description().input().sides().rowsAreMemory();
	}

	/** Whether columns are slices of time: they may be the machine. */
	boolean columnsAreTime() {
		return input.description().input().sides().columnsAreTime();
	}

	double p() {
		return input.p();
	}

	Picture picture() {
		return picture;
	}

	Partition partition() {
		return picture.partition();
	}

	MicroscopicModel model() {
		return picture.model();
	}

	/** Whether there are more rows than are shown. */
	boolean isPart() {
		return picture.isPart();
	}

	/** Pixels of rows above those that are shown. */
	int rowsTop() {
		return round(picture.rowsTop());
	}

	/** Pixels from the upper edge of the first row to that of a leaf. */
	int rowsTo(int leaf) {
		return round(picture.rowsHeight() * picture.layout().top(leaf));
	}

	/** First leaf that is seen and the one after the last, when so many pixels of rows are above. */
	int[] seenLeaves(int top) {
		int shift = top - rowsTop();
		return new int[] {picture.leafAt(plot.y + shift + 0.5), picture.leafAt(plot.y + plot.height + shift - 0.5) + 1};
	}

	/** Pixels of all rows. */
	int rowsHeight() {
		return round(picture.rowsHeight());
	}

	/** Whether rows were drawn from here. */
	boolean hasRowsTop(int top) {
		return input.rowsTop() == top;
	}

	/** Pixels of the blocks. */
	Rectangle plot() {
		return new Rectangle(plot.x, plot.y, plot.width, plot.height);
	}

	/** Slice at an x, clamped. */
	int sliceAt(int x) {
		return picture.sliceAt(x);
	}

	/** Leaf at a y, clamped. */
	int leafAt(int y) {
		return picture.leafAt(y);
	}

	/** Left edge of a slice; right edge of the plot for the slice after the last. */
	int xOfSlice(int slice) {
		return round(picture.xOfSlice(slice));
	}

	/** Upper edge of what is seen of a leaf; lower edge of the plot for the leaf after the last. */
	int yOfLeaf(int leaf) {
		return round(picture.seenY(leaf));
	}

	/** What is at a point of the plot, or null. */
	Hit hit(int x, int y) {
		Picture.Hit h = picture.hit(x, y);
		return h.area() != Picture.Area.PLOT ? null : hit(h);
	}

	private Hit hit(Picture.Hit h) {
		int x0 = xOfSlice(h.firstSlice());
		int y0 = hasRows() ? yOfLeaf(h.leafFrom()) : plot.y;
		int y1 = hasRows() ? yOfLeaf(h.leafTo()) : plot.y + plot.height;
		int producer = rowsAreMemory() ? producer(h.node()) : input.state().producer();
		boolean time = columnsAreTime();
		return new Hit(producer, time ? model().slices().boundNs(h.firstSlice()) : input.state().fromNs(),
				time ? model().slices().boundNs(h.endSlice()) : input.state().toNs(),
				new Rectangle(x0, y0, xOfSlice(h.endSlice()) - x0, y1 - y0), h, part(h));
	}

	/** What of the machine something is; null where the machine is no side of the picture. */
	private MachineObject part(Picture.Hit h) {
		MachineSide machine = input.description().machine();
		return machine == null ? null : machine.tree().object(columnsAreTime() ? h.node() : picture.partOf(h));
	}

	/** The part of the machine whose name is at a point, beside the blocks or below them; null none. */
	MachineObject partAt(int x, int y) {
		MachineSide machine = input.description().machine();
		if (machine == null) {
			return null;
		}
		Picture.Hit strip = picture.hit(x, y);
		int node = !columnsAreTime() ? picture.partAt(x, y) : strip.area() == Picture.Area.HIERARCHY ? strip.node() : -1;
		return node < 0 ? null : machine.tree().object(node);
	}

	/** The smallest part of the machine that holds some columns, or rows where these are the machine; null for all of it. */
	MachineObject part(int from, int to) {
		MachineSide machine = input.description().machine();
		int node = machine == null ? 0 : machine.tree().hierarchy().smallestContaining(from, to);
		return node == 0 ? null : machine.tree().object(node);
	}

	/** What is around a cell of the model, also where it has to be scrolled to; rows are ignored where there are none. */
	Hit hitCell(int leaf, int slice) {
		return hit(picture.hitCell(leaf, slice));
	}

	/** Type whose entry of the legend is at a point, or null. */
	ModelType legendAt(int x, int y) {
		int k = picture.legendAt(x, y);
		return k < 0 ? null : model().types().get(k);
	}

	/** Producer of the hierarchy strip at a point. */
	OptionalInt stripProducer(int x, int y) {
		Picture.Hit h = picture.hit(x, y);
		return h.area() == Picture.Area.HIERARCHY && rowsAreMemory() ? OptionalInt.of(producer(h.node())) : OptionalInt.empty();
	}

	private int producer(int node) {
		int id = model().hierarchy().producer(node);
		return id == Hierarchy.NO_PRODUCER ? input.state().producer() : id;
	}

	/** Parent of the shown producer; itself when it is everything. */
	int parentProducer() {
		TraceSelection selection = input.description().input().trace().selection();
		int shown = input.state().producer();
		return shown == selection.initial().producer() ? shown : tree().parent(shown);
	}

	/** Pixels of a producer, or null when it is not in the picture, or not among the rows that are shown. */
	Rectangle area(int producer) {
		if (!rowsAreMemory()) {
			return null;
		}
		Hierarchy h = model().hierarchy();
		int node = h.nodeOf(producer);
		if (node < 0) {
			// the picture may show a part of it
			int shown = input.state().producer();
			return producer <= shown && shown < tree().subtreeEnd(producer) ? plot() : null;
		}
		if (!picture.isSeen(h.leafFrom(node), h.leafTo(node))) {
			return null;
		}
		int y0 = yOfLeaf(h.leafFrom(node));
		return new Rectangle(plot.x, y0, plot.width, Math.max(3, yOfLeaf(h.leafTo(node)) - y0));
	}

	/**
	 * Where this picture is in that of another state, as far as it shows the same: the time of both, and the rows of the
	 * smaller producer when one contains the other. Null when they have nothing in common.
	 */
	Mapping mapped(ViewState other) {
		ViewState s = input.state();
		if ((!rowsAreMemory() || picture.isPart()) && other.producer() != s.producer()) {
			return null;
		}
		long from = Math.max(s.fromNs(), other.fromNs());
		long to = Math.min(s.toNs(), other.toNs());
		double top = 0;
		double bottom = 1;
		if (other.producer() != s.producer()) {
			int node = other.producer() < 0 ? -1 : model().hierarchy().nodeOf(other.producer());
			if (node < 0) {
				return null;
			}
			Hierarchy h = model().hierarchy();
			top = (double) (yOfLeaf(h.leafFrom(node)) - plot.y) / plot.height;
			bottom = (double) (yOfLeaf(h.leafTo(node)) - plot.y) / plot.height;
		}
		if (from >= to) {
			return null;
		}
		Rectangle source = area(s, from, to, top, bottom);
		Rectangle target = area(other, from, to, 0, 1);
		return source.isEmpty() || target.isEmpty() ? null : new Mapping(source, target);
	}

	/** Pixels of a time and a part of the rows, in a picture of a state with this plot. */
	private Rectangle area(ViewState s, long from, long to, double top, double bottom) {
		boolean time = columnsAreTime();
		int x0 = time ? plot.x + round(plot.width * ((double) (from - s.fromNs()) / s.durationNs())) : plot.x;
		int x1 = time ? plot.x + round(plot.width * ((double) (to - s.fromNs()) / s.durationNs())) : plot.x + plot.width;
		int y0 = plot.y + round(plot.height * top);
		int y1 = plot.y + round(plot.height * bottom);
		return new Rectangle(x0, y0, x1 - x0, y1 - y0);
	}

	private ProducerTree tree() {
		return input.description().input().trace().producers();
	}

	/** What a person calls the nodes. */
	NodeNames names() {
		return input.description().names();
	}

	OpenTrace trace() {
		return input.description().input().trace();
	}

	/** One sentence for a screen reader. */
	String summary() {
		return hasRows() ? PictureBuilder.figures(partition()) : TimePicture.figures(partition());
	}
}
