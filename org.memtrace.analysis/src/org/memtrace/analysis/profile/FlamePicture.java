// SPDX-FileCopyrightText: memtrace contributors
// SPDX-License-Identifier: EPL-2.0
package org.memtrace.analysis.profile;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

import org.memtrace.aggregation.ModelType;
import org.memtrace.analysis.colour.Palette;
import org.memtrace.analysis.profile.Profile.Group;
import org.memtrace.analysis.profile.Profile.Row;
import org.memtrace.analysis.profile.ProfileTable.Place;
import org.memtrace.analysis.scene.Scene;
import org.memtrace.analysis.scene.Shape;
import org.memtrace.analysis.scene.TextMeter;
import org.memtrace.analysis.text.Units;
import org.memtrace.model.CancelledException;
import org.memtrace.model.Progress;

/**
 * A flame graph of a profile with contexts, hanging from the top: a bar for each group, below it one for each region in its context. The
 * width of a bar is the exclusive time of the region and of all that is in it; what is not below a region is its own. Time in no state has
 * no width. One bar can be as wide as the picture, with what it is in above it.
 */
public final class FlamePicture {
	/** Narrower bars are not drawn. */
	private static final double LEAST_WIDTH = 0.4;
	private static final double PADDING = 4;
	/** How much of its colour a bar loses that is not meant. */
	private static final double FADED = 0.72;
	/** Rows between two looks at whether somebody asked to stop. */
	private static final int ROWS_PER_CHECK = 4096;

	/**
	 * A bar.
	 *
	 * @param row null for that of a group
	 * @param timeNs what its width stands for
	 */
	public record Bar(double x, double y, double width, double height, Group group, Row row, long timeNs) {
		public Place place() {
			return Place.of(group, row);
		}

		/** Of which group and region, as {@link Row#around} tells it. */
		private boolean is(Group otherGroup, Row otherRow) {
			return group == otherGroup && row == otherRow;
		}
	}

	/**
	 * How it is drawn.
	 *
	 * @param root what is as wide as the picture, null for all
	 * @param selected what has a border, null for nothing
	 * @param lit names of regions that are meant, the others are pale; null for all
	 */
	public record Look(Place root, Place selected, Predicate<String> lit) {
		/** All, and nothing selected. */
		public static final Look ALL = new Look(null, null, null);
	}

	/** Ways from a bar to another one. */
	public enum Way {
		UP, DOWN, LEFT, RIGHT
	}

	private final Profile profile;
	private final List<Bar> bars = new ArrayList<>();
	private final List<Shape> shapes = new ArrayList<>();
	private final Palette palette;
	private final TextMeter meter;
	private final double fontSize;
	private final double rowHeight;
	private final double bottom;
	private final Look look;
	private Scene scene;
	private final Progress progress;
	/** Rows since progress was told. */
	private int rows;
	private int deepest;
	private long litNs;
	/** What is as wide as the picture, null for all. */
	private Bar root;

	private FlamePicture(Profile profile, Look look, int height, Palette palette, TextMeter meter, double fontSize, Progress progress) {
		this.profile = profile;
		this.progress = progress;
		this.look = look;
		this.palette = palette;
		this.meter = meter;
		this.fontSize = fontSize;
		rowHeight = Math.rint(1.7 * fontSize);
		bottom = height - 1.8 * fontSize;
	}

	public Scene scene() {
		return scene;
	}

	/** All that were drawn. */
	public List<Bar> bars() {
		return bars;
	}

	/** What is as wide as the picture; null when that is all. */
	public Bar root() {
		return root;
	}

	/** The bar at a point, or null. */
	public Bar at(double x, double y) {
		return bars.stream().filter(b -> x >= b.x() && x < b.x() + b.width() && y >= b.y() && y < b.y() + b.height()).findFirst().orElse(null);
	}

	/** The bar of a place, or null when it was not drawn. */
	public Bar of(Place place) {
		return place == null ? null : bars.stream().filter(b -> b.group().producer() == place.producer()
				&& (b.row() == null ? "" : b.row().region()).equals(place.path().isEmpty() ? "" : place.path().getLast())
				&& b.place().equals(place)).findFirst().orElse(null);
	}

	/** The bar beside another one, the one above it or the widest below it; the same when there is none. */
	public Bar next(Bar from, Way way) {
		Comparator<Bar> byX = Comparator.comparingDouble(Bar::x);
		return (switch (way) {
		case UP -> bars.stream().filter(b -> from.row() != null && b.is(from.group(), from.row().around())).findFirst();
		case DOWN -> bars.stream().filter(b -> b.y() > from.y() && b.group() == from.group() && b.row() != null
				&& b.row().around() == from.row()).max(Comparator.comparingDouble(Bar::width));
		case LEFT -> bars.stream().filter(b -> b.y() == from.y() && b.x() < from.x()).max(byX);
		case RIGHT -> bars.stream().filter(b -> b.y() == from.y() && b.x() > from.x()).min(byX);
		}).orElse(from);
	}

	/** What a person wants to know of a bar. */
	public String describe(Bar bar) {
		Group g = bar.group();
		long all = profile.groups().stream().mapToLong(FlamePicture::inStates).sum();
		String share = Units.duration(profile.info(), bar.timeNs()) + ", " + Units.percent(all == 0 ? 0 : 100.0 * bar.timeNs() / all)
				+ " of the time in states";
		if (bar.row() == null) {
			return g.name() + ": " + share + (g.producers() == 1 ? "" : ", " + Units.plural(g.producers(), "producer"));
		}
		Row r = bar.row();
		return r.region() + ": " + share + "\n" + ProfileColumn.EXCLUSIVE.text(profile.info(), r) + " of it are its own, in "
				+ Units.plural(r.count(), "execution") + " of " + ProfileColumn.MIN.text(profile.info(), r) + " to "
				+ ProfileColumn.MAX.text(profile.info(), r) + ", mean " + ProfileColumn.MEAN.text(profile.info(), r)
				+ (r.around() == null ? "" : "\nin " + r.around().region());
	}

	/** Exclusive time of rows and of all that is in them. */
	private Map<Row, Long> times(Group group) throws CancelledException {
		Map<Row, Long> times = new IdentityHashMap<>();
		for (Row r : group.rows().reversed()) {
			row();
			long time = times.merge(r, r.exclusiveNs(), Long::sum);
			if (r.around() != null) {
				times.merge(r.around(), time, Long::sum);
			}
		}
		return times;
	}

	/** One more row of two for each in the profile: once for its time, once for its bar. */
	private void row() throws CancelledException {
		if (++rows == ROWS_PER_CHECK) {
			progress.check();
			progress.worked(rows);
			rows = 0;
		}
	}

	/** Draws all of a profile, see {@link #build(Profile, Look, int, int, Palette, TextMeter, double, Progress)}. */
	public static FlamePicture build(Profile profile, int width, int height, Palette palette, TextMeter meter, double fontSize) {
		return build(profile, Look.ALL, width, height, palette, meter, fontSize);
	}

	/** Draws without progress, see {@link #build(Profile, Look, int, int, Palette, TextMeter, double, Progress)}. */
	public static FlamePicture build(Profile profile, Look look, int width, int height, Palette palette, TextMeter meter,
			double fontSize) {
		try {
			return build(profile, look, width, height, palette, meter, fontSize, Progress.NONE);
		} catch (CancelledException e) {
			throw new IllegalStateException("nobody can cancel", e);
		}
	}

	/**
	 * Draws. Takes time in proportion to the rows of the profile.
	 *
	 * @param profile one with contexts
	 * @param look places that the profile has not are nowhere: without its root all is drawn
	 * @param progress in rows; asked every few thousand rows
	 * @throws CancelledException when progress is cancelled
	 */
	public static FlamePicture build(Profile profile, Look look, int width, int height, Palette palette, TextMeter meter,
			double fontSize, Progress progress) throws CancelledException {
		progress.begin("Laying out the flame graph", 2L * profile.groups().stream().mapToLong(g -> g.rows().size()).sum());
		progress.check();
		FlamePicture picture = new FlamePicture(profile, look, height, palette, meter, fontSize, progress);
		double left = fontSize;
		picture.draw(left, width - 2 * left);
		picture.scene = new Scene(width, height, palette.background(), picture.shapes);
		return picture;
	}

	private void draw(double left, double room) throws CancelledException {
		List<ModelType> types = ModelType.ofEvents(profile.regions());
		long all = profile.groups().stream().mapToLong(FlamePicture::inStates).sum();
		boolean zoomed = look.root() != null && look.root().isIn(profile);
		Group rootGroup = zoomed ? look.root().group(profile) : null;
		Row rootRow = zoomed ? look.root().row(profile) : null;
		double at = left;
		long whole = all;
		for (Group g : zoomed ? List.of(rootGroup) : profile.groups()) {
			Map<Row, Long> times = times(g);
			if (zoomed) {
				whole = rootRow == null ? inStates(g) : times.get(rootRow);
			}
			double scale = whole == 0 ? 0 : room / whole;
			int level = zoomed ? above(g, rootRow, times, types, left, room) : 0;
			double w = zoomed ? room : scale * inStates(g);
			if (rootRow == null) {
				Bar bar = new Bar(at, level * rowHeight, w, rowHeight, g, null, inStates(g));
				bar(bar, types);
				root = zoomed ? bar : null;
			}
			below(g, rootRow, times, types, at, level, scale);
			at += w;
		}
		caption(left, room, all, whole);
	}

	/** Bars of what is around the root, the nearest of them, up to a third of the room; tells how many. */
	private int above(Group g, Row row, Map<Row, Long> times, List<ModelType> types, double left, double room) {
		List<Row> around = new ArrayList<>();
		if (row != null) {
			for (Row r = row.around(); r != null; r = r.around()) {
				around.add(r);
			}
			around.add(null); // the group
		}
		int shown = Math.min(around.size(), Math.max(1, (int) (bottom / rowHeight / 3)));
		for (int i = 0; i < shown; i++) {
			Row r = around.get(shown - 1 - i);
			bar(new Bar(left, i * rowHeight, room, rowHeight, g, r, r == null ? inStates(g) : times.get(r)), types);
		}
		return shown;
	}

	/** Bars of a row and of what is in it, or of all in a group. */
	private void below(Group g, Row top, Map<Row, Long> times, List<ModelType> types, double left, int level, double scale)
			throws CancelledException {
		// where the next bar below one begins
		Map<Row, Double> next = new IdentityHashMap<>();
		int depthOfTop = top == null ? -1 : top.depth();
		double at = left;
		for (Row r : g.rows()) {
			row();
			boolean first = top == null ? r.around() == null : r == top;
			if (!first && !next.containsKey(r.around())) {
				continue; // not below the top
			}
			double x = first ? at : next.get(r.around());
			double wide = scale * times.get(r);
			if (first) {
				at += wide;
			} else {
				next.put(r.around(), x + wide);
			}
			next.put(r, x);
			if (look.lit() != null && isLit(r)) {
				litNs += r.exclusiveNs();
			}
			int row = level + r.depth() - depthOfTop;
			if (wide < LEAST_WIDTH) {
				continue;
			}
			deepest = Math.max(deepest, row);
			if ((row + 1) * rowHeight <= bottom) {
				Bar bar = new Bar(x, row * rowHeight, wide, rowHeight, g, r, times.get(r));
				bar(bar, types);
				root = r == top ? bar : root;
			}
		}
	}

	private void caption(double left, double room, long all, long whole) {
		int drawn = (int) Math.floor(bottom / rowHeight) - 1;
		double size = 0.92 * fontSize;
		String text = all == 0 ? "no states here" : (whole == all ? "" : Units.duration(profile.info(), whole) + " of ")
				+ Units.duration(profile.info(), all) + " in states"
				+ (look.lit() == null ? "" : ", " + Units.percent(whole == 0 ? 0 : 100.0 * litNs / whole) + " in what is searched");
		// what matters less is left out where there is no room
		for (String more : new String[] {deepest > drawn ? "; " + Units.plural(deepest - drawn, "level") + " more did not fit" : "",
			"; exclusive times", "; bars narrower than half a pixel are not drawn"}) {
			text += all > 0 && meter.width(text + more, size, false) <= room ? more : "";
		}
		shapes.add(new Shape.Text(left, bottom + 1.2 * fontSize, meter.fit(text, size, false, room), size, false, palette.mutedText(),
				Shape.Anchor.START, false));
	}

	private static long inStates(Group group) {
		return group.timeNs() - group.inNoneNs();
	}

	/** Whether a row or one around it is meant. */
	private boolean isLit(Row row) {
		for (Row r = row; r != null; r = r.around()) {
			if (look.lit().test(r.region())) {
				return true;
			}
		}
		return false;
	}

	private void bar(Bar bar, List<ModelType> types) {
		if (bar.width() < LEAST_WIDTH) {
			return;
		}
		bars.add(bar);
		Row row = bar.row();
		int fill = row == null ? palette.plotBackground() : palette.color(types.get(row.type()));
		if (row != null && look.lit() != null && !look.lit().test(row.region())) {
			fill = Palette.mix(fill, palette.plotBackground(), FADED);
		}
		boolean selected = look.selected() != null && look.selected().producer() == bar.group().producer()
				&& look.selected().path().size() == (row == null ? 0 : row.depth() + 1) && look.selected().equals(bar.place());
		shapes.add(new Shape.Rect(bar.x(), bar.y(), bar.width(), bar.height(), fill, bar.width() > 3 ? palette.background() : 0));
		if (selected) {
			shapes.add(new Shape.Rect(bar.x(), bar.y(), bar.width(), bar.height(), 0, palette.text()));
			shapes.add(new Shape.Rect(bar.x() + 1, bar.y() + 1, Math.max(1, bar.width() - 2), bar.height() - 2, 0, palette.text()));
		}
		String text = meter.fitMiddle(row == null ? bar.group().name() : row.region(), fontSize, false, bar.width() - 2 * PADDING);
		if (!text.isEmpty()) {
			shapes.add(new Shape.Text(bar.x() + PADDING, bar.y() + 0.5 * bar.height() + 0.36 * fontSize, text, fontSize, false,
					row == null ? palette.text() : Palette.textOn(fill), Shape.Anchor.START, false));
		}
	}
}
